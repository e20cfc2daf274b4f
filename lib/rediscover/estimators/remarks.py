"""Sentences on a table and on the equation that was found in it: what the rows cannot tell, and what looks wrong."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import choice
from .constants import Form
from .residuals import TableResiduals

COPIED = 0.1  # share of rows that are copies, above which it is said
ALIKE = 0.7  # correlation with an input, below which no other column is tried in its place
GROWING, ROWS = 0.01, 20  # significance of errors that grow, and the rows that it takes


def on_columns(names: Sequence[str], X: np.ndarray, target: str, y: np.ndarray) -> list[str]:
    """On columns that do not vary, that are the target, or that hold what tables write for missing values.

    Examples
    --------
    >>> on_columns(["g"], np.array([[9.81], [9.81]]), "t", np.array([1.0, 2.0]))
    ['g does not vary, so its part in the equation cannot be found']
    """
    found = []
    for name, column in zip(names, X.T, strict=True):
        if np.ptp(column) == 0:
            found.append(f"{name} does not vary, so its part in the equation cannot be found")
        elif np.array_equal(column, y):
            found.append(f"{name} equals {target} in all rows; leave it out if it is a copy")
    for name, column in (*zip(names, X.T, strict=True), (target, y)):
        for end in {column.min(), column.max()}:
            if count := repeated_code(column, float(end)):
                found.append(
                    f"{name} is {end:g} in {count} rows, far from its other values; leave these rows out "
                    "if it stands for a missing value"
                )
    return found


def repeated_code(column: np.ndarray, end: float) -> int:
    """In how many rows a column is at its end, if that is nines alone, as in -999, repeated and far from the rest.

    Examples
    --------
    >>> repeated_code(np.array([1.0, 2.0, -99.0, -99.0]), -99.0), repeated_code(np.array([1.0, 2.0, 99.0]), 99.0)
    (2, 0)
    """
    rest = column[column != end]
    count = len(column) - len(rest)
    if count < 2 or not len(rest) or set(f"{abs(end):.12g}") - {"9", "."}:
        return 0
    return count if np.abs(rest - end).min() > np.ptp(rest) else 0


def on_copies(rows: int, different: int) -> list[str]:
    """On rows that are copies of others.

    Examples
    --------
    >>> on_copies(80, 8)
    ['72 of 80 rows are exact copies of others, and intervals count them as independent']
    """
    copies = rows - different
    if copies <= COPIED * rows:
        return []
    return [f"{copies} of {rows} rows are exact copies of others, and intervals count them as independent"]


def on_substitutes(form: Form, rows: TableResiduals, names: Sequence[str]) -> list[str]:
    """On columns that would do as well as an input of an equation, shifted and scaled, its constants fitted again.

    Parameters
    ----------
    form : Form
    rows : TableResiduals
    names : of their columns, as they are shown
    """
    inputs = [i for i, name in enumerate(rows.names) if name in form.shown.names]
    others = [i for i in range(len(rows.names)) if i not in inputs]
    own, found = choice.floored(rows.squares(form), rows.spread), []
    for a in inputs:
        as_good = []
        for b in others:
            changed = substituted(rows, a, b)
            if changed is None:
                continue
            squares = choice.floored(changed.squares(changed.fit(form)), rows.spread)
            apart = choice.difference(squares, own, rows.validation.weights)
            if apart.mean <= choice.CHANCE * apart.error:
                as_good.append(names[b])
        if as_good:
            found.append(f"{', '.join(as_good)} would do as well as {names[a]}; these rows do not tell them apart")
    return found


def substituted(rows: TableResiduals, a: int, b: int) -> TableResiduals | None:
    """Rows with the line through a column in the place of another; None where that is far from it."""
    x, z = rows.X[:, a], rows.X[:, b]
    with np.errstate(all="ignore"):  # of columns that do not vary
        if not abs(np.corrcoef(x, z)[0, 1]) >= ALIKE:
            return None
    slope = np.cov(x, z)[0, 1] / z.var(ddof=1)

    def changed(part: TableResiduals) -> TableResiduals:
        X = part.X.copy()
        X[:, a] = x.mean() + slope * (X[:, b] - z.mean())
        return replace(part, X=X, rest=part.rest and changed(part.rest))

    return changed(rows)


def on_growing_errors(target: str, y: np.ndarray, predicted: np.ndarray) -> list[str]:
    """On errors that grow with what is predicted, by Spearman's rank correlation of their sizes."""
    from scipy import stats

    sizes, errors = np.abs(predicted), np.abs(y - predicted)
    if len(y) < ROWS or not np.isfinite(predicted).all() or not np.ptp(sizes) or not np.ptp(errors):
        return []
    grown = stats.spearmanr(sizes, errors)
    if not (grown.statistic > 0 and grown.pvalue < GROWING):
        return []
    return [
        f"errors grow with {target} (rank correlation {grown.statistic:.2f}) and were taken as equal: "
        f"try --errors relative (sample_weight=1/{target}**2)"
    ]

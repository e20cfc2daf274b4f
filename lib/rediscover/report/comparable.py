"""Printed cells that no number of ours can reproduce, whatever it is: shares that no count gives, and rows of methods
that are not here.

`excluded` and `unlike` are asked for every published table (by `ledger`), so that one rule holds for all methods.
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..system.studies import FOLDER
from . import rules

RUNS = ("rerun", "reimplementation", "recorded")  # kinds of evidence that are runs of a method


def attainable(printed: str, n: int, unit: float = 1.0) -> bool:
    """Whether a share of n rounds to what is printed: whether k * unit / n meets it for a whole number k.

    A value half-way between two printed digits may be rounded to either.

    Parameters
    ----------
    printed : number as printed; its decimals say how it was rounded
    n : of how many
    unit : what the whole is printed as: 1, or 100 for per cent

    Returns
    -------
    bool

    Examples
    --------
    >>> attainable("0.05", 24), attainable("0.04", 24), attainable("0.05", 20)
    (False, True, True)
    >>> attainable("43.3", 30, unit=100)
    True
    """
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    below = np.floor(float(printed) * n / unit)
    nearest = (below + np.array([0, 1])) * unit / n
    return bool((np.abs(nearest - float(printed)) <= half * (1 + 1e-9)).any())


def unattainable(rows: pd.DataFrame, shares: Mapping[str, Any] | None) -> dict[str, str]:
    """The printed shares that no count gives: source of the cell -> the reason.

    Parameters
    ----------
    rows : a published table, with a column value and the index of `papers.published`
    shares : what study.yaml says of its shares, or None if it has none: ``where`` (column -> value or values of rows
        that are shares), ``of`` (how many: a number, the name of a column, or column -> value -> number) and ``unit``

    Returns
    -------
    dict
    """
    found: dict[str, str] = {}
    if shares is None:
        return found
    chosen = rows[rows["value"] != ""]
    for column, wanted in shares.get("where", {}).items():
        chosen = chosen[chosen[column].isin(wanted if isinstance(wanted, list) else [wanted])]
    for source, row in chosen.iterrows():
        n = _whole(shares["of"], row)
        if not attainable(row["value"], n, shares["unit"]):
            found[str(source)] = f"no share of {n} rounds to {row['value']}"
    return found


def _whole(of: int | str | Mapping, row: pd.Series) -> int:
    """How many problems a share is of."""
    if isinstance(of, Mapping):
        [(column, sizes)] = of.items()
        return sizes[row[column]]
    return int(row[of]) if isinstance(of, str) else of


@functools.cache
def _stated(paper: str, field: str) -> dict[str, str]:
    """Label printed in a paper -> what methods.yaml says of it in a field: ``unlike``, ``repeats`` or ``less``."""
    found: dict[str, str] = {}
    for entry in yaml.safe_load((FOLDER / "methods.yaml").read_text(encoding="utf-8")):
        said = entry.get(field, {})
        labels = entry["papers"].get(paper, [])
        found |= {label: said if isinstance(said, str) else said.get(label, said.get(paper, "")) for label in labels}
    return {label: text for label, text in found.items() if text}


def unlike(paper: str) -> dict[str, str]:
    """Printed labels whose method here fails published behaviour grossly, each with the reason.

    Such a method differs where it differs, but a number that it shares with the paper is no reproduction.

    Examples
    --------
    >>> list(unlike("srsd"))
    ['AI Feynman']
    """
    return _stated(paper, "unlike")


def repeats(paper: str) -> dict[str, str]:
    """Printed labels that the released program runs just as another one, each with the reason: no run counts twice.

    Examples
    --------
    >>> list(repeats("srsd"))
    ['AFP-FE']
    """
    return _stated(paper, "repeats")


def excluded(rows: pd.DataFrame, about: pd.Series, measured: Iterable[str]) -> dict[str, str]:
    """Cells of a published table that nothing can be compared with: source -> the reason.

    - A share that no count gives, of whatever method.
    - A label that repeats another, where a run would decide the cell.

    Parameters
    ----------
    rows : the published table
    about : of the table, as in `papers.tables`
    measured : sources of the cells with a number of ours
    """
    subject = next((column for column in ("method", "model") if column in rows), None)
    found: dict[str, str] = {}
    if subject:
        same = repeats(about["paper"].lower())
        run = rows.loc[of_runs(rows, about["kind"]).to_numpy() & rows.index.isin(list(measured)), subject]
        found = {str(source): same[label] for source, label in run.items() if label in same}
    return found | unattainable(rows, about["shares"])


def of_runs(rows: pd.DataFrame, kind: str | list | Mapping | None) -> pd.Series:
    """Which rows of a published table are decided by runs, by the kind of evidence that study.yaml states."""
    if isinstance(kind, Mapping):
        [(column, stated)] = kind.items()
        kinds = rows[column].map(stated).fillna(stated.get("rest", RUNS[0]))
        return kinds.isin(RUNS)
    return pd.Series(kind is None or kind in RUNS, rows.index)


def caveat(entry: Mapping, field: str = "unlike") -> str:
    """Why what ran for a row that rests on runs is not the published method (`unlike`), or less of it (``less``).

    Parameters
    ----------
    entry : a row of a ledger, with rule, paper and method
    field : of methods.yaml

    Returns
    -------
    str
        Empty where it is the published one, or has its budget.
    """
    run = rules.rules()[entry["rule"]].get("chance") == "seeds"
    return _stated(entry["paper"].lower(), field).get(entry["method"], "") if run else ""

"""`EquationRegressor`: one equation for a column of a table."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from ..expressions import Expression, parse
from ..methods import Method
from ..problems import generator
from ..problems.tables import Table
from .base import EquationEstimator, check_magnitudes, column_names, held_out_rows
from .constants import Form, tabulated
from .constraints import constraints, mirrored
from .known import known
from .names import displayed
from .remarks import on_columns, on_copies, on_growing_errors, on_substitutes
from .residuals import TableResiduals, columns, straight_line
from .screening import LEAST_ROWS, screened
from .selection import candidate_forms, select
from .stability import times_chosen

SEARCHED = 20_000  # rows that the search is given at most
REPEATED = 4  # times as many rows as there are, at most, are drawn by weights
DRAWN = 2_000  # rows of a picture
FEWEST = 5  # rows below which a warning stands in the message


class EquationRegressor(RegressorMixin, EquationEstimator):
    """An equation y = f(x) from a table.

    The search is any method of this library; beside the default one, the classic curves of `transformed_linear` are
    candidates, too. It is given four fifths of the rows, thinned to 20,000 by strata of y where there are more;
    constants are then fitted to all rows. Which equation is chosen, and when there is none, is decided on the other
    rows by the rules in `rediscover.estimators.choice`: the shortest equation of the front whose held-out error is
    within one standard error of the best one's. Of fewer than 250 rows none are held out, and the shortest
    description of equation and errors is chosen.

    Rows that are equal count as one of their common weight, and their order does not matter. With weights that differ
    the search sees each row as often as its weight says, and at least once; errors, constants and choice are weighted.

    Parameters
    ----------
    offset, factor : str or None
        Known parts, in names of columns: y = factor(x) f(x) + offset(x), and f is searched. Numbers in them are not
        fitted.
    bounds : pair or None
        Least and largest value of the equation, None where there is none.
    increasing, decreasing : str, int, sequence of them, or None
        Columns in which the equation does not fall, and does not rise.
    symmetric : pair, sequence of pairs, or None
        Columns that can change places. Each row is then trained on both ways.
    screening : int or None
        Of more columns than this the search is given those that the tenth rule of `rediscover.estimators.choice` keeps;
        None: all, however many.
    method, operators, max_complexity, max_evaluations, time_limit, random_state, units, constants
        As for `rediscover.estimators.base.EquationEstimator`. What is asked is checked as the ninth rule of
        `rediscover.estimators.choice` says, and ``message_`` says how many equations were left out.

    Attributes
    ----------
    equations_ : DataFrame
        The front, shortest first: ``complexity`` (nodes), ``training_error`` and ``validation_error`` (root mean
        square, in units of y), ``equation`` with four digits, and ``chosen``.
    constants_ : DataFrame
        Constants of the chosen equation, c0, c1, ... as in ``skeleton_``: value, standard error, 95 % interval, and how
        each is shown: as a short number where the interval includes it (`rediscover.estimators.constants`).
    skeleton_ : the chosen equation with c0, c1, ... for its constants
    expressions_ : output -> the chosen equation, as a `rediscover.expressions.Expression`
    clear_ : whether it beats the mean and a straight line by more than chance
    message_ : what was found and how it was chosen, in sentences
    searched_rows_ : rows that the search was given
    screened_ : columns that it was given
    evaluations_ : expressions that it evaluated
    ended_ : ``done``, ``exact``, ``time`` or ``interrupted``

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(1, 2, (60, 2))
    >>> found = EquationRegressor(max_evaluations=2000).fit(X, 3 * X[:, 0] * X[:, 1])
    >>> str(found.expressions_["y"]), found.clear_, round(found.score(X, 3 * X[:, 0] * X[:, 1]), 6)
    ('3*x0*x1', True, 1.0)
    """

    treats = (Table,)
    beside = ("transformed_linear",)

    def __init__(
        self,
        *,
        offset: str | None = None,
        factor: str | None = None,
        bounds: Any = None,
        increasing: Any = None,
        decreasing: Any = None,
        symmetric: Any = None,
        screening: int | None = 20,
        method: str | Method = "bidirectional",
        operators: Any = None,
        max_complexity: int | None = None,
        max_evaluations: int = 10_000_000,
        time_limit: float = 60.0,
        random_state: Any = 0,
        units: Any = None,
        constants: str = "free",
    ):
        super().__init__(
            method=method,
            operators=operators,
            max_complexity=max_complexity,
            max_evaluations=max_evaluations,
            time_limit=time_limit,
            random_state=random_state,
            units=units,
            constants=constants,
        )
        self.offset = offset
        self.factor = factor
        self.bounds = bounds
        self.increasing = increasing
        self.decreasing = decreasing
        self.symmetric = symmetric
        self.screening = screening

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "EquationRegressor":
        """Search for an equation.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_inputs)
        y : array_like or Series, shape (n,)
        sample_weight : array_like, shape (n,), optional
            Weights of the squared errors, such as one over the square of each error of y.

        Returns
        -------
        EquationRegressor

        Raises
        ------
        ValueError
            If a parameter is wrong, the method cannot run here, or a number is missing or infinite.
        """
        solver, allowed, seed = self._validated()
        given, target = column_names(X), getattr(y, "name", None)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weights, y = weights_of(sample_weight, len(y)), np.asarray(y, float)
        *names, output = self._named([*(given or column_names(X)), str(target) if target is not None else "y"])
        self._names, self._outputs = tuple(names), (output,)
        dimensions = self._dimensions(output)
        check_magnitudes([name.column for name in self._names], X)
        check_magnitudes([output.column], y[:, None])
        self._known = known(names, self.factor, self.offset)
        wanted = constraints(names, self.bounds, self.increasing, self.decreasing, self.symmetric)
        weights = weights * self._known.used(X)
        given_weights = weights[weights > 0]
        rows, alike = len(given_weights), bool(np.ptp(given_weights) == 0)
        said = on_columns([name.shown for name in names], X, output.shown, y)
        X, y, weights = merged(X, y, weights)
        said += on_copies(rows, len(y))
        rng = generator(seed, "rows")
        out = held_out_rows(len(y), rng)
        wanted = wanted.on(X, y, generator(seed, "constraints"))
        scale, self._pairs = self._known.scale(X, weights), wanted.symmetric
        inner = self._known.names
        rest = self._residuals(X[out], y[out], weights[out]) if out.any() else None
        train = self._residuals(*mirrored(X[~out], y[~out], weights[~out], wanted.symmetric), rest)

        def refused(form: Form) -> str:
            whole = Form(self._known.whole(form.expression), form.held)
            return (dimensions.refused(whole) if dimensions else "") or wanted.refused(whole)

        kept = self._screened(train, generator(seed, "screening"))
        few = search_rows(train.X[:, kept], train.y, train.weights, rng)
        self.searched_rows_ = len(few[1])
        found = self._search(
            [Table(id="own/table", truth={"y": ""}, inputs=tuple(inner[i] for i in kept), X=few[0], y=few[1])],
            solver,
            seed,
        )
        mean = Form(parse(repr(float(np.average(train.y, weights=train.weights)))))
        texts = (candidate.solution["y"] for candidate in found.candidates)
        candidates = [mean, *candidate_forms(texts, inner, allowed, self.max_complexity)]
        line = straight_line(inner, train.X, train.y, train.weights)
        selection = select(candidates, thinned(train), mean, line, refused)
        every = train.all()
        free, self._chosen = (
            settled(form, every, refused) for form in (selection.front[selection.chosen].form, selection.form)
        )
        self.expressions_ = {output.shown: self._shown(self._chosen.shown)}
        self.skeleton_ = self._skeleton(free)
        errors, freedom = every.errors(free, rows)
        whole = Form(self._known.whole(self._chosen.expression), self._chosen.held)
        units = dimensions.of_constants(whole) if dimensions else None
        table = tabulated(output.shown, free, self._chosen, errors, freedom, units)
        self.constants_ = table.drop(columns="output")
        self._sample = sample(train, rng)
        factor, offset = self._known.values(self._sample["X"])
        self._sample["y"] = self._sample["y"] * factor + offset
        self._set_results(
            {output.shown: selection}, found, {output.shown: output.unit}, 0 if rest is None else len(rest.y)
        )
        said += self._screening_said(rows)
        if self.clear_:
            said += on_substitutes(selection.form, thinned(train), [name.shown for name in names])
        if alike and not selection.exact:
            said += on_growing_errors(output.shown, y, self._values(X))
        self.message_ = "\n".join([self.message_, *said])
        self.equations_ = self.equations_.drop(columns="output")
        self.equations_[["training_error", "validation_error"]] *= scale
        return self

    def stability(self, X: Any, y: Any, sample_weight: Any = None, n: int = 20) -> pd.DataFrame:
        """On which share of resamples of the rows each equation of the front is the one that is chosen.

        Nothing is searched again (`rediscover.estimators.stability`): constants are fitted to a bootstrap resample of
        four fifths of the rows, equations compared on one of the others, and the choice is made as in `fit`. Of fewer
        than 250 rows none are held out here either.

        Parameters
        ----------
        X, y, sample_weight
            The rows, as for `fit`.
        n : resamples

        Returns
        -------
        DataFrame
            ``equation`` with c0, c1, ... for its constants, ``complexity``, ``share``, and whether it is ``chosen``.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, reset=False)
        weights = weights_of(sample_weight, len(y)) * self._known.used(X)
        X, y, weights = merged(X, np.asarray(y, float), weights)
        [output] = self._outputs
        forms = self._entries[output.shown]
        table = self.equations_[["complexity", "chosen"]].copy()
        table.insert(0, "equation", [self._skeleton(form) for form in forms])

        def resampled(drawn: np.ndarray, out: np.ndarray) -> TableResiduals:
            w = weights * drawn
            on, off = ~out & (drawn > 0), out & (drawn > 0)
            rest = self._residuals(X[off], y[off], w[off]) if off.any() else None
            return thinned(self._residuals(*mirrored(X[on], y[on], w[on], self._pairs), rest))

        rng = generator(int(check_random_state(self.random_state).randint(2**31 - 1)), "stability")
        table.insert(2, "share", times_chosen(forms, len(y), resampled, n, rng) / n)
        return table

    def _screened(self, train: TableResiduals, rng: np.random.Generator) -> list[int]:
        """Places of the columns that the search is given."""
        if self.screening is None or train.X.shape[1] <= self.screening or len(train.y) < LEAST_ROWS:
            self.screened_ = [name.column for name in self._names]
            return list(range(train.X.shape[1]))
        kept = screened(train.X, train.y, train.weights, rng)
        self.screened_ = [self._names[i].column for i in kept]
        return kept

    def _screening_said(self, rows: int) -> list[str]:
        said = []
        if len(self.screened_) < len(self._names):
            kept = ", ".join(name.shown for name in self._names if name.column in self.screened_)
            whole = f"of {len(self._names)} columns the search was given"
            said.append(f"{whole} those that say most in randomised trees: {kept}")
        if rows < FEWEST:
            said.append(f"with {rows} rows many equations fit as well, and standard errors say nothing of that")
        return said

    def _residuals(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray, rest: Any = None) -> TableResiduals:
        """Rows of the part that is searched."""
        return TableResiduals(self._known.names, X, *self._known.rest(X, y, weights), rest)

    def _shown(self, expression: Expression) -> Expression:
        return super()._shown(self._known.whole(expression))

    def _skeleton(self, form: Form) -> str:
        factor, offset = (displayed(part, self._inner) for part in (self._known.factor, self._known.offset))
        f = super()._skeleton(form)
        return f if self._known.nothing else str(replace(self._known, factor=factor, offset=offset).whole(parse(f)))

    def predict(self, X: Any) -> np.ndarray:
        """Values of the chosen equation.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_inputs)

        Returns
        -------
        ndarray, shape (n,)
            In units of y; NaN where the equation is undefined.
        """
        check_is_fitted(self)
        return self._values(validate_data(self, X, dtype=np.float64, reset=False))

    def _values(self, X: np.ndarray) -> np.ndarray:
        return self._known.whole(self._chosen.shown)(columns(self._known.names, X))


def settled(form: Form, every: TableResiduals, refused: Callable[[Form], str]) -> Form:
    """A form with its constants fitted to all rows; those of the training rows where these are refused."""
    found = every.fit(form)
    return form if refused(found) else found


def weights_of(given: Any, n: int) -> np.ndarray:
    """Weights of n rows, which are all 1 if none are given."""
    if given is None:
        return np.ones(n)
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (n,):
        raise ValueError(f"sample_weight has the shape {found.shape}, the target {(n,)}; give one weight for each row")
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError("sample_weight must be finite and not negative; leave out rows that are not to count")
    if (found > 0).sum() < 2:
        raise ValueError("sample_weight is zero but for one row or none; give at least two rows a weight")
    return found


def merged(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in an order of their own, equal ones as one of their common weight, those of weight 0 left out.

    Examples
    --------
    >>> X, y, w = merged(np.array([[2.0], [1.0], [2.0]]), np.array([5.0, 4.0, 5.0]), np.ones(3))
    >>> X.tolist(), y.tolist(), w.tolist()
    ([[1.0], [2.0]], [4.0, 5.0], [1.0, 2.0])
    """
    kept = np.flatnonzero(weights > 0)
    order = kept[np.lexsort((y[kept], *X[kept].T[::-1]))]
    X, y, weights = X[order], y[order], weights[order]
    new = np.ones(len(y), bool)
    new[1:] = (np.diff(y) != 0) | (np.diff(X, axis=0) != 0).any(axis=1)
    return X[new], y[new], np.add.reduceat(weights, np.flatnonzero(new))


def search_rows(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that the search is given: one drawn from each stratum of y where there are many, as often as weights say."""
    n = len(y)
    if np.ptp(weights) > 0:
        share = weights / weights.sum()
        room = SEARCHED - n if n <= SEARCHED else REPEATED * n  # so that no row is thinned out that need not be
        count = min(round(weights.sum() / weights.min()), REPEATED * n, room)
        # systematic: a row of weight w comes floor or ceil of its share, but each at least once
        places = np.searchsorted(np.cumsum(share), (np.arange(count) + 0.5) / count)
        times = np.maximum(np.bincount(places.clip(max=n - 1), minlength=n), 1)
        X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    if len(y) > SEARCHED:
        order = np.argsort(y, kind="stable")
        ends = np.linspace(0, len(y), SEARCHED + 1).astype(int)
        kept = np.sort(order[rng.integers(ends[:-1], ends[1:])])
        X, y = X[kept], y[kept]
    return X, y


def thinned(rows: TableResiduals) -> TableResiduals:
    """The same held-out rows, and so many to train on that all candidates can be fitted to them."""
    if len(rows.y) <= SEARCHED:
        return rows
    kept = slice(None, None, -(-len(rows.y) // SEARCHED))
    return TableResiduals(rows.names, rows.X[kept], rows.y[kept], rows.weights[kept], rows.rest)


def sample(rows: TableResiduals, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Some rows for pictures: X, y and whether they were held out."""
    every = rows.all()
    out = np.arange(len(every.y)) >= len(rows.y)
    kept = np.sort(rng.permutation(len(every.y))[:DRAWN])
    return {"X": every.X[kept], "y": every.y[kept], "held_out": out[kept]}

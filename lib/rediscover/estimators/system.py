"""`EquationSystem`: right-hand sides of ordinary differential equations from time series."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..expressions import parse
from ..expressions.integration import simulate
from ..methods import Method
from ..numerics.arrays import LEAST_TIMES
from ..numerics.differences import rates
from ..problems import Problem, generator
from ..problems.tables import Record, Table
from . import choice
from .base import EquationEstimator, check_magnitudes, column_names
from .constants import Form, snapped, tabulated
from .dimensions import Dimensions
from .names import Name, named
from .residuals import WINDOW, RateResiduals, columns, straight_line
from .selection import Selection, candidate_forms, select, worse_than
from .shooting import SOLVED, Records, fit_trajectories

SERIES = 5  # with so many series and more, whole ones are held out
WINDOWS = 4  # with fewer held-out ones, none are
SHORTEST = 5  # rows of a series


class EquationSystem(EquationEstimator):
    """Equations dx/dt = f(x) from one or several time series, at any times.

    The record up to four fifths of its time is searched, by a method that takes trajectories as such (the default one
    does) in integral form; of several series the longest one so, and all of them as a table of states and their
    differences. The rest of the time, or with five series and more a fifth of the series, decides for each state which
    right-hand side is chosen (`rediscover.estimators.choice`): errors are those of the state's change over five steps
    against the integral of its rate, and a series is continued into time that was not seen. Last, all constants are
    fitted to the trajectories (`rediscover.estimators.shooting`).

    Parameters
    ----------
    time : str, int or None
        Column of the times, by its name or its place. Rows may come in any order; those of one time are averaged. None:
        rows come in the order of time and are one unit of it apart.
    series : str, int or None
        Column that says to which series a row belongs, where there are several.
    method, operators, max_complexity, max_evaluations, time_limit, random_state, units, constants
        As for `rediscover.estimators.base.EquationEstimator`. A rate has the unit of its state over that of the times.

    Attributes
    ----------
    equations_ : DataFrame
        The front of each state, shortest first, as for `EquationRegressor`, with the column ``output``; errors are in
        units of the state.
    constants_ : DataFrame
        Constants of the chosen right-hand sides, with standard errors that assume independent noise of the states.
    skeletons_ : output -> the chosen right-hand side with c0, c1, ... for its constants
    expressions_ : state -> the chosen right-hand side, as a `rediscover.expressions.Expression`
    clear_, message_, evaluations_, ended_
        As for `EquationRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 4, 80)
    >>> found = EquationSystem(time=0, max_evaluations=20_000).fit(np.column_stack([t, np.exp(-0.5 * t)]))
    >>> str(found.expressions_["x1"])
    '-1/2*x1'
    """

    treats = (Record, Table)

    def __init__(
        self,
        *,
        time: str | int | None = None,
        series: str | int | None = None,
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
        self.time = time
        self.series = series

    def fit(self, X: Any, y: Any = None) -> "EquationSystem":
        """Search for right-hand sides.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_columns)
            States, and columns of times and of series where there are such.
        y : ignored

        Returns
        -------
        EquationSystem

        Raises
        ------
        ValueError
            If a parameter is wrong, there are too few rows, or a number is missing or infinite.
        """
        solver, allowed, seed = self._validated()
        given = column_names(X)
        X = validate_data(self, self._coded(X, given), dtype=np.float64, ensure_min_samples=2)
        self._places = self._placed(given or column_names(X))
        time, _, states = self._places
        shown = [(given or column_names(X))[i] for i in (*states, *([] if time is None else [time]))]
        names = self._named(shown)
        self._names = self._outputs = names[: len(states)]
        asked = [self._dimensions(name, Name("", "", "") if time is None else names[-1]) for name in self._names]
        check_magnitudes(given or column_names(X), X)
        records = self._records(X)
        train, rest = split(records, generator(seed, "rows"))
        inner = tuple(f"x{i}" for i in range(len(self._names)))
        found = self._search(problems_of(inner, train), solver, seed)
        selections: dict[str, Selection] = {}
        by_state = []
        for i, name in enumerate(self._names):
            held = RateResiduals.of(inner, rest, i) if rest else None
            residuals = RateResiduals.of(inner, train, i, held)
            texts = (candidate.solution[inner[i]] for candidate in found.candidates)
            constant = residuals.fit(Form(parse("0.1")))
            line = straight_line(inner, *slope_rows(train, i))
            candidates = [constant, *candidate_forms(texts, inner, allowed, self.max_complexity)]
            by_state.append(residuals)
            refused = units.refused if (units := asked[i]) else None
            selections[name.shown] = select(candidates, residuals, constant, line and residuals.fit(line), refused)
        self._settle(selections, by_state, records, asked)
        self._sample = {"records": [(t[:400], states[:400]) for t, states in records[:4]]}
        rows = sum(len(t) for t, _ in rest)
        self._set_results(selections, found, self._rate_units(given), rows)
        return self

    def _settle(
        self,
        selections: dict[str, Selection],
        by_state: list[RateResiduals],
        records: Records,
        asked: list[Dimensions | None],
    ) -> None:
        """Fit the constants of the chosen forms to the trajectories, and keep what the fit says of them."""
        states = [f"x{i}" for i in range(len(selections))]
        outputs = list(selections)
        free = fit_trajectories(
            {s: p.front[p.chosen].form for s, p in zip(states, selections.values(), strict=True)}, records
        )
        self._chosen = {
            state: snapped(
                free.forms[state],
                free.errors[state],
                free.freedom,
                lambda form: form,
                worse_than(residuals, units.refused if units else None),
                SOLVED,
            )
            for state, residuals, units in zip(states, by_state, asked, strict=True)
        }
        if any(form.held for form in self._chosen.values()):
            self._chosen = fit_trajectories(self._chosen, records).forms
        shown = {output: self._chosen[state] for output, state in zip(outputs, states, strict=True)}
        self.expressions_ = {output: self._shown(form.shown) for output, form in shown.items()}
        plain = {output: free.forms[state] for output, state in zip(outputs, states, strict=True)}
        self.skeletons_ = {output: self._skeleton(form) for output, form in plain.items()}
        import pandas as pd

        self.constants_ = pd.concat(
            [
                tabulated(
                    output,
                    plain[output],
                    shown[output],
                    free.errors[state],
                    free.freedom,
                    units.of_constants(shown[output]) if units else None,
                )
                for output, state, units in zip(outputs, states, asked, strict=True)
            ],
            ignore_index=True,
        )

    def predict(self, X: Any) -> np.ndarray:
        """Rates of the states.

        Parameters
        ----------
        X : array_like or DataFrame
            With the columns that were fitted; times and series are not looked at.

        Returns
        -------
        ndarray, shape (n, n_states)
            In units of the states over that of the times.
        """
        check_is_fitted(self)
        X = validate_data(self, self._coded(X, column_names(X)), dtype=np.float64, reset=False)
        values = columns(list(self._chosen), X[:, self._places[2]])
        return np.column_stack([form.shown(values) for form in self._chosen.values()])

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the variance of the states' changes over five steps that their rates explain, mean over states.

        Parameters
        ----------
        X : array_like or DataFrame
            Series with the columns that were fitted.
        y : ignored

        Returns
        -------
        float
            At most 1.
        """
        check_is_fitted(self)
        X = validate_data(self, self._coded(X, column_names(X)), dtype=np.float64, reset=False)
        records, shares = self._records(X), []
        for i, form in enumerate(self._chosen.values()):
            residuals = RateResiduals.of(tuple(self._chosen), records, i)
            off = float(((residuals.predicted(form) - residuals.y) ** 2).sum())
            shares.append(1 - off / (float(((residuals.y - residuals.y.mean()) ** 2).sum()) or 1.0))
        return float(np.mean(shares))

    def simulate(self, initial: Any, times: Any) -> np.ndarray:
        """The solution of the system that was found.

        Parameters
        ----------
        initial : array_like, shape (n_states,)
            States at the first time.
        times : array_like, shape (n,)
            Increasing.

        Returns
        -------
        ndarray, shape (n, n_states)
            NaN everywhere if it cannot be integrated.
        """
        check_is_fitted(self)
        initial, times = np.asarray(initial, float), np.asarray(times, float)
        if initial.shape != (len(self._chosen),) or times.ndim != 1 or not (np.diff(times) > 0).all():
            raise ValueError(f"give {len(self._chosen)} initial states, and times that increase")
        return simulate({name: form.shown for name, form in self._chosen.items()}, initial, times)

    # Columns and records

    def _placed(self, given: list[str]) -> tuple[int | None, int | None, list[int]]:
        """Places of the times, of the series, and of the states."""

        def place(what: str, column: str | int) -> int:
            if isinstance(column, str) and column in given:
                return given.index(column)
            if not isinstance(column, str) and 0 <= column < len(given):
                return int(column)
            raise ValueError(f"{what}={column!r} is no column; choose from {', '.join(given)}")

        time = None if self.time is None else place("time", self.time)
        series = None if self.series is None else place("series", self.series)
        states = [i for i in range(len(given)) if i not in (time, series)]
        if not states:
            raise ValueError("there is no column of a state beside time and series; give at least one")
        return time, series, states

    def _coded(self, X: Any, given: list[str]) -> Any:
        """A DataFrame with numbers in place of the names of its series; anything else as it is."""
        if self.series is None or not hasattr(X, "columns"):
            return X
        import pandas as pd

        column = X.columns[self._placed(given)[1] or 0]
        return X.assign(**{str(column): pd.factorize(X[column])[0]})

    def _records(self, X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Times and states of each series, in order of time."""
        time, series, states = self._places
        labels = np.zeros(len(X)) if series is None else X[:, series]
        records = []
        for label in np.unique(labels):
            rows = X[labels == label]
            times = np.arange(len(rows)) if time is None else rows[:, time]
            t, where, count = np.unique(times.astype(float), return_inverse=True, return_counts=True)
            sums = np.zeros((len(t), len(states)))
            np.add.at(sums, where, rows[:, states])
            if len(t) < SHORTEST:
                raise ValueError(f"a series has {len(t)} samples in time, which are too few; give at least {SHORTEST}")
            records.append((t, sums / count[:, None]))
        return records

    def _rate_units(self, given: list[str]) -> dict[str, str]:
        """Units of the rates, where those of state and time are known."""
        time = self._places[0]
        unit = "" if time is None else named(given)[time].unit
        return {name.shown: f"{name.unit}/{unit}" if name.unit and unit else "" for name in self._names}

    def _left_side(self, output: str) -> str:
        return f"d{output}/dt"

    def _left(self, output: str) -> str:
        return rf"\frac{{d {super()._left(output)}}}{{d t}}"

    def _result(self, output: str) -> str:
        return f"d_{output}"


def split(records: Records, rng: np.random.Generator) -> tuple[list, list]:
    """Records to train on, and those held out: whole ones of many, else the end of each."""
    if len(records) >= SERIES:
        count = max(1, int(choice.HELD_OUT * len(records)))
        out = set(rng.permutation(len(records))[:count].tolist())
        return [r for i, r in enumerate(records) if i not in out], [r for i, r in enumerate(records) if i in out]
    train, rest = [], []
    for t, states in records:
        kept = len(t) - int(choice.HELD_OUT * len(t))
        train.append((t[:kept], states[:kept]))
        # from the last row that is trained on, so that no change is lost; that row is a start only
        rest.append((t[kept - 1 :], states[kept - 1 :]))
    windows = sum(-(-(len(t) - 1) // WINDOW) for t, _ in rest)
    long = windows >= WINDOWS and all(len(t) >= SHORTEST for t, _ in (*train, *rest))
    return (train, rest) if long else (list(records), [])


def problems_of(inner: tuple[str, ...], records: Records) -> list[Problem]:
    """The records as problems: the longest as a trajectory, and of several all as a table of states and rates."""
    t, states = max(records, key=lambda record: len(record[0]))
    truth = dict.fromkeys(inner, "")
    found: list[Problem] = []
    if len(t) >= LEAST_TIMES:
        found.append(Record(id="own/record", truth=truth, inputs=inner, t=t, states=states))
    if len(records) > 1 or not found:
        X = np.concatenate([states for _, states in records])
        slopes = np.concatenate([rates(states, t) for t, states in records])
        y = slopes[:, 0] if len(inner) == 1 else slopes
        found.append(Table(id="own/rates", truth=truth, inputs=inner, X=X, y=y))
    return found


def slope_rows(records: Records, state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, rates of one of them by differences, and weights."""
    X = np.concatenate([states for _, states in records])
    y = np.concatenate([rates(states, t)[:, state] for t, states in records])
    return X, y, np.ones(len(y))

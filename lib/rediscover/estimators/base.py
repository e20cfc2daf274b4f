"""What the three estimators share: the search behind them, and the ways to look at what was found."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, check_random_state

from ..expressions import Expression
from ..methods import Method, method
from ..problems import Problem
from ..system.writing import one_line
from . import choice
from .anytime import SearchResult, search
from .constants import Form, rounded, tidied
from .dimensions import CONSTANTS, Dimensions
from .names import Name, displayed, named
from .selection import Selection, labels
from .source import function
from .units import vectors, with_units

LARGEST = 1e60  # magnitudes of columns
ENDED = {
    "done": "the search used all its evaluations",
    "whole": "the method is no search, and has done all it does",
    "exact": "the search ended early, with an equation that fits to rounding",
    "early": "the search ended early, as one of its candidates fits the rows that it was given to rounding; "
    "the chosen one does not fit all rows so",
    "time": "the search ended with its time",
    "interrupted": "the search was interrupted; what it had found until then is kept",
}


class NoClearEquation(UserWarning):
    """The data show no equation that beats a mean and a straight line by more than chance."""


class NoisyData(UserWarning):
    """There is an equation, and noise too large to be sure of it."""


class EquationEstimator(BaseEstimator):
    """Base of `EquationRegressor`, `EquationSystem` and `ImplicitEquation`; its parameters are theirs.

    Parameters
    ----------
    method : str or Method
        The search: a name in ``rediscover.methods()``, ``file.py:Class``, or a method with settings of its own, such
        as ``rediscover.method("operon", symbols="add,mul")``.
    operators : sequence of str or None
        Operators and functions that an equation may hold, such as ``["+", "-", "*", "/", "sqrt"]``; None for all. The
        search is the method's own affair, and what it finds with others is left out.
    max_complexity : int or None
        Nodes that an equation may have at most: variables, constants and operators.
    max_evaluations : int
        Expressions that the last run of the search may evaluate (`budgets`).
    time_limit : float
        Seconds on the clock for the search. What is found in less evaluations is kept. An answer that was cut off by
        time depends on the machine, others only on ``random_state``.
    random_state : int, RandomState or None
        Of the held-out rows and of the search.
    units : bool, dict or None
        Whether equations whose units do not agree are left out, by the eighth rule of `rediscover.estimators.choice`.
        Units stand in brackets in names of columns, ``speed [m/s]``, or in a dict by name: ``{"speed": "m/s"}``. A
        column without one may have any; plain numbers have the unit 1.
    constants : str
        With units, ``"free"`` where constants may have units, which ``constants_`` then states, or ``"dimensionless"``.
    """

    treats: ClassVar[tuple[type[Problem], ...]] = ()  # kinds of problem, of which a method must treat one
    keeps_when_interrupted: ClassVar[bool] = False
    watch: ClassVar[Any] = None  # called after each run
    beaten: ClassVar[str] = "the mean and, unless it is one, a straight line"  # by what is clear
    beside: ClassVar[tuple[str, ...]] = ()  # methods whose candidates stand beside those of the default one

    def __init__(
        self,
        *,
        method: str | Method = "bidirectional",
        operators: Sequence[str] | None = None,
        max_complexity: int | None = None,
        max_evaluations: int = 10_000_000,
        time_limit: float = 60.0,
        random_state: Any = 0,
        units: Mapping[str, str | None] | bool | None = None,
        constants: str = "free",
    ):
        self.method = method
        self.operators = operators
        self.max_complexity = max_complexity
        self.max_evaluations = max_evaluations
        self.time_limit = time_limit
        self.random_state = random_state
        self.units = units
        self.constants = constants

    # The search

    def _validated(self) -> tuple[Method, set[str] | None, int]:
        """Method, labels that are allowed and seed, after all parameters were looked at."""
        solver = method(self.method) if isinstance(self.method, str) else self.method
        if not isinstance(solver, Method):
            raise ValueError(f"method is {self.method!r}; give a name of rediscover.methods() or a Method")
        if reason := solver.available():
            raise ValueError(f"{solver.name} is unavailable: {reason}")
        if not any(issubclass(kind, solver.accepts) for kind in self.treats):
            raise ValueError(f"{solver.name} does not treat problems of the kind {self.treats[0].kind}")
        for name in ("max_complexity", "max_evaluations", "time_limit"):
            value = getattr(self, name)
            if value is None and name == "max_complexity":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise ValueError(f"{name} is {value!r}; give a positive number")
        if self.constants not in CONSTANTS:
            raise ValueError(f"constants is {self.constants!r}; choose from {', '.join(CONSTANTS)}")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return solver, labels(self.operators), seed

    def _search(self, problems: Sequence[Problem], solver: Method, seed: int) -> SearchResult:
        """Candidates for the problems, which share the time."""
        whole, until = SearchResult(), time.monotonic() + float(self.time_limit)
        for name in self.beside if self.method == "bidirectional" else ():
            for problem in problems:
                seconds = max(0.1, (until - time.monotonic()) / 2)
                part = search(problem, method(name), int(self.max_evaluations), seconds, seed)
                whole.candidates += part.candidates
        for left, problem in zip(range(len(problems), 0, -1), problems, strict=True):
            seconds = max(0.1, (until - time.monotonic()) / left)
            most = int(self.max_evaluations)
            part = search(problem, solver, most, seconds, seed, keeps=self.keeps_when_interrupted, watch=self.watch)
            whole.candidates += part.candidates
            whole.evaluations += part.evaluations
            whole.rounds += part.rounds
            whole.reason = whole.reason or part.reason
            whole.ended = part.ended if whole.ended == "done" else whole.ended
            if part.ended == "interrupted":
                break
        return whole

    # Names and units

    def _named(self, columns: Sequence[str]) -> tuple[Name, ...]:
        """Columns as they are shown, with their units."""
        return with_units(named(columns), self.units)

    def _dimensions(self, target: Name | None, per: Name | None = None) -> Dimensions | None:
        """What units ask of an equation for a target, or for its rate per a unit of time; None without units."""
        if not self.units:
            return None
        if not any(name.unit for name in (*self._names, *self._outputs)):
            raise ValueError("units are to be used, and no column has one; write speed [m/s], or give a dict of units")
        columns = {f"x{i}": vector for i, vector in enumerate(vectors(self._names))}
        [whole, time] = [next(vectors([name]), None) if name else None for name in (target, per)]
        rate = whole if per is None else None if whole is None or time is None else whole - time
        known = tuple(name.unit for name in (*self._names, *self._outputs) if name.unit)
        return Dimensions(columns, rate, self.constants, known)

    # What was found

    def _set_results(
        self, selections: Mapping[str, Selection], found: SearchResult, units: Mapping[str, str], rows: int
    ) -> None:
        """Set what all estimators show of a fit; `selections` are by the name of the output."""
        self.evaluations_, self.ended_ = found.evaluations, found.ended
        self._entries = {output: [each.form for each in selection.front] for output, selection in selections.items()}
        tables = []
        for output, selection in selections.items():
            tables.append(
                pd.DataFrame(
                    {
                        "output": output,
                        "complexity": [each.complexity for each in selection.front],
                        "training_error": [each.training for each in selection.front],
                        "validation_error": [each.held_out for each in selection.front],
                        "equation": [str(rounded(self._shown(each.form.shown))) for each in selection.front],
                        "chosen": [i == selection.chosen for i in range(len(selection.front))],
                    }
                )
            )
        self.equations_ = pd.concat(tables, ignore_index=True)
        self.clear_ = not any(selection.unclear for selection in selections.values())
        self.message_ = self._message(selections, found, units, rows)
        unclear = [f"{output}: {selection.unclear}" for output, selection in selections.items() if selection.unclear]
        noise = [
            f"{output}: {selection.noise}"
            for output, selection in selections.items()
            if selection.noise and not selection.unclear
        ]
        if unclear:
            warnings.warn(f"no clear equation; {'; '.join(unclear)}", NoClearEquation, stacklevel=3)
        elif noise:
            text = f"the noise is too large for what was found; {'; '.join(noise)}"
            warnings.warn(text, NoisyData, stacklevel=3)

    def _message(
        self, selections: Mapping[str, Selection], found: SearchResult, units: Mapping[str, str], rows: int
    ) -> str:
        lines = []
        if found.ended == "time" and not found.rounds:
            seconds = f"{self.time_limit:g} seconds were"
            lines.append(f"{seconds} too short for the first round of the search: raise --time-limit (time_limit)")
        for output, selection in selections.items():
            text = rounded(self.expressions_[output])
            unit = f"  [{units[output]}]" if units.get(output) else ""
            if selection.unclear:
                lines += [
                    f"no clear equation for {output}: {selection.unclear}",
                    f"best that was found: {self._left_side(output)} = {text}{unit}",
                ]
            else:
                lines.append(f"{self._left_side(output)} = {text}{unit}")
            if selection.noise and not selection.unclear:
                lines.append(f"the noise is too large for what was found: {selection.noise}")
        lines += [
            f"left out{_of(output, selections)}: {counted(s.left_out)}"
            for output, s in selections.items()
            if s.left_out
        ]
        how = f"chosen on {rows} rows that the search had not seen"
        if not rows:
            how = "too few rows to hold any out, so each is predicted from the others; "
            how += "chosen by the shortest description of equation and errors"
        sure = found.ended != "exact" or all(selection.exact for selection in selections.values())
        ended = ENDED[found.ended if sure else "early"]
        ended += f" ({found.reason})" if found.reason and not found.candidates else ""
        if self.clear_:
            lines.append(f"clear: it beats {self.beaten} by more than chance; its form may still be wrong")
        return "\n".join([*lines, f"{how}; {ended}"])

    def _shown(self, expression: Expression) -> Expression:
        return tidied(displayed(expression, self._inner))

    def _skeleton(self, form: Form) -> str:
        return displayed(form.expression, self._inner).skeleton()

    @property
    def _inner(self) -> dict[str, str]:
        """Names of the search -> names that are shown."""
        return {f"x{i}": name.shown for i, name in enumerate(self._names)}

    def _form(self, output: str, index: int | None) -> Expression:
        check_is_fitted(self)
        if index is None:
            return self.expressions_[output]
        entries = self._entries[output]
        if not -len(entries) <= index < len(entries):
            raise IndexError(f"{output} has {len(entries)} equations, from 0 to {len(entries) - 1}; got {index}")
        return self._shown(entries[index].shown)

    def sympy(self, index: int | None = None) -> Any:
        """The equation as a SymPy expression in the shown names.

        Parameters
        ----------
        index : int, optional
            Row of ``equations_`` of this output in place of the chosen equation.

        Returns
        -------
        sympy.Expr or dict
            A dict of output -> expression where there are several.
        """
        check_is_fitted(self)
        found = {output: self._form(output, index).sympy() for output in self.expressions_}
        return found if len(found) > 1 else next(iter(found.values()))

    def latex(self, index: int | None = None, digits: int = 4) -> str:
        """The equation, with its left side, as LaTeX; several on lines of their own.

        Parameters
        ----------
        index : int, optional
            Row of ``equations_`` of this output in place of the chosen equation.
        digits : significant ones of decimal constants

        Returns
        -------
        str
        """
        import sympy

        check_is_fitted(self)
        letters = {sympy.Symbol(name.shown): name.latex for name in (*self._names, *self._outputs)}
        lines = []
        for output in self.expressions_:
            right = sympy.latex(rounded(self._form(output, index), digits).sympy(), symbol_names=letters)
            lines.append(f"{self._left(output)} = {right}")
        return " \\\\\n".join(lines)

    def skeletons(self) -> dict[str, str]:
        """The chosen equations with c0, c1, ... for their constants, by their left sides."""
        check_is_fitted(self)
        found = getattr(self, "skeletons_", None) or {next(iter(self.expressions_)): self.skeleton_}
        return {self._left_side(output): skeleton for output, skeleton in found.items()}

    def _left_side(self, output: str) -> str:
        """The left side of an equation, as text."""
        return output

    def _left(self, output: str) -> str:
        """The left side of an equation, in LaTeX."""
        return next((name.latex for name in (*self._outputs, *self._names) if name.shown == output), output)

    def to_python(self, name: str = "equation") -> str:
        """The source of a function that needs numpy alone; a text, which nothing here executes.

        Parameters
        ----------
        name : of the function

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the name is no name of a function.
        """
        check_is_fitted(self)
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name of a function; use letters, digits and _")
        arguments = [each.shown for each in self._names]
        every = (*self._names, *self._outputs)
        notes = dict.fromkeys(f"{each.shown}: {each.column}" for each in every if each.shown != each.column)
        warned = [] if self.clear_ else [self.message_.splitlines()[0]]
        return function(name, arguments, {self._result(o): e for o, e in self.expressions_.items()}, [*warned, *notes])

    def _result(self, output: str) -> str:
        """The name of an output's variable in a function."""
        return output

    def plot(self) -> Any:
        """The front, the fit and its residuals.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from .pictures import figure

        check_is_fitted(self)
        return figure(self)

    _names: tuple[Name, ...]
    _outputs: tuple[Name, ...]
    expressions_: dict[str, Expression]


def counted(left_out: Mapping[str, int]) -> str:
    """How many candidates were left out, and why.

    >>> counted({"with units that do not agree": 2, "outside the bounds": 1})
    '2 equations with units that do not agree, 1 equation outside the bounds'
    """
    return ", ".join(f"{n} equation{'s' if n > 1 else ''} {reason}" for reason, n in left_out.items())


def _of(output: str, several: Mapping[str, Any]) -> str:
    return f" for {output}" if len(several) > 1 else ""


def column_names(X: Any) -> list[str]:
    """Names of the columns of a table; x0, x1, ... of an array; none of anything else."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(column) for column in columns]
    return [f"x{i}" for i in range(X.shape[1])] if isinstance(X, np.ndarray) and X.ndim == 2 else []


def held_out_rows(n: int, rng: np.random.Generator, few: int = choice.FEW) -> np.ndarray:
    """Which of n rows are held out, as a mask, by the first rule of `choice`."""
    mask = np.zeros(n, bool)
    if n >= few:
        mask[rng.permutation(n)[: min(int(choice.HELD_OUT * n), choice.MOST)]] = True
    return mask


def check_magnitudes(names: Sequence[str], table: np.ndarray) -> None:
    """Refuse magnitudes whose squares and products leave what floats hold.

    Raises
    ------
    ValueError
        If the largest number of a column is above `LARGEST` or, where it is not zero, below its inverse.
    """
    for name, largest in zip(names, np.abs(table).max(axis=0, initial=0.0), strict=True):
        if largest > LARGEST or 0 < largest < 1 / LARGEST:
            beyond = f"numbers beyond {LARGEST:g} or only below {1 / LARGEST:g}"
            raise ValueError(f"column {one_line(name)!r} has {beyond}; write it in other units")

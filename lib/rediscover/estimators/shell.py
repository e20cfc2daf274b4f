"""``rediscover fit``: a file in, a table and a report out."""

import argparse
import contextlib
import csv
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..expressions import parse
from ..system.writing import one_line
from . import EquationRegressor, EquationSystem, ImplicitEquation, NoClearEquation, NoisyData
from .base import check_magnitudes
from .choice import FEW
from .constants import as_texts, rounded
from .names import displayed, named
from .reading import column, example, examples, read, used

LARGE = 2.0  # chi-square per degree of freedom, above which errors are said to be too small
ASKED = ("offset", "factor", "bounds", "increasing", "decreasing", "symmetric")  # of an equation for a target


def fit(options: argparse.Namespace) -> int:
    """Do what the command line asks for; its exit status.

    Parameters
    ----------
    options : as declared in ``rediscover.cli.fit``

    Returns
    -------
    int

    Raises
    ------
    ValueError
        In one sentence, if the table or an option cannot be used.
    """
    given = str(options.table)
    table = example(given) if given in examples() and not options.table.exists() else read(options.table)
    if options.out and options.out.exists() and not options.out.is_dir():
        raise ValueError(f"{options.out} is a file; give a folder")
    estimator, data, targets = estimator_of(table, options)
    # what is wrong is said before anything else is
    estimator._validated()
    numbers = data.select_dtypes("number")
    check_magnitudes([*map(str, numbers.columns)], numbers.to_numpy(dtype=float))
    if options.out:
        make_folder(options.out)
    print(f"{len(data)} rows, {estimator.method}, at most {options.time_limit:g} s", file=sys.stderr)
    for i, target in enumerate(targets or [None]):
        columns = [str(name) for name in data.columns if name not in (options.time, *targets)]
        found = clone(estimator)
        found.keeps_when_interrupted, found.watch = True, Progress(columns, target)
        weights = weights_of_errors(table, options.errors, data[target]) if target else None
        if not fitted(found, data[columns] if target else data, data[target] if target else None, weights):
            return 130
        if target and options.errors not in (None, "relative"):
            errors = used(table, [column(table, options.errors)]).iloc[:, 0]
            found.message_ += on_errors(found, data[columns], data[target], errors)
        print(("\n\n" if i else "") + printed(found))
        if options.out:
            from .page import write

            folder = options.out / named([target])[0].shown if target and len(targets) > 1 else options.out
            print(f"\nwritten: {write(found, folder, options.table.name)}")
        if found.ended_ == "interrupted":
            break
    return 0


def make_folder(path: Path) -> None:
    """Make a folder for a report, or raise an OSError: what cannot be written is known before a search."""
    with contextlib.suppress(OSError):  # what is wrong is said below
        path.mkdir(parents=True, exist_ok=True)
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise OSError(f"{path} cannot be written: choose another --out")


def fitted(estimator: Any, X: pd.DataFrame, y: pd.Series | None, weights: np.ndarray | None) -> bool:
    """Fit an estimator; false if it was interrupted before there was anything to keep."""
    try:
        with warnings.catch_warnings():
            for category in (NoClearEquation, NoisyData):  # the message says it
                warnings.simplefilter("ignore", category)
            estimator.fit(X) if y is None else estimator.fit(X, y, weights)
    except KeyboardInterrupt:
        print("rediscover: interrupted before the search had an answer; there is nothing to keep", file=sys.stderr)
        return False
    return True


def estimator_of(table: pd.DataFrame, options: argparse.Namespace) -> tuple[Any, pd.DataFrame, list[str]]:
    """The estimator that the options ask for, the columns that it is given, and names of targets, if any."""
    settings = {
        "method": options.method,
        "operators": options.operators and [name.strip() for name in options.operators.split(",")],
        "max_complexity": options.max_complexity,
        "max_evaluations": options.max_evaluations,
        "time_limit": options.time_limit,
        "random_state": options.seed,
        "units": options.units,
        "constants": options.constants,
    }
    if options.seed < 0:
        raise ValueError("--seed must be at least 0")
    inputs = listed(table, options.inputs)
    if options.series and not options.time:
        raise ValueError("--series is for series in time: add --time")
    if options.time or options.implicit:
        if options.errors:
            raise ValueError("--errors is of a target; it goes with neither --time nor --implicit")
        if options.target:
            raise ValueError("--target goes with neither --time nor --implicit; name the columns with --inputs")
        if asked := [name for name in ASKED if getattr(options, name)]:
            raise ValueError(f"--{asked[0]} goes with --target only; leave it out")
        return _without_target(table, options, inputs, settings)
    if not options.target:
        known = ", ".join(map(str, table.columns))
        raise ValueError(f"say which column the equation is for: add --target (columns: {one_line(known)})")
    targets = listed(table, options.target)
    spared = [*targets, *([column(table, options.errors)] if options.errors not in (None, "relative") else [])]
    inputs = inputs or [str(name) for name in table.columns if name not in spared]
    data = used(table, list(dict.fromkeys([*inputs, *targets])))
    for target in targets:
        if target in inputs:
            raise ValueError(f"{one_line(target)!r} is the target; leave it out of --inputs")
        if len(data) >= 2 and np.ptp(data[target]) == 0:
            value = f"{data[target].iloc[0]:g}"
            raise ValueError(f"the target {one_line(target)!r} is {value} in all rows; choose another one")
    if not inputs:
        raise ValueError("the target is the only column; add columns that it may depend on")
    if len(data) < 2:
        raise ValueError(f"the table has one row, which every equation fits; give at least two, better {FEW}")
    settings |= {name: getattr(options, name) for name in ("offset", "factor")}
    settings |= {name: listed(table, getattr(options, name)) or None for name in ("increasing", "decreasing")}
    settings["symmetric"] = [listed(table, pair) for pair in options.symmetric or ()] or None
    settings["bounds"] = ends(options.bounds) if options.bounds else None
    return EquationRegressor(**settings), data, targets


def listed(table: pd.DataFrame, names: str | None) -> list[str]:
    """Columns that are named as a,b, in quotes where a name has a comma, or one whose own name has one."""
    if not names:
        return []
    if names in map(str, table.columns):
        return [names]
    parts = next(csv.reader([names], skipinitialspace=True))
    return list(dict.fromkeys(column(table, name.strip()) for name in parts))


def ends(text: str) -> tuple[float | None, float | None]:
    """Bounds from a text.

    >>> ends("0,1"), ends(",1")
    ((0.0, 1.0), (None, 1.0))
    """
    said = f"--bounds is {text!r}; give the least and the largest value as in 0,1 or ,1"
    try:
        low, high = (float(part) if part.strip() else None for part in text.split(","))
    except ValueError:
        raise ValueError(said) from None
    if not (-np.inf if low is None else low) < (np.inf if high is None else high):
        raise ValueError(said)
    return low, high


def weights_of_errors(table: pd.DataFrame, errors: str | None, target: pd.Series) -> np.ndarray | None:
    """Weights of the rows, one over the square of the error of each; None where no errors are given."""
    if errors is None:
        return None
    found = target if errors == "relative" else used(table, [column(table, errors)]).iloc[:, 0]
    wrong = found == 0 if errors == "relative" else found <= 0
    if wrong.any():
        row = int(wrong.argmax())
        said = f"--errors {one_line(errors)}: the error in row {row + 1} is {found.iloc[row]:g}"
        raise ValueError(f"{said}; leave that row out, or write a positive one")
    return np.asarray((found.abs().min() / found) ** 2)


def on_errors(found: EquationRegressor, X: pd.DataFrame, y: pd.Series, errors: pd.Series) -> str:
    """A line on errors that are too small or too large for what is left over; empty where they are neither."""
    freedom = len(y) - len(found.constants_)
    square = float((((y - found.predict(X)) / errors) ** 2).sum()) / max(freedom, 1)
    if freedom < 1 or not (square > LARGE or square < 1 / LARGE):
        return ""
    said = f"chi-square is {square:.3g} per degree of freedom with the errors in {one_line(str(errors.name))}"
    wrong = "too small, or the form is wrong" if square > LARGE else "too large"
    return f"\n{said}: they are {wrong}; intervals use only their ratios"


def _without_target(table: pd.DataFrame, options: argparse.Namespace, inputs: list[str], settings: dict) -> Any:
    if options.implicit:
        data = used(table, inputs or [str(name) for name in table.columns])
        if data.shape[1] < 2:
            raise ValueError("a cloud needs two columns or more; the table has one")
        return ImplicitEquation(**settings), data, []
    time_column = options.time = column(table, options.time)
    keys = [time_column] + ([column(table, options.series)] if options.series else [])
    states = [name for name in (inputs or map(str, table.columns)) if name not in keys]
    if not states:
        raise ValueError("there is no column of a state beside the time; add one")
    data = used(table, [time_column, *states])
    if options.series:
        data[keys[1]] = table[keys[1]].to_numpy()
        settings["series"] = keys[1]
    return EquationSystem(time=time_column, **settings), data, []


def again(constants: pd.DataFrame) -> bool:
    """Whether some constants are shown with other digits than those of their values, or as a short number."""
    numbers = constants["shown"].str.split(" ").str[0]
    return any(text != f"{value:.4g}" for text, value in zip(numbers, constants["value"], strict=True))


class Progress:
    """Prints what the search has after each run, on standard error; the choice is made at the end."""

    def __init__(self, columns: Sequence[str], target: str | None) -> None:
        self.began = time.monotonic()
        self.inner = [name.shown for name in named([name for name in columns if name != target])]
        self.target = named([target])[0].shown if target else None

    def __call__(self, evaluations: int, front: Sequence[Any]) -> None:
        names = {f"x{i}": shown for i, shown in enumerate(self.inner)}
        texts = []
        for output, text in front[0].solution.items():
            left = names.get(output, self.target or output)
            texts.append(f"{left}: {rounded(displayed(parse(text, list(names)), names))}")
        took = f"{time.monotonic() - self.began:6.1f} s, {evaluations:,} evaluations"
        line = f"{took}, first candidate now: {'; '.join(texts)}"
        print(line[:200], file=sys.stderr)


def printed(estimator: Any) -> str:
    """What the command prints: the message, the front and the constants."""
    front = estimator.equations_.copy()
    front["chosen"] = np.where(front["chosen"], "<-", "")
    for name in ("training_error", "validation_error"):
        front[name] = front[name].map("{:.4g}".format)
    text = "\n".join([estimator.message_, *front["equation"]])
    names = [name for name in dict.fromkeys((*estimator._names, *estimator._outputs)) if name.shown in text]
    changed = ", ".join(f"{name.shown} is the column {one_line(name.column)!r}" for name in names if name.changed)
    parts = [estimator.message_ + (changed and f"\n{changed}"), front.to_string(index=False)]
    if len(estimator.constants_):
        constants = as_texts(estimator.constants_)
        forms = [f"constants of {left} = {skeleton}" for left, skeleton in estimator.skeletons().items()]
        parts += ["\n".join(forms) + "\n" + constants.to_string(index=False)]
        parts[-1] += "\nlow, high: 95 % intervals, the form of the equation taken as given"
        if len(estimator.constants_) > 1 and again(estimator.constants_):
            parts[-1] += "\nshown: as in the equation, fitted again beside its short numbers; value: all fitted freely"
    return "\n\n".join(parts)

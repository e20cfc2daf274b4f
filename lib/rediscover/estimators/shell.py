"""``rediscover fit``: a file in, a table and a report out."""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..expressions import parse
from ..system.writing import one_line
from . import EquationRegressor, EquationSystem, ImplicitEquation, NoClearEquation, NoisyData
from .base import check_magnitudes
from .constants import rounded
from .names import displayed, named
from .reading import column, read, used


def fit(options: argparse.Namespace) -> int:
    """Do what the command line asks for; its exit status.

    Parameters
    ----------
    options : as declared in ``rediscover.fit_command``

    Returns
    -------
    int

    Raises
    ------
    ValueError
        In one sentence, if the table or an option cannot be used.
    """
    table = read(options.table)
    if options.out and options.out.exists() and not options.out.is_dir():
        raise ValueError(f"{options.out} is a file; give a folder")
    estimator, data, target = estimator_of(table, options)
    # what is wrong is said before anything else is
    estimator._validated()
    check_magnitudes(data.select_dtypes("number").to_numpy(dtype=float))
    watch = Progress([str(name) for name in data.columns if name != options.time], target)
    estimator.keeps_when_interrupted, estimator.watch = True, watch
    print(f"{len(data)} rows, {estimator.method}, at most {options.time_limit:g} s", file=sys.stderr)
    try:
        with warnings.catch_warnings():
            for category in (NoClearEquation, NoisyData):  # the message says it
                warnings.simplefilter("ignore", category)
            estimator.fit(data) if target is None else estimator.fit(data.drop(columns=target), data[target])
    except KeyboardInterrupt:
        print("rediscover: interrupted before the search had an answer; there is nothing to keep", file=sys.stderr)
        return 130
    print(printed(estimator))
    if options.out:
        from .page import write

        print(f"\nwritten: {write(estimator, options.out, options.table.name)}")
    return 0


def estimator_of(table: pd.DataFrame, options: argparse.Namespace) -> tuple[Any, pd.DataFrame, str | None]:
    """The estimator that the options ask for, the columns that it is given, and the target's name if there is one."""
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
    inputs = [column(table, name.strip()) for name in options.inputs.split(",")] if options.inputs else []
    if options.series and not options.time:
        raise ValueError("--series is for series in time: add --time")
    if options.time or options.implicit:
        if options.target:
            raise ValueError("--target goes with neither --time nor --implicit; name the columns with --inputs")
        return _without_target(table, options, inputs, settings)
    if not options.target:
        known = ", ".join(map(str, table.columns))
        raise ValueError(f"say which column the equation is for: add --target (columns: {one_line(known)})")
    target = column(table, options.target)
    inputs = inputs or [str(name) for name in table.columns if name != target]
    if target in inputs:
        raise ValueError(f"{one_line(target)!r} is the target; leave it out of --inputs")
    if not inputs:
        raise ValueError("the target is the only column; add columns that it may depend on")
    data = used(table, list(dict.fromkeys([*inputs, target])))
    if len(data) < 2:
        raise ValueError("the table has one row, which every equation fits; give at least two, better 25")
    if np.ptp(data[target]) == 0:
        raise ValueError(f"the target {one_line(target)!r} is {data[target].iloc[0]:g} in all rows; choose another one")
    return EquationRegressor(**settings), data, target


def _without_target(table: pd.DataFrame, options: argparse.Namespace, inputs: list[str], settings: dict) -> Any:
    if options.implicit:
        data = used(table, inputs or [str(name) for name in table.columns])
        if data.shape[1] < 2:
            raise ValueError("a cloud needs two columns or more; the table has one")
        return ImplicitEquation(**settings), data, None
    time_column = options.time = column(table, options.time)
    keys = [time_column] + ([column(table, options.series)] if options.series else [])
    states = [name for name in (inputs or map(str, table.columns)) if name not in keys]
    if not states:
        raise ValueError("there is no column of a state beside the time; add one")
    data = used(table, [time_column, *states])
    if options.series:
        data[keys[1]] = table[keys[1]].to_numpy()
        settings["series"] = keys[1]
    return EquationSystem(time=time_column, **settings), data, None


class Progress:
    """Prints what the search has after each run, on standard error."""

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
        line = f"{time.monotonic() - self.began:6.1f} s, {evaluations:,} evaluations: {'; '.join(texts)}"
        print(line[:200], file=sys.stderr)


def printed(estimator: Any) -> str:
    """What the command prints: the message, the front and the constants."""
    front = estimator.equations_.copy()
    front["chosen"] = np.where(front["chosen"], "<-", "")
    for name in ("training_error", "held_out_error"):
        front[name] = front[name].map("{:.4g}".format)
    parts = [estimator.message_, front.to_string(index=False)]
    if len(estimator.constants_):
        constants = estimator.constants_.copy()
        for name in ("value", "standard_error", "low", "high"):
            constants[name] = constants[name].map("{:.6g}".format)
        skeletons = getattr(estimator, "skeletons_", None) or {"": estimator.skeleton_}
        named = [f"constants of {' '.join(filter(None, (o, '=' if o else '', s)))}" for o, s in skeletons.items()]
        parts += ["\n".join(named) + "\n" + constants.to_string(index=False)]
    return "\n\n".join(parts)

"""Whom a method is compared with: the best that are recorded, or those that took as long."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..methods import registry
from ..report.names import in_words
from ..report.summaries import known_numbers
from ..report.tables import CONTROLS
from ..runs.schema import answered
from ..system import record_files
from ..system.committed import committed
from ..system.studies import measures_of
from . import answers
from .budgets import FACTOR
from .head_to_head import statistic, turn

COUNT = 5
COVERED = 0.9  # share of the problems that a method must have been run on to be one of the best
LEVEL = 1 / 3  # share of them that must be recorded at a budget for it to be one
EARLIER = "_first"  # how a method's name ends whose rows are earlier answers of another one
_STATED = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
RULE, EQUAL = _STATED["best"], _STATED["equal_seconds"]


def best_recorded(study: str, ids: Sequence[str], without: str) -> list[str]:
    """Names of the best recorded methods, best first; `RULE` says how they are chosen.

    Parameters
    ----------
    study : prefix of the problems' ids
    ids : problems
    without : a method that is not meant

    Raises
    ------
    LookupError
        If there is no table of scores, or no such method.
    """
    rule = measures_of(study)
    path = committed("tables") / f"{rule['table']}.csv"
    frame = answered(path) if path.exists() else pd.DataFrame(columns=["problem", "noise", "status", "method"])
    frame = frame[frame["problem"].isin(list(ids)) & (frame["noise"] == 0) & (frame["status"] != "unavailable")]
    places = []
    for name, part in frame.groupby("method"):
        known = name in registry() and name not in (*CONTROLS, without) and not str(name).endswith(EARLIER)
        if known and part["problem"].nunique() >= COVERED * len(ids):
            places.append((*(_place(part[measure], measure) for measure in rule["measures"]), str(name)))
    if not places:
        raise LookupError(f"no methods are recorded on these problems of {study}: name those to compare with")
    return [str(place[-1]) for place in sorted(places)[:COUNT]]


def _place(values: pd.Series, measure: str) -> float:
    """A number that is lower for what is better."""
    known = pd.to_numeric(values).dropna()
    return math.inf if known.empty else -turn(measure) * float(statistic(measure)(known))


def at_equal_seconds(
    mine: pd.DataFrame, names: Sequence[str], study: str, ids: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Answers of other methods at the budgets that took as long as mine; `EQUAL` says what that is.

    Parameters
    ----------
    mine : scored answers, with their seconds
    names : of the others
    study, ids : problems

    Returns
    -------
    (dict of name -> scored answers, list of str)
        What was done, in sentences.

    Raises
    ------
    LookupError
        If the seconds of mine are not known, or nothing recorded took as long.
    """
    name = mine["method"].iloc[0]
    took = float(known_numbers(mine, "seconds").median())
    if math.isnan(took):
        raise LookupError(
            f"the seconds of {name} are not known: run it again, `rediscover run --methods ... --study {study}`"
        )
    found, said = {}, []
    for other in names:
        levels = _levels(other, study, ids)
        nearest = min(levels, key=lambda each: abs(math.log(each / took)), default=math.nan)
        if math.isnan(nearest):
            said.append(f"{other} is left out: no record of it on these problems says its seconds")
        elif not 1 / FACTOR <= nearest / took <= FACTOR:
            said.append(f"{other} is left out: its nearest record took {nearest:.3g} s a run, {name} {took:.3g} s")
        else:
            found[other] = levels[nearest]
            evaluations = levels[nearest]["allowed"].iloc[0]
            said.append(f"{other} with {evaluations:,} evaluations took {nearest:.3g} s a run, {name} {took:.3g} s")
    if not found:
        raise LookupError(
            f"nothing recorded took as long as {name} ({'; '.join(said)}): compare without --equal-seconds"
        )
    shared = set(mine["problem"]).intersection(*(frame["problem"] for frame in found.values()))
    if not shared:
        raise LookupError(f"no problem is recorded for {in_words(found)} alike: name fewer methods")
    kept = {
        other: answers.scored_records(frame[frame["problem"].isin(shared)], study, sorted(shared))
        for other, frame in found.items()
    }
    return kept, [*said, f"compared on the {len(shared)} of {len(ids)} problems that all have"]


def _levels(name: str, study: str, ids: Sequence[str]) -> dict[float, pd.DataFrame]:
    """Median seconds of a run -> the runs, for each recorded number of evaluations with enough of the problems."""
    where = record_files.folder()
    if where is None or not record_files.used() or name not in registry():
        return {}
    lines = record_files.load(where / study / f"{name}{record_files.SUFFIX}", where)
    counts = pd.Series([line["evaluations"] for line in lines if line["noise"] == 0 and line["problem"] in {*ids}])
    levels = {}
    for evaluations in counts.value_counts().index:
        runs = answers.at(name, study, ids, int(evaluations))
        if len(runs) and runs["problem"].nunique() >= LEVEL * len(ids):
            seconds = float(np.median(runs["seconds"].astype(float)))
            if seconds > 0:
                levels[seconds] = runs
    return levels

"""Rows that others submit to the leaderboards: a file with the method, its scored answers, and a check by sample.

``submissions/<method>/`` holds the method's file, ``method.yaml`` (its class, and the profile whose budget it had) and
``<study>.csv`` for each study. A pull request brings the folder; `check` runs a sample of its rows again.
"""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from .. import runs
from ..methods import Budget, method
from ..problems import problems
from ..runs.recording import PORTABLE_LOSS
from ..runs.schema import read_csv, to_csv
from ..runs.scoring import metric
from ..studies import asked
from ..system.committed import submissions
from ..system.studies import measures_of
from ..system.writing import write_text
from .answers import kept, profile_of, scored

SAMPLE = 60  # rows of each study that are run again
RTOL = 1e-6  # by which a score may differ
ABOUT = "method.yaml"
LIMITED = ("timeout", "memory")  # endings that another machine need not have


class SubmissionError(ValueError):
    """A submission that is not whole, or not true; the message says which row, and what to do."""


def submit(reference: str, study: str) -> Path:
    """Put a method of one's own and its answers to a whole study where a pull request takes them from.

    Parameters
    ----------
    reference : ``./mine.py:Mine``, which was run on the study
    study : prefix of the problems' ids

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    SubmissionError
        If it is no class of a file, or was not run on every problem.
    """
    file, _, cls = reference.rpartition(":")
    if not file.endswith(".py"):
        raise SubmissionError(f"{reference!r} names no class of a file: write ./mine.py:Mine")
    name = method(reference).name
    rows = kept(name, study, None)
    rows = pd.DataFrame(columns=["problem"]) if rows is None else rows.drop(columns="origin")
    if missing := [id for id in problems(study) if id not in set(rows["problem"])]:
        run = f"`rediscover run --methods {reference} --study {study}`"
        raise SubmissionError(f"{name} was not run on {len(missing)} problems of {study}, such as {missing[0]}: {run}")
    folder = submissions() / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / Path(file).name)
    write_text(folder / ABOUT, yaml.safe_dump({"class": f"{Path(file).name}:{cls}", "profile": profile_of(study)}))
    to_csv(rows, folder / f"{study}.csv")
    return folder


def check(folder: Path, *, seed: int = 0, size: int = SAMPLE, seconds: float = 60.0, **options: Any) -> list[str]:
    """Run a sample of a submission's rows again, and compare answers and scores.

    Answers must be the same to the last digit; those of a method that is not ``portable`` have scores within 1 %.
    Scores are computed again from the answers. A row that ended by a limit, or does not end in time here, is not
    compared.

    Parameters
    ----------
    folder : of one method
    seed : int
        Of the draw.
    size : int
        Rows of each study.
    seconds : float
        For each run.
    options : workers and progress, as for `runs.compute`

    Returns
    -------
    list of str
        What was found, a sentence for each study.

    Raises
    ------
    SubmissionError
        If a study is not whole, or a row comes out otherwise.
    """
    about_file, tables = folder / ABOUT, sorted(folder.glob("*.csv"))
    if not about_file.exists() or not tables:
        raise SubmissionError(f"{folder} holds no {ABOUT} or no table: `rediscover submit` writes both")
    about = yaml.safe_load(about_file.read_text(encoding="utf-8"))
    said = []
    for path in tables:
        rows, study = read_csv(path), path.stem
        solver = method(str(folder / about["class"]))
        _whole(rows, study, solver.name, about["profile"])
        drawn = rows.iloc[np.sort(np.random.default_rng(seed).permutation(len(rows))[:size])]
        compared = _again(drawn, solver.name, about["profile"], seconds, options)
        said.append(
            f"{solver.name} on {study}: {compared} of {len(drawn)} drawn rows came out as submitted (seed {seed})"
        )
        if not compared:
            raise SubmissionError(f"{solver.name} on {study}: no drawn row could be compared: allow more --seconds")
    return said


def _whole(rows: pd.DataFrame, study: str, name: str, profile: str) -> None:
    """Raise an error unless there is one row for each problem and seed of the profile, and no other."""
    seeds = asked(problems(study)[:1], [name], profile)["seeds"]
    wanted = {(id, int(seed)) for id in problems(study) for seed in ([seeds] if isinstance(seeds, int) else seeds)}
    found = list(zip(rows["problem"], rows["seed"], strict=True))
    if {*found} != wanted or len(found) != len(wanted) or {*rows["method"]} != {name}:
        raise SubmissionError(
            f"{study}.csv has {len(found)} rows where {len(wanted)} are asked for: submit all of a study"
        )


def _again(rows: pd.DataFrame, name: str, profile: str, seconds: float, options: dict) -> int:
    """How many rows could be compared, and came out the same."""
    grid = asked(list(rows["problem"].unique()), [name], profile)
    budget = Budget(grid["budget"].evaluations, seconds, grid["budget"].memory_mb)
    arguments = grid | {"budget": budget, "store": None, "seeds": sorted({int(seed) for seed in rows["seed"]})}
    frame = runs.grid(**arguments, **options)
    frame = scored(frame, grid["problems"], {"store": None, **options}).set_index(["problem", "seed"])
    portable = method(name).portable
    measures = [each for each in measures_of(rows["study"].iloc[0])["measures"] if each in frame and each in rows]
    count = 0
    for row in rows.to_dict("records"):
        now = frame.loc[row["problem"], row["seed"]]
        if row["status"] in LIMITED or now["status"] in LIMITED:
            continue
        same = [now["status"] == row["status"], not portable or now["solution"] == row["solution"]]
        rtol = RTOL if portable else PORTABLE_LOSS
        same += [_alike(float(now[each]), float(row[each]), rtol, metric(each).direction) for each in measures]
        if not all(same):
            raise SubmissionError(
                f"{name} on {row['problem']}, seed {row['seed']}, does not come out as submitted: run it and submit "
                "what it answers, with all randomness from rng"
            )
        count += 1
    return count


def _alike(now: float, then: float, rtol: float, direction: str) -> bool:
    tiny = 1e-9 if direction == "lower" else 0.0  # an error below it is rounding
    return bool(np.isclose(now, then, rtol=rtol, atol=tiny, equal_nan=True))

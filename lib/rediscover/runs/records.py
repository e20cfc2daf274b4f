"""Finished runs that are committed: what was asked, what was answered, by which code, at what cost.

``records/<study>/<method>.jsonl.xz`` holds one line of JSON for each run, sorted, so that a file's text changes where a
run was added and nowhere else (``git diff`` shows it: .gitattributes). ``records/SHA256SUMS`` has the digest of each
file's text. `runs.grid` takes a run from here that asks for the same: the same data, method, settings, evaluations and
seed. Which code answered is stated, and is no condition: `spot_checks` run a sample again and compare.
"""

import dataclasses
import functools
import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..methods import registry
from ..problems import STUDIES, Field, Problem, Series, Trajectories
from ..system.code_version import code_version
from ..system.record_files import SUFFIX, SUMS, RecordError, alone, altered, files, folder, load, used, write
from ..system.reproducible_blas import PROCESSOR
from ..system.studies import rules
from .run import PROSE, Run, digest, plain

ANSWERED = ("status", "reason", "candidates")
LISTED = 5  # conflicts that a message names
ASKED = ("problem", "data", "method", "selection", "settings", "noise", "evaluations", "seed")
_data_digests: dict[str, str] = {}  # of this process: many methods are shown the same
LIMITED = ("timeout", "memory")  # endings that hang on the limits of the budget, which are then part of what is asked


def data_digest(problem: Problem, seed: int) -> str:
    """What a run was shown: the fields that a problem's author or user set, and the numbers, in single precision.

    Single precision, since another processor may compute the last digits of double precision otherwise. Of numbers that
    are read from a file of others (``problem.released``), its SHA-256.

    Parameters
    ----------
    problem : Problem
    seed : int

    Returns
    -------
    str
        Sixteen hexadecimal digits.
    """
    fields = {
        f.name: getattr(problem, f.name)
        for f in dataclasses.fields(problem)
        if f.name not in PROSE and not _is_default(f, getattr(problem, f.name))
    }
    known = digest([problem.kind, fields, seed])
    if known not in _data_digests:
        summed = hashlib.sha256(f"{known}{getattr(problem, 'released', '')}".encode())
        for array in _arrays(problem, seed):
            with np.errstate(over="ignore", under="ignore"):
                summed.update(np.ascontiguousarray(array, dtype=np.float32).tobytes())
        _data_digests[known] = summed.hexdigest()[:16]
    return _data_digests[known]


def asked(run: Run, with_data: bool = True) -> dict[str, Any]:
    """What a run asks for, in plain data, by the names of `ASKED`; settings that only refuse are left out.

    The digest of its data takes time: without them it is "".
    """
    settings = plain(run.method.settings)
    return {
        "problem": run.problem.id,
        "data": data_digest(run.problem, run.seed) if with_data else "",
        "method": run.method.name,
        "selection": getattr(run.method, "selection", ""),
        "settings": {name: settings[name] for name in settings if name not in run.method.refuses},
        "noise": float(run.problem.noise),
        "evaluations": int(run.budget.evaluations),
        "seed": run.seed,
    }


def record(run: Run, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a finished run, with the digest of the rules that its study has written down, if it has."""
    limits = {"limits": [run.budget.seconds, run.budget.memory_mb]} if outcome["status"] in LIMITED else {}
    written = rules(run.problem.study)
    return {
        **asked(run),
        "status": outcome["status"],
        "reason": outcome["reason"],
        "candidates": outcome.get("candidates", []),
        **limits,
        "seconds": round(outcome["seconds"], 2),
        "peak_mb": round(outcome["peak_mb"]),
        "code": code_of(run),
        "processor": processor(),
        **({"rules": written} if written else {}),
    }


def code_of(run: Run) -> str:
    """The code that a run's answer comes from: the versions of the problem's module and of the method."""
    return f"{code_version(type(run.problem).__module__)}-{run.method.version}"


def find(runs: Sequence[Run]) -> list[dict | None]:
    """The recorded outcome of each run, as `compute` would return it; None where there is none."""
    kept = (*ANSWERED, "seconds", "peak_mb")
    return [line and {name: line[name] for name in kept} | {"reused": True} for line in lines(runs)]


def lines(runs: Sequence[Run]) -> list[dict | None]:
    """The record of each run; None where there is none, or where records are not `used`."""
    return [_line(run) for run in runs] if used() else [None] * len(runs)


def add(found: Iterable[Mapping[str, Any]], into: Path | None = None, prefer: str = "") -> int:
    """Write records to their files, beside those that are there.

    Of two with the same answer to the same question the one that is there stays.

    Parameters
    ----------
    found : lines as `record` makes them
    into : folder of records; by default the repository's
    prefer : ``here`` or ``there``: whose answer counts where what is here and what is found are in conflict

    Returns
    -------
    int
        How many lines are new or changed.

    Raises
    ------
    RecordError
        If two answers to one question differ and none is preferred, a line names no method or problem that there is, or
        a file was altered since it was recorded. Then nothing is written.
    """
    into = into or folder()
    if into is None:
        raise RecordError("records are kept in the repository: run inside it")
    new: dict[Path, dict[str, dict]] = {}
    conflicts: list[str] = []
    for line in found:
        other = new.setdefault(into / path(line), {}).setdefault(_identity(line), dict(line))
        conflicts += _conflict(other, line)
    with alone(into):
        written, changed = {}, 0
        for file, lines in new.items():
            before = {_identity(line): line for line in load(file, into)}
            differing = [key for key in before.keys() & lines.keys() if _conflict(before[key], lines[key])]
            if not prefer:
                conflicts += [_conflict(before[key], lines[key])[0] for key in sorted(differing)]
            taken = {key: lines[key] for key in lines if key not in before or (key in differing and prefer == "there")}
            changed += len(taken)
            written[file] = (before | taken).values()
        if conflicts:
            listed = "; ".join(conflicts[:LISTED]) + ("; ..." if len(conflicts) > LISTED else "")
            remedy = "find out which is right, and say --prefer here or --prefer there"
            raise RecordError(f"{len(conflicts)} runs have two answers ({listed}): {remedy}")
        write(into, written, _identity)
    _read.cache_clear()
    return changed


def _conflict(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What two records of one run differ in, in words; nothing if both say the same."""
    if all(json.dumps(one[name], sort_keys=True) == json.dumps(other[name], sort_keys=True) for name in ANSWERED):
        return []
    ended = " and ".join(line["status"] for line in (one, other))
    return [f"{one['method']} on {one['problem']}, seed {one['seed']}: {ended}"]


def shard(where: Path) -> list[dict]:
    """All records of a folder that another machine has made.

    Raises
    ------
    RecordError
        If it is no folder of records, or does not say itself what is in its files.
    """
    if not (where / SUMS).exists():
        raise RecordError(f"{where} has no {SUMS}: name a folder that `make records INTO=...` wrote")
    if wrong := altered(where):
        raise RecordError(f"{where / wrong[0]} is not what its {SUMS} says: copy the folder again")
    return list(every(where))


def every(where: Path | None = None) -> Iterator[dict]:
    """All records, file by file."""
    where = where or folder()
    for file in files(where) if where else ():
        if file.parent != where:  # there are trees, not runs
            yield from load(file, where)


def path(line: Mapping[str, Any]) -> Path:
    """The file that a record belongs to, relative to the folder of records.

    Raises
    ------
    RecordError
        If its method or its study is not of this package.
    """
    study, method = line["problem"].partition("/")[0], line["method"]
    if study not in STUDIES or method not in registry():
        raise RecordError(f"there is no method {method!r} for {study!r}: update rediscover, or leave the record out")
    return Path(study) / f"{method}{SUFFIX}"


def _is_default(field: dataclasses.Field, value: Any) -> bool:
    """Whether a field has the value that it has when nobody sets it: a field that is added later changes no digest."""
    if field.default_factory is not dataclasses.MISSING:
        return value == field.default_factory()
    return field.default is not dataclasses.MISSING and bool(np.all(value == field.default))


def _arrays(problem: Problem, seed: int) -> Iterator[np.ndarray]:
    if getattr(problem, "released", ""):
        return  # the digest of the file stands for the numbers, which are not passed on
    if isinstance(problem, Series):
        yield problem.series()
    elif isinstance(problem, Field):
        axes, *arrays = problem.samples(seed)
        yield from (*axes.values(), *arrays)
    elif isinstance(problem, Trajectories):
        yield from problem.trajectory(seed)
    else:
        for name, split in sorted(problem.data(seed).items()):
            if name in ("train", "validation"):
                yield from split


def _identity(line: Mapping[str, Any]) -> str:
    limits = line["limits"] if line["status"] in LIMITED else []
    return json.dumps([line[name] for name in ASKED] + limits, sort_keys=True)


@functools.cache
def _read(study: str, method: str) -> dict[str, dict]:
    """Records of one file, by what they were asked for."""
    return {_identity(line): line for line in load((folder() or Path()) / study / f"{method}{SUFFIX}")}


def _line(run: Run) -> dict | None:
    known = _read(run.problem.study, run.method.name)
    if not known or run.method.refusal(run.problem):
        return None
    question = [*asked(run).values()]
    limited = json.dumps([*question, run.budget.seconds, run.budget.memory_mb], sort_keys=True)
    return known.get(json.dumps(question, sort_keys=True)) or known.get(limited)


@functools.cache
def processor(cpuinfo: Path = PROCESSOR) -> str:
    """The kind of this machine's processor: as it calls itself, with family, model and stepping on Linux and x86.

    Virtual machines call processors of several generations by one name.
    """
    try:
        text = cpuinfo.read_text()
    except OSError:
        text = ""
    said = dict(re.findall(r"^(model name|cpu family|model|stepping)\s*: (.+)", text, flags=re.M))
    if "model name" not in said:
        return platform.processor() or platform.machine()
    numbers = [said[name] for name in ("cpu family", "model", "stepping") if name in said]
    return f"{said['model name']} {'-'.join(numbers)}".strip()

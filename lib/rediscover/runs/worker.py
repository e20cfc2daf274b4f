"""The one thing that workers do for a grid: a task, and a description of how it ended."""

import errno
import json
import pickle
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..methods import Unsupported
from ..methods.candidates import Candidate, not_candidates
from ..problems import Problem
from ..system import process_state
from ..system.store import StoreError
from ..system.users_lines import described, where
from ..system.writing import one_line

STATUSES = ("ok", "timeout", "memory", "error", "unparsable", "unsupported", "unavailable")
CANDIDATE = {  # what a candidate is made of
    "solution": dict,
    "loss": float,
    "complexity": float | None,
    "evaluations": int | None,
    "notes": dict,
}
CANDIDATES = 50  # of a front, at most so many are kept
LONGEST, WITH_LINES = 200, 300  # characters of a reason, and of one that names lines of the user's own
NOTES = 1_000_000  # characters that a candidate's notes may have
# Of the disk, of open files, of processes: what the machine has none left of.
SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
KINDS_OF_EXPRESSIONS = ("regression", "level set", "trajectories", "field")


def attempt(task: bytes) -> tuple[str, list[str]]:
    """Do one task, a pickled callable; how it ended, and what it has left changed in this process for others.

    The first is JSON of status, reason, and plain data.
    """
    before = process_state.state()
    return _done(task), process_state.changed(before)


def _done(task: bytes) -> str:
    try:
        return _text(pickle.loads(task)())
    except Unsupported as error:
        outcome = ending("unsupported", str(error))
    except MemoryError as error:
        outcome = ending("memory", f"MemoryError: {error}")
    except BaseException as error:  # SystemExit too: a method that gives up must not take the worker along
        status = "unavailable" if of_the_machine(error) else "error"
        longest = WITH_LINES if where(error) else LONGEST
        outcome = ending(status, described(error), longest=longest)
    return _text(outcome)


def _text(outcome: dict) -> str:
    # Half of a surrogate pair can be in a text, and in no file.
    text = json.dumps(outcome, default=_numpy_to_python, ensure_ascii=False)
    return text.encode(errors="replace").decode()


def of_the_machine(error: BaseException | None) -> bool:
    """Whether an error, or one that it came from, is the machine's: its disk, its files, its store."""
    while error:
        if isinstance(error, StoreError) or (isinstance(error, OSError) and error.errno in SHORTAGES):
            return True
        error = error.__cause__ or error.__context__
    return False


def ending(status: str, reason: str, candidates: Iterable[dict] = (), longest: int = LONGEST) -> dict:
    """How a run ended; the reason is made one line of at most so many characters."""
    line = re.sub(r"\b0x[0-9a-fA-F]+", "0x...", one_line(reason))  # addresses differ from run to run
    return {"status": status, "reason": line[:longest], "candidates": list(candidates)}


def sound(outcome: Any) -> dict:
    """An outcome as it came from a worker, if it is one: a method may have changed what made it.

    Raises
    ------
    TypeError
        If it is none.
    """
    if not isinstance(outcome, dict) or not isinstance(outcome.get("reason"), str):
        raise TypeError("no status and reason")
    if outcome.get("status") not in STATUSES:
        raise TypeError(f"no status {outcome.get('status')!r:.40}")
    for candidate in outcome.get("candidates", []):
        kinds = {name: type(candidate[name]) for name in CANDIDATE}
        if wrong := [name for name, kind in kinds.items() if not issubclass(kind, CANDIDATE[name])]:
            raise TypeError(f"{wrong[0]} is of type {kinds[wrong[0]].__name__}")
    return outcome


def checked(problem: Problem, answer: Any) -> dict:
    """The outcome of a run: what the method returned, if it is what a method may return."""
    if not isinstance(answer, list) or not all(isinstance(item, Candidate) for item in answer):
        return ending("error", not_candidates(answer))
    if not answer:
        return ending("error", "found nothing")
    answer = answer[:CANDIDATES]
    for candidate in answer:
        names = sorted(candidate.solution) if isinstance(candidate.solution, Mapping) else candidate.solution
        accepted = [sorted(problem.outputs)]
        if problem.kind == "level set":
            accepted.append(list(problem.inputs[-1:]))
        if names not in accepted:
            return ending("error", f"returned a solution for {names!r:.80}, expected one for {accepted[0]}")
    try:
        candidates = [_as_dict(candidate) for candidate in answer]
    except (TypeError, ValueError, OverflowError) as error:
        return ending("error", f"{type(error).__name__}: {error}")
    if problem.kind not in KINDS_OF_EXPRESSIONS:
        return ending("ok", "", candidates)
    for output, text in ((o, t) for candidate in candidates for o, t in candidate["solution"].items()):
        if not isinstance(text, str):
            return ending("error", f"the solution for {output} is of type {type(text).__name__}, not a text")
    faults = [_unparsable(candidate["solution"], problem.vocabulary) for candidate in candidates]
    if faults[0]:
        return ending("unparsable", faults[0], candidates)
    wrong = [fault for fault in faults if fault]
    reason = f"{len(wrong)} of {len(faults)} candidates left out, such as: {wrong[0]}" if wrong else ""
    return ending("ok", reason, [c for c, fault in zip(candidates, faults, strict=True) if not fault])


def _as_dict(candidate: Candidate) -> dict:
    size, count, solution = candidate.complexity, candidate.evaluations, dict(candidate.solution)
    if count is not None and not 0 <= int(count) < 2**63:
        raise ValueError(f"evaluations is {count!r:.40}, not a number of evaluations")
    if len(_text(dict(candidate.notes))) > NOTES:
        raise ValueError(f"the notes of a candidate have more than {NOTES} characters")
    return {
        "solution": solution,
        "loss": _real(candidate.loss),
        "complexity": None if size is None else _real(size),
        "evaluations": None if count is None else int(count),
        "notes": dict(candidate.notes),
    }


def _real(value: Any) -> float:
    if np.iscomplexobj(value):
        raise TypeError(f"{value!r:.40} is no real number")
    return float(value)


def _numpy_to_python(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"returned a {type(value).__name__}, which is not plain data")


def _unparsable(solution: Mapping[str, str], names: Iterable[str]) -> str | None:
    from ..expressions import ExpressionError, parse

    for output, text in solution.items():
        try:
            parse(text, names)
        except ExpressionError as error:
            return f"{output}: {error}"
    return None

"""The one thing that workers do for a grid: a task, and a description of how it ended."""

import json
import pickle
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..methods import Candidate, Unsupported
from ..problems import Problem

CANDIDATES = 50  # of a front, at most so many are kept
KINDS_OF_EXPRESSIONS = ("regression", "level set", "trajectories", "field")


def attempt(task: bytes) -> str:
    """Do one task, a pickled callable, and describe how it ended: JSON of status, reason, and plain data."""
    try:
        return json.dumps(pickle.loads(task)(), default=_numpy_to_python)
    except Unsupported as error:
        outcome = ending("unsupported", str(error))
    except MemoryError as error:
        outcome = ending("memory", f"MemoryError: {error}")
    except BaseException as error:  # SystemExit too: a method that gives up must not take the worker along
        outcome = ending("error", f"{type(error).__name__}: {error}")
    return json.dumps(outcome)


def ending(status: str, reason: str, candidates: Iterable[dict] = ()) -> dict:
    """How a run ended; the reason is made one short line."""
    line = re.sub(r"\b0x[0-9a-fA-F]+", "0x...", " ".join(reason.split()))  # addresses differ from run to run
    line = line.encode(errors="replace").decode()[:200]
    return {"status": status, "reason": line, "candidates": list(candidates)}


def checked(problem: Problem, answer: Any) -> dict:
    """The outcome of a run: what the method returned, if it is what a method may return."""
    if not isinstance(answer, list) or not all(isinstance(item, Candidate) for item in answer):
        inside = f" of {type(answer[0]).__name__}" if isinstance(answer, list) else ""
        return ending("error", f"returned {type(answer).__name__}{inside} instead of a list of Candidate")
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
    candidates = [_as_dict(candidate) for candidate in answer]
    if problem.kind not in KINDS_OF_EXPRESSIONS:
        return ending("ok", "", candidates)
    faults = [_unparsable(candidate["solution"], problem.vocabulary) for candidate in candidates]
    if faults[0]:
        return ending("unparsable", faults[0], candidates)
    wrong = [fault for fault in faults if fault]
    reason = f"{len(wrong)} of {len(faults)} candidates left out, such as: {wrong[0]}" if wrong else ""
    return ending("ok", reason, [c for c, fault in zip(candidates, faults, strict=True) if not fault])


def _as_dict(candidate: Candidate) -> dict:
    size, count = candidate.complexity, candidate.evaluations
    return {
        "solution": dict(candidate.solution),
        "loss": float(candidate.loss),
        "complexity": None if size is None else float(size),
        "evaluations": None if count is None else int(count),
        "notes": dict(candidate.notes),
    }


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

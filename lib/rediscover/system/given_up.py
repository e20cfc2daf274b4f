"""Computer algebra that may never end: which calls are given up on is written down, so that no clock decides a value.

`attempt` has a call computed in a process that can be killed, unless ``given_up.csv`` beside this module lists it: a
listed call is given up on at once, on every machine. A row is a call: operation, digest of operation and arguments,
the length of these and how they begin, and the seconds of computing within which it did not end. What is not listed
may compute for `GUARD` seconds, ten times the `LIMIT` of the list. So a machine gives the values of the one that made
the list as long as it is less than ten times slower; how busy it is does not matter.

Rows come from ``make given-up`` alone (`add_noted`): all calls that took longer than the limit, ended or not, since the
user's cache was begun. Who changes the code of an operation, or its version of SymPy, deletes its rows first.
"""

import csv
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import workers
from .store import algebra
from .writing import replacing

LIMIT = 30.0  # seconds of computing where the list is made
GUARD = 10 * LIMIT  # where it is used; the environment variable REDISCOVER_GUARD takes its place
LIST = Path(__file__).with_suffix(".csv")
COLUMNS = ("operation", "digest", "length", "begins", "seconds")


def attempt(function: Callable, *arguments: Any) -> Any:
    """Result of ``function(*arguments)``, unless the call is listed or does not end.

    Parameters
    ----------
    function : function defined at the top of a module; its name is the operation in the list
    arguments : plain data, such as texts and trees

    Raises
    ------
    TimeoutError
        If the call is listed, or has computed for as long as the guard allows, now or before on this machine.
    ChildProcessError, Exception
        As from `workers.call`.
    """
    call, guard = _row(function, arguments), float(os.environ.get("REDISCOVER_GUARD", GUARD))
    key = f"given up {call['operation']} {call['digest']}"
    if is_listed(function, *arguments) or algebra().get([key]).get(key, {"unended": 0.0})["unended"] >= guard:
        raise TimeoutError(f"{call['operation']} is given up on: {call['begins']}")
    try:
        result, took = workers.call(_timed, function, arguments, seconds=guard)
    except TimeoutError:
        algebra().put(key, call, {"took": guard, "unended": guard})
        raise
    if took > LIMIT:
        algebra().put(key, call, {"took": took, "unended": 0.0})
    return result


def _timed(function: Callable, arguments: tuple) -> tuple[Any, float]:
    began = time.process_time()
    return function(*arguments), time.process_time() - began


def is_listed(function: Callable, *arguments: Any) -> bool:
    """Whether a call is in the list; then what a cache holds of it does not count either."""
    call = _row(function, arguments)
    return (call["operation"], call["digest"]) in listed()


@functools.cache
def listed() -> dict[tuple[str, str], dict[str, Any]]:
    """Rows of the list by operation and digest."""
    with LIST.open(newline="", encoding="utf-8") as file:
        return {(row["operation"], row["digest"]): row for row in csv.DictReader(file)}


def add_noted() -> int:
    """Add to the list what the user's cache notes as taking `LIMIT` or longer; how many rows that were."""
    rows = dict(listed())
    for call, outcome in algebra().all("given up "):
        if outcome["took"] >= LIMIT:
            rows.setdefault((call["operation"], call["digest"]), call | {"seconds": f"{LIMIT:g}"})
    added = len(rows) - len(listed())
    with replacing(LIST) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in sorted(rows.items()))
    listed.cache_clear()
    return added


def _row(function: Callable, arguments: tuple) -> dict[str, Any]:
    operation, text = function.__name__, json.dumps(arguments, default=str)
    digest = hashlib.sha256(f"{operation} {text}".encode()).hexdigest()[:20]
    return {"operation": operation, "digest": digest, "length": len(text), "begins": text[:60]}


if __name__ == "__main__":
    print(f"{add_noted()} calls added to {LIST.name}; if any, `make all` scores again")

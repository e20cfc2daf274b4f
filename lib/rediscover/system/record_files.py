"""Files of records: packed lines of JSON under ``records/``, sorted, with the digest of each file's text beside."""

import fcntl
import hashlib
import json
import lzma
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .paths import root

SUMS = "SHA256SUMS"
SUFFIX = ".jsonl.xz"


class RecordError(RuntimeError):
    """The records cannot be used; the message says why and what to do."""


def folder() -> Path | None:
    """Where the records are; None outside of the repository."""
    try:
        return root() / "records"
    except FileNotFoundError:
        return None


def used() -> bool:
    """Whether anything is taken from the records: not with REDISCOVER_FRESH=1 (``make all FRESH=1``)."""
    return os.environ.get("REDISCOVER_FRESH", "") in ("", "0") and folder() is not None


def load(file: Path) -> list[dict]:
    """All lines of one file; none if it is not there.

    Raises
    ------
    RecordError
        If it cannot be read.
    """
    if not file.exists():
        return []
    try:
        with lzma.open(file, "rt", encoding="utf-8") as text:
            return [json.loads(line) for line in text]
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise RecordError(f"{file} is damaged ({error}): restore it with git checkout, or delete it") from None


def write(file: Path, lines: Iterable[Mapping[str, Any]], order: Callable[[Mapping[str, Any]], str]) -> None:
    """Write a file as a whole, its lines sorted by `order`: nobody meets half of one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.{os.getpid()}")
    with lzma.open(part, "wt", encoding="utf-8", preset=9) as text:
        for line in sorted(lines, key=order):
            text.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    os.replace(part, file)


def altered(where: Path | None = None) -> list[str]:
    """Files whose text is not the one that was recorded: edited by hand, damaged, or missing."""
    where = where or folder()
    if where is None or not (where / SUMS).exists():
        return []
    stated = {name: digest for digest, name in map(str.split, (where / SUMS).read_text().splitlines())}
    present = _sums(where)
    return sorted(name for name in stated | present if stated.get(name) != present.get(name))


def state_sums(where: Path) -> None:
    """Write down the digests of all files."""
    lines = [f"{digest}  {name}\n" for name, digest in _sums(where).items()]
    part = where / f".{SUMS}.{os.getpid()}"
    part.write_text("".join(lines))
    os.replace(part, where / SUMS)


@contextmanager
def alone(where: Path) -> Iterator[None]:
    """Only one process at a time changes the records."""
    where.mkdir(parents=True, exist_ok=True)
    with open(where / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sums(where: Path) -> dict[str, str]:
    sums = {}
    for file in sorted(where.rglob(f"*{SUFFIX}")):
        with lzma.open(file) as text:
            sums[file.relative_to(where).as_posix()] = hashlib.sha256(text.read()).hexdigest()
    return sums

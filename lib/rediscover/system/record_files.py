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
PART = ".part"
REMEDY = "restore it with git checkout, or delete it and record again"


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


def load(file: Path, where: Path | None = None) -> list[dict]:
    """All lines of one file; none if it is not there.

    Parameters
    ----------
    file : path
    where : folder of records that it is in; by default the repository's

    Raises
    ------
    RecordError
        If it cannot be read, or its text is not the one that was recorded.
    """
    where = where or folder() or file.parent
    # A writer may have been interrupted, or be at work: then what is stated is in the part, until that is renamed.
    for place in (file, _part(file), file):
        if place.exists():
            try:
                text = lzma.open(place).read()
            except (lzma.LZMAError, EOFError) as error:
                raise RecordError(f"{file} is damaged ({error}): {REMEDY}") from None
            if _digest(text) == _stated(where).get(_name(file, where)):
                return [json.loads(line) for line in text.decode().splitlines()]
    if file.exists():
        raise RecordError(f"{file} is not what {SUMS} says: {REMEDY}")
    return []


def write(
    where: Path, files: Mapping[Path, Iterable[Mapping[str, Any]]], order: Callable[[Mapping[str, Any]], str]
) -> None:
    """Write files as a whole, and their digests: nobody meets half of one, or some without the others.

    Parameters
    ----------
    where : folder of records, which `alone` has for this process
    files : path -> its lines, which are sorted by `order`
    """
    texts = {}
    for file, lines in files.items():
        dumped = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in sorted(lines, key=order))
        texts[file] = "".join(f"{line}\n" for line in dumped).encode()
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        _part(file).write_bytes(lzma.compress(text, preset=9))
    stated = _stated(where) | {_name(file, where): _digest(text) for file, text in texts.items()}
    sums = "".join(f"{digest}  {name}\n" for name, digest in sorted(stated.items()))
    _part(where / SUMS).write_text(sums)
    os.replace(_part(where / SUMS), where / SUMS)
    for file in texts:  # from here on an interrupted writer's work is done by the next one
        os.replace(_part(file), file)


def files(where: Path) -> list[Path]:
    """Files of records that there are, or of which the digest is stated."""
    return sorted({*where.rglob(f"[!.]*{SUFFIX}"), *(where / name for name in _stated(where))})


def altered(where: Path | None = None) -> list[str]:
    """Files whose text is not the one that was recorded: edited by hand, damaged, or missing."""
    where = where or folder()
    if where is None or not (where / SUMS).exists():
        return []
    stated = _stated(where)
    return [_name(file, where) for file in files(where) if stated.get(_name(file, where)) != _digest(_unpacked(file))]


@contextmanager
def alone(where: Path) -> Iterator[None]:
    """Only one process at a time changes the records; what one left that was killed is brought to an end."""
    where.mkdir(parents=True, exist_ok=True)
    with open(where / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for part in where.rglob(f".*{PART}"):
            file = part.with_name(part.name[1:].removesuffix(PART))
            whole = file.name != SUMS and _stated(where).get(_name(file, where)) == _digest(_unpacked(part))
            os.replace(part, file) if whole else part.unlink()
        yield


def _part(file: Path) -> Path:
    return file.with_name(f".{file.name}{PART}")


def _name(file: Path, where: Path) -> str:
    return file.relative_to(where).as_posix()


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _unpacked(file: Path) -> bytes:
    try:
        return lzma.open(file).read()
    except (lzma.LZMAError, EOFError, FileNotFoundError):
        return b""


def _stated(where: Path) -> dict[str, str]:
    """Name of a file -> digest of its text, as stated; files that are gone were deleted on purpose."""
    try:
        lines = (where / SUMS).read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {name: digest for digest, name in map(str.split, lines)}

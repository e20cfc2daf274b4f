"""Replies of language models on disk: JSON lines that only grow, one record per request, found by its key."""

import difflib
import fcntl
import json
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import pictures

LONGEST = 65_536  # bytes of a malformed reply that are kept


class Recorded(ValueError):
    """There is a record for the key already."""


class Records(Mapping):
    """Records by their key, in a file of JSON lines that only grows.

    Several processes may add to one file: each first reads what the others have added.

    Parameters
    ----------
    path : of the file; it need not exist

    Raises
    ------
    ValueError
        If a line other than the last is damaged, or a key occurs twice. A damaged last line is what an interrupted run
        leaves: it is reported and left out, and the next record takes its place.
    """

    def __init__(self, path) -> None:
        self.path, self._lock = Path(path), threading.Lock()
        self._by_key: dict[str, dict] = {}
        self._sound = 0  # bytes up to the end of the last whole line
        if self.path.exists():
            with self.path.open("rb") as file:
                if not self._read(file):
                    warnings.warn(f"{path}: the last line is incomplete and is left out", stacklevel=2)

    def _read(self, file) -> bool:
        """Take in what stands behind the lines that are known; False if the last one is incomplete."""
        file.seek(self._sound)
        lines = file.read().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            where = f"{self.path}, line {len(self) + 1}"
            try:
                record = json.loads(line)
                key = record["key"]
            except (ValueError, KeyError, TypeError) as error:
                if number < len(lines):
                    raise ValueError(f"{where}: not a record ({error}); remove it") from error
                return False
            if key in self:
                raise ValueError(f"{where}: a second record for {key}; remove one of the two")
            self._by_key[key] = record
            self._sound += len(line)
        return True

    def __len__(self):
        return len(self._by_key)

    def __getitem__(self, key):
        return self._by_key[key]

    def __iter__(self):
        return iter(self._by_key)

    def add(self, record: Mapping) -> None:
        """Append a record, safe on disk when this returns; a second one for its key is an error."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            self._read(file)
            if record["key"] in self:
                raise Recorded(f"{self.path} has a record for {record['key']} already")
            file.seek(max(self._sound - 1, 0))
            between = b"" if file.read(1) == b"\n" or not self._sound else b"\n"
            line = between + json.dumps(record, ensure_ascii=False).encode() + b"\n"
            file.truncate(self._sound)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self._sound += len(line)
            self._by_key[record["key"]] = dict(record)

    def set_aside(self, key: str, reason: str, data: bytes) -> None:
        """Keep what came in place of a reply, in a file beside the records that nothing reads again."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = data[:LONGEST].decode(errors="replace")
        line = json.dumps({"key": key, "reason": reason, "bytes": len(data), "begins": kept}, ensure_ascii=False)
        with self._lock, self.path.with_suffix(".malformed").open("a", encoding="utf-8", errors="replace") as file:
            file.write(line + "\n")

    def nearest(self, messages: Sequence[Mapping[str, str]]) -> str:
        """How the recorded prompt that is most alike differs from this one, as a short diff."""
        recorded = [_prompt(record["request"]["messages"]) for record in self.values()][-200:]
        if not recorded:
            return f"{self.path} holds no records"
        prompt = _prompt(messages)
        best = max(recorded, key=lambda text: difflib.SequenceMatcher(None, text, prompt).quick_ratio())
        lines = difflib.unified_diff(best.splitlines(), prompt.splitlines(), "recorded", "asked", n=0, lineterm="")
        return "\n".join(line[:160] for line in list(lines)[:8]) or "the prompt is recorded with other parameters"


def _prompt(messages) -> str:
    return "\n".join(f"{message['role']}: {pictures.readable(message)}" for message in messages)

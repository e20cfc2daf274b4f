"""Results that are kept: SQLite files of finished work by key, one transaction for each piece.

The runs of a notebook have a file of their own, with one writer at a time. What computer algebra found out about single
expressions is in a file of the user's cache (`algebra`), which many processes share.
"""

import fcntl
import functools
import hashlib
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from .paths import user_cache

VERSION = 2
SCHEMA = f"""
BEGIN;
DROP TABLE IF EXISTS runs;
CREATE TABLE runs (key TEXT PRIMARY KEY, run TEXT NOT NULL, result TEXT NOT NULL, seconds REAL, peak_mb REAL,
    digest TEXT NOT NULL);
PRAGMA user_version = {VERSION};
COMMIT;
"""
CACHE = "REDISCOVER_CACHE"  # a folder in place of the user's cache; empty for none
BESIDE = ("seconds", "peak_mb")  # the clock and the memory are kept beside the result, not in it


class StoreError(RuntimeError):
    """The store cannot be used; the message says why and what to do."""


class Store:
    """Finished runs by key.

    Opening takes a lock beside the file and waits while another process holds it, so there is one writer at a
    time. A process killed at any moment loses at most the runs in flight. Each row has a digest of what it holds: one
    that was changed since is not there, so that its run is done again.

    Parameters
    ----------
    path : path of the file, made if missing, or None for one in memory
    shared : whether several processes write at a time; then there is no lock

    Raises
    ------
    StoreError
        If the folder cannot be written, the file comes from a newer version, or is damaged: then it is
        kept as ``<name>.damaged-N`` and the next start begins a new one. One of an older version begins anew.
    """

    def __init__(self, path=None, *, shared: bool = False) -> None:
        self._lock, self._path, self._shared = None, None, shared
        self._db: Any = None  # a connection, once this is done
        if path is None:
            self._db = sqlite3.connect(":memory:")
            self._db.executescript(SCHEMA)
            return
        self._path = path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not shared:
                self._lock = open(path.with_name(path.name + ".lock"), "w")
                _acquire(self._lock, path)
            if not path.exists():
                _create(path)
            self._db = _open(path, checked=not shared)
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            raise StoreError(f"store {path} cannot be written: {error}") from None
        except StoreError:
            self.close()
            raise

    def get(self, keys: Iterable[str]) -> dict[str, dict]:
        """What is stored of `keys`: key -> status, reason, what else the work returned, seconds, peak_mb."""
        found = {}
        for key in set(keys):
            for row in self._rows("key = ?", key):
                found[key] = json.loads(row[2]) | dict(zip(BESIDE, row[3:], strict=True))
        return found

    def put(self, key: str, run: dict, outcome: dict) -> None:
        """Keep one finished run; `run` says what it was, for readers."""
        result = json.dumps({name: value for name, value in outcome.items() if name not in BESIDE})
        row = (key, json.dumps(run), result, *(None if outcome.get(n) is None else float(outcome[n]) for n in BESIDE))
        try:
            with self._db:
                self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", (*row, _digest(row)))
        except sqlite3.Error as error:
            raise StoreError(f"a finished run cannot be stored: {error}") from None

    def all(self, prefix: str) -> list[tuple[dict, dict]]:
        """What was put under keys that begin so: pairs of what it was and its outcome."""
        rows = self._rows("substr(key, 1, ?) = ?", len(prefix), prefix)
        return [(json.loads(run), json.loads(result)) for _, run, result, *_ in rows]

    def _rows(self, where: str, *values: Any) -> list[tuple]:
        """Rows that are as they were written: key, run, result, seconds, peak_mb."""
        query = "SELECT CAST(key AS BLOB), CAST(run AS BLOB), CAST(result AS BLOB), seconds, peak_mb, digest FROM runs"
        try:
            rows = self._db.execute(f"{query} WHERE {where}", values).fetchall()
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            raise StoreError(f"store {self._path} cannot be read: {error}") from None
        except sqlite3.DatabaseError as error:
            self._db.close()
            damaged = _damaged(self._path, error)
            if not self._shared:
                self.close()
                raise damaged from None
            _create(self._path)  # a cache, from which nothing is lost that would not be made again
            self._db, rows = _open(self._path, checked=False), []
        rows = [(*(text.decode(errors="replace") for text in row[:3]), *row[3:]) for row in rows]
        return [row[:-1] for row in rows if row[-1] == _digest(row[:-1])]

    def close(self) -> None:
        if self._db:
            self._db.close()
        if self._lock:
            self._lock.close()

    @staticmethod
    def check(path: str | Path) -> None:
        """Raise the StoreError that opening the existing store at `path` would raise; waits for nobody."""
        _open(Path(path)).close()


def algebra() -> Store:
    """What computer algebra found out about single expressions, in the user's cache if that can be written."""
    folder = os.environ.get(CACHE, str(user_cache()))
    return _algebra(folder, os.getpid(), threading.get_ident()) if folder else Store()


@functools.cache
def _algebra(folder: str, process: int, thread: int) -> Store:  # a connection is for one process and one thread
    try:
        return Store(Path(folder) / "algebra.sqlite", shared=True)
    except StoreError:
        return Store()


def _digest(row: tuple) -> str:
    return hashlib.sha256(repr(row).encode(errors="replace")).hexdigest()[:32]


def _acquire(lock, path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for another process that works on {path}", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _create(path) -> None:
    # Made aside and renamed: a file of this name is always a whole store, so an empty one means damage.
    fresh = path.with_name(f"{path.name}.new-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh)) as db:
        db.executescript(SCHEMA)
    os.replace(fresh, path)


def _open(path, checked: bool = True):
    db = sqlite3.connect(path, timeout=30)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            db.close()
            raise StoreError(f"store {path} has version {version}, this program knows {VERSION}: update rediscover")
        if not version or (checked and db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"):
            raise sqlite3.DatabaseError("not a whole store")
        if version < VERSION:  # its rows have no digests, and keys that nobody asks for any more
            db.executescript(SCHEMA)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # safe when the process dies; syncing every run would cost more
        return db
    except sqlite3.OperationalError:
        db.close()
        raise
    except sqlite3.DatabaseError as error:
        db.close()
        raise _damaged(path, error) from None


def _damaged(path, error) -> StoreError:
    kept = _set_aside(path).name
    return StoreError(f"store {path} is damaged ({error}); it is kept as {kept}: run again to start a new one")


def _set_aside(path) -> Path:
    n = 1
    while path.with_name(f"{path.name}.damaged-{n}").exists():
        n += 1
    backup = path.with_name(f"{path.name}.damaged-{n}")
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, backup.with_name(backup.name + suffix))
    return backup

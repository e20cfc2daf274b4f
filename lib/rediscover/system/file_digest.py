"""SHA-256 of a file, computed again when it has changed: the key of every run asks for it."""

import functools
import hashlib
from pathlib import Path


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    state = path.stat()
    return _computed(path, state.st_size, state.st_mtime_ns)


@functools.lru_cache
def _computed(path: Path, size: int, modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

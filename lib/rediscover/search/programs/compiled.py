"""Compilation by numba, kept on disk."""

import hashlib
from pathlib import Path

from numba import njit

from ...system.compiled_cache import keep_somewhere


def sources() -> str:
    """Digest of the modules of this package that compile anything."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        source = path.read_bytes()
        if b"compiled" in source:
            digest.update(path.name.encode() + b"\0" + source)
    return digest.hexdigest()


STAMP = sources()
keep_somewhere(__file__)


def compiled(function):
    """Compile `function`; an array index is not checked, division by zero is infinite, nothing is reordered.

    The machine code is kept beside the source. Of itself numba would keep it as long as the function's own
    file is the same, and with it whatever was compiled in from other modules; here it is made again when any
    module of this package that compiles has changed.
    """
    dispatcher = njit(cache=True, error_model="numpy")(function)
    if hasattr(dispatcher, "_cache"):  # absent under NUMBA_DISABLE_JIT
        dispatcher._cache._cache_file._source_stamp = STAMP
    return dispatcher

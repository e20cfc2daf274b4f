"""Where numba keeps what it has compiled: beside the source, else in the user's cache, else for this process alone."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numba
import platformdirs

config: Any = numba.config
CACHE = "NUMBA_CACHE_DIR"  # children of this process find the folder there


def keep_somewhere(source: str) -> None:
    """Call it before anything is compiled: where nothing can be written (a read-only container), numba would refuse.

    Parameters
    ----------
    source : file whose functions will be compiled
    """
    places = Path(source).with_name("__pycache__"), platformdirs.user_cache_path("numba", appauthor=False)
    if not config.CACHE_DIR and not any(map(can_be_written, places)):
        folder, owner = tempfile.mkdtemp(prefix="rediscover-numba-"), os.getpid()
        os.environ[CACHE] = config.CACHE_DIR = folder
        atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)


def can_be_written(folder: Path) -> bool:
    """Whether a file can be made in a folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False

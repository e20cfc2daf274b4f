"""Where the repository is, and the user's cache."""

import os
from pathlib import Path

from .code_version import PACKAGE


def user_cache() -> Path:
    """The folder, outside of the repository, for what is made or fetched once: nothing else is written there."""
    import platformdirs  # on first use: most that asks where the repository is needs no more

    return platformdirs.user_cache_path(PACKAGE)


def root() -> Path:
    """The repository: the nearest folder upwards that holds notebooks/ and params/ (or REDISCOVER_ROOT).

    From anywhere else it is the one that this package is installed from, if it is.

    Raises
    ------
    FileNotFoundError
        If no folder above the current one is a repository.
    """
    if "REDISCOVER_ROOT" in os.environ:
        return Path(os.environ["REDISCOVER_ROOT"])
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).parents[3]):
        if (folder / "notebooks").is_dir() and (folder / "params").is_dir():
            return folder
    raise FileNotFoundError(f"no folder above {here} holds notebooks/ and params/: run inside the repository")

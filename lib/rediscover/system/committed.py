"""Files outside of the package: params/ and tables/, in a repository or as a wheel brings them, and what is made."""

import sysconfig
from pathlib import Path

from .paths import root


def committed(folder: str) -> Path:
    """A folder of committed files.

    It is the repository's, or, outside of one, the copy that a wheel brings (``data-files`` in pyproject.toml): all of
    params/, and what `rediscover compare` reads of tables/.

    Parameters
    ----------
    folder : ``params`` or ``tables``

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If there is neither.
    """
    try:
        return root() / folder
    except FileNotFoundError:
        brought = Path(sysconfig.get_path("data"), "share", "rediscover", folder)
        if not brought.is_dir():
            raise
        return brought


def build() -> Path:
    """The folder ``build``, for what is made: the repository's, or, outside of one, that of the working folder."""
    try:
        return root() / "build"
    except FileNotFoundError:
        return Path.cwd() / "build"


def place() -> Path:
    """The folder ``build/own``, for methods of one's own: of the repository within it, else of the current folder."""
    here, made = Path.cwd(), build()
    return (made if here.is_relative_to(made.parent) else here / "build") / "own"


def submissions() -> Path:
    """The folder ``submissions``: rows of leaderboards by other people, a folder for each method."""
    try:
        return root() / "submissions"
    except FileNotFoundError:
        return Path.cwd() / "submissions"

"""Which lines of a user's own files an error comes from."""

import linecache
import sysconfig
import traceback
from pathlib import Path

HERE = str(Path(__file__).parents[1])
INSTALLED = ("site-packages", "dist-packages")
FRAMES = 2  # of the user's, the last ones
LONGEST = 60  # characters of a line of code


def where(error: BaseException) -> str:
    """The user's lines that an error came through: file, line and function, and what stands in the last of them.

    Parameters
    ----------
    error : with its traceback

    Returns
    -------
    str
        Empty where all code is of this package, of Python or of installed packages.

    Examples
    --------
    >>> where(ValueError("of nobody"))
    ''
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _of_a_user(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename and _of_a_user(error.filename):
        return f"{Path(error.filename).name}, line {error.lineno}: {(error.text or '').strip():.{LONGEST}}"
    if not frames:
        return ""
    code = linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    places = " > ".join(map(_place, frames[-FRAMES:]))  # as a traceback has them, the last call last
    return f"{places}: {code[:LONGEST]}" if code else places


def described(error: BaseException) -> str:
    """An error as one sentence: its kind, what it says, and the user's lines, if it came through any.

    Parameters
    ----------
    error : with its traceback

    Returns
    -------
    str
    """
    place = where(error)
    text = f"{type(error).__name__}: {error}"
    return f"{' '.join(text.split())[:100]} ({place})" if place else text


def _place(frame: traceback.FrameSummary) -> str:
    path = Path(frame.filename)
    name = "a cell" if "ipykernel" in frame.filename else path.name
    return f"{name}, line {frame.lineno}, in {frame.name}"


def _of_a_user(filename: str) -> bool:
    path = Path(filename)
    if filename.startswith("<") or any(part in INSTALLED for part in path.parts):
        return False
    return not any(path.is_relative_to(place) for place in (HERE, sysconfig.get_path("stdlib")))

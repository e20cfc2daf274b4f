"""Files that are written as a whole or not at all, and texts that are shown as one line."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when complete, so that nobody reads half a file."""
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():  # /dev/stdout
        yield path
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text, in UTF-8, in place of the file that there is."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def one_line(text: str) -> str:
    """A text as one line in which nothing steers the terminal that shows it, or can be in no file.

    >>> one_line("two\\n lines, \\x1b[31mred\\x07")
    'two lines, ?[31mred?'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))

"""Packages that only a part of the library needs: they come with an extra of the same name as the part."""

import importlib.metadata
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .code_version import PACKAGE


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports inside say which extra brings what is missing.

    Examples
    --------
    >>> with extra("text"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: package no_such_package is not installed: pip install '.[text]' in the folder of the clone
    """
    try:
        yield
    except ModuleNotFoundError as error:
        reason = f"package {error.name} is not installed: {command(name)}"
        raise ModuleNotFoundError(reason, name=error.name) from None


def command(name: str) -> str:
    """What to type for an extra: the package is on no index, so it is installed from its clone.

    Examples
    --------
    >>> command("pysr")
    "pip install '.[pysr]' in the folder of the clone"
    """
    return f"pip install '.[{name}]' in the folder of the clone"


def remedy(distribution: str) -> str:
    """What to type for a distribution that is not installed: the extra that brings it, if one does.

    Examples
    --------
    >>> remedy("gplearn"), remedy("odeformer")
    ("pip install '.[baselines]' in the folder of the clone", 'pip install odeformer')
    """
    for line in importlib.metadata.requires(PACKAGE) or []:
        found = re.match(r"([\w.-]+).*extra == [\"']([\w-]+)[\"']", line)
        if found and found[1].lower() == distribution.lower():
            return command(found[2])
    return f"pip install {distribution}"

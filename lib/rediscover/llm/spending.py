"""Before money is spent: what it may be, and whether it shall."""

import math
import os
import sys
from collections.abc import Callable


def confirmed() -> bool:
    """Whether to go on: yes with YES=1 in the environment, or if somebody at a terminal says so."""
    if os.environ.get("YES") == "1":
        return True
    return sys.stdin.isatty() and input("go on? [y/N] ").strip().lower() in ("y", "yes")


def dollars(amount: float, digits: str, before: str = "") -> str:
    """A sum in words; NaN is a price that is not known.

    Examples
    --------
    >>> dollars(84.456, ".2f", "about "), dollars(math.nan, ".2f")
    ('about 84.46 US dollars', 'an unknown price')
    """
    return "an unknown price" if math.isnan(amount) else f"{before}{amount:{digits}} US dollars"


def one_line(name: str, command: Callable[[], int]) -> int:
    """Exit status of a command that asks a model; an error is one line on standard error, and 2."""
    from .client import LlmError  # which loads what talks to a server

    try:
        return command()
    except KeyboardInterrupt:
        print(f"{name}: interrupted; what was recorded stays", file=sys.stderr)
        return 130
    except (LlmError, ValueError, KeyError, OSError) as error:
        print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2

"""Commands that one kind of problems brings: `rediscover fresh`. (A package, as each module beside it is a study.)"""

import argparse
from collections.abc import Callable
from pathlib import Path

from ...system.writing import write_text


def add_fresh(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add ``rediscover fresh`` to the commands.

    Parameters
    ----------
    command : takes a name, a function of the options, and a line of help
    """
    sub = command("fresh", show, "formulas drawn by a name, known to solve and run as fresh/NAME/0, ...")
    sub.add_argument("--seed", required=True, metavar="NAME", help="any word that nobody can have tuned to")
    sub.add_argument("--size", type=int, default=200, help="formulas to draw (200)")
    sub.add_argument("--out", type=Path, help="write them here; its folder is made")


def show(options: argparse.Namespace) -> None:
    """Print a draw, or write it."""
    from .. import fresh

    drawn = fresh.text(fresh.draw(options.seed, options.size))
    if not options.out:
        return print(drawn, end="")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.out, drawn)

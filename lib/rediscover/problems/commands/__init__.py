"""Commands on problems: lists, draws, catalogs of other people. (A package, as each module beside it is a study.)"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...system.writing import write_text
from .. import Problem


def add_fresh(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add ``rediscover fresh`` to the commands.

    Parameters
    ----------
    command : takes a name, a function of the options, and a line of help
    """
    sub = command("fresh", show, "draw new formulas by a name; solve and run know them as fresh/NAME/0, ...")
    sub.add_argument("--seed", required=True, metavar="NAME", help="any word that nobody can have tuned to")
    sub.add_argument("--size", type=int, default=200, help="formulas to draw (200)")
    sub.add_argument("--out", type=Path, help="write them here; its folder is made")


def show(options: argparse.Namespace) -> None:
    """Print a draw, or write it."""
    from .. import fresh

    drawn = fresh.text(fresh.draw(options.seed, options.size))
    _write(drawn, options.out)


def add_catalog(sub: argparse.ArgumentParser) -> None:
    """Add ``--catalog`` to a command."""
    text = "take problems from this file: YAML, a table of formulas, or SRBench's metadata.yaml"
    sub.add_argument("--catalog", type=Path, metavar="FILE", help=text)


def listed(options: argparse.Namespace) -> None:
    """Print the ids of problems, or write the problems as a catalog."""
    from .. import problem, problems

    if options.out:
        from ..catalogs import writing

        found = chosen(options) if options.catalog else list(map(problem, problems(options.study, options.subset)))
        return _write(writing.text(found), options.out)
    print(
        "\n".join([each.id for each in chosen(options)] if options.catalog else problems(options.study, options.subset))
    )


def chosen(options: argparse.Namespace) -> list[Problem]:
    """The problems of ``--catalog``, those of ``--problems`` or ``--subset``; what is left out is said on stderr."""
    from .. import catalogs

    if options.study:
        raise ValueError("--study and --catalog are two sources of problems: leave one out")
    catalog = catalogs.read(options.catalog)
    if named := getattr(options, "problems", None):
        return [catalog.problem(name) for name in named]
    print(*catalog.refused.values(), sep="\n", end="\n" * bool(catalog.refused), file=sys.stderr)
    return [catalog.problem(id) for id in catalog.ids(options.subset)]


def one(options: argparse.Namespace, **changed: Any) -> Problem:
    """The problem that a command names, of ``--catalog`` if there is one; `changed` are its options."""
    from .. import catalogs, problem

    if options.catalog:
        return catalogs.read(options.catalog).problem(options.problem, **changed)
    return problem(options.problem, **changed)


def _write(text: str, path: Path | None) -> None:
    if path is None:
        return print(text, end="")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)

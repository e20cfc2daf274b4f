"""What ``--catalog`` makes of the commands ``run`` and ``compare``: problems of a file, for every method."""

import argparse
import sys
from typing import Any

from .problems import given_budget


def run(options: argparse.Namespace) -> None:
    """Run methods on problems of a catalog; rows with scores, as CSV."""
    from ..comparison import catalogs
    from ..problems.commands import chosen
    from ..runs.schema import to_csv

    if options.profile or options.model:
        raise ValueError("--profile and --model are for a study: leave them out with --catalog")
    more = {name: getattr(options, name) for name in ("store", "workers", "retry")}
    to_csv(catalogs.run(options.methods, chosen(options), **_asked(options), **more), options.out or sys.stdout)


def compare(options: argparse.Namespace) -> Any:
    """A method beside others on problems of a catalog, on which all of them are run."""
    from ..comparison import catalogs
    from ..problems.commands import chosen

    return catalogs.compare(options.mine, options.against, chosen(options), **_asked(options))


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    return {"seeds": options.seeds or [0], "budget": given_budget(options)}

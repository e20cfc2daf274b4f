"""The command ``rediscover fit``: what it takes. What it does is loaded when it is called."""

import argparse
from pathlib import Path


def declare(sub: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to its parser."""
    sub.add_argument("table", type=Path, help="CSV, TSV or Parquet; or planets, pendulum, cloud")
    sub.add_argument("--target", help="column that the equation is for; several as a,b: one equation each")
    sub.add_argument("--inputs", help='columns that it may hold, a,b (all others); a name with a comma in "quotes"')
    kind = sub.add_mutually_exclusive_group()
    kind.add_argument("--time", help="column of times: right-hand sides for the other columns")
    kind.add_argument("--implicit", action="store_true", help="an equation F = 0 of a cloud of points")
    sub.add_argument("--series", help="with --time, column that says to which series a row belongs")
    sub.add_argument(
        "--errors",
        help="column of the target's standard errors, of which only the ratios count, or `relative` where they grow "
        "with it",
    )
    sub.add_argument("--method", default="bidirectional", help="the search: a name of `rediscover methods`")
    sub.add_argument("--operators", help="that an equation may hold, such as +,*,sqrt (all)")
    sub.add_argument("--max-complexity", type=int, help="nodes that an equation may have")
    sub.add_argument(
        "--units", action="store_true", help="leave out equations whose units, as in speed [m/s], disagree"
    )
    sub.add_argument("--constants", default="free", help="with --units, free to have units (free) or dimensionless")
    sub.add_argument("--offset", help="a known term that is added, such as mass*9.81*height")
    sub.add_argument("--factor", help="a known factor of all that is searched, such as exp(-time/2)")
    sub.add_argument("--bounds", help="least and largest value: 0,1 or ,1 (--bounds=-1,1 if it begins with -)")
    sub.add_argument("--increasing", help="columns in which the equation does not fall, a,b")
    sub.add_argument("--decreasing", help="columns in which it does not rise, a,b")
    sub.add_argument("--symmetric", action="append", help="two columns that can change places, a,b; may be repeated")
    sub.add_argument("--time-limit", type=float, default=60.0, help="seconds of the search (60)")
    sub.add_argument("--max-evaluations", type=count, default=10_000_000, help="expressions of one search (10000000)")
    sub.add_argument("--seed", type=int, default=0, help="of held-out rows and search")
    sub.add_argument("--out", type=Path, help="folder for a report, LaTeX, a Python function and CSV")


def count(text: str) -> int:
    """A whole number, also as 1e6.

    >>> count("1e6")
    1000000
    """
    if not float(text).is_integer():
        raise ValueError
    return int(float(text))


def run(options: argparse.Namespace) -> int:
    """Find an equation in a table."""
    from ..estimators.shell import fit

    return fit(options)

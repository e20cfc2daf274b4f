"""The command line: the public surface, typed in a shell."""

import argparse
import os
import re
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from .. import __version__
from ..system import users_lines
from ..system.writing import one_line
from . import fit, methods, problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors are one line on standard error and exit status 2."""
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options) or 0
        sys.stdout.flush()  # a reader that has gone is met here, not when Python ends
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is for nobody
        return 0
    except KeyboardInterrupt:
        print("rediscover: interrupted; finished runs are kept", file=sys.stderr)
        return 130
    except Exception as error:
        theirs = users_lines.where(error)  # a method of the user's own, which may raise anything
        if not theirs and not isinstance(error, LookupError | ValueError | TypeError | OSError | RuntimeError):
            from ..methods import Unsupported

            if not isinstance(error, Unsupported | ImportError):
                raise
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        if isinstance(error, FileNotFoundError) and error.filename:
            message = f"there is no file {str(error.filename)!r}"
        message = users_lines.described(error) if theirs else message
        print(f"rediscover: {one_line(str(message))}", file=sys.stderr)
        return 2


class _Parser(argparse.ArgumentParser):
    """Refuses a value that is no number in one line, as commands refuse what they are given."""

    def error(self, message: str) -> NoReturn:
        if found := re.fullmatch(r"argument (\S+): invalid (count|int|float) value: (.*)", message):
            name, kind, value = found.groups()
            self.exit(2, f"rediscover: {name}: {value} is no {'number' if kind == 'float' else 'whole number'}\n")
        super().error(message)


def _records(options: argparse.Namespace) -> None:
    """Extend the records of a notebook, take in those of another machine, or list what there is."""
    from ..runs import recording, records
    from ..studies import notebooks, planned

    if wrong := sorted(set(options.notebooks) - set(notebooks())):
        raise ValueError(f"no notebook is called {wrong[0]!r} (known: {', '.join(notebooks())})")
    if options.merge:
        new = records.add(records.shard(options.merge), prefer=options.prefer)
        return print(f"{new} records of {options.merge} are new here")
    part, parts = (int(number) for number in options.shard.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(f"--shard {options.shard}: write the first of four as 1/4")
    planned_runs = [run for notebook in options.notebooks or notebooks() for run in planned(notebook)]
    kinds = {run.method.name for run in planned_runs}
    if wrong := sorted(set(options.methods) - kinds):
        raise ValueError(f"{wrong[0]} is not among the planned methods ({', '.join(sorted(kinds))})")
    # Without names those that search; the others take moments, as a rule.
    named = options.methods or {run.method.name for run in planned_runs if run.method.searches}
    chosen = [run for run in planned_runs if run.method.name in named]
    missing = recording.missing(chosen, (part - 1, parts))
    print(f"{len(chosen)} runs are planned, {len(missing)} of this shard are to be done")
    if not options.list:
        recording.extend(missing, hours=options.hours, workers=options.workers, into=options.into)


def _spot_check(options: argparse.Namespace) -> int:
    """Make a sample of the records again, runs and trees; status 1 if one is another and must not be."""
    from ..metrics import compared_trees
    from ..runs import recording
    from ..runs.schema import to_csv
    from ..studies import notebooks, planned

    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    if options.submissions is not None:
        return _check_submissions(options, seed)
    runs = [run for notebook in notebooks() for run in planned(notebook)]
    checked = recording.spot_checks(runs, seed=seed, **{n: getattr(options, n) for n in ("size", "seconds", "workers")})
    if options.out:
        to_csv(checked, options.out)
    print(f"seed {seed}: {recording.summary(checked)}")
    wrong = recording.mismatches(checked)
    for run in wrong.head(1).itertuples():
        print(f"{run.method} on {run.problem}, seed {run.seed}, must answer as recorded and does not", file=sys.stderr)
    trees = compared_trees.again(seed)
    others = [text for text, same in trees if not same]
    print(f"seed {seed}: {len(trees)} recorded trees were made again, {len(others)} came out otherwise")
    if others:
        print(f"the tree of {others[0]} is not the recorded one", file=sys.stderr)
    return int(bool(len(wrong) or others))


def _check_submissions(options: argparse.Namespace, seed: int) -> int:
    """Make a sample of submitted rows again; the first that comes out otherwise is an error."""
    from ..comparison.submissions import check
    from ..system.committed import submissions

    folders = options.submissions or sorted(path.parent for path in submissions().glob("*/method.yaml"))
    for folder in folders:
        chosen = {name: getattr(options, name) for name in ("size", "seconds", "workers")}
        print("\n".join(check(folder, seed=seed, **chosen)))
    if not folders:
        print("there are no submissions")
    return 0


def _check(options: argparse.Namespace) -> None:
    """Everything that can be wrong before a long run begins."""
    from ..params import read
    from ..report import Output
    from ..system.store import Store

    for path in options.files:
        params = read(path, options.profile)
        Output(params)
        params.store.parent.mkdir(parents=True, exist_ok=True)
        if params.store.exists():
            Store.check(params.store)
    if address := os.environ.get("SCHEDULER"):
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, ValueError) as error:
            raise OSError(f"SCHEDULER={address} cannot be reached: {error}") from None


def _ledger(options: argparse.Namespace) -> None:
    import pandas as pd

    from ..report import papers, verdicts
    from ..report.shell import ledger_lines
    from ..system.paths import root

    path = root() / "tables" / "ledger.csv"
    if not path.exists():
        raise FileNotFoundError("no ledger yet: run `make all` first")
    columns = ("id", "paper", "table", "row", "method", "verdict", "kind")
    wanted = {column: getattr(options, column) for column in columns}
    ledger = pd.read_csv(path, dtype=str, keep_default_na=False)
    found = verdicts.entries(ledger, **{column: value for column, value in wanted.items() if value})
    if options.csv:
        print(found.to_csv(index=False), end="")
    else:
        beside = int((~ledger["paper"].isin(papers.claims()["paper"])).sum())
        print(*(ledger_lines(found, len(ledger), beside) if len(found) else ["no such numbers"]), sep="\n")


def _derive(options: argparse.Namespace) -> int:
    """Make the numbers derived from released files again, or compare them with those that are kept."""
    from ..system import derived

    if options.check:
        lines, wrong = zip(*derived.checked(*options.studies), strict=True)
        made = sum(differs is not None for differs in wrong)
        print(*lines, f"{made} of {len(lines)} files were checked", sep="\n")
        return int(any(wrong))
    for study in dict.fromkeys(study for study, _ in derived.tables(*options.studies)):
        print(*derived.write(study), sep="\n")
    return 0


def _retest(options: argparse.Namespace) -> None:
    """Run a study's trials again: cells that differ, with what may be the cause."""
    from ..report import trials

    print(trials.retest(options.study, options.trials, options.missing))


def _fetch(options: argparse.Namespace) -> None:
    from ..system import upstream_files

    if options.repository:
        print(*upstream_files.fetch_all(options.repository), sep="\n")
    else:
        for name in upstream_files.files()["repository"].unique():
            print(f"{name}: {upstream_files.unavailable(name) or 'on this machine'}")


def _parser() -> argparse.ArgumentParser:
    from ..problems import commands as of_problems

    parser = _Parser(prog="rediscover", description="Five studies of equation discovery, run again.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=function)
        return sub

    def budget(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--evaluations", type=int, help="expressions a run may evaluate, or ask a model for (10000)")
        sub.add_argument("--seconds", type=float, help="wall-clock limit of a run (60)")
        sub.add_argument("--memory-mb", type=int, help="memory limit of a run, MiB (2048)")

    parser.add_argument("--version", action="version", version=f"rediscover {__version__}")
    sub = command("problems", of_problems.listed, "list problem ids")
    methods.study(sub)
    of_problems.add_catalog(sub)
    sub.add_argument("--out", type=Path, help="write the problems here, as a catalog that other programs read")
    fit.declare(command("fit", fit.run, "find an equation in a table of your own"))
    problems.declare(command, budget)
    of_problems.add_fresh(command)
    methods.declare(command, budget)
    sub = command("records", _records, "do the runs of the reference profile that are not recorded yet")
    sub.add_argument("notebooks", nargs="*", help="such as 10_surface_benchmark; by default all")
    sub.add_argument("--methods", nargs="+", default=[], help="only these")
    sub.add_argument("--hours", type=float, help="stop after so long; what is done is kept")
    sub.add_argument("--workers", type=int)
    sub.add_argument("--list", action="store_true", help="say how many runs are missing, and do nothing")
    sub.add_argument("--shard", default="1/1", metavar="I/N", help="every n-th of the missing runs, from the i-th")
    sub.add_argument("--into", type=Path, help="write the records here, not into the repository")
    sub.add_argument("--merge", type=Path, help="take in the records of this folder")
    sub.add_argument("--prefer", choices=["here", "there"], default="", help="whose answer counts where two differ")
    sub = command("spot-check", _spot_check, "run a sample of the recorded runs again and compare the answers")
    sub.add_argument("--seed", type=int, help="of the draw; by default another one each time")
    sub.add_argument("--size", type=int, default=60, help="recorded runs to draw")
    sub.add_argument("--seconds", type=float, default=60.0, help="for each run; one that takes longer is not compared")
    sub.add_argument("--workers", type=int)
    sub.add_argument("--out", type=Path, help="write the sample here, as CSV")
    sub.add_argument(
        "--submissions", nargs="*", type=Path, metavar="FOLDER", help="check submitted rows in place of records (all)"
    )
    sub = command("check", _check, "check parameter files, output folders, store and scheduler before a run")
    sub.add_argument("files", nargs="+", type=Path)
    sub.add_argument("--profile", help="smoke, reference or paper; by default all are read")
    sub = command("derive", _derive, "make the numbers again that are derived from released files")
    sub.add_argument("studies", nargs="*", help="by default all that derive any")
    sub.add_argument("--check", action="store_true", help="write nothing, compare")
    sub = command("retest", _retest, "run again, with what may be the cause, published cells that differ here")
    sub.add_argument("study", help="one that has a trials.yaml")
    sub.add_argument("trials", nargs="*", help="as in its trials.yaml, by default all")
    sub.add_argument("--missing", action="store_true", help="only the seeds that trials.csv lacks (MDBench)")
    sub = command("fetch", _fetch, "download the released files of a repository, to be read and not passed on")
    sub.add_argument("repository", nargs="?", help="owner/name; without it, what there is and what is on this machine")
    sub = command("ledger", _ledger, "published numbers beside ours (needs a clone: tables/ledger.csv)")
    sub.add_argument("--id", help="of one number, such as srsd_table2-5")
    sub.add_argument("--paper", help="such as srsd")
    sub.add_argument("--table", help="such as 'Table 2'")
    sub.add_argument("--row", help="of the table")
    sub.add_argument("--method", help="as the paper calls it")
    sub.add_argument("--verdict", help="reproduced, differs, undecided, 'not comparable' or 'not run'")
    sub.add_argument("--kind", help="of evidence, such as rerun, recorded or transcribed (any other word lists them)")
    sub.add_argument("--csv", action="store_true", help="for programs: the same rows as CSV")
    return parser

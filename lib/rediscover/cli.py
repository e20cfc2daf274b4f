"""The command line: the public surface, typed in a shell."""

import argparse
import contextlib
import json
import os
import secrets
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import __version__, catalog_commands, fit_command
from .system.writing import one_line


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
        if not isinstance(error, LookupError | ValueError | TypeError | OSError | RuntimeError | ImportError):
            from .methods import Unsupported

            if not isinstance(error, Unsupported):
                raise
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"rediscover: {one_line(str(message))}", file=sys.stderr)
        return 2


def _methods(options: argparse.Namespace) -> None:
    from . import methods

    columns = ["name", "available", "accepts", "reason"] + ["reference"] * options.long
    print(methods()[columns].to_string(index=False, justify="left"))


def _budget(options: argparse.Namespace) -> Mapping[str, float]:
    given = {name: getattr(options, name) for name in ("evaluations", "seconds", "memory_mb")}
    return {name: value for name, value in given.items() if value is not None}


def _setting(text: str) -> tuple[str, Any]:
    """A ``name=value`` pair, the value as JSON where it is JSON."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r}: write it as name=value")
    with contextlib.suppress(json.JSONDecodeError):
        return name, json.loads(value)
    return name, value


def _solve(options: argparse.Namespace) -> None:
    from . import method, score
    from .problems.commands import one

    solver = method(options.method, **dict(map(_setting, options.set)))
    if reason := solver.available():
        raise RuntimeError(f"{options.method} is unavailable: {reason}")
    chosen = one(options, noise=options.noise)
    candidates = solver.solve(chosen, budget=_budget(options), seed=options.seed)
    for candidate in candidates[: options.show]:
        print(json.dumps({"loss": candidate.loss, "complexity": candidate.complexity, **candidate.solution}))
    print(json.dumps({"scores of the first": score(chosen, candidates, seed=options.seed)}, indent=1))


def _score(options: argparse.Namespace) -> None:
    from . import score
    from .problems.commands import one

    chosen = one(options)
    pairs = dict(text.partition("=")[::2] for text in options.answer) if options.named else options.answer[0]
    print(json.dumps(score(chosen, pairs, seed=options.seed), indent=1))


def _run(options: argparse.Namespace) -> None:
    """A grid as CSV or, of a study, with scores by its rules."""
    from . import problems, runs
    from .runs.schema import to_csv

    if options.out:
        _check_output(options.out)
    if options.catalog:
        return catalog_commands.run(options)
    if options.study:
        return _run_study(options)
    if options.subset or options.profile or options.model:
        raise ValueError("--subset, --profile and --model are for a study: add --study")
    if not options.problems:
        raise ValueError("nothing to run: add --study surfaces, or --problems with ids or names of studies")
    ids = [id for name in options.problems for id in (problems(name) if "/" not in name else [name])]
    more = {name: getattr(options, name) for name in ("store", "workers", "retry")}
    frame = runs.grid(ids, options.methods, seeds=options.seeds or [0], budget=_budget(options), **more)
    to_csv(frame, options.out or sys.stdout)


def _run_study(options: argparse.Namespace) -> None:
    from . import comparison
    from .comparison import language_models
    from .runs.schema import to_csv

    if options.store or _budget(options):
        raise ValueError("with --study the budget is the study's (--profile), and finished runs are in build/own")
    chosen = {name: getattr(options, name) for name in ("profile", "workers")} | {"seeds": options.seeds or ()}
    problems = options.problems or ()
    if options.model:
        ids = comparison.chosen_ids(options.study, options.subset, problems)
        asked = {"model": options.model, "base_url": options.base_url}
        frame = language_models.run(options.methods, options.study, ids, **asked, **chosen)
        if frame.empty:
            return
    else:
        frame = comparison.run(options.methods, options.study, subset=options.subset, ids=problems, **chosen)
    if options.out:
        to_csv(frame, options.out)
    print(comparison.overview(frame))


def _compare(options: argparse.Namespace) -> None:
    if options.catalog:
        return print(catalog_commands.compare(options))
    if options.seeds or _budget(options):
        raise ValueError("seeds and budget of a comparison are those of its study: leave them out without --catalog")
    print(_comparison(options))


def _report(options: argparse.Namespace) -> None:
    """The comparison that is named, or the last one, as a page, LaTeX and CSV."""
    from . import comparison
    from .comparison.page import write

    folder = options.out or comparison.place() / "report"
    _check_output(folder / "index.html")
    print(write(_comparison(options) if options.mine else comparison.last(), folder))


def _comparison(options: argparse.Namespace) -> Any:
    from . import comparison

    if not options.study:
        raise ValueError("name the study of the comparison: --study surfaces")
    ids = options.problems or ()
    return comparison.compare(options.mine, options.against, options.study, subset=options.subset, ids=ids)


def _new(options: argparse.Namespace) -> None:
    from . import comparison

    print(f"{comparison.new(options.name)} is ready; its first lines say how to run it")


def _show(options: argparse.Namespace) -> None:
    from . import comparison
    from .problems.commands import one

    comparison.show(one(options))


def _check_output(path: Path) -> None:
    """Raise an OSError at once if a file cannot be written there."""
    with contextlib.suppress(OSError):  # what is wrong is said below
        path.parent.mkdir(parents=True, exist_ok=True)
    place = path if path.exists() else path.parent
    if path.is_dir() or not place.exists() or not os.access(place, os.W_OK):
        raise OSError(f"{path} cannot be written: choose another --out")


def _records(options: argparse.Namespace) -> None:
    """Extend the records of a notebook, take in those of another machine, or list what there is."""
    from .runs import recording, records
    from .studies import notebooks, planned

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
    chosen = [run for run in planned_runs if run.method.name in (options.methods or kinds) and run.method.searches]
    missing = recording.missing(chosen, (part - 1, parts))
    print(f"{len(chosen)} runs are planned, {len(missing)} of this shard are to be done")
    if not options.list:
        recording.extend(missing, hours=options.hours, workers=options.workers, into=options.into)


def _spot_check(options: argparse.Namespace) -> int:
    """Make a sample of the records again, runs and trees; status 1 if one is another and must not be."""
    from .metrics import compared_trees
    from .runs import recording
    from .runs.schema import to_csv
    from .studies import notebooks, planned

    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
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


def _check(options: argparse.Namespace) -> None:
    """Everything that can be wrong before a long run begins."""
    from .params import read
    from .report import Output
    from .system.store import Store

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
    from .report import verdicts
    from .system.paths import root

    path = root() / "tables" / "ledger.csv"
    if not path.exists():
        raise FileNotFoundError("no ledger yet: run `make all` first")
    wanted = {column: getattr(options, column) for column in ("paper", "method", "verdict", "kind")}
    found = verdicts.entries(path, **{column: value for column, value in wanted.items() if value})
    print("no such entries" if found.empty else found.to_string(index=False))


def _derive(options: argparse.Namespace) -> int:
    """Make the numbers derived from released files again, or compare them with those that are kept."""
    from .system import derived

    if options.check:
        lines, wrong = zip(*derived.checked(*options.studies), strict=True)
        print(*lines, sep="\n")
        return int(any(wrong))
    for study in dict.fromkeys(study for study, _ in derived.tables(*options.studies)):
        print(*derived.write(study), sep="\n")
    return 0


def _retest(options: argparse.Namespace) -> None:
    """Run a study's trials again: cells that differ, with what may be the cause."""
    from .report import trials

    print(trials.retest(options.study, options.trials))


def _fetch(options: argparse.Namespace) -> None:
    from .system import upstream_files

    if options.repository:
        print(*upstream_files.fetch_all(options.repository), sep="\n")
    else:
        for name in upstream_files.files()["repository"].unique():
            print(f"{name}: {upstream_files.unavailable(name) or 'on this machine'}")


def _parser() -> argparse.ArgumentParser:
    from .problems import commands as of_problems

    parser = argparse.ArgumentParser(prog="rediscover", description="Five studies of equation discovery, run again.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: Callable, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=function)
        return sub

    def budget(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--evaluations", type=int, help="expressions a run may evaluate (10000)")
        sub.add_argument("--seconds", type=float, help="wall-clock limit of a run (60)")
        sub.add_argument("--memory-mb", type=int, help="memory limit of a run, MiB (2048)")

    def study(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--study", help="prefix of the problems' ids, such as surfaces")
        sub.add_argument("--subset", help="of the study's problems, such as explicit")

    parser.add_argument("--version", action="version", version=f"rediscover {__version__}")
    sub = command("problems", of_problems.listed, "list problem ids")
    study(sub)
    of_problems.add_catalog(sub)
    sub.add_argument("--out", type=Path, help="write the problems here, as a catalog that other programs read")
    sub = command("methods", _methods, "list methods, and why some are unavailable")
    sub.add_argument("--long", action="store_true", help="with the reference of each")
    fit_command.declare(command("fit", fit_command.run, "find an equation in a table of your own"))
    sub = command("show", _show, "a problem: its equation, variables and where it comes from")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    of_problems.add_catalog(sub)
    sub = command("solve", _solve, "run one method on one problem and score the answer")
    sub.add_argument("method", help="its name, or file.py:Class")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    of_problems.add_catalog(sub)
    sub.add_argument("--seed", type=int, default=0, help="of data and search")
    sub.add_argument("--noise", type=float, default=0.0, help="of the training data, in the study's own measure")
    sub.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method")
    sub.add_argument("--show", type=int, default=5, help="candidates to print")
    budget(sub)
    sub = command("score", _score, "score an expression on a problem")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    of_problems.add_catalog(sub)
    sub.add_argument("answer", nargs="+", help="an expression, or with --named output=expression ...")
    sub.add_argument("--named", action="store_true", help="answers are output=expression, for several outputs")
    sub.add_argument("--seed", type=int, default=0, help="of the data")
    of_problems.add_fresh(command)
    sub = command("new", _new, "write a file with a working method of your own into the current folder")
    sub.add_argument("name", help="of the method, such as mine")
    sub = command("run", _run, "run methods: on a study or a catalog, with scores, or on any problems, as CSV")
    study(sub)
    of_problems.add_catalog(sub)
    sub.add_argument("--problems", nargs="+", help="problem ids; without --study names of studies too")
    sub.add_argument("--methods", nargs="+", required=True, help="names, file.py:Class or package.module:Class")
    sub.add_argument("--seeds", nargs="+", type=int, help="of data and search (0; with --study the profile's)")
    sub.add_argument("--profile", help="whose budget a study's runs have: smoke, reference or paper")
    sub.add_argument("--model", help="a language model, as its server knows it, for methods that ask one")
    sub.add_argument("--base-url", help="its server, up to and including /v1 (OPENAI_BASE_URL)")
    sub.add_argument("--workers", type=int, help="runs at a time (as many as there are processors)")
    sub.add_argument("--store", type=Path, help="keep finished runs here and resume from it; its folder is made")
    sub.add_argument("--retry", nargs="+", metavar="STATUS", help="do stored runs that ended so again, such as timeout")
    sub.add_argument("--out", type=Path, help="write the rows here, as CSV; its folder is made")
    budget(sub)
    sub = command("compare", _compare, "compare a method that was run with what others answered, without running them")
    sub.add_argument("mine", help="its name, or file.py:Class, which is run first if it was not")
    sub.add_argument("against", nargs="+", help="names of other methods; with --catalog all are run")
    study(sub)
    of_problems.add_catalog(sub)
    sub.add_argument("--problems", nargs="+", help="only these ids")
    sub.add_argument("--seeds", nargs="+", type=int, help="of data and search (0), with --catalog")
    budget(sub)
    sub = command("report", _report, "a comparison, by default the last one, as one HTML page, LaTeX and CSV")
    sub.add_argument("mine", nargs="?", help="as for compare")
    sub.add_argument("against", nargs="*", help="as for compare")
    study(sub)
    sub.add_argument("--problems", nargs="+", help="only these ids")
    sub.add_argument("--out", type=Path, help="folder in place of build/own/report")
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
    sub = command("check", _check, "check parameter files, output folders, store and scheduler before a run")
    sub.add_argument("files", nargs="+", type=Path)
    sub.add_argument("--profile", help="smoke, reference or paper; by default all are read")
    sub = command("derive", _derive, "make the numbers again that are derived from released files")
    sub.add_argument("studies", nargs="*", help="by default all that derive any")
    sub.add_argument("--check", action="store_true", help="write nothing, compare")
    sub = command("retest", _retest, "run again, with what may be the cause, published cells that differ here")
    sub.add_argument("study", help="one that has a trials.yaml")
    sub.add_argument("trials", nargs="*", help="as in its trials.yaml, by default all")
    sub = command("fetch", _fetch, "download the released files of a repository, to be read and not passed on")
    sub.add_argument("repository", nargs="?", help="owner/name; without it, what there is and what is on this machine")
    sub = command("ledger", _ledger, "published numbers beside ours")
    sub.add_argument("--paper", help="such as srsd")
    sub.add_argument("--method", help="as the paper calls it")
    sub.add_argument("--verdict", help="reproduced, differs, undecided, 'not comparable' or 'not run'")
    sub.add_argument("--kind", help="of evidence: rerun, reimplementation, recorded, recomputed, arithmetic or count")
    return parser

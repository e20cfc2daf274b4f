"""The commands for a method of one's own: what they take. What they do is loaded when they are called."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from . import catalogs
from .problems import given_budget

ALL = "all"  # in place of a study: every one of a paper


def declare(command: Callable[..., argparse.ArgumentParser], budget: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add ``new``, ``run``, ``compare``, ``report``, ``leaderboard`` and ``submit`` to the commands.

    Parameters
    ----------
    command : takes a name, a function of the options, and a line of help
    budget : adds the options of a budget
    """
    from ..problems.commands import add_catalog

    sub = command("new", _new, "write a file with a working method of your own into the current folder")
    sub.add_argument("name", help="of the method, such as mine")
    sub = command("run", _run, "run methods: on a study or a catalog, with scores, or on any problems, as CSV")
    study(sub)
    add_catalog(sub)
    sub.add_argument("--problems", nargs="+", help="problem ids; without --study names of studies too")
    sub.add_argument("--methods", nargs="+", required=True, help="names, file.py:Class or package.module:Class")
    sub.add_argument("--seeds", nargs="+", type=int, help="of data and search (0; with --study the profile's)")
    sub.add_argument("--profile", help="whose budget a study's runs have: smoke, reference or paper")
    sub.add_argument("--model", help="a language model, as its server knows it, for methods that ask one")
    sub.add_argument("--base-url", help="its server, up to and including /v1 (OPENAI_BASE_URL, else OpenAI's)")
    sub.add_argument("--max-tokens", type=int, help="of a reply, in place of the method's")
    sub.add_argument("--timeout", type=float, help="seconds for a reply (60)")
    sub.add_argument("--tries", type=int, help="attempts per request (6)")
    sub.add_argument("--prompts", help="'released', for those of its authors, or a YAML file of texts in place of ours")
    sub.add_argument("--workers", type=int, help="runs at a time, of a model too (as many as there are processors)")
    sub.add_argument("--store", type=Path, help="keep finished runs here and resume from it; its folder is made")
    sub.add_argument("--retry", nargs="+", metavar="STATUS", help="do stored runs that ended so again, such as timeout")
    sub.add_argument("--out", type=Path, help="write the rows here, as CSV; its folder is made")
    budget(sub)
    sub = command("compare", _compare, "compare a method that was run with what others answered, without running them")
    rules = yaml.safe_load((Path(__file__).parents[1] / "comparison/rules.yaml").read_text(encoding="utf-8"))
    sub.epilog = " ".join(rules.values())
    sub.add_argument("mine", help="its name, or file.py:Class, which is run first if it was not")
    _compared(sub)
    add_catalog(sub)
    sub.add_argument("--seeds", nargs="+", type=int, help="of data and search (0), with --catalog")
    budget(sub)
    sub.add_argument("--latex", type=Path, metavar="FILE", help="write the tables here too, for a paper (booktabs)")
    sub = command("report", _report, "a comparison, by default the last one, as one HTML page, LaTeX and CSV")
    sub.add_argument("mine", nargs="?", help="as for compare")
    _compared(sub)
    sub.add_argument("--out", type=Path, help="folder in place of build/own/report")
    sub = command("leaderboard", _leaderboard, "the leaderboards of the studies, with the rows of your own methods")
    sub.add_argument("--study", help="prefix of the problems' ids, such as surfaces; by default all")
    sub.add_argument("--top", type=int, default=15, help="rows of others that are shown (15)")
    sub = command("submit", _submit, "put your method and its answers to a study into submissions/, for a pull request")
    sub.add_argument("method", help="file.py:Class, which was run on the whole study")
    sub.add_argument("--study", required=True, help="prefix of the problems' ids, such as surfaces")


def study(sub: argparse.ArgumentParser) -> None:
    """Add the options that choose problems."""
    sub.add_argument("--study", help="prefix of the problems' ids, such as surfaces; run and compare know 'all', too")
    sub.add_argument("--subset", help="of the study's problems, such as explicit")


def check_output(path: Path) -> None:
    """Raise an OSError at once if a file cannot be written there."""
    with contextlib.suppress(OSError):  # what is wrong is said below
        path.parent.mkdir(parents=True, exist_ok=True)
    place = path if path.exists() else path.parent
    if path.is_dir() or not place.exists() or not os.access(place, os.W_OK):
        raise OSError(f"{path} cannot be written: choose another --out")


def _compared(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("against", nargs="*", help="names of other methods; by default the five best that are recorded")
    study(sub)
    sub.add_argument("--problems", nargs="+", help="only these ids")
    sub.add_argument("--equal-seconds", action="store_true", help="at budgets that took as long: see below")


def _new(options: argparse.Namespace) -> None:
    from .. import comparison

    print(f"{comparison.new(options.name)} is ready; its first lines say how to run it")


def _run(options: argparse.Namespace) -> int:
    """A grid as CSV or, of a study, with scores by its rules; 1 if no run of a grid could be made."""
    if options.out:
        check_output(options.out)
    if options.catalog:
        catalogs.run(options)
    elif options.study:
        _run_study(options)
    else:
        return _run_grid(options)
    return 0


def _run_grid(options: argparse.Namespace) -> int:
    from .. import problems, runs
    from ..runs.schema import to_csv

    if options.subset or options.profile or options.model:
        raise ValueError("--subset, --profile and --model are for a study: add --study")
    if not options.problems:
        raise ValueError("nothing to run: add --study surfaces, or --problems with ids or names of studies")
    ids = [id for name in options.problems for id in (problems(name) if "/" not in name else [name])]
    more = {name: getattr(options, name) for name in ("store", "workers", "retry")}
    frame = runs.grid(ids, options.methods, seeds=options.seeds or [0], budget=given_budget(options), **more)
    to_csv(frame, options.out or sys.stdout)
    if set(frame["status"]) != {"unavailable"}:
        return 0
    print(f"rediscover: nothing could run: {frame['reason'].iloc[0]}", file=sys.stderr)
    return 1


def _run_study(options: argparse.Namespace) -> None:
    from .. import comparison
    from ..comparison import language_models, summary
    from ..runs.schema import to_csv

    known = {"evaluations"} if options.model else set()
    if options.store or set(given_budget(options)) - known:
        raise ValueError("with --study the budget is the study's (--profile), and finished runs are in build/own")
    chosen = {name: getattr(options, name) for name in ("profile", "workers")} | {"seeds": options.seeds or ()}
    problems = options.problems or ()
    if options.study == ALL:
        _whole(options, "model", "out")
        for frame in summary.run_all(options.methods, **chosen):
            print(comparison.overview(frame), end="\n\n")
        return
    if options.model:
        ids = comparison.chosen_ids(options.study, options.subset, problems)
        given = {name: getattr(options, name) for name in ("max_tokens", "timeout", "tries", "prompts")}
        asked = {"model": options.model, "base_url": options.base_url, "evaluations": options.evaluations}
        asked["settings"] = {name: value for name, value in given.items() if value is not None}
        frame = language_models.run(options.methods, options.study, ids, **asked, **chosen)
        if frame.empty:
            return
    else:
        frame = comparison.run(options.methods, options.study, subset=options.subset, ids=problems, **chosen)
    if options.out:
        to_csv(frame, options.out)
    print(comparison.overview(frame))


def _whole(options: argparse.Namespace, *others: str) -> None:
    """Raise an error if a part of a study is asked for where all studies are."""
    for name in ("subset", "problems", *others):
        if getattr(options, name):
            raise ValueError(f"--study all takes whole studies: leave out --{name}, or name one study")


def _compare(options: argparse.Namespace) -> None:
    from ..system.writing import write_text

    if options.latex:
        check_output(options.latex)
    if options.catalog and options.equal_seconds:
        raise ValueError("--equal-seconds needs records, which a catalog has not: leave it out")
    if not options.catalog and (options.seeds or given_budget(options)):
        raise ValueError("seeds and budget of a comparison are those of its study: leave them out without --catalog")
    found = catalogs.compare(options) if options.catalog else _comparison(options)
    print(found)
    if options.latex:
        write_text(options.latex, found.latex())
        print(f"LaTeX: {options.latex} (needs booktabs)")


def _report(options: argparse.Namespace) -> None:
    """The comparison that is named, or the last one, as a page, LaTeX and CSV."""
    from .. import comparison
    from ..comparison.page import write
    from ..system.committed import place

    folder = options.out or place() / "report"
    check_output(folder / "index.html")
    if options.study == ALL:
        raise ValueError("a report is of one study: name it; `rediscover compare --study all` prints them all")
    print(write(_comparison(options) if options.mine else comparison.last(), folder))


def _comparison(options: argparse.Namespace) -> Any:
    from .. import comparison
    from ..comparison import summary

    if not options.study:
        raise ValueError("name the study of the comparison: --study surfaces, or --study all")
    if options.study == ALL:
        _whole(options)
        return summary.compare_all(options.mine, options.against, equal_seconds=options.equal_seconds)
    chosen = {"subset": options.subset, "ids": options.problems or (), "equal_seconds": options.equal_seconds}
    return comparison.compare(options.mine, options.against, options.study, **chosen)


def _leaderboard(options: argparse.Namespace) -> None:
    from ..publish import boards, own_rows
    from ..system.studies import owner, studies

    for key in [owner(options.study)] if options.study else studies():
        for board in studies()[key].get("leaderboards", []):
            print(f"{board['title']} ({key})")
            frame = boards.leaderboard(board)
            print(own_rows.table(frame, options.top).to_string(index=False))
            print(boards.rests_on(board, frame), end="\n\n")
    print("percent: a problem without an answer counts 0; published: as a paper prints it; controls have no rank")


def _submit(options: argparse.Namespace) -> None:
    from ..comparison.submissions import submit

    folder = submit(options.method, options.study)
    print(f"{folder} is ready: check it with `rediscover spot-check --submissions {folder}`, then open a pull request")

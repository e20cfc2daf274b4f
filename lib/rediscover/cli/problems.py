"""The commands for one problem, and the list of methods: what they take; what they do is loaded when called."""

import argparse
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any


def declare(command: Callable[..., argparse.ArgumentParser], budget: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add ``methods``, ``show``, ``solve`` and ``score`` to the commands.

    Parameters
    ----------
    command : takes a name, a function of the options, and a line of help
    budget : adds the options of a budget
    """
    from ..problems.commands import add_catalog

    sub = command("methods", _methods, "list methods, and why some are unavailable")
    sub.add_argument("--long", action="store_true", help="with the reference of each")
    sub = command("show", _show, "a problem: its equation, variables and where it comes from")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    add_catalog(sub)
    sub = command("solve", _solve, "run one method on one problem and score the answer")
    sub.add_argument("method", help="its name, or file.py:Class")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    add_catalog(sub)
    sub.add_argument("--seed", type=int, default=0, help="of data and search")
    sub.add_argument("--noise", type=float, default=0.0, help="of the training data, in the study's own measure")
    sub.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method")
    sub.add_argument("--show", type=int, default=5, help="candidates to print")
    sub.add_argument(
        "--json", action="store_true", help="for programs: the candidates and scores as one object of JSON"
    )
    budget(sub)
    sub = command("score", _score, "score an expression on a problem")
    sub.add_argument("problem", help="its id, such as srsd/I.27.6")
    add_catalog(sub)
    sub.add_argument("answer", nargs="+", help="an expression, or with --named output=expression ...")
    sub.add_argument("--named", action="store_true", help="answers are output=expression, for several outputs")
    sub.add_argument("--seed", type=int, default=0, help="of the data")
    sub.add_argument("--json", action="store_true", help="the scores as one object of JSON")


def given_budget(options: argparse.Namespace) -> Mapping[str, float]:
    """The fields of a budget that the options name."""
    given = {name: getattr(options, name) for name in ("evaluations", "seconds", "memory_mb")}
    return {name: value for name, value in given.items() if value is not None}


def _methods(options: argparse.Namespace) -> None:
    from .. import methods
    from ..report.shell import method_lines

    print("\n".join(method_lines(methods(), long=options.long)))


def _show(options: argparse.Namespace) -> None:
    from .. import comparison
    from ..problems.commands import one

    comparison.show(one(options))


def _setting(text: str) -> tuple[str, Any]:
    """A ``name=value`` pair, the value as JSON where it is JSON."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r}: write it as name=value")
    with contextlib.suppress(json.JSONDecodeError):
        return name, json.loads(value)
    return name, value


def _solve(options: argparse.Namespace) -> None:
    from .. import method, score
    from ..problems.commands import one
    from ..report.shell import candidate_lines, score_lines
    from ..runs import announce

    solver = method(options.method, **dict(map(_setting, options.set)))
    if reason := solver.available():
        raise RuntimeError(f"{options.method} is unavailable: {reason}")
    chosen = one(options, noise=options.noise)
    announce([solver])
    candidates = solver.solve(chosen, budget=given_budget(options), seed=options.seed)
    scores, shown = score(chosen, candidates, seed=options.seed), candidates[: options.show]
    if options.json:
        rows = [{"loss": each.loss, "complexity": each.complexity, "solution": {**each.solution}} for each in shown]
        return print(json.dumps({"candidates": rows, "scores of the first": scores}, indent=1))
    print(
        f"{solver.name} on {chosen.id}, seed {options.seed}: {len(shown)} of {len(candidates)} candidates, "
        "best first by its own rule, complexity by its own count"
    )
    print("\n".join([*candidate_lines(shown), "", "Scores of the first", *score_lines(scores)]))


def _score(options: argparse.Namespace) -> None:
    from .. import score
    from ..problems.commands import one
    from ..report.shell import score_lines

    chosen = one(options)
    pairs = dict(text.partition("=")[::2] for text in options.answer) if options.named else options.answer[0]
    scores = score(chosen, pairs, seed=options.seed)
    print(json.dumps(scores, indent=1) if options.json else "\n".join(score_lines(scores)))

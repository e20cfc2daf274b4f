"""Changes that a reader may make to the parameters of a notebook, made from its typed model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

from rediscover import params
from rediscover.problems import problem, problems
from rediscover.report.tables import CONTROLS

import yaml

ROOT = Path(__file__).parents[1]
STARTS = yaml.safe_load(Path(__file__).with_name("exploring.yaml").read_text())
NOWHERE = "nothing_of_this_name"
# An empty list of these means the whole study, which is what the reference profile runs.
WHOLE_STUDIES = {
    "surfaces",
    "laws",
    "systems",
    "budget_problems",
    "lsr",
    "phybench",
    "srbench",
    "measured",
    "srsd",
    "flows",
}


class Case(NamedTuple):
    """A change on top of the small smoke profile; `wrong` if it has to be refused."""

    notebook: str
    name: str
    changes: dict[str, Any]
    wrong: bool = False


def cases() -> list[Case]:
    """All of them, in the order of the notebooks; of the same changes under two names, the first."""
    every = [case for notebook in STARTS for case in _of(notebook)]
    return list({(case.notebook, repr(case.changes)): case for case in reversed(every)}.values())[::-1]


def _of(notebook: str) -> Iterator[Case]:
    smoke = params.read(ROOT / "params" / f"{notebook}.yaml", "smoke")
    start = STARTS[notebook]["small"]
    plain = smoke.model_dump(exclude={"profile", "explored"})
    for name, value in (plain | start).items():
        for what, changed, wrong in _values(type(smoke), name, value):
            yield Case(notebook, f"{name}: {what}", start | {name: changed}, wrong)
        yield Case(notebook, f"{name}: misspelt", start | {name[:-1] + "_": value}, True)
    if "methods" in plain:
        yield from _of_methods(notebook, plain["methods"], start)
        yield from _of_problems(notebook, plain, start)


def _values(model: type, name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
    """What a field may be changed to: a word, the value, and whether it has to be refused."""
    if isinstance(value, list):
        yield "one", value[:1], False
        if name != "methods":  # see `_of_methods`
            yield from (("the last", value[-1:], False), ("two", value[:2], False))
        if value and isinstance(value[0], int):
            yield "another, too", [*value[:1], max(value) + 1], False
        if name not in WHOLE_STUDIES:
            yield "empty", [], name in ("methods", "seeds", "snr_db") or _needs_one(model, name)
        yield from (("an unknown one", [*value, NOWHERE], True), ("text", NOWHERE, True))
        yield from (("one twice", [*value, *value[:1]], bool(value)), ("a number", 3, True))
    elif isinstance(value, dict):
        yield from (
            *[("empty", {}, False)] * bool(value),
            ("an unknown key", {NOWHERE: 3}, True),
            ("a number", 3, True),
        )
    elif isinstance(value, int | float):
        yield from (("one", type(value)(1), False), ("negative", type(value)(-1), True), ("text", "many", True))
        yield from (("zero", type(value)(0), True), ("a list", [value], True))
    elif get_origin(kind := model.model_fields[name].annotation) is Literal:
        yield from ((choice, choice, False) for choice in get_args(kind))
        yield "an unknown one", NOWHERE, True
    else:
        yield from (("an unknown one", NOWHERE, True), ("a number", 3, True))


def _needs_one(model: type, name: str) -> bool:
    """Whether a list of this field may not be empty."""
    return any(getattr(limit, "min_length", 0) for limit in model.model_fields[name].metadata)


def _of_methods(notebook: str, methods: list[str], start: dict) -> Iterator[Case]:
    """Each cheap method left out; no control, nothing but controls; and a method that knows no such problems."""
    few = start.get("methods", methods)
    for name in few:
        yield Case(notebook, f"methods: without {name}", start | {"methods": [other for other in few if other != name]})
    for what, chosen in (("controls", CONTROLS), ("others", {*methods} - {*CONTROLS})):
        yield Case(notebook, f"methods: {what} alone", start | {"methods": [name for name in few if name in chosen]})
    stranger = "operon" if notebook.startswith("50") else "copy_last_equation"
    yield Case(notebook, "methods: one of another study", start | {"methods": [*few, stranger]})


def _of_problems(notebook: str, plain: dict, start: dict) -> Iterator[Case]:
    """One problem of each subset by two methods, and a problem of another study."""
    lists = {
        name: ids
        for name, ids in plain.items()
        if isinstance(ids, list) and "/" in str((ids or start.get(name, ""))[:1]) and name != "dose"
    }
    for name, ids in lists.items():
        studies = dict.fromkeys(id.split("/")[0] for id in ids)
        of_subset = {problem(id).subset: id for study in studies for id in reversed(problems(study))}
        for subset, id in of_subset.items():
            pair = {"methods": STARTS[notebook]["pair"], name: [id]}
            yield Case(notebook, f"{name}: {subset}", start | pair)
        yield Case(notebook, f"{name}: of another study", start | {name: ["passages/attention"]}, True)

"""Formulas with ranges of their inputs: the YAML of symbolic-data and FastSRB, and tables with a row for each."""

import csv
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...expressions import Expression, parse
from ...expressions.syntax import unreadable
from ...expressions.trees import replace_leaves
from ...system.writing import one_line
from .. import generator
from ..srbench import Drawn

STUDY = "catalog"  # under which answers are listed, and scored by the rules of SRBench's laws
ROWS, TEST_ROWS = 1000, 1000  # where the catalog states none
TRIED = 200  # rows that a formula must have a finite value on
FAMILIES = {"uni": "uniform", "log": "log", "int": "integer"}
SIGNS: dict[str, tuple[str, ...]] = {"pos": (), "neg": ("negative",), "pos_neg": ("signed",)}
VARIABLE = re.compile(r"v(0|[1-9]\d*)")
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(
    rf"\s*(\w+)\s+in\s+(log|uniform|integer)?\s*\[\s*({NUMBER})\s*,\s*({NUMBER})\s*\]\s*(signed|negative)?\s*(?:[,;]|$)"
)
COLUMNS = {  # of a table of formulas, and what else they are called
    "name": ("name", "filename", "id"),
    "formula": ("formula", "equation", "expression"),
    "output": ("output", "target"),
    "variables": ("variables",),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Listed(Drawn):
    """A formula of a catalog, whose inputs are drawn independently in the ranges that the catalog states."""

    @property
    def study(self) -> str:
        return STUDY


def catalog(held: Mapping, stem: str) -> tuple[str, list[tuple[str, Callable[[str], Listed]]]]:
    """Name and entries of a YAML catalog: those under ``expressions``, or all where there is no such key.

    Parameters
    ----------
    held : what the file holds
    stem : name of a catalog that states none

    Returns
    -------
    tuple of name and entries
    """
    stated = held.get("metadata")
    about: Mapping = stated if isinstance(stated, Mapping) else {}
    body = held.get("expressions", {}) if {"expressions", "metadata"} & {*held} else held
    if not isinstance(body, Mapping):
        raise ValueError("`expressions` should map names to formulas with their variables")
    name = re.sub(r"[^\w.-]+", "-", _word(about, "name") or stem)
    defaults = about.get("sampling_defaults")
    points = defaults.get("n_points") if isinstance(defaults, Mapping) else None
    sources = about.get("sources")
    first = {"source": sources[0]} if isinstance(sources, list) and sources else {}
    source = _word(first, "source") or _word(about, "description") or name
    points = ROWS if points is None else points
    return name, [(one_line(str(key)), partial(_of_entry, entry, points, source)) for key, entry in body.items()]


def _word(held: Mapping, key: str) -> str:
    """A text of a file, empty where it has none: what is nested without end would never be written out."""
    value = held.get(key)
    return str(value) if isinstance(value, str | int | float) else ""


def _shown(value: Any) -> str:
    """A value in a message."""
    return repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


def _of_entry(entry: Any, points: Any, source: str, id: str) -> Listed:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("vars"), Mapping):
        raise ValueError("it has no variables; write them under `vars`, as v1, v2, ...")
    variables = {str(key): spec if isinstance(spec, Mapping) else {} for key, spec in entry["vars"].items()}
    places = tuple(f"v{i}" for i in range(1, len({*variables} - {"v0"}) + 1))
    if not places or {*variables} - {"v0"} != {*places}:
        raise ValueError("its variables are not v1, v2, ... without a gap; number them so")
    names = tuple(_word(variables[place], "name") or place for place in places)
    samplers = [_sampler(place, variables[place]) for place in places]
    given = entry.get("prepared")
    expression = parse(_formula(given or entry.get("raw")), places if given else names)
    # Without `prepared` the formula is in the names already.
    inputs, expression = _in_names(expression, places, names) if given else (names, expression)
    told = entry.get("meta")
    return problem(
        id,
        expression,
        dict(zip(inputs, samplers, strict=True)),
        output=_word(variables.get("v0", {}), "name") or "y",
        rows=entry.get("rows", [points, TEST_ROWS]),
        subset=_word(entry, "subset") or _word(entry, "difficulty"),
        note=_word(entry, "moniker") or _word(told if isinstance(told, Mapping) else {}, "problem"),
        source=source,
    )


def _formula(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ValueError("it has no formula; write it as `prepared`, in v1, v2, ...")
    return given


def _in_names(
    expression: Expression, places: tuple[str, ...], names: tuple[str, ...]
) -> tuple[tuple[str, ...], Expression]:
    """Inputs and formula in the names of the variables, or as they are where no formula can be written in those."""
    if unreadable(names) is not None:
        return places, expression
    known = dict(zip(places, names, strict=True))
    renamed = Expression(replace_leaves(expression.tree, lambda leaf: (known.get(leaf, leaf),)))
    # A variable called pi beside the number would be lost in the text.
    return (names, renamed) if parse(str(renamed), names).tree == renamed.tree else (places, expression)


def _sampler(name: str, spec: Mapping) -> list:
    """``[family, low, high]`` and perhaps ``signed`` or ``negative``, as `srsd.sample` takes it."""
    ends, kind = spec.get("sample_range"), spec.get("sample_type", "uni")
    base, *sign = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) and kind else [None]
    # An entry of FastSRB has a remark behind its two ends.
    if not isinstance(ends, list) or len(ends) < 2 or not all(isinstance(word, str) for word in ends[2:]):
        raise ValueError(f"{name} has no `sample_range` of two numbers; write one such as [1, 5]")
    known = isinstance(base, str) and base in FAMILIES and all(isinstance(each, str) and each in SIGNS for each in sign)
    if not known or len(sign) > 1:
        raise ValueError(f"{name} has an unknown `sample_type`; use uni, log or int, and pos, neg or pos_neg behind it")
    family = "integer" if base == "uni" and _word(spec, "dtype").startswith("int") else FAMILIES[str(base)]
    return _checked(name, family, *ends[:2], *(SIGNS[str(sign[0])] if sign else ()))


def _checked(name: str, family: str, low: Any, high: Any, *sign: str) -> list:
    """The sampler of a variable between two ends, both included where they are whole numbers to draw from."""
    if isinstance(low, bool) or isinstance(high, bool):
        raise ValueError(f"{name} has a range of {_shown(low)} and {_shown(high)}; give two numbers")
    try:
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(f"{name} has a range of {_shown(low)} and {_shown(high)}; give two numbers") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"{name} has the range {low:g} to {high:g}; give two finite numbers, the smaller first")
    if family == "log" and low <= 0:
        raise ValueError(f"{name} is drawn on a log scale from {low:g}; give a positive number, and the sign apart")
    if sign == ("negative",) and low < 0:
        raise ValueError(f"{name} is negative and has a range from {low:g}; give the range of its absolute value")
    if family == "integer":
        if low % 1 or high % 1:
            raise ValueError(f"{name} is drawn from whole numbers between {low:g} and {high:g}; give whole ends")
        return [family, int(low), int(high) + 1, *sign]
    return [family, low, high, *sign]


def problem(
    id: str, expression: Expression, samplers: dict[str, list], *, output: str = "y", rows: Any, **about: Any
) -> Listed:
    """A formula as a problem, after a look at whether it has values.

    Raises
    ------
    ValueError
        If an input has a name that no formula can hold, the rows are no two numbers, or no value is finite.
    """
    inputs = tuple(samplers)
    if (wrong := unreadable(inputs)) is not None:
        raise ValueError(f"no formula can hold a variable called {wrong!r}; rename it")
    if not (isinstance(rows, list | tuple) and len(rows) == 2 and all(type(n) is int and n > 0 for n in rows)):
        raise ValueError("its `rows` or the catalog's `n_points` are no whole numbers; give such as [100, 1000]")
    output = next(name for name in (output, "y", "v0", "output_") if unreadable((*inputs, name)) is None)
    found = Listed(
        id=id, truth={output: str(expression)}, inputs=inputs, samplers=samplers, rows=(rows[0], rows[1]), **about
    )
    try:
        found.draw(min(TRIED, found.rows[0]), generator(0, id, "catalog"))
    except RuntimeError:
        raise ValueError("its formula has no finite value in most of its ranges; narrow them") from None
    return found


def rows(path: Path) -> list[tuple[str, Callable[[str], Listed]]]:
    """Entries of a table with a row for each formula.

    Parameters
    ----------
    path : of a file of comma, semicolon or tab separated values

    Returns
    -------
    list of name and function that makes the problem

    Raises
    ------
    ValueError
        If there is no column of formulas.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8; save it as such") from None
    head = lines[0] if lines else ""
    table = csv.reader(lines, delimiter=max("\t;,", key=head.count))
    header = [cell.strip().lower() for cell in next(table, [])]
    places = {what: next((header.index(n) for n in known if n in header), None) for what, known in COLUMNS.items()}
    if places["formula"] is None:
        raise ValueError(f"{path} has no column of formulas; call it `formula`, beside `name` and `variables`")
    found: list[tuple[str, Callable[[str], Listed]]] = []
    for number, cells in enumerate(table, 1):
        row = dict(zip(header, map(str.strip, cells), strict=False))
        about = {what: cells[i].strip() if i is not None and i < len(cells) else "" for what, i in places.items()}
        if about["formula"] or about["name"]:
            found.append((about["name"] or str(number), partial(_of_row, row, about, path.name)))
    return found


def _of_row(row: Mapping[str, str], about: Mapping[str, str], source: str, id: str) -> Listed:
    if not about["formula"]:
        raise ValueError("it has no formula; write one into its row")
    samplers = ranges(about["variables"]) if about["variables"] else _of_columns(row)
    expression = parse(about["formula"], tuple(samplers))
    return problem(id, expression, samplers, output=about["output"] or "y", rows=[ROWS, TEST_ROWS], source=source)


def ranges(text: str) -> dict[str, list]:
    """Samplers of variables from text.

    Parameters
    ----------
    text : such as ``m in [1, 5], v in log [0.1, 10] signed``

    Returns
    -------
    dict of variable to ``[family, low, high]`` and perhaps ``signed`` or ``negative``

    Raises
    ------
    ValueError
        If it says anything else.

    Examples
    --------
    >>> ranges("m in [1, 5], n in integer [1, 3]")
    {'m': ['uniform', 1.0, 5.0], 'n': ['integer', 1, 4]}
    """
    found: dict[str, list] = {}
    place = 0
    while place < len(text):
        match = RANGE.match(text, place)
        if match is None:
            raise ValueError(f"its variables cannot be read at {text[place:][:30]!r}; write them as x in [1, 5], ...")
        name, family, low, high, sign = match.groups()
        if name in found:
            raise ValueError(f"it has two ranges of {name}; leave one out")
        found[name] = _checked(name, family or "uniform", low, high, *([sign] if sign else []))
        place = match.end()
    return found


def _of_columns(row: Mapping[str, str]) -> dict[str, list]:
    """Samplers from the columns v1_name, v1_low, v1_high, ..., as the Feynman database has them."""
    found: dict[str, list] = {}
    while name := row.get(f"v{len(found) + 1}_name"):
        ends = [row.get(f"v{len(found) + 1}_{end}", "") for end in ("low", "high")]
        if not all(re.fullmatch(NUMBER, end) for end in ends):
            raise ValueError(f"{name} has no range; write two numbers into its columns")
        if name in found:
            raise ValueError(f"it has two ranges of {name}; leave one out")
        found[name] = _checked(name, "uniform", *ends)
    if not found:
        raise ValueError("it has no variables; write them into the column `variables`, such as x in [1, 5]")
    return found

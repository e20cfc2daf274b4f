"""What the site shows of the studies, from tables/, records/ and the problems."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..methods import registry
from ..problems import Problem, facts
from ..report.names import NAMES
from ..report.papers import catalogue, status
from ..report.tables import ARROWS
from ..runs.schema import IDENTITY, answered
from ..runs.scoring import metric
from ..system.paths import root
from ..system.studies import studies
from .facts import texts

HERE = Path(__file__).parent / "pages"
NO_SCORES = {*IDENTITY, "scoring", "solution", "reason", "loss", "complexity", "evaluations", "complexity_own"}
LABELS: dict[str, str] = yaml.safe_load((HERE / "labels.yaml").read_text(encoding="utf-8"))


def table(name: str) -> pd.DataFrame:
    """A table of text cells from tables/."""
    return pd.read_csv(root() / "tables" / f"{name}.csv", dtype=str, keep_default_na=False)


@functools.cache
def names() -> dict[str, str]:
    """Method -> how it is called on the pages: as in tables and figures, else as the papers print it."""
    printed = catalogue()
    known = dict(zip(printed["ours"], printed["method"], strict=True)) | NAMES | LABELS
    return {name: known.get(name, name.replace("_", " ")) for name in registry()}


@functools.cache
def label(column: str) -> str:
    """A score's or column's name on the pages; as in tables, with an arrow, where they have a name for it."""
    if column in LABELS:
        return LABELS[column]
    if column in NAMES:
        return NAMES[column] + _arrow(column)
    base, _, part = column.rpartition("_")
    where = {"id": "in distribution", "ood": "out of distribution"}.get(part)
    if where:
        return f"{label(base)}, {where}"
    return column.replace("_", " ")


def _arrow(column: str) -> str:
    try:
        return ARROWS.get(metric(column).direction, "")
    except KeyError:  # no score
        return ""


def entry(problem: Problem) -> dict[str, Any]:
    """The problem's block in the data file of its study; empty where it has none of its own."""
    name = problem.id.partition("/")[2]
    try:
        content = facts(problem.study)
    except FileNotFoundError:  # a study may have its problems in code
        return {}
    for group in content.values() if isinstance(content, dict) else [content]:
        if isinstance(group, dict):
            found = group.get(int(name) if name.isdigit() else name)
            if isinstance(found, dict):
                return found
        elif isinstance(group, list):
            for item in group:
                if isinstance(item, dict) and (
                    item.get("id") in (name, getattr(problem, "paper", name)) or name in item.get("ids", ())
                ):
                    return item
    return {}


def title(problem: Problem) -> str:
    """What the problem is called, beside its id; empty where it has no name."""
    about = entry(problem)
    known = (about.get(part) for part in ("name", "title", "reference", "model"))
    found = getattr(problem, "title", "") or next((text for text in known if text and "_" not in text), "")
    target = about.get("target")
    if not found and isinstance(target, dict):
        found = ", ".join(target.values())
    found = str(found).replace("_", " ").strip()
    return found.title() if found.isupper() and len(found) > 3 else found[:1].upper() + found[1:]


def variables(problem: Problem) -> pd.DataFrame:
    """Variables with what they mean (and their unit) and the range that they are drawn from, as far as is known.

    Returns
    -------
    DataFrame
        Columns: variable, role, and those of meaning and range that are not empty.
    """
    rows, sampled = [], getattr(problem, "samplers", {})
    domain = dict(zip(problem.inputs, getattr(problem, "domain", None) or (), strict=False))
    for variable in dict.fromkeys([*problem.inputs, *problem.outputs]):
        meaning = problem.meanings.get(variable, "")
        drawn = sampled.get(variable) or domain.get(variable)
        both = variable in problem.inputs and variable in problem.outputs
        rows.append(
            {
                "variable": variable,
                "role": "state" if both else "given" if variable in problem.inputs else "to be found",
                "meaning": meaning.replace("_", " ") if meaning != variable else "",
                "range": _range(drawn) if isinstance(drawn, list | tuple) else "",
            }
        )
    frame = pd.DataFrame(rows, columns=["variable", "role", "meaning", "range"])
    return frame[["variable", "role", *(name for name in ("meaning", "range") if frame[name].any())]]


def _range(drawn: list | tuple) -> str:
    kinds = [LABELS.get(part, part) for part in drawn if isinstance(part, str)]
    if drawn[0] == "above":  # another input, and the largest value
        return f"above {drawn[1]}, at most {drawn[2]:g}"
    low, high = (f"{part:g}" for part in drawn if not isinstance(part, str))
    return f"{low} to {high}" + f" ({', '.join(kinds)})" * bool(kinds)


def answers(problem: str) -> pd.DataFrame:
    """The runs on a problem with answer and scores, over all tables that have both; the same answer is one row.

    Returns
    -------
    DataFrame
        Columns: method, settings, noise, seeds, status, reason, solution (a mapping, or None), evaluations, and the
        scores, as means over the seeds.
    """
    parts = [_merged(part) for part in runs().get(problem, ())]
    empty = pd.DataFrame(columns=["method", "noise", "status", "reason", "solution", "seeds"])
    return pd.concat(parts, ignore_index=True) if parts else empty


@functools.cache
def runs() -> dict[str, list[pd.DataFrame]]:
    """Problem -> its runs with answer and scores, a frame for each table."""
    found: dict[str, list[pd.DataFrame]] = {}
    for key, study in studies().items():
        for path in sorted((root() / "tables").glob(f"{key}_*scores.csv")) if study["problems"] else ():
            frame = answered(path)
            if "solution" in frame:
                for problem, part in frame.groupby("problem", sort=False):
                    found.setdefault(str(problem), []).append(part)
    return found


def _merged(part: pd.DataFrame) -> pd.DataFrame:
    """One row for each method, setting, noise and answer."""
    part = part.assign(text=part["solution"].map(str), reason=part.get("reason", ""))
    part["evaluations"] = part.get("evaluations", np.nan)
    scores = [name for name in part if name not in NO_SCORES and pd.api.types.is_numeric_dtype(part[name])]
    first = ["reason", "solution", "evaluations", *scores]
    part["set"] = part["settings"].map(str)
    rows = part.groupby(["method", "set", "noise", "status", "text"], sort=False, dropna=False)
    merged = rows[first].first() if part["seed"].nunique() == 1 else rows[first[:3]].first().join(rows[scores].mean())
    merged["seeds"] = rows["seed"].agg(lambda seeds: ", ".join(map(str, sorted(set(seeds)))))
    return merged.reset_index().drop(columns=["text", "set"]).dropna(axis=1, how="all")


def scores(frame: pd.DataFrame) -> list[str]:
    """The columns of `answers` that are scores."""
    return [name for name in frame if name not in NO_SCORES and name not in ("seeds", "snr_db")]


def finding(study: Mapping[str, Any]) -> str:
    """The sentence of study.yaml on what came out, with the present facts."""
    return study.get("finding", "").format(fact=texts())


@functools.cache
def printed_cells() -> dict[str, pd.DataFrame]:
    """Problem -> the rows of the ledger that are about it, by the name that the published tables give it."""
    ledger, found = table("ledger"), {}
    for study in studies().values():
        mine = ledger[ledger["notebook"].isin(study["notebooks"])]
        for prefix in study["problems"]:
            by_name = {printed_name(problem, study): problem.id for problem in _all(prefix)}
            key = mine["row"].map(by_name).fillna(mine["column"].str.split(" ").str[0].map(by_name))
            for problem, part in mine[key.notna()].groupby(key):
                found[str(problem)] = part
    return found


def printed_name(problem: Problem, study: Mapping[str, Any]) -> str:
    """What the published tables of a study call a problem."""
    pattern = study.get("printed_names", {}).get(problem.study, "{name}")
    fields = {"number": getattr(problem, "number", ""), "title": getattr(problem, "title", "")}
    return pattern.format(name=problem.id.partition("/")[2], subset=problem.subset, **fields)


def _all(prefix: str) -> list[Problem]:
    from ..problems import problem, problems

    return [problem(id) for id in problems(prefix)]


def methods() -> pd.DataFrame:
    """Every method, of this library and of the papers: key, name, papers, status, reason, accepts and reference."""
    printed = catalogue().set_index("ours")
    rows = []
    for name, cls in registry().items():
        (now, reason), accepts = status(cls), [str(getattr(kind, "kind", "")) for kind in cls.accepts]
        rows.append(
            {"key": name, "name": names()[name], "papers": printed["papers"].get(name, "")}
            | {"status": now, "reason": reason}
            | {"accepts": ", ".join(accepts), "reference": cls.reference}
        )
    for row in catalogue()[catalogue()["ours"] == ""].to_dict("records"):
        key = "".join(letter if letter.isalnum() else "-" for letter in row["method"].lower())
        rows.append(
            {"key": key, "name": row["method"], "papers": row["papers"], "status": "not here", "reason": row["reason"]}
        )
    return pd.DataFrame(rows).fillna("")

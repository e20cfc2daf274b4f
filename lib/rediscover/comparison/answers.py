"""Scored answers that are kept: of one's own runs in build/own, of others in records/ and tables/."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from .. import runs
from ..expressions import ExpressionError, parse
from ..methods import method, registry
from ..problems import did_you_mean
from ..runs import schema, scoring, selection
from ..studies import asked
from ..system import record_files
from ..system.committed import committed, place
from ..system.studies import measures_of, owner, studies


def class_name(method: str) -> str:
    """The name of a class for a method's name."""
    return "".join(part.capitalize() for part in method.split("_"))


def answers(name: str, study: str, ids: Sequence[str], *, own: bool = False) -> pd.DataFrame:
    """Scored answers of a method that are there already, with the column origin.

    Of records/, tables/ and build/own the place counts that has most of them, in this order; with `own` the last one.

    Raises
    ------
    LookupError
        If there are none.
    """
    mine = kept(name, study, list(ids)) if own else None
    found = [mine] if mine is not None else [look(name, study, list(ids)) for look in (_recorded, _tabulated, kept)]
    most = max(found, key=lambda frame: 0 if frame is None else frame["problem"].nunique())
    if most is not None and len(most):
        return most.assign(method=name, allowed=most.get("allowed", float("nan")))
    near = did_you_mean(name, {*registry(), *(path.stem for path in folder(study).glob("*.csv"))} - {name})
    asked_for = name if name in registry() else f"./{name}.py:{class_name(name)}"
    remedy = f": `rediscover run --methods {asked_for} --study {study}` makes them"
    raise LookupError(f"no answers of {name!r} to these problems of {study}{near or remedy}")


def allowed(grid: dict[str, Any], name: str) -> int:
    """Evaluations that a run of a method may use, by the arguments of `runs.grid` that `studies.asked` gives."""
    return int((grid.get("evaluations") or {}).get(name, grid["budget"].evaluations))


def at(name: str, study: str, ids: Sequence[str], evaluations: int) -> pd.DataFrame:
    """Runs of a method that are recorded at another number of evaluations, as `runs.kept` gives them; maybe none."""
    grid = asked(list(ids), [name], profile_of(study))
    grid.pop("store")
    found = runs.kept(runs.plan(**(grid | {"evaluations": {name: evaluations}})))
    return found.assign(allowed=evaluations)


def scored_records(found: pd.DataFrame, study: str, ids: Sequence[str]) -> pd.DataFrame:
    """Recorded runs with their scores, which are computed here and kept."""
    name = found["method"].iloc[0]
    wanted = asked(list(ids), [name], profile_of(study))["problems"]
    options = {"store": folder(study) / "runs.sqlite"}
    more = found[["origin", "allowed"]]
    return scored(found.drop(columns=["origin", "allowed"]), wanted, options).assign(**more)


def profile_of(study: str) -> str:
    """The profile that others were run at: the reference where there are records, else that of the tables."""
    where = record_files.folder()
    if where and any((where / study).glob(f"*{record_files.SUFFIX}")):
        return "reference"
    for notebook in studies()[owner(study)]["notebooks"]:
        path = committed("tables") / f"{notebook}.provenance.json"
        if path.exists():
            return json.loads(path.read_text())["profile"]
    return "reference"


def folder(study: str) -> Path:
    return place() / study


def scored(frame: pd.DataFrame, asked_problems: list, options: dict) -> pd.DataFrame:
    """Rows of a grid with their scores; those of methods that are not available are left out."""
    frame = frame[frame["status"] != "unavailable"]
    if len(frame) and "selection" in (study := studies()[owner(frame["study"].iloc[0])]):
        frame = getattr(selection, study["selection"])(frame, asked_problems)
    scores = scoring.table(frame, asked_problems, **options)
    columns = scores.columns.difference(frame.columns, sort=False)
    sizes = [_size(row) for row in frame.itertuples()]
    about = frame[[*schema.IDENTITY, "reason", "solution", "evaluations", "seconds", "reused"]]
    return pd.concat([about.assign(size=sizes), scores[columns]], axis=1)


def _size(row: Any) -> float:
    """Nodes of all expressions of an answer; NaN where it has none."""
    texts = list((row.solution or {}).values()) if row.status == "ok" else []
    for logic in (False, True):
        with suppress(ExpressionError, TypeError):
            return float(sum(parse(text, logic=logic).size for text in texts)) if texts else float("nan")
    return float("nan")


def keep(rows: pd.DataFrame, name: str, study: str) -> None:
    """Write a method's table, with the rows of earlier runs of the same code to other problems."""
    rows = rows.drop(columns="reused").dropna(axis=1, how="all").assign(code=method(name).version)
    before = kept(name, study, None)
    if before is not None:
        same = before[before["code"] == rows["code"].iloc[0]].drop(columns="origin")
        done = set(zip(rows["problem"], rows["seed"], strict=True))
        rest = [pair not in done for pair in zip(same["problem"], same["seed"], strict=True)]
        rows = pd.concat([rows, same[rest]]) if any(rest) else rows
    schema.to_csv(rows, folder(study) / f"{name}.csv")


def kept(name: str, study: str, ids: list[str] | None) -> pd.DataFrame | None:
    path = folder(study) / f"{name}.csv"
    if not path.exists():
        return None
    frame = schema.read_csv(path).assign(origin=f"build/own/{study}/{name}.csv")
    return frame if ids is None else frame[frame["problem"].isin(ids)]


def _recorded(name: str, study: str, ids: list[str]) -> pd.DataFrame | None:
    """Answers in records/ (or in the stores of the notebooks), scored here."""
    if name not in registry():
        return None
    grid = asked(ids, [name], profile_of(study))
    found = runs.kept(runs.plan(**{key: value for key, value in grid.items() if key != "store"}), grid["store"])
    return scored_records(found.assign(allowed=allowed(grid, name)), study, ids) if len(found) else None


def _tabulated(name: str, study: str, ids: list[str]) -> pd.DataFrame | None:
    """Scores of the committed tables, on clean data."""
    rule = measures_of(study)
    path = committed("tables") / f"{rule['table']}.csv"
    if not path.exists():
        return None
    frame = schema.answered(path)
    frame = frame[(frame["method"] == name) & frame["problem"].isin(ids) & (frame["noise"] == 0)]
    frame = frame[frame["status"] != "unavailable"].drop_duplicates(["problem", "seed"])
    if not len(frame):
        return None
    sizes = [_size(row) for row in frame.itertuples()] if "solution" in frame else float("nan")
    most = allowed(asked(ids, [name], profile_of(study)), name) if name in registry() else float("nan")
    return frame.assign(size=sizes, allowed=most, origin=f"tables/{path.name}")

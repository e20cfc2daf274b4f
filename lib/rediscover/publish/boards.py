"""The leaderboards: methods here, one's own and those of the papers by one score, and what each board rests on."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..methods import registry
from ..methods.bidirectional import Bidirectional
from ..methods.bidirectional_first import BidirectionalFirst
from ..report.ablations import FIRST
from ..report.names import in_words
from ..report.papers import published
from ..report.plots import order
from ..report.summaries import interval, known_numbers, share
from ..report.tables import CONTROLS
from ..report.verdicts import origins
from ..runs.schema import answered, read_csv
from ..system import record_files
from ..system.paths import root
from . import collected, own_rows

KNOWN = 0.9  # share of a board's runs whose cost has to be known for a median of it
SAYS: dict[str, Any] = yaml.safe_load((collected.HERE / "boards.yaml").read_text(encoding="utf-8"))


def leaderboard(board: Mapping[str, Any]) -> pd.DataFrame:
    """Methods here and rows of the paper by one score, best first; a problem without an answer counts 0.

    Parameters
    ----------
    board : what study.yaml says of it: scores, where, score, at_least, printed

    Returns
    -------
    DataFrame
        Columns: rank (empty for controls and for what was first recorded), method (its name here, or empty), name, from
        (empty for methods here, yours, submitted or published), value, low, high (percent), problems, answered, seeds,
        evaluations, seconds (medians of the board's own runs; none where fewer than `KNOWN` of them are known),
        printed.
    """
    frame, names = _scored(board), collected.names()
    rows: list[dict[str, Any]] = []
    for method in order(frame["method"]):
        part = frame[frame["method"] == method]
        cost = {name: _median(part, name) for name in ("evaluations", "seconds")}
        rows.append({"method": method, "name": names.get(method, method), "from": "", **_row(part), **cost})
    rows += [
        {"method": "", **_row(part), **about} for about, part in own_rows.of_board(board, frame["problem"].unique())
    ]
    rows += [
        {"method": "", "name": name, "from": "published", "value": value, "printed": True}
        for name, value in _printed(board.get("printed", {}))
    ]
    frame = pd.DataFrame(rows).sort_values("value", ascending=False, kind="stable", ignore_index=True)
    compete = ~frame["method"].isin((*CONTROLS, BidirectionalFirst.name))
    frame.insert(0, "rank", frame["value"].where(compete).round(6).rank(ascending=False, method="min"))
    return frame


def _row(part: pd.DataFrame) -> dict[str, Any]:
    """What the runs of one method come to on a board, with Wilson's interval where every problem is 0 or 1."""
    each = part.groupby("problem")["value"].mean()
    found = share(each) if each.isin((0, 1)).all() else interval(each)
    return {
        "problems": part["problem"].nunique(),
        "answered": part.loc[part["status"] == "ok", "problem"].nunique(),
        **{bound: 100 * found[bound] for bound in ("value", "low", "high")},
        "seeds": part["seed"].nunique(),
        "printed": False,
    }


def _printed(about: Mapping[str, Any]) -> list[tuple[str, float]]:
    if not about:
        return []
    rows = pd.concat([published(name) for name in about.get("tables") or [about["table"]]])
    for column, value in about.get("where", {}).items():
        rows = rows[rows[column] == value]
    rows = rows.assign(label=[" ".join(about["label"].format(**row).split()) for row in rows.to_dict("records")])
    rows = rows[~rows["label"].isin(about.get("without", []))]
    if "equals" in about:
        [(column, wanted)] = about["equals"].items()
        return [
            (str(name), 100 * share) for name, share in (rows[column] == wanted).groupby(rows["label"]).mean().items()
        ]
    values = about["scale"] * pd.to_numeric(rows["value"], errors="coerce")
    return [(name, value) for name, value in zip(rows["label"], values, strict=True) if not np.isnan(value)]


def _scored(board: Mapping[str, Any]) -> pd.DataFrame:
    """The runs of a board with value, evaluations and seconds, those of our own method as first recorded among them."""
    path, own = (root() / "tables" / f"{name}.csv" for name in (board["scores"], _own(board["scores"])))
    parts = [_costed(path)]
    if own.exists() and (parts[0]["method"] == Bidirectional.name).any():
        parts.append(_costed(own).loc[lambda rows: rows["variant"] == FIRST])
    kept: list[pd.DataFrame] = []
    for frame in parts:
        for column, value in board.get("where", {}).items():
            frame = frame[frame[column].map(_level) == str(value)]
        kept.append(frame[frame["problem"].isin(kept[0]["problem"]) & (frame["noise"] == 0)] if kept else frame)
    whole = pd.concat(kept, ignore_index=True)
    return whole.assign(value=own_rows.values(board, whole[board["score"]]))


def _own(scores: str) -> str:
    return scores.replace("_scores", "_own_scores")


def _level(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _median(part: pd.DataFrame, column: str) -> float | None:
    known = known_numbers(part, column)
    return float(known.median()) if len(known) and len(known) >= KNOWN * len(part) else None


@functools.cache
def _costed(path: Path) -> pd.DataFrame:
    """A table of scores; of each run the evaluations, by the table of runs or by records/, and seconds, by records/."""
    frame, ran = read_csv(path), answered(path)
    by = ["problem", "method", "set", "noise", "seed"]
    told = ran.assign(set=ran["settings"].map(str)).drop_duplicates(by)
    told = told.reindex(columns=[*by, *({"solution", "evaluations"} - {*by})])
    rows = frame.drop(columns={"solution", "evaluations"} & {*frame}).assign(set=frame["settings"].map(str))
    rows = rows.merge(told, on=by, how="left", validate="m:1")
    costs = [_cost(row, path.stem) for row in rows.to_dict("records")]
    counted = pd.to_numeric(rows["evaluations"]).fillna(pd.Series([cost[0] for cost in costs], dtype=float))
    return frame.assign(evaluations=counted, seconds=[cost[1] for cost in costs])


def _cost(row: Mapping[str, Any], scores: str) -> tuple[float, float]:
    """Evaluations and seconds of the record of a run; NaN where there is none."""
    name = str(row["method"])
    if name not in registry():
        return np.nan, np.nan
    asked = {key: row["settings"][key] for key in row["settings"] or {} if key not in registry()[name].refuses}
    key = (
        row["problem"],
        float(row["noise"]),
        int(row["seed"]),
        allowed(scores, name),
        json.dumps(asked, sort_keys=True),
    )
    found = _recorded(str(row["problem"]).partition("/")[0], name).get(key, [])
    same = [line for line in found if row["solution"] in [each["solution"] for each in line["candidates"]]]
    lines = same or found  # the same problem with other data, such as dummy variables, has other answers
    if not lines:
        return np.nan, np.nan
    used = [line["candidates"][0].get("evaluations") for line in lines if line["candidates"]]
    counted = [each for each in used if each is not None]
    return (float(counted[0]) if counted else np.nan), float(np.median([line["seconds"] for line in lines]))


@functools.cache
def _recorded(study: str, method: str) -> dict[tuple, list[dict]]:
    """Problem, noise, seed, evaluations allowed and settings -> records of a method on the problems of a study."""
    found: dict[tuple, list[dict]] = {}
    where = record_files.folder()
    for line in record_files.load(where / study / f"{method}{record_files.SUFFIX}", where) if where else ():
        settings = json.dumps(line["settings"], sort_keys=True)
        key = (line["problem"], line["noise"], line["seed"], line["evaluations"], settings)
        found.setdefault(key, []).append(line)
    return found


@functools.cache
def _parameters(scores: str) -> dict[str, Any]:
    """Parameters of the notebook that wrote a table."""
    maker = origins(root() / "tables")[f"{scores}.csv"]
    path = root() / "tables" / f"{maker}.provenance.json"
    return json.loads(path.read_text(encoding="utf-8"))["parameters"]


def allowed(scores: str, method: str) -> int:
    """Evaluations that each run of a method in a table of scores was allowed."""
    known = _parameters(scores)
    return int(known.get("evaluations_by_method", {}).get(method, known.get("evaluations", 0)))


def rests_on(board: Mapping[str, Any], frame: pd.DataFrame) -> str:
    """What the rows of a board rest on, in a line.

    Parameters
    ----------
    board : what study.yaml says of it
    frame : from `leaderboard`

    Returns
    -------
    str
    """
    here = frame[~frame["printed"] & (frame["from"] == "")]
    seeds = sorted({int(count) for count in here.loc[~here["method"].isin(CONTROLS), "seeds"]})
    counts = f"{in_words(seeds)} seed{'s' * (seeds != [1])} a method"
    said = [SAYS["here"].format(seeds=counts, rule=SAYS["rules"].get(board["score"], SAYS["rule"]))]
    if frame["printed"].any():
        said.append(SAYS["published"][board["scores"]])
    if (here["method"] == Bidirectional.name).any():
        first, now = (allowed(board["scores"], name) for name in (BidirectionalFirst.name, Bidirectional.name))
        budgets = SAYS["budgets"].format(first=f"{first:,}", now=f"{now:,}") if first != now else ""
        said.append(SAYS["own"].format(name=Bidirectional.name, budgets=budgets))
    return " ".join(said)

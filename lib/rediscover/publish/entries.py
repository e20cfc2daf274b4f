"""The pages of problems, methods and studies: what their templates are given."""

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from ..methods import registry
from ..methods.bidirectional import Bidirectional
from ..methods.bidirectional_first import BidirectionalFirst
from ..problems import Problem
from ..problems import problem as load
from ..report import verdicts
from ..report.papers import catalogue
from ..report.plots import order
from ..system.paths import root
from ..system.studies import owner, studies
from . import collected, facts, pictures, reference, stories, typeset

LEADING = 4  # rows here, and as many of the paper, of a leaderboard on the home page
SHOWN = 4  # scores beside an answer; the others are in a table of their own
HUGE = 60_000  # characters of it, beyond which an answer stays text
LONG = 2500  # characters of typeset mathematics that are shown without being asked for
CELL = ("table", "row", "column", "method", "published", "measured", "verdict", "kind", "reason")
Write = Callable[..., None]


def problems(write: Write, ids: Iterable[str]) -> None:
    """A page for each problem."""
    ids = list(ids)
    printed = collected.printed_cells()
    for place, id in enumerate(ids):
        given = load(id)
        prefix, _, name = id.partition("/")
        around = [other if other.startswith(f"{prefix}/") else "" for other in _around(ids, place)]
        found = collected.title(given)
        frame = collected.answers(id)
        write(
            f"problem/{prefix}/{name}",
            "problem",
            f"{found} ({id})" if found else id,
            "problem",
            problem=given,
            name=found or name,
            study=owner(prefix),
            study_name=studies()[owner(prefix)].get("name", prefix),
            truth=[Markup(text) for text in typeset.equations(given, given.truth)],
            variables=_named(collected.variables(given)),
            pictures=[Markup(picture) for picture in pictures.data(given)],
            passage=Markup(stories.prose(getattr(given, "context", ""))),
            description=Markup(stories.prose(getattr(given, "description", "") or "")),
            printed=printed[id][list(CELL)].to_dict("records") if id in printed else [],
            around=around,
            **_answers(given, frame),
        )


def _around(ids: list[str], place: int) -> tuple[str, str]:
    return ids[place - 1] if place else "", ids[place + 1] if place + 1 < len(ids) else ""


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    shown = [Markup(typeset.mathml(typeset.name(variable))) for variable in frame["variable"]]
    return frame.assign(variable=pd.Series(shown, dtype=object))


def _answers(given: Problem, frame: pd.DataFrame) -> dict[str, Any]:
    """Rows of the answers, the scores beside them, and the other scores."""
    study = studies()[owner(given.study)]
    known = collected.scores(frame)
    leading = [board["score"] for board in study.get("leaderboards", []) if board["score"] in known]
    main = list(dict.fromkeys([*leading, *known]))[:SHOWN]
    place = {method: i for i, method in enumerate(order(frame["method"]))}
    frame = frame.sort_values("method", key=lambda names: names.map(place), kind="stable")
    noisy = frame["noise"].nunique() > 1
    rows = frame.to_dict("records")
    for row in rows:
        row["answer"] = _answer(given, row["solution"])
        row["text"] = _plain(row["solution"] or {})
        row["noise_shown"] = f"{row['noise']:.3g}" if noisy else ""
    columns = {"scores": main, "rest": known, "noisy": noisy, "seeded": frame["seeds"].nunique() > 1}
    return {"answers": rows, **columns}


def _leading(frame: pd.DataFrame) -> pd.DataFrame:
    """The best rows of a leaderboard, of methods here and of the paper, and what ours was as first recorded."""
    ranked = frame[frame["rank"].notna()]
    best = ranked[ranked.groupby("printed").cumcount() < LEADING]
    first = frame["method"] == BidirectionalFirst.name
    return frame[frame.index.isin(best.index) | (first & (best["method"] == Bidirectional.name).any())]


def _plain(solution: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {text}" for name, text in solution.items())


def _answer(given: Problem, solution: Mapping[str, Any] | None) -> Markup:
    if not isinstance(solution, Mapping):
        return Markup("")
    lines = typeset.equations(given, solution, equals=len(solution) > 1)
    shown = "".join(lines)
    if len(shown) > HUGE:
        shown = f"<code>{escape(_plain(solution))}</code>"
    if len(shown) <= LONG:
        return Markup(shown)
    what = f"{len(lines)} equations" if len(lines) > 1 else "a long expression"
    return Markup(f"<details><summary>{what}</summary>{shown}</details>")


def methods(write: Write, boards: Mapping[str, list]) -> None:
    """A page for each method, of this library and of the papers."""
    ledger, runs = collected.table("ledger"), _statuses()
    known, rows = registry(), collected.methods().to_dict("records")
    mentioned = {paper for row in rows for paper in row["papers"].split(", ")}
    catalogues = {paper: catalogue(paper or None) for paper in {"", *mentioned}}
    for row in rows:
        cls = known.get(row["key"])
        lines = [
            {"study": key, "study_name": studies()[key].get("name", key), "title": board["title"], **line}
            for key, found in boards.items()
            for board, frame in found
            for line in frame[(frame["method"] == row["key"])].to_dict("records")
        ]
        labels = _labels(row, catalogues)
        cells = ledger[ledger["method"].isin(labels)]
        write(
            f"method/{row['key']}",
            "method",
            row["name"],
            "method",
            method=row,
            text=Markup(reference.rendered(cls.__doc__ or "")) if cls else "",
            settings=[*dataclasses.asdict(cls()).items()] if cls else [],
            code=_code(cls) if cls else "",
            file=cls.__module__.replace(".", "/") if cls else "",
            results=lines,
            endings=runs[runs["method"] == row["key"]].to_dict("records"),
            printed=cells.groupby(["paper", "table", "verdict"], sort=False).size().reset_index(name="cells"),
            labels=sorted(labels & set(cells["method"])),
        )


def _labels(row: Mapping[str, Any], known: Mapping[str, pd.DataFrame]) -> set[str]:
    """How the papers' tables print a method."""
    printed = pd.concat([known[""], *(known[paper] for paper in filter(None, row["papers"].split(", ")))])
    mine = (printed["method"] == row["name"]) | ((printed["ours"] != "") & (printed["ours"] == row["key"]))
    return set(printed.loc[mine, "label"])


def _code(cls: type) -> Markup:
    from nbconvert.filters import Highlight2HTML

    source = Highlight2HTML()(inspect.getsource(sys.modules[cls.__module__]))
    return Markup(source.replace("<pre>", '<pre tabindex="0">'))


def _statuses() -> pd.DataFrame:
    """How the runs of each method ended, by study: study, method, status, reason, runs."""
    parts = [
        part.reindex(columns=["study", "method", "status", "reason"])
        for parts in collected.runs().values()
        for part in parts
    ]
    whole = pd.concat(parts).fillna("")
    whole["reason"] = whole["reason"].str.replace(r"\b\d[\d.]*\b", "…", regex=True)  # numbers of single problems
    by = ["study", "method", "status", "reason"]
    return whole.groupby(by, sort=False).size().reset_index(name="runs")


def overview(write: Write, boards: Mapping[str, list], questions: Mapping[str, str]) -> None:
    """The page of each study, and the home page."""
    ledger, claims = collected.table("ledger"), collected.table("claims")
    makers, texts, captions = (
        verdicts.origins(root() / "tables"),
        stories.described(),
        stories.captions(root() / "tables"),
    )
    cards = {}
    for key, study in studies().items():
        mine = {name for name, maker in makers.items() if maker in study["notebooks"]}
        tables = [(name, text, _frame(name)) for name, text in captions.items() if f"{name}.csv" in mine]
        cells = ledger[ledger["notebook"].isin(study["notebooks"])]
        cards[key] = {
            "name": study.get("name", key),
            "paper": study.get("paper", ""),
            "finding": collected.finding(study),
            "verdicts": cells["verdict"].value_counts().reindex(verdicts.VERDICTS, fill_value=0).to_dict(),
            "boards": boards[key],
            "leading": [_leading(frame) for _, frame in boards[key][:1]],
        }
        write(
            f"study/{key}",
            "study",
            study.get("name", key),
            "study",
            card=cards[key],
            study=study,
            questions=questions,
            claims=claims[claims["notebook"].isin(study["notebooks"])].to_dict("records"),
            figures={name: text for name, text in texts.items() if f"{name}.png" in mine},
            tables=tables,
        )
    owned = {notebook for study in studies().values() for notebook in study["notebooks"]}
    rest = {name: text for name, text in texts.items() if makers.get(f"{name}.png") not in owned}
    profiles = {json.loads(path.read_text())["profile"] for path in (root() / "tables").glob("*.provenance.json")}
    counts = verdicts.counts(ledger, ["paper"]).reset_index()
    write(
        "index",
        "index",
        "Home",
        cards=cards,
        questions=questions,
        figures=rest,
        profile=" and ".join(sorted(profiles)),
        counts=counts,
        cells=ledger["paper"].isin(claims["paper"]).sum(),
        claims=len(claims),
        facts=facts.texts(),
    )


def _frame(name: str) -> pd.DataFrame:
    frame = pd.read_csv(root() / "tables" / f"{name}.csv", keep_default_na=False, na_values=[""])
    frame = frame.astype(object).where(frame.notna(), "")
    if "method" in frame:
        frame["method"] = frame["method"].map(lambda name: collected.names().get(name, name))
    if "problem" in frame:
        frame["problem"] = [_link(id) for id in frame["problem"]]
    return frame


def _link(id: str) -> Markup:
    known = re.fullmatch(r"\w+/[\w.-]+", str(id))
    return Markup(f'<a href="../problem/{escape(id)}.html">{escape(id)}</a>') if known else escape(id)

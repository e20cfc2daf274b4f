"""The verdicts of all studies together: each published cell and each claim, exactly once.

A *cell* is what a paper prints in one cell of a table (an error with its complexity is one cell, a mean with its
standard deviation two). The studies write ``tables/*_ledger.csv`` and ``tables/*_claims.csv``; what none of them names
is added here with the reason, so that nothing is left out silently.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..problems import did_you_mean
from ..runs import records
from ..runs.schema import KINDS, PRINTED_IN, WHOLE_LEDGER, check
from ..system import record_files
from ..system.studies import studies
from . import papers
from .ledger import CLAIM_VERDICTS, COLUMNS, VERDICTS, as_printed, combine
from .rules import rules

MANY = 20  # names that a message lists
_ABOUT = ("unit", "status", "sd", "basis", "where_in_paper", "dataset_printed", "n_problems")  # not what a cell is


def section(claim: str, notebook: str) -> str:
    """Heading of the notebook's section in which the statistic of a claim is shown; empty if there is none.

    Examples
    --------
    >>> section("SR-14", "20_srsd_edit_distance"), section("SR-01", "20_srsd_edit_distance")
    ('How hard is a law?', 'Verdicts')
    """
    headings: dict[str, Any] = next(
        (s["sections"][notebook] for s in studies().values() if notebook in s["sections"]), {}
    )
    named = [heading for heading, ids in headings.items() if claim in ids and ids != "rest"]
    return next(iter(named + [heading for heading, ids in headings.items() if ids == "rest"]), "")


def cells() -> pd.DataFrame:
    """Every published cell with the verdict that it has as long as no study names it.

    Returns
    -------
    DataFrame with the columns of `schema.WHOLE_LEDGER`; ``source`` is file and line.
    """
    parts = []
    for name, about in papers.tables().iterrows():
        rows = papers.published(name)
        formats = about["cells"] if isinstance(about["cells"], list) else ["{value}"]
        read = [column for column in rows if any(f"{{{column}}}" in text for text in formats)]
        keys = [column for column in rows if column not in (*read, *_ABOUT)]
        subject = next((key for key in ("method", "model") if key in keys), keys[0])
        for place, text in enumerate(formats):
            part = pd.DataFrame(index=rows.index)
            part["published"] = [" ".join(text.format(**row).split()) for row in rows.to_dict("records")]
            part["row"] = rows[subject]
            rest = [" ".join(filter(None, row)) for row in rows[[k for k in keys if k != subject]].to_numpy()]
            part["column"] = rest if len(formats) == 1 else [f"{column} {text[1:-1]}" for column in rest]
            part["method"] = rows[subject] if subject in ("method", "model") else ""
            part["kind"] = _kinds(about, rows, place, part)
            if place:
                part = part[part["published"] != ""]
            parts.append(part.assign(**about[["paper", "table", "describes", "notebook", "printed_in"]]))
    whole = pd.concat(parts).rename_axis("source").reset_index()
    whole = whole.assign(**_unnamed(whole), rule_chosen="none").drop(columns="describes")
    return whole.reindex(columns=["notebook", *COLUMNS, "printed_in", "rule_chosen"])


def _kinds(about: pd.Series, rows: pd.DataFrame, number: int, part: pd.DataFrame) -> pd.Series:
    """Kind of evidence behind the `number`-th number of each row, by the rules that docs/ledger.md states.

    ``kind`` in study.yaml is a kind, one for each number of a row, or a column with the kinds of its values.
    """
    rule = about["kind"][number] if isinstance(about["kind"], list) else about["kind"]
    known = _of_methods(about["paper"], tuple(about["problems"]))
    kinds = part["method"].map(known).astype(object).fillna("rerun")  # of a paper without a catalogue all are missing
    if isinstance(rule, dict):
        [(column, stated)] = rule.items()
        kinds = rows[column].map(stated).fillna(stated.get("rest")).fillna(kinds)
    elif isinstance(rule, str) or isinstance(about["describes"], str):
        kinds = pd.Series(rule if isinstance(rule, str) else "none", part.index)
    return kinds.where(part["published"] != "", "none")


@functools.cache
def _of_methods(paper: str, problems: tuple[str, ...]) -> dict[str, str]:
    """Label in a paper -> kind of evidence: that of the method, and recorded if `records` have answers of it."""
    found = {}
    for line in papers.catalogue(paper.lower()).itertuples():
        kept = bool(line.ours) and any(recorded(prefix, line.ours) for prefix in problems)
        found[line.label] = "recorded" if kept and line.kind == "rerun" else line.kind
    return found


def recorded(prefix: str, method: str) -> bool:
    """Whether `records` have answers of a method to the problems of a prefix."""
    file = records.path({"problem": f"{prefix}/", "method": method})
    return ((record_files.folder() or Path()) / file).exists()


def _unnamed(whole: pd.DataFrame) -> dict[str, np.ndarray]:
    """Verdict and reason of cells that no study names."""
    describes = whole["describes"].notna()
    lost = whole["published"] == ""
    reasons = [
        "a description (" + whole["describes"].astype(str) + "): nothing that a run measures",
        "the paper prints nothing here, or its text lost it",
    ]
    verdicts = np.where(describes | lost, "not comparable", "not run")
    return {"verdict": verdicts, "reason": np.select([describes, lost], reasons, "")}


def ledger(folder: Path, notebooks: list[str]) -> pd.DataFrame:
    """Every published cell with its verdict: that of a study, or why there is none.

    Parameters
    ----------
    folder : where the studies' ``*_ledger.csv`` are.
    notebooks : names of the notebooks that exist; the cells of others are ``not run``.

    Raises
    ------
    FileNotFoundError
        If a notebook that others depend on has not been run in this profile.
    ValueError
        If a study names a cell that is not published, or two studies measured the same cell.
    """
    whole = cells()
    present = [name for name in whole["notebook"].unique() if name in notebooks]
    if absent := [name for name in present if not (folder / f"{name}.provenance.json").exists()]:
        command = "make smoke" if folder.parent.name == "smoke" else "make all"
        raise FileNotFoundError(f"the ledger needs what {', '.join(absent)} wrote into {folder}: run {command} first")
    files = sorted(folder.glob("*_ledger.csv"))
    entries = [pd.read_csv(file, dtype=str, keep_default_na=False).assign(file=file.name) for file in files]
    found = pd.concat([pd.DataFrame(columns=[*COLUMNS, "file"]), *entries], ignore_index=True)
    strangers = found[~found["source"].isin(whole["source"])]
    if len(strangers):
        first = strangers.iloc[0]
        raise ValueError(
            f"{first['file']}: {first['table']}, {first['row']}, {first['column']} has the source {first['source']!r}, "
            "which is no line of a published table; run the study again"
        )
    for frame in (whole, found):  # a line that holds several numbers: told apart by what is printed
        several = frame["source"].isin(whole.loc[whole["source"].duplicated(), "source"])
        frame["cell"] = frame["source"] + np.where(several, " " + frame["published"], "")
    found = _settled(found, "cell", "not run").set_index("cell")
    whole = whole.set_index("cell")
    if not found.index.isin(whole.index).all():
        raise ValueError(f"no such number in the published tables: {found.index.difference(whole.index)[0]!r}")
    missing = (whole["verdict"] == "not run") & ~whole.index.isin(found.index)
    whole.loc[missing, "reason"] = [
        f"{name} does not treat this cell" if name in notebooks else f"the notebook {name} is not part of this version"
        for name in whole.loc[missing, "notebook"]
    ]
    shared = [column for column in COLUMNS if column not in ("paper", "table", "method", "published", "kind")]
    whole[shared] = whole[shared].astype(object)
    whole.loc[found.index, shared] = found[shared]
    stated = found["kind"][found["kind"] != ""]
    whole.loc[stated.index, "kind"] = stated
    whole = _priced(combine([whole.reset_index(drop=True).fillna("")]))
    whole["rule_chosen"] = _chosen(whole)
    for column, known in (("kind", KINDS), ("rule", ["", *rules()]), ("printed_in", PRINTED_IN)):
        if wrong := set(whole[column]) - set(known):
            raise ValueError(f"{column} {sorted(wrong)[0]!r} is not known (known: {', '.join(known)})")
    return check(whole, WHOLE_LEDGER)


def _priced(whole: pd.DataFrame) -> pd.DataFrame:
    """The reason of a cell that was not run with what running it takes, where ``takes`` in study.yaml says so."""
    takes = papers.tables()["takes"].dropna()
    prices = whole["source"].str.partition(".")[0].map(takes)
    for row in np.flatnonzero((whole["verdict"] == "not run") & prices.notna()):
        reason = whole.at[row, "reason"]
        said = next((price for missing, price in prices[row].items() if missing in reason), "")
        whole.at[row, "reason"] = "; it takes ".join(filter(None, [reason, said]))
    return whole


def _chosen(whole: pd.DataFrame) -> list[str]:
    """Of each row, whether its rule or its method's configuration was chosen after outcomes were known."""
    late = {
        (paper, line.label)
        for paper in whole["paper"].unique()
        for line in papers.catalogue(paper.lower()).itertuples()
        if line.chosen == "after"
    }
    stated = {"": "none"} | {key: about["chosen"] for key, about in rules().items()}
    cells = zip(whole["paper"], whole["method"], whole["rule"], strict=True)
    return ["after" if rule and (paper, method) in late else stated[rule] for paper, method, rule in cells]


def claims(folder: Path, notebooks: list[str]) -> pd.DataFrame:
    """Every claim of the five papers with its verdict, the finding behind it, and notebook and section that show it."""
    whole = papers.claims()[["paper", "claim", "direction_or_number", "where_in_paper"]]
    whole = whole.rename(columns={"direction_or_number": "published"})
    makers = origins(folder)
    entries = [
        pd.read_csv(file, dtype=str, keep_default_na=False).assign(notebook=makers.get(file.name, ""))
        for file in sorted(folder.glob("*_claims.csv"))
    ]
    columns = ["claim_id", "verdict", "cells", "as_claimed", "low", "high", "finding", "notebook"]
    found = pd.concat([pd.DataFrame(columns=columns), *entries], ignore_index=True)[columns].fillna("")
    found = _settled(found, "claim_id", "untestable here").set_index("claim_id")
    wrong = set(found["verdict"]) - set(CLAIM_VERDICTS)
    if wrong:
        raise ValueError(f"no such verdict on a claim: {sorted(wrong)[0]!r} (known: {', '.join(CLAIM_VERDICTS)})")
    whole = whole.join(found)
    whole.insert(5, "as_printed", pd.concat(as_printed(key) for key in studies()))
    waiting = papers.tables().groupby("paper")["notebook"].unique()
    for id in whole.index[whole["verdict"].isna()]:
        names = [name for name in waiting[whole.loc[id, "paper"]]]
        absent = [name for name in names if name not in notebooks]
        why = f"{', '.join(absent)} not part of this version" if absent else f"not treated in {', '.join(names)}"
        whole.loc[id, ["verdict", "finding", "notebook"]] = "untestable here", why, ""
    whole["section"] = [section(id, notebook) for id, notebook in whole["notebook"].items()]
    return whole.fillna("").reset_index()


def _settled(entries: pd.DataFrame, key: str, open_verdict: str) -> pd.DataFrame:
    """One entry for each key: that of the study which has a verdict, if another leaves it open."""
    decided = entries[entries["verdict"] != open_verdict]
    twice = decided[decided[key].duplicated()]
    if len(twice):
        raise ValueError(f"{twice[key].iloc[0]}: two studies have a verdict on it")
    return pd.concat([decided, entries[~entries[key].isin(decided[key])]]).drop_duplicates(key)


def origins(folder: Path) -> dict[str, str]:
    """File name -> notebook that wrote it, from the provenance files in `folder`."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.provenance.json"))]
    return {Path(file).name: record["notebook"] for record in records for file in record["files"]}


def counts(whole: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How many cells have which verdict, in the order of `whole`; the last column is their number."""
    table = pd.crosstab([whole[name] for name in by], whole["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    seen = whole[by].drop_duplicates()
    table = table.loc[list(seen.itertuples(index=False, name=None)) if len(by) > 1 else seen[by[0]]]
    return table.assign(cells=table.sum(axis=1)).rename_axis(columns=None)


def claim_counts(whole: pd.DataFrame) -> pd.DataFrame:
    """How many claims of each paper have which verdict."""
    table = pd.crosstab(whole["paper"], whole["verdict"]).reindex(columns=CLAIM_VERDICTS, fill_value=0)
    return table.loc[whole["paper"].unique()].rename_axis(columns=None)


def swaps(whole: pd.DataFrame) -> pd.DataFrame:
    """Of each table, how many values printed for other methods would also have passed where one was reproduced.

    Parameters
    ----------
    whole : DataFrame
        Columns: paper, table, verdict; others and others_passing, as `ledger.judged` counts them.

    Returns
    -------
    DataFrame
        Index: paper, table; of tables in which a reproduced cell has others beside it. Columns: reproduced (cells),
        others (values of other methods in the same places), swaps (those of them that pass), share (of others, 0 to 1)
        and excluding (reproduced cells with others beside them, none of which would have passed).
    """
    back = whole[whole["verdict"] == "reproduced"]
    others, passing = (pd.to_numeric(back[name]).fillna(0) for name in ("others", "others_passing"))
    back = back.assign(others=others, swaps=passing, excluding=(others > 0) & (passing == 0), reproduced=1)
    names = ["reproduced", "others", "swaps", "excluding"]
    table = back.groupby(["paper", "table"], sort=False)[names].sum().astype(int).query("others > 0")
    table.insert(3, "share", table["swaps"] / table["others"])
    return table


def applied(whole: pd.DataFrame) -> pd.DataFrame:
    """What counted as the same, for how many cells it was asked and with what outcome, and why it is the right rule."""
    asked = whole[(whole["rule"] != "") & whole["verdict"].isin(VERDICTS[:3])]
    frame = asked.groupby(["paper", "rule"], sort=False)["verdict"].value_counts().unstack(fill_value=0)
    frame = frame.reindex(columns=VERDICTS[:3], fill_value=0).rename_axis(columns=None)
    about = [rules()[rule] for rule in frame.index.get_level_values("rule")]
    return frame.assign(**{name: [rule[name] for rule in about] for name in ("chosen", "words", "because")})


def addresses(sources: pd.Series) -> pd.Series:
    """The id of each row, made of its source: file and line, and of a line's second number on its place in the line.

    Other rows do not enter, so an id stays when rows are added.

    Raises
    ------
    ValueError
        If two rows would have the same.

    Examples
    --------
    >>> addresses(pd.Series(["a.csv:2", "a.csv:3", "a.csv:2"])).tolist()
    ['a-2', 'a-3', 'a-2-2']
    """
    place = sources.groupby(sources).cumcount() + 1
    ids = sources.str.replace(r"\.csv:(\d+)$", r"-\1", regex=True)
    ids += ("-" + place.astype(str)).where(place > 1, "")
    if not ids.is_unique:
        raise ValueError(f"two rows of the ledger have the address {ids[ids.duplicated()].iloc[0]!r}")
    return ids


def entries(ledger: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    """Rows of the ledger whose columns have the wanted values, whatever their case, with their id.

    Parameters
    ----------
    ledger : ledger.csv, all of it text
    wanted : id (`addresses`), paper, table, row, method, verdict or kind -> value; one after another

    Returns
    -------
    DataFrame of text

    Raises
    ------
    ValueError
        If a column has no such value, in the rows that those before it leave.
    """
    rows, where = ledger.assign(id=addresses(ledger["source"])), "in the ledger"
    for column, value in wanted.items():
        known = VERDICTS if column == "verdict" else {name.lower(): name for name in rows[column] if name}.values()
        if value.lower() not in {name.lower() for name in known}:
            near = did_you_mean(value, list(known)) if len(known) > MANY else f" (known: {', '.join(known)})"
            raise ValueError(f"no {column} {value!r} {where}{near}")
        rows, where = rows[rows[column].str.lower() == value.lower()], f"where {column} is {value}"
    return rows

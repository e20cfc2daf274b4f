"""The generated parts of pages, with the facts that they state, and README.md, without marks, from its template.

Of each study docs/results.md shows the table that its study.yaml names as ``headline``: a CSV file of ready texts,
which the notebook writes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..report.audits import audits as found_in
from ..report.facts import table
from ..report.papers import catalogue
from ..system.paths import root
from ..system.studies import studies
from . import facts


def results() -> str:
    """What came out: verdicts by paper, then title and table, folded, of each study that has written its headline."""
    cells, claims = (table(f"{name}_papers").set_index("paper") for name in ("ledger", "claims"))
    shown = cells.index.isin(claims.index) | (cells[["reproduced", "differs", "undecided"]].sum(axis=1) > 0)
    others, cells = cells.loc[~shown, "cells"].sum(), cells[shown]
    whole = pd.concat([cells, cells.sum().to_frame("all").T]).join(pd.concat([claims, claims.sum().to_frame("all").T]))
    whole.columns = [f"claims: {name}" if name in claims else name for name in whole]
    verdicts = _markdown(whole.rename_axis("paper").reset_index())
    parts = [f"**Verdicts** on published numbers, copies among them, and claims (notebook 90):\n\n{verdicts}"]
    parts += (
        [f"The ledger has {others} numbers of other sources, too; none of them is called reproduced or differing."]
        if others
        else []
    )
    kinds = _folded(_markdown(table("ledger_kinds").rename(columns={"kind": "kind of evidence"})))
    said = "([ledger.md](ledger.md) says what each kind is)"
    parts.append(f"**What stands behind all rows**, those of other sources too {said}:\n\n{kinds}")
    for headline in (study["headline"] for study in studies().values() if "headline" in study):
        path = root() / "tables" / f"{headline['table']}.csv"
        if path.exists():
            frame, title = pd.read_csv(path, dtype=str, keep_default_na=False), headline["title"]
            parts.append(f"{title.format(fact=facts.texts())}:\n\n{_folded(_markdown(frame))}")
    return "\n\n".join(parts)


def _folded(table: str) -> str:
    return f"<details><summary>{len(table.splitlines()) - 2} rows</summary>\n\n{table}\n\n</details>"


def methods() -> str:
    """Every method of the papers, whether it runs, whether that is the package itself, and what it has less of."""
    frame = catalogue().rename(columns={"ours": "name here", "less": "less than in the paper"})
    frame["what runs"] = [_runs(row) for row in frame.to_dict("records")]
    shown = ["method", "papers", "status", "name here", "what runs", "less than in the paper", "reason"]
    return _markdown(frame[shown])


def _runs(row: Mapping[str, Any]) -> str:
    if not row["name here"]:
        return ""
    if row["kind"] == "reimplementation":
        return "our own code" + f"; the package as `{row['package']}`" * bool(row["package"])
    return "the model itself" if row["status"] == "runs with an endpoint" else "the package itself"


def profiles() -> str:
    """What each profile costs, from tables/cost.csv."""
    rows = []
    for profile, part in table("cost").groupby("profile", sort=False):
        whole, each = part[part["notebook"] == "all"].iloc[0], part[part["notebook"] != "all"]
        longest = each.loc[each["minutes"].idxmax()]
        slowest = f"{longest['notebook']}, {longest['minutes']:.1f} minutes"
        rows.append([profile, f"{whole['minutes']:.1f}", slowest, f"{whole['gigabytes']:.1f}"])
    columns = ["profile", "minutes in all", "longest notebook", "peak memory, GB"]
    return _markdown(pd.DataFrame(rows, columns=columns))


def audits() -> str:
    """The audits of all notebooks by their titles, with the number of the cell that shows each."""
    found = found_in(root() / "notebooks")
    return _markdown(found[["notebook", "number", "cell", "title"]])


SECTIONS = {"results": results, "methods": methods, "profiles": profiles, "audits.index": audits}
TEMPLATE = "docs/README.md.in"
PAGES = (TEMPLATE, "docs/results.md", "docs/methods.md", "docs/artifact.md")


def sections(path: Path) -> dict[str, str]:
    """The generated sections for which a page or a notebook has marks, as texts between them."""
    text = path.read_text(encoding="utf-8")
    return {name: f"\n{section()}\n" for name, section in SECTIONS.items() if f"<!--{name}-->" in text}


def generated(path: Path) -> str:
    """A page with the present facts and sections between their marks (`rediscover.publish.facts.filled`)."""
    return facts.filled(path.read_text(encoding="utf-8"), facts.texts() | sections(path))


def front() -> str:
    """README.md: its template with present facts, and no marks, so that its source is read as easily as the page."""
    return facts.MARKED.sub(r"\2", generated(root() / TEMPLATE))


def _markdown(frame: pd.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * frame.shape[1]]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines)

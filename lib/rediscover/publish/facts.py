r"""Named facts: each number that README, paper and essays state is computed in one place, from tables/.

A study computes its own in ``studies/<key>/facts.py``, what is about all of them is here, and tables/facts.csv has them
all. Prose has a fact's text between marks that no reader sees, ``<!--surfaces.count-->183<!--/-->``, and paper/main.tex
asks for it by ``\fact{surfaces.count}``. This module, run, writes the present texts between the marks of the essays
(``make facts``).
"""

import difflib
import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..report.facts import Interval, setting, shown, table
from ..report.ledger import CLAIM_VERDICTS, VERDICTS
from ..report.tables import TABLE_DIGITS
from ..system.paths import root
from ..system.studies import FOLDER, studies

MARKED = re.compile(r"<!--([^/\s][^\s>]*)-->((?:(?!<!--).)*)<!--/-->", re.S)
LEFT = re.compile(r"<!--(?:/|[^/\s>][^\s>]*)-->")  # a mark without its other half
LIMITS = ("evaluations", "seconds", "memory_mb", "max_rows")


def of_all_studies() -> dict[str, Any]:
    """Verdicts by paper, audits, cost, and the limits of each notebook's runs."""
    ledger, claims, cost = table("ledger"), table("claims"), table("cost").query("profile == 'quick'")
    found: dict[str, Any] = {
        "audits": len(table("audits")),
        "claims.papers": (claims["paper"].nunique(), "word"),
        "ledger.share_not_run": ((ledger["verdict"] == "not run").mean(), ".0%"),
        "ledger.share_exact": ((ledger.query("verdict == 'reproduced'")["tolerance"] == "exact").mean(), ".0%"),
        "cost.minutes": (cost["minutes"].sum(), ".0f"),
        "cost.gigabytes": (cost["gigabytes"].max(), 2),
    }
    for name, frame, verdicts in (("ledger", ledger, VERDICTS), ("claims", claims, CLAIM_VERDICTS)):
        parts = {paper: _counts(part, verdicts) for paper, part in frame.groupby("paper")}
        found[name] = _counts(frame, verdicts) | parts
    for notebook in (path.name.partition(".")[0] for path in sorted((root() / "tables").glob("*.provenance.json"))):
        found[notebook] = {name: limit for name in LIMITS if (limit := setting(notebook, name))}
    return found


def _counts(frame, verdicts):
    return {"count": len(frame)} | {v.replace(" ", "_"): (frame["verdict"] == v).sum() for v in verdicts}


def computed() -> pd.DataFrame:
    """Every fact from the tables there are: fact, value (empty for a text), text, and where it is computed."""
    sources = {"publish/facts.py": of_all_studies()}
    for key in studies():
        if (FOLDER / key / "facts.py").exists():
            own = importlib.import_module(f"rediscover.studies.{key}.facts").facts()
            sources[f"studies/{key}/facts.py"] = {key: own}
    rows = []
    for source, found in sources.items():
        for name, entry in _flat(found):
            value, form = entry if type(entry) is tuple else (entry, None)
            number = value.value if isinstance(value, Interval) else value
            number = "" if isinstance(value, str) else f"{number:.{TABLE_DIGITS}g}"
            try:
                rows.append({"fact": name, "value": number, "text": shown(value, form), "computed_in": source})
            except (ValueError, IndexError) as error:
                raise ValueError(f"{source}: {name}: {error}") from None
    return pd.DataFrame(rows)


def _flat(found, start=""):
    for name, entry in found.items():
        if isinstance(entry, dict):
            yield from _flat(entry, f"{start}{name}.")
        else:
            yield f"{start}{name}", entry


def texts() -> dict[str, str]:
    """The facts of tables/facts.csv, as prose has them."""
    frame = pd.read_csv(root() / "tables" / "facts.csv", dtype=str, keep_default_na=False)
    return dict(zip(frame["fact"], frame["text"], strict=True))


def filled(text: str, facts: Mapping[str, str]) -> str:
    """Prose with the present text of each fact between its marks, with a capital where there is one.

    Where only line breaks differ, it stays as it stands.

    Raises
    ------
    ValueError
        For a mark that names no fact, or has no other half.

    Examples
    --------
    >>> filled("all <!--toys.count-->7<!--/--> toys", {"toys.count": "8"})
    'all <!--toys.count-->8<!--/--> toys'
    """
    if stray := LEFT.search(MARKED.sub("", text)):
        raise ValueError(f"{stray[0]} stands alone: a fact's text is between <!--its.name--> and <!--/-->")

    def now(match):
        name, standing = match.groups()
        if name not in facts:
            like = difflib.get_close_matches(name, facts, n=1)
            raise ValueError(f"no fact is called {name!r}" + "".join(f"; did you mean {other!r}?" for other in like))
        present = facts[name]
        if standing[:1].isupper():  # at the start of a sentence, or a name
            present = present[:1].upper() + present[1:]
        same = " ".join(standing.split()) == present
        return match[0] if same else f"<!--{name}-->{present}<!--/-->"

    return MARKED.sub(now, text)


def plain(text: str) -> str:
    """Prose without marks."""
    return LEFT.sub("", text)


def essay(path: Path, facts: Mapping[str, str]) -> str:
    """The file of a notebook, its prose filled.

    Raises
    ------
    ValueError
        As `filled`, with the name of the notebook.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            try:
                cell["source"] = filled("".join(cell["source"]), facts).splitlines(keepends=True)
            except ValueError as error:
                raise ValueError(f"{path.name}: {error}") from None
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in sorted((root() / "notebooks").glob("[0-9]*.ipynb")):
        old, new = path.read_text(encoding="utf-8"), essay(path, texts())
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"{path.name}: new numbers in the text; read whether the words still fit")

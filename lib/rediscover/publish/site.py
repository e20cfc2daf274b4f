"""The explorer: pages of studies, problems, methods, the ledger, claims, audits, notebooks and the API.

Static pages that need no server and no network (``make site``). What they show comes from tables/, records/ and the
problems; templates, styles and scripts are in the folder ``pages``.
"""

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from markupsafe import Markup

from ..problems import problem, problems
from ..report.ledger import CLAIM_VERDICTS
from ..report.tables import number
from ..runs.schema import KINDS
from ..system import arguments
from ..system.paths import root
from ..system.studies import owner, studies
from ..system.writing import write_text
from . import boards, collected, croissant, entries, guides, ledger_rows, reference, stories, typeset

HERE = collected.HERE
PARTS = {"index": "Home", "problems": "Problems", "methods": "Methods", "ledger": "Ledger", "claims": "Claims"}
PARTS |= {"audits": "Audits", "docs/index": "Guides", "api/index": "Reference"}


class Writer:
    """Writes pages into a folder and remembers them for the search."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[tuple[str, str, str]] = []
        loader = jinja2.FileSystemLoader(HERE)
        self.environment = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self.environment.filters |= {"shown": number, "label": collected.label, "digits": ledger_rows.digits}
        self.environment.filters |= {"listed": ledger_rows.listed, "printed": ledger_rows.printed}
        self.environment.globals |= {"parts": PARTS, "names": collected.names(), "kinds": KINDS}
        self.environment.globals |= {"sizes": stories.sizes()}

    def __call__(self, file: str, template: str, title: str, kind: str = "", /, **values: Any) -> None:
        """Write one page; what has a kind is found by the search under its title."""
        path = self.folder / f"{file}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        page = self.environment.get_template(f"{template}.html")
        write_text(path, page.render(here=file, up="../" * file.count("/"), title=title, **values))
        if kind:
            self.found.append((title, kind, f"{file}.html"))

    def index(self) -> None:
        """Write what the search looks through."""
        text = json.dumps(self.found, ensure_ascii=False, separators=(",", ":"))
        write_text(self.folder / "search.js", f"found({text});\n")


def build(folder: Path, only: Iterable[str] | None = None) -> Path:
    """Write all pages and return the first.

    Parameters
    ----------
    folder : Path
        Emptied before.
    only : iterable of str, optional
        Ids of the problems whose pages are wanted; by default all.

    Raises
    ------
    FileNotFoundError
        If there is no ledger yet.
    """
    if not (root() / "tables" / "ledger.csv").exists():
        raise FileNotFoundError("no ledger yet: run `make all` first")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "figures").mkdir(parents=True)
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, folder)
    for picture in (root() / "figures").glob("*.png"):
        shutil.copy(picture, folder / "figures")
    write, chosen = Writer(folder), list(problems() if only is None else only)
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in stories.notebooks()}
    questions = {stem: stories.title(notebook) for stem, notebook in notebooks.items()}
    for stem, notebook in notebooks.items():
        # guides and other notebooks are pages of the site
        body = re.sub(r'(?<=href=")(\.\./docs/[\w-]+|\w+)\.(md|ipynb)', r"\1.html", stories.story(notebook))
        write(f"notebook/{stem}", "notebook", questions[stem], "notebook", body=Markup(body))
    titles = {path.stem: guides.title(path) for path in guides.guides()}
    for path in guides.guides():
        body = guides.rendered(path.read_text(encoding="utf-8"))
        write(f"docs/{path.stem}", "guide", titles[path.stem], "guide", body=body)
    write("docs/index", "guides", "Guides", titles=titles)
    shown = {key: list(map(board, study.get("leaderboards", []))) for key, study in studies().items()}
    entries.overview(write, shown, questions)
    entries.problems(write, chosen)
    entries.methods(write, shown)
    lists(write, chosen)
    ledger_rows.pages(write, questions)
    modules = reference.modules()
    for name, offered in modules.items():
        write(f"api/{name}", "reference", name, "reference", entries=offered, modules=modules)
        write.found += [
            (f"{name}.{entry['name']}", "reference", f"api/{name}.html#{entry['name']}") for entry in offered
        ]
    write("api/index", "reference", "Reference", entries=[], modules=modules)
    write.index()
    return folder / "index.html"


def board(about: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """A leaderboard as pages take it: what is said of it, with what it rests on, and its rows."""
    frame = boards.leaderboard(about)
    return {**about, "rests": boards.rests_on(about, frame)}, frame


def lists(write: Writer, ids: list[str]) -> None:
    """The pages that list problems, methods, claims and audits."""
    rows = [_listed(id) for id in ids]
    order = [study.get("name", key) for key, study in studies().items()]
    rows.sort(key=lambda row: order.index(row["study"]))
    shown = list(dict.fromkeys(row["study"] for row in rows))
    sets = croissant.write_sets(write.folder, ids)
    kinds = sorted({row["kind"] for row in rows})
    write("problems", "problems", "Problems", problems=rows, studies=shown, kinds=kinds, sets=sets)
    write("methods", "methods", "Methods", methods=collected.methods().to_dict("records"))
    claims = collected.table("claims")
    write(
        "claims",
        "claims",
        "Claims",
        claims=claims.to_dict("records"),
        choices={"paper": list(claims["paper"].unique()), "verdict": list(CLAIM_VERDICTS)},
    )
    write.found += [
        (f"{row.claim_id}: {row.claim}", "claim", f"claims.html#text={row.claim_id}") for row in claims.itertuples()
    ]
    audits = _audits()
    write(
        "audits", "audits", "Audits", audits=audits, studies=list(dict.fromkeys(audit["notebook"] for audit in audits))
    )
    write.found += [
        (re.sub("<[^>]*>", "", audit["title"]), "audit", f"audits.html#{audit['anchor']}") for audit in audits
    ]


def _listed(id: str) -> dict[str, Any]:
    given = problem(id)
    equations = typeset.equations(given, given.truth)
    first = equations[0] if len(equations[0]) < entries.LONG else ""
    key = owner(given.study)
    about = {"id": id, "title": collected.title(given), "kind": given.kind, "subset": given.subset}
    study = studies()[key].get("name", key)
    return about | {
        "study": study,
        "equation": Markup(first.replace(' display="block"', "")),
        "more": len(equations) - 1,
    }


def _audits() -> list[dict[str, Any]]:
    from nbconvert.filters import markdown2html

    found = collected.table("audits").to_dict("records")
    for audit in found:
        audit["anchor"] = f"{audit['notebook']}-{audit['number']}"
        for part in ("title", "text"):
            written = markdown2html(stories.drawn(audit[part])).strip()
            audit[part] = Markup(re.sub(r"^<p>(.*)</p>$", r"\1", written, flags=re.S))
    return found


if __name__ == "__main__":
    arguments.none(__doc__)
    print(build(root() / "build" / "site").relative_to(root()))

"""The site: notebooks, results, ledger and audits as static pages that need no network (``make site``)."""

import base64
import html
import io
import json
import re
import shutil
from pathlib import Path

import jinja2
import nbformat
import pandas as pd

from ..report import audits, verdicts
from ..report.ledger import VERDICTS
from ..report.plots import order
from ..report.tables import number
from ..system.paths import root

HERE = Path(__file__).parent / "pages"
PAGES = {"index.html": "Home", "results.html": "Results", "ledger.html": "Ledger", "audits.html": "Audits"}
_MATH = re.compile(r"(`[^`]*`)|(?<!\\)\$\$(.+?)\$\$|(?<!\\)\$(.+?)(?<!\\)\$", flags=re.S)


def build(folder: Path) -> Path:
    """Write all pages and return the first.

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
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in executed()}
    pages = PAGES | {f"{stem}.html": stem.partition("_")[0] for stem in notebooks}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True)
    environment.filters["shown"] = number
    environment.globals["pages"] = pages

    def write(file, template, **values):
        text = environment.get_template(template).render(here=file, **values)
        (folder / file).write_text(text)

    questions = {f"{stem}.html": title(notebook) for stem, notebook in notebooks.items()}
    for (file, question), notebook in zip(questions.items(), notebooks.values(), strict=True):
        write(file, "page.html", title=question, body=jinja2.utils.markupsafe.Markup(story(notebook)))
    parts = (_home() | {"notebooks": questions}, _results(), _ledger(), _audits())
    for (file, name), values in zip(PAGES.items(), parts, strict=True):
        write(file, file, title=name, **values)
    return folder / "index.html"


def executed() -> list[Path]:
    """The notebooks as the reference profile left them, or as they are committed."""
    committed = sorted((root() / "notebooks").glob("[0-9]*.ipynb"))
    executed = [root() / "build" / "reference" / path.name for path in committed]
    return [mine if mine.exists() else path for mine, path in zip(executed, committed, strict=True)]


def title(notebook) -> str:
    """The question that a notebook opens with."""
    return notebook.cells[0].source.splitlines()[0].removeprefix("# ")


def story(notebook) -> str:
    """An executed notebook as an HTML fragment: formulas drawn, pictures described, audits with an anchor each."""
    from nbconvert import HTMLExporter

    texts = described()
    for place, (before, _) in enumerate(audits.pairs(notebook), 1):
        before.source = f'<a id="audit-{place}"></a>\n\n{before.source}'
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = drawn(cell.source)
        elif any("image/png" in output.get("data", {}) for output in cell.outputs):
            named = [texts[name] for name in re.findall(r'"(\w+)"', cell.source) if name in texts]
            pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
            for i, output in enumerate(pictures):
                text = named[min(i, len(named) - 1)] if named else "A picture made by the code above"
                output.metadata["image/png"] = {"alt": text}
    exporter = HTMLExporter(template_name="basic", anchor_link_text="")
    return exporter.from_notebook_node(notebook)[0]


def described() -> dict[str, str]:
    """Figure name -> its text for those who cannot see it."""
    return {path.stem: path.read_text().strip() for path in sorted((root() / "figures").glob("*.txt"))}


def drawn(text: str) -> str:
    """Markdown with each formula as a picture; code keeps its dollar signs, what cannot be drawn is shown as it is."""

    def replace(match):
        code, display, inline = match.groups()
        if code:
            return code
        picture = formula(" ".join((display or inline).split()))
        return f'<span class="display">{picture}</span>' if display else picture

    return _MATH.sub(replace, text)


def formula(tex: str) -> str:
    """A TeX formula as an image within the page (matplotlib's mathtext), or as code if it cannot be drawn."""
    from matplotlib import mathtext, rc_context
    from matplotlib.font_manager import FontProperties

    alternative = html.escape(tex, quote=True)
    known = re.sub(r"\\[lr]Vert", r"\\Vert ", re.sub(r"\\frac(\d)", r"\\frac{\1}", tex))  # what mathtext can read
    file = io.BytesIO()
    font = FontProperties(size=12, math_fontfamily="cm")
    try:
        with rc_context({"figure.facecolor": "none"}):
            depth = mathtext.math_to_image(f"${known}$", file, prop=font, format="svg")
    except ValueError:
        return f'<code class="math">{alternative}</code>'
    source = base64.b64encode(file.getvalue()).decode()
    return (
        f'<img class="math" style="vertical-align: {-depth:.1f}pt" alt="{alternative}" '
        f'src="data:image/svg+xml;base64,{source}">'
    )


def captions(folder: Path) -> dict[str, str]:
    """Table name -> caption, for the tables that a study shows (they have a LaTeX twin)."""
    found = {}
    for path in sorted(folder.glob("*.tex")):
        match = re.search(r"\\caption\{(.*)\}\\label", path.read_text())
        if match and path.with_suffix(".csv").exists():
            found[path.stem] = re.sub(r"\\text\w+\{\}|\\(.)", r"\1", match[1]) or path.stem
    return found


def _home():
    ledger = _read("ledger")
    records = [json.loads(path.read_text()) for path in (root() / "tables").glob("*.provenance.json")]
    profiles = sorted({record["profile"] for record in records})
    return {
        "cells": len(ledger),
        "papers": verdicts.counts(ledger, ["paper"]).reset_index(),
        "audits": len(_read("audits")),
        "chart": described().get("ledger_verdicts"),
        "profile": " and ".join(profiles),
    }


def _results():
    makers = verdicts.origins(root() / "tables")
    texts, shown = described(), captions(root() / "tables")
    results = {study: {"figures": {}, "tables": []} for study in sorted(set(makers.values()))}
    methods = set()
    for name, caption in shown.items():
        frame = pd.read_csv(root() / "tables" / f"{name}.csv", keep_default_na=False, na_values=[""])
        frame = frame.astype(object).where(frame.notna(), "")
        if f"{name}.csv" in makers:
            results[makers[f"{name}.csv"]]["tables"].append((caption, frame))
            methods |= set(frame.get("method", []))
    for name, text in texts.items():
        if f"{name}.png" in makers:
            results[makers[f"{name}.png"]]["figures"][name] = text
    return {"results": results, "studies": list(results), "methods": order(methods)}


def _ledger():
    ledger, claims = _read("ledger"), _read("claims")
    columns = ["paper", "table", "row", "column", "method", "published", "measured", "verdict"]
    columns += ["kind", "reason"]
    judged = ["verdict", "as_printed", "finding"]
    ours = pd.to_numeric(ledger["measured"], errors="coerce")
    ledger["measured"] = ledger["measured"].where(ours.isna(), ours.map(number))
    return {
        "ledger": ledger[columns],
        "claims": claims[["paper", "claim_id", "claim", "published", *judged, "notebook", "section"]],
        "papers": list(ledger["paper"].unique()),
        "methods": sorted(filter(None, ledger["method"].unique()), key=str.lower),
        "verdicts": VERDICTS,
    }


def _audits():
    from nbconvert.filters import markdown2html

    found = _read("audits").to_dict("records")
    for audit in found:
        for part in ("title", "text"):
            written = markdown2html(drawn(audit[part])).strip()
            audit[part] = jinja2.utils.markupsafe.Markup(re.sub(r"^<p>(.*)</p>$", r"\1", written, flags=re.S))
    return {"audits": found, "studies": list(dict.fromkeys(audit["notebook"] for audit in found))}


def _read(name):
    return pd.read_csv(root() / "tables" / f"{name}.csv", dtype=str, keep_default_na=False)


if __name__ == "__main__":
    print(build(root() / "build" / "site").relative_to(root()))

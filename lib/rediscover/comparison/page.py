"""A comparison as one page, LaTeX and CSV (``rediscover report``)."""

import base64
import re
from pathlib import Path
from types import SimpleNamespace

import jinja2

from ..report.tables import Output
from ..runs.schema import to_csv
from ..system.writing import write_text
from .head_to_head import Comparison
from .sections import cell

HERE = Path(__file__).parent


def write(comparison: Comparison, folder: str | Path) -> Path:
    """Write a comparison: ``index.html``, and its tables as CSV and LaTeX and its figure as PDF and PNG beside it.

    Parameters
    ----------
    comparison : Comparison
    folder : made if it is not there

    Returns
    -------
    Path
        Of the page, which needs no other file.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    folder = Path(folder)
    out = Output(SimpleNamespace(folder=folder, pdf=folder / "figures"))
    out.figure(comparison.plot(), "comparison", alt=f"{comparison.mine} beside others: error and size, wins and losses")
    tables = {}
    for section in comparison.sections():
        name = re.sub(r"\W+", "_", section.title).strip("_").lower()
        to_csv(section.csv(), out.tables / f"{name}.csv")
        write_text(out.tables / f"{name}.tex", section.latex(section.title, name))
        tables[section.title] = (name, section.html())
    write_text(out.tables / "comparison.tex", comparison.latex())
    to_csv(comparison.answers, folder / "tables" / "answers.csv")
    measure = comparison.measures[-1]
    each = comparison.answers.pivot_table(measure, ["subset", "problem"], "method", sort=False)[comparison.methods]
    each.columns.name = None
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True)
    picture = base64.b64encode((out.figures / "comparison.png").read_bytes()).decode()
    text = environment.get_template("page.html").render(
        comparison=comparison,
        tables=tables,
        picture=picture,
        notes=comparison.notes,
        measure=comparison.label(measure).partition(",")[0],
        each=each.map(cell).to_html(border=0),
    )
    write_text(folder / "index.html", text)
    return folder / "index.html"

"""A report of what was found: one page, LaTeX, a Python file, and CSV."""

import base64
import io
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from ..system.writing import one_line, write_text
from .constants import as_texts, rounded

HERE = Path(__file__).parent


def write(estimator: Any, folder: Path, source: str) -> Path:
    """Write ``report.html``, ``equation.tex``, ``equation.py``, ``front.csv`` and ``constants.csv``.

    Parameters
    ----------
    estimator : one that is fitted
    folder : made if it is not there
    source : name of the table, for the title

    Returns
    -------
    Path
        Of the page, which needs no other file.
    """
    import sympy

    folder.mkdir(parents=True, exist_ok=True)
    python, latex = estimator.to_python(), estimator.latex()
    picture = io.BytesIO()
    estimator.plot().savefig(picture, format="png", dpi=130)
    formulas = {
        estimator._left_side(output): sympy.mathml(rounded(right).sympy(), printer="presentation")
        for output, right in estimator.expressions_.items()
    }
    front = estimator.equations_.assign(chosen=np.where(estimator.equations_["chosen"], "chosen", ""))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True)
    page = environment.get_template("page.html").render(
        source=source,
        message=estimator.message_,
        formulas=formulas,
        clear=estimator.clear_,
        picture=base64.b64encode(picture.getvalue()).decode(),
        front=_table(front.rename(columns={"chosen": ""}), "{:.4g}"),
        constants=_table(as_texts(estimator.constants_), "{:.6g}"),
        skeletons=estimator.skeletons(),
        python=python,
        latex=latex,
    )
    write_text(folder / "equation.py", python)
    warned = "" if estimator.clear_ else f"% {one_line(estimator.message_.splitlines()[0])}\n"
    formula = f"\\[\n{latex}\n\\]\n" if "\\\\" not in latex else _gathered(latex)
    write_text(folder / "equation.tex", warned + formula)
    write_text(folder / "front.csv", estimator.equations_.to_csv(index=False))
    write_text(folder / "constants.csv", estimator.constants_.to_csv(index=False))
    write_text(folder / "report.html", page)
    return folder / "report.html"


def _table(frame: pd.DataFrame, number: str) -> str:
    words = frame.rename(columns=lambda name: name.replace("_", " "))
    return str(words.to_html(index=False, border=0, float_format=number.format))


def _gathered(latex: str) -> str:
    return f"\\begin{{gather*}}\n{latex}\n\\end{{gather*}}\n"

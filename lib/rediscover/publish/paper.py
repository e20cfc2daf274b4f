r"""The numbers of the paper (``make paper``): each ``\val{...}`` in main.tex is a question to tables/, answered here.

A question reads ``[how] column of table [where column=value and ...] [as format]``:

- ``share of surfaces_recovery where method=operon as percent``: the one value there is;
- ``count rows of ledger where verdict=differs``; ``distinct problem of srsd_scores``; ``sum``, ``mean``, ``median``,
  ``min``, ``max`` of a column, over the numbers in it;
- ``share verdict=differs of ledger as percent``: the share of rows;
- ``rows title; text of audits``: the rows of a tabular;
- ``evaluations of 10_surface_benchmark.provenance``: a parameter of the run that made the tables.

``\claim{SB-01}`` asks for the verdict on a claim.

Formats: ``percent``, ``2 digits`` (significant), ``1 decimals``.
"""

import json
import math
import re
from pathlib import Path

import pandas as pd

from ..report.tables import escape, number
from ..system.paths import root

REDUCTIONS = ("sum", "mean", "median", "min", "max")
HOW = ("count", "distinct", "share", "rows", *REDUCTIONS)
ASKED = re.compile(r"\\val\{([^{}]*)\}")
QUESTION = re.compile(
    rf"(?:(?P<how>{'|'.join(HOW)}) )?(?P<column>.+?) of (?P<table>[\w.]+)"
    r"(?: where (?P<where>.+?))?(?: as (?P<form>.+))?"
)
CONDITION = re.compile(r"([^=!<>]+?)(!=|=|<|>)(.*)")
NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?")
MARKS = {  # in the texts of tables, as patterns
    "−": "$-$",
    "±": r"$\\pm$",
    ">=": r"$\\geq$",
    "<=": r"$\\leq$",
    r"\b(\d[.\d]*)e([-+]?)0*(\d+)\b": r"$\1\\times 10^{\2\3}$",
    r"(?<![\w{])-(?=\d)": "$-$",
    r"(?<=\d)-(?=\d)": "--",
    r"\bR2\b": "$R^2$",
    '"([^"]*)"': r"``\1''",
    "`([^`']+)`(?!`)": r"\\texttt{\1}",
    r"\*([^*]+)\*": r"\\emph{\1}",
}


def numbers(text: str, tables: Path) -> str:
    r"""Definitions of all ``\val{...}`` in a LaTeX text.

    Parameters
    ----------
    text : of main.tex
    tables : folder of the CSV and provenance files; questions to tables that are not there are left open, so that
        LaTeX stops at them unless ``\IfFileExists`` leads around.

    Raises
    ------
    ValueError
        For a question that cannot be read, or has no answer in its table.
    """
    text = re.sub(r"(?<!\\)%.*", "", text.partition(r"\begin{document}")[2])
    text = re.sub(r"\\claim\{(.+?)\}", r"\\val{verdict of claims where claim_id=\1}", text)
    questions = dict.fromkeys(" ".join(key.split()) for key in ASKED.findall(text))
    known = {q: answer(q, tables) for q in questions if _path(q, tables).exists()}
    lines = [rf"\expandafter\def\csname val:{q}\endcsname{{{reply}}}" for q, reply in known.items()]
    return "\n".join([*lines, ""])


def answer(question: str, tables: Path) -> str:
    """The LaTeX text of one answer."""
    asked = _read(question)
    try:
        frame = _table(_path(question, tables))
        for condition in re.split(r" and (?=[^=]*[=<>])", asked["where"]) if asked["where"] else ():
            frame = frame[_holds(frame, condition)]
        return _shown(_value(frame, asked["how"], asked["column"]), asked["form"])
    except (KeyError, ValueError) as problem:
        raise ValueError(rf"\val{{{question}}}: {problem}") from problem


def _read(question):
    found = QUESTION.fullmatch(question)
    if not found:
        raise ValueError(rf"\val{{{question}}}: not of the form [how] column of table [where ...] [as ...]")
    return found


def _path(question, tables):
    name = _read(question)["table"]
    return tables / (f"{name}.json" if name.endswith(".provenance") else f"{name}.csv")


def _table(path) -> pd.DataFrame:
    if path.suffix == ".json":
        return pd.DataFrame([json.loads(path.read_text())["parameters"]])
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _holds(frame, condition):
    column, sign, value = CONDITION.fullmatch(condition).groups()
    if sign in "<>":
        left = pd.to_numeric(frame[column], errors="coerce")
        return left < float(value) if sign == "<" else left > float(value)
    return (frame[column].astype(str) == value) == (sign == "=")


def _value(frame, how, column):
    if how == "count":
        return len(frame)
    if how == "share":
        return float(_holds(frame, column).mean())
    if how == "rows":
        rows = frame[column.split("; ")].itertuples(index=False)
        return r"\nextrow ".join(" & ".join(map(_text, row)) for row in rows) + r" \\"
    if how == "distinct":
        return frame[column].nunique()
    if how in REDUCTIONS:
        result = float(getattr(pd.to_numeric(frame[column][frame[column] != ""]), how)())
        return int(result) if result.is_integer() else result
    values = frame[column].astype(str)
    values = values[values != ""].unique()
    if len(values) != 1:
        raise ValueError(f"{len(values)} values, where one was expected")
    found = values[0]
    return int(found) if found.isdigit() else float(found) if NUMBER.fullmatch(found) else _text(found)


def _shown(value, form) -> str:
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        raise ValueError("no number to show")
    if form == "percent":
        return rf"{100 * value:.0f}\,\%"
    count, _, kind = (form or "3 digits").partition(" ")
    if kind not in ("digits", "decimals"):
        raise ValueError(f"no such format: {form}")
    text = f"{value:.{count}f}" if kind == "decimals" else number(value, int(count))
    mantissa, _, exponent = text.partition("e")
    if exponent:
        return rf"${mantissa}\times 10^{{{int(exponent)}}}$"
    if isinstance(value, int) and abs(value) >= 1000:
        text = f"{value:,}".replace(",", r"\,")
    return f"${text}$" if text.startswith("-") else text


def _text(value) -> str:
    """Text with Markdown's marks as LaTeX; what stands between dollars is mathematics already."""
    parts = re.split(r"(\$[^$]+\$)", str(value))
    for i in range(0, len(parts), 2):
        parts[i] = escape(parts[i])
        for mark, latex in MARKS.items():
            parts[i] = re.sub(mark, latex, parts[i])
    return "".join(parts)


if __name__ == "__main__":
    target = root() / "build" / "paper" / "numbers.tex"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(numbers((root() / "paper" / "main.tex").read_text(), root() / "tables"))

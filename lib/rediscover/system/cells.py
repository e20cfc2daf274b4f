"""Cells of CSV files that a spreadsheet would take for formulas: marked as text where they leave, read as they were.

A name, a reason or an answer may begin with ``=HYPERLINK(...)``, and a spreadsheet that opens the file runs it. An
apostrophe before it says that it is text (OWASP, CSV injection).
"""

import re
from typing import Any

import pandas as pd

# A sign of a formula, behind apostrophes and white space. Plus and minus begin one if a name follows, or anything that
# calls, quotes or compares: ``-0.3 [-0.9, 0.3]`` and ``+, -, *`` are texts in every spreadsheet.
FORMULA = re.compile(r"'*(?:[\t\r\n]|\s*(?:[=@＝＠]|[-+−＋－](?:[\s+-]*[^\W\d]|.*[(|!=@\"'])))", re.DOTALL)


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts, names of columns among them, are no formulas of a spreadsheet.

    Examples
    --------
    >>> marked(pd.DataFrame({"=a": ["=1+1", "-0.5", "-x*y", "'=", "x = 1"]})).to_dict("list")
    {"'=a": ["'=1+1", '-0.5', "'-x*y", "''=", 'x = 1']}
    """

    def mark(text: str) -> str:
        # pandas leaves a carriage return without quotation marks, and the row would end there.
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if is_formula(text) else text

    return _changed(frame, mark)


def unmarked(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame that was `marked`, with lines that end in one sign.

    Examples
    --------
    >>> unmarked(pd.DataFrame({"'=a": ["'=1+1", "-0.5", "'-x*y", "''=", "'x"]})).to_dict("list")
    {'=a': ['=1+1', '-0.5', '-x*y', "'=", "'x"]}
    """
    return _changed(frame, lambda text: text[1:] if text[:1] == "'" and is_formula(text[1:]) else text)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take a text for a formula, or takes a mark for an apostrophe of the text."""
    try:
        float(text)
    except ValueError:
        return FORMULA.match(text) is not None
    return text[:1] in "\t\r\n"


def _changed(frame: pd.DataFrame, change: Any) -> pd.DataFrame:
    def cell(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    texts = {
        i: pd.Series([cell(value) for value in frame.iloc[:, i]], frame.index, kind)
        for i, kind in enumerate(frame.dtypes)
        if not pd.api.types.is_numeric_dtype(kind) and not isinstance(kind, pd.CategoricalDtype)
    }
    columns = [texts.get(i, frame.iloc[:, i]) for i in range(frame.shape[1])]
    found = pd.concat(columns, axis=1) if columns else frame.copy()
    return found.set_axis([cell(name) for name in frame.columns], axis=1)

"""The tables that the committed notebooks show are those of tables/: no number of an essay is of an earlier run."""

import csv
import fnmatch
import html
import re
from decimal import Decimal
from pathlib import Path

from rediscover.report.names import readable

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
# In brackets stands an interval, whose ends the file of intervals has.
INTERVAL = re.compile(r"(?<=\S) \[[^]]*\]$")


def displayed(cell):
    """Rows of values, without labels, of each table that a cell shows in HTML."""
    for output in cell.outputs:
        text = output.get("data", {}).get("text/html", "")
        if text.startswith("<table>"):
            rows = re.findall(r"<tr.*?>(.*?)</tr>", text.partition("<tbody>")[2], flags=re.S)
            cells = [re.findall(r"<td.*?>(.*?)</td>", row, flags=re.S) for row in rows]
            yield [[html.unescape(re.sub(r"</?b>", "", value)) for value in row] for row in cells]


def named(source, tables):
    """Files of tables that the code of a cell names, fields of f-strings standing for anything."""
    literals = [re.sub(r"\{.*?\}", "*", text) for text in re.findall(r'"([^"\n]+)"', source)]
    patterns = [f"{text}.csv" for text in literals if re.fullmatch(r"[\w*]*\w{4}[\w*]*", text)]
    return [path for path in sorted(tables.glob("*.csv")) if any(fnmatch.fnmatchcase(path.name, p) for p in patterns)]


def same(value, kept):
    """Whether a value as displayed is what a file of six digits holds."""
    if value == readable(kept):
        return True
    value = INTERVAL.sub("", value).replace(",", "")  # between thousands
    try:
        number, written = Decimal(value), float(kept)
    except (ArithmeticError, ValueError):
        return False
    if not number.is_finite():
        return float(number) == written
    unit = number.as_tuple().exponent
    return abs(float(value) - written) <= 0.5 * 10.0**unit + 1e-5 * abs(written)


def differs(rows, path):
    """The first values that are not those of a file, or None; labels, on the left and on top, are not compared."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[-len(rows) :] if rows else []
    if len(lines) < len(rows) or any(len(line) < len(row) for line, row in zip(lines, rows, strict=True)):
        return f"{path.name} is smaller"
    wrong = [
        f"{value!r} is {kept!r} in {path.name}"
        for row, line in zip(rows, lines, strict=True)
        for value, kept in zip(row, line[len(line) - len(row) :], strict=True)
        if not same(value, kept)
    ]
    return "; ".join(wrong[:3]) or None


def stale(notebook, tables):
    """Tables of a notebook that no file holds which its cell names, a line each."""
    found = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        for rows in displayed(cell) if cell.cell_type == "code" else ():
            told = [differs(rows, path) for path in named(cell.source, tables)] or ["names no file of tables/"]
            if None not in told:
                found.append(f"cell {cell.execution_count}: {' | '.join(told)}")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_tables_shown_are_those_of_tables(path, reference_tables):
    found = stale(path, reference_tables)
    assert not found, "run `make all`:\n" + "\n".join(found)


def test_the_notebooks_show_tables():
    cells = [cell for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells if "outputs" in cell]
    assert sum(bool(rows) for cell in cells for rows in displayed(cell)) > 90


@pytest.mark.parametrize(
    ("value", "kept", "expected"),
    [
        ("0.123", "0.123456", True),
        ("0.123 [0.1, 0.2]", "0.123456", True),
        ("1.20e-09", "1.2e-09", True),
        ("1000", "999.96", True),
        ("100,000", "100000", True),
        ("100,000", "10000", False),
        ("0.124", "0.123456", False),
        ("", "0.5", False),
        ("3 of 5", "4 of 5", False),
    ],
)
def test_a_number_of_an_earlier_run_is_seen(value, kept, expected):
    assert same(value, kept) is expected

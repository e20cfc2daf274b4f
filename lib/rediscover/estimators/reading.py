"""Tables from files: what separates columns, how decimals are written and in which encoding is found out.

What cannot be used is refused in one sentence that says where it is and what to do. Nothing of a file is executed.
"""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

from ..problems import did_you_mean
from ..system.writing import one_line

EXAMPLES = Path(__file__).parent / "examples"
SEPARATORS = ("\t", ";", ",", "|")
LOOKED = 20  # lines in which a separator is looked for
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "--", "?", ".", "#n/a", "<na>"}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
# groups of three digits, as in 1,000, 1.234.567 and 1,234.5; the first group is the sign between them
GROUPED = re.compile(r"[+−-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*((?!\1)[.,]\d+)?")
POINTS = re.compile(r"(?<![\w.])[1-9]\d{0,2}\.\d{3}(?!\d)")  # of which pandas makes decimals
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2}.*)?")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def read(path: str | Path) -> pd.DataFrame:
    """A table from a file of comma, semicolon, tab or bar separated values, or from Parquet.

    Parameters
    ----------
    path : of the file; ``.parquet`` is read where pandas has a reader

    Returns
    -------
    DataFrame
        Columns of numbers, and of texts where something is no number.

    Raises
    ------
    ValueError
        If there is no table in it, or no line of names.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file of comma separated values")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet(path)
    text = _text(path.read_bytes(), path)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{path} is empty; give a file with a line of names and rows of numbers")
    separator = _separator(lines[:LOOKED])
    header = [name.strip() for name in next(csv.reader([lines[0]], delimiter=separator))]
    _check_header(header, path)
    if len(lines) == 1:
        other = (
            ""
            if path.suffix.lower() in ("", ".csv", ".tsv", ".txt", ".dat")
            else f" (a {path.suffix} file is not read)"
        )
        raise ValueError(f"{path} has a line of names and no rows; add rows of numbers{other}")
    fast = None if separator == ";" and POINTS.search(text) else _numbers(text, separator, header)
    return _texts(text, separator, header, path) if fast is None else fast


def examples() -> list[str]:
    """Names of the tables that come with this package.

    Returns
    -------
    list of str

    Examples
    --------
    >>> examples()
    ['cloud', 'pendulum', 'planets']
    """
    return sorted(path.stem for path in EXAMPLES.glob("*.csv"))


def example(name: str) -> pd.DataFrame:
    """A table that comes with this package.

    ``planets`` are the semi-major axes and periods of the eight to three digits (mean elements of J2000; Seidelmann,
    Explanatory Supplement to the Astronomical Almanac, 1992); ``pendulum``, at 300
    random times, obeys θ'' = -0.1 θ' - 0.9 sin θ from (2, 0), and ``cloud``, of 300 points, x^2/4 + y^2 + z^2 = 1, both
    with normal noise of 0.01 on each column but the time.

    Parameters
    ----------
    name : one of `examples`

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If there is no such table.

    Examples
    --------
    >>> example("planets").shape
    (8, 3)
    """
    if name not in examples():
        raise ValueError(f"no example is called {name!r}; choose from {', '.join(examples())}")
    return pd.read_csv(EXAMPLES / f"{name}.csv")


def used(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Columns of a table, all of finite numbers.

    Parameters
    ----------
    table : DataFrame
        From `read`.
    columns : names of those that are wanted

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If there is no such column, or a value is missing, infinite or no number, or may be two numbers.
    """
    decimals = _decimals(table)
    return pd.DataFrame({name: _column(table[name], name, decimals, table.attrs.get("separator")) for name in columns})


def column(table: pd.DataFrame, name: str) -> str:
    """The name of a column as the table has it, if it is one or the part before its unit.

    Parameters
    ----------
    table : DataFrame
    name : as somebody typed it

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is none; the message offers the nearest.
    """
    from .names import named

    known = [str(each) for each in table.columns]
    if name in known:
        return name
    short = named([name])[0].shown  # so that "wind speed" is the column "wind speed [m/s]"
    shown = [each.column for each in named(known) if short == each.shown or name.strip() == each.column.strip()]
    if len(shown) == 1:
        return shown[0]
    raise ValueError(f"no column {one_line(name)!r}{did_you_mean(name, known)} (columns: {one_line(', '.join(known))})")


def _text(content: bytes, path: Path) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                raise ValueError(f"{path} begins as {encoding} and goes on otherwise; save it as UTF-8") from None
    if b"\0" in content[:4096]:
        raise ValueError(f"{path} is no text; give a file of comma separated values, or .parquet")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _separator(lines: list[str]) -> str:
    """The sign that cuts the first lines into the same number of parts, more than one; else a comma, or a space."""
    found = []
    for sign in SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=sign)]
        if counts and counts[0] > 1:
            found.append((sum(count == counts[0] for count in counts), SEPARATORS.index(sign) != 2, counts[0], sign))
    if found:
        return max(found)[3]
    return " " if len(lines[0].split()) > 1 and all(len(x.split()) == len(lines[0].split()) for x in lines) else ","


def _check_header(header: list[str], path: Path) -> None:
    if all(NUMBER.fullmatch(name) or COMMA.fullmatch(name) for name in header):
        raise ValueError(f"the first line of {path} holds numbers; add a line with the names of the columns above it")
    for place, name in enumerate(header, 1):
        if not name:
            raise ValueError(f"column {place} of {path} has no name; add one to the first line")
        if name in header[: place - 1]:
            raise ValueError(f"two columns of {path} are called {one_line(name)!r}; give each a name of its own")


def _numbers(text: str, separator: str, header: list[str]) -> pd.DataFrame | None:
    """The table if all of it is finite numbers with decimal points and no row is of another length, else None."""
    blank = {"sep": r"\s+"} if separator == " " else {"sep": separator, "skipinitialspace": True}
    try:  # without names, of which pandas would drop what is more than they are, the first row says how many columns
        found = pd.read_csv(io.StringIO(text.lstrip()), header=None, skiprows=1, dtype=np.float64, **blank)
    except (ValueError, pd.errors.ParserError, OverflowError):
        return None
    if not len(found) or found.shape[1] != len(header) or not np.isfinite(found.to_numpy()).all():
        return None
    return found.set_axis(header, axis=1)


def _texts(text: str, separator: str, header: list[str], path: Path) -> pd.DataFrame:
    rows: list[list[str]] = []
    try:
        split = (
            (line.split() for line in text.splitlines())
            if separator == " "
            else csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        )
        rows = [[cell.strip() for cell in row] for row in split if any(cell.strip() for cell in row)][1:]
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as a table ({error}); save it as comma separated values") from None
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise ValueError(
                f"row {number} of {path} has {len(row)} values for {len(header)} names; "
                "mend it, or write decimals with a point"
            )
    if not rows:
        raise ValueError(f"{path} has a line of names and no rows; add rows of numbers")
    found = pd.DataFrame(rows, columns=header, dtype=object)
    found.attrs["separator"] = separator
    return found


def _decimals(table: pd.DataFrame) -> set[str]:
    """Signs that a table shows to stand before decimals: a comma in 2,5, and a point in 1,234,567."""
    found = set()
    for _, column in table.select_dtypes(exclude="number").items():
        for text in map(str, column):
            if grouped := GROUPED.fullmatch(text):
                if grouped[2] or grouped[3]:
                    found.add("." if grouped[1] == "," else ",")
            elif "," in text and COMMA.fullmatch(text):
                found.add(",")
            elif "." in text and NUMBER.fullmatch(text):
                found.add(".")
    return found


def _ungrouped(texts: list[str], name: str, decimals: set[str], separator: str | None) -> list[str]:
    """Texts of a column without signs between thousands; those that may be two numbers are refused."""
    marks = [GROUPED.fullmatch(text) for text in texts]
    found, alike = list(texts), all(marks)
    for row, mark in enumerate(marks):
        grouped = mark and _is_grouped(mark, decimals, separator, alike)
        if mark and grouped is None:
            plain, decimal = mark[0].replace(mark[1], ""), mark[0].replace(",", ".").replace("−", "-")
            raise ValueError(
                f"column {name!r} holds {mark[0]!r} in row {row + 1}, which may be {plain} or {float(decimal):g}; "
                "write it as one of these"
            )
        if mark and grouped:
            found[row] = mark[0].replace(mark[1], "")
    return found


def _is_grouped(mark: re.Match[str], decimals: set[str], separator: str | None, alike: bool) -> bool | None:
    """Whether a sign stands between thousands; None where it may or may not. `alike`: all its column is written so."""
    sign, other = mark[1], "." if mark[1] == "," else ","
    if mark[2] or mark[3]:
        return True
    if (sign in decimals) != (other in decimals):
        return other in decimals
    if separator == ";" and alike:
        return False
    if sign == ".":
        return None if separator == ";" else False
    return True if separator == "," and not decimals else None  # with a comma between columns it stood in quotes


def _column(values: pd.Series, name: str, decimals: set[str], separator: str | None) -> np.ndarray:
    shown = one_line(name)
    if pd.api.types.is_datetime64_any_dtype(values):
        raise ValueError(f"column {shown!r} holds dates; give times as numbers, such as seconds since the first")
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        found = values.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = None
    else:
        texts = ["" if value is None else str(value) for value in values]
        texts = _ungrouped(texts, shown, decimals, separator)
        found = np.array([_number(text, shown, row) for row, text in enumerate(texts, 1)])
    if len(rows := np.flatnonzero(np.isnan(found))):
        raise ValueError(
            f"column {shown!r} has no value in row {rows[0] + 1} ({len(rows)} missing in all); "
            "fill it or leave these rows out"
        )
    if len(rows := np.flatnonzero(np.isinf(found))):
        raise ValueError(f"column {shown!r} is infinite in row {rows[0] + 1}; leave that row out")
    return found


def _number(text: str, name: str, row: int) -> float:
    """The number that a text is; NaN where it stands for a missing one."""
    if text.lower() in MISSING:
        return np.nan
    if INFINITE.fullmatch(text):
        return float(text)
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    plain = text.replace("−", "-")
    if NUMBER.fullmatch(plain):
        return float(plain.lower().replace("d", "e"))
    if COMMA.fullmatch(plain):
        return float(plain.replace(",", "."))
    shown = one_line(text[:30])
    if DATE.fullmatch(text):
        raise ValueError(
            f"column {name!r} holds dates or times of day such as {shown!r} in row {row}; give times as numbers, "
            "such as seconds since the first"
        )
    raise ValueError(
        f"column {name!r} holds text such as {shown!r} in row {row}; leave it out (--inputs names those to use), "
        "or write numbers"
    )


def _parquet(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        found = pd.read_parquet(path)
    except ImportError:
        raise ValueError(f"{path}: Parquet needs a reader: pip install pyarrow, or save as comma separated") from None
    except Exception as error:  # of whichever reader there is
        raise ValueError(f"{path} cannot be read as Parquet ({one_line(str(error))[:80]}); save it again") from None
    found.columns = [str(name) for name in found.columns]
    if not len(found):
        raise ValueError(f"{path} has no rows; add rows of numbers")
    return found

"""Every published number beside ours, with a verdict.

Verdicts on numbers: ``reproduced`` (the same by the rule of the cell, same definition), ``differs``, ``undecided``
(tested, but chance leaves it open), ``not comparable`` (the published definition or data cannot be recovered), ``not
run`` (the method or model is unavailable here).
Verdicts on claims: ``holds``, ``fails``, ``mixed``, ``not shown``, ``untestable here``.
"""

import importlib
import json
import numbers
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from ..runs.schema import CLAIMS, LEDGER, check
from ..system.studies import FOLDER, studies
from . import papers, rules, summaries
from .claim_cells import Cell
from .comparable import caveat, excluded
from .scores import of_seeds

VERDICTS = ("reproduced", "differs", "undecided", "not comparable", "not run")
CLAIM_VERDICTS = ("holds", "fails", "mixed", "not shown", "untestable here")
NOT_PRINTED = "not printed"
COLUMNS = list(LEDGER)


def compare(
    paper: str,
    table: str,
    rows: pd.DataFrame,
    measured: Mapping[tuple, Mapping],
    *,
    keys: list[str],
    row: str,
    column: str,
    absent: Mapping[str, tuple[str, str]],
    definition: str,
    rule: str = "",
    excluded: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """A ledger of one published table.

    Parameters
    ----------
    paper, table : str
        For the ledger's columns of the same name.
    rows : DataFrame
        The published table, tidy, with a column ``value`` and the index of `published`.
    measured : key values -> dict(value, and optionally low, high, reason, parameters, rule, definition, kind, verdict)
        `parameters` is what the rule takes (rules.yaml); `low` and `high` follow from it where they rest on seeds. A
        cell with a `verdict` is not judged.
    keys : columns of `rows` that make the key of `measured`.
    row, column : format strings over the columns of `rows`, for the ledger's two coordinates.
    absent : value of the first key -> (verdict, reason), for what was not measured; ``"*"`` for the rest.
    definition : what our number is.
    rule : what counts as the same, a key of rules.yaml; empty where nothing can.
    excluded : source of a cell -> why nothing can be compared with it, whatever was measured.

    Returns
    -------
    DataFrame with the columns of `schema.LEDGER`; every row of `rows` is there.
    """
    subject = next((name for name in ("method", "model") if name in rows), None)
    entries = []
    for source, record in zip(rows.index, rows.to_dict("records"), strict=True):
        key = tuple(record[name] for name in keys)
        entry: dict[str, Any] = {
            "paper": paper,
            "table": table,
            "row": row.format(**record).strip(),
            "column": column.format(**record).strip(),
            "method": record[subject] if subject else "",
            "published": record["value"],
            "definition": definition,
            "rule": rule,
            "source": source,
        }
        ours = measured.get(key)
        if ours is None:
            verdict, reason = absent.get(key[0], absent.get("*", ("not run", "not part of this study")))
            entry |= {"verdict": verdict, "reason": reason or "no runs in this profile"}
        else:
            entry |= ours
            entry["measured"] = entry.pop("value")
        if source in excluded:
            entry |= {"verdict": "not comparable", "reason": excluded[source]}
        entries.append(entry)
    return judged(pd.DataFrame(entries))


def judged(entries: pd.DataFrame) -> pd.DataFrame:
    """Entries of one or several tables with the verdicts of their rules, what the rules say behind the reasons.

    Parameters
    ----------
    entries : DataFrame
        Columns of `schema.LEDGER`; one that is missing is empty, `parameters` are mappings or JSON. A row with a
        verdict keeps it.

    Returns
    -------
    DataFrame with the columns of `schema.LEDGER`.
    """
    frame = entries.reindex(columns=COLUMNS)
    texts = [name for name, (kind, _) in LEDGER.items() if kind is str and name != "parameters"]
    frame[texts] = frame[texts].astype(object).fillna("")
    rows, printed = frame.to_dict("records"), neighbours(frame)
    for entry, others in zip(rows, printed, strict=True):
        parameters = _parameters(entry["parameters"])
        entry["parameters"] = json.dumps(parameters) if parameters else ""
        if entry["verdict"]:
            continue
        entry |= of_seeds(entry["rule"], parameters)
        cell = {"value": entry["measured"], "low": entry["low"], "high": entry["high"], "parameters": parameters}
        other = caveat(entry)
        found = rules.judge(entry["rule"], entry["published"], cell, others, unlike=bool(other))
        told = [other, caveat(entry, "less"), entry["reason"], found.note]
        entry |= {"verdict": found.verdict, "reason": "; ".join(filter(None, told))}
        entry |= {"others": len(others), "others_passing": found.passing}
    floats = dict.fromkeys(("low", "high", "others", "others_passing"), float)
    return check(pd.DataFrame(rows, columns=COLUMNS).astype(floats), LEDGER)


def _parameters(given: Any) -> dict[str, Any]:
    """What the rule of a row takes, from a mapping, JSON or nothing, as the row states it: with twelve digits."""
    return (
        _stable(given) if isinstance(given, Mapping) else json.loads(given) if isinstance(given, str) and given else {}
    )


def _stable(value: Any) -> Any:
    """A value for JSON, its numbers with twelve significant digits."""
    if isinstance(value, Mapping):
        return {name: _stable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_stable(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(f"{value:.12g}") if isinstance(value, numbers.Real) else value


def neighbours(entries: pd.DataFrame) -> list[list[str]]:
    """What is printed for other methods in the same place of the same table, for each row.

    The place of a method's cell is its column where the row begins with the method, else its row.

    Parameters
    ----------
    entries : DataFrame
        Columns: table, row, column, method, published.

    Returns
    -------
    list of lists of str
        Empty for cells of no method.

    Examples
    --------
    >>> rows = [("1", "a", "easy", "a", "5"), ("1", "b", "easy", "b", "6"), ("1", "b", "hard", "b", "7")]
    >>> neighbours(pd.DataFrame(rows, columns=["table", "row", "column", "method", "published"]))
    [['6'], ['5'], []]
    """
    columns = zip(*(entries[name] for name in ("table", "row", "column", "method", "published")), strict=True)
    cells = [(t, column if row.startswith(method) else row, method, text) for t, row, column, method, text in columns]
    places: dict[tuple, list[tuple[str, str]]] = {}
    for table, place, method, text in cells:
        if method and text:
            places.setdefault((table, place), []).append((method, text))
    return [
        [text for other, text in places.get((table, place), []) if other != method] if method else []
        for table, place, method, _ in cells
    ]


def compare_table(
    name: str,
    measured: Mapping[tuple, Mapping],
    absent: Mapping[str, tuple[str, str]] | None = None,
    rows: pd.DataFrame | None = None,
    part: str | None = None,
) -> pd.DataFrame:
    """`compare` for a file of published values by the rules that study.yaml states for it.

    Parameters
    ----------
    name : of the file, such as ``surfacebench_table1``
    measured : as for `compare`
    absent : as for `compare`, where study.yaml does not state it
    rows : the published table where it was changed before, by default as it is on file
    part : which number of a row, where study.yaml states rules for several

    Returns
    -------
    DataFrame
        With `COLUMNS`; every published row is there.
    """
    about = papers.tables().loc[name]
    rows = papers.published(name) if rows is None else rows
    stated = {"absent": absent or {}} | (about["ledger"][part] if part else about["ledger"])
    keys = rows[stated["keys"]].itertuples(index=False, name=None)
    ours = [source for source, key in zip(rows.index, keys, strict=True) if key in measured]
    stated["excluded"] = excluded(rows, about, ours)
    return compare(about["paper"], about["table"], rows, measured, **stated)


def claim_verdict(cells: Iterable[bool | None]) -> str:
    """The verdict on a claim from its cells, by the rule of docs/ledger.md.

    With Wilson's 95 % interval of a share of all cells: ``holds`` if all go as claimed, or the interval of their share
    is above one half; ``fails`` likewise by the share that goes against it; else ``mixed`` if some go one way and some
    the other, ``not shown`` if not, and ``untestable here`` without any cell.

    Parameters
    ----------
    cells : iterable of bool or None
        Whether each comparison goes as claimed; None where the difference lies within chance.

    Returns
    -------
    str
        One of `CLAIM_VERDICTS`.

    Examples
    --------
    >>> claim_verdict([True, True]), claim_verdict([True, False]), claim_verdict([False]), claim_verdict([])
    ('holds', 'mixed', 'fails', 'untestable here')
    >>> claim_verdict([True] * 35 + [False]), claim_verdict([True, None]), claim_verdict([None, None])
    ('holds', 'not shown', 'not shown')
    """
    found = [None if cell is None else bool(cell) for cell in cells]
    if not found:
        return "untestable here"
    for way, verdict in ((True, "holds"), (False, "fails")):
        if all(cell is way for cell in found) or _share(found, way)[1] > 0.5:
            return verdict
    return "mixed" if True in found and False in found else "not shown"


def _share(cells: list, way: bool) -> tuple[int, float, float]:
    """How many cells go this way, and the ends of Wilson's 95 % interval of their share."""
    count = sum(cell is way for cell in cells)
    return count, *(summaries.wilson(count, len(cells)) if cells else (np.nan, np.nan))


def more(a: float, b: float) -> bool | None:
    """Whether a printed number is larger than another; no cell of runs is made so, as it has no test.

    Parameters
    ----------
    a, b : float

    Returns
    -------
    bool, or None for a tie and where one of them is NaN

    Examples
    --------
    >>> more(2, 1), more(1, 2), more(1, 1)
    (True, False, None)
    """
    return True if a > b else False if a < b else None


class Judged(tuple):
    """A claim beside its statistic: verdict and finding, as a pair.

    Attributes
    ----------
    cells : list of `Cell`, what the verdict is made of
    finding : the statistic in words
    tests : the family of tests behind the cells, if there is one
    """

    cells: list[Cell]
    tests: pd.DataFrame | None

    def __new__(cls, cells: Iterable[Cell], finding: str, tests: pd.DataFrame | None = None) -> "Judged":
        found = list(cells)
        if bare := [cell for cell in found if not isinstance(cell, Cell)]:
            raise TypeError(f"a cell of a claim is {bare[0]!r}: make it by a test, an interval or a count")
        judged = super().__new__(cls, (claim_verdict(cell.goes for cell in found), finding))
        judged.cells, judged.tests = found, tests
        return judged

    def beside(self, claim: str) -> str:
        """The tests behind a claim as a table, then its verdict and finding, as a notebook prints them."""
        if self.tests is None or self.tests.empty:
            return f"{claim} {self}"
        shown = self.tests.drop(columns="method")
        kept = [name for name in shown if name != "condition" or shown[name].any()]
        return f"{shown[kept].to_string(index=False, float_format='{:.2g}'.format)}\n{claim} {self}"

    def __str__(self) -> str:
        verdict, finding = self
        count = f" ({sum(cell.goes is True for cell in self.cells)} of {len(self.cells)} cells)" if self.cells else ""
        return f"{verdict}{count}: {finding}"


def claims(key: str, results: Mapping[str, Judged]) -> pd.DataFrame:
    """The claims of a study, each with our verdict, that of the printed numbers, and the statistic behind ours.

    Parameters
    ----------
    key : of the study, such as ``surfaces``
    results : claim id -> `Judged`

    Returns
    -------
    DataFrame
        Index: claim id. Columns: those of `schema.CLAIMS`.

    Raises
    ------
    KeyError
        If a claim has no result, or a result no claim: each must get a line.
    ValueError
        If a cell is of a method that the paper does not print, or whose namesake here does not stand for it.
    """
    table = papers.claims(key)
    problem = set(table.index) ^ set(results)
    if problem:
        raise KeyError(f"claims of {key} and results do not match: {', '.join(sorted(problem))}")
    out, judged = table[["claim"]].copy(), [results[claim] for claim in table.index]
    voters = papers.voters(studies()[key]["paper"])
    for claim, one in zip(table.index, judged, strict=True):
        if strange := {cell.method for cell in one.cells if cell.by != "not run"} - voters - {""}:
            raise ValueError(f"{claim}: {sorted(strange)[0]} is no method of the paper; leave its cells out")
    out["verdict"] = [one[0] for one in judged]
    out["as_printed"] = as_printed(key)
    shares = [_share([cell.goes for cell in one.cells], True) for one in judged]
    out["cells"] = [len(one.cells) for one in judged]
    out[["as_claimed", "low", "high"]] = pd.DataFrame(shares, out.index)
    takes = studies()[key].get("takes", {})  # what would decide those that nothing here can
    open_ = {claim for claim, one in zip(table.index, judged, strict=True) if not len(one.cells)}
    ends = [f"; it takes {takes[claim]}" if claim in open_ & set(takes) else "" for claim in table.index]
    out["finding"] = [one[1] + end for one, end in zip(judged, ends, strict=True)]
    return check(out, CLAIMS)


def as_printed(key: str) -> pd.Series:
    """The verdicts that the printed numbers of a study's paper give on its claims, by ``printed()`` of its claims.

    Parameters
    ----------
    key : of the study

    Returns
    -------
    Series
        Claim -> verdict.
    """
    found = {}
    if (FOLDER / key / "claims.py").exists():
        found = importlib.import_module(f"rediscover.studies.{key}.claims").printed()
    verdicts = {claim: claim_verdict(cells) for claim, cells in found.items() if len(cells)}
    return pd.Series({claim: verdicts.get(claim, NOT_PRINTED) for claim in papers.claims(key).index}, dtype=object)


def combine(ledgers: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Ledgers of several tables as one, checked for unknown verdicts.

    Parameters
    ----------
    ledgers : iterable of DataFrame
        As `compare` returns them.

    Returns
    -------
    DataFrame
        With `COLUMNS`.

    Raises
    ------
    ValueError
        If a verdict is none of `VERDICTS`.
    """
    whole = pd.concat(list(ledgers), ignore_index=True)
    wrong = set(whole["verdict"]) - set(VERDICTS)
    if wrong:
        raise ValueError(f"no such verdict: {sorted(wrong)[0]!r} (known: {', '.join(VERDICTS)})")
    return whole

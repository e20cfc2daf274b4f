"""Every published number beside ours, with a verdict.

Verdicts on numbers: ``reproduced`` (inside the stated tolerance, same definition), ``differs``, ``not comparable`` (the
published definition or data cannot be recovered), ``not run`` (the method or model is unavailable here).
Verdicts on claims: ``holds``, ``fails``, ``mixed``, ``untestable here``.
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from ..runs.schema import CLAIMS, LEDGER, check
from ..system.studies import studies
from . import papers

VERDICTS = ("reproduced", "differs", "not comparable", "not run")
CLAIM_VERDICTS = ("holds", "fails", "mixed", "untestable here")
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
    tolerance: str,
) -> pd.DataFrame:
    """A ledger of one published table.

    Parameters
    ----------
    paper, table : str
        For the ledger's columns of the same name.
    rows : DataFrame
        The published table, tidy, with a column ``value`` and the index of `published`.
    measured : key values -> dict(value, low, high, and optionally definition, verdict, reason)
        `low` and `high` bound what counts as the same (a bootstrap interval, or rounding of the printed digit).
    keys : columns of `rows` that make the key of `measured`.
    row, column : format strings over the columns of `rows`, for the ledger's two coordinates.
    absent : value of the first key -> (verdict, reason), for what was not measured; ``"*"`` for the rest.
    definition : what our number is.
    tolerance : what counts as the same, and why.

    Returns
    -------
    DataFrame with the columns of `schema.LEDGER`; every row of `rows` is there.
    """
    entries = []
    for source, record in zip(rows.index, rows.to_dict("records"), strict=True):
        key = tuple(record[name] for name in keys)
        ours = measured.get(key)
        entry = {
            "paper": paper,
            "table": table,
            "row": row.format(**record).strip(),
            "column": column.format(**record).strip(),
            "published": record["value"],
            "definition": definition,
            "tolerance": tolerance,
            "reason": "",
            "source": source,
        }
        if ours is None:
            entry["verdict"], entry["reason"] = absent.get(
                key[0], absent.get("*", ("not run", "not part of this study"))
            )
            entry["reason"] = entry["reason"] or "no runs in this profile"
        else:
            entry |= ours
            entry["measured"] = entry.pop("value")
            if "verdict" not in entry:  # cells that are no numbers bring their verdict
                entry["verdict"] = verdict(record["value"], entry["low"], entry["high"])
        entries.append(entry)
    return check(pd.DataFrame(entries).reindex(columns=COLUMNS).astype({"low": float, "high": float}), LEDGER)


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
    rules = {"absent": absent or {}} | (about["ledger"][part] if part else about["ledger"])
    return compare(about["paper"], about["table"], rows, measured, **rules)


def verdict(value: str, low: float, high: float) -> str:
    """``reproduced`` if the published value, as precise as it is printed, meets the interval [low, high].

    Parameters
    ----------
    value : str
        As printed.
    low, high : float
        The interval of our own value.

    Returns
    -------
    str
        'reproduced' or 'differs'.

    Examples
    --------
    >>> verdict("0.38", 0.384, 0.5), verdict("0.38", 0.386, 0.5)
    ('reproduced', 'differs')
    """
    printed = float(value)
    mantissa, _, exponent = value.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    return "reproduced" if printed + half >= low and printed - half <= high else "differs"


def claim_verdict(conditions: Iterable[bool]) -> str:
    """``holds`` if all conditions of a claim are met, ``fails`` if none is, else ``mixed``.

    Without any condition a claim is ``untestable here``.

    Parameters
    ----------
    conditions : iterable of bool

    Returns
    -------
    str
        One of `CLAIM_VERDICTS`.

    Examples
    --------
    >>> claim_verdict([True, True]), claim_verdict([True, False]), claim_verdict([False])
    ('holds', 'mixed', 'fails')
    """
    met = [bool(condition) for condition in conditions]
    if not met:
        return "untestable here"
    return "holds" if all(met) else "mixed" if any(met) else "fails"


def claims(key: str, results: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """The claims of a study, each with our verdict and the statistic behind it.

    Parameters
    ----------
    key : of the study, such as ``surfaces``
    results : claim id -> (verdict, finding); claims that study.yaml lists under ``needs`` are untestable here without

    Returns
    -------
    DataFrame
        Index: claim id. Columns: claim, verdict, finding.

    Raises
    ------
    KeyError
        If a claim has no result, or a result no claim: each must get a line.
    ValueError
        If a verdict is none of `CLAIM_VERDICTS`.
    """
    table = papers.claims(key)
    needs = studies()[key].get("needs", {})
    results = {claim: ("untestable here", f"needs {what}") for claim, what in needs.items()} | dict(results)
    problem = set(table.index) ^ set(results)
    if problem:
        raise KeyError(f"claims of {key} and results do not match: {', '.join(sorted(problem))}")
    wrong = {verdict for verdict, _ in results.values()} - set(CLAIM_VERDICTS)
    if wrong:
        raise ValueError(f"no such verdict on a claim: {sorted(wrong)[0]!r} (known: {', '.join(CLAIM_VERDICTS)})")
    out = table[["claim"]].copy()
    out["verdict"] = [results[claim][0] for claim in out.index]
    out["finding"] = [results[claim][1] for claim in out.index]
    return check(out, CLAIMS)


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

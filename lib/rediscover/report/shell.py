"""What the commands print for people, within the 80 columns of a terminal; programs are given JSON or CSV."""

import functools
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ..runs.schema import COPIES
from ..runs.scoring import metric
from .tables import number

WIDTH = 80


def method_lines(methods: pd.DataFrame, *, long: bool = False) -> list[str]:
    """The table of methods: whether each runs here, what it treats, and below it why it does not run.

    Parameters
    ----------
    methods : DataFrame
        From `rediscover.methods`.
    long : bool
        With the reference of each.

    Returns
    -------
    list of str
        None longer than `WIDTH`.
    """
    wide = max(map(len, methods["name"]))
    lines = [f"{'method':{wide}}  runs  treats"]
    for row in methods.itertuples():
        lines += _wrapped(f"{row.name:{wide}}  {'yes' if row.available else 'no':4}  ", str(row.accepts))
        lines += _wrapped(" " * 4, row.reason) if row.reason else []
        lines += _wrapped(" " * 4, row.reference) if long and row.reference else []
    return lines


def candidate_lines(candidates: Iterable[Any]) -> list[str]:
    """Candidates: loss, size, and below them what they say.

    Parameters
    ----------
    candidates : iterable of Candidate

    Returns
    -------
    list of str
    """
    lines = [f"{'':3} {'loss':>10}  {'complexity':>10}  answer"]
    for i, each in enumerate(candidates, 1):
        size = "" if each.complexity is None else f"{each.complexity:g}"
        texts = [f"{name} = {text}" for name, text in each.solution.items()]
        first = f"{i:3} {number(float(each.loss)):>10}  {size:>10}  "
        lines += [line for k, text in enumerate(texts) for line in _wrapped(first if not k else " " * len(first), text)]
    return lines


def ledger_lines(rows: pd.DataFrame, of: int, beside: int = 0) -> list[str]:
    """Rows of the ledger, a block for each table of a paper, and what became of them in all.

    Parameters
    ----------
    rows : DataFrame
        From `verdicts.entries`.
    of : int
        Rows of the whole ledger.
    beside : int
        Those of them that are printed in other sources than the five papers.

    Returns
    -------
    list of str

    Examples
    --------
    >>> row = dict(paper="SRSD", table="Table 2", row="AFP", column="easy", published="20.0", measured="31.11111")
    >>> row |= dict(verdict="reproduced", kind="rerun", reason="mean over 30 laws", id="srsd_table2-5")
    >>> print("\\n".join(ledger_lines(pd.DataFrame([row]), 3801, 211)))
    SRSD, Table 2
      AFP, easy: printed 20.0, here 31.11, reproduced (rerun) [srsd_table2-5]
        mean over 30 laws
    <BLANKLINE>
    1 of 3,801 printed numbers (3,590 in the five papers, 211 in other sources);
    reproduced: 1
    """
    lines = []
    for (paper, table), part in rows.groupby(["paper", "table"], sort=False):
        lines.append(f"{paper}, {table}")
        for row in part.itertuples():
            here = f"here {_short(row.measured)}, " if row.measured else ""
            text = f"{row.row}, {row.column}: printed {row.published or 'nothing'}, {here}{row.verdict}"
            text += f" ({row.kind})" * bool(row.kind) + f" [{row.id}]"
            lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
            lines += _wrapped(" " * 4, row.reason) if row.reason else []
        lines.append("")
    copies = rows["kind"].isin(COPIES)
    counts = [f"{verdict}: {n:,}" for verdict, n in rows.loc[~copies, "verdict"].value_counts().items()]
    counts += [f"only the copying was checked: {copies.sum():,}"] * int(copies.any())
    where = f" ({of - beside:,} in the five papers, {beside:,} in other sources)" * bool(beside)
    return [*lines, *textwrap.wrap(f"{len(rows):,} of {of:,} printed numbers{where}; {', '.join(counts)}", WIDTH)]


def score_lines(scores: Mapping[str, float]) -> list[str]:
    """Scores as a table, and what they forgive.

    Parameters
    ----------
    scores : name -> value, from `rediscover.score`

    Returns
    -------
    list of str

    Examples
    --------
    >>> print("\\n".join(score_lines({"symbolic_accuracy": 1.0, "nmse_variance": 1.5})))
    score              value  better
    symbolic_accuracy      1  higher
    nmse_variance       1.50  lower
    Constants: symbolic_accuracy forgives every constant, as some choice of them
    must give the truth; not whole exponents up to 6, and not a sign alone. All
    other scores take them as they are.
    """
    shown = {name: _value(value) for name, value in scores.items()}
    wide, right = max(map(len, ["score", *shown])), max(map(len, ["value", *shown.values()]))
    lines = [f"{'score':{wide}}  {'value':>{right}}  better"]
    lines += [f"{name:{wide}}  {text:>{right}}  {_better(name)}".rstrip() for name, text in shown.items()]
    by_text: dict[str, list[str]] = {}
    for name in shown:
        if text := forgiven().get(name):
            by_text.setdefault(text, []).append(name)
    said = [f"{' and '.join(names)} forgive{'s' * (len(names) == 1)} {text}." for text, names in by_text.items()]
    if said:
        said = ["Constants:", *said, "All other scores take them as they are."]
    return [*lines, *textwrap.wrap(" ".join(said), WIDTH)]


@functools.cache
def forgiven() -> dict[str, str]:
    """Score -> what it does not mind about the numbers of an answer."""
    return yaml.safe_load(Path(__file__).with_name("forgiven.yaml").read_text(encoding="utf-8"))


def _value(value: float) -> str:
    return f"{value:g}" if float(value).is_integer() and abs(value) < 1e5 else number(float(value))


def _short(measured: str) -> str:
    """A number with four digits; what else a cell holds, as it is."""
    try:
        return number(float(measured), 4)
    except ValueError:
        return measured


def _better(name: str) -> str:
    if name.endswith("_simplified"):  # whether simplification ended, of a distance that stands beside it
        return ""
    try:
        return metric(name).direction
    except KeyError:  # it describes the answer
        return ""


def _wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)) or [first.rstrip()]

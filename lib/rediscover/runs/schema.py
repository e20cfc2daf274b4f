"""The frames that go from runs to tables: their columns, what is in them, and the way to CSV and back.

In memory a cell holds an object (a mapping, a list, a number); JSON is how CSV spells mappings and lists. A noise level
is a float everywhere: ``snr_db`` is infinite for clean data.
"""

import json
import numbers
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Any, TextIO

import pandas as pd

from ..system.cells import marked, unmarked
from ..system.writing import replacing

Kind = type | UnionType
Schema = dict[str, tuple[Kind, str]]
Whole = numbers.Integral | type(pd.NA)  # or none

IDENTITY: Schema = {  # of a run, in the frames of runs and of scores
    "study": (str, "prefix of the problem's id"),
    "problem": (str, "its id"),
    "subset": (str, "the problem's"),
    "method": (str, "its name"),
    "settings": (dict, "the method's"),
    "noise": (float, "the problem's level"),
    "seed": (int, "of data and search"),
    "status": (str, "one of `runs.STATUSES`"),
}
RUNS: Schema = IDENTITY | {
    "reason": (str, "one line, or empty"),
    "solution": (dict | None, "output -> text, of the best candidate"),
    "candidates": (list, "at most 50, best first: mappings with solution, loss, complexity, evaluations and notes"),
    "loss": (float, "of the best candidate, as complexity and evaluations"),
    "complexity": (float, "as the method counts it"),
    "evaluations": (Whole, "expressions that were evaluated"),
    "seconds": (float, "of processor time; may differ from one time to the next, as all that follows"),
    "peak_mb": (float, "resident memory in MiB, sampled every 20 ms"),
    "reused": (bool, "whether it comes from the store"),
}
OPTION = numbers.Real | str  # what columns of runs hold that are options of their problems
SCORES: Schema = IDENTITY | {"scoring": (str, "why there is no score, or empty")}  # every other column is a score
PAIRED_TEST: Schema = {
    "measure": (str, "the score that is compared"),
    "condition": (str, "on what: a split, a rule, a noise level; empty where there is one only"),
    "a": (str, "first method or model"),
    "b": (str, "second method or model"),
    "n_pairs": (int, "problems (or other items) with both scores"),
    "n_zeros": (int, "pairs that are equal"),
    "median_difference": (float, "median of a - b"),
    "mean_difference": (float, "mean of a - b; NaN where it is not reported"),
    "low": (float, "lower end of its 95 % interval"),
    "high": (float, "upper end of its 95 % interval"),
    "w_plus": (float, "sum of the ranks of the pairs in which a is larger"),
    "w_minus": (float, "sum of the ranks of the pairs in which b is larger"),
    "rank_biserial": (float, "(w_plus - w_minus) / (w_plus + w_minus), in [-1, 1]"),
    "alternative": (str, "two-sided, less (a is lower) or greater"),
    "p": (float, "of Wilcoxon's signed-rank test"),
    "p_holm": (float, "corrected for all tests of the table"),
}
CLAIM_TEST: Schema = {
    "method": (str, "whose cell of a claim it makes, as the paper prints it; empty where it is of none"),
    "condition": (str, "on what: a set, a split, a score; empty where there is one only"),
    "a": (str, "what is compared"),
    "b": (str, "with what"),
    "n_a": (int, "problems with a value of a"),
    "n_b": (int, "and of b; the same ones where the test is paired"),
    "a_middle": (float, "median of a; the share where it is one of problems"),
    "b_middle": (float, "and of b"),
    "test": (str, "signed ranks, signs (both in pairs), rank sums, Fisher, or trend"),
    "effect": (float, "positive if a is larger, in [-1, 1]: rank-biserial or a difference of shares, or tau-b"),
    "p": (float, "two-sided"),
    "p_holm": (float, "corrected for all tests of the claim"),
    "detectable": (float, "the least effect that would be seen in four of five samples; none, above 1"),
}
LEDGER: Schema = {
    "paper": (str, "whose number it is"),
    "table": (str, "where it is printed"),
    "row": (str, "first coordinate there"),
    "column": (str, "second coordinate there"),
    "method": (str, "as printed; empty where the cell is of none"),
    "published": (str, "as printed, so that no digit is lost"),
    "measured": (numbers.Real | str, "ours; text for a cell that is no number, NaN for none"),
    "low": (float, "lower end of what counts as the same"),
    "high": (float, "upper end of it"),
    "definition": (str, "what our number is"),
    "rule": (str, "key of report/rules.yaml: what counts as the same; empty where nothing is compared"),
    "parameters": (str, "what the rule takes besides, as a JSON object, or empty"),
    "verdict": (str, "one of `report.ledger.VERDICTS`"),
    "reason": (str, "of the verdict, or empty"),
    "others": (float, "values printed for other methods in the same place; NaN where nothing was compared"),
    "others_passing": (float, "of them, those that our number would have reproduced as well"),
    "kind": (str, "one of `KINDS` where the cell has another than its table; else empty"),
    "source": (str, "file and line of the published value"),
}
KINDS = {  # of evidence behind our number, or what it would be
    "rerun": "the method's package, or the released program, ran here at the stated budget",
    "reimplementation": "our own implementation of the method ran here",
    "recorded": "an answer that was recorded earlier, scored again",
    "recomputed": "made again from what the authors stored",
    "arithmetic": "a calculation on numbers that the paper itself prints",
    "released": "a setting or text compared with the authors' released files",
    "count": "a data set was counted, or it is a fact of the problem's definition",
    "copied": "the paper takes the number over from results that others released: a check of the copying",
    "transcribed": "our own table was compared with the printed one from which it was typed: a check of the typing",
    "none": "a description, or nothing is printed",
}
COPIES = ("copied", "transcribed")  # kinds that check copying and no more: headline counts leave them out
PRINTED_IN = ("paper", "released figure", "released notebook", "released table")
WHOLE_LEDGER: Schema = LEDGER | {
    **{name: (str, "as the study wrote it") for name in ("measured", "low", "high", "others", "others_passing")},
    "kind": (str, "one of `KINDS`"),
    "notebook": (str, "that measures it"),
    "printed_in": (str, "one of `PRINTED_IN`"),
    "rule_chosen": (str, "before or after outcomes were known, of rule and configuration; none where no rule compares"),
}
CLAIMS: Schema = {
    "claim": (str, "what the paper says"),
    "verdict": (str, "one of `report.ledger.CLAIM_VERDICTS`"),
    "as_printed": (str, "the same by the numbers that the paper prints, or not printed"),
    "cells": (int, "comparisons that decide it"),
    "as_claimed": (int, "of them go as claimed"),
    "low": (float, "lower end of Wilson's 95 % interval of their share; NaN without cells"),
    "high": (float, "upper end of it"),
    "finding": (str, "the statistic behind it"),
}
JSON = [name for name, (kind, _) in RUNS.items() if kind in (dict, list, dict | None)]


def check(frame: pd.DataFrame, schema: Schema, rest: Kind | None = None) -> pd.DataFrame:
    """The frame, if its columns hold what they should.

    Parameters
    ----------
    frame : DataFrame
    schema : column -> what its values are, and what they mean
    rest : what other columns hold; none may be there by default

    Raises
    ------
    TypeError
        If a column is missing, one too many, or holds something else.

    Examples
    --------
    >>> check(pd.DataFrame({"claim": ["x"], "verdict": [1.0]}), {name: CLAIMS[name] for name in ("claim", "verdict")})
    Traceback (most recent call last):
    TypeError: column 'verdict' holds a float, not str
    """
    if missing := [name for name in schema if name not in frame]:
        raise TypeError(f"no column {missing[0]!r}")
    for name in frame.columns:
        kind = schema[name][0] if name in schema else rest
        if kind is None:
            raise TypeError(f"column {name!r} is not of this frame")
        for found in {type(value) for value in frame[name]}:
            if not issubclass(found, kind):
                raise TypeError(f"column {name!r} holds a {found.__name__}, not {getattr(kind, '__name__', kind)}")
    return frame


def to_csv(frame: pd.DataFrame, path: str | PathLike | TextIO, **options: Any) -> None:
    """Write a frame of runs or scores, mappings and lists as JSON; `options` are those of ``DataFrame.to_csv``.

    Texts that a spreadsheet would take for formulas have an apostrophe before them (`rediscover.system.cells`).
    """
    texts = {
        name: [json.dumps(value) if isinstance(value, dict | list) else value for value in frame[name]]
        for name in JSON
        if name in frame
    }
    frame = marked(frame.assign(**texts))
    if isinstance(path, str | PathLike):
        with replacing(Path(path)) as part:
            frame.to_csv(part, index=False, **options)
    else:
        frame.to_csv(path, index=False, **options)


def read_csv(path: str | PathLike) -> pd.DataFrame:
    """The frame that `to_csv` wrote: columns of `RUNS` and `SCORES` with their types, others as pandas reads them."""
    known = RUNS | SCORES
    header = unmarked(pd.read_csv(path, nrows=0)).columns
    texts = [name for name in header if name in JSON or known.get(name, (None,))[0] is str]
    frame = unmarked(pd.read_csv(path, dtype=dict.fromkeys(texts, str)))
    frame[texts] = frame[texts].fillna("")
    for name in set(JSON) & set(texts):
        frame[name] = pd.Series([json.loads(text) if text else None for text in frame[name]], frame.index, object)
    return frame


def answered(path: Path) -> pd.DataFrame:
    """A table of scores with the answers, which some studies keep in the table of runs beside it.

    Parameters
    ----------
    path : of a file ``<study>_scores.csv``

    Returns
    -------
    DataFrame
        The table as it is, if it has answers or there is no table of runs (``<study>_runs.csv``); else a row for each
        run, also of those that ended without an answer, with reason, solution, evaluations and the scores.
    """
    frame, beside = read_csv(path), path.with_name(path.name.replace("_scores", "_runs"))
    if "solution" in frame or not beside.exists():
        return frame
    same = ["problem", "method", "set", "noise", "seed"]
    scored = frame.assign(set=frame["settings"].map(str)).drop(columns=set(IDENTITY) - set(same))
    ran = read_csv(beside)[[*IDENTITY, "reason", "solution", "evaluations"]]
    whole = ran.assign(set=ran["settings"].map(str)).merge(scored, on=same, how="left", validate="1:1")
    return whole.drop(columns="set")

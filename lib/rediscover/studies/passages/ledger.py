"""The study's ledger: every published number beside ours; what counts as the same is data, in ``study.yaml``."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...report.ledger import COLUMNS, compare
from ...report.papers import published
from ...system.studies import FOLDER, studies

STUDY = studies()["passages"]
TEXT = STUDY["text"]


def ledger(measured: Mapping[str, Mapping], reason: str = "not measured") -> pd.DataFrame:
    """The ledger of all tables in ``study.yaml``.

    Parameters
    ----------
    measured : part -> what `cells` or `text` give; parts that are missing are not run
    reason : why they are
    """
    absent = {name: ("not comparable", rule["absent"]) for name, rule in TEXT.items() if "absent" in rule}
    parts = []
    for name, rule in STUDY["ledger"].items():
        rows = published(rule["file"])
        if "value" in rule:
            rows = rows[rows[rule["value"]] != ""].assign(value=lambda table, rule=rule: table[rule["value"]])
        fixed = {key: rule[key] for key in ("table", "keys", "row", "column", "definition", "rule")}
        absent["*"] = ("not run", reason)
        parts.append(compare(STUDY["paper"], rows=rows, measured=measured.get(name, {}), absent=absent, **fixed))
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def rubric() -> pd.DataFrame:
    """Table 9 beside the released judge's sentences, as counts; neither text is kept.

    Index: rubric and score. Columns: words (of the printed sentence), kept (of these, in the released sentence in the
    same order: their longest common subsequence, without capitals and punctuation), released_words.
    """
    return pd.read_csv(FOLDER / "passages" / "released_rubric.csv", dtype={"score": str}).set_index(["rubric", "score"])


def cells(part: str, values: pd.DataFrame | pd.Series) -> dict[tuple, dict]:
    """What `ledger` takes for a part: each value with what counts as the same.

    Parameters
    ----------
    values : index (and columns) are the part's keys, under our names or the paper's
    """
    rule = STUDY["ledger"][part]
    names, slack = rule.get("names", {}), rule.get("slack", {})
    found = {}
    for key, value in (values.stack() if isinstance(values, pd.DataFrame) else values).items():
        key = tuple(names.get(word, word) for word in key)
        some = _slack(slack.get(key[-1], slack.get("*", 0.0)), value)
        found[key] = {"value": value, "low": value - some, "high": value + some}
    return found


def text(values: Mapping[str, object], notes: Mapping[str, str]) -> dict[tuple, dict]:
    """What `ledger` takes for the numbers of the text.

    Parameters
    ----------
    values : name of the statistic in ``study.yaml`` -> number, several numbers, or several truth values
    notes : the same name -> what its definition or reason says besides
    """
    printed = published(STUDY["ledger"]["text"]["file"]).drop_duplicates("quantity").set_index("quantity")["value"]
    found = {}
    for quantity, rule in TEXT.items():
        if "absent" not in rule:
            name = rule["statistic"]
            about = {key: rule[key].format(note=notes.get(name)) for key in ("definition", "reason") if key in rule}
            stated = {"rule": rule["rule"]} if "rule" in rule else {}
            found[quantity,] = number(printed[quantity], values[name], rule) | about | stated
    return found


def number(printed: str, value, rule: Mapping) -> dict:
    """A number of the text beside ours, as its rule of comparison takes it.

    Parameters
    ----------
    printed : the paper's words
    value : a number, or several for ``ends`` (smallest and largest, where two are printed) and ``middle`` (their middle
        half); for ``all`` whether each metric goes as the text says
    rule : compare (equal, ends, below, middle or all) and slack

    Returns
    -------
    dict with value, low and high, and parameters where the rule takes them

    Examples
    --------
    >>> number("below 60%", 59.8, {"compare": "below"})
    {'value': 59.8, 'parameters': {'bound': 60.0}}
    >>> number("sinks", [True, False], {"compare": "all"})
    {'value': '1 of 2 metrics', 'parameters': {'expected': '2 of 2 metrics'}}
    """
    kind, slack = rule.get("compare", "equal"), rule.get("slack", 0)
    if kind == "all":
        n = len(value)
        return {"value": f"{sum(value)} of {n} metrics", "parameters": {"expected": f"{n} of {n} metrics"}}
    first, *rest = numbers = re.findall(r"\d+(?:\.\d+)?", printed)
    if kind == "below":
        return {"value": value, "parameters": {"bound": float(first)}}
    if kind == "ends":
        low, high = np.min(np.asarray(value)), np.max(np.asarray(value))
        ours = (low, high) if rest else (value,)
        places = [[text, e - _slack(slack, e), e + _slack(slack, e)] for text, e in zip(numbers, ours, strict=True)]
        shown = f"{low:.2f} to {high:.2f}" if rest else value
        return {"value": shown, "low": low, "high": high, "parameters": {"ends": places}}
    low, value, high = value.quantile([0.25, 0.5, 0.75]) if kind == "middle" else (value, value, value)
    return {"value": value, "low": low, "high": high, "parameters": {"number": first}}


def _slack(rule: float | str, value: float) -> float:
    """A width, or for ``sample`` two standard errors of a percentage in a sample as large as the published one."""
    if not isinstance(rule, str):
        return rule
    printed = published(STUDY["ledger"]["text"]["file"]).set_index("quantity")["value"]
    return 2 * np.sqrt(value * (100 - value) / float(printed["generated equations sampled per model"]))

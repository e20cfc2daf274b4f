"""Named facts: each number that README, paper and essays state is computed in one place, from tables/.

``studies/<key>/facts.py`` has one public function, ``facts()``: name -> a value, a pair of value and form, or a mapping
of more of them, whose names follow after a dot. A form is a number of significant digits, a format such as ``.1f``, or
``word``. What is about all studies is computed here. tables/facts.csv has them all (`rediscover.publish`).
"""

import importlib
import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from ..runs.schema import COPIES, KINDS, PRINTED_IN
from ..system.paths import root
from ..system.studies import FOLDER, studies
from .audits import audits
from .ledger import CLAIM_VERDICTS, NOT_PRINTED, VERDICTS
from .plots import display_name, order
from .tables import CONTROLS, TABLE_DIGITS, number

AS_PRINTED = (*CLAIM_VERDICTS[:3], NOT_PRINTED)
LIMITS = ("evaluations", "seconds", "memory_mb", "max_rows")

WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()


class Interval(NamedTuple):
    """A value and the ends of its interval, shown as ``value [low, high]``."""

    value: float
    low: float
    high: float


def table(name: str) -> pd.DataFrame:
    """A table as the notebooks wrote it."""
    return pd.read_csv(root() / "tables" / f"{name}.csv")


def setting(notebook: str, name: str) -> Any:
    """A parameter of the run that made the tables of a notebook; None where it has no such parameter."""
    path = root() / "tables" / f"{notebook}.provenance.json"
    return json.loads(path.read_text(encoding="utf-8"))["parameters"].get(name)


def one(frame: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row with these values.

    Raises
    ------
    ValueError
        If there is none, or more than one.
    """
    rows = frame[frame[list(where)].eq(pd.Series(where)).all(axis=1)]
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows with {where}, where one was expected")
    return rows.iloc[0]


def recovered_within(study: str, score: str, problems: Iterable[str], evaluations: int) -> int:
    """How many of the problems the method of our own has recovered, without noise, by answers that it had so early.

    Parameters
    ----------
    study : that begins the names of the tables of runs and of scores
    score : column that is 1 where a problem is recovered
    problems : ids
    evaluations : at most, as the answer's record has them
    """
    on = ["problem", "method", "noise", "seed"]
    answers = table(f"{study}_runs")[[*on, "evaluations"]].merge(table(f"{study}_scores"), on=on)
    answers = answers.query("method == 'bidirectional' and noise == 0 and evaluations <= @evaluations")
    return int(answers.loc[answers["problem"].isin(set(problems)), score].sum())


def listed(numbers: Iterable[int]) -> str:
    """Whole numbers in words.

    Examples
    --------
    >>> listed([1]), listed([2, 3, 4]), listed([1, 3]), listed([])
    ('one', 'two to four', 'one and three', 'none')
    """
    found = sorted(numbers)
    words = [WORDS[number] for number in found]
    if len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{words[0]} to {words[-1]}"
    return " and ".join(words) or "none"


def shared(*found: str) -> str:
    """What several texts have in common, or all of them where a sentence should no longer speak of one.

    Examples
    --------
    >>> shared("six", "six"), shared("six", "five")
    ('six', 'six or five')
    """
    return " or ".join(dict.fromkeys(found))


def next_best(rows: pd.DataFrame, method: str = "bidirectional") -> dict[str, Any]:
    """The best of all other methods that ran, controls aside, as the facts ``next_best`` and ``next_best.method``.

    Parameters
    ----------
    rows : DataFrame
        One row a method: method, value, low, high.
    method : that they stand beside

    Returns
    -------
    dict
        value (`Interval`) and method, those that share the value joined.

    Examples
    --------
    >>> rows = pd.DataFrame({"method": ["oracle", "operon", "udsr"], "value": [1.0, 0.2, 0.2], "low": 0.1, "high": 0.3})
    >>> next_best(rows)["method"]
    'Operon and uDSR'
    """
    others = rows[~rows["method"].isin((method, f"{method}_first", *CONTROLS))]
    best = others[others["value"] == others["value"].max()]
    first = best.iloc[0]
    names = " and ".join(map(display_name, order(best["method"])))
    return {"value": Interval(first["value"], first["low"], first["high"]), "method": names}


def how_many(true: Iterable[bool]) -> str:
    """Of some comparisons: all, some or no."""
    found = list(true)
    return "all" if all(found) else "some" if any(found) else "no"


def formatted(value: Any, form: int | str | None = None) -> str:
    """A fact as prose has it.

    Parameters
    ----------
    value : text, number or Interval (its ends have one significant digit less)
    form : significant digits, a format, or ``word`` (digits above twenty); by default thousands are set off, and of
        others 3 digits shown

    Raises
    ------
    ValueError
        For a value that is not finite.

    Examples
    --------
    >>> formatted(1281), formatted(3, "word"), formatted(26, "word"), formatted(0.0123456), formatted(0.98, 2)
    ('1,281', 'three', '26', '0.0123', '0.98')
    >>> formatted(0.667, ".0%"), formatted(2.0)
    ('67%', '2')
    >>> formatted(Interval(27.04, 23.5, 30.2), ".1f"), formatted(Interval(0.3582, 0.13, 0.5621))
    ('27.0 [23.5, 30.2]', '0.358 [0.13, 0.56]')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        ends = (form or 3) - 1 if not isinstance(form, str) else form
        return f"{formatted(value.value, form)} [{formatted(value.low, ends)}, {formatted(value.high, ends)}]"
    if not math.isfinite(value):
        raise ValueError("no number to show")
    if form == "word":
        return WORDS[int(value)] if value < len(WORDS) else f"{int(value):,}"
    if isinstance(form, str):
        return format(value, form)
    return f"{int(value):,}" if value == int(value) else number(float(value), form or 3)


def of_all_studies() -> dict[str, Any]:
    """Verdicts by paper, audits, cost, and the limits of each notebook's runs; of the papers that have claims."""
    ledger, claims = table("ledger"), table("claims")
    cost = table("cost").query("profile == 'reference' and notebook == 'all'")
    ledger = ledger[ledger["paper"].isin(claims["paper"])]
    found: dict[str, Any] = {
        "audits": len(audits(root() / "notebooks")),
        "claims.papers": (claims["paper"].nunique(), "word"),
        "ledger.share_not_run": ((ledger["verdict"] == "not run").mean(), ".0%"),
        "cost.minutes": (cost["minutes"].max(), ".0f"),
        "cost.gigabytes": (cost["gigabytes"].max(), 2),
    }
    for name, frame, counted in (("ledger", ledger, _cells), ("claims", claims, _claims)):
        found[name] = counted(frame) | {paper: counted(part) for paper, part in frame.groupby("paper")}
    found["ledger"] |= _evidence(ledger, table("ledger_swaps"))
    found["claims.as_printed"] = _counts(claims.rename(columns={"verdict": "", "as_printed": "verdict"}), AS_PRINTED)
    for notebook in (path.name.partition(".")[0] for path in sorted((root() / "tables").glob("*.provenance.json"))):
        special = setting(notebook, "evaluations_by_method") or {}
        found[notebook] = {name: limit for name in LIMITS if (limit := setting(notebook, name))}
        found[notebook] |= {f"evaluations.{method}": limit for method, limit in special.items()}
    return found


def _cells(ledger):
    """Printed numbers by verdict; those of which only the copying is checked are counted apart, by kind."""
    apart = {kind: (ledger["kind"] == kind).sum() for kind in COPIES}
    return _counts(ledger[~ledger["kind"].isin(COPIES)], VERDICTS) | {"count": len(ledger)} | apart


def _claims(claims):
    return _counts(claims, CLAIM_VERDICTS)


def _evidence(ledger, swaps):
    """Verdicts by kind of evidence, and what is known of the rules behind the reproduced cells that are no copies."""
    back = ledger[(ledger["verdict"] == "reproduced") & ~ledger["kind"].isin(COPIES)]
    ran = back["kind"].isin(("rerun", "reimplementation"))
    answered = ran | (back["kind"] == "recorded")
    undiscerning = [f"{row.paper} {row.table}" for row in swaps[swaps["share"] == 1].itertuples()]
    tells = (back["others"] > 0) & (back["others_passing"] == 0)
    counts = ledger.groupby("verdict")["kind"].value_counts()
    return {
        **{f"{v.replace(' ', '_')}.{kind}": counts.get((v, kind), 0) for v in VERDICTS for kind in KINDS},
        "reproduced.ran": ran.sum(),
        "reproduced.by_runs": answered.sum(),
        "reproduced.share_ran": (ran.mean(), ".0%"),
        "reproduced.discriminating": (tells & answered).sum(),
        "reproduced.after": (back["rule_chosen"] == "after").sum(),
        "reproduced.by_runs_after": ((back["rule_chosen"] == "after") & answered).sum(),
        "reproduced.elsewhere": (back["printed_in"] != PRINTED_IN[0]).sum(),
        "swaps.all": ", ".join(undiscerning) or "no table",
        "swaps.cells": swaps.loc[swaps["share"] == 1, "reproduced"].sum(),
        "swaps.with_others": (back["paper"] + " " + back["table"]).isin(undiscerning)[back["others"] > 0].sum(),
    }


def _counts(frame, verdicts):
    return {"count": len(frame)} | {v.replace(" ", "_"): (frame["verdict"] == v).sum() for v in verdicts}


def computed() -> pd.DataFrame:
    """Every fact from the tables there are: fact, value (empty for a text), text, and where it is computed."""
    sources = {"report/facts.py": of_all_studies()}
    for key in studies():
        if (FOLDER / key / "facts.py").exists():
            own = importlib.import_module(f"rediscover.studies.{key}.facts").facts()
            sources[f"studies/{key}/facts.py"] = {key: own}
    rows = []
    for source, found in sources.items():
        for name, entry in _flat(found):
            value, form = entry if type(entry) is tuple else (entry, None)
            middle = value.value if isinstance(value, Interval) else value
            stable = "" if isinstance(value, str) else f"{middle:.{TABLE_DIGITS}g}"
            try:
                rows.append({"fact": name, "value": stable, "text": formatted(value, form), "computed_in": source})
            except (ValueError, IndexError) as error:
                raise ValueError(f"{source}: {name}: {error}") from None
    return pd.DataFrame(rows)


def _flat(found, start=""):
    for name, entry in found.items():
        if isinstance(entry, dict):
            yield from _flat(entry, f"{start}{name}.")
        else:
            yield f"{start}{name}", entry

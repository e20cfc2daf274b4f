"""The verdicts of the ledger a second time, from docs/ledger.md and the words of rules.yaml, by code of its own."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.stats import t as student

ROOT = Path(__file__).parents[1]
LIB = ROOT / "lib" / "rediscover"
RULES = yaml.safe_load((LIB / "report" / "rules.yaml").read_text(encoding="utf-8"))
LEDGER = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
STUDY = {
    notebook: path.parent
    for path in LIB.glob("studies/*/study.yaml")
    for notebook in yaml.safe_load(path.read_text(encoding="utf-8"))["notebooks"]
}
TESTED = ("reproduced", "differs", "undecided")
SAID = {"reproduced": "as printed", "differs": "not as printed", "undecided": "undecided"}


def one_run_more(values, scale, bounds, n):
    """Ends of Student's prediction interval, on the scale of the score."""
    low, high = bounds[0] or 0.0, bounds[1]
    x = np.array(values, float)
    if len(x) == 1:
        return x[0], x[0]
    if scale == "logit":
        p = np.clip((x - low) / (high - low), 0.5 / n, 1 - 0.5 / n)
        x = np.log(p / (1 - p))
    logs = scale == "log" and min(values) > 0
    x = np.log(x) if logs else x
    half = student.isf(0.025, len(x) - 1) * np.sqrt(x.var(ddof=1) * (len(x) + 1) / len(x))
    ends = [x.mean() - half, x.mean() + half]
    if logs:
        return math.exp(ends[0]), math.exp(ends[1]) if ends[1] < 700 else math.inf
    if scale == "logit":
        p = [1 / (1 + math.exp(-end)) if end > -700 else 0.0 for end in ends]
        # An end within half a problem of a bound is that bound.
        p = [0.0 if p[0] < 0.5000001 / n else p[0], 1.0 if p[1] > 1 - 0.5000001 / n else p[1]]
        return tuple(low + (high - low) * end for end in p)
    limit = math.inf if high is None else high
    return (ends[0] if bounds[0] is None else max(ends[0], low)), min(ends[1], limit)


def rounds(text, low, high):
    """Whether some number that is printed as this text lies in an interval."""
    text = text.replace(",", "")
    if not re.fullmatch(r"[-+]?\d*\.?\d+(e[-+]?\d+)?", text.lower()):
        return False
    digits, _, power = text.lower().partition("e")
    half = 10 ** (int(power or 0) - len(digits.split(".")[1] if "." in digits else "")) / 2
    return bool(float(text) - half <= high and float(text) + half >= low)


def cell_of_mdbench(text):
    found = re.search(r"1e(-?\d+) \((\d+)\)|(-?\d+) (\d+)$", text)
    if found:
        return tuple(int(number) for number in found.groups() if number is not None)
    return "mark" if text in ("identified", "found") else "failure"


def same(rule, printed, row, parameters):
    """True, False, or None where neither can be said; 'nothing' where there is nothing to compare."""
    test = RULES[rule]["test"]
    if test == "digits":
        ends = (parameters.get("value", float(row[end])) for end in ("low", "high"))
        return rounds(parameters.get("number", printed), *ends)
    if test == "seeds":
        return bool(parameters["values"]) and rounds(printed, *one_run_more(**seeds_of(parameters)))
    if test == "text":
        return row["measured"] == parameters.get("expected", printed)
    if test == "ends":
        return all(rounds(*end) for end in parameters["ends"])
    if test == "bound":
        return float(parameters.get("value", row["measured"])) < parameters["bound"]
    if test == "drawn":
        return parameters["inside"] and parameters["p"] > 1e-6
    theirs, ours = cell_of_mdbench(printed), [cell_of_mdbench(value) for value in parameters["values"]]
    if theirs == "failure" and all(one == "failure" for one in ours):
        return "nothing"
    if any(isinstance(one, str) for one in [theirs, *ours]):
        agree = [one == theirs for one in ours]
        return all(agree) if all(agree) or not any(agree) else None
    powers, sizes = (list(numbers) for numbers in zip(*ours, strict=True))
    power, size = one_run_more(powers, "plain", [None, None], 1), one_run_more(sizes, "log", [0, None], 1)
    return all(
        value + 0.5 >= low and value - 0.5 <= high for value, (low, high) in zip(theirs, (power, size), strict=True)
    )


def seeds_of(parameters):
    known = [value for value in parameters["values"] if value is not None]
    return {"values": known, **{name: parameters[name] for name in ("scale", "bounds", "n")}}


def width(rule, row, parameters):
    """Lower and upper end of what a number is compared by, equal where it is one value; of cells whether they vary."""
    test = RULES[rule]["test"]
    if test == "seeds":
        return one_run_more(**seeds_of(parameters))
    if test == "cells":
        ours = {cell_of_mdbench(value) for value in parameters["values"]}
        return 0, int(len(ours) > 1 and not any(isinstance(one, str) for one in ours))
    return (float(row["low"]), float(row["high"])) if test == "digits" else (0, 0)


def verdict(row, others):
    """Verdict, what the rule adds to the reason, and how many of the other printed values would have passed."""
    rule, parameters = row["rule"], json.loads(row["parameters"] or "{}")
    chance, values = RULES[rule].get("chance"), parameters.get("values", [])
    found = same(rule, row["published"], row, parameters)
    passing = sum(same(rule, other, row, parameters) is True for other in others)
    if found == "nothing":
        return "not comparable", "", passing
    if chance == "seeds" and len(values) == 1:
        return "undecided", f"one seed; {'equals' if found else 'does not equal'} the printed digit", passing
    low, high = width(rule, row, parameters)
    note = ""
    if chance == "seeds" and "scale" in parameters:
        note = f"{len(values)} seeds {min(values):.4g} to {max(values):.4g}, one run more {low:.4g} to {high:.4g}"
    elif chance == "seeds":
        note = f"{len(values)} seeds {', '.join(values)}"
    many = len(others) > 1 and passing >= len(others) / 2
    if found is None:
        return "undecided", note, passing
    if chance and low < high and many:
        where = f"where {passing} of {len(others)} other printed values lie"
        return "undecided", f"{note}, {where}" if note else f"an interval {where}", passing
    least, most = parameters.get("bounds", [None, None])
    if chance and None not in (least, most) and high - low > (most - least) / 2:
        return "undecided", f"{note}, more than half of its scale", passing
    if found and many and not note:
        note = f"{passing} of {len(others)} other methods print {'what passes too' if low < high else 'the same'}"
    return ("reproduced" if found else "differs"), note, passing


def places():
    """What is printed for other methods in the place of each row."""
    keys = [
        (row.paper, row.table, row.column if row.row.startswith(row.method) else row.row) for row in LEDGER.itertuples()
    ]
    printed = LEDGER.assign(place=keys)[(LEDGER["method"] != "") & (LEDGER["published"] != "")]
    groups = {place: part[["method", "published"]].to_numpy().tolist() for place, part in printed.groupby("place")}
    for key, row in zip(keys, LEDGER.to_dict("records"), strict=True):
        yield row, [text for method, text in groups.get(key, []) if row["method"] not in ("", method)]


def test_every_verdict_follows_from_its_row():
    asked = 0
    for row, others in places():
        if row["verdict"] in TESTED:
            found, note, passing = verdict(row, others)
            about = f"tables/ledger.csv, {row['source']}: {row['table']}, {row['row']}, {row['column']}"
            assert (found, passing, len(others)) == (row["verdict"], int(row["others_passing"]), int(row["others"])), (
                about
            )
            trial = json.loads(row["parameters"] or "{}").get("trial")
            parts = row["reason"].split("; with ")
            assert (
                any(part.endswith(f": {note}, {SAID[found]}") for part in parts[1:]) if trial else note in parts[0]
            ), about
            asked += 1
    assert asked > 1900


def test_trials_decide_by_what_they_found():
    for row in LEDGER[LEDGER["parameters"].str.contains('"trial"')].to_dict("records"):
        parameters, study = json.loads(row["parameters"]), STUDY[row["notebook"]]
        rules = yaml.safe_load((study / "trials.yaml").read_text(encoding="utf-8"))
        kept = pd.read_csv(study / "trials.csv", dtype=str, keep_default_na=False)
        mine = kept[(kept[["table", "row", "column"]] == [row["table"], row["row"], row["column"]]).all(axis=1)]
        tried = zip(mine["trial"], mine["values"].map(json.loads), strict=True)
        may = {trial: values for trial, values in tried if rules[trial]["decides"]}
        assert parameters["values"] == may[parameters["trial"]], row["source"]
        assert len(parameters["values"]) == max(map(len, may.values())), row["source"]


def test_nothing_that_differs_rests_on_one_seed():
    for row in LEDGER[LEDGER["verdict"] == "differs"].to_dict("records"):
        if row["rule"] and RULES[row["rule"]].get("chance") == "seeds":
            assert len(json.loads(row["parameters"])["values"]) > 1, row["source"]

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
METHODS = yaml.safe_load((LIB / "studies" / "methods.yaml").read_text(encoding="utf-8"))
UNLIKE = {paper: labels for entry in METHODS if "unlike" in entry for paper, labels in entry["papers"].items()}
ENDS = ("low", "high")
SAID = {"reproduced": "as printed", "differs": "not as printed", "undecided": "undecided"}


def one_run_more(values, scale="plain", bounds=(None, None), n=1, **_):
    """Ends of Student's prediction interval, on the scale of the score."""
    x, (low, high) = np.array([v for v in values if v is not None], float), bounds
    if len(x) == 1:
        return x[0], x[0]
    if scale == "logit":
        p = np.clip((x - low) / (high - low), 0.5 / n, 1 - 0.5 / n)
        x = np.log(p / (1 - p))
    logs = scale == "log" and x.min() > 0
    x = np.log(x) if logs else x
    half = student.isf(0.025, len(x) - 1) * np.sqrt(x.var(ddof=1) * (len(x) + 1) / len(x))
    ends = x.mean() - half, x.mean() + half
    if logs:
        ends = tuple(math.exp(end) if end < 700 else math.inf for end in ends)
    if scale == "logit":
        p = [1 / (1 + math.exp(-end)) if end > -700 else 0.0 for end in ends]
        # An end within half a problem of a bound is that bound.
        p = [0.0 if p[0] < 0.5000001 / n else p[0], 1.0 if p[1] > 1 - 0.5000001 / n else p[1]]
        ends = tuple(low + (high - low) * end for end in p)
    return max(ends[0], -math.inf if low is None else low), min(ends[1], math.inf if high is None else high)


def rounds(text, low, high):
    """Whether some number that is printed as this text lies in an interval."""
    text = text.replace(",", "").lower()
    if not re.fullmatch(r"[-+]?\d*\.?\d+(e[-+]?\d+)?", text):
        return False
    digits, _, power = text.partition("e")
    half = 10 ** (int(power or 0) - len(digits.partition(".")[2])) / 2
    return bool(float(text) - half <= high and float(text) + half >= low)


def cell_of_mdbench(text):
    if found := re.search(r"1e(-?\d+) \((\d+)\)|(-?\d+) (\d+)$", text):
        return tuple(int(number) for number in found.groups() if number is not None)
    return "mark" if text in ("identified", "found") else "failure"


def intervals(test, given):
    """Ends of each number that rests on seeds: a score's, or those of a power and a complexity, without marks."""
    ours = [cell_of_mdbench(value) for value in given["values"]] if test == "cells" else ["no cell"]
    if any(isinstance(one, str) for one in ours):
        return [one_run_more(**given)] if test == "seeds" else []
    return [one_run_more([one[0] for one in ours]), one_run_more([one[1] for one in ours], "log", (0, None))]


def same(test, printed, row, given):
    """True, False, or None where neither can be said; 'nothing' where there is nothing to compare."""
    simple = {
        "digits": lambda: rounds(given.get("number", printed), *(given.get("value", float(row[end])) for end in ENDS)),
        "seeds": lambda: rounds(printed, *intervals(test, given)[0]),
        "text": lambda: row["measured"] == given.get("expected", printed),
        "ends": lambda: all(rounds(*end) for end in given["ends"]),
        "bound": lambda: float(given.get("value", row["measured"])) < given["bound"],
        "drawn": lambda: given["inside"] and given["p"] > 1e-6,
    }
    if test in simple:
        return simple[test]()
    theirs, ours = cell_of_mdbench(printed), [cell_of_mdbench(value) for value in given["values"]]
    if {theirs, *ours} == {"failure"}:
        return "nothing"
    if any(isinstance(one, str) for one in [theirs, *ours]):
        agree = [one == theirs for one in ours]
        return all(agree) if all(agree) or not any(agree) else None
    both = zip(theirs, intervals(test, given), strict=True)
    return all(value + 0.5 >= low and value - 0.5 <= high for value, (low, high) in both)


def width(test, row, given):
    """Lower and upper end of what a number is compared by, equal where it is one value; of cells whether they vary."""
    if test == "cells":
        return 0, int(len(set(given["values"])) > 1 and len(intervals(test, given)) > 0)
    return one_run_more(**given) if test == "seeds" else (float(row["low"] or 0), float(row["high"] or 0))


def verdict(row, others):
    """Verdict, what the rule adds to the reason, and how many of the other printed values would have passed."""
    given, rule = json.loads(row["parameters"] or "{}"), RULES[row["rule"]]
    test, chance = rule.get("test"), rule.get("chance")
    found, values = same(test, row["published"], row, given), given.get("values", [])
    passing = sum(same(test, other, row, given) is True for other in others)
    (low, high), many = width(test, row, given), len(others) > 1 and passing >= len(others) / 2
    if chance == "seeds" and len(values) < 3:
        note = ("no value", "one seed", "two seeds")[len(values)]
        verb = ("does not hold", "holds") if low < high else ("does not equal", "equals")
        said = f"{'an interval that ' if low < high else ''}{verb[bool(found)]} the printed digit"
        return "undecided", f"{note}; {said}", passing
    if left := rule.get("open", {}).get("reproduced" if found else "differs"):
        return "undecided", left, passing
    note = f"{', '.join(map(str, values))} in {len(values)} seeds" if chance == "seeds" else ""
    if test == "seeds":
        note = f"{min(values):.4g} to {max(values):.4g} in {len(values)} seeds"
        note += f", {low:.4g} to {high:.4g} in one run more (95 %)"
    least, most = given.get("bounds", (None, None))
    if found is not None and chance and test != "cells" and low < high and many:
        note = f"{note}," if note else "an interval"
        return "undecided", f"{note} where {passing} of {len(others)} other printed values lie", passing
    if found is not None and chance and None not in (least, most) and high - low > (most - least) / 2:
        return "undecided", f"{note}, more than half of its scale", passing
    if found and test == "seeds":
        places = [
            float(text.replace(",", ""))
            for text in [row["published"], *others]
            if re.fullmatch(r"-?[\d,]+\.?\d*(e-?\d+)?", text)
        ]
        logs = given["scale"] == "log" and min([*places, low]) > 0
        reach = np.ptp(np.log([low, high])) if logs else high - low
        if len(places) > 2 and reach > np.ptp(np.log(places) if logs else places) / 2:
            return "undecided", f"{note}, more than half of the range that is printed there", passing
    if found is not None and test == "cells" and low < high:
        found, wide = of_each_number(row, others, given, found)
        if wide:
            verdicts = {True: "reproduced", False: "differs", None: "undecided"}
            return verdicts[found], ", ".join([note, *wide]), passing
    if found and many and not note:
        note = f"{passing} of {len(others)} other methods print {'what passes too' if low < high else 'the same'}"
    if found is None or (found and test == "seeds" and row["method"] in UNLIKE.get(row["paper"].lower(), ())):
        return "undecided", note, passing
    return "reproduced" if found else "differs", note, passing


def of_each_number(row, others, given, found):
    """True, False or None of a power of ten and a complexity, each asked alone, and which intervals are too wide."""
    mine = cell_of_mdbench(row["published"])
    if isinstance(mine, str):
        return found, []
    theirs = [cell for cell in map(cell_of_mdbench, others) if not isinstance(cell, str)]
    said, wide = [], []
    for which, (low, high) in enumerate(intervals("cells", given)):
        name, printed = ("powers of ten", "complexities")[which], [cell[which] for cell in theirs]
        lie = sum(low - 0.5 <= value <= high + 0.5 for value in printed)
        all_of_them = [mine[which], *printed]
        if low < high and len(printed) > 1 and lie >= len(printed) / 2:
            wide.append(f"where {lie} of {len(printed)} other printed {name} lie")
        elif which == 0 and len(all_of_them) > 2 and high - low > np.ptp(all_of_them) / 2:
            wide.append(f"more than half of the printed {name}")
        else:
            said.append(low - 0.5 <= mine[which] <= high + 0.5)
    return (False if False in said else None if wide else True), wide


def rows():
    """Each tested row, and what is printed for other methods in its place."""
    places = [(r.paper, r.table, r.column if r.row.startswith(r.method) else r.row) for r in LEDGER.itertuples()]
    named = LEDGER.assign(place=places)[(LEDGER["method"] != "") & (LEDGER["published"] != "")]
    groups = {place: part[["method", "published"]].to_numpy().tolist() for place, part in named.groupby("place")}
    for place, row in zip(places, LEDGER.to_dict("records"), strict=True):
        if row["verdict"] in SAID:
            yield row, [text for method, text in groups.get(place, []) if row["method"] not in ("", method)]


def test_every_verdict_follows_from_its_row():
    for row, others in (asked := list(rows())):
        (found, note, passing), given = verdict(row, others), json.loads(row["parameters"] or "{}")
        about = f"{row['source']}: {row['table']}, {row['row']}, {row['column']}"
        assert (found, str(passing), str(len(others))) == (row["verdict"], row["others_passing"], row["others"]), about
        told = f"; {row['reason']}".split("; with ")[1:]
        aside = r"( \(solved by the rule before [^()]*\))?$"
        said = note or ", ".join(given.get("values", []))  # a trial without chance says its value
        ended = re.compile(re.escape(f": {said}, {SAID[found]}") + aside)
        decided = any(ended.search(part) for part in told)
        assert decided if "trial" in given else note in row["reason"], f"{about}: {note}"
        if (test := RULES[row["rule"]]["test"]) in ("seeds", "cells"):
            stated = [float(end) for end in (*(row[end] for end in ENDS), *given.get("complexity", ())) if end != ""]
            assert np.allclose(stated, np.ravel(intervals(test, given))), about
    assert len(asked) > 1900

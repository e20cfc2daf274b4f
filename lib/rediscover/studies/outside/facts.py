"""What prose states in numbers of problems from outside: recorded runs, and problems solved of whole blocks."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ...problems import problems
from ...report.facts import Interval, next_best, setting, table
from ...system.paths import root

NONE = "not recorded yet"
FRESH = ("fresh", "fresh_pairs", "later", "later_pairs")  # tables of fresh problems
LENGTHS = {"short": ("1 to 3", "4 to 6"), "middle": ("7 to 10",), "long": ("over 10",)}  # of laws, in operators
NOISY = (0, 0.001, 0.01, 0.1)  # of SRBench
DRAWN = (0.0, 0.01, 0.05, 0.1)  # of fresh problems, on both draws; on the frozen version's each has an aim
FROZEN, LATER = OWN = "bidirectional", "bidirectional_noise"
VERSIONS = {"later": LATER, "frozen": FROZEN}
EVOLVED, WIDE = "regularised_evolution", "regularised_evolution_wide"
COUNTED = {"symbolic solution": "recovered", "form": "form"}  # rule of a pair -> the column that counts by it
FLOWING = {"frozen": FROZEN} | {name: name for name in ("sindy_cross", "wsindy_cross")}  # on chaotic flows


def facts() -> dict[str, Any]:
    """Name -> value, or value and form.

    Problems solved are "7 of 10" of a block that is recorded whole, else `NONE`.
    """
    runs = table("outside_progress")
    names = ("laws", "lsr_size", "srbench", "accepted", "fronts", "first", "samples", "pairs")
    laws, lengths, noisy, fast, front, answer, samples, pairs = (_shares(f"outside_{name}") for name in names)
    flows = _shares("outside_flows")
    drawn, opponents, later, versions = (_shares(f"outside_{name}") for name in FRESH)
    frozen = {"method": FROZEN}
    exact = {"suite": "LSR-Transform", "noise": 0, "budget": "full"}
    parents, known = ({id.partition("/")[2].partition("_")[0] for id in problems(study)} for study in ("lsr", "srsd"))
    beside = {f"{level:g}": _beside(drawn, opponents, level) for level in DRAWN}
    ours = _where(versions, version=LATER)
    fresh = {f"fresh.{level:g}": _versions(later, ours, level) | _rivals(later, versions, level) for level in DRAWN}
    return {
        "runs": _runs(runs),
        "lsr": _solved(laws, study="lsr", **frozen),
        "lsr_share": _per_cent(laws, study="lsr", **frozen),
        "lsr_by": {name: _within(lengths, *ranges) for name, ranges in LENGTHS.items()},
        "parents": f"{len(parents & known)} of {len(parents)}",
        "sample": {
            "frozen": _solved(samples, **exact, **frozen),
            "operon": _solved(samples, **exact, method="operon"),
            "power_law": _solved(samples, **exact, method="power_law"),
        },
        "noisy_power_law.p": _least(pairs, "p_holm", suite="Feynman", opponent="power_law"),
        "phybench": _solved(laws, study="phybench", **frozen),
        "phybench_exact": _first(laws, "without_rounding", study="phybench", **frozen),
        **{
            group: {f"{level:g}": _solved(noisy, group=group, noise=level, **frozen) for level in NOISY}
            for group in ("feynman", "strogatz")
        },
        "feynman_solved": {
            f"{level:g}": _first(noisy, "recovered", group="feynman", noise=level, **frozen) for level in NOISY
        },
        "again": _again(noisy, laws, _shares("outside_again")),
        "aims": _aims("missing"),
        "aims.fresh": _ahead(found["verdict"] for found in beside.values()),
        "aims.later": _aims(f"missing_{LATER}"),
        "measured": {"front": _always(front), "answer": _always(answer), "power_law": _always(answer, "power_law")},
        **fresh,
        "drawn": beside,
        "within": {f"{level:g}": _within_functions(level) for level in (0.0, 0.1)},
        "within.wide": _within_functions(0.0, searched=WIDE)["given"],
        "within_later": {f"{level:g}": _within_functions(level, LATER, "later") for level in DRAWN},
        "fresh_seconds": _seconds(_where(runs, block="fresh_sample")),
        "flows": {f"{level:g}": _flows(flows, level) for level in (0, 0.01)},
        "accepted": {
            "answer": _solved(fast, which="first answer", **frozen),
            "front": _solved(fast, which="any of the front", **frozen),
        },
    }


def _flows(flows: pd.DataFrame, level: float) -> dict[str, Any]:
    """Chaotic flows that methods identify, and that sparse regression keeps step by step, in words."""
    kept = _where(_shares("outside_sparse_choice"), noise=level)
    counts = {row: _first(flows, "recovered", noise=level, method=name) for row, name in FLOWING.items()}
    counts |= {step: _first(kept, step) for step in ("library", "differences", "settings")}
    others = _where(flows[flows["method"] != FROZEN], noise=level) if len(flows) else flows
    counts["best"] = others["recovered"].max() if len(others) else NONE
    words = {name: n if n == NONE else (int(n), "word") for name, n in counts.items()}
    pairs = _shares("outside_flows_pairs").assign(rule="symbolic solution")  # they have one rule
    pair = _nearest(flows, pairs, level, "symbolic solution")
    return words | {"difference": _points(pair), "verdict": _verdict(pair)}


def _runs(progress: pd.DataFrame) -> dict[str, Any]:
    """Runs planned and recorded, their core-hours, and those of the others if they take as long as their method's."""
    made = progress.assign(early=progress["block"].str.startswith("early")).groupby(["method", "early"])
    made = made[["planned", "recorded", "hours"]].sum()
    each = (made["hours"] / made["recorded"]).unstack()
    early = pd.Series(setting("80_outside", "early"))
    budgets = setting("80_outside", "evaluations_by_method")
    share = early / [budgets.get(name, setting("80_outside", "evaluations")) for name in early.index]
    each[True] = each[True].fillna(each[False] * share)
    left = (made["planned"] - made["recorded"]).unstack() * each
    return {
        "planned": made["planned"].sum(),
        "recorded": made["recorded"].sum(),
        "hours": (made["hours"].sum(), ".0f"),
        "hours_left": (left.stack().sum(), ".0f"),
    }


def _aims(column: str) -> dict[str, Any]:
    """How many aims that rules.yaml sets for a later version one meets and misses, by a column of its distances."""
    missing = _shares("outside_aims").get(column, pd.Series(dtype=float))
    return _counted(len(missing), int((missing == 0).sum()), int((missing > 0).sum()))


def _ahead(verdicts: Iterable[str]) -> dict[str, Any]:
    """The same of those that fresh.yaml sets for the frozen one: to be ahead at each level of noise."""
    found = list(verdicts)
    return _counted(len(found), found.count("ahead"), found.count("not told apart") + found.count("behind"))


def _counted(count: int, met: int, missed: int) -> dict[str, Any]:
    found = {"count": count, "met": met, "missed": missed, "open": count - met - missed}
    return {key: (n, "word") for key, n in found.items()}


def _versions(shares: pd.DataFrame, pairs: pd.DataFrame, level: float) -> dict[str, Any]:
    """The frozen and the later version on the draw of the later one."""
    pairs = _where(pairs, rule="symbolic solution", opponent=FROZEN)
    return {
        "frozen": _solved(shares, noise=level, method=FROZEN),
        "later": _solved(shares, noise=level, method=LATER),
        "gained": _first(pairs, "ours_alone", noise=level),
        "lost": _first(pairs, "theirs_alone", noise=level),
        "p": _first(pairs, "p", noise=level),
    }


def _again(noisy: pd.DataFrame, laws: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, Any]:
    """The later version on PHYBench's and SRBench's laws, and laws that only one of the two versions solves."""

    def alone(suite: str, noise: float) -> dict[str, Any]:
        columns = {"gained": "later_alone", "lost": "frozen_alone", "p": "p_holm"}
        return {name: _first(pairs, column, suite=suite, noise=noise) for name, column in columns.items()}

    def solved(group: str, noise: float) -> str:
        return _solved(noisy, group=group, noise=noise, method=LATER)

    return {
        "strogatz": solved("strogatz", 0),
        **{f"{noise:g}": {"later": solved("feynman", noise), **alone("feynman", noise)} for noise in NOISY},
        "phybench": {
            "later": _solved(laws, study="phybench", method=LATER),
            "exact": _first(laws, "without_rounding", study="phybench", method=LATER),
            **alone("phybench", 0),
        },
    }


def _rivals(shares: pd.DataFrame, pairs: pd.DataFrame, level: float) -> dict[str, Any]:
    """Of what `_beside` says of the later version, what prose states, and the frozen one beside the same opponents."""
    later, frozen = (_where(pairs, version=version) for version in (LATER, FROZEN))
    beside = _beside(shares, later, level, LATER)
    found = {name: beside[name] for name in ("opponent", "theirs", "difference", "verdict")}
    form = {name: beside["form"][name] for name in ("opponent", "theirs", "difference")}
    form |= {row: _first(shares, "form", noise=level, method=name) for row, name in VERSIONS.items()}
    for rule, part in (("symbolic solution", found), ("form", form)):
        pair = _nearest(shares, later, level, rule)
        same = {"rule": rule, "noise": level, "opponent": _first(pair, "opponent")}
        part |= {"by_frozen": _points(_where(frozen, **same)), "corrected": _first(pair, "p_holm")}
    return found | {"form": form}


def _nearest(shares: pd.DataFrame, pairs: pd.DataFrame, level: float, rule: str) -> pd.DataFrame:
    """The row of `pairs` with the opponent that has most by a rule; of several, the one that comes nearest to ours."""
    rows, counts = _where(pairs, rule=rule, noise=level), _where(shares, noise=level)
    if rows.empty or counts.empty:
        return rows
    counts = counts.set_index("method")[COUNTED[rule]].drop(index=[*OWN], errors="ignore")
    return rows[rows["opponent"].isin(counts.index[counts == counts.max()])].nsmallest(1, "low")


def _beside(shares: pd.DataFrame, pairs: pd.DataFrame, level: float, version: str = FROZEN) -> dict[str, Any]:
    """A version of our own method, the frozen one or another, and the opponents on its draw: ``own`` and ``theirs``.

    By the rule and by the form it is compared with the opponent that has most, be it one of the rules or one that was
    added. To be ahead needs all of the opponents of the rules.
    """
    rows = _where(shares, noise=level)
    others = rows[~rows["method"].isin(OWN)] if len(rows) else rows
    if not len(others):
        none = dict.fromkeys(("own", "opponent", "theirs", "most", "difference", "verdict"), NONE)
        return none | dict.fromkeys(("form", "fit", "exact"), none)
    registered = setting("80_outside", "opponents")
    ran = len({*others["method"]} & {*registered})
    waits = f"open, as {ran} of {len(registered)} opponents have run"
    own, found = rows[rows["method"] == version].iloc[0], {}
    for rule, column in COUNTED.items():
        pair = _nearest(shares, pairs, level, rule)
        verdict = _verdict(pair)
        found[rule] = {
            "opponent": next_best(others.assign(value=others[column]))["method"],
            "difference": _points(pair),
            "verdict": waits if verdict == "ahead" and ran < len(registered) else verdict,
            "p": (pair["p"].iloc[0], 2),
        }
    return {
        "own": _solved(shares, noise=level, method=version),
        "theirs": f"{others['recovered'].max()} of {own['n']}",
        "most": (int(others["recovered"].max()), "word"),
        **found["symbolic solution"],
        "form": {"own": own["form"], "theirs": others["form"].max(), **found["form"]},
        "fit": {"own": own["r2_above_0999"], "theirs": others["r2_above_0999"].max()},
        "exact": {"own": own["without_rounding"], "theirs": others["without_rounding"].max()},
    }


def _within_functions(
    level: float, version: str = FROZEN, draw: str = "fresh", searched: str = EVOLVED
) -> dict[str, Any]:
    """A version and regularised evolution on fresh problems whose functions it has, and on others."""
    shares, pairs = (_shares(f"outside_{draw}_functions{end}") for end in ("", "_pairs"))
    found, both = {}, {"own": version, "theirs": searched}
    for name, needs in (("given", "those that it has"), ("others", "others too")):
        at = {"search": searched, "functions": needs, "noise": level}
        pair = _where(pairs, rule="symbolic solution", opponent=searched, **at)
        found[name] = {
            **{end: _solved(shares, method=row, **at) for end, row in both.items()},
            "difference": _points(pair),
            "form": {end: _first(shares, "form", method=row, **at) for end, row in both.items()},
        }
    return found


def _points(pairs: pd.DataFrame) -> Any:
    """The difference of a pair of methods in percentage points, with its interval."""
    if not len(pairs):
        return NONE
    return Interval(*(100 * pairs.iloc[0][["difference", "low", "high"]])), ".0f"


def _seconds(made: pd.DataFrame) -> dict[str, Any]:
    """Mean seconds of a run on fresh problems, of the frozen version and of regularised evolution."""
    means = (3600 * made["hours"] / made["recorded"]).set_axis(made["method"])
    both = {"frozen": FROZEN, "theirs": EVOLVED}
    return {end: (means[row], ".0f") if means.get(row, 0) > 0 else NONE for end, row in both.items()}


def _verdict(pair: pd.DataFrame) -> str:
    if not len(pair):
        return NONE
    low, high = pair.iloc[0][["low", "high"]]
    return "ahead" if low > 0 else "behind" if high < 0 else "not told apart"


def _shares(name: str) -> pd.DataFrame:
    """A table of shares; without rows where no block of it was whole, so that it was not written."""
    return table(name) if (root() / "tables" / f"{name}.csv").exists() else pd.DataFrame()


def _where(rows: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows that have these values; of a table that was not written, none."""
    return rows[rows[list(where)].eq(pd.Series(where)).all(axis=1)] if len(rows) else rows


def _solved(shares: pd.DataFrame, **where: Any) -> str:
    rows = _where(shares, **where)
    return f"{rows['recovered'].iloc[0]} of {rows['n'].iloc[0]}" if len(rows) else NONE


def _within(lengths: pd.DataFrame, *ranges: str) -> str:
    rows = lengths[lengths["operators"].isin(ranges)] if len(lengths) else lengths
    return f"{rows['recovered'].sum()} of {rows['n'].sum()}" if len(rows) else NONE


def _per_cent(shares: pd.DataFrame, **where: Any) -> Any:
    rows = _where(shares, **where)
    return (Interval(*(100 * rows.iloc[0][["share", "low", "high"]])), ".0f") if len(rows) else NONE


def _first(pairs: pd.DataFrame, column: str, **where: Any) -> Any:
    rows = _where(pairs, **where)
    return rows[column].iloc[0] if len(rows) else NONE


def _least(pairs: pd.DataFrame, column: str, **where: Any) -> Any:
    """The smallest value with noise."""
    rows = _where(pairs, **where)
    return rows.loc[rows["noise"] > 0, column].min() if len(rows) else NONE


def _always(trials: pd.DataFrame, method: str = FROZEN) -> tuple[int, str] | str:
    """Tables of EmpiricalBench that a method solved in each trial."""
    if method not in trials:
        return NONE
    asked = trials[trials["table"] == "trials"][method].iloc[0]
    return int((trials[trials["study"] == "empirical"][method] == asked).sum()), "word"

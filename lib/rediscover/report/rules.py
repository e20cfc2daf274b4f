"""When a printed number counts as the same as ours: the tests that rules.yaml names, and the verdict that follows.

A cell is a mapping with ``value``, ``low``, ``high`` (its interval) and ``parameters`` (what its rule takes besides).
Tests are pure; none reads the words of a rule or of a reason.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .prediction import FEW, fills, has_width, holds, interval, meets, of_pairs, pair, reaches, spans

SAME, OTHER, OPEN, NEITHER = "reproduced", "differs", "undecided", "not comparable"
SEEDS = 3  # that decide: of two, an interval is as wide as anything, or has no width
LEAST_P = 1e-6


class Outcome(NamedTuple):
    """What a rule says of a cell.

    Attributes
    ----------
    verdict : 'reproduced', 'differs', 'undecided' or 'not comparable'
    note : why, as far as the rule says it; empty where the verdict says all
    passing : how many of the other printed values would have been reproduced by the same cell
    """

    verdict: str
    note: str
    passing: int


@functools.cache
def rules() -> dict[str, dict[str, Any]]:
    """Key of a rule -> test, words, because, chosen, and perhaps chance and takes."""
    return yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))


# ---- the tests: printed text and cell -> verdict


def _verdict(same: bool) -> str:
    return SAME if same else OTHER


def digits(printed: str, cell: Mapping) -> str:
    """``reproduced`` if the printed digit meets the cell's interval.

    Of the parameters, ``number`` is the print without its words, and ``value`` ours where the ledger's ten digits are
    too few.

    Examples
    --------
    >>> digits("0.5", {"low": 0.44, "high": 0.46})
    'reproduced'
    """
    parameters = cell.get("parameters", {})
    low, high = (parameters.get("value", cell[end]) for end in ("low", "high"))
    return _verdict(meets(parameters.get("number", printed), low, high))


def seeds(printed: str, cell: Mapping) -> str:
    """``reproduced`` if the printed digit meets `next_run` of the cell's values.

    Examples
    --------
    >>> seeds("9", {"parameters": {"values": [1.0, 2.0, 3.0], "scale": "plain", "bounds": [0, None], "n": 5}})
    'differs'
    """
    ends = interval(cell["parameters"])
    return _verdict(meets(printed, ends["low"], ends["high"]))


def text(printed: str, cell: Mapping) -> str:
    """``reproduced`` if ours is the same text as the print, or as what the rule expects.

    Examples
    --------
    >>> text("rising", {"value": "6-10", "parameters": {"expected": "6-10"}}), text("10x10", {"value": "9x9"})
    ('reproduced', 'differs')
    """
    return _verdict(cell["value"] == cell.get("parameters", {}).get("expected", printed))


def ends(printed: str, cell: Mapping) -> str:
    """``reproduced`` if each number of a printed text meets its interval.

    Examples
    --------
    >>> ends("4.7 to 4.9", {"parameters": {"ends": [["4.7", 4.68, 4.69], ["4.9", 4.96, 4.97]]}})
    'differs'
    """
    return _verdict(all(meets(number, low, high) for number, low, high in cell["parameters"]["ends"]))


def bound(printed: str, cell: Mapping) -> str:
    """``reproduced`` if ours, or the value that the cell brings for it, is below the printed bound.

    Examples
    --------
    >>> bound("p < 1e-4", {"value": 2e-5, "parameters": {"bound": 1e-4}})
    'reproduced'
    """
    parameters = cell["parameters"]
    return _verdict(parameters.get("value", cell["value"]) < parameters["bound"])


def drawn(printed: str, cell: Mapping) -> str:
    """``reproduced`` if all that was drawn lies in the printed range and passes for a sample of it.

    Examples
    --------
    >>> drawn("uniform 0 1", {"parameters": {"inside": True, "p": 0.3}})
    'reproduced'
    """
    return _verdict(cell["parameters"]["inside"] and cell["parameters"]["p"] > LEAST_P)


def cells(printed: str, cell: Mapping) -> str:
    """A power of ten with a complexity, a check mark or a failure, beside those of one or several seeds.

    A printed pair is reproduced if the power of ten lies in `next_run` of the seeds' powers, and the complexity in that
    of their complexities, by logarithms. A check mark or a failure, printed or found, is the same as itself only: then
    the seeds agree with the print (reproduced), none does (differs), or some do (undecided). Two failures are no
    number: not comparable.

    Examples
    --------
    >>> cells("1e-3 (9)", {"parameters": {"values": ["1e-4 (9)", "1e-2 (9)"]}})
    'reproduced'
    >>> cells("found", {"parameters": {"values": ["found", "1e-2 (9)"]}})
    'undecided'
    >>> cells("-", {"parameters": {"values": ["-"]}})
    'not comparable'
    """
    theirs, ours = pair(printed), [pair(value) for value in cell["parameters"]["values"]]
    if theirs == "failed" and set(ours) == {"failed"}:
        return NEITHER
    if isinstance(theirs, str) or any(isinstance(one, str) for one in ours):
        same = sum(one == theirs for one in ours)
        return SAME if same == len(ours) else OPEN if same else OTHER
    return _verdict(all(holds(ends, value) for value, ends in zip(theirs, of_pairs(ours), strict=True)))


TESTS: dict[str, Callable[[str, Mapping], str]] = {
    test.__name__: test for test in (digits, seeds, text, ends, bound, drawn, cells)
}


# ---- the verdict


def judge(rule: str, printed: str, cell: Mapping, others: Sequence[str] = (), *, unlike: bool = False) -> Outcome:
    """The verdict of a rule on a cell.

    What rests on chance is undecided with fewer than three seeds, whichever way its digit falls, and where its interval
    is too wide to fail: it also holds at least half of the values that are printed for other methods in the same place
    (of two or more), or reaches over more than half of the score's bounds, or of the range that is printed in its
    place. Of a power of ten with a complexity each is asked by itself: the cell differs where one of them excludes the
    print, and is undecided where one is too wide and none excludes it. A rule may state what else chance leaves open.
    All else is decided by the test.

    Parameters
    ----------
    rule : key of rules.yaml
    printed : the published value
    cell : value, low, high, parameters
    others : what is printed for other methods in the same place
    unlike : whether what ran is not the published method: then no number is reproduced, but it may differ

    Returns
    -------
    Outcome

    Examples
    --------
    >>> judge("digits", "0.50", {"low": 0.5, "high": 0.5}, ["0.50", "0.7"])
    Outcome(verdict='reproduced', note='1 of 2 other methods print the same', passing=1)
    >>> from rediscover.report.scores import by_seed
    >>> few = {"parameters": by_seed("nmse_release", [0.5], 30)}
    >>> judge("seeds", "0.5", few).note
    'one seed; equals the printed digit'
    >>> wide = {"parameters": by_seed("nmse_release", [0.5, 0.5, 0.6], 30)}
    >>> judge("seeds", "9", wide, ["0.5", "0.55"]).verdict
    'undecided'
    """
    about = rules()[rule]
    test = TESTS[about["test"]]
    found, chance = test(printed, cell), about.get("chance", "")
    passing = sum(test(other, cell) == SAME for other in others)
    values = cell.get("parameters", {}).get("values", []) if chance == "seeds" else []
    if found == NEITHER:
        return Outcome(found, "", passing)
    if chance == "seeds" and len(values) < SEEDS:
        count = ("no value", "one seed", "two seeds")[len(values)]
        verbs = ("equals", "does not equal")
        if has_width(about["test"], cell):
            verbs = ("an interval that holds", "an interval that does not hold")
        return Outcome(OPEN, f"{count}; {verbs[found != SAME]} the printed digit" if values else count, passing)
    if found in about.get("open", {}):
        return Outcome(OPEN, about["open"][found], passing)
    said = spread(cell["parameters"]) if values else ""
    half = len(others) >= FEW and 2 * passing >= len(others)
    if chance and found in (SAME, OTHER) and has_width(about["test"], cell):
        if about["test"] == "cells":
            found, why = by_number(found, printed, others, cell)
        else:
            why = ""
            if half:
                why = f"{'an interval ' * (not said)}where {passing} of {len(others)} other printed values lie"
            elif reaches(cell):
                why = "more than half of its scale"
            elif about["test"] == "seeds" and found == SAME and fills([printed, *others], cell):
                why = "more than half of the range that is printed there"
            found = OPEN if why else found
        if why:
            return Outcome(found, ", ".join(filter(None, [said, why])), passing)
    if found == SAME and half and not said:
        said = f"{passing} of {len(others)} other methods print " + (
            "what passes too" if has_width(about["test"], cell) else "the same"
        )
    return Outcome(OPEN if unlike and found == SAME else found, said, passing)


def spread(parameters: Mapping) -> str:
    """Seeds of a cell in words: their range and the interval, or the cells of each.

    Examples
    --------
    >>> spread({"values": ["found", "-"]})
    'found, - in 2 seeds'
    >>> from rediscover.report.scores import by_seed
    >>> spread(by_seed("nmse_release", [0.5, 0.5, 0.6], 30))
    '0.5 to 0.6 in 3 seeds, 0.3149 to 0.8964 in one run more (95 %)'
    """
    values = [value for value in parameters["values"] if value is not None]
    if "scale" not in parameters:
        return f"{', '.join(values)} in {len(values)} seeds"
    if not values:
        return f"no finite value in {len(parameters['values'])} seeds"
    ends = interval(parameters)
    more = f", {ends['low']:.4g} to {ends['high']:.4g} in one run more (95 %)" if len(values) > 1 else ""
    return f"{min(values):.4g} to {max(values):.4g} in {len(values)} seeds{more}"


def by_number(found: str, printed: str, others: Sequence[str], cell: Mapping) -> tuple[str, str]:
    """Verdict on a printed power of ten and complexity, each by its own interval, and which is too wide to fail.

    Parameters
    ----------
    found : verdict of the test, which stands where the print is no such pair
    printed, others : what is printed for the method, and for others in the same place
    cell : with the cell of each seed

    Examples
    --------
    >>> cell = {"parameters": {"values": ["1e-1 (9)", "1e-1 (30)", "1e-1 (2)"]}}  # one run more: up to 9000 nodes
    >>> by_number("reproduced", "1e-1 (8)", ["1e-3 (7)", "1e-9 (8)"], cell)
    ('undecided', 'where 2 of 2 other printed complexities lie')
    >>> by_number("differs", "1e0 (8)", ["1e-3 (7)", "1e-9 (8)"], cell)[0]
    'differs'
    """
    theirs, known = pair(printed), [one for one in map(pair, others) if not isinstance(one, str)]
    if isinstance(theirs, str):
        return found, ""
    verdicts, words = [], []
    both = of_pairs([pair(value) for value in cell["parameters"]["values"]])
    for place, (name, ends) in enumerate(zip(("powers of ten", "complexities"), both, strict=True)):
        values = [one[place] for one in known]
        inside = sum(holds(ends, value) for value in values)
        why = ""
        if ends["low"] < ends["high"] and len(values) >= FEW and 2 * inside >= len(values):
            why = f"where {inside} of {len(values)} other printed {name} lie"
        elif not place and spans([theirs[0], *values], ends["low"], ends["high"]):
            why = f"more than half of the printed {name}"
        words += [why] * bool(why)
        verdicts.append(OPEN if why else _verdict(holds(ends, theirs[place])))
    return next(one for one in (OTHER, OPEN, SAME) if one in verdicts), ", ".join(words)

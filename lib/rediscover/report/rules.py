"""When a printed number counts as the same as ours: the tests that rules.yaml names, and the verdict that follows.

A cell is a mapping with ``value``, ``low``, ``high`` (its interval) and ``parameters`` (what its rule takes besides).
Tests are pure; none reads the words of a rule or of a reason.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, logit

SAME, OTHER, OPEN, NEITHER = "reproduced", "differs", "undecided", "not comparable"
SEEDS = 3  # that decide: of two, an interval is as wide as anything, or has no width
FEW = 2  # printed values of other methods that are needed to call an interval too wide
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


def next_run(values: ArrayLike, scale: str = "plain", bounds: Sequence = (None, None), n: int = 1) -> dict[str, float]:
    r"""Mean of some runs, and where one run more would lie with probability 95 %.

    Student's prediction interval :math:`\bar x \pm t_{0.975, k-1} s \sqrt{1 + 1/k}` of k runs, on the scale of the
    score and transformed back. On the scale ``log``, x is the logarithm, unless a value is 0: then the scale is plain.
    On ``logit``, :math:`x = \log(p / (1 - p))` of the place p between the bounds a, b, :math:`p = (v - a) / (b - a)`,
    kept half a problem from either, :math:`1/(2n) \le p \le 1 - 1/(2n)`; an end there stands for the bound. Of one run
    there is no interval: all three are its value.

    Parameters
    ----------
    values : array_like, shape (k,)
    scale : 'plain', 'log' or 'logit'
    bounds : lowest and highest value, None where there is none
    n : problems that a value is a mean over; on the scale logit

    Returns
    -------
    dict with value (the plain mean), low, high

    References
    ----------
    Hahn and Meeker, Statistical Intervals (1991), section 4.7.

    Examples
    --------
    >>> {key: round(value, 2) for key, value in next_run([1.0, 2.0, 3.0]).items()}  # t = 4.30, s = 1, root of 4/3
    {'value': 2.0, 'low': -2.97, 'high': 6.97}
    >>> [float(f"{end:.3g}") for end in next_run([1.0, 10.0, 100.0], "log").values()]  # 10**(1 - 4.97), 10**(1 + 4.97)
    [37.0, 0.000108, 930000.0]
    >>> [round(end, 3) for end in next_run([0.0, 0.0], "logit", (0.0, 1.0), n=10).values()]  # none, to half of one
    [0.0, 0.0, 0.05]
    """
    values = np.asarray(values, float)
    least, most = (edge if end is None else end for end, edge in zip(bounds, (-math.inf, math.inf), strict=True))
    mean, k = float(values.mean()), len(values)
    if k == 1:
        return {"value": mean, "low": mean, "high": mean}
    edge, width = 1 / (2 * n), most - least
    back: Callable = np.asarray
    if scale == "log" and (values > 0).all():
        places, back = np.log(values), np.exp
    elif scale == "logit":
        places, back = logit(np.clip((values - least) / width, edge, 1 - edge)), expit
    else:
        places = values
    reach = stats.t.ppf(0.975, k - 1) * places.std(ddof=1) * math.sqrt(1 + 1 / k)
    with np.errstate(over="ignore"):
        low, high = (float(back(places.mean() + side * reach)) for side in (-1, 1))
    if scale == "logit":
        near = 1 + 1e-9
        low = least if low <= near * edge else least + width * low
        high = most if 1 - high <= near * edge else least + width * high
    return {"value": mean, "low": max(low, least), "high": min(high, most)}


def meets(printed: str, low: float, high: float) -> bool:
    """Whether a printed number, with half a unit of its last digit, meets the interval [low, high].

    Parameters
    ----------
    printed : as printed; commas part the thousands. What is no number meets nothing.
    low, high : float

    Returns
    -------
    bool

    Examples
    --------
    >>> meets("0.38", 0.384, 0.5), meets("0.38", 0.386, 0.5), meets("-", 0, 1)
    (True, False, False)
    """
    try:
        value = float(printed := printed.replace(",", ""))
    except ValueError:
        return False
    mantissa, _, exponent = printed.lower().partition("e")
    half = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return bool(value + half >= low and value - half <= high)


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
    both = zip(theirs, of_pairs(ours), strict=True)
    return _verdict(all(value + 0.5 >= ends["low"] and value - 0.5 <= ends["high"] for value, ends in both))


def of_pairs(pairs: Sequence) -> tuple[dict[str, float], dict[str, float]]:
    """`next_run` of the powers of ten of some runs, and of their complexities."""
    powers, sizes = zip(*pairs, strict=True)
    return next_run(powers), next_run(sizes, "log", (0, None))


def pair(text: str) -> tuple[int, int] | str:
    """Power of ten and complexity of a cell of MDBench, as the tables or their files have it; or what it is instead.

    Examples
    --------
    >>> pair("1e-9 (12)"), pair("value -9 12"), pair("identified"), pair("-")
    ((-9, 12), (-9, 12), 'found', 'failed')
    """
    *_, power, size = [None, None, *re.findall(r"(?:(?<=e)|(?<![\w.]))-?\d+", text)]
    if power is not None and size is not None:
        return int(power), int(size)
    return "found" if text in ("found", "identified") else "failed"


TESTS: dict[str, Callable[[str, Mapping], str]] = {
    test.__name__: test for test in (digits, seeds, text, ends, bound, drawn, cells)
}


# ---- the verdict


def interval(parameters: Mapping) -> dict[str, float]:
    """`next_run` by the parameters of the rule ``seeds``, of the seeds with a finite value; NaN without one.

    Examples
    --------
    >>> interval({"values": [0.25, None], "scale": "logit", "bounds": [0, 1], "n": 4})
    {'value': 0.25, 'low': 0.25, 'high': 0.25}
    """
    known = [value for value in parameters["values"] if value is not None]
    if not known:
        return {"value": math.nan, "low": math.nan, "high": math.nan}
    return next_run(known, parameters["scale"], parameters["bounds"], parameters["n"])


def judge(rule: str, printed: str, cell: Mapping, others: Sequence[str] = (), *, unlike: bool = False) -> Outcome:
    """The verdict of a rule on a cell.

    What rests on chance is undecided with fewer than three seeds, whichever way its digit falls, and where its interval
    is too wide to fail: it also holds at least half of the values that are printed for other methods in the same place
    (of two or more), or reaches over more than half of the score's bounds, or of the powers of ten that are printed in
    its place. A rule may state what else chance leaves open. All else is decided by the test.

    Parameters
    ----------
    rule : key of rules.yaml
    printed : the published value
    cell : value, low, high, parameters
    others : what is printed for other methods in the same place
    unlike : whether what ran is not the published method: then its number decides nothing

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
        if half:
            said += f"{', ' if said else 'an interval '}where {passing} of {len(others)} other printed values lie"
            return Outcome(OPEN, said, passing)
        if reaches(cell):
            return Outcome(OPEN, f"{said}, more than half of its scale", passing)
        if about["test"] == "cells" and spans([printed, *others], cell):
            return Outcome(OPEN, f"{said}, more than half of the printed powers of ten", passing)
    if found == SAME and half and not said:
        said = f"{passing} of {len(others)} other methods print " + (
            "what passes too" if has_width(about["test"], cell) else "the same"
        )
    return Outcome(OPEN if unlike else found, said, passing)


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


def has_width(test: str, cell: Mapping) -> bool:
    """Whether what a cell is compared by is an interval, and not one value."""
    if test == "cells":
        found = {pair(value) for value in cell["parameters"]["values"]}
        return len(found) > 1 and not any(isinstance(one, str) for one in found)
    if test == "ends":
        return any(low < high for _, low, high in cell["parameters"]["ends"])
    ends = interval(cell["parameters"]) if test == "seeds" else cell
    return bool(test in ("seeds", "digits") and ends["low"] < ends["high"])


def reaches(cell: Mapping) -> bool:
    """Whether the interval of the rule ``seeds`` is wider than half of the score's bounds."""
    least, most = cell.get("parameters", {}).get("bounds", (None, None))
    if least is None or most is None:
        return False
    ends = interval(cell["parameters"])
    return ends["high"] - ends["low"] > (most - least) / 2


def spans(printed: Sequence[str], cell: Mapping) -> bool:
    """Whether the interval of a cell's power of ten is wider than half of the range of those that are printed.

    Examples
    --------
    >>> cell = {"parameters": {"values": ["1e-1 (9)", "1e-2 (9)", "1e-4 (9)"]}}  # one run more: from -9.9 to 5.3
    >>> spans(["1e-3 (9)", "1e0 (7)", "1e-9 (8)"], cell)
    True
    """
    both = printed, cell["parameters"]["values"]
    theirs, ours = ([one for one in map(pair, texts) if not isinstance(one, str)] for texts in both)
    if len(theirs) <= FEW:
        return False
    powers = [power for power, _ in theirs]
    ends = next_run([power for power, _ in ours])
    return ends["high"] - ends["low"] > (max(powers) - min(powers)) / 2

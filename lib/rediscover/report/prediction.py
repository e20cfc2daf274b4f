"""Prediction intervals over the seeds of a method: where one run more would lie, and when one is too wide to fail.

A cell is as in `rules`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, logit

FEW = 2  # printed values of other methods that are needed to call an interval too wide


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


def of_pairs(pairs: Sequence) -> tuple[dict[str, float], dict[str, float]]:
    """`next_run` of the powers of ten of some runs, and of their complexities."""
    powers, sizes = zip(*pairs, strict=True)
    return next_run(powers), next_run(sizes, "log", (0, None))


def holds(ends: Mapping[str, float], value: float) -> bool:
    """Whether a whole number, with a half on either side, meets an interval."""
    return value + 0.5 >= ends["low"] and value - 0.5 <= ends["high"]


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


def fills(printed: Sequence[str], cell: Mapping) -> bool:
    """Whether the interval of the rule ``seeds`` is wider than half of the range that is printed in its place.

    More than two values must be printed there; errors are compared by logarithms.

    Examples
    --------
    >>> from rediscover.report.scores import by_seed
    >>> cell = {"parameters": by_seed("nmse_release", [0.5, 0.5, 0.6], 30)}  # one run more: from 0.31 to 0.90
    >>> fills(["0.4", "0.5", "0.9"], cell), fills(["0.001", "0.5", "9"], cell)
    (True, False)
    """
    ends, scale = interval(cell["parameters"]), cell["parameters"]["scale"]
    values = [float(text.replace(",", "")) for text in printed if meets(text, -math.inf, math.inf)]
    reach = (ends["low"], ends["high"])
    if scale == "log" and min([*values, ends["low"]]) > 0:
        return spans(np.log(values).tolist(), *np.log(reach))
    return spans(values, *reach)


def spans(values: Sequence[float], low: float, high: float) -> bool:
    """Whether an interval is wider than half of the range of more than two values.

    Examples
    --------
    >>> spans([-3, 0, -9], -9.9, 5.3), spans([-3, 0], -9.9, 5.3)
    (True, False)
    """
    return bool(len(values) > FEW and high - low > (max(values) - min(values)) / 2)

"""Which equation of a front is shown, and whether it may be called one.

Each rule says when it was set: *before* any data was tried, or *after*, and then what was seen.

1. *Held-out rows* (before, but for the number). A fifth of the rows (`HELD_OUT`, at most `MOST`) is drawn by the seed
   and not searched on. Of fewer than `FEW` rows none can be spared, and the seventh rule decides (after: the number
   was 25 until six held-out rows of Hubble's table chose a fast oscillation, and 100 until twenty of a x/(b + x)
   chose a form that is worse on all others; points of a cloud are still held out from `FEW_POINTS` on).
2. *Front* (before). In order of complexity, an equation stays if its held-out error is below that of all shorter ones.
3. *Choice* (after). The shortest equation is chosen whose mean squared error is at most that of the best one plus one
   standard error of the latter (Breiman et al. 1984, section 3.4.3). Errors below `ROUNDING` of the target's spread
   count as that. At first the standard error was that of the difference of the two, row by row; on the first table of
   1,000 rows, m v^2/2 + m g h with 1 % noise, this chose 47 nodes where 13 are the law, since the best of many
   candidates is best by luck.
4. *Clear or not* (before, but for three changes). The chosen equation must have smaller held-out errors than the
   mean, by more than `CHANCE` standard errors of the paired difference; of a cloud, smaller distances than points
   whose coordinates are shuffled (after: the middle of the cloud was the measure, and surfaces of many sheets through
   a ball of random points are nearer than that). It must beat a straight line in all inputs by as much, unless it is
   a straight line itself, which may not be worse by as much. Otherwise there is no clear equation. Errors are
   absolute ones (after: with squared ones 3 x y, found exactly on 60 rows, was not clear, since of the 12 held-out
   rows one was far from the mean, and the standard error large). Where held-out errors are below those of the line by
   chance only, the training rows may decide: if the equation's log likelihood there, n/2 log of the ratio of the mean
   squares, is `SURE` above the line's, which the best of 10^8 forms, e^(SURE - 5), reaches by chance about once in a
   hundred times (after: the end of a damped swing, 12 windows, hardly tells sin x from x).
5. *Noise* (before, but for its end). It is too large for what was found where the error is more than `NOISY` of the
   target's spread, or where an equation at most `AS_SHORT` nodes longer, whose predictions are others, is within one
   standard error (of the difference of squared errors, row by row) of the chosen one. Predictions are others where they
   differ by `TOLD_APART` of the error (after: texts of forms were compared at first, and a law with one idle term was
   taken for another law).
6. *Short constants* (after). A constant of the chosen equation becomes a short number of `constants.SHORT` if it is
   within `CHANCE` standard errors and the 95 % interval of it, these are at most `constants.NARROW` of it, and the
   equation, its other constants fitted again, is not worse on held-out rows by more than `CHANCE` standard errors of
   the paired difference. At first 3/2 and 2/3 were not among them, and the interval alone decided, which with few
   rows is wider than two standard errors; this was narrowed before the coverage of intervals was studied, with no
   data looked at.
7. *Few rows* (after: Hubble's 32 and Kepler's 6). Where no rows are held out, the equation with the shortest
   description is chosen, `description_length`: the search has seen all rows, and of e^(3 nodes) forms the best fits
   by luck. There is no clear equation unless it is shorter than those of the mean and of a straight line by
   `SHORTER`, and the noise is too large where another form is within that of it. The error that is shown as held out
   is that of each row as predicted by the form with its constants fitted to the others.
8. *Units* (before). An equation is left out if its units do not agree (`dimensions`): terms of a sum, sides of a
   comparison and what is the least of several must have one unit, the whole that of the target; exponents and arguments
   of functions other than roots, abs and sign must have none. Each constant that is fitted may have any unit
   (``constants="free"``) or none (``"dimensionless"``: a size only, such as 1000 m/km), one unit wherever it stands.
   Short numbers and the whole exponents of `expressions.EXPONENT` have none, so that a constant with a unit never
   becomes a short number. A column without a unit may have any one. Free constants let most forms pass whose terms each
   have one; what fails is what no constant can mend, such as m h + v or log(t). PySR has the same two ways.
9. *Constraints* (before). An equation is left out if it does not keep to bounds, monotony or symmetry on a sample of
   points at and between rows (`constraints`), its constants fitted to the training rows. If its constants fitted to all
   rows no longer do, it keeps those. What was left out is counted in the message; the mean is always kept, and is what
   is chosen where nothing else is left.
10. *Columns* (after). Of more than ``screening`` columns (20) the search is given those whose importance in randomised
   trees on training rows is above that of each of as many shuffled columns, ten at least (`screening`). The message
   names them. Looked at before: on seven laws of two to five inputs among 50 columns, 800 rows, the
   inputs were the most important columns in all of five draws. Of 100 rows the five that stayed at least at first were
   too few: of Friedman's function one or two of five inputs were lost.

References
----------
Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees: the rule of one standard error.
Rissanen (1978), Modeling by shortest data description, Automatica 14.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

HELD_OUT, MOST, FEW, FEW_POINTS = 0.2, 100_000, 250, 25
ROUNDING = 1e-9
CHANCE = 2.0
SURE = 23.4
NOISY = 0.5
AS_SHORT = 2
TOLD_APART = 0.2
KINDS = 20  # of nodes: operators, functions, inputs and constants that a search draws from
SHORTER = 3.0
ALIKE = 1e-3  # by what share errors must differ for one to be called the smaller


class Difference(NamedTuple):
    """Mean difference of squared errors, row by row, and its standard error; both in squared units of the target."""

    mean: float
    error: float


def difference(first: np.ndarray, second: np.ndarray, weights: np.ndarray | None = None) -> Difference:
    """By how much one equation's squared errors are larger than another's.

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        Squared errors on the same rows.
    weights : ndarray, shape (n,), optional
        Of the rows.

    Returns
    -------
    Difference

    Examples
    --------
    >>> difference(np.array([4.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0]))  # 3, 1, 5: mean 3, deviation 2, over sqrt(3)
    Difference(mean=3.0, error=1.1547005383792515)
    """
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        # an equation that is undefined on a row is worse for sure
        return Difference(np.inf if np.isfinite(second).all() else -np.inf, 0.0)
    d = first - second
    w = np.ones(len(d)) if weights is None else np.asarray(weights, float)
    w = w / w.sum()
    mean = float(w @ d)
    if len(d) < 2:
        return Difference(mean, np.inf)
    spread = float(w**2 @ (d - mean) ** 2) * len(d) / (len(d) - 1)
    return Difference(mean, float(np.sqrt(spread)))


def front(sizes: Sequence[float], errors: Sequence[float]) -> list[int]:
    """Positions of the equations that are not dominated, shortest first: each has a smaller error than all before it.

    Parameters
    ----------
    sizes : complexity of each equation
    errors : held-out error of each, in the same order; those that are not finite are left out

    Returns
    -------
    list of int

    Examples
    --------
    >>> front([3, 1, 5, 7], [2.0, 4.0, 3.0, 1.0])
    [1, 0, 3]
    """
    kept: list[int] = []
    for i in sorted(range(len(sizes)), key=lambda i: (sizes[i], errors[i], i)):
        if np.isfinite(errors[i]) and (not kept or errors[i] < errors[kept[-1]]):
            kept.append(i)
    return kept


def chosen(squares: np.ndarray, weights: np.ndarray | None = None) -> int:
    """Position of the equation that is chosen from a front.

    Parameters
    ----------
    squares : ndarray, shape (n_equations, n_rows)
        Squared errors on held-out rows, shortest equation first.
    weights : ndarray, shape (n_rows,), optional

    Returns
    -------
    int

    Examples
    --------
    >>> rows = np.array([[9.0, 1.0, 9.0, 1.0], [1.0, 1.1, 0.9, 1.0], [1.0, 0.9, 1.1, 0.9]])
    >>> chosen(rows)  # the best is the third with 0.975 +- 0.048, and the second is at 1.0
    1
    """
    means = [float(np.average(row, weights=weights)) for row in squares]
    best = int(np.argmin(means))
    most = means[best] + difference(squares[best], np.zeros(squares.shape[1]), weights).error
    return next(i for i, mean in enumerate(means) if mean <= most)


def description_length(error: float, rows: int, complexity: int, constants: int) -> float:
    """Length of data and equation together, in nats, less what is the same for all equations.

    Parameters
    ----------
    error : root mean square error with the constants fitted to all rows
    rows : int
    complexity : nodes of the expression's tree, each one of `KINDS`
    constants : those that were fitted, each given to the precision that the rows allow

    Returns
    -------
    float
        n log(error) + complexity log(`KINDS`) + constants/2 log n.

    Examples
    --------
    >>> round(description_length(1.0, 10, 3, 1), 3)  # 3 log 20 + log(10)/2
    10.138
    """
    return rows * float(np.log(error)) + complexity * float(np.log(KINDS)) + constants / 2 * float(np.log(rows))


class Described(NamedTuple):
    """Description length of an equation, and its error, each row predicted from the others."""

    length: float
    error: float


def unclear_description(own: Described, nothing: Described, line: Described | None, straight: bool) -> str:
    """Why there is no clear equation where no rows are held out, by the seventh rule; empty where there is one.

    Parameters
    ----------
    own, nothing, line : of the chosen equation, of the mean, and of a straight line (None: too few rows for one)
    straight : whether the chosen equation is a straight line itself

    Returns
    -------
    str

    Examples
    --------
    >>> unclear_description(Described(9.0, 1.2), Described(10.0, 2.5), None, True)[:81]
    'with so few rows it explains more than the mean does (error 1.2 against 2.5), but'
    """
    for other, what in ((nothing, "the mean"), (None if straight else line, "a straight line through all inputs")):
        if other is not None and not own.length < other.length - SHORTER:
            if own.error < (1 - ALIKE) * other.error:
                errors = f"(error {own.error:.4g} against {other.error:.4g})"
                return (
                    f"with so few rows it explains more than {what} does {errors}, but not enough to pay for its size"
                )
            return f"with so few rows it explains no more than {what} does, its size taken into account"
    return ""


def floored(squares: np.ndarray, spread: float) -> np.ndarray:
    """Squared errors, none below what rounding leaves: the square of `ROUNDING` times the target's spread."""
    return np.maximum(squares, (ROUNDING * spread) ** 2)


def log_likelihood_gain(squares: np.ndarray, line: np.ndarray, weights: np.ndarray | None = None) -> float:
    """By how much normal errors of a variance that is not known make an equation likelier than a line.

    Parameters
    ----------
    squares, line : ndarray, shape (n,)
        Squared errors of both on the training rows.
    weights : ndarray, shape (n,), optional

    Returns
    -------
    float
        n/2 log(mean of line / mean of squares).

    Examples
    --------
    >>> round(log_likelihood_gain(np.ones(6), np.full(6, 4.0)), 3)  # 3 log 4
    4.159
    """
    means = [float(np.average(each, weights=weights)) for each in (line, squares)]
    return len(squares) / 2 * float(np.log(means[0] / means[1])) if all(np.isfinite(means)) else 0.0


def unclear(
    squares: np.ndarray,
    nothing: np.ndarray,
    line: np.ndarray | None,
    straight: bool,
    weights: np.ndarray | None = None,
    likelier: float = 0.0,
    against: str = "the mean",
) -> str:
    """Why there is no clear equation; empty where there is one.

    Parameters
    ----------
    squares : ndarray, shape (n,)
        Squared errors of the chosen equation on held-out rows.
    nothing, line : ndarray, shape (n,)
        Those of what says nothing, and of a straight line fitted to the training rows (None: too few rows for one).
    straight : whether the chosen equation is a straight line itself
    weights : ndarray, shape (n,), optional
    likelier : float
        Log likelihood of the equation less that of the line, on the training rows (`log_likelihood_gain`).
    against : what says nothing

    Returns
    -------
    str

    Examples
    --------
    >>> unclear(np.ones(3), np.arange(3.0), None, False)[:68]  # a gain of -0.2
    'its error on 3 held-out rows is not below that of the mean by more t'
    """
    rows = f"its error on {len(squares)} held-out rows"
    off = np.sqrt(squares)
    gain = difference(np.sqrt(nothing), off, weights)
    if not gain.mean > CHANCE * gain.error:
        return f"{rows} is not below that of {against} by more than chance"
    if line is None:
        return ""
    gain = difference(np.sqrt(line), off, weights)
    if straight:
        worse = -gain.mean > CHANCE * gain.error
        return f"{rows} is above that of a straight line through all inputs" if worse else ""
    sure = gain.mean > 0 and likelier > SURE
    if not (sure or gain.mean > CHANCE * gain.error) and np.average(squares, weights=weights) > 0:
        return f"{rows} is not below that of a straight line by more than chance"
    return ""

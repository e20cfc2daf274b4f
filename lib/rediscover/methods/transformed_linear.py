"""Classic curves: a transformed target as a sparse linear function of transformed inputs."""

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular

POWERS = (-2.0, -1.0, 0.5, 1.0, 2.0)
RATES = 30  # of exp(k x) for each sign of k
SUBSETS = 6000  # above so many, terms are added one by one
BEST = 6  # subsets that are kept of each number of terms
LARGEST = 300.0  # of what is exponentiated


class Term(NamedTuple):
    """A transformed input, or the constant 1: values, shape (n,), which are `factor` times what the text says."""

    values: np.ndarray
    text: str
    factor: float = 1.0


class Target(NamedTuple):
    """A transformed target g(y): values, the inverse of the derivative of g, and the inverse of g as a text."""

    values: np.ndarray
    weights: np.ndarray
    text: str


@dataclass(frozen=True)
class TransformedLinear(Tabular):
    """g(y) = sum_j c_j h_j(x) by least squares, g one of y, 1/y, log y, exp y and exp(-y).

    The terms are 1, powers (-2, -1, 1/2, 1, 2) and the logarithm of each input; with at most three terms also exp(k
    x), k from a grid. So power laws, exponentials with an offset, x^a exp(b x), and logarithms of sums of inverse
    squares are among the answers. For each g and number of terms the six subsets with the smallest residuals are
    taken: of all subsets where these are few, else by forward selection; beside them stands the sum of the
    logarithms of all inputs; each also with the coefficients of logarithms, which are exponents, rounded to halves.
    Rows are weighted by the inverse of g', so that the residual is nearly that of y. Candidates come in the order
    of the Bayesian information criterion on y.

    Attributes
    ----------
    max_terms : of a sum.

    References
    ----------
    G. E. P. Box, P. W. Tidwell, Transformation of the independent variables, Technometrics 4 (1962) 531-550.
    """

    max_terms: int = 4
    name: ClassVar[str] = "transformed_linear"
    reference: ClassVar[str] = "sparse least squares on transformed columns; Box and Tidwell, Technometrics 4 (1962)"

    @np.errstate(all="ignore")  # what overflows is no candidate
    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        found: dict[str, tuple[float, int]] = {}
        plain = [Term(np.ones(len(task.y)), "1"), *powers(task)]
        pools = [(plain, self.max_terms), ([*plain, *exponentials(task)], min(3, self.max_terms))]
        left = int(budget.evaluations)  # least squares problems
        for target, (terms, most) in itertools.product(targets(task.y), pools):
            for subset, coefficients, solved in fits(terms, target, most, left):
                left -= solved
                chosen = [terms[j] for j in subset]
                right = sum(c * term.values for c, term in zip(coefficients, chosen, strict=True))
                loss = float(np.mean((inverse(target.text, right) - task.y) ** 2))
                if math.isfinite(loss):
                    found[as_text(target.text, chosen, coefficients)] = loss, len(subset)
        if not found:
            raise ValueError(f"{task.output}: no combination of transformed inputs is finite on all rows")
        n, floor = len(task.y), 1e-24 * float(np.mean(task.y**2)) or 1e-300
        order = sorted(found, key=lambda text: n * math.log(max(found[text][0], floor)) + found[text][1] * math.log(n))
        used = int(budget.evaluations) - left
        return [Candidate({task.output: text}, found[text][0], 4 * found[text][1], used) for text in order]


def targets(y: np.ndarray) -> Iterator[Target]:
    """The target and what it may be transformed to, where all rows have that."""
    yield Target(y, np.ones(len(y)), "{}")
    if (y != 0).all():
        yield Target(1 / y, y**2, "1/({})")
    if (y > 0).all():
        yield Target(np.log(y), y, "exp({})")
    if np.abs(y).max() < LARGEST:
        yield Target(np.exp(y), np.exp(-y), "log({})")
        yield Target(np.exp(-y), np.exp(y), "-log({})")


def inverse(text: str, values: np.ndarray) -> np.ndarray:
    """Of g, by its text."""
    if "log" in text:
        return np.log(values) if text[0] == "l" else -np.log(values)
    return {"{}": values, "1/({})": 1 / values, "exp({})": np.exp(values)}[text]


def powers(task: Task) -> Iterator[Term]:
    """Powers and logarithms of the inputs, where all rows have them."""
    for name, x in zip(task.inputs, task.X.T, strict=True):
        if np.ptp(x) == 0:
            continue
        for power in POWERS:
            if (power != 0.5 or (x >= 0).all()) and (power > 0 or (x != 0).all()):
                shown = {0.5: f"sqrt({name})", 1.0: name, -1.0: f"1/{name}", -2.0: f"1/{name}**2"}
                yield Term(x**power, shown.get(power, f"{name}**{power:g}"))
        if (x > 0).all():
            yield Term(np.log(x), f"log({name})")


def exponentials(task: Task) -> Iterator[Term]:
    """exp(k x) of each input, k from a quarter over its range to three over the usual step between its values."""
    for name, x in zip(task.inputs, task.X.T, strict=True):
        if span := float(np.ptp(x)):
            step = max(float(np.median(np.diff(np.unique(x)))), span / 1000)
            for size in np.geomspace(0.25 / span, 3 / step, RATES).tolist():
                for rate, at in ((size, float(x.max())), (-size, float(x.min()))):
                    if abs(rate * at) < LARGEST:  # the largest value is 1
                        yield Term(np.exp(rate * (x - at)), f"exp({rate!r}*{name})", math.exp(-rate * at))


def fits(terms: list[Term], target: Target, most: int, left: int) -> Iterator[tuple[list[int], np.ndarray, int]]:
    """Terms, by their places; coefficients, as fitted and with those of logarithms rounded to halves; new solutions."""
    A = target.weights[:, None] * np.column_stack([term.values for term in terms])
    scale = np.linalg.norm(A, axis=0)
    sound = [j for j in range(len(terms)) if np.isfinite(scale[j]) and scale[j] > 0]
    A, b = A / np.where(scale > 0, scale, 1.0), target.weights * target.values
    n = len(b)
    if n > A.shape[1]:  # what all columns leave of b is left by each subset: the triangular factor has the rest
        A[:, np.setdiff1d(range(len(terms)), sound)] = 0.0
        Q, A = np.linalg.qr(A)
        b = Q.T @ b
    is_log = np.array([term.text.startswith("log(") for term in terms])
    power_law = [j for j in sound if is_log[j] or terms[j].text == "1"]
    first = [(power_law, 1)] if len(power_law) < n - 1 and left > 0 else []
    for subset, solved in itertools.chain(first, best_subsets(A, b, sound, min(most, n - 2), left - 1)):
        c = np.linalg.lstsq(A[:, subset], b, rcond=None)[0] / scale[subset]
        yield subset, c, solved
        logs, halves = is_log[subset], np.where(is_log[subset], np.round(2 * c) / 2, 0.0)
        if logs.any() and halves[logs].all():
            others = [j for j in subset if not is_log[j]]
            rest = np.linalg.lstsq(A[:, others], b - A[:, subset] @ (halves * scale[subset]), rcond=None)[0]
            halves[~logs] = rest / scale[others]
            yield subset, halves, 0


def best_subsets(
    A: np.ndarray, b: np.ndarray, columns: list[int], most: int, left: int
) -> Iterator[tuple[list[int], int]]:
    """For each number of columns those with the smallest residuals, and with the first of them how many were tried."""
    first = tuple[int, ...]()
    for k in range(1, min(most, len(columns)) + 1):
        every = math.comb(len(columns), k) <= SUBSETS
        tried = math.comb(len(columns), k) if every else len(columns) - len(first)
        if tried > left:
            return
        left -= tried
        more = (tuple(sorted((*first, j))) for j in columns if j not in first)
        subsets = itertools.combinations(columns, k) if every else more
        best = heapq.nsmallest(BEST, ((squares_left(A[:, list(s)], b), s) for s in subsets))
        first = best[0][1]
        kept = [list(subset) for residual, subset in best if math.isfinite(residual)]
        yield from ((subset, tried if i == 0 else 0) for i, subset in enumerate(kept))


def squares_left(A: np.ndarray, b: np.ndarray) -> float:
    """Residual sum of squares; infinite where columns depend on each other."""
    c, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-9)
    return float(np.sum((A @ c - b) ** 2)) if rank == A.shape[1] else math.inf


def as_text(right: str, terms: list[Term], coefficients: np.ndarray) -> str:
    """The equation for y; under a logarithm, as a product.

    >>> one, x = np.ones(2), np.array([1.0, 2.0])
    >>> as_text("exp({})", [Term(one, "1"), Term(x, "log(x)"), Term(x, "t")], np.array([0.0, 1.5, -2.0]))
    '1.0*x**(1.5)*exp(-2.0*t)'
    >>> as_text("1/({})", [Term(one, "1"), Term(x, "x")], np.array([1.0, -2.0]))
    '1/(1.0 - 2.0*x)'
    """
    pairs = [(float(c) * term.factor, term.text) for c, term in zip(coefficients, terms, strict=True)]
    if right != "exp({})":
        parts = [repr(c) if text == "1" else times(c, text) for c, text in pairs]
        return right.format(" + ".join(parts).replace("+ -", "- "))
    factors = []
    for c, text in pairs:
        if text == "1":
            factors.append(repr(math.exp(min(c, LARGEST))))
        else:
            power = text[4:-1] if c == 1.0 else f"{text[4:-1]}**({c!r})"
            factors.append(power if text.startswith("log(") else f"exp({times(c, text)})")
    return "*".join(factors)


def times(c: float, text: str) -> str:
    """A term with its coefficient, which is not written where it is 1."""
    if abs(c) == 1.0:
        return text if c > 0 else f"-{text}"
    return f"{c!r}{text[1:]}" if text.startswith("1/") else f"{c!r}*{text}"

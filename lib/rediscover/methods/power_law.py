"""One monomial with real exponents, by a straight line in logarithms."""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular


@dataclass(frozen=True)
class PowerLaw(Tabular):
    """y = C * prod x_i^a_i, fitted as log|y| = log|C| + sum a_i log|x_i| by least squares.

    Two candidates: exponents as fitted, and exponents rounded to half-integers (zeros drop out). The rounded one comes
    first unless its squared error is larger by more than `tolerance`. The constant is then refitted to y itself. Where
    y changes sign, it is taken from the product of the signs of those inputs that agree with it most often. Rows in
    which y or an input is 0 have no logarithm: they are left out of the fit of the exponents (``notes["rows_zero"]``)
    and count in the loss. Scales do not matter to logarithms, so this method needs no scaled variant.

    Attributes
    ----------
    tolerance : share by which rounding may raise the mean squared error.
    """

    tolerance: float = 0.01
    name: ClassVar[str] = "power_law"
    reference: ClassVar[str] = "log-linear least squares with exponents snapped to half-integers"

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        X, y = task.X, task.y
        usable = (X != 0).all(axis=1) & (y != 0)
        notes: dict[str, Any] = {} if usable.all() else {"rows_zero": int((~usable).sum())}
        if not usable.any():
            raise ValueError(f"{task.output}: every row has a zero in it, so there are no logarithms to fit")
        odd, agreement = signs(X[usable], y[usable])
        if agreement < 1:
            notes["sign_agreement"] = agreement
        logs = np.column_stack([np.ones(usable.sum()), np.log(np.abs(X[usable]))])
        varies = np.ptp(logs, axis=0) > 0
        varies[0] = True
        raw = np.zeros(logs.shape[1])
        raw[varies] = np.linalg.lstsq(logs[:, varies], np.log(np.abs(y[usable])), rcond=None)[0]
        fitted, snapped = (
            self.candidate(task, exponents, odd, notes) for exponents in (raw[1:], np.round(2 * raw[1:]) / 2)
        )
        # Both errors are rounding where the law is exact; below this share of y^2 their ratio means nothing.
        floor = 1e-20 * np.mean(y**2)
        best_snapped = snapped.loss <= (1 + self.tolerance) * fitted.loss + floor
        return [snapped, fitted] if best_snapped else [fitted, snapped]

    def candidate(self, task, exponents, odd, notes) -> Candidate:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            magnitude = np.abs(task.X) ** exponents
            product = np.prod(np.where(odd, np.sign(task.X) * magnitude, magnitude), axis=1)
        # A pole at a zero input leaves that row undefined; the constant comes from the others.
        finite = np.isfinite(product)
        m, top = product[finite], np.abs(product[finite]).max(initial=0.0) or 1.0
        constant = float(np.sum(m / top * task.y[finite]) / (np.sum((m / top) ** 2) or 1.0) / top)
        loss = float(np.mean((constant * m - task.y[finite]) ** 2)) if finite.any() else float("nan")
        signed = (task.X < 0).any(axis=0)
        text = as_text(constant, exponents, task.inputs, signed, odd)
        size = 1 + 2 * int(np.count_nonzero(exponents))
        return Candidate({task.output: text}, loss, size, evaluations=2, notes=notes)


def signs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Which inputs pass their sign on to y, and the share of rows in which this gives the sign of y.

    All subsets of the signed inputs are tried, up to the overall sign; the smallest that agrees best is taken.

    >>> X = np.array([[1.0, -1.0], [-2.0, -3.0], [2.0, 5.0]])
    >>> signs(X, np.array([-4.0, 4.0, -4.0]))
    (array([ True, False]), 1.0)
    """
    candidates = np.flatnonzero((X < 0).any(axis=0) & (X > 0).any(axis=0))[:10]
    best, best_odd = -1.0, np.zeros(X.shape[1], dtype=bool)
    for size in range(len(candidates) + 1):
        for subset in itertools.combinations(candidates, size):
            same = float(np.mean(np.prod(np.sign(X[:, list(subset)]), axis=1) == np.sign(y)))
            if max(same, 1 - same) > best:
                best, best_odd = max(same, 1 - same), np.isin(np.arange(X.shape[1]), subset)
    return best_odd, best


def as_text(constant, exponents, inputs, signed, odd) -> str:
    """``C*x*sqrt(y)/z**2``; a signed input under an exponent that would lose or garble its sign goes through abs."""
    above, below = [repr(constant)], list[str]()
    for name, a, has_sign, is_odd in zip(inputs, exponents, signed, odd, strict=True):
        if a == 0:
            if is_odd:
                above.append(f"{name}/abs({name})")
            continue
        natural = not has_sign or (a % 2 == 1 if is_odd else a % 2 == 0)
        if natural:
            (above if a > 0 else below).append(power(name, abs(a)))
            continue
        if is_odd:
            above.append(name)
            a = a - 1
        if a != 0:
            (above if a > 0 else below).append(power(f"abs({name})", abs(a)))
    text = "*".join(above)
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def power(base: str, exponent: float) -> str:
    if exponent == 1:
        return base
    if exponent == 0.5:
        return f"sqrt({base})"
    return f"{base}**{int(exponent) if exponent == int(exponent) else repr(float(exponent))}"

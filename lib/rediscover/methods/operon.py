"""Operon: genetic programming with local search, through pyoperon."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular

# fmin and fmax are missing on purpose: pyoperon 0.6.2 prints each as the other.
SYMBOLS = (
    "add sub mul div aq pow powabs abs acos asin atan ceil cos cosh exp floor log logabs log1p sin sinh "
    "sqrt sqrtabs tan tanh square"
).split()

NODE_BITS = 4.0  # a node is one of about 16 symbols
ROUNDING = 1e-12  # what single precision leaves of an exact model's error
RANGE = "It computes in single precision, where 1e38 overflows; operon_log_scaled moves the data near 1"


@dataclass(frozen=True)
class Operon(Tabular):
    """NSGA-II over error and length, constants tuned by Levenberg-Marquardt; returns the whole Pareto front.

    Operon computes in single precision: constants carry 7 digits, targets near 1e-12 pass for constant and
    1e38 overflows (use ``operon_log_scaled`` there). The front is ordered by `description_length`, or by the
    validation error where the task has validation rows. (pyoperon's own description length depends on the unit of
    the target: on the 12 Nguyen problems its first choice solves none, the lowest error all 12.) The search stops by
    evaluations, never by the clock, and repeats exactly for one seed.

    Attributes
    ----------
    symbols : functions, comma-separated; constants and variables are always there. pyoperon's own default is
        the four rules of arithmetic.
    population_size : reduced to a twentieth of the budget's evaluations where that is less, to no fewer than
        50.
    max_length, max_depth : largest tree.
    optimizer_iterations : steps of local search for each new tree; each costs evaluations of the budget.
    epsilon : differences in an objective that count as none.

    References
    ----------
    B. Burlacu, G. Kronberger, M. Kommenda, Operon C++, GECCO Companion 2020, doi:10.1145/3377929.3398099
    """

    symbols: str = "add,sub,mul,div,exp,log,sin,cos,sqrt,tanh,pow"
    population_size: int = 1000
    max_length: int = 50
    max_depth: int = 10
    optimizer_iterations: int = 1
    epsilon: float = 1e-5
    name: ClassVar[str] = "operon"
    reference: ClassVar[str] = "Burlacu et al., Operon C++ (GECCO 2020), doi:10.1145/3377929.3398099"
    searches: ClassVar[bool] = True
    portable: ClassVar[bool] = False
    requires: ClassVar[tuple[str, ...]] = ("pyoperon",)
    loads: ClassVar[tuple[str, ...]] = ("pyoperon.sklearn",)

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [symbol for symbol in self.symbols.split(",") if symbol.strip() not in SYMBOLS]
        if unknown:
            raise ValueError(f"operon: unknown symbol {unknown[0]!r} (symbols: {', '.join(SYMBOLS)})")

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        from pyoperon.sklearn import SymbolicRegressor

        population = max(50, min(self.population_size, int(budget.evaluations) // 20))
        estimator = SymbolicRegressor(
            allowed_symbols=f"{self.symbols},constant,variable",
            objectives=["r2", "length"],
            optimizer_iterations=self.optimizer_iterations,
            max_length=self.max_length,
            max_depth=self.max_depth,
            population_size=population,
            pool_size=population,
            generations=int(budget.evaluations),
            max_evaluations=int(budget.evaluations),
            epsilon=self.epsilon,
            n_threads=1,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "Model contains no variables", and overflow in its loss
            try:
                estimator.fit(task.X, task.y)
            except ValueError as error:  # pyoperon's loss of a front on which some model overflows
                raise ValueError(f"{task.output}: operon's front is not finite ({error}) {RANGE}") from error
            unit = float(np.var(task.y))
            lengths = {
                id(model): description_length(model["mean_squared_error"] / unit, model["complexity"], len(task.y))
                for model in estimator.pareto_front_
            }
            front = sorted(estimator.pareto_front_, key=lambda model: lengths[id(model)])
            texts = [as_text(estimator, model["tree"], task.inputs) for model in front]
        notes = {"generations": estimator.stats_["generations"]}
        found = [
            Candidate({task.output: text}, float(model["mean_squared_error"]), model["complexity"], notes=notes)
            for model, text in zip(front, texts, strict=True)
            if text is not None
        ]
        if not found:
            raise ValueError(f"{task.output}: operon found no model with finite constants. {RANGE}")
        return found


def description_length(error: float, size: float, rows: int) -> float:
    """Bits that tell rows by a model and the model itself: rows/2 log2(error) + `NODE_BITS` size.

    Parameters
    ----------
    error : mean squared error relative to the target's variance; below `ROUNDING` there is none to tell
    size : nodes
    rows : int

    Examples
    --------
    >>> description_length(0.25, 3, 100), description_length(float("nan"), 3, 100)
    (-88.0, inf)
    """
    bits = rows / 2 * np.log2(max(error, ROUNDING)) + NODE_BITS * size if error >= 0 else np.inf
    return float(bits)


def as_text(estimator: Any, tree: Any, inputs: Sequence[str]) -> str | None:
    """Infix with every digit of the constants, or None if one of them is not finite.

    The formatter prints fixed decimals, so 60 of them hold the smallest single-precision number; each is then
    written as the shortest text of the same value.
    """
    text = estimator.get_model_string(tree, 60, list(inputs))
    if re.search(r"\b(nan|inf)\b", text):
        return None
    return re.sub(r"(?<![\w.])\d+\.\d+", lambda number: repr(float(number[0])), text)

"""gplearn: plain genetic programming."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problems import Task
from . import Budget, Candidate
from .tables import Tabular

# Settings that gplearn gets as they are.
HANDED_ON = [
    *("metric", "parsimony_coefficient", "stopping_criteria", "max_samples"),
    *("p_crossover", "p_subtree_mutation", "p_hoist_mutation", "p_point_mutation"),
]


@dataclass(frozen=True)
class Gplearn(Tabular):
    """Genetic programming on trees; returns the non-dominated programs (length, error) of the last generation.

    gplearn's functions are protected: a/b is 1 where abs(b) <= 0.001, log(a) is 0 there and takes abs(a), sqrt(a) takes
    abs(a), inv(a) is 0 where abs(a) <= 0.001. A program is written with the plain function where no training row
    reaches the protected branch, and with that branch spelled out where one does (listed in ``notes["protected"]``), so
    on the training rows the text is the program. Budget: generations = evaluations // population_size.

    Attributes
    ----------
    population_size : reduced to a tenth of the budget's evaluations where that is less.
    function_set : names, comma-separated.
    metric : 'mean absolute error' (gplearn's default), 'mse' or 'rmse'.
    parsimony_coefficient, stopping_criteria, max_samples, tournament_size : as in gplearn.
    p_crossover, p_subtree_mutation, p_hoist_mutation, p_point_mutation : as in gplearn.
    const_range : constants are drawn from -const_range..const_range; 0 for none.

    References
    ----------
    T. Stephens, gplearn, https://gplearn.readthedocs.io
    """

    population_size: int = 1000
    function_set: str = "add,sub,mul,div,sqrt,log,sin,cos"
    metric: str = "mean absolute error"
    parsimony_coefficient: float = 0.001
    stopping_criteria: float = 0.0
    const_range: float = 1.0
    max_samples: float = 1.0
    tournament_size: int = 20
    p_crossover: float = 0.9
    p_subtree_mutation: float = 0.01
    p_hoist_mutation: float = 0.01
    p_point_mutation: float = 0.01
    name: ClassVar[str] = "gplearn"
    reference: ClassVar[str] = "Stephens, gplearn, https://gplearn.readthedocs.io"
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("gplearn", "scikit-learn")
    loads: ClassVar[tuple[str, ...]] = ("gplearn.genetic",)
    protected: ClassVar[bool] = True  # whether texts spell the protected branches out

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.function_set.split(",") if name not in WRITTEN]
        if unknown:
            raise ValueError(f"gplearn: unknown function {unknown[0]!r} (functions: {', '.join(WRITTEN)})")

    def estimator(self, population: int, random_state: int, **others: Any) -> Any:
        """gplearn's regressor with these settings; `others` are further ones of its own."""
        from gplearn.genetic import SymbolicRegressor

        return SymbolicRegressor(
            population_size=population,
            tournament_size=min(self.tournament_size, population),
            function_set=self.function_set.split(","),
            const_range=(-self.const_range, self.const_range) if self.const_range else None,
            n_jobs=1,
            random_state=random_state,
            **{name: getattr(self, name) for name in HANDED_ON},
            **others,
        )

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        population = max(2, min(self.population_size, int(budget.evaluations) // 10))
        generations = max(1, int(budget.evaluations) // population)
        estimator = self.estimator(population, int(rng.integers(2**31)), generations=generations)
        with np.errstate(all="ignore"):
            estimator.fit(task.X, task.y)
            best = estimator._program
            front = [best] + [p for p in non_dominated(estimator._programs[-1]) if p is not best]
            written = [write(p.program, task.X, task.inputs, self.protected) for p in front]
        evaluations = population * len(estimator.run_details_["generation"])
        return [
            Candidate(
                {task.output: text},
                float(program.raw_fitness_),
                program.length_,
                evaluations,
                {"protected": protected} if protected else {},
            )
            for program, (text, protected) in zip(front, written, strict=True)
        ]


def non_dominated(programs: Iterable[Any]) -> list:
    """Programs that no shorter one beats, shortest first."""
    front: list = []
    for program in sorted((p for p in programs if p is not None), key=lambda p: (p.length_, p.raw_fitness_)):
        if not front or program.raw_fitness_ < front[-1].raw_fitness_:
            front.append(program)
    return front


# name -> (plain text, text with gplearn's protection, the rows that need it)
WRITTEN = {
    "add": ("({0} + {1})", None, None),
    "sub": ("({0} - {1})", None, None),
    "mul": ("({0}*{1})", None, None),
    "div": ("({0}/{1})", "where(abs({1}) > 0.001, {0}/{1}, 1.0)", lambda a, b: np.abs(b) <= 0.001),
    "sqrt": ("sqrt({0})", "sqrt(abs({0}))", lambda a: a < 0),
    "log": ("log({0})", "where(abs({0}) > 0.001, log(abs({0})), 0.0)", lambda a: a <= 0.001),
    "inv": ("(1.0/{0})", "where(abs({0}) > 0.001, 1.0/{0}, 0.0)", lambda a: np.abs(a) <= 0.001),
    "neg": ("(-{0})", None, None),
    "abs": ("abs({0})", None, None),
    "max": ("max({0}, {1})", None, None),
    "min": ("min({0}, {1})", None, None),
    "sin": ("sin({0})", None, None),
    "cos": ("cos({0})", None, None),
    "tan": ("tan({0})", None, None),
}


def write(program: list, X: np.ndarray, inputs: Sequence[str], spell: bool = True) -> tuple[str, list[str]]:
    """A program (prefix order: functions, column numbers, constants) as text, and the functions whose
    protection is met; it is in the text only if `spell`."""
    nodes, protected = iter(program), []

    def visit():
        node = next(nodes)
        if isinstance(node, float):
            return (repr(float(node)) if node >= 0 else f"({float(node)!r})"), np.full(len(X), float(node))
        if isinstance(node, int | np.integer):
            return inputs[node], X[:, node]
        texts, values = zip(*(visit() for _ in range(node.arity)), strict=True)
        plain, guarded, needs = WRITTEN[node.name]
        if guarded and needs(*values).any():
            protected.append(node.name)
            plain = guarded if spell else plain
        return plain.format(*texts), node(*values)

    return visit()[0], sorted(set(protected))

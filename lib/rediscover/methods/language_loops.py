"""What the loops around a language model share: their data, their proposers, and how a model is reached."""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..expressions import Expression
from ..expressions.programs import Reading
from ..numerics.arrays import size_of
from ..problems import Problem, Task, generator
from ..search.loops.proposals import Notation, Outcome, Pool, Scored, Shown, search
from ..search.loops.proposers import Genetic, Grammar, Metered, Model
from ..search.loops.slot_fits import Fit, Table, table
from . import Budget, Candidate, join
from .endpoint import RELEASED, RUN, Endpoint
from .tables import Tabular

CONTROLS: dict[str, Any] = {"grammar": Grammar, "genetic": Genetic}
ROUNDING = 1e-24  # mean squared error, relative to the mean square of the target, that is none


@dataclass(frozen=True, eq=False)
class Described(Task):
    """A table with what a prompt may say of it: the problem's id, the run's seed, meanings of the columns."""

    problem: str = "table"
    seed: int = 0
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Parts:
    """What a framework puts into the loop; see `search`, and `Model` for the last three.

    `final` is one more fit of the programs of the front, whose constants are kept if they are better. `dropped` counts
    what `programs` leaves out of replies.
    """

    pool: Pool
    notation: Notation
    fit: Fit
    score: Callable[[float, Reading], float]
    prompt: Callable[[Shown], list[dict]]
    programs: Callable[[str, Shown], Sequence[str]]
    each: int = 1
    joint: bool = False
    seed: str | None = None
    enough: float = -np.inf
    final: Fit | None = None
    dropped: Counter = field(default_factory=Counter)


@dataclass(frozen=True)
class LanguageLoop(Endpoint, Tabular):
    """Base of the loops around a language model. Subclasses write ``parts``; their texts are in a YAML file.

    A budget's evaluations are samples: programs that are asked for. The controls are those of
    `rediscover.search.loops.proposers`.

    Attributes
    ----------
    samples : at most, for each output.
    scale : 'none', as published, or 'unit': columns are divided by their root mean squares, the loop runs there, and
        the answer is written in the old units. From ones, BFGS does not reach constants of other orders.
    describe : whether the prompt says what the columns stand for, where the problem does.
    prior : name of a sentence on the domain in the YAML file, for the prompt; none by default.
    """

    samples: int = 1000
    scale: str = "none"
    describe: bool = False
    prior: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check(scale=("none", "unit"), prior=("", *self.texts.get("priors", {})))
        if self.samples < 1:
            raise ValueError(f"{self.name}: samples must be at least 1, got {self.samples}")
        if self.prior and self.prompts == RELEASED:
            raise ValueError(f"{self.name}: a prior is a sentence of ours: leave it out, or prompts='released'")

    # ---- what a subclass says

    def parts(self, task: Described, data: Table, rng: np.random.Generator) -> Parts:
        """The parts of the loop for one table; `data` is scaled, `task` is not."""
        raise NotImplementedError(f"{self.name} has no parts")

    def about(self, task: Described, name: str) -> str:
        """A column's name, and with `describe` what it stands for."""
        meaning = task.meanings.get(name, "") if self.describe else ""
        return f"{name} ({meaning})" if meaning else name

    @property
    def sentence(self) -> str:
        return self.texts["priors"][self.prior].strip() if self.prior else ""

    # ---- a run

    def answer(self, problem: Problem, budget: Budget, seed: int) -> list[Candidate]:
        rng = generator(seed, problem.id, self.name)
        tasks = [
            Described(**vars(t), problem=problem.id, seed=seed, meanings=problem.meanings) for t in problem.tasks(seed)
        ]
        return join([self.fit(task, budget=budget, rng=rng) for task in tasks])

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        told = task if isinstance(task, Described) else Described(**vars(task))
        units = [unit_of(column) if self.scale == "unit" else 1.0 for column in (*told.X.T, told.y)]
        data = table(told.inputs, told.X / units[:-1], told.y / units[-1])
        parts = self.parts(told, data, rng)
        prompt, programs, joint = parts.prompt, parts.programs, parts.joint
        propose: Metered | Model
        if self.proposer in CONTROLS:
            propose = Metered(CONTROLS[self.proposer](parts.notation), prompt, joint)
        else:
            propose = Model(self.asking(told.problem), prompt, programs, joint, first_draw=told.seed * RUN)
        outcome = search(
            propose,
            parts.pool,
            parts.notation,
            data,
            parts.fit,
            parts.score,
            samples=min(self.samples, int(budget.evaluations)),
            each=parts.each,
            seed=parts.seed,
            enough=parts.enough,
            rng=rng,
        )
        if not outcome.programs:
            raise ValueError(f"{told.output}: no program was defined on all rows")
        notes = {"proposer": self.proposer, **propose.tokens, **parts.dropped}
        return candidates(outcome, parts, data, told, units, notes)


def candidates(
    outcome: Outcome, parts: Parts, data: Table, task: Task, units: Sequence[float], notes: dict
) -> list[Candidate]:
    """The front with its constants fitted once more, the best score first, in the units of the task.

    Errors that rounding explains are equal, and the smaller program comes first. The first has its text and the
    curve of the search in its notes.
    """
    finest = ROUNDING * float(np.mean(data.y**2))
    found = [(program, *finished(program, parts, data)) for program in outcome.front]
    found.sort(key=lambda each: (-parts.score(max(each[2], finest), each[0].reading), each[0].complexity))
    answers: list[Candidate] = []
    for program, expression, mse in found:
        own = {} if answers else {"program": program.text, "curve": [list(step) for step in outcome.curve]}
        more = {**notes, **outcome.counts, "sample": program.sample, **own}
        solution, loss = {task.output: in_units(expression, task, units)}, float(mse * units[-1] ** 2)
        answers.append(Candidate(solution, loss, program.complexity, outcome.counts["asked"], more))
    return answers


def finished(program: Scored, parts: Parts, data: Table) -> tuple[Expression, float]:
    """A program with the best constants of a further search, and of the framework's own last one."""
    fits = [(program.constants, program.mse), parts.fit.polish(program.reading, program.constants, data)]
    if parts.final is not None:
        fits.append(parts.final(program.reading, data))
    constants, mse = min(fits, key=lambda fit: fit[1])
    return replace(program, constants=constants).expression, mse


def in_units(expression: Expression, task: Task, units: Sequence[float]) -> str:
    """Text of a program that was found on columns divided by their units."""
    ratios = {
        name: Expression(("/", (name,), (unit,))) for name, unit in zip(task.inputs, units, strict=False) if unit != 1
    }
    inner = expression.substitute(ratios)
    return str(inner if units[-1] == 1 else Expression(("*", (units[-1],), inner.tree)))


def unit_of(column: np.ndarray) -> float:
    """Root mean square to six digits; 1 for zeros.

    >>> unit_of(np.array([3e-9, -4e-9]))
    3.53553e-09
    """
    return float(f"{size_of(column):.6g}")


def seed_of(task: Described) -> int:
    """A number from a problem, an output and a run."""
    return zlib.crc32(f"{task.problem}/{task.output}/{task.seed}".encode())

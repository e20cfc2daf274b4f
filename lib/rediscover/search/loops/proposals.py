"""One loop for all methods that ask somebody for programs: show, propose, read, fit, score, put back.

Who proposes is exchangeable: a language model, a random grammar, genetic operators on what the pool shows. Pool,
reader, fit, score and number of samples are the same for all, so that a difference in results is the proposer's.
Nothing looks at the clock.

References
----------
P. Shojaee et al., LLM-SR, arXiv:2404.18400; B. Romera-Paredes et al., FunSearch, Nature 625 (2024) 468;
M. Merler et al., In-context symbolic regression, arXiv:2404.19094
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ...expressions import Expression
from ...expressions.programs import ProgramError, Reading
from ...expressions.programs.frames import refusing
from .slot_fits import Fit, Table

Answer = str | ProgramError  # the text of a program, or why there is none


@dataclass(frozen=True, eq=False)
class Scored:
    """A program with the constants that were found for it.

    Attributes
    ----------
    text : as its author wrote it.
    reading : what it computes.
    constants : values of the slots of `reading`, in their order.
    mse : mean squared error on the data.
    score : higher is better.
    sample : its number among all samples, from 1; 0 is the program that the loop was given.
    """

    text: str
    reading: Reading
    constants: tuple[float, ...]
    mse: float
    score: float
    sample: int

    @cached_property
    def expression(self) -> Expression:
        names = [slot.name for slot in self.reading.slots]
        return self.reading.expression.substitute(dict(zip(names, self.constants, strict=True)))

    @property
    def complexity(self) -> int:
        return self.reading.expression.size


class Shown(NamedTuple):
    """What a pool shows to a proposer.

    Attributes
    ----------
    programs : in the order in which they are shown; may be none.
    parent : the program to be changed, where the pool names one.
    inspirations : further programs.
    place : where in the pool the answers belong.
    """

    programs: tuple[Scored, ...]
    parent: Scored | None = None
    inspirations: tuple[Scored, ...] = ()
    place: int | None = None


class Pool(Protocol):
    """Where programs are kept, and which of them are shown."""

    def add(self, program: Scored, place: int | None) -> None:
        """Keep a program at a place, or everywhere."""

    def show(self, rng: np.random.Generator) -> Shown:
        """What the next proposals start from."""


class Proposer(Protocol):
    """Called with what is shown and with how many answers are wanted; returns exactly so many."""

    def __call__(self, shown: Shown, count: int, rng: np.random.Generator) -> Sequence[Answer]: ...


class Notation(Protocol):
    """How programs are written in a loop; `inputs` are the names of the columns."""

    @property
    def inputs(self) -> tuple[str, ...]: ...

    def read(self, text: str) -> Reading:
        """What a text computes, else `ProgramError`."""

    def write(self, tree: tuple) -> str:
        """Text of a tree whose constants are the leaves ``("#0",)``, ``("#1",)``, ..."""


@dataclass(frozen=True)
class Outcome:
    """What a loop found.

    Attributes
    ----------
    programs : all that were scored, in the order in which they came.
    counts : samples that were ``asked`` for; ``unreadable``, ``undefined`` on some row, ``repeated`` (the skeleton
        had come before), ``scored``.
    curve : sample and score of each program that was the best when it came.
    """

    programs: tuple[Scored, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    curve: tuple[tuple[int, float], ...] = ()

    @property
    def front(self) -> list[Scored]:
        """Programs that no smaller or equally large one beats, the best first."""
        kept: list[Scored] = []
        for program in sorted(self.programs, key=lambda p: (p.complexity, -p.score, p.sample)):
            if not kept or program.score > kept[-1].score:
                kept.append(program)
        return kept[::-1]


def search(
    propose: Proposer,
    pool: Pool,
    notation: Notation,
    data: Table,
    fit: Fit,
    score: Callable[[float, Reading], float],
    *,
    samples: int,
    each: int = 1,
    seed: str | None = None,
    enough: float = -math.inf,
    rng: np.random.Generator,
) -> Outcome:
    """Run the loop.

    Parameters
    ----------
    propose, pool, notation, data, fit
        The exchangeable parts. A skeleton that comes again has the constants that were found the first time.
    score : callable
        Mean squared error, reading -> score.
    samples : int
        How many programs are asked for; an answer that cannot be read is one of them.
    each : int
        How many for one prompt.
    seed : str, optional
        A program to start from, at every place of the pool; it costs no sample.
    enough : float
        Stop when the mean squared error of a program is no larger.

    Raises
    ------
    ValueError
        If the proposer gives more or fewer answers than were asked for.
    """
    counts: Counter[str] = Counter(asked=0, unreadable=0, undefined=0, repeated=0, scored=0)
    fitted: dict[str, tuple[tuple[float, ...], float]] = {}
    programs: list[Scored] = []
    curve: list[tuple[int, float]] = []

    def assess(answer: Answer, number: int) -> Scored | None:
        try:
            if isinstance(answer, ProgramError):
                raise answer
            with refusing():
                reading = notation.read(answer)
        except ProgramError:
            counts["unreadable"] += 1
            return None
        skeleton = str(reading.expression)
        counts["repeated"] += skeleton in fitted
        if skeleton not in fitted:
            fitted[skeleton] = fit(reading, data)
        constants, mse = fitted[skeleton]
        value = score(mse, reading) if mse < math.inf else math.nan
        if not math.isfinite(value):
            counts["undefined"] += 1
            return None
        return Scored(answer, reading, constants, mse, value, number)

    def keep(program: Scored, place: int | None) -> None:
        pool.add(program, place)
        programs.append(program)
        if not curve or program.score > curve[-1][1]:
            curve.append((program.sample, program.score))

    first = None if seed is None else assess(seed, 0)
    if first is not None:
        keep(first, None)
    while counts["asked"] < samples and not any(program.mse <= enough for program in programs[-each:]):
        shown = pool.show(rng)
        wanted = min(each, samples - counts["asked"])
        answers = list(propose(shown, wanted, rng))
        if len(answers) != wanted:
            raise ValueError(f"the proposer gave {len(answers)} answers instead of {wanted}")
        for answer in answers:
            counts["asked"] += 1
            program = assess(answer, counts["asked"])
            if program is not None:
                counts["scored"] += 1
                keep(program, shown.place)
    return Outcome(tuple(programs), dict(counts), tuple(curve))

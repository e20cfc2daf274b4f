"""LaSR: regularised evolution, some of whose steps a language model takes, guided by concepts that it finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..expressions.spelling import respelled
from ..expressions.trees import replace_leaves
from ..numerics.arrays import size_of
from ..problems import Task
from ..search.evolution.choice import choose, scores_of
from ..search.evolution.concepts import Concepts, sample, strings
from ..search.evolution.guided_evolution import Guided
from ..search.loops.proposers import Grammar
from ..search.programs.programs import to_text
from . import Budget, Candidate
from .endpoint import RUN, texts
from .language_loops import Described, LanguageLoop, in_units, unit_of
from .questions import Questions
from .regularised_evolution import RegularisedEvolution

ONES = ("sin", "cos"), ("exp", "log")  # no one of a group inside another of it
# As in the authors' experiments and in SurfaceBench, on PySR 0.19, whose defaults these are where the paper has none.
EVOLUTION = {
    "populations": 10,
    "population_size": 33,
    "ncycles_per_iteration": 550,
    "maxsize": 30,
    "binary_operators": "+,-,*,/,^",
    "unary_operators": "exp,log,sqrt,sin,cos",
    "constraints": {"sin": 10, "cos": 10, "exp": 20, "log": 20, "sqrt": 20, "^": [-1, 20]},
    "nested_constraints": {
        **{outer: dict.fromkeys(group, 0) for group in ONES for outer in group},
        "sqrt": {"sqrt": 0},
    },
    "parsimony": 0.0032,
    "adaptive_parsimony_scaling": 20.0,
    "tournament_selection_n": 10,
    "tournament_selection_p": 0.86,
    "crossover_probability": 0.066,
    "weight_mutate_constant": 0.048,
    "weight_mutate_operator": 0.47,
    "weight_swap_operands": 0.1,
    "weight_add_node": 0.79,
    "weight_insert_node": 5.1,
    "weight_delete_node": 1.7,
    "weight_rotate_tree": 0.0,
    "weight_randomize": 0.1,
    "weight_do_nothing": 0.21,
    "weight_simplify": 0.0020,
    "alpha": 0.1,
    "perturbation_factor": 0.076,
    "probability_negate_constant": 0.01,
    "fraction_replaced": 0.000364,
    "fraction_replaced_hof": 0.035,
}
EACH = 5  # answers that each question asks for
SMALL = 5  # integers below it are shown as they are, other constants as a letter


@dataclass(frozen=True)
class Lasr(LanguageLoop):
    """Regularised evolution; a share of its steps, and a library of concepts, are a language model's.

    The algorithm is that of the authors' branch of experiments. A reply is read, never executed; where it has no
    child that may be, the symbolic operators take the step. Other than there, losses are relative to the mean square of
    the target, and children of a model's crossover have their own sizes. With proposer 'genetic' no step is handed
    over, which is regularised evolution; with 'grammar' random expressions come in the model's place. Neither has
    concepts. The budget counts evaluations of expressions, as that of `regularised_evolution` does; the paper's
    run takes 600,000.

    Attributes
    ----------
    samples : questions to the model, for each output; then the search goes on without it.
    share : of the steps that are the model's; 0.005 in SurfaceBench, 0.01 and 0.001 in the paper.
    evolution : settings of `regularised_evolution` that are to be others than LaSR's.

    References
    ----------
    A. Grayeli et al., Symbolic regression with a learned concept library, arXiv:2409.09359
    """

    share: float = 0.005
    evolution: Mapping[str, Any] = field(default_factory=dict)
    name: ClassVar[str] = "lasr"
    reference: ClassVar[str] = "after Grayeli et al., LaSR (2024), arXiv:2409.09359"
    texts: ClassVar[dict] = texts(__file__)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.share <= 1:
            raise ValueError(f"{self.name}: share is from 0 to 1, got {self.share!r}")
        try:
            self.base()
        except TypeError as error:
            raise ValueError(f"{self.name}: evolution has {error}") from None

    def base(self) -> RegularisedEvolution:
        return RegularisedEvolution(**{**EVOLUTION, **self.evolution})

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        told = task if isinstance(task, Described) else Described(**vars(task))
        units = [unit_of(column) if self.scale == "unit" else 1.0 for column in (*told.X.T, told.y)]
        X, y = told.X / units[:-1], told.y / units[-1]
        control = self.proposer in ("grammar", "genetic")
        ask = Questions(None if control else self.asking(told.problem), told.seed * RUN, self.samples)
        writer = Writer(self, told, ask)
        evaluations, base, seed = int(budget.evaluations), self.base(), int(rng.integers(2**31))
        run = Guided(X, y, base.within(evaluations), evaluations, seed, told.inputs, writer, self.share)
        found = run.run()
        if not len(found.losses):
            raise ValueError(f"{told.output}: no expression was defined on all rows; the budget is too small")
        best = choose(found.losses, scores_of(found.losses, found.front.sizes), base.model_selection)
        steps = {"steps": found.steps, "rounds": found.rounds, "handed": run.handed, "taken": run.taken}
        notes = {"proposer": self.proposer, **steps, **ask.spent, "concepts": len(writer.concepts.ideas)}
        scale = size_of(y) * units[-1]
        expressions = [parse(text) for text in to_text(found.front, told.inputs)]
        return [
            Candidate(
                {told.output: in_units(expressions[i], told, units)},
                float(found.losses[i] * scale * scale),
                int(found.front.sizes[i]),
                found.evaluations,
                notes,
            )
            for i in sorted(range(len(expressions)), key=lambda i: (i != best, found.losses[i]))
        ]


class Writer:
    """The guide of a search: asks for children and for concepts, and reads the replies."""

    def __init__(self, method: Lasr, task: Described, ask: Questions) -> None:
        self.method, self.task, self.ask, self.concepts = method, task, ask, Concepts()
        self.letter = next(letter for letter in ("C", "K", "const", "constant") if letter not in task.inputs)
        listed = ", ".join(method.about(task, name) for name in task.inputs)
        operators = ", ".join(method.base().operators)
        about = {"inputs": listed, "output": method.about(task, task.output), "operators": operators}
        self.about = {**about, "letter": self.letter, "sentence": method.sentence, "count": EACH}
        self.about["system"] = method.text("system", **self.about)

    def messages(self, key: str, **values: Any) -> list[dict]:
        texts = {"system": f"system_{key}", "user": key}
        return [{"role": role, "content": self.method.text(of, **self.about, **values)} for role, of in texts.items()]

    def listed(self, key: str, items: Sequence[str]) -> str:
        lines = (self.method.text(key, number=i, item=item) for i, item in enumerate(items, 1))
        return "\n".join(lines) or self.method.text("nothing")

    def propose(self, parents: Sequence[tuple], rng: np.random.Generator) -> Sequence[tuple]:
        if self.ask.over:
            return []
        hints = self.listed("hint", self.concepts.hints(rng))
        line = "parent" if len(parents) == 1 else "parents"
        shown = self.listed(line, [sketch(parent, self.letter) for parent in parents])
        key = ("draw", "mutate", "join")[len(parents)]
        reply = self.ask(self.messages(key, hints=hints, parents=shown))
        count = max(1, len(parents))
        if self.method.proposer == "grammar":
            trees = [Grammar.tree(self.task.inputs, rng) for _ in range(count)]
            return [replace_leaves(tree, lambda leaf: (1.0 if str(leaf).startswith("#") else leaf,)) for tree in trees]
        read = [self.read(text) for text in sample(self.strings(reply), count, rng)]
        self.ask.spent.update(unread=read.count(None))
        return [tree for tree in read if tree is not None]

    def strings(self, reply: str) -> list[str]:
        """The texts of a reply; one without any is counted."""
        found = strings(reply)
        if reply and not found:
            self.ask.spent.update(unread=1)
        return found

    def read(self, text: str) -> tuple | None:
        """A model's expression: the letter is 1, as c and c1 are; a name that is unknown is the first column."""
        try:
            tree = parse(respelled(text, (*self.task.inputs, self.letter))).tree
        except ExpressionError:
            return None

        def leaf(label: Any) -> tuple:
            if not isinstance(label, str) or label in (*self.task.inputs, "π", "ℯ"):
                return (label,)
            constant = label.rstrip("_0123456789") in ("c", self.letter)
            return (1.0,) if constant else (self.task.inputs[0],)

        return replace_leaves(tree, leaf)

    def learn(self, front: Sequence[tuple], worst: Sequence[tuple], rng: np.random.Generator) -> None:
        good, bad = (
            self.listed(key, [sketch(tree, self.letter) for tree in sample(trees, 3, rng)])
            for key, trees in (("good", front), ("bad", worst))
        )
        if not self.ask.over:
            self.concepts.add(self.strings(self.ask(self.messages("abstract", good=good, bad=bad))), 2, rng)
        for _ in range(2):
            old = self.concepts.old(rng)
            if old and not self.ask.over:
                reply = self.ask(self.messages("merge", ideas=self.listed("idea", old)))
                self.concepts.add(self.strings(reply), 1, rng)


def sketch(tree: tuple, letter: str) -> str:
    """Text of a tree with a letter for its constants, but for small integers.

    >>> sketch(("+", ("*", (2.0,), ("x",)), (0.37,)), "C")
    '2*x + C'
    """

    def leaf(label: Any) -> tuple:
        if isinstance(label, str):
            return (label,)
        return (int(label),) if float(label).is_integer() and abs(label) < SMALL else (letter,)

    return str(Expression(replace_leaves(tree, leaf)))

"""ProGED: expressions drawn from probabilistic grammars, constants fitted."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..expressions import Expression, refit
from ..search.programs.grammars import BUILT_IN, built_in, canonical, draw
from . import Candidate
from .tables import Tabular

MOST_WORDS = 200  # of a sentence that is read


@dataclass(frozen=True)
class Proged(Tabular):
    """Candidates of one grammar, by their error after the fit of their constants.

    As in SymbolBench's released script every grammar draws its candidates, the first 70 per cent of the rows
    fit them, the error of the best on the rest chooses the grammar, and its candidates are fitted again to all
    rows. Other than there, constants are fitted to the table (for trajectories the derivatives), by one
    trust-region search, and no system is simulated; the limit of constants is for one equation.

    Attributes
    ----------
    grammars : comma-separated.
    candidates : forms that differ, for each grammar.
    max_repeat : draws for each candidate at most.
    max_constants : a form with more is left out.

    References
    ----------
    J. Brence, L. Todorovski, S. Dzeroski, Knowledge-Based Systems 224 (2021) 107077;
    N. Omejc et al., Machine Learning 113 (2024) 7689
    """

    grammars: str = "universal,rational,simplerational,trigonometric,polynomial"
    candidates: int = 32
    max_repeat: int = 100
    max_constants: int = 5
    name: ClassVar[str] = "proged"
    reference: ClassVar[str] = "after Brence et al., Probabilistic grammars for equation discovery (2021)"
    searches: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        unknown = [name for name in self.grammars.split(",") if name not in BUILT_IN]
        if unknown:
            raise ValueError(f"proged: unknown grammar {unknown[0]!r} (grammars: {', '.join(BUILT_IN)})")
        if min(self.candidates, self.max_repeat) < 1 or self.max_constants < 0:
            raise ValueError("proged: candidates and max_repeat must be at least 1, max_constants at least 0")

    def search(self, task, *, budget, rng):
        names = self.grammars.split(",")
        wanted = max(1, min(self.candidates, int(budget.evaluations) // (4 * len(names) + 4)))
        drawn = {name: self.forms(name, task.inputs, wanted, rng) for name in names}
        fits = sum(map(len, drawn.values())) + wanted
        each = max(1, int(budget.evaluations) // max(1, fits))
        columns = dict(zip(task.inputs, task.X.T, strict=True))
        first = max(1, int(0.7 * len(task.y)))
        head, tail = (
            {name: part[rows] for name, part in columns.items()} for rows in (slice(first), slice(first, None))
        )

        def best(name):
            fitted = [self.fitted(form, head, task.y[:first], each, rng) for form in drawn[name]]
            return min((error(form, tail, task.y[first:]) for form in fitted), default=np.inf)

        name = min(names, key=best)
        fitted = [self.fitted(form, columns, task.y, each, rng) for form in drawn[name]]
        losses = [error(form, columns, task.y) for form in fitted]
        order = [i for i in np.argsort(losses, kind="stable") if np.isfinite(losses[i])]
        if not order:
            raise ValueError(f"{task.output}: no expression that was drawn is defined on all rows")
        used = min(int(budget.evaluations), each * fits)
        return [
            Candidate({task.output: str(fitted[i])}, losses[i], fitted[i].size, used, {"grammar": name}) for i in order
        ]

    def forms(self, name: str, inputs, wanted: int, rng) -> list[Expression]:
        """Expressions of a grammar that differ, without their probabilities, in the order in which they came."""
        rules = built_in(name, inputs)
        found: dict[str, Expression] = {}
        for _ in range(wanted * self.max_repeat):
            sentence = draw(rules, rng.random)
            if sentence is None or len(sentence.words) > MOST_WORDS:
                continue
            skeleton = canonical(sentence.words, inputs)
            if skeleton is not None and skeleton.form.count("('C',)") <= self.max_constants:
                found.setdefault(skeleton.form, skeleton.expression)
            if len(found) == wanted:
                break
        return list(found.values())

    @staticmethod
    def fitted(form: Expression, columns, y, evaluations: int, rng) -> Expression:
        """One search from a start in U(-10, 10)."""
        start = form.with_constants(rng.uniform(-10, 10, len(form.constants)))
        return refit(start, columns, y, starts=1, rng=rng, evaluations=evaluations)


def error(form: Expression, columns, y) -> float:
    """Mean squared error; infinite where the form is undefined on a row.

    >>> from rediscover.expressions import parse
    >>> error(parse("2*x"), {"x": np.array([1.0, 2.0])}, np.array([2.0, 5.0]))
    0.5
    """
    if not len(y):
        return np.inf
    with np.errstate(all="ignore"):
        found = float(np.mean((form(columns) - y) ** 2))
    return found if np.isfinite(found) else np.inf

"""From the candidates of a search to a front with one equation chosen, by the rules of `choice`."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..expressions.trees import ARITY, fold
from ..runs.refit import folded
from . import choice
from .constants import Form, snapped
from .residuals import TableResiduals, is_straight

Refusal = Callable[[Form], str]  # why a form is left out; empty where it is not
SAME = {"^": "**", "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}


@dataclass(frozen=True)
class Equation:
    """An entry of a front.

    Attributes
    ----------
    form : Form
    complexity : nodes of the expression's tree
    training : root mean square error on training rows
    squares : ndarray, shape (n,)
        Squared errors on held-out rows.
    held_out : root mean square error on held-out rows
    """

    form: Form
    complexity: int
    training: float
    squares: np.ndarray
    held_out: float


@dataclass(frozen=True)
class Selection:
    """A front, the equation that is chosen from it, and what is to be said about it.

    Attributes
    ----------
    front : shortest first
    chosen : position of the chosen one
    form : the chosen one with short constants where they may be
    unclear : why it is no clear equation; empty where it is one
    noise : why noise is too large for it; empty where it is not
    left_out : why candidates were left out -> how many
    """

    front: list[Equation]
    chosen: int
    form: Form
    unclear: str
    noise: str
    left_out: Counter = field(default_factory=Counter)


def labels(operators: Iterable[str] | None) -> set[str] | None:
    """Labels of trees that operators and functions by their names allow; None for all.

    Raises
    ------
    ValueError
        If one is unknown.

    Examples
    --------
    >>> sorted(labels(["+", "^", "sin"]))
    ['**', '+', 'neg', 'sin']
    """
    if operators is None:
        return None
    if isinstance(operators, str):
        raise ValueError(f"operators is the text {operators!r}; give a list such as ['+', '*', 'sin']")
    found = {SAME.get(name, name) for name in operators}
    if unknown := sorted(str(name) for name in found if name not in ARITY):
        raise ValueError(f"operators: {unknown[0]!r} is unknown; choose from {' '.join(ARITY)}")
    return found | {"neg"}


def candidate_forms(
    texts: Iterable[str], names: Sequence[str], allowed: set[str] | None, most: int | None
) -> list[Form]:
    """Candidates as forms: those that can be read, hold allowed operators only and are not too large, each once."""
    found: dict[str, Form] = {}
    for text in texts:
        try:
            expression = folded(parse(text, names))
        except ExpressionError:
            continue
        if (most is None or expression.size <= most) and (allowed is None or used(expression) <= allowed):
            found.setdefault(str(expression), Form(expression))
    return list(found.values())


def used(expression: Expression) -> set[str]:
    """Labels of the operators and functions in an expression."""
    found: set[str] = set()

    def note(label: str, children: list) -> None:
        if children:
            found.add(label)

    fold(expression.tree, note)
    return found


def assessed(form: Form, residuals: TableResiduals) -> Equation:
    """A form, its constants fitted to the training rows, with its errors."""
    form = residuals.fit(form)
    squares = choice.floored(residuals.squares(form), residuals.spread)
    held_out = float(np.sqrt(np.average(squares, weights=residuals.validation.weights)))
    return Equation(form, form.shown.size, residuals.training(form), squares, held_out)


def select(
    candidates: Sequence[Form], residuals: TableResiduals, mean: Form, line: Form | None, refused: Refusal | None = None
) -> Selection:
    """The front of candidates, and what is chosen from it.

    Parameters
    ----------
    candidates : list of Form
        At least one that is defined everywhere. The first says nothing, and is kept whatever is refused.
    residuals : TableResiduals
    mean : what says nothing: of a table its mean
    line : a straight line fitted to the training rows, or None
    refused : why a form with its constants fitted is left out; empty where it is not; optional

    Returns
    -------
    Selection
    """
    weights = residuals.validation.weights
    every = [assessed(form, residuals) for form in candidates]
    reasons = ["", *(refused(each.form) if refused else "" for each in every[1:])]
    every = [each for each, reason in zip(every, reasons, strict=True) if not reason]
    every = [each for each in every if np.isfinite(each.held_out)] or every[:1]
    kept = [every[i] for i in choice.front([e.complexity for e in every], [e.held_out for e in every])]
    place = choice.chosen(np.stack([each.squares for each in kept]), weights)
    best = kept[place]

    errors, freedom = residuals.errors(best.form)
    form = snapped(best.form, errors, freedom, residuals.fit, worse_than(residuals, refused))
    constant = choice.floored(residuals.squares(mean), residuals.spread)
    straight = line and choice.floored(residuals.squares(line), residuals.spread)
    is_line = is_straight(form.shown, residuals.validation.values)
    trained = line and choice.difference(residuals.absolute(line), residuals.absolute(best.form), residuals.weights)
    unclear = choice.unclear(best.squares, constant, straight if line else None, is_line, weights, trained or None)
    left_out = Counter(filter(None, reasons))
    return Selection(kept, place, form, unclear, too_noisy(best, every, residuals), left_out)


def worse_than(residuals: TableResiduals, refused: Refusal | None) -> Callable[[Form, Form], bool]:
    """Whether a form is refused, or has larger errors than another by more than chance."""
    return lambda form, than: bool(refused and refused(form)) or residuals.worse(form, than)


def too_noisy(best: Equation, others: Sequence[Equation], residuals: TableResiduals) -> str:
    """Why the noise is too large for an equation; empty where it is not."""
    share = best.held_out / residuals.spread
    if share > choice.NOISY:
        return f"its error is {share:.0%} of the spread on held-out rows, so form and constants are unsure"
    if share <= 2 * choice.ROUNDING:
        return ""
    rivals = []
    rows = residuals.validation
    predicted = rows.predicted(best.form)

    def apart_by(other: Equation) -> float:
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.mean((rows.predicted(other.form) - predicted) ** 2)))

    for other in others:
        short = other.complexity <= best.complexity + choice.AS_SHORT
        if short and other is not best and apart_by(other) > choice.TOLD_APART * best.held_out:
            apart = choice.difference(other.squares, best.squares, residuals.validation.weights)
            if apart.mean <= apart.error:
                rivals.append(other)
    if not rivals:
        return ""
    return f"{len(rivals)} other {'form is' if len(rivals) == 1 else 'forms are'} as good within chance"

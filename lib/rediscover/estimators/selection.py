"""From the candidates of a search to a front with one equation chosen, by the rules of `choice`."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..expressions.trees import ARITY, fold
from ..runs.refit import folded
from . import choice
from .constants import Form, snapped, without_factor
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
    exact : whether it fits all rows to rounding
    """

    front: list[Equation]
    chosen: int
    form: Form
    unclear: str
    noise: str
    left_out: Counter = field(default_factory=Counter)
    exact: bool = False


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
    form = determined(residuals.fit(form), residuals)
    squares = choice.floored(residuals.squares(form), residuals.spread)
    held_out = float(np.sqrt(np.average(squares, weights=residuals.validation.weights)))
    return Equation(form, form.shown.size, residuals.training(form), squares, held_out)


def determined(form: Form, residuals: TableResiduals) -> Form:
    """The form without factors that the rows do not determine beside its other constants, as b in a x/(b x + c)."""
    if len(form.expression.constants) < 2:
        return form
    for place in reversed(np.flatnonzero(np.isnan(residuals.errors(form)[0]))):
        shorter = without_factor(form, int(place))
        if shorter and residuals.training(fitted := residuals.fit(shorter)) <= (1 + 1e-6) * residuals.training(form):
            return determined(fitted, residuals)
    return form


def select(
    candidates: Sequence[Form], residuals: TableResiduals, mean: Form, line: Form | None, refused: Refusal | None = None
) -> Selection:
    """The front of candidates, and what is chosen from it.

    Parameters
    ----------
    candidates : list of Form
        At least one that is defined everywhere. The first says nothing, and is kept whatever is refused.
    residuals : TableResiduals
    mean : what says nothing of a table
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
    place = chosen(kept, residuals)
    best = kept[place]

    errors, freedom = residuals.errors(best.form)
    form = snapped(best.form, errors, freedom, residuals.fit, worse_than(residuals, refused))
    straight = is_straight(form.shown, residuals.validation.values)
    if residuals.rest is None:
        by_mean = described(assessed(mean, residuals), residuals)
        by_line = described(assessed(line, residuals), residuals) if line else None
        unclear = choice.unclear_description(described(best, residuals), by_mean, by_line, straight)
    else:
        unclear = choice.unclear(
            best.squares,
            choice.floored(residuals.squares_of_nothing(best.form, mean), residuals.spread),
            choice.floored(residuals.squares(line), residuals.spread) if line else None,
            straight,
            weights,
            residuals.likelier(best.form, line) if line else 0.0,
            residuals.against,
        )
    left_out = Counter(filter(None, reasons))
    exact = residuals.exact(form) and (residuals.rest is None or residuals.rest.exact(form))
    return Selection(kept, place, form, unclear, too_noisy(best, every, residuals), left_out, exact)


def chosen(front: Sequence[Equation], residuals: TableResiduals) -> int:
    """Position of the equation that is chosen from a front: by held-out rows, else by the shortest description."""
    if residuals.rest is None:
        return int(np.argmin([description_length(each, residuals) for each in front]))
    return choice.chosen(np.stack([each.squares for each in front]), residuals.validation.weights)


def worse_than(residuals: TableResiduals, refused: Refusal | None) -> Callable[[Form, Form], bool]:
    """Whether a form is refused, or has larger errors than another by more than chance."""
    return lambda form, than: bool(refused and refused(form)) or residuals.worse(form, than)


def description_length(equation: Equation, residuals: TableResiduals) -> float:
    """Of an equation and the training rows, in nats (`choice.description_length`)."""
    error = max(equation.training, choice.ROUNDING * residuals.spread)
    constants = len(equation.form.expression.constants)
    return choice.description_length(error, len(residuals.y), equation.complexity, constants)


def described(equation: Equation, residuals: TableResiduals) -> choice.Described:
    return choice.Described(description_length(equation, residuals), equation.held_out)


def too_noisy(best: Equation, others: Sequence[Equation], residuals: TableResiduals) -> str:
    """Why the noise is too large for an equation; empty where it is not."""
    share = best.held_out / residuals.spread
    if share > choice.NOISY:
        where = "held-out rows" if residuals.rest else "rows, each left out in turn"
        return f"its error is {share:.0%} of the spread on {where}, so form and constants are unsure"
    if share <= 2 * choice.ROUNDING:
        return ""
    rows = residuals.validation
    predicted, longest = rows.predicted(best.form), description_length(best, residuals) + choice.SHORTER

    def is_other(equation: Equation) -> bool:
        with np.errstate(all="ignore"):
            apart = float(np.sqrt(np.mean((rows.predicted(equation.form) - predicted) ** 2)))
        return equation is not best and apart > choice.TOLD_APART * best.held_out

    def is_as_good(equation: Equation) -> bool:
        if residuals.rest is None:
            return description_length(equation, residuals) < longest
        apart = choice.difference(equation.squares, best.squares, rows.weights)
        return equation.complexity <= best.complexity + choice.AS_SHORT and apart.mean <= apart.error

    rivals = sum(is_as_good(equation) and is_other(equation) for equation in others)
    return f"{rivals} other {'form is' if rivals == 1 else 'forms are'} as good within chance" if rivals else ""

"""Tables of random equations, as the Symbolic Transformer of SRSD is trained on.

A skeleton drawn from a bigram model is printed without parentheses, as the released code prints it, and what that
text says is the equation. Its numbers and the ranges of its inputs are drawn over 64 decades; an equation whose
targets do not fit single precision is dropped.

References
----------
Y. Matsubara et al., Rethinking symbolic regression datasets and benchmarks for scientific discovery, DMLR 2024
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...expressions import Expression, ExpressionError, parse
from ...numerics.single_precision import kept_rows
from .bigrams import ARITIES, NUMBER, Bigrams, preorder, reindexed

ATTEMPTS, VARIANTS = 5000, 10  # skeletons that are drawn, and tables of each at most
DECADES = 32  # of a number, and of the middle of an input's range, up and down
EXPONENTS = (2, 5)  # of a number in a power, either sign
OPERATORS = {"BiAdd": " + ", "BiMul": "*", "Pow": "**"}


def printed(sequence: Sequence[str], parentheses: bool = False) -> str:
    """Text of a skeleton whose numbers are called c0, c1, ...; as released without parentheses around operands.

    Examples
    --------
    >>> sequence = ["BiMul", "c", "Pow", "BiAdd", "x0", "x1", "c"]
    >>> printed(sequence), printed(sequence, parentheses=True)
    ('c0*x0 + x1**c1', '(c0)*(((x0) + (x1))**(c1))')
    """
    rest, numbers = iter(sequence), iter(range(len(sequence)))

    def text() -> str:
        token = next(rest)
        if token == NUMBER:
            return f"c{next(numbers)}"
        operands = [text() for _ in range(ARITIES.get(token, 0))]
        if token in OPERATORS:
            return OPERATORS[token].join(f"({each})" if parentheses else each for each in operands)
        return f"{token}({operands[0]})" if operands else token

    return text()


def exponents(tree: tuple) -> set[str]:
    """Numbers that stand right in a power, as its base or its exponent.

    >>> sorted(exponents(parse("c0*x0**c1 + c2**x1").tree))
    ['c1', 'c2']
    """
    own = {part[0] for part in tree[1:] if len(part) == 1 and part[0].startswith("c")} if tree[0] == "**" else set()
    return own.union(*(exponents(part) for part in tree[1:]))


@dataclass(frozen=True)
class SkeletonSet:
    """One equation, from which tables are drawn.

    Attributes
    ----------
    tokens : what the network is to write.
    equation : with its numbers.
    middles : exponent of ten of the middle of each input's range, which is two decades wide.
    signed : whether each input has random signs.
    """

    tokens: tuple[str, ...]
    equation: Expression
    middles: tuple[int, ...]
    signed: tuple[bool, ...]

    def ranges(self) -> np.ndarray:
        """Bounds of each input, shape (inputs, 2)."""
        middles, signed = np.array(self.middles, float), np.array(self.signed)
        return np.column_stack([np.where(signed, -(10 ** (middles + 1)), 10 ** (middles - 1)), 10 ** (middles + 1)])

    def table(self, rows: int, rng: np.random.Generator) -> np.ndarray | None:
        """Inputs and, last, target, each scaled to 0..1; None where too many targets do not fit single precision.

        Returns
        -------
        ndarray of float32, shape (rows, inputs + 1)
        """
        kept = kept_rows(functools.partial(self.batch, rng=rng), rows)
        return scaled(kept) if len(kept) == rows and np.ptp(kept, axis=0).all() else None

    def batch(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """So many rows, shape (rows, inputs + 1), whose targets may not fit single precision."""
        X = 10.0 ** (np.array(self.middles) + rng.uniform(-1, 1, (rows, len(self.middles))))
        X = np.where(self.signed & (rng.random(X.shape) < 0.5), -X, X)
        with np.errstate(all="ignore"):
            y = np.broadcast_to(self.equation({f"x{k}": column for k, column in enumerate(X.T)}), rows)
        return np.column_stack([X, y])


def scaled(columns: np.ndarray) -> np.ndarray:
    """Each column scaled to 0..1, in single precision; 0 where it does not vary.

    >>> scaled(np.array([[1.0, 4.0], [3.0, 8.0], [2.0, 5.0]])).tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.5, 0.25]]
    """
    low, spread = columns.min(axis=0), np.ptp(columns, axis=0)
    return ((columns - low) / np.where(spread > 0, spread, 1)).astype(np.float32)


def skeletons(model: Bigrams, rng: np.random.Generator, attempts: int = ATTEMPTS) -> list[tuple[str, ...]]:
    """Complete sequences of so many attempts, their inputs numbered as they come; the paper has 4,501 of 5,000."""
    return [reindexed(drawn) for drawn in (model.draw(rng) for _ in range(attempts)) if drawn]


def skeleton_sets(sequences: Iterable[tuple[str, ...]], inputs: int, rng: np.random.Generator) -> Iterator[SkeletonSet]:
    """Equations whose tables are accepted, up to `VARIANTS` of each skeleton.

    Parameters
    ----------
    inputs : that have a token; skeletons with more are left out
    """
    for sequence in sequences:
        try:
            skeleton = parse(printed(sequence))
        except ExpressionError:
            continue
        columns = len({token for token in sequence if token.startswith("x")})
        if 0 < columns <= inputs:
            yield from variants(skeleton, columns, rng)


def variants(skeleton: Expression, columns: int, rng: np.random.Generator) -> Iterator[SkeletonSet]:
    """Accepted equations of one skeleton; all of them have the tokens of the first."""
    numbers = [name for name in skeleton.names if name.startswith("c")]
    whole = exponents(skeleton.tree)
    names = [f"x{k}" for k in range(columns)]
    tokens: tuple[str, ...] = ()
    for _ in range(VARIANTS):
        equation = skeleton.substitute({name: drawn_number(name in whole, rng) for name in numbers})
        middles = tuple(rng.integers(-DECADES, DECADES, columns, endpoint=True).tolist())
        made = SkeletonSet(tokens, equation, middles, tuple((rng.random(columns) < 0.5).tolist()))
        if made.table(100, rng) is not None:
            tokens = tokens or preorder(equation, names)
            yield SkeletonSet(tokens, equation, made.middles, made.signed)


def drawn_number(whole: bool, rng: np.random.Generator) -> float:
    """A number of a training equation: of any size, or, in a power, a small whole one of either sign."""
    if whole:
        return float(rng.integers(*EXPONENTS, endpoint=True) * rng.choice([-1, 1]))
    return float(rng.random() * 10 ** rng.uniform(-DECADES, DECADES))

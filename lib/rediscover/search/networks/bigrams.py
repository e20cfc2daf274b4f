"""Random skeletons from a bigram model, as the Symbolic Transformer of SRSD is trained on.

A skeleton is tokens in preorder: sums and products of n operands are chains of binary ones, every number is ``c``,
inputs are x0, x1, ... The next token depends on the one before it, as often as in the sequences that were counted,
without smoothing; so whoever is trained on the draws knows these sequences' distribution.

References
----------
Y. Matsubara et al., Rethinking symbolic regression datasets and benchmarks for scientific discovery, DMLR 2024
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...expressions import Expression

START, NUMBER = "<SOS>", "c"
ARITIES = {"BiAdd": 2, "BiMul": 2, "Pow": 2, "log": 1, "exp": 1, "sin": 1, "cos": 1, "tan": 1, "tanh": 1}
CHAINS = {"Add": "BiAdd", "Mul": "BiMul"}
MOST_TOKENS = 30


def preorder(expression: Expression, inputs: Sequence[str]) -> tuple[str, ...]:
    """Tokens of an expression, in the order of SymPy's arguments with the inputs called x0, x1, ...

    Raises
    ------
    ValueError
        If it holds a function without a token.

    Examples
    --------
    >>> from rediscover.expressions import parse
    >>> preorder(parse("m*v**2/2"), ["m", "v"])
    ('BiMul', 'c', 'BiMul', 'x0', 'Pow', 'x1', 'c')
    """
    named = expression.substitute({name: f"x{place}" for place, name in enumerate(inputs)})

    def tokens(node) -> tuple[str, ...]:
        if node.is_Symbol:
            return (node.name,)
        if not node.args:
            return (NUMBER,)
        label = type(node).__name__
        if label in CHAINS:
            *others, last = map(tokens, node.args)
            return tuple(token for part in others for token in (CHAINS[label], *part)) + last
        if label not in ARITIES:
            raise ValueError(f"{expression}: no token stands for {label}")
        return (label, *(token for part in node.args for token in tokens(part)))

    return tokens(named.sympy().evalf())


def reindexed(sequence: Sequence[str]) -> tuple[str, ...]:
    """The sequence with its inputs numbered as they come.

    >>> reindexed(["BiMul", "x3", "BiMul", "x1", "x3"])
    ('BiMul', 'x0', 'BiMul', 'x1', 'x0')
    """
    names: dict[str, str] = {}
    return tuple(names.setdefault(token, f"x{len(names)}") if token.startswith("x") else token for token in sequence)


@dataclass(frozen=True)
class Bigrams:
    """Counts of pairs of tokens that follow each other.

    Attributes
    ----------
    counts : token, `START` at first -> next token -> how often.
    """

    counts: dict[str, Counter[str]]

    @classmethod
    def of(cls, sequences: Iterable[Sequence[str]]) -> "Bigrams":
        """Counted over whole sequences.

        >>> Bigrams.of([("sin", "x0"), ("sin", "c")]).counts["sin"]["c"]
        1
        """
        counts: dict[str, Counter[str]] = {}
        for sequence in sequences:
            for before, token in zip((START, *sequence), sequence, strict=False):
                counts.setdefault(before, Counter())[token] += 1
        return cls(counts)

    def draw(self, rng: np.random.Generator, most: int = MOST_TOKENS) -> tuple[str, ...] | None:
        """One sequence; None where it is not complete after `most` tokens or nothing ever followed its last."""
        sequence: list[str] = []
        missing = 1
        while missing:
            followers = self.counts.get(sequence[-1] if sequence else START)
            if not followers or len(sequence) == most:
                return None
            bounds = np.cumsum(list(followers.values()))
            sequence.append(list(followers)[int(np.searchsorted(bounds, rng.integers(bounds[-1]), side="right"))])
            missing += ARITIES.get(sequence[-1], 0) - 1
        return tuple(sequence)

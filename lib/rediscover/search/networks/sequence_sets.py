"""Tables of random equations with their skeletons, as the network of `sequence_network` is trained on.

Equations are draws from the prior, as `methods.random_skeletons` makes them, so what is learned is which of its own
draws suit the data. Inputs are uniform in a random interval within [-10, 10] each. Nothing is simplified.
"""

from typing import NamedTuple

import numpy as np

from ..programs.programs import evaluate
from .sequence_network import INPUTS, PRIOR, tokens_of
from .tree_samplers import Tree, draw_constants, draw_expression, to_programs

WIDEST = 10.0  # size of an input
SMALLEST = 1e-300  # below, a size counts as 0
LARGEST = 5e4  # size of a target that is accepted
FLATTEST = 1e-5  # range of a target, as a multiple of its largest size, that single precision can tell
ROWS, TRIES = 64, 8


class Equation(NamedTuple):
    """A tree and rows of it: X, shape (rows, inputs), and y, shape (rows,)."""

    tree: Tree
    X: np.ndarray
    y: np.ndarray

    def sample(self) -> tuple[tuple[str, ...], np.ndarray]:
        """What the network is to write, and what it reads."""
        return tokens_of(self.tree), table(self.X, self.y)


def draw_equation(rng: np.random.Generator, rows: int = ROWS) -> Equation:
    """An equation of one to `INPUTS` inputs whose target varies, and on all rows is finite and at most `LARGEST`.

    Where that is not so on the intervals drawn first, others are, `TRIES` in all, before the equation is dropped.
    """
    while True:
        inputs = int(rng.integers(1, INPUTS, endpoint=True))
        tree = draw_constants(draw_expression(PRIOR, inputs, rng), PRIOR, rng)
        low, high = np.sort(rng.uniform(-WIDEST, WIDEST, (2, TRIES, 1, inputs)), axis=0)
        X = rng.uniform(low, high, (TRIES, rows, inputs))
        y = evaluate(to_programs([tree]), X.reshape(-1, inputs)).reshape(TRIES, rows)
        largest = np.abs(y).max(axis=1)
        with np.errstate(invalid="ignore"):
            accepted = (largest <= LARGEST) & (np.ptp(y, axis=1) > FLATTEST * largest)  # neither holds of NaN
        if accepted.any():
            first = int(np.argmax(accepted))
            return Equation(tree, X[first], y[first])


def table(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the network reads: the inputs, and the target as a multiple of its standard deviation.

    >>> table(np.array([[1.0], [2.0]]), np.array([4e200, 8e200])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    relative = y / (np.abs(y).max() or 1.0)
    return np.column_stack([X, relative / (relative.std() or 1.0)])


def units(X: np.ndarray) -> list[float]:
    """Of each input a power of ten, of which it is at most a tenfold; 1 where its largest size is in 0.1 to 10.

    >>> units(np.array([[3.0, -250.0, 1e-9, 0.0, 0.5]]))
    [1.0, 100.0, 1e-10, 1.0, 1.0]
    """
    largest = np.abs(X).max(axis=0)
    usual = (largest < SMALLEST) | ((largest >= WIDEST / 100) & (largest <= WIDEST))
    powers = np.ceil(np.log10(np.where(usual, 1.0, largest))) - 1
    return [1.0 if plain else float(f"1e{power:.0f}") for plain, power in zip(usual, powers, strict=True)]

"""Random numbers for compiled code: splitmix64 (Steele, Lea and Flood, OOPSLA 2014), one 64-bit state.

The same on every machine and under every version of numpy. A stream is named by numbers, such as seed,
population and round, so that who computes it does not matter.
"""

import math

import numpy as np

from .compiled import compiled

GOLDEN, FIRST, SECOND = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
R30, R27, R31, R11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def stream(*names: int) -> np.ndarray:
    """State of the stream with these names, non-negative integers: ndarray of uint64, shape (1,).

    >>> state = stream(0, 3)
    >>> uniform(state) == uniform(stream(0, 3))
    True
    """
    return np.random.SeedSequence(names).generate_state(1, np.uint64)


@compiled
def uniform(state):
    """From [0, 1)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> R30)) * FIRST
    z = (z ^ (z >> R27)) * SECOND
    return ((z ^ (z >> R31)) >> R11) * 2.0**-53


@compiled
def below(state, n):
    """From 0, ..., n - 1."""
    return int(uniform(state) * n)


@compiled
def normal(state):
    """From N(0, 1), by Box and Muller."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))

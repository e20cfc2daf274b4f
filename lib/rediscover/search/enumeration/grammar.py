"""Which expressions are enumerated, and every number that bounds the search: one place, one setting for all studies.

Settings were fixed on the 55 public problems of ``tests/data/public_suites.yaml`` and on problems of the tests. Nothing
shows that the grammar is older than its author's knowledge of the benchmarks: a prototype had run on 65 explicit
surfaces, 6 parametric ones, all implicit ones and all laws, and what failed there decided which stages there are.
"""

import math
from typing import NamedTuple

# Operations of the enumeration: what a feature does with its operands u, v and its number k.
INPUT, ADD, SUB, MUL, DIV = range(5)
SQUARE, CUBE, INVERSE, ROOT, ABS, SHIFT, REFLECT = range(5, 12)
SIN, COS, EXP, LOG, TANH, ATAN, SINH, COSH, POWER = range(12, 21)

BINARY = {ADD: "+", SUB: "-", MUL: "*", DIV: "/"}
FUNCTIONS = {
    ROOT: "sqrt",
    ABS: "abs",
    SIN: "sin",
    COS: "cos",
    EXP: "exp",
    LOG: "log",
    TANH: "tanh",
    ATAN: "atan",
    SINH: "sinh",
    COSH: "cosh",
}


class Unary(NamedTuple):
    """One way to extend a feature: the operation, its number k, what it costs, and whether it is transcendental."""

    op: int
    k: float
    cost: int
    deep: bool


LEAF_COST = 1
BINARY_COST = 1
MOST_NESTED = 2  # transcendental functions inside one another; each level inside costs 1 more
SCALES = {2: (2.0, 3.0, 0.5, math.pi), 3: (0.1, 0.2, 0.3, 0.25, 1 / 3, 1.5, 4.0, 5.0, 10.0, 2 * math.pi)}

UNARY = (
    Unary(SQUARE, 0.0, 1, False),
    Unary(INVERSE, 0.0, 1, False),
    Unary(ROOT, 1.0, 1, False),
    Unary(ROOT, -1.0, 1, False),
    Unary(ABS, 0.0, 1, False),
    Unary(SHIFT, 1.0, 1, False),
    Unary(REFLECT, 1.0, 1, False),
    Unary(CUBE, 0.0, 2, False),
    Unary(SHIFT, 2.0, 2, False),
    *(Unary(op, 1.0, 1, True) for op in (SIN, COS, EXP)),
    Unary(EXP, -1.0, 1, True),
    Unary(LOG, 1.0, 1, True),
    Unary(LOG, -1.0, 1, True),
    Unary(TANH, 1.0, 1, True),
    Unary(ATAN, 1.0, 1, True),
    Unary(SINH, 1.0, 2, True),
    Unary(COSH, 1.0, 2, True),
    *(
        Unary(op, sign * k, cost, True)
        for cost, scales in SCALES.items()
        for k in scales
        for op, sign in ((SIN, 1), (COS, 1), (EXP, 1), (EXP, -1), (TANH, 1), (ATAN, 1))
    ),
)

# A step of the pool: 64 rows of 8 bytes and 26 bytes of structure for a feature; the hash set takes 16 to 32 more.
POOL_ROWS = 64
POOL_SIZE = 1_000_000  # 512 MB of values
POOL_COST = 12  # no cheap grammar of one input runs for ever

NEAR = 1e-9  # error, relative to the row's own size and the spread of the target, from which constants are polished
EXACT = 1e-12  # and up to which it counts as rounding: approximations on the benchmarks stop between 1e-11 and 1e-7
NEEDED = 1e-7  # of the spread of a sum, what its other terms leave at least of one that is needed

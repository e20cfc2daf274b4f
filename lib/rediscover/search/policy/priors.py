"""What may stand where: parents and siblings of the next token, and the rules that forbid or discourage it.

All functions read a prefix, the tokens written so far, and keep no other state, so the rules that a search
samples under and those that it checks a foreign sequence with are the same code.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .tokens import CONSTANT, INVERSES, NOT_ABOVE_A_POLYNOMIAL, POLYNOMIAL, TRIGONOMETRIC, Library

NOBODY = -1  # no parent, no sibling, no token


class Rules(NamedTuple):
    """Prior over the next token; made by `rules`. Shapes are (n_tokens,) where nothing else is said.

    Attributes
    ----------
    arity : arguments of each token.
    offset : added to each token's logit everywhere.
    inverse : the token that may not be the child of this one, or -1.
    trigonometric : these never stand inside one another, at any depth.
    above_polynomial : False for functions inside which a polynomial may not stand.
    constant, polynomial : token or -1.
    inputs : number of inputs; they are the first tokens.
    min_length, max_length : of a sequence.
    max_constants : in a sequence.
    soft_length, soft_scale : a soft pull to this length; soft_scale 0 for none.
    """

    arity: np.ndarray
    offset: np.ndarray
    inverse: np.ndarray
    trigonometric: np.ndarray
    above_polynomial: np.ndarray
    constant: int
    polynomial: int
    inputs: int
    min_length: int
    max_length: int
    max_constants: int
    soft_length: float
    soft_scale: float


def rules(
    library: Library,
    *,
    min_length: int = 4,
    max_length: int = 30,
    max_constants: int = 3,
    uniform_arity: bool = False,
    soft_length: float | None = None,
    soft_scale: float = 5.0,
) -> Rules:
    """The prior of a library.

    Parameters
    ----------
    min_length, max_length : tokens of a sequence, 1 <= min_length < max_length <= 1000
    max_constants : at least 0
    uniform_arity : start with equal chances for leaves, functions of one and of two arguments, instead of equal
        chances for all tokens
    soft_length, soft_scale : add -(t - soft_length)^2 / (2 soft_scale) to the logits of leaves that would end
        the sequence after t < soft_length tokens, and of functions from t = soft_length on; None for no such rule

    Raises
    ------
    ValueError
        If a limit is out of range.
    """
    if not 1 <= min_length < max_length <= 1000:
        raise ValueError(f"need 1 <= min_length < max_length <= 1000, got {min_length} and {max_length}")
    if max_constants < 0:
        raise ValueError(f"max_constants must be at least 0, got {max_constants}")
    if soft_length is not None and not (math.isfinite(soft_length) and soft_scale > 0):
        raise ValueError(f"need a finite soft_length and a positive soft_scale, got {soft_length}, {soft_scale}")
    arity = library.arity
    counts = np.bincount(arity, minlength=3)
    inverse = [library.token(INVERSES.get(name, "")) for name in library.names]
    return Rules(
        arity=arity,
        offset=-np.log(counts[arity]) if uniform_arity else np.zeros(len(arity)),
        inverse=np.array(inverse, np.int64),
        trigonometric=library.marked(TRIGONOMETRIC),
        above_polynomial=~library.marked(NOT_ABOVE_A_POLYNOMIAL),
        constant=library.token(CONSTANT),
        polynomial=library.token(POLYNOMIAL),
        inputs=len(library.inputs),
        min_length=min_length,
        max_length=max_length,
        max_constants=max_constants,
        soft_length=0.0 if soft_length is None else float(soft_length),
        soft_scale=0.0 if soft_length is None else float(soft_scale),
    )


@njit(cache=True)
def ancestors(prefix, arity, above, missing, eldest):
    """Depth of the next token; fills its ancestors from the root, the children that each still misses (the
    one under way included), and the first child of each."""
    depth = 0
    for token in prefix:
        if depth > 0 and missing[depth - 1] == arity[above[depth - 1]]:
            eldest[depth - 1] = token
        if arity[token] > 0:
            above[depth], missing[depth] = token, arity[token]
            depth += 1
            continue
        while depth > 0:
            missing[depth - 1] -= 1
            if missing[depth - 1] > 0:
                break
            depth -= 1
    return depth


@njit(cache=True)
def observe(prefix, rules, logits):
    """Parent and sibling of the next token (-1 for none); fills the prior's logits, -inf for what is barred.

    The sibling is the first child where the second child of a function of two arguments is to come.
    """
    arity, t = rules.arity, len(prefix)
    above, missing, eldest = np.empty(t + 1, np.int64), np.empty(t + 1, np.int64), np.empty(t + 1, np.int64)
    depth = ancestors(prefix, arity, above, missing, eldest)
    parent, sibling = NOBODY, NOBODY
    if depth > 0:
        parent = above[depth - 1]
        if missing[depth - 1] < arity[parent]:
            sibling = eldest[depth - 1]
    open_nodes, constants, has_input, has_polynomial = 1, 0, False, False
    for token in prefix:
        open_nodes += arity[token] - 1
        constants += token == rules.constant
        has_input |= token < rules.inputs
        has_polynomial |= token == rules.polynomial
    in_trigonometric, polynomial_fits = False, True
    for token in above[:depth]:
        in_trigonometric |= rules.trigonometric[token]
        polynomial_fits &= rules.above_polynomial[token]
    last = open_nodes == 1
    remaining = rules.max_length - t
    for token in range(len(arity)):
        if arity[token] == 0:
            barred = last and t + 1 < rules.min_length
        else:
            barred = open_nodes > remaining - arity[token]
        barred |= parent != NOBODY and rules.inverse[parent] == token
        barred |= in_trigonometric and rules.trigonometric[token]
        if token == rules.constant:
            barred |= constants >= rules.max_constants or has_polynomial
            barred |= (parent != NOBODY and arity[parent] == 1) or sibling == token
            barred |= last and not has_input
        elif token == rules.polynomial:
            barred |= has_polynomial or constants > 0 or not polynomial_fits
        logits[token] = -np.inf if barred else rules.offset[token]
        if rules.soft_scale > 0.0:
            early = arity[token] == 0 and last and t < rules.soft_length
            late = arity[token] > 0 and t >= rules.soft_length
            if early or late:
                logits[token] -= (t - rules.soft_length) ** 2 / (2.0 * rules.soft_scale)
    return parent, sibling


@njit(cache=True)
def look(tokens, alive, t, rules):
    """Parents, siblings and prior logits of the token at place t in the rows `alive`."""
    n = len(alive)
    parents, siblings = np.empty(n, np.int64), np.empty(n, np.int64)
    logits = np.empty((n, len(rules.arity)))
    for k in range(n):
        parents[k], siblings[k] = observe(tokens[alive[k], :t], rules, logits[k])
    return parents, siblings, logits


@njit(cache=True)
def look_back(tokens, lengths, rules):
    """What `look` said at every place of whole sequences.

    Parameters
    ----------
    tokens : shape (n, places); the columns from a sequence's length on do not count
    lengths : shape (n,)

    Returns
    -------
    parents, siblings : shape (places, n); -1 after the end
    logits : shape (places, n, n_tokens); 0 after the end
    """
    n, places = tokens.shape
    parents, siblings = np.full((places, n), NOBODY), np.full((places, n), NOBODY)
    logits = np.zeros((places, n, len(rules.arity)))
    for k in range(n):
        for t in range(lengths[k]):
            parents[t, k], siblings[t, k] = observe(tokens[k, :t], rules, logits[t, k])
    return parents, siblings, logits


@njit(cache=True)
def lawful(tokens, lengths, rules):
    """For each sequence, whether it is one whole expression that the rules let be written."""
    good = np.ones(len(tokens), np.bool_)
    logits = np.empty(len(rules.arity))
    for k in range(len(tokens)):
        open_nodes = 1
        for t in range(lengths[k]):
            observe(tokens[k, :t], rules, logits)
            if open_nodes == 0 or logits[tokens[k, t]] == -np.inf:
                good[k] = False
                break
            open_nodes += rules.arity[tokens[k, t]] - 1
        good[k] &= open_nodes == 0
    return good

"""Equal expressions written differently: harmonised distance 0; unequal ones: above 0.

``python tests/test_equal_pairs.py`` draws the second part of ``data/equal_pairs.yaml`` again.
"""

import json
import random
from pathlib import Path

from rediscover.expressions import parse
from rediscover.expressions.syntax import write
from rediscover.expressions.trees import fold
from rediscover.metrics.canonical_trees import smallest_tree
from rediscover.metrics.edit_distance import ned_details, ned_harmonised
from rediscover.metrics.trees import size, tree_edit_distance

import numpy as np
import pytest
import yaml

FILE = Path(__file__).parent / "data" / "equal_pairs.yaml"
MARK = "# drawn\n"
SEED, DRAWN = 2026, 100
DOMAIN = [0.6, 1.4]
PAIRS = yaml.safe_load(FILE.read_text())

# ---------------------------------------------------------------------------------------------- drawn pairs

RATIONAL = [
    ("a + b", "b + a"),
    ("a*b", "b*a"),
    ("a - b", "-(b - a)"),
    ("a - b", "a + -1*b"),
    ("a*(b + c)", "a*b + a*c"),
    ("a*(b - c)", "a*b - a*c"),
    ("(a + b)/c", "a/c + b/c"),
    ("a/c + b", "(a + b*c)/c"),
    ("a/b", "a*b**-1"),
    ("a/(b/c)", "a*c/b"),
    ("a/b/c", "a/(b*c)"),
    ("a**2", "a*a"),
    ("(a + b)**2", "a**2 + 2*a*b + b**2"),
    ("(a - b)**2", "(b - a)**2"),
    ("a**2 - b**2", "(a - b)*(a + b)"),
    ("2*a", "a + a"),
    ("-a", "-1*a"),
]
OTHERS = [
    ("sin(2*a)", "2*sin(a)*cos(a)"),
    ("cos(2*a)", "1 - 2*sin(a)**2"),
    ("sin(a)**2", "1 - cos(a)**2"),
    ("tan(a)", "sin(a)/cos(a)"),
    ("exp(a + b)", "exp(a)*exp(b)"),
    ("exp(2*a)", "exp(a)**2"),
    ("exp(-a)", "1/exp(a)"),
    ("log(a*b)", "log(a) + log(b)"),
    ("log(a/b)", "log(a) - log(b)"),
    ("log(a**2)", "2*log(a)"),
    ("sqrt(a)", "a**0.5"),
]
SHAPES = ["a + b", "a - b", "a*b", "a/b", "a*(b + c)", "a**2", "a**2 - b**2", "2*a", "a/c + b", "(a - b)**2"]
FUNCTIONS = ["sin(2*a)", "cos(2*a)", "tan(a)", "sin(a)**2", "exp(a + b)", "exp(2*a)", "log(a)", "sqrt(a)", "tanh(a)"]


def filled(shape, values):
    """The tree of a shape with trees for its letters."""
    return fold(parse(shape).tree, lambda label, children: values.get(label, (label, *children)))


def matched(shape, tree, values):
    """The values of the letters with which a shape is this tree, or None."""
    label, *children = shape
    if label in ("a", "b", "c"):
        return {**values, label: tree} if values.get(label, tree) == tree else None
    if len(shape) != len(tree) or label != tree[0]:
        return None
    for part, child in zip(children, tree[1:], strict=True):
        if values is not None:
            values = matched(part, child, values)
    return values


def drawn_tree(rng, depth, functions):
    if depth == 0:
        return (rng.choice(["x0", "x1", "x2"]),) if rng.random() < 0.8 else (rng.choice([1, 2, 3, 0.5]),)
    inner = functions and rng.random() < 0.4
    shape = rng.choice(FUNCTIONS if inner else SHAPES)
    return filled(shape, {letter: drawn_tree(rng, rng.randrange(depth), functions and not inner) for letter in "abc"})


def rewritten(rng, tree, rules):
    """The tree with some of its nodes written in another way, from the leaves up."""

    def again(label, children):
        node = (label, *children)
        found = [(to, values) for of, to in rules if (values := matched(of, node, {})) is not None]
        if not found or rng.random() < 0.3:
            return node
        to, values = rng.choice(found)
        return filled(to, values)

    return fold(tree, again)


def evaluated(text, domain, seed=0):
    rng = np.random.default_rng(seed)
    values = {name: rng.uniform(low, high, 40) for name, (low, high) in domain.items()}
    with np.errstate(all="ignore"):
        return np.broadcast_to(parse(text)(values), 40)


def draw(seed=SEED, count=DRAWN):
    """Pairs by rewriting: the first half rational, the others with functions too; those undefined on the domain go."""
    rng, pairs = random.Random(seed), []
    sides = [(parse(of).tree, to) for of, to in RATIONAL] + [(parse(to).tree, of) for of, to in RATIONAL]
    more = [(parse(of).tree, to) for of, to in OTHERS] + [(parse(to).tree, of) for of, to in OTHERS]
    while len(pairs) < count:
        functions = len(pairs) >= count // 2
        tree = drawn_tree(rng, 3, functions)
        rules = sides + more if functions else sides
        a, b = write(tree), write(rewritten(rng, rewritten(rng, tree, rules), rules))
        names = sorted({*parse(a).names, *parse(b).names})
        domain = {name: DOMAIN for name in names}
        entry = {"a": a, "b": b, "names": names, "domain": domain}
        fresh = a != b and len(b) < 160 and names and parse(a).size >= 6 and all(a != pair["a"] for pair in pairs)
        if fresh and all(np.isfinite(evaluated(text, domain)).all() for text in (a, b)):
            pairs.append(entry)
    return pairs


def written(pairs):
    return "".join(f"- {json.dumps(pair)}\n" for pair in pairs)


def test_the_drawn_pairs_come_from_the_seed():
    assert FILE.read_text().partition(MARK)[2] == written(draw())


def test_there_are_enough_pairs_of_both_origins():
    assert len(PAIRS) >= 160 and 2 * DRAWN >= len(PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['a']} = {pair['b']}")
def test_pairs_are_equal_in_numbers(pair):
    a, b = (evaluated(pair[side], pair["domain"]) for side in "ab")
    assert np.isfinite(a).all() and set(pair["domain"]) == set(pair["names"])
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max())


# ------------------------------------------------------------------------------------------------- distances

UNEQUAL = """
(x0 + 1)*(x0 + 2) ; (x0 + 1)**2 / (x0 + 3)*(x0 - 3) ; (x0 - 3)**2 / x0 ; x1 / x0 ; -x0
x0 ; 2*x0 / x0 ; x0**2 / x0 ; 1/x0 / x0 ; sqrt(x0) / x0 ; abs(x0) / x0 ; sin(x0)
sin(x0) ; cos(x0) / x0 + x1 ; x0 - x1 / x0 - x1 ; x1 - x0 / x0*x1 ; x0/x1 / x0/x1 ; x1/x0
x0 + 1 ; x0 / x0*x1 + 1 ; x0*x1 / x0 + x1 ; x0*x1 / x0*(x1 + x2) ; x0*x1 + x2
x0*(x1 + x2) ; (x0 + x1)*x2 / x0 + x1*x2 ; x1 + x0*x2 / x0**2 + x1**2 ; x0**2 - x1**2
(x0 + x1)**2 ; (x0 - x1)**2 / (x0 + x1)**2 ; x0**2 + x1**2 / 1/(x0 + x1) ; 1/x0 + 1/x1
x0/(x0 + x1) ; x1/(x0 + x1) / x0/(1 + x0) ; 1/(1 + x0) / x0*x1/(x0 + x1) ; x0*x1/(x0 - x1)
1/(1 + x0**2) ; 1/(1 - x0) / x0**2 + x0 ; x0**2 - x0 / x0**2 + x0 ; x0**2 + x1
x0**2 + x0 + 1 ; x0**2 + x0 / x0*x1*x2 ; x0*x1/x2 / x0 + x1 + x2 ; x0 + x1 - x2
exp(x0) ; exp(-x0) + 1 / exp(x0) ; exp(x1) / exp(x0) ; log(x0) / exp(x0)*x1 ; exp(x0*x1)
exp(x0 + x1) ; exp(x0) + exp(x1) / exp(x0*x1) ; exp(x0 + x1) / exp(x0**2) ; exp(x0)
exp(x0) - 1 ; exp(x0) / log(x0 + x1) ; log(x0) + log(x1) / log(x0*x1) ; log(x0)*log(x1)
log(x0) ; log(x1) / log(x0)**2 ; log(x0**2) / log(1 + x0) ; log(x0) / x0**x1 ; x1**x0
x0**x1 ; x0**2 / sin(x0 + x1) ; sin(x0) + sin(x1) / sin(x0*x1) ; sin(x0)*sin(x1)
sin(x0)**2 ; sin(x0) / sin(x0)**2 ; cos(x0)**2 / sin(2*x0) ; 2*sin(x0)
sin(x0)*cos(x0) ; sin(x0) + cos(x0) / tan(x0) ; sin(x0)*cos(x0) / tan(x0) ; 1/tan(x0)
tan(x0) ; tanh(x0) / cos(x0 - x1) ; cos(x0 + x1) / sin(x0 - x1) ; sin(x1 - x0)
sqrt(x0 + x1) ; sqrt(x0) + sqrt(x1) / sqrt(x0**2 + x1**2) ; x0 + x1
1/(1 + sqrt(x0)) ; 1 + sqrt(x0) / sqrt(1 - x0**2) ; 1 - x0**2 / sqrt(1 - x0) ; sqrt(1 + x0)
max(x0, x1) ; min(x0, x1) / max(x0, x1) ; x0 / where(x0 > x1, x0, x2) ; where(x0 < x1, x0, x2)
abs(x0)*x1 ; abs(x1)*x0 / abs(x0 - x1) ; x0 - x1 / floor(x0) ; ceil(x0)
"""
DIFFERENT = [tuple(pair.split(" ; ")) for line in UNEQUAL.strip().splitlines() for pair in line.split(" / ")]


def distance(a, b):
    one, other = smallest_tree(a), smallest_tree(b)
    edits = tree_edit_distance(one, other)
    return 2 * edits / (size(one) + size(other) + edits)


def renamed(text, names):
    return str(parse(text).substitute(names))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['a']} = {pair['b']}")
def test_equal_expressions_have_distance_0(pair):
    assert distance(pair["a"], pair["b"]) == 0


@pytest.mark.parametrize("pair", PAIRS[::12], ids=lambda pair: f"{pair['a']} = {pair['b']}")
def test_the_measure_itself_is_0_too(pair, no_trees_from_disk):
    details = ned_details(pair["a"], pair["b"], pair["names"], harmonised=True)
    assert (details.status, details.value) == ("ok", 0.0)


def test_unequal_expressions_are_apart_by_the_same_in_both_directions():
    assert len(DIFFERENT) >= 60
    for a, b in DIFFERENT:
        assert 0 < distance(a, b) == distance(b, a) <= 1, (a, b)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_anew_they_are_equal_too(seed):
    for pair in draw(seed, 24):
        assert distance(pair["a"], pair["b"]) == 0, pair


def test_other_names_and_another_order_of_the_inputs():
    other = {"x0": "x2", "x1": "x0", "x2": "x3", "x3": "x1"}
    for pair in random.Random(0).sample(PAIRS, 60):
        a, b = (renamed(pair[side], {name: other[name] for name in parse(pair[side]).names}) for side in "ab")
        assert distance(a, b) == 0, pair
    for a, b in DIFFERENT:
        assert distance(*(renamed(text, {name: other[name] for name in parse(text).names}) for text in (a, b))) > 0
    for a, b in DIFFERENT[::20]:
        values = ned_harmonised(a, b, ("x0", "x1", "x2"))
        letters = {"x0": "m", "x1": "E", "x2": "pi"}
        named = [renamed(text, {name: letters[name] for name in parse(text).names}) for text in (a, b)]
        assert ned_harmonised(*named, ("m", "E", "pi")) == values


def test_constants_do_not_count_however_large():
    rng = random.Random(1)
    for pair in rng.sample(PAIRS, 60):
        scale = 10 ** rng.uniform(-40, 40)
        assert distance(f"{scale!r}*({pair['a']})", f"7.5*({pair['b']})") == 0, pair


if __name__ == "__main__":
    FILE.write_text(FILE.read_text().partition(MARK)[0] + MARK + written(draw()))

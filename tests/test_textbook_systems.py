"""Systems of textbooks, on which the search along trajectories was tuned, beside those that it is tested on."""

import collections
import itertools
from pathlib import Path

from rediscover.expressions import parse
from rediscover.problems import problem, problems

import sympy
import yaml

TEXTBOOK = yaml.safe_load((Path(__file__).parent / "data/textbook_systems.yaml").read_text(encoding="utf-8"))


def shape(node, names):
    """A SymPy tree without its numbers but exponents, as text; states are called by other names."""
    if node.is_Symbol:
        return names.get(str(node), str(node))
    if node.is_Number:
        return "number"
    if node.is_Pow and node.exp.is_Integer:
        return f"{shape(node.base, names)}**{node.exp}"
    parts = sorted(shape(part, names) for part in node.args)
    if node.is_Mul:
        parts = [part for part in parts if part != "number"]
        return parts[0] if len(parts) == 1 else "*".join(parts)
    return f"{node.func.__name__}({', '.join(parts)})"


def terms(equations, names):
    """The shapes of the terms of each equation, by state."""
    sides = {state: sympy.expand(parse(text).sympy()) for state, text in equations.items()}
    return {
        names[state]: frozenset(shape(term, names) for term in sympy.Add.make_args(side))
        for state, side in sides.items()
    }


def outline(equations):
    """What systems of one structure have in common, whatever their states are called."""
    own = terms(equations, {state: state for state in equations})
    return sorted(sorted(len(term) for term in found) for found in own.values())


def alike(one, other):
    """Whether two systems have the same terms in the same places, for some order of the states."""
    if len(one) != len(other):
        return False
    there = terms(other, {state: state for state in other})
    orders = itertools.permutations(other)
    return any(terms(one, dict(zip(one, order, strict=True))) == there for order in orders)


def test_structures_are_compared_without_numbers_and_names():
    prey, other = {"x0": "2*x0-x0*x1", "x1": "x0*x1-x1"}, {"x0": "3.5*x0*x1-0.1*x0", "x1": "x1*(1-x0)"}
    assert outline(prey) == outline(other) and alike(prey, other)
    assert not alike(prey, {"x0": "2*x0-x0*x1", "x1": "x0*x1-x0"})
    assert alike({"x0": "x0/(1+3*x0**2)"}, {"x0": "2*x0/(0.5+x0**2)"})
    assert not alike({"x0": "x0/(1+3*x0**2)"}, {"x0": "2*x0/(0.5+x0**3)"})


def test_tuning_systems_that_are_test_systems_are_named():
    known = {id: dict(problem(id).truth) for study in ("odes", "cde") for id in problems(study)}
    by_outline = collections.defaultdict(list)
    for id, truth in known.items():
        by_outline[str(outline(truth))].append(id)
    found = {}
    for name, system in TEXTBOOK.items():
        ids = [id for id in by_outline[str(outline(system["equations"]))] if alike(system["equations"], known[id])]
        if ids:
            found[name] = sorted(ids)
    assert found == {name: system["coincides"] for name, system in TEXTBOOK.items() if "coincides" in system}


def test_no_flow_has_the_structure_of_a_system_of_odebench_or_of_one_that_was_tuned_on():
    known = {id: dict(problem(id).truth) for id in problems("odes")}
    known |= {name: system["equations"] for name, system in TEXTBOOK.items()}
    outlines = {id: outline(truth) for id, truth in known.items()}
    most = max(map(len, known.values()))
    for id in problems("flows"):
        truth = problem(id).truth
        own = outline(truth) if len(truth) <= most else None
        assert not [other for other in known if outlines[other] == own and alike(truth, known[other])], id

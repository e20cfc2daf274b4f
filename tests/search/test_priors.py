"""The prior over the next token, each rule worked by hand."""

from rediscover.search.policy.batches import packed
from rediscover.search.policy.priors import lawful, look_back, observe, rules
from rediscover.search.policy.tokens import Library, monomials

import numpy as np
import pytest

LIBRARY = Library(("x", "y"), ("add", "mul", "sin", "cos", "exp", "log", "n2", "sqrt", "const", "poly"))
LEAVES = {"x", "y", "const", "poly"}
UNARY = {"sin", "cos", "exp", "log", "n2", "sqrt"}
BINARY = {"add", "mul"}


def look(prefix, **limits):
    """Name of the parent and of the sibling, and name -> logit."""
    sequence = LIBRARY.sequence(prefix) if prefix else np.empty(0, np.int8)
    logits = np.empty(len(LIBRARY.names))
    parent, sibling = observe(sequence, rules(LIBRARY, **limits), logits)
    names = (*LIBRARY.names, None)
    return names[parent], names[sibling], dict(zip(LIBRARY.names, logits, strict=True))


def barred(prefix, **limits):
    return {name for name, logit in look(prefix, **limits)[2].items() if logit == -np.inf}


def test_parents_and_siblings_of_a_whole_expression():
    # x*sin(y) + exp(x)
    sequence = LIBRARY.sequence("add,mul,x,sin,y,exp,x")
    seen = [look(LIBRARY.text(sequence[:t]) if t else "")[:2] for t in range(len(sequence))]
    assert seen == [
        (None, None),
        ("add", None),
        ("mul", None),
        ("mul", "x"),
        ("sin", None),
        ("add", "mul"),
        ("exp", None),
    ]


def test_look_back_says_the_same_for_many_sequences():
    sequences = [LIBRARY.sequence("add,mul,x,sin,y,exp,x"), LIBRARY.sequence("mul,const,exp,x")]
    tokens, lengths = packed(sequences)
    law = rules(LIBRARY)
    parents, siblings, logits = look_back(tokens, lengths, law)
    one = np.empty(len(LIBRARY.names))
    for k, sequence in enumerate(sequences):
        for t in range(len(sequence)):
            assert (parents[t, k], siblings[t, k]) == observe(sequence[:t], law, one)
            np.testing.assert_array_equal(logits[t, k], one)
    assert (parents[4:, 1] == -1).all() and (logits[4:, 1] == 0).all()


class TestLength:
    def test_no_leaf_ends_a_sequence_before_the_least_length(self):
        assert barred("") == LEAVES
        assert barred("exp") >= LEAVES
        assert barred("exp,exp") >= LEAVES
        assert not barred("exp,n2,exp") & {"x", "y"}  # the fourth token
        assert not barred("add") & {"x", "y"}  # another node stays open

    def test_no_function_that_could_not_be_closed(self):
        # After add,add three nodes are open and four places are left: one more function of one argument.
        assert barred("add,add", max_length=6) & (BINARY | UNARY) == BINARY
        assert barred("add,add,exp", max_length=6) >= BINARY | UNARY
        assert not barred("add,add,exp", max_length=6) & {"x", "y"}
        assert barred("add,add", max_length=7) & (BINARY | UNARY) == set()


class TestConstants:
    def test_at_most_so_many(self):
        assert "const" in barred("add,mul,const,x", max_constants=1)
        assert "const" not in barred("add,mul,const,x", max_constants=2)
        assert "const" in barred("add", max_constants=0)

    def test_not_alone_inside_a_function(self):
        assert "const" in barred("add,exp")
        assert "const" not in barred("add")

    def test_not_both_arguments(self):
        assert "const" in barred("add,mul,const")
        assert "const" not in barred("add,mul,x")

    def test_not_the_whole_expression(self):
        assert barred("", min_length=1) == {"const"}


class TestFunctions:
    @pytest.mark.parametrize("outer, inner", [("exp", "log"), ("log", "exp"), ("n2", "sqrt"), ("sqrt", "n2")])
    def test_no_function_right_inside_its_inverse(self, outer, inner):
        assert barred(f"add,{outer}") & UNARY == {inner}
        assert inner not in barred(f"add,{outer},add")

    def test_no_trigonometric_function_anywhere_inside_another(self):
        assert barred("add,sin") & UNARY == {"sin", "cos"}
        assert barred("add,sin,mul,n2,x") & UNARY == {"sin", "cos"}
        assert barred("add,sin,x") & UNARY == set()


class TestPolynomial:
    def test_once_and_never_with_a_constant(self):
        assert barred("add,poly", min_length=3) & LEAVES == {"poly", "const"}
        assert "poly" in barred("add,const")
        assert "poly" not in barred("add")

    def test_not_inside_functions_that_cannot_be_undone(self):
        for prefix in ("add,sin", "add,n2", "add,sin,exp", "add,cos,mul,x"):
            assert "poly" in barred(prefix)
        for prefix in ("add,exp", "add,sqrt", "add,sin,x", "add,log,mul,x"):
            assert "poly" not in barred(prefix)


class TestSoftRules:
    def test_arities_start_equal(self):
        logits = look("add", uniform_arity=True)[2]
        assert logits["x"] == -np.log(4) and logits["sin"] == -np.log(6) and logits["add"] == -np.log(2)
        assert look("add")[2]["sin"] == 0

    def test_soft_length(self):
        limits = {"soft_length": 3.0, "soft_scale": 5.0, "min_length": 1}
        early = look("sin,exp", **limits)[2]  # t = 2, one node open
        assert early["x"] == pytest.approx(-1 / 10) and early["n2"] == 0
        assert look("add", **limits)[2]["x"] == 0  # two nodes open: the leaf would not end it
        late = look("add,add,add,add", **limits)[2]  # t = 4
        assert late["x"] == 0 and late["mul"] == late["exp"] == pytest.approx(-1 / 10)
        assert look("add,add,add", **limits)[2]["mul"] == 0  # t = 3


def test_lawful():
    texts = {
        "add,mul,x,sin,y,exp,x": True,
        "mul,const,exp,x": True,
        "add,x,y": False,  # too short
        "add,exp,log,x,y": False,
        "add,sin,exp,cos,x,y": False,
        "add,const,exp,poly": False,
        "add,x,exp": False,  # unfinished
        "add,exp,x,y,x": False,  # goes on after the end
        "add,add,add,add,x,x,x,x,x": False,  # longer than 8
    }
    tokens, lengths = packed([LIBRARY.sequence(text) for text in texts])
    assert lawful(tokens, lengths, rules(LIBRARY, max_length=8)).tolist() == list(texts.values())


class TestLibrary:
    def test_expression_of_a_sequence(self):
        sequence = LIBRARY.sequence("add,mul,const,sqrt,x,mul,n2,y,const")
        assert str(LIBRARY.expression(sequence, [2.0, -0.5])) == "2.0*sqrt(x) + y**2*(-0.5)"

    def test_expression_with_a_polynomial(self):
        sequence = LIBRARY.sequence("exp,poly")
        coefficients = np.array([1.5, 0.0, 2.0, 0.0, -3.0, 0.0])
        assert monomials(2, 2).tolist()[2] == [1, 0] and monomials(2, 2).tolist()[4] == [1, 1]
        value = LIBRARY.expression(sequence, coefficients, 2)({"x": 0.3, "y": 0.2})
        assert value == pytest.approx(np.exp(1.5 + 2 * 0.3 - 3 * 0.3 * 0.2))
        assert str(LIBRARY.expression(sequence, np.zeros(6), 2)) == "exp(0.0)"

    def test_wrong_number_of_constants(self):
        with pytest.raises(ValueError, match="is not one expression"):
            LIBRARY.expression(LIBRARY.sequence("add,x,y"), [1.0])

    @pytest.mark.parametrize(
        "inputs, functions, reason",
        [
            (("x",), ("add", "cosh"), "unknown function 'cosh'"),
            (("x",), ("add", "add"), "listed twice"),
            (("x",), ("sin", "const"), "two arguments"),
            ((), ("add",), "at least one input"),
            (tuple(f"v{j}" for j in range(127)), ("add",), "at most 127 tokens"),
        ],
    )
    def test_bad_libraries(self, inputs, functions, reason):
        with pytest.raises(ValueError, match=reason):
            Library(inputs, functions)

    @pytest.mark.parametrize(
        "limits",
        [
            {"min_length": 30},
            {"min_length": 0},
            {"max_length": 2000},
            {"max_constants": -1},
            {"soft_length": 10.0, "soft_scale": 0.0},
            {"soft_length": np.nan},
        ],
    )
    def test_bad_limits(self, limits):
        with pytest.raises(ValueError):
            rules(LIBRARY, **limits)

"""From replies to texts of programs: edits, rewrites, completions."""

import random
import time

from rediscover.expressions.edits import (
    CHARACTERS,
    EDITS,
    Edit,
    apply_edits,
    evolve_block,
    read_completion,
    read_edits,
    read_rewrite,
)
from rediscover.expressions.programs import ProgramError, read_function

import pytest

PARENT = """import numpy as np

# EVOLVE-BLOCK-START
def pull(x, params):
    near = params[0]*x
    far = params[1]*x
    return near + far
# EVOLVE-BLOCK-END

print(pull(1.0, [1, 2]))
"""


def block(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def edited(reply, text=PARENT):
    return apply_edits(text, read_edits(reply))


# Edits


def test_all_blocks_are_applied_in_their_order():
    reply = (
        "First:\n"
        + block("    far = params[1]*x", "    far = params[1]*x**2")
        + "and then\n"
        + block("    far = params[1]*x**2\n    return near + far", "    far = params[1]*x**2\n    return near - far")
    )
    child = edited(reply)
    assert child.missed == ()
    assert child.text == PARENT.replace("[1]*x", "[1]*x**2").replace("near + far", "near - far")


def test_a_block_that_finds_nothing_is_left_out():
    child = edited(block("    near = params[9]*x", "    near = 0") + block("    near = params[0]*x", "    near = x"))
    assert child.missed == (0,)
    assert child.text == PARENT.replace("near = params[0]*x", "near = x")


def test_a_child_may_equal_its_parent():
    child = edited(block("nothing like it", "other"))
    assert child == (PARENT, (0,))


def test_only_the_first_of_equal_lines_is_replaced():
    assert apply_edits("a\nb\na", [Edit("a", "c")]).text == "c\nb\na"


@pytest.mark.parametrize("search", ["near = params[0]*x", "    near = params[0]*x  # pull", "     near = params[0]*x"])
def test_lines_must_be_equal_with_their_indent(search):
    assert edited(block(search, "    near = 1")).missed == (0,)


def test_white_space_at_the_end_of_a_block_does_not_count():
    assert edited(block("    near = params[0]*x  \n\n", "    near = x\n\n")).text == PARENT.replace("params[0]*x", "x")


def test_lines_can_be_taken_out_and_put_in():
    assert apply_edits("a\nb\nc", [Edit("b\nc", "")]).text == "a\n"
    assert apply_edits("a\nb", [Edit("a", "a\nc\nd")]).text == "a\nc\nd\nb"


def test_an_edit_may_follow_what_another_has_put_in():
    assert apply_edits("a", [Edit("a", "b"), Edit("b", "c")]) == ("c", ())


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I would not change a thing.",
        "<<<<<<< SEARCH\na\n=======\nb\n",  # cut off
        "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
        "=======\n>>>>>>> REPLACE",
    ],
)
def test_a_reply_without_a_block_is_refused(reply):
    with pytest.raises(ProgramError, match="no SEARCH/REPLACE block"):
        read_edits(reply)


def test_blocks_before_a_cut_count():
    assert read_edits(block("a", "b") + "<<<<<<< SEARCH\nc\n====") == (Edit("a", "b"),)


def test_limits():
    with pytest.raises(ProgramError, match=f"more than {EDITS} edits"):
        read_edits(block("a", "b") * (EDITS + 1))
    with pytest.raises(ProgramError, match="longer than"):
        read_edits("x" * (CHARACTERS + 1))
    with pytest.raises(TypeError, match="a reply is text"):
        read_edits(None)


def test_edits_made_at_random_give_the_child_that_they_were_made_from():
    """A parent and a child; the edits of the lines in which they differ lead from one to the other."""
    rng = random.Random(0)
    for _ in range(200):
        parent = [f"    line_{i} = {rng.random()}" for i in range(rng.randint(3, 30))]
        child, reply = list(parent), ""
        for i in sorted(rng.sample(range(len(parent)), rng.randint(1, 3))):
            child[i] = f"    line_{i} = x*{rng.random()}\n    again_{i} = 1"
            reply += f"Change {i}:\n```\n{block(parent[i], child[i])}```\n"
        assert edited(reply, "\n".join(parent)) == ("\n".join(child), ())


# Rewrites


@pytest.mark.parametrize(
    "reply, text",
    [
        ("```python\na = 1\n```", "a = 1"),
        ("Here:\n```python\na = 1\n```\nor\n```python\na = 2\n```", "a = 1"),
        ("```\nshell\n```\n```python\na = 1\n```", "a = 1"),
        ("```py\na = 1\n```", "a = 1"),
        ("```\na = 1\n```", "a = 1"),
        ("  a = 1\n", "a = 1"),
    ],
)
def test_the_first_python_fence_is_the_program(reply, text):
    assert read_rewrite(reply) == text


def test_the_last_fence_on_demand():
    assert read_rewrite("```python\na = 1\n```\n```python\na = 2\n```", last=True) == "a = 2"


def test_an_empty_rewrite_is_refused():
    with pytest.raises(ProgramError, match="no program"):
        read_rewrite("```python\n\n```")


def test_a_rewrite_cut_off_is_no_python():
    with pytest.raises(ProgramError, match="no Python"):
        read_function(read_rewrite("```python\ndef f(x, params):\n    return params[0]*"))


# Completions

HEADER = 'def force(x, v, params):\n    """Force on a body."""'


@pytest.mark.parametrize(
    "reply",
    [
        "    a = params[0]\n    return a*x",
        "Sure.\ndef force(x, v, params):\n    a = params[0]\n    return a*x",
        "    a = params[0]\n    return a*x\n\nThis is linear in x.",
        "    a = params[0]\n    return a*x\n\n```\nIt's (linear",
        "def force(x, v, params):\n    a = params[0]\n    return a*x\n\ndef other():\n    return 1",
    ],
)
def test_a_body_is_completed(reply):
    text = read_completion(HEADER, reply)
    assert text == HEADER + "\n    a = params[0]\n    return a*x"
    assert str(read_function(text).expression) == "c0*x"


def test_a_body_that_is_cut_off_loses_its_end():
    assert read_completion(HEADER, "    a = params[0]\n    b = (a +").endswith("    a = params[0]")


@pytest.mark.parametrize("reply", ["", "No idea.", "return", "))))", "def force(x, v, params):"])
def test_no_body(reply):
    with pytest.raises(ProgramError, match="does not begin with a body"):
        read_completion(HEADER, reply)


# The part of a file that evolves


def test_line_numbers_stay_those_of_the_file():
    bad = PARENT.replace("near = params[0]*x", "near = eval('x')")
    with pytest.raises(ProgramError) as caught:
        read_function(evolve_block(bad))
    assert caught.value.line == bad[: bad.index("near = eval")].count("\n") + 1


def test_the_function_of_an_evolved_file_is_read():
    child = edited(block("    return near + far", "    return np.tanh(near) + far"))
    assert str(read_function(evolve_block(child.text)).expression) == "tanh(c0*x) + c1*x"


@pytest.mark.parametrize(
    "reply",
    [
        "<<<<<<< SEARCH\n" * 10_000,
        "<<<<<<< SEARCH\n=======\n" * 8_000,
        "```python\n" * 15_000,
        "```" * 60_000,
        "def\n" * 40_000,
        "    x = (\n" * 15_000,
    ],
)
def test_hostile_replies_take_no_time(reply):
    start = time.perf_counter()
    for read in (read_edits, read_rewrite, lambda reply: read_completion(HEADER, reply)):
        try:
            read(reply)
        except ProgramError:
            pass
    assert time.perf_counter() - start < 3

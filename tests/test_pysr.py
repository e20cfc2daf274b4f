"""PySR itself, with Julia: `make test-pysr` (what needs no Julia is in test_methods.py)."""

import ast
from importlib.util import find_spec
from pathlib import Path

from rediscover import methods
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.problems import Task

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.pysr
BUDGET = Budget(evaluations=20_000)
INPUTS = ("E", "y0")  # PySR refuses the name E


def answers(seed=0):
    """Front of PySR on a product and a cosine, and the table it is for."""
    X = np.random.default_rng(5).uniform(-2, 3, (60, 2))
    task = Task(INPUTS, "z", X, 2.5 * X[:, 0] * X[:, 1] + np.cos(X[:, 1]))
    front = methods.method("pysr", niterations=5).fit(task, budget=BUDGET, rng=np.random.default_rng(seed))
    return front, task


def test_its_interface_is_the_one_that_is_written_down():
    """Newer versions may have more arguments; those that are used must be there."""
    written = yaml.safe_load((Path(__file__).parent / "data/pysr_interface.yaml").read_text(encoding="utf-8"))
    file = Path(find_spec("pysr").origin).with_name("sr.py")
    classes = {node.name: node for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node.args for node in classes["PySRRegressor"].body if isinstance(node, ast.FunctionDef)}
    for name in ("__init__", "fit", "get_best"):
        assert set(written[name]) <= {each.arg for each in functions[name].args + functions[name].kwonlyargs}, name


def test_it_is_available():
    assert methods.method("pysr").available() is None
    assert methods.method("pysr").version[0].isdigit()


def test_an_equation_is_found_and_reads_as_it_was_scored():
    front, task = answers()
    table = dict(zip(INPUTS, task.X.T, strict=True))
    for candidate in front:
        found = np.broadcast_to(parse(candidate.solution["z"], INPUTS)(table), task.y.shape)
        assert np.mean((found - task.y) ** 2) == pytest.approx(candidate.loss, rel=1e-4, abs=1e-9)
    assert min(candidate.loss for candidate in front) < 1e-6
    sizes = [candidate.complexity for candidate in front]
    assert len(sizes) == len(set(sizes)) > 3


def test_a_run_repeats():
    assert [c.solution for c in answers()[0]] == [c.solution for c in answers()[0]]

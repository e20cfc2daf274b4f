"""The control that never looks at the data, and what SRSD's distance gives it."""

import rediscover as rd
from rediscover.metrics.symbolic import ned_published
from rediscover.problems import Task
from rediscover.report.tables import CONTROLS

import numpy as np
import pytest

BLIND = rd.method("blind_skeleton")


@pytest.mark.parametrize(("inputs", "text"), [(("x",), "2.0/x"), (("m", "g", "z"), "2.0*m*g/z")])
def test_the_answer_depends_on_the_names_of_the_inputs_alone(inputs, text):
    for fill in (np.nan, 1.0):
        task = Task(inputs, "y", np.full((3, len(inputs)), fill), np.full(3, fill))
        (candidate,) = BLIND.fit(task, budget=None, rng=None)
        assert candidate.solution == {"y": text} and candidate.evaluations == 0
        assert candidate.complexity == 1 + 2 * len(inputs)


def test_it_is_a_control():
    assert BLIND.name in CONTROLS and not BLIND.searches


@pytest.mark.slow
@pytest.mark.parametrize(("subset", "published"), [("easy", 0.330), ("medium", 0.473), ("hard", 0.598)])
def test_its_distance_on_srsd(subset, published):
    """Means over the laws of a set; an independent implementation of the distance gave the same three digits."""
    laws = [rd.problem(id) for id in rd.problems("srsd", subset)]
    tasks = [Task(law.inputs, "y", np.ones((1, len(law.inputs))), np.ones(1)) for law in laws]
    answers = [BLIND.fit(task, budget=None, rng=None)[0].solution["y"] for task in tasks]
    pairs = zip(answers, laws, strict=True)
    distances = [ned_published(answer, *law.truth.values(), law.inputs) for answer, law in pairs]
    assert round(np.mean(distances), 3) == published

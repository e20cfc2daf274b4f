"""Which candidate of a front counts, by rule."""

import dataclasses
import json

import numpy as np
import pytest

import rediscover as rd
from rediscover import runs
from rediscover.methods import Candidate
from rediscover.problems import Split, Task
from rediscover.runs.selection import by_fitness, choose_by_fitness, fittest

SIZES = (("0.3*x0", 1), ("x0", 80), ("x0 + 0", 40), ("log(x0 - 9)", 1), ("x0", None))


def front(output="x0"):
    return [Candidate({output: text}, complexity=size) for text, size in SIZES]


def test_the_candidate_of_highest_fitness_comes_first():
    """Error 0.5 with 1 node, 0 with 40, 0 with 80: 2/3 + 0.995, 1 + 0.819 and 1 + 0.670."""
    y = np.array([1.0, -1.0])
    table = Task(inputs=("x0",), output="x0", X=y[:, None], y=y)
    candidates = front()
    assert [candidates.index(c) for c in by_fitness(candidates, table)] == [2, 1, 0, 3, 4]
    held_out = dataclasses.replace(table, validation=Split(y[:, None], 0.3 * y))
    assert by_fitness(candidates, held_out)[0] is candidates[0]


def test_each_output_has_its_own_choice():
    """The truth of system 24 is x0' = x1 and x1' = -0.9*x0: each right in another candidate."""
    p = rd.problem("odes/24")
    right = dict(p.truth)
    candidates = [
        {"solution": solution, "complexity": 4.0, "notes": {"complexities": {"x0": 1, "x1": 3}}}
        for solution in ({"x0": right["x0"], "x1": "1.0"}, {"x0": "1.0", "x1": right["x1"]})
    ]
    chosen = fittest(p, candidates, 0)
    assert json.loads(chosen["solution"]) == right and chosen["complexity"] == 4


def test_a_grid_is_chosen_from_its_candidates():
    p = rd.problem("odes/24", snr_db=20)
    grid = runs.grid([p], ["zero", "operon"], budget={"evaluations": 2000}, progress=False)
    chosen = choose_by_fitness(grid, [p], progress=False)
    assert chosen.loc[0, "solution"] == grid.loc[0, "solution"]
    candidates = json.loads(grid.loc[1, "candidates"])
    tables = {table.output: table for table in p.tasks()}
    for name, text in json.loads(chosen.loc[1, "solution"]).items():
        parts = [
            Candidate({name: c["solution"][name]}, complexity=c["notes"]["complexities"][name]) for c in candidates
        ]
        assert by_fitness(parts, tables[name])[0].solution[name] == text
    assert chosen.drop(columns=["solution", "complexity"]).equals(grid.drop(columns=["solution", "complexity"]))


def test_a_choice_that_cannot_be_made_says_where():
    p = rd.problem("odes/3")
    grid = runs.grid([p], ["polynomial"], budget={"evaluations": 100}, progress=False)
    broken = [{"solution": {"x0": "y + 1"}, "complexity": 3.0, "notes": {}}] * 2
    with pytest.raises(RuntimeError, match="odes/3, polynomial: no choice by fitness"):
        choose_by_fitness(grid.assign(candidates=json.dumps(broken)), [p], progress=False)

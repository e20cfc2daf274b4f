"""Which candidate of a front counts, by rule."""

import dataclasses

import rediscover as rd
from rediscover import runs
from rediscover.methods import Candidate, registry
from rediscover.problems import Split, Task
from rediscover.runs.selection import Fittest, by_fitness

import numpy as np

SIZES = (("0.3*x0", 1), ("x0", 80), ("x0 + 0", 40), ("log(x0 - 9)", 1), ("x0", None))


def test_the_candidate_of_highest_fitness_comes_first():
    """Error 0.5 with 1 node, 0 with 40, 0 with 80: 2/3 + 0.995, 1 + 0.819 and 1 + 0.670."""
    y = np.array([1.0, -1.0])
    table = Task(inputs=("x0",), output="x0", X=y[:, None], y=y)
    front = [Candidate({"x0": text}, complexity=size) for text, size in SIZES]
    assert [front.index(candidate) for candidate in by_fitness(front, table)] == [2, 1, 0, 3, 4]
    held_out = dataclasses.replace(table, validation=Split(y[:, None], 0.3 * y))
    assert by_fitness(front, held_out)[0] is front[0]


def test_each_output_has_its_own_choice():
    """The polynomial of each state, from the front of that state alone."""
    p = rd.problem("odes/24", snr_db=20)
    chosen, *_ = Fittest(rd.method("polynomial")).solve(p)
    for table in p.tasks():
        part = rd.method("polynomial").fit(table, budget=rd.methods.Budget(), rng=np.random.default_rng(0))
        assert chosen.solution[table.output] == by_fitness(part, table)[0].solution[table.output]


def test_a_grid_states_the_method_and_not_the_rule():
    p = rd.problem("odes/3", snr_db=20)
    plain, fittest = (
        runs.grid([p], methods, progress=False)
        for methods in (["zero", "polynomial"], [Fittest(rd.method(name)) for name in ("zero", "polynomial")])
    )
    same = ["study", "problem", "method", "settings", "noise", "seed", "status"]
    assert fittest[same].equals(plain[same]) and (fittest["status"] == "ok").all()
    assert fittest.loc[0, "solution"] == plain.loc[0, "solution"]
    texts = [{c["solution"]["x0"] for c in frame.loc[1, "candidates"]} for frame in (plain, fittest)]
    assert texts[0] == texts[1]


def test_the_rule_is_part_of_what_a_run_depends_on():
    method = rd.method("polynomial")
    assert Fittest(method).version.startswith(method.version) and Fittest(method).version != method.version
    assert Fittest not in registry().values()


def test_a_method_that_solves_the_whole_chooses_by_itself():
    p = rd.problem("odes/3")
    assert Fittest(rd.method("sindy")).solve(p) == rd.method("sindy").solve(p)
    assert Fittest(rd.method("pysr")).available() == rd.method("pysr").available()

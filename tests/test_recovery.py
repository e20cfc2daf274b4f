"""Whether an answer recovers its problem: by the rule of its own study, and for runs without an answer."""

import math

import rediscover as rd
from rediscover import runs
from rediscover.runs import recovery
from rediscover.studies.cross.analysis import tabular_problems

import pytest


@pytest.mark.parametrize("id", ["srsd/I.12.4", "surfaces/TCS5", "odes/24"])
def test_a_problem_is_recovered_by_the_rule_of_its_own_study(id):
    problem = rd.problem(id)
    assert recovery.recovery(problem, problem.truth) == {"nmse_per_output": pytest.approx(0, abs=1e-9), "recovered": 1}
    wrong = recovery.recovery(problem, dict.fromkeys(problem.outputs, f"2 + {problem.inputs[0]}"))
    assert wrong["recovered"] == 0 and wrong["nmse_per_output"] > 1e-3


def test_what_no_table_can_tell_is_not_called_recovered():
    system = rd.problem("cde/P002")
    assert math.isnan(recovery.recovery(system, system.truth)["recovered"])


def test_recoveries_count_failed_runs_as_not_recovered():
    problems = tabular_problems(["srsd/I.12.4", "cde/P002"])
    records = runs.grid(problems, ["oracle", "power_law"], progress=False)
    records.loc[records["method"] == "power_law", "status"] = "error"
    found = recovery.recoveries(records, problems).set_index(["problem", "method"])
    assert found.loc[("srsd/I.12.4", "oracle"), "recovered"] == 1
    assert tuple(found.loc[("srsd/I.12.4", "power_law"), ["nmse_per_output", "recovered"]]) == (math.inf, 0)
    assert found.loc["cde/P002", "recovered"].isna().all()

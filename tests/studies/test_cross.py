"""Cross-scoring: definitions that can be checked by hand, rankings that are reversed, and every study in one table."""

import math

import rediscover as rd
from factories import scores_frame
from rediscover import runs
from rediscover.studies.cross import analysis, budgets, definitions
from rediscover.system.studies import studies

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

GRAVITY = rd.problem("srsd/I.12.4")  # its constants hold pi and the electric constant


def scored(**columns):
    """A table of scores of four problems: definition -> method -> its score on all of them (or on each)."""
    methods = {name for values in columns.values() for name in values} | {"mean"}
    rows = []
    for i in range(4):
        for name in sorted(methods):
            row = {"problem": f"srsd/{i}", "method": name}
            for key in definitions.DEFINITIONS:
                value = columns.get(key, {}).get(name, 1.0)
                row[key] = value[i] if isinstance(value, list) else value
            rows.append(row)
    return scores_frame(rows)


def test_every_family_has_one_harmonised_definition():
    for family in definitions.FAMILIES:
        papers = [d.paper for d in definitions.DEFINITIONS.values() if d.family == family]
        assert papers.count("harmonised") == 1 and len(set(papers)) == len(papers) >= 4
    assert len(definitions.definitions()) == len(definitions.DEFINITIONS)


@pytest.mark.parametrize("id", ["srsd/I.12.4", "surfaces/TCS5", "odes/24"])
def test_the_truth_is_perfect_under_every_definition(id):
    problem = rd.problem(id)
    found = definitions.score(problem, problem.truth)
    assert set(found) == set(definitions.DEFINITIONS) - {"mdbench_own"}
    for key, definition in definitions.DEFINITIONS.items():
        if definition.family in ("error", "distance", "equivalence"):
            assert found[key] == pytest.approx(0.0 if definition.better == "lower" else 1.0, abs=1e-9), key


def test_definitions_disagree_where_they_should():
    """Twice the law: a solution to SRSD, the truth up to constants to SurfaceBench, and neither to the others."""
    (law,) = GRAVITY.truth.values()
    twice = definitions.score(GRAVITY, {"E_f": f"2*({law})"})
    assert (twice["solution_rate"], twice["symbolic_accuracy"]) == (1, 1)
    assert (twice["equal"], twice["identified"]) == (0, 0)
    assert twice["nmse_power"] == pytest.approx(1) and twice["nmse_per_output"] > 1
    near = definitions.score(GRAVITY, {"E_f": f"1.04*({law})"})
    assert (near["identified"], near["equal"]) == (1, 0)  # within MDBench's 5 %


def test_a_failed_run_has_what_its_definition_says():
    records = runs.grid([GRAVITY], ["mean"], budget={"evaluations": 1}, progress=False)
    failed = pd.concat([records, records.assign(status="timeout", solution=None, method="zero")])
    table = definitions.scored(failed, [GRAVITY]).set_index("method")
    assert table.loc["zero", "scoring"] == "nothing to score" and table.loc["mean", "scoring"] == ""
    for key, definition in definitions.DEFINITIONS.items():
        assert table.loc["zero", key] == definition.missing or (
            math.isnan(definition.missing) and math.isnan(table.loc["zero", key])
        )
    assert records["solution"][0]  # the mean has an answer


def test_an_answer_that_cannot_be_read_is_scored_as_missing():
    records = runs.grid([GRAVITY], ["mean"], budget={"evaluations": 1}, progress=False)
    table = definitions.scored(records.assign(solution=[{"E_f": "2*nothing"}]), [GRAVITY])
    assert "error" in table["scoring"][0] and table["ned_published"][0] == 1 and math.isnan(table["tree"][0])


def test_medians_rank_infinities_and_leave_nan_out():
    values = np.array([[1.0, math.nan], [math.inf, math.nan], [math.inf, 3.0], [0.0, math.nan]])
    assert definitions.DEFINITIONS["nmse_power"].pool(values).tolist() == [1.0, 3.0]
    assert definitions.DEFINITIONS["nmse_release"].pool(values).tolist() == [0.5, 3.0]


def test_tau_b_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 4, (2, 6)).astype(float)
        assert analysis._tau(analysis._signs(a), analysis._signs(b)) == pytest.approx(
            kendalltau(a, b).statistic, nan_ok=True
        )


def test_a_ranking_that_turns_round_is_seen():
    orders = {"gplearn": 0.1, "operon": 0.2, "power_law": 0.3}
    turned = {"gplearn": 0.3, "operon": 0.2, "power_law": 0.1}
    table = analysis.rankings(scored(nmse_per_output=orders, nmse_power=turned, nmse_release=orders))
    same, other = table.loc[("error", "SurfaceBench")], table.loc[("error", "MDBench")]
    assert (same["tau"], same["low"], same["flips"]) == (1, 1, "")
    assert (other["tau"], other["high"], other["same"]) == (-1, -1, -1)
    assert other["flips"] == "power_law/gplearn (100%), power_law/operon (100%), gplearn/operon (100%)"
    assert other["behind_mean"] == 0


def test_pooling_alone_can_turn_a_ranking_round():
    """One problem on which a method is far off decides a mean and not a median."""
    errors = {"gplearn": [0.1, 0.1, 0.1, 1e9], "operon": [0.2, 0.2, 0.2, 0.2]}
    row = analysis.rankings(scored(nmse_per_output=errors, nmse_release=errors)).loc[("error", "SurfaceBench")]
    assert row["tau"] == -1 and row["same"] == 1 and row["behind_mean"] == 1


def test_implicit_surfaces_are_refused():
    with pytest.raises(ValueError, match="'surfaces/AMHD1' is a level set, without a table to score"):
        analysis.tabular_problems(["surfaces/AMHD1"])


def test_what_counts_in_a_studys_own_table_is_what_study_yaml_says(tmp_path):
    rules = {prefix: rule for study in studies().values() for prefix, rule in study.get("everywhere", {}).items()}
    systems = pd.DataFrame({"method": ["mean"] * 3, "r2_trajectories_ood": [0.9, 0.5, None]})
    systems.to_csv(tmp_path / "cde_scores.csv", index=False)
    found = analysis.own_table(tmp_path / "cde_scores.csv", rules["cde"])
    assert found["recovered"].tolist() == [1, 0, 0]
    assert found["error"].tolist() == pytest.approx([0.1, 0.5, math.inf])  # a failed integration is far off
    noisy = pd.DataFrame({"method": "mean", "snr_db": [math.inf, 20.0], "identified": 1.0, "nmse_per_output": 0.25})
    noisy.to_csv(tmp_path / "odes.csv", index=False)
    clean = analysis.own_table(tmp_path / "odes.csv", rules["odes"])
    assert clean.to_numpy().tolist() == [["mean", 1.0, 0.25]]
    assert analysis.own_table(tmp_path / "nothing.csv", rules["odes"]) is None


@pytest.mark.parametrize("id", ["srsd/I.12.4", "surfaces/TCS5", "odes/24"])
def test_a_problem_is_recovered_by_the_rule_of_its_own_study(id):
    problem = rd.problem(id)
    assert definitions.recovery(problem, problem.truth) == {
        "nmse_per_output": pytest.approx(0, abs=1e-9),
        "recovered": 1,
    }
    wrong = definitions.recovery(problem, dict.fromkeys(problem.outputs, f"2 + {problem.inputs[0]}"))
    assert wrong["recovered"] == 0 and wrong["nmse_per_output"] > 1e-3


def test_what_no_table_can_tell_is_not_called_recovered():
    system = rd.problem("cde/P002")
    assert math.isnan(definitions.recovery(system, system.truth)["recovered"])


def test_recoveries_count_failed_runs_as_not_recovered():
    problems = analysis.tabular_problems(["srsd/I.12.4", "cde/P002"])
    records = runs.grid(problems, ["oracle", "power_law"], progress=False)
    records.loc[records["method"] == "power_law", "status"] = "error"
    found = definitions.recoveries(records, problems).set_index(["problem", "method"])
    assert found.loc[("srsd/I.12.4", "oracle"), "recovered"] == 1
    assert tuple(found.loc[("srsd/I.12.4", "power_law"), ["nmse_per_output", "recovered"]]) == (math.inf, 0)
    assert found.loc["cde/P002", "recovered"].isna().all()


def test_what_is_reached_with_a_budget():
    columns = ["study", "method", "evaluations", "problem", "seed", "recovered", "nmse_per_output"]
    rows = [["a", 10, "p", 0, 1.0, 0.1], ["a", 10, "p", 1, 0.0, 0.3], ["a", 10, "q", 0, 1.0, math.inf]]
    rows += [["a", 10, "q", 1, 1.0, 0.2], ["a", 10, "r", 0, math.nan, 0.25], ["a", 20, "p", 0, 0.0, 1.0]]
    rows = [["s", *row] for row in rows] + [["t", "a", 10, "z", 0, 0.0, 9.0], ["u", "a", 10, "y", 0, math.nan, 8.0]]
    ten, twenty, other, without = budgets.by_budget(pd.DataFrame(rows, columns=columns)).to_dict("records")
    assert math.isnan(without["recovered"]) and (without["problems"], without["error"]) == (0, 8.0)
    assert (other["study"], other["problems"], other["recovered"], other["error"]) == ("t", 1, 0, 9.0)
    assert (ten["problems"], ten["seeds"], ten["recovered"], ten["least"], ten["most"]) == (2, 2, 0.75, 0.5, 1.0)
    assert (ten["low"], ten["high"], ten["error"]) == (0.5, 1.0, 0.25)
    assert (twenty["evaluations"], twenty["recovered"], twenty["seeds"]) == (20, 0, 1)
    nothing = budgets.by_budget(pd.DataFrame([], columns=columns))
    assert nothing.empty and list(nothing) == list(ten)


def test_one_study_has_two_panels_and_several_a_column_each():
    columns = "study method evaluations problems seeds recovered low high least most error".split()
    shares = [0.5, 0.25, 1.0, 0.5, 0.5]
    rows = [[study, "gplearn", n, 4, 1, *shares, 1e-12] for study in ("odes", "srsd") for n in (10, 99)]
    reached = pd.DataFrame(rows, columns=columns)
    both, alone = budgets.draw(reached), budgets.draw(reached.query("study == 'odes'"))
    assert [ax.get_title()[-4:] for ax in both.axes[:2]] == ["laws", "ions"] and len(both.axes) == 4
    assert len(alone.axes) == 2 and {ax.get_xlabel() for ax in alone.axes} == {"evaluations"}
    assert min(alone.axes[1].lines[0].get_ydata()) == 1e-9
    for figure in (both, alone):
        plt.close(figure)


def test_a_study_without_budgets_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="none of 'cde'"):
        budgets.of_study("cde", "smoke", tmp_path / "runs.sqlite")

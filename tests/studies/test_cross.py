"""Cross-scoring: definitions that can be checked by hand, rankings that are reversed, and every study in one table."""

import math
from types import SimpleNamespace

import rediscover as rd
from factories import scores_frame
from rediscover import params, runs
from rediscover.runs import schema
from rediscover.studies.cross import analysis, definitions
from rediscover.system.paths import root
from rediscover.system.studies import studies

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


def written(folder, names):
    """Tables of budgets with one run each, and the parameters of a notebook that looks for them there."""
    for study, name in names.items():
        row = {"study": study, "problem": f"{study}/1", "method": "operon", "seed": 0, "evaluations": 10}
        frame = pd.DataFrame([row | {"nmse_per_output": math.inf, "recovered": 0.0}])
        schema.to_csv(frame, folder / f"{name}.csv")
    return SimpleNamespace(tables=folder, profile="smoke")


def test_budgets_are_those_that_the_studies_wrote(tmp_path):
    names = {"surfaces": "surfaces_budgets", "srsd": "srsd_budgets", "odes": "mdbench_odes_budgets"}
    found = analysis.own_budgets(written(tmp_path, names))
    assert sorted(found["study"]) == sorted(names) and set(found["nmse_per_output"]) == {math.inf}
    (tmp_path / "srsd_budgets.csv").unlink()
    with pytest.raises(FileNotFoundError, match="no table srsd_budgets: run make all PROFILE=smoke first"):
        analysis.own_budgets(SimpleNamespace(tables=tmp_path, profile="smoke"))


@pytest.mark.parametrize("profile", ["reference", "paper"])
def test_studies_whose_budgets_stand_in_one_table_have_the_same(profile):
    names = [key for key, model in params.models().items() if issubclass(model, params.Budgeted)]
    planned = [params.read(root() / "params" / f"{name}.yaml", profile) for name in names]
    assert len(names) == 3 and len({len(p.budget_problems) for p in planned}) == 1
    assert all((p.budgets, p.budget_seeds) == (planned[0].budgets, planned[0].budget_seeds) for p in planned)

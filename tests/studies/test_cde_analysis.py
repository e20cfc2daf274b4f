"""The analysis, ledger and claims of the study of coupled equations, on cases worked by hand."""

from factories import scores_frame
from rediscover import report
from rediscover.problems import Task, problem
from rediscover.report import papers
from rediscover.report.summaries import summary
from rediscover.studies.cde import analysis, claims, ledger
from rediscover.system import derived

import numpy as np
import pandas as pd
import pytest

POINTS = analysis.figure3(derived.read("cde", "released_runs"))


def scored(id_, ood, method="least_squares", states="1", **columns):
    """A table of scores, one system a row."""
    frame = {"method": method, "subset": states, "r2_trajectories_id": id_, "r2_trajectories_ood": ood}
    return scores_frame(frame | {"problem": [f"cde/{states}{i}" for i in range(len(id_))]} | columns)


class TestContributions:
    frame = scored([1.0, 0.5, np.nan, -np.inf], [0.95, -2.0, 0.1, np.nan])

    def test_failures_count_as_zero(self):
        means = analysis.contributions(self.frame).groupby("split")[analysis.METRICS].mean()
        assert means.loc["id"].tolist() == [37.5, 25.0]
        assert means.loc["ood"].tolist() == pytest.approx([105 / 4, 25.0])

    def test_failures_can_leave_as_released(self):
        parts = analysis.contributions(self.frame)
        assert parts.groupby("split")["failed"].sum().to_dict() == {"id": 2, "ood": 1}
        left = parts.assign(**parts[analysis.METRICS].mask(parts["failed"]))
        cells = summary(left, ["states", "split"], ["sr2"]).set_index("split")
        assert cells.loc["id", ["value", "n"]].tolist() == [75.0, 2]
        assert cells.loc["ood", "value"] == pytest.approx(35.0)

    def test_columns_are_typed(self):
        parts = analysis.contributions(self.frame)
        assert parts["states"].dtype == int and parts["failed"].dtype == bool and len(parts) == 8


def test_our_own_method_is_paired_with_each_other_by_split_and_states():
    sides = {"bidirectional": [1.0, 1.0, 0.8], "operon": [0.9, 0.9, 0.9], "mean": [0.0, 0.0, 0.0]}
    parts = pd.concat([analysis.contributions(scored(r2, r2, method=name)) for name, r2 in sides.items()])
    ours = parts[parts["method"] == "bidirectional"]
    variants = pd.concat([ours.assign(variant=name) for name in ("as it is", "as first recorded")])
    found = analysis.beside_others(variants, parts.reset_index(drop=True))
    assert set(found["a"]) == {"bidirectional", "bidirectional_first"} and set(found["b"]) == {"operon"}
    assert set(found["condition"]) == {"id 1", "ood 1"} and set(found["n_pairs"]) == {3}
    # 10, 10 and -10 points: any mean of three draws of them lies between the ends
    assert found["mean_difference"].tolist() == pytest.approx([10 / 3] * 4)
    assert (found["low"].round(6) == -10).all() and (found["high"].round(6) == 10).all()


class TestHighestScore:
    x = np.linspace(-1, 1, 21)
    task = Task(("x0",), "x0", X=x[:, None], y=2 * x + 0.1 * x**3)

    def chosen(self, *texts):
        return analysis._of_highest_score(texts, self.task)

    def test_an_expression_that_is_right_comes_before_a_longer_one_that_is_a_little_better(self):
        # Losses 1, 1.2e-3 and 1.2e-5 at 1, 3 and 11 nodes: log loss falls by 3.4 a node, then by 0.6.
        assert self.chosen("0.0", "2.0*x0", "2.0*x0 + 0.09*x0*x0*x0") == "2.0*x0"

    def test_the_shortest_has_no_score_to_win_by(self):
        assert self.chosen("x0", "x0*(2.0 + 0.1*x0*x0)") == "x0*(2.0 + 0.1*x0*x0)"

    def test_what_a_shorter_one_surpasses_does_not_count(self):
        assert self.chosen("0.0", "2.0*x0", "x0*x0*x0*x0*x0") == self.chosen("0.0", "2.0*x0")

    def test_what_is_undefined_on_the_rows_does_not_count(self):
        assert self.chosen("0.0", "log(x0)", "2.0*x0 + 0.1*x0") == "2.0*x0 + 0.1*x0"

    def test_a_target_of_zeros(self):
        task = Task(("x0",), "x0", X=self.x[:, None], y=0 * self.x)
        assert analysis._of_highest_score(["0.5", "x0 - x0"], task) == "x0 - x0"

    def test_each_state_has_its_own_and_a_run_without_candidates_stays(self):
        system = problem("cde/S024")
        truth = {state: str(side) for state, side in system.expressions.items()}
        fronts = [{"solution": dict.fromkeys(truth, "0.0")}, {"solution": truth}]
        runs = pd.DataFrame({"problem": [system.id] * 2, "seed": 0, "candidates": [fronts, []]})
        runs["solution"] = [{}, {}]
        assert list(analysis.by_score(runs, [system])["solution"]) == [truth, {}]

    def test_it_goes_into_the_reasons(self):
        sizes = {"operations": 1.0, "proximity_dependent": 1.0}
        best, short = (scored([r2] * 3, [r2] * 3, "regularised_evolution", **sizes) for r2 in (0.9, 0.8))
        row = ledger.ledger(POINTS, None, best, short).query("row == 'PySR' and column == 'dimension 1 id sr2'").iloc[0]
        assert row["measured"] == 90.0
        assert "; with the states' expressions of highest score 80; one seed" in row["reason"]


def test_correlations_come_back_with_context_only():
    found = analysis.correlations()
    assert found.loc["with_context", "r"].round(3).tolist() == [0.094, 0.727, 0.163, -0.178]
    assert found["columns"].unstack("dim").T.agg(["min", "max"]).loc["max"].to_dict() == {
        "with_context": 12,
        "without_context": 5,
    }
    cells = ledger.ledger(POINTS).query("table == 'Tables 5 and 9'").groupby("row")["verdict"].unique()
    assert list(cells["with_context"]) == ["reproduced"] and list(cells["without_context"]) == ["differs"]


class TestLedger:
    def test_holds_every_printed_cell(self):
        whole = ledger.ledger(POINTS)
        for name, file in (("Table 2", "2"), ("Tables 5 and 9", "5_9"), ("Table 6", "6")):
            assert (whole["table"] == name).sum() == len(report.published(f"symbolbench_table{file}"))
        assert (whole.query("verdict != 'reproduced'")["reason"] != "").all()
        assert set(whole.query("table == 'Table 2' and published == ''")["verdict"]) == {"not comparable"}

    def test_table_2_has_the_methods_that_ran_without_their_failures(self):
        extra = {"proximity_dependent": [6.0, 2.0, 99.0], "operations": [1.0, 4.0, 99.0]}
        ours = scored([1.0, 0.5, np.nan], [0.95, -2.0, 0.1], method="regularised_evolution", **extra)
        cells = ledger.ledger(POINTS, None, pd.concat([ours, scored([1.0], [1.0], operations=[2.0])]))
        found = cells.query("table == 'Table 2' and measured.notna()").set_index("column")["measured"].astype(float)
        assert set(cells.query("table == 'Table 2' and measured.notna()")["row"]) == {"PySR"}
        assert found["dimension 1 id sr2"] == 75 and found["dimension 1 id acc_0.9"] == 50  # of 1 and 0.5
        assert found["dimension 1 ood sr2"] == pytest.approx(35.0)  # of 0.95, 0 and 0.1
        assert found["dimension 1  complexity"] == 2.5 and found["dimension 1  symbolic_proximity"] == 4.0

    def test_table_6_is_compared_with_the_released_seed(self, monkeypatch):
        extra = {"proximity_dependent": [6.0, 99.0], "operations": [1.0, 99.0]}
        seeds = [scored([value, np.nan], [0.3, 0.0], **extra).assign(seed=s) for s, value in enumerate((0.552, 0.6))]
        frame = pd.concat(seeds)
        rows = ledger.table6(frame)
        assert rows["id", "sr2"].tolist() == pytest.approx([27.6, 30.0])
        # a failed run leaves the mean
        assert rows["", "symbolic_proximity"].tolist() == [6.0, 6.0]
        monkeypatch.setattr(ledger, "TABLE6", ("a", "b"))
        cells = ledger.ledger(POINTS, frame).query("table == 'Table 6' and row == 'GPLearn'").set_index("column")
        # 27.6 is printed, and no number between the seeds
        assert cells["verdict"].tolist() == ["reproduced", "differs", "differs", "differs"]
        monkeypatch.setattr(ledger, "TABLE6", ("a", "b", "c"))
        cells = ledger.ledger(POINTS, frame).query("table == 'Table 6' and row == 'GPLearn'")
        assert set(cells["verdict"]) == {"not comparable"}


class TestClaims:
    def test_every_claim_is_judged(self):
        judged = {f"SY-{name[3:]}" for name in vars(claims) if name.startswith("sy_")}
        assert set(papers.claims("cde").index) == judged

    def parts(self, n=12, **values):
        """Rows of `contributions` for methods on so many systems of one and of four states, ID and OOD."""
        rows = [
            {"problem": f"cde/{states}{i}", "method": name, "settings": {}, "seed": 0, "states": states, "split": split}
            | {"sr2": value[k] + i / 100}
            for name, value in values.items()
            for states in (1, 4)
            for k, split in enumerate(("id", "ood"))
            for i in range(n)
        ]
        return pd.DataFrame(rows)

    def test_released_models_are_compared_with_the_best_baseline(self):
        top = pd.DataFrame({"method": "a", "value": 90.0, "low": 80.0, "high": 95.0, "printed": 99.0}, index=[1])
        baselines = self.parts(PySR=(80, 40), ProGED=(30, 20))
        better, worse = (self.parts(**{"o4-mini": values}) for values in ((90, 50), (70, 30)))
        verdict, finding = claims.sy_01(better, baselines, top)
        assert verdict == "holds" and finding.endswith("1: 99.0 against 90.0 [80.0, 95.0]")
        assert claims.sy_01(worse, baselines, top)[0] == "fails", "ahead of ProGED is not enough"
        assert claims.sy_01(better, baselines[:0], top)[0] == "untestable here"

    def test_a_change_counts_beyond_chance_only(self):
        falling = self.parts(PySR=(80, 40))
        falling["sr2"] -= 20 * (falling["states"] == 4)
        assert claims.sy_05(falling)[0] == "holds"
        verdict, finding = claims.sy_05(self.parts(PySR=(80, 40)))
        assert verdict == "not shown" and "it speaks for PySR, and for no language model" in finding
        assert claims.sy_05(falling[falling["states"] == 1])[0] == "untestable here"

    def test_equal_scores_are_not_lower(self):
        nothing = self.parts()
        assert claims.sy_06(self.parts(PySR=(80, 40)), self.parts(**{"o4-mini": (90, 30)}))[0] == "holds"
        same = self.parts(PySR=(80, 80))
        assert (
            claims.sy_06(same, same[:0])[0] == "not shown" and claims.sy_06(same[:0], same[:0])[0] == "untestable here"
        )
        assert nothing.empty

    def test_settings_are_compared_by_model_modality_and_split(self):
        assert claims.sy_09(self.parts(PySR=(1, 1)))[0] == "untestable here"
        assert claims.sy_09(self.parts(PySR=(1, 1)))[1].endswith("SR2 ood rises from naive to context in 1 of 3 pairs")
        about = {"model": "ChatTS-14B", "modality": ""}
        both = [
            self.parts(loop=(value, value)).assign(settings=[about | {"setting": setting}] * 48)
            for setting, value in (("naive", 40), ("context", 50), ("cot", 60))
        ]
        parts = pd.concat(both, ignore_index=True)
        assert claims.sy_09(parts)[0] == claims.sy_08(parts)[0] == "holds"
        other = [settings | {"model": "Qwen2.5-14B"} for settings in parts["settings"]]
        assert claims.sy_08(parts.assign(settings=other))[0] == "fails", "reasoning helps, and not ChatTS"

    def test_correlations_are_weak_below_a_half(self):
        verdict, finding = claims.sy_10(analysis.correlations())
        assert verdict == "mixed" and "with context |r| < 0.5 in 3 of 4" in finding and "within 0.004" in finding
        assert claims.sy_10(analysis.correlations().assign(r=0.1))[0] == "holds"

    def test_refinement_is_drawn_by_system_and_reasoning_tested_over_them(self):
        rows = [
            {
                "model": "a",
                "reasoning": reasoning,
                "system": f"S{i}",
                "r2": r2 + i / 1e3,
                "last_r2": 0.9,
                "first_r2": 0.5,
            }
            | {"first_complexity": 1, "last_complexity": 2}
            for reasoning, r2 in (("with", 0.8), ("without", 0.6))
            for i in range(12)
        ]
        runs = pd.DataFrame(rows)
        assert claims.sy_11(runs)[0] == "holds"
        assert claims.sy_11(runs.assign(last_r2=0.5))[0] == "mixed", "R2 never rises, but reasoning helps"

    def test_hybrids_are_compared_by_how_many_times_the_score_is_higher(self):
        seeded = "LLM-as-Predictor + GPLearn"
        assert claims.sy_12(self.parts(GPLearn=(20, 10), **{seeded: (80, 70)}))[0] == "holds"
        assert claims.sy_12(self.parts(GPLearn=(20, 10), **{seeded: (25, 12)}))[0] == "fails"
        judge = "GPLearn + LLM-as-Judge"
        assert claims.sy_13(self.parts(GPLearn=(20, 10), **{judge: (25, 12)}))[0] == "holds"
        assert claims.sy_13(self.parts(GPLearn=(20, 10)))[0] == "untestable here"


def test_released_runs_are_those_of_figure_3_without_altered_systems():
    parts = analysis.released_parts(derived.read("cde", "released_answers"))
    assert parts["method"].nunique() == 15 and set(parts["states"]) == {4}
    assert "cde/P018" not in set(parts["problem"]) and "Qwen3-0.6B (with reasoning)" in set(parts["method"])


def test_released_figures_and_table_10_have_rows():
    whole = ledger.ledger(POINTS)
    assert whole.query("table == 'Figure 4 (a)'")["verdict"].tolist() == ["reproduced"] * 4
    assert whole.query("table == 'Figure 6'")["verdict"].tolist() == ["not run"] * 12
    table10 = whole[whole["table"] == "Table 10"].set_index(["row", "column"])
    assert len(table10) == 54 and table10.loc[("candidate 2", "complexity"), "verdict"] == "reproduced"
    assert table10.loc[("candidate 3", "complexity"), "verdict"] == "not comparable"
    near = pd.to_numeric(table10["published"]) - pd.to_numeric(table10["measured"])
    assert near.dropna().abs().max() < 2e-5, "to the fifth digit of R2"

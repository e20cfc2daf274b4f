"""Groups, intervals, claims and ledger of the text-to-equation study, from small frames made by hand."""

from rediscover.problems import passages
from rediscover.report import claims as claim_table
from rediscover.report import papers, published
from rediscover.report.ledger import Judged
from rediscover.report.rules import judge
from rediscover.report.statistics import agreement
from rediscover.studies.passages import analysis, claims, ledger
from rediscover.studies.passages import scores as scores
from rediscover.system import upstream_files

import numpy as np
import pandas as pd
import pytest

MODELS, RUBRICS = list(passages.MODELS), list(passages.RUBRICS)
TABLE3 = pd.DataFrame(50.0, index=[*MODELS, "Overall"], columns=list(scores.TABLE3))
JUDGED = pd.DataFrame(3.0, index=MODELS, columns=RUBRICS)


def lead(low, others=("Qwen3-235B",), names=("lexicality", "syntax"), high=0.5):
    index = pd.MultiIndex.from_product([names, others]) if names else pd.Index(others)
    return pd.DataFrame({"value": 0.3, "low": low, "high": high}, index=index)


# ---- groups and intervals


def test_groups_by_density():
    assert analysis.density(pd.Series([2, 5, 6, 10, 11, 15])).tolist() == ["2-5"] * 2 + ["6-10"] * 2 + ["11+"] * 2


def test_means_are_over_rows_and_intervals_over_papers():
    frame = pd.DataFrame({"model": "m", "paper_id": list("aab"), "x": [1.0, 1.0, 4.0], "y": 2.0})
    means = analysis.by_paper(frame, "model", ["x", "y"])
    assert means.loc[("m", "x")].tolist() == [2.0, 1.0, 4.0]  # both drawn twice: a, a or b, b
    assert means.loc[("m", "y")].tolist() == [2.0, 2.0, 2.0]


def test_a_statistic_of_two_columns_over_papers():
    """The lead of one group of papers over another: 0.4 everywhere, then 0 on average."""
    middle = pd.Series([0.6] * 10)
    samples = {}
    for name, others in {"below": [0.2] * 10, "level": [0.5, 0.7] * 5}.items():
        values = pd.concat([pd.Series(others), middle], ignore_index=True)
        sample = pd.DataFrame({"value": values, "middle": [0] * 10 + [1] * 10}).rename_axis("paper_id")
        samples[name] = pd.concat([sample, sample])
    lead = analysis.over_papers(samples, lambda d: d[d[:, 1] == 1, 0].mean() - d[d[:, 1] == 0, 0].mean())
    assert lead.loc["below"].tolist() == pytest.approx([0.4, 0.4, 0.4])
    value, low, high = lead.loc["level"]
    assert value == pytest.approx(0) and -0.1 <= low < -0.03 and 0.03 < high <= 0.1


def test_an_interval_is_unknown_where_a_draw_has_no_statistic():
    sample = pd.Series([0.0, 1.0], index=pd.Index(["a", "b"], name="paper_id"))
    found = analysis.over_papers({"x": sample}, lambda drawn: drawn.max() if len(set(drawn)) > 1 else np.nan).loc["x"]
    assert found["value"] == 1 and np.isnan(found["low"])


@pytest.fixture
def two_models(monkeypatch):
    """Two entries of one paper, scored by people in the order in which they were drawn for the first model only."""
    rows = pd.DataFrame({"paper_id": "p", "equation_id": [1, 2]})
    judged = pd.concat(rows.assign(model=model, **dict.fromkeys(RUBRICS, 0.0)) for model in MODELS)
    judged[RUBRICS] = np.tile([[5.0], [1.0]], (len(MODELS), len(RUBRICS)))
    human = judged.copy()
    others = human["model"] != MODELS[0]
    human = pd.concat([human[~others], human[others].iloc[::-1]])
    monkeypatch.setattr(analysis, "DRAWN", MODELS[0])
    return analysis.Released(None, judged, None, None, human)


def test_rows_are_rated_by_position_and_on_keys(two_models):
    rated = analysis.rated(two_models)
    assert len(rated) == 2 * len(MODELS) * len(RUBRICS) * 2
    cells = rated.groupby(["pairing", "model"])[["judge", "people"]]
    rho = cells.apply(lambda pairs: agreement(pairs["judge"], pairs["people"])["spearman"])
    assert (rho["keys"] == 1).all()
    assert rho["position", MODELS[0]] == 1 and (rho["position"].drop(MODELS[0]) == -1).all()


def test_without_the_released_files_there_are_the_derived_numbers(monkeypatch, tmp_path):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    data = analysis.released()
    assert len(data.outputs) == 5183 and len(data.judged) == 5 * 1043 and len(data.human) == 5 * 100
    assert data.papers[["entries", "strings"]].sum().tolist() == [1043, 1209] and len(data.papers) == 170
    assert data.entries["position"].max() == data.papers["entries"].max() - 1
    assert list(data.human) == list(data.judged) and not data.outputs[["lexicality", "syntax"]].isna().any(axis=None)


def test_parts_that_were_not_measured_say_why():
    cells = ledger.ledger({}, "why")
    assert len(cells) == 30 + 49 + 15 + 50 + 22
    open_cells = cells[cells["verdict"] == "not run"]
    assert set(open_cells["reason"]) == {"why"}
    absent = {name for name, rule in ledger.TEXT.items() if "absent" in rule}
    assert set(cells.drop(open_cells.index)["column"]) == absent


# ---- the ledger


def test_a_cell_of_a_table_meets_ours_under_the_papers_names():
    cells = ledger.cells("counts", pd.DataFrame({"papers": [21.0], "per_paper": [5.2857]}, index=["ACL"]))
    assert cells["ACL", "n_papers"] == {"value": 21.0, "low": 21.0, "high": 21.0}
    assert cells["ACL", "avg_equations_per_paper"]["low"] == pytest.approx(5.2807)
    found = ledger.ledger({"counts": cells}, "why").set_index(["row", "column"])
    assert found.loc[("ACL", "avg_equations_per_paper"), "verdict"] == "reproduced"
    assert found.loc[("NAACL", "n_papers"), ["verdict", "reason"]].tolist() == ["not run", "why"]


def test_a_share_meets_the_papers_sample_within_two_standard_errors():
    cells = ledger.cells("overlap", pd.DataFrame({"exact": [20.0]}, index=["LLaMA3-70B"]))
    cell = cells["LLaMA3.3-70B", "exact (J = 1.0)"]  # sqrt(0.2 * 0.8 / 100) = 0.04
    assert (cell["low"], cell["high"]) == pytest.approx((12, 28))


def test_a_deviation_is_a_cell_beside_its_mean():
    deviation = pd.DataFrame({"texbleu": [2.11]}, index=["sd"])
    found = ledger.ledger({"deviations": ledger.cells("deviations", deviation)}, "").set_index(["row", "column"])
    assert found.loc[("Overall", "texbleu sd"), ["published", "verdict"]].tolist() == ["2.1", "reproduced"]
    assert found.loc[("Overall", "texbleu"), "published"] == "56.6"


@pytest.mark.parametrize(
    ("printed", "value", "rule", "verdict"),
    [
        ("5 (all)", 5, {}, "reproduced"),
        ("5 (all)", 4, {}, "differs"),
        ("approximately 20%", 20.4, {"compare": "ends"}, "reproduced"),
        ("approximately 20%", 22.1, {"compare": "ends"}, "undecided"),
        ("below 60%", 59.8, {"compare": "below"}, "reproduced"),
        ("below 60%", 60.0, {"compare": "below"}, "differs"),
        ("around 4.7 to 4.9", [4.68, 4.94], {"compare": "ends"}, "reproduced"),
        ("around 4.7 to 4.9", [4.6, 4.9], {"compare": "ends"}, "undecided"),
        ("around 4.7 to 4.9", [4.68, 4.951], {"compare": "ends"}, "undecided"),
        ("33–39%", [30.0, 39.0], {"compare": "ends", "slack": "sample"}, "reproduced"),
        ("mostly around 0.2", pd.Series([0.1, 0.18, 0.3]), {"compare": "middle"}, "reproduced"),
        ("mostly around 0.2", pd.Series([0.0, 0.01, 0.02]), {"compare": "middle"}, "differs"),
        ("6–10 equations", [True, True], {"compare": "all"}, "undecided"),
        ("6–10 equations", [True, False], {"compare": "all"}, "undecided"),
    ],
)
def test_a_number_of_the_text_beside_ours(printed, value, rule, verdict):
    test = {"below": "bound", "ends": "approximately", "all": "order"}.get(rule.get("compare"), "digits")
    assert judge(test, printed, ledger.number(printed, value, rule)).verdict == verdict


def test_a_range_is_shown_by_its_ends():
    assert ledger.number("around 4.7 to 4.9", [4.68, 4.9, 4.94], {"compare": "ends"})["value"] == "4.68 to 4.94"


def test_every_number_of_the_text_has_a_rule():
    assert set(published("scitext2eq_text_numbers")["quantity"]) == set(ledger.TEXT)
    several, values = pd.Series([1.0, 2.0]), {}
    printed = published("scitext2eq_text_numbers").drop_duplicates("quantity").set_index("quantity")["value"]
    for quantity, rule in ledger.TEXT.items():
        if "statistic" in rule:
            several_are_printed = " to " in printed[quantity] or "–" in printed[quantity]
            many = rule.get("compare") in ("all", "middle") or several_are_printed
            values[rule["statistic"]] = several if many else 1.0
    found = ledger.text(values, {"kappa": "0.18"})
    assert len(found) == 16
    assert (
        found["Cohen's kappa of LLM judges with humans, all models",]["reason"] == "joined on keys the median is 0.18"
    )


# ---- the claims


def test_every_claim_has_a_function_and_a_verdict():
    ids = papers.claims("passages").index
    assert {id.lower().replace("-", "_") for id in ids} == {name for name in dir(claims) if name.startswith("st_")}
    table = claim_table("passages", dict.fromkeys(ids, Judged([], "why")))
    assert len(table) == 14


def rows(*values, width=1.0, names=None):
    """Values with intervals, as `analysis.over_papers` returns them."""
    frame = pd.DataFrame({"value": values}, names)
    return frame.assign(low=frame["value"] - width, high=frame["value"] + width)


def test_claims_on_the_lexical_scores():
    assert claims.st_01(rows(50.0, 58.0)) == ("holds", "the best of 2 means is 58.0 [57.0, 59.0] %")
    assert claims.st_01(rows(50.0, 59.8))[0] == "not shown" and claims.st_01(rows(65.0, 66.0))[0] == "fails"
    assert claims.st_02(rows(22.0, 15.0, names=["all", "parsed"]), 0.5)[0] == "holds"
    assert claims.st_02(rows(22.0, -3.9, names=["all", "parsed"]), 0.5)[0] == "mixed"
    assert claims.st_03(rows(4.0, 5.0), pd.Series([1.0, 2.0]))[0] == "holds"
    assert claims.st_03(rows(20.0, 30.0), pd.Series([1.0, 2.0]))[0] == "fails"


def test_a_model_leads_if_it_is_ahead_of_the_nearest_other():
    assert claims.st_04(lead(0.01))[0] == "holds" and claims.st_04(lead(-0.01))[0] == "not shown"
    assert claims.st_04(lead(-0.2, high=-0.1))[0] == "fails"
    verdict, finding = claims.st_04(lead([0.002, 0.1, -0.008, 0.1], others=("Qwen3-235B", "LLaMA3-70B")))
    assert verdict == "not shown" and finding.endswith(
        "lexicality +0.2 points (Qwen3-235B), syntax -0.8 points (Qwen3-235B)"
    )


def test_claims_on_the_rubrics():
    index = pd.MultiIndex.from_product([MODELS, RUBRICS])
    good = {"Validity": 4.8, "Appropriateness": 4.9, "Equivalence": 2.5, "Coverage": 4.2, "Clarity": 3.0}

    def judged(**changed):
        return rows(*((good | changed)[rubric] for _, rubric in index), width=0.1, names=index)

    assert claims.st_05(judged())[0] == "holds" and claims.st_05(judged(Validity=3.8))[0] == "mixed"
    assert claims.st_05(judged(Equivalence=2.95))[0] == "not shown", "ten of fifteen are beyond chance"
    assert claims.st_06(judged())[0] == "holds" and claims.st_06(judged(Clarity=3.7, Coverage=3.8))[0] == "fails"
    assert claims.st_06(judged(Clarity=3.45, Coverage=4.05))[0] == "not shown"


def test_claims_on_density():
    groups = pd.DataFrame({name: [3.0, 2.0, 1.0] for name in ["lexicality", "syntax", *RUBRICS]})
    tests = pd.DataFrame({"rho_entries": -0.5, "p_entries": 0.001}, index=RUBRICS)
    assert claims.st_07(groups, lead(0.1))[0] == "holds" and claims.st_07(groups, lead(-0.1))[0] == "not shown"
    assert claims.st_08(tests, 170)[0] == "holds"
    tests.loc["Clarity", "rho_entries"] = 0.1
    verdict, finding = claims.st_08(tests, 170)
    assert (
        verdict == "mixed"
        and finding.startswith("4 of 5")
        and "; not Clarity (rho 0.10): an effect of 0.26 would be seen" in finding
    )


def test_claims_on_agreement_with_people():
    above = lead([0.1] * 5, others=RUBRICS, names=())
    assert claims.st_09(above)[0] == "holds" and claims.st_09(above.assign(low=-0.1))[0] == "not shown"
    others = [model for model in MODELS if model != "DeepSeek-R1"]
    index = pd.MultiIndex.from_product([MODELS, RUBRICS])
    near = rows(*(0.6 if model == "DeepSeek-R1" else 0.05 for model, _ in index), width=0.1, names=index)
    assert claims.st_10(near, lead(0.1, others, ()))[0] == "holds"
    verdict, finding = claims.st_10(near + 0.4, lead(-0.1, others, ()))
    assert verdict == "fails" and "ahead of 0 of 4 models" in finding and "0 of the 20 cells" in finding


def test_claims_on_venues():
    tests = pd.DataFrame({"venue_p_holm": [0.5, 0.001]}, index=["syntax", "Coverage"])
    verdict, finding = claims.st_11(tests, 170, 5)
    assert verdict == "not shown" and finding.endswith("ranks), but one in Coverage (p 0.001)")
    index = pd.MultiIndex.from_product([["ACL"], ["syntax", "Equivalence"], ["texbleu", "Clarity"]])
    assert claims.st_14(rows(0.3, 0.3, 0.3, 0.3, width=0.1, names=index))[0] == "holds"
    verdict, finding = claims.st_14(rows(0.3, 0.3, -0.3, 0.3, width=0.1, names=index))
    assert verdict == "mixed" and finding.endswith("such as texbleu below Equivalence in ACL")


def test_claims_on_operators_and_counts():
    assert claims.st_12(rows(20.0, 48.0), pd.Series([60.0, 60.0]))[0] == "holds"
    assert claims.st_12(rows(20.0, 49.5), pd.Series([60.0, 60.0]))[0] == "not shown"
    totals = pd.DataFrame({"papers": 170, "total": [1209, 1043]}, index=["strings", "entries"])
    assert claims.st_13(totals) == ("mixed", "170 papers and 1043 entries, which hold 1209 equations")
    assert claims.st_13(totals.assign(total=1043))[0] == "holds"

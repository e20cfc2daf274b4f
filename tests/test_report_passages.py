"""Tables and figures of the text-to-equation study, on cases worked by hand and without the released files."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from rediscover.problems import passages
from rediscover.report import claims, published
from rediscover.studies.passages import analysis as study
from rediscover.studies.passages import claims as verdicts
from rediscover.studies.passages import figures as pictures
from rediscover.system import upstream_files

KEYS = ("model", "paper_id", "equation_id")


def rated(scores):
    """One entry per score, every rubric the same."""
    rows = [("GPT-4.1", "p", i, *[float(s)] * len(passages.RUBRICS)) for i, s in enumerate(scores)]
    return pd.DataFrame(rows, columns=[*KEYS, *passages.RUBRICS])


def test_groups_by_density():
    assert study.grouped(pd.Series([2, 5, 6, 10, 11, 15])).tolist() == ["2-5"] * 2 + ["6-10"] * 2 + ["11+"] * 2


def test_table_1_counts_strings_and_entries():
    papers = pd.DataFrame({"venue": list(passages.VENUES), "entries": [2, 4, 6, 8, 11], "strings": [6, 4, 6, 8, 11]})
    table = study.table1(papers)
    assert table.loc["Total", ["strings per paper", "entries per paper"]].tolist() == [7.0, 6.2]
    assert table.loc["ACL", ["strings 2-5", "strings 6-10", "entries 2-5"]].tolist() == [0, 1, 1]


def test_means_are_over_rows_and_intervals_over_papers():
    frame = pd.DataFrame({"model": "m", "paper_id": list("aab"), "x": [1.0, 1.0, 4.0], "y": 2.0})
    tidy = pictures.by_paper(frame, "model", ["x", "y"]).set_index("score")
    assert tidy.loc["x", ["value", "low", "high"]].tolist() == [2.0, 1.0, 4.0]  # both drawn twice: a, a or b, b
    assert tidy.loc["y", ["value", "low", "high"]].tolist() == [2.0, 2.0, 2.0]


def test_distributions_are_of_entries_that_both_scored():
    data = study.Released(None, rated([1, 2, 2, 5]), rated([5, 5]), None, None)
    shares = pictures.distributions(data)
    assert shares.loc["Clarity people"].tolist() == [0, 0, 0, 0, 1]
    assert shares.loc["Clarity judge"].tolist() == [0.5, 0.5, 0, 0, 0]
    assert np.allclose(shares.sum(axis=1), 1)
    assert len(pictures.distributions_figure(data).axes[0].patches) == 5 * len(shares)


def test_strips_keep_the_order_of_rows_and_panels():
    tidy = pd.DataFrame(
        [(row, score, i, i - 1, i + 1) for i, row in enumerate("abc") for score in "xy"],
        columns=["row", "score", "value", "low", "high"],
    )
    axes = pictures.strips(tidy, list("abc"), {"y": "Y", "x": "X"}, "score").axes
    assert [axis.get_title() for axis in axes] == ["Y", "X"]
    assert axes[0].lines[0].get_xdata().tolist() == [2, 1, 0]  # from the bottom: c, b, a


@pytest.mark.parametrize("wanted", [False, True])
def test_without_the_released_files_every_cell_and_claim_says_why(wanted, monkeypatch, tmp_path):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    data, reason = study.released_data(wanted)
    assert data is None and ("bundled corpus only" in reason) == (not wanted)
    ledger = verdicts.ledger(data, reason)
    assert len(ledger) == 30 + 49 + 15 + 50 + 22
    open_cells = ledger[ledger["verdict"] == "not run"]
    assert set(open_cells["reason"]) == {reason}
    assert set(ledger.drop(open_cells.index)["column"]) == set(verdicts.DEFINITIONS)
    found = claims("SciText2Eq", verdicts.claims(data, reason))
    assert len(found) == 14 and set(found["verdict"]) == {"untestable here"}


def test_nothing_is_downloaded_when_not_wanted(monkeypatch):
    monkeypatch.setattr(upstream_files, "fetch_all", lambda repository: pytest.fail("asked for files"))
    assert study.released_data(False)[0] is None


@pytest.fixture(scope="module")
def data(mirror):
    found, source = study.released_data()
    assert source == study.FOUND
    return found


def test_with_the_released_files_every_cell_of_a_table_comes_back(data):
    ledger = verdicts.ledger(data, "")
    tables = ledger[ledger["table"] != "Sections 5 and 6"]
    assert set(tables["verdict"]) == {"reproduced"}
    text = ledger.drop(tables.index).set_index("column")
    assert text["verdict"].value_counts().to_dict() == {"reproduced": 13, "not comparable": 6, "differs": 3}
    assert text.loc["range of Validity and Appropriateness scores (1-5 scale)", "measured"] == "4.59 to 4.94"
    assert text.loc["example: LLM-judge Equivalence score", "measured"] == 1
    kappa = text.loc["Cohen's kappa of LLM judges with humans, all models"]
    assert kappa["verdict"] == "differs" and "keys the median is 0.18" in kappa["reason"]


def test_the_positional_coefficients_come_back_to_six_decimals(data):
    aligned = study.alignment(data).set_index(["pairing", "model", "rubric"])
    table = published("scitext2eq_agreement")
    assert len(table) == 2 * 25
    for row in table.itertuples():
        assert f"{aligned.loc['position', row.model, row.rubric][row.statistic]:.6f}" == row.value


def test_joined_on_keys_the_judge_agrees_with_people(data):
    aligned = study.side_by_side(study.alignment(data))
    assert aligned["Equivalence (keys)"].between(0.5, 0.65).all()
    assert (aligned["Equivalence (position)"].drop("DeepSeek-R1") < 0.05).all()


def test_the_peak_of_a_density_group_is_its_lead_over_both_others():
    papers = pd.DataFrame({"paper_id": range(30), "entries": [3] * 10 + [8] * 10 + [12] * 10})
    scores = [0.2] * 10 + [0.6] * 10 + [0.5, 0.7] * 5
    outputs = pd.DataFrame({"paper_id": [*range(30)] * 2, "score": scores * 2})
    lead = study.peak(study.Released(outputs, None, None, papers, None), "score")
    assert lead.loc["2-5"].tolist() == pytest.approx([0.4, 0.4, 0.4])
    mean, low, high = lead.loc["11+"]
    assert mean == pytest.approx(0) and -0.1 <= low < -0.03 and 0.03 < high <= 0.1


def test_deepseek_is_ahead_of_none_in_its_agreement_with_people(data):
    aligned = study.with_intervals(study.alignment(data), data).set_index(["pairing", "rubric", "model"]).sort_index()
    keys = aligned.loc["keys", "Equivalence"]
    assert (keys["low"] > 0.3).all() and keys["spearman"].between(keys["low"], keys["high"]).all()
    assert aligned.loc["position", ["low", "high"]].isna().all(axis=None)
    # People gave GPT-4.1 one Validity below 5: a draw without its paper has no correlation.
    assert np.isnan(aligned.loc[("keys", "Validity", "GPT-4.1"), "low"])
    leads = study.spearman_leads(data, "DeepSeek-R1")
    assert leads.index.tolist() == [name for name in passages.MODELS if name != "DeepSeek-R1"]
    wanted = keys.loc["DeepSeek-R1", "spearman"] - keys["spearman"].drop("DeepSeek-R1")
    assert leads["mean"].to_dict() == pytest.approx(wanted.to_dict())
    assert (leads["low"] < 0).all() and (leads["high"] > 0).all()


def test_claims_are_what_their_conditions_say(data):
    found = {id: verdict for id, (verdict, _) in verdicts.claims(data, "").items()}
    expected = dict.fromkeys(("ST-01", "ST-03", "ST-05", "ST-06", "ST-12"), "holds")
    expected |= dict.fromkeys(("ST-07", "ST-10"), "fails")
    assert {id: verdict for id, verdict in found.items() if verdict != "mixed"} == expected


def test_a_claim_falls_with_its_statistic(data):
    """Every model as GPT-4o-mini, and a judge who gives people's scores: then nothing is ahead, and all agree."""
    outputs = data.outputs.copy()
    for metric in (*study.scores.TABLE3,):
        same = outputs[outputs.model == "GPT-4o-mini"].set_index(passages.KEYS)[metric]
        outputs[metric] = same.loc[list(outputs[passages.KEYS].itertuples(index=False, name=None))].to_numpy()
    rated = data.human.set_index(["model", *passages.KEYS])
    judged = data.judged.set_index(["model", *passages.KEYS])
    judged.update(rated)
    other = dataclasses.replace(data, outputs=outputs, judged=judged.reset_index())
    found = {id: verdict for id, (verdict, _) in verdicts.claims(other, "").items()}
    assert (found["ST-04"], found["ST-09"], found["ST-10"]) == ("fails", "fails", "fails")


def test_a_range_is_the_same_if_both_ends_are():
    same = verdicts._range("around 4.7 to 4.9", [4.68, 4.94], "t", lambda _: 0.0)
    assert (same["value"], same["verdict"]) == ("4.68 to 4.94", "reproduced")
    assert verdicts._range("around 4.7 to 4.9", [4.6, 4.9], "t", lambda _: 0.0)["verdict"] == "differs"
    assert verdicts._range("33–39%", [30.0, 39.0], "t", lambda _: 3.0)["verdict"] == "reproduced"


def test_baselines_and_rule_judge_on_released_entries(data, monkeypatch):
    """Two papers of the released corpus: the truth is perfect as a string, a copy is not."""
    two = passages.released_papers()[:2]
    monkeypatch.setattr(passages, "released_papers", lambda: two)
    written = study.written_without_a_model(("oracle", "copy_last_equation"))
    means = written.groupby("model")["levenshtein_similarity"].mean()
    assert means["oracle"] == 1 and means["copy_last_equation"] < 0.6
    known = data.human[data.human.paper_id.isin([paper.id for paper in two])]
    wanted = known.set_index(["model", *passages.KEYS]).index
    judged = study.rule_judged_again(wanted)
    assert len(wanted) and judged.index.equals(wanted) and judged.isin(range(1, 6)).all().all()

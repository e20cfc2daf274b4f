"""What SciText2Eq released, counted: from the derived numbers, and from the files where they are."""

from pathlib import Path

from rediscover.problems import passages
from rediscover.report import published
from rediscover.report import statistics as agreement
from rediscover.studies.passages import analysis, ledger
from rediscover.studies.passages import scores as scores

import pandas as pd
import pytest
import yaml

# ---- what was released


def test_released_counts_are_those_of_table_1():
    papers = analysis.released().papers
    assert (len(papers), papers["entries"].sum(), papers["strings"].sum()) == (170, 1043, 1209)
    table = published("scitext2eq_table1").set_index(["venue", "quantity"])["value"].astype(float)
    for venue, group in papers.groupby("venue"):
        assert table[venue, "n_papers"] == len(group)
        # ICML's 8.047 is printed as 8.1, rounded twice.
        assert round(round(group["strings"].mean(), 2) + 1e-9, 1) == table[venue, "avg_equations_per_paper"]
    # of entries here, of strings there
    assert round(papers["entries"].mean(), 1) == table["Total", "avg_equations_per_paper"]
    for column, groups in (("strings", [65, 68, 37]), ("entries", [84, 65, 21])):
        assert pd.cut(papers[column], [1, 5, 10, 99]).value_counts(sort=False).tolist() == groups


def test_table_3_to_the_printed_digit():
    measured = scores.table3(analysis.released().outputs)
    table = published("scitext2eq_table3")
    assert len(table) == 42
    for row in table.itertuples():
        metric = {"levenshtein": "levenshtein_similarity"}.get(row.metric, row.metric)
        assert round(measured.loc[row.model, metric], 1) == float(row.value), (row.model, metric)
        if row.model == "Overall":
            assert round(measured.loc["sd", metric], 1) == float(row.sd), metric


def test_our_scores_give_table_3_too(mirror):
    outputs = passages.released_outputs()[::25]
    ours = scores.scores_of(outputs.prediction.tolist(), outputs.truth.tolist())
    for metric, stored in (("rouge_l", "rouge_l"), ("ted", "ted"), ("seqsim", "seqsim")):
        assert (ours[metric].to_numpy() == outputs[stored].to_numpy()).all()
    assert abs(ours.texbleu.mean() - outputs.texbleu.mean()) < 0.003


PAIRED = yaml.safe_load((Path(__file__).parents[1] / "data" / "scitext2eq_agreement.yaml").read_text())


@pytest.mark.parametrize("model", PAIRED)
def test_agreement_by_position_and_on_keys(model):
    data = analysis.released()
    human = data.human.query("model == @model").drop(columns="model")
    drawn = analysis.drawn(data, model).drop(columns="model")
    by_position = agreement.pair_by_position(drawn, human, passages.KEYS)
    on_keys = drawn.merge(human, on=passages.KEYS, suffixes=("_a", "_b"), validate="one_to_one")
    assert len(on_keys) == 100 and by_position.same.all() == (model == "DeepSeek-R1")
    found = agreement.spearman(by_position.Equivalence_a, by_position.Equivalence_b)
    assert round(found, 3) == PAIRED[model]["position"]
    for rubric, expected in PAIRED[model]["keys"].items():
        assert round(agreement.spearman(on_keys[f"{rubric}_a"], on_keys[f"{rubric}_b"]), 3) == expected
        # The same by another road: pandas' own rank correlation.
        for pairs in (by_position, on_keys):
            a, b = pairs[f"{rubric}_a"], pairs[f"{rubric}_b"]
            assert agreement.spearman(a, b) == pytest.approx(a.corr(b, method="spearman"), abs=1e-9)
            assert agreement.agreement(a, b)["kendall"] == pytest.approx(a.corr(b, method="kendall"), abs=1e-9)


def test_stored_means_of_judge_and_people():
    data = analysis.released()
    judged = data.judged.groupby("model")[list(passages.RUBRICS)].mean().round(2)
    assert judged.loc["GPT-4.1"].tolist() == [4.86, 4.45, 3.46, 4.94, 2.95]
    human = data.human.groupby("model")[list(passages.RUBRICS)].mean().round(2)
    assert human.loc["DeepSeek-R1"].tolist() == [4.98, 4.96, 4.42, 4.92, 3.75]
    with pytest.raises(ValueError, match="'judge' or 'human'"):
        passages.released_scores("people")


@pytest.fixture(scope="module")
def aligned():
    """Agreement of judge and people for each pairing, model and rubric."""
    cells = analysis.rated(analysis.released()).groupby(["pairing", "model", "rubric"])[["judge", "people"]]
    return cells.apply(lambda pairs: agreement.agreement(pairs["judge"], pairs["people"]))


def test_the_positional_coefficients_come_back_to_six_decimals(aligned):
    table = published("scitext2eq_agreement")
    assert len(table) == 2 * 25
    for row in table.itertuples():
        assert f"{aligned.loc[('position', row.model, row.rubric), row.statistic]:.6f}" == row.value
    measured = {"pairing": ledger.cells("pairing", aligned.loc["position"][["spearman", "kendall"]].stack())}
    verdicts = ledger.ledger(measured, "").groupby("table")["verdict"].unique()
    assert verdicts["Figure 6, released notebook"].tolist() == ["reproduced"]


def test_joined_on_keys_the_judge_agrees_with_people(aligned):
    rho = aligned["spearman"].xs("Equivalence", level="rubric")
    assert rho["keys"].between(0.5, 0.65).all()
    assert (rho["position"].drop("DeepSeek-R1") < 0.05).all()

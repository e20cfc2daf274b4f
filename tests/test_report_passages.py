"""Tables and figures of the text-to-equation study, on cases worked by hand and without the released files."""

import numpy as np
import pandas as pd
import pytest

from rediscover import released
from rediscover.problems import passages
from rediscover.report import claims
from rediscover.report import passages as study

KEYS = ("model", "paper_id", "equation_id")


def rated(scores):
    """One entry per score, every rubric the same."""
    rows = [("GPT-4.1", "p", i, *[float(s)] * len(passages.RUBRICS)) for i, s in enumerate(scores)]
    return pd.DataFrame(rows, columns=[*KEYS, *passages.RUBRICS])


def test_groups_by_density():
    assert (
        study.grouped(pd.Series([2, 5, 6, 10, 11, 15])).tolist() == ["2-5"] * 2 + ["6-10"] * 2 + ["11+"] * 2
    )


def test_table_1_counts_strings_and_entries():
    papers = pd.DataFrame(
        {"venue": list(passages.VENUES), "entries": [2, 4, 6, 8, 11], "strings": [6, 4, 6, 8, 11]}
    )
    table = study.table1(papers)
    assert table.loc["Total", ["strings per paper", "entries per paper"]].tolist() == [7.0, 6.2]
    assert table.loc["ACL", ["strings 2-5", "strings 6-10", "entries 2-5"]].tolist() == [0, 1, 1]


def test_means_are_over_rows_and_intervals_over_papers():
    frame = pd.DataFrame({"model": "m", "paper_id": list("aab"), "x": [1.0, 1.0, 4.0], "y": 2.0})
    tidy = study.by_paper(frame, "model", ["x", "y"]).set_index("score")
    assert tidy.loc["x", ["value", "low", "high"]].tolist() == [
        2.0,
        1.0,
        4.0,
    ]  # both drawn twice: a, a or b, b
    assert tidy.loc["y", ["value", "low", "high"]].tolist() == [2.0, 2.0, 2.0]


def test_distributions_are_of_entries_that_both_scored():
    data = study.Released(None, rated([1, 2, 2, 5]), rated([5, 5]), None, None)
    shares = study.distributions(data)
    assert shares.loc["Clarity people"].tolist() == [0, 0, 0, 0, 1]
    assert shares.loc["Clarity judge"].tolist() == [0.5, 0.5, 0, 0, 0]
    assert np.allclose(shares.sum(axis=1), 1)
    assert len(study.distributions_figure(data).axes[0].patches) == 5 * len(shares)


def test_strips_keep_the_order_of_rows_and_panels():
    tidy = pd.DataFrame(
        [(row, score, i, i - 1, i + 1) for i, row in enumerate("abc") for score in "xy"],
        columns=["row", "score", "value", "low", "high"],
    )
    axes = study.strips(tidy, list("abc"), {"y": "Y", "x": "X"}).axes
    assert [axis.get_title() for axis in axes] == ["Y", "X"]
    assert axes[0].lines[0].get_xdata().tolist() == [2, 1, 0]  # from the bottom: c, b, a


@pytest.mark.parametrize("wanted", [False, True])
def test_without_the_released_files_every_cell_and_claim_says_why(wanted, monkeypatch, tmp_path):
    monkeypatch.setenv(released.MIRROR, str(tmp_path))
    data, reason = study.released_data(wanted)
    assert data is None and ("bundled corpus only" in reason) == (not wanted)
    ledger = study.ledger(data, reason)
    assert len(ledger) == 94 and set(ledger["verdict"]) == {"not run"} and set(ledger["reason"]) == {reason}
    verdicts = claims("SciText2Eq", study.claims(data, reason))
    assert len(verdicts) == 14 and set(verdicts["verdict"]) == {"untestable here"}


def test_nothing_is_downloaded_when_not_wanted(monkeypatch):
    monkeypatch.setattr(released, "fetch_all", lambda repository: pytest.fail("asked for files"))
    assert study.released_data(False)[0] is None


def test_with_the_released_files_no_cell_differs(shared, monkeypatch):
    mirror = shared / "data" / "upstream"
    if not mirror.is_dir():
        pytest.skip("no mirror of the released files at ../shared/data/upstream")
    monkeypatch.setenv(released.MIRROR, str(mirror))
    data, source = study.released_data()
    assert source == study.FOUND and set(study.ledger(data, source)["verdict"]) == {"reproduced"}
    aligned = study.side_by_side(study.alignment(data))
    assert aligned["Equivalence (keys)"].between(0.5, 0.65).all()
    assert (aligned["Equivalence (position)"].drop("DeepSeek-R1") < 0.05).all()

"""The study of how often 95 % intervals hold: what it counts, and that the page shows what it found."""

from pathlib import Path

from loading import loaded

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def study():
    return loaded(ROOT / "benchmarks" / "intervals.py")


@pytest.fixture(scope="module")
def fits(study):
    return pd.read_csv(study.FITS)


def test_fits_are_those_that_were_named(study, fits):
    named = [(law, noise, seed) for seed in range(study.SEEDS) for law in study.LAWS for noise in study.NOISE]
    done = list(fits[["law", "noise", "seed"]].itertuples(index=False, name=None))
    assert done == named[: len(done)]  # in their order, none left out


def test_what_is_counted_can_be_counted(study, fits):
    right = fits[fits["right"]]
    assert fits.loc[fits["right"], "holds"].all()
    assert (fits.loc[~fits["right"], "intervals"] == 0).all()
    assert (fits["inside"] <= fits["intervals"]).all() and (fits["intervals"] <= study.CONSTANTS).all()
    assert (right["form"].str.count(r"\bc\d") == study.CONSTANTS).all()


def test_intervals_hold_as_often_as_they_say(study, fits):
    covered = fits["inside"].sum() / fits["intervals"].sum()
    assert study.BAR[0] <= covered <= study.BAR[1]


def test_the_page_shows_the_table(study, fits):
    text = (ROOT / study.PAGE).read_text("utf-8")
    table = text.split(study.MARK)[1].strip().splitlines()
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    expected = study.summary(fits)
    assert shown[0] == list(expected.columns)
    assert shown[2:] == expected.to_numpy().tolist()


def test_shares_of_a_table_by_hand(study):
    law = next(iter(study.LAWS))
    rows = [
        (law, 0.01, 0, True, True, True, 2, 1, 2, 2, 0.9),
        (law, 0.01, 1, False, True, True, 2, 2, 0, 0, ""),
        (law, 0.01, 2, True, True, False, 0, 0, 0, 0, ""),
    ]
    names = ["law", "noise", "seed", "clear", "holds", "right"]
    names += ["intervals", "inside", "resampled", "inside_resampled", "width"]
    first, last = study.summary(pd.DataFrame(rows, columns=names)).to_dict("records")
    assert (first["fits"], first["can be the law"], first["right form"]) == ("3", "3 (100%)", "2 (66.7%)")
    assert (first["clear"], first["clear ones that are right"]) == ("2 (66.7%)", "1 (50%)")
    assert first["hold the constant"] == "3 (75%)"
    assert (first["by resampling"], first["its width over the other"], last["law"]) == ("2 (100%)", "0.90", "**all**")


def test_a_fit_without_noise_has_the_right_form(study, monkeypatch):
    monkeypatch.setattr(study, "EVALUATIONS", 2_000)
    row = study.one("3.2*exp(-0.7*x0)", 1e-6, 9)
    assert row["right"] and row["intervals"] == 2 and 0 <= row["inside"] <= 2


def test_resampling_gives_the_spread_of_a_mean(study):
    rng = np.random.default_rng(0)
    y = 3 + rng.normal(size=100)
    low, high = study.resampled(study.parse("2.5"), {"x0": np.ones(100)}, y, rng)
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * y.std() / 10, rel=0.3)

"""The analyses of the surface study, on cases worked by hand."""

import dataclasses

import rediscover as rd
from rediscover import runs
from rediscover.runs import scoring
from rediscover.runs.refit import refitted
from rediscover.studies.surfaces import analysis, claims

import numpy as np
import pandas as pd
import pytest


def level_set(F):
    return dataclasses.replace(rd.problem("surfaces/AMHD1"), truth={"F": F})


def test_floor_of_two_sheets_is_one_and_of_a_plane_zero():
    assert analysis.floor(level_set("z**2 - 4"), n=400) == pytest.approx(1.0, abs=0.02)  # sheets z = 2 and z = -2
    assert analysis.floor(level_set("x + y + z"), n=400) == pytest.approx(0.0, abs=1e-9)


def test_floor_is_below_every_answer():
    surface = rd.problem("surfaces/AMHD9")
    low = analysis.floor(surface)
    for method in ("mean", "polynomial"):
        assert rd.score(surface, rd.method(method).solve(surface))["nmse_variance"] > 0.97 * low


def test_floor_of_tilted_sheets_weighs_them_by_area():
    # z = 0 and z = 3 (x - y), for |z| <= 5: the slanted sheet has sqrt(19) times the area of its shadow
    surface = level_set("z*(z - 3*(x - y))")
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-5, 5, size=(2, 2_000_000))
    z = 3 * (x - y)
    inside, w = np.abs(z) <= 5, np.sqrt(19)
    mean = np.where(inside, w * z / (1 + w), 0.0)
    within = np.where(inside, mean**2 + w * (z - mean) ** 2, 0.0).sum()
    total = np.where(inside, w * z**2, 0.0).sum()  # the mean of z is 0
    assert analysis.floor(surface, n=3000) == pytest.approx(within / total, rel=0.05)


def test_failures_name_what_is_missing():
    surfaces = [rd.problem("surfaces/TFS2")]  # sin(x)*cos(y) or the like: a trigonometric truth
    (truth,) = surfaces[0].truth.values()
    answers = {"right": truth, "wrong family": "x*y", "right family": "0.5*sin(x + 1)*cos(y)"}
    records = pd.DataFrame(
        [
            {"problem": s.id, "subset": "explicit", "method": name, "status": "ok", "solution": {"z": text}}
            for s in surfaces
            for name, text in answers.items()
        ]
    )
    got = analysis.failures(records, pd.DataFrame({"symbolic_accuracy": [1.0, 0.0, 0.0]}))
    assert got.loc["right", "success"] == 1.0
    assert got.loc["wrong family", "search error"] == 1.0


def test_refitting_finds_the_constants_of_a_right_structure():
    surface = rd.problem("surfaces/TFS4", n_train=200)
    records = runs.grid([surface], ["oracle"], progress=False)
    records["solution"] = [{"z": "0.1*x*y + 0.5"}]
    refit = refitted(records, [surface], progress=False)
    before, after = (scoring.table(r, [surface], progress=False)["nmse_variance"].item() for r in (records, refit))
    assert before > 0.1 and after < 1e-20


def test_failed_runs_have_the_worst_scores_and_do_not_vanish():
    surface = rd.problem("surfaces/TFS4", n_train=50)
    records = runs.grid([surface], ["oracle", "mean"], progress=False)
    records.loc[1, ["status", "solution"]] = ["timeout", None]
    table = scoring.table(records, [surface], progress=False)
    assert len(table) == 2 and table.loc[1, "symbolic_accuracy"] == 0.0 and table.loc[1, "hausdorff_ood"] == np.inf
    assert table.loc[1, "scoring"] == "nothing to score"


def test_verdicts_follow_from_their_statistic():
    rates = pd.DataFrame({"explicit": [0.5, 0.1], "implicit": [0.2, 0.1]}, index=["a", "b"])
    assert claims.sb_02(rates)[0] == "mixed" and claims.sb_02(rates.iloc[:1])[0] == "holds"
    index = pd.MultiIndex.from_product([["explicit", "implicit"], ["a", "b"]])
    near = pd.DataFrame({"chamfer_distance_relative": [1.0, 1.0, 0.5, 2.0]}, index=index)
    assert claims.sb_03(near)[0] == "mixed" and "nearer in 1 of 2" in claims.sb_03(near)[1]
    medians = pd.DataFrame({0.0: [0.1, 0.2], 0.1: [0.3, 0.1]}, index=["a", "b"])
    assert claims.sb_13(medians)[0] == "mixed"
    answered = pd.Series({"a": False, "b": False})
    assert claims.sb_09(answered, 3, pd.Series([0.0, 0.05]))[0] == "holds"
    gains = pd.DataFrame({"share": [0.6, 0.7], "rank_biserial": [0.1, 0.2]}, index=["nmse_variance", "hausdorff"])
    assert [claims.sb_08(gains * scale, 10, 1)[0] for scale in (1, 0.5, 0.1)] == ["holds", "mixed", "fails"]
    test = pd.Series({"p": 0.01, "effect": 0.5, "n_pairs": 9})
    assert claims.sb_14(test)[0] == "holds" and claims.sb_14(test.replace(0.01, 0.2))[0] == "fails"
    recovery = pd.DataFrame(
        {"recovered": [2, 1], "n": 8, "share": [0.25, 0.125], "low": 0.1, "high": 0.5}, index=["a", "b"]
    )
    assert "the best here, a, recovers 2 of 8" in claims.sb_01(recovery)[1]

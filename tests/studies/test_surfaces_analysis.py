"""The analyses of the surface study, on cases worked by hand."""

import dataclasses

import rediscover as rd
from rediscover import runs
from rediscover.params import read
from rediscover.runs import scoring
from rediscover.runs.refit import refitted
from rediscover.studies.surfaces import analysis, claims
from rediscover.studies.surfaces.grids import grids
from rediscover.system.paths import root

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
    better = means(DSR=1.0)
    better.loc[:, [("implicit", name) for name in analysis.PRINTED]] /= 2
    assert claims.sb_02(better)[0] == claims.sb_03(better)[0] == "holds"
    scaled = better.droplevel("backbone")[[(kind, "chamfer") for kind in ("implicit", "explicit")]]
    scaled.columns = pd.MultiIndex.from_product([["explicit", "implicit"], ["chamfer"]])
    assert (
        claims.sb_03(better, scaled)[0] == "mixed"
        and "0 of 1 medians of scaled clouds" in claims.sb_03(better, scaled)[1]
    )
    medians = pd.DataFrame({0.0: [0.1, 0.2], 0.1: [0.3, 0.1]}, index=["a", "b"])
    assert claims.sb_13(medians)[0] == "mixed"
    answered = pd.Series({"a": False, "b": False})
    assert claims.sb_09(means(gplearn=0.05), answered)[0] == "holds" and claims.sb_09(means(gplearn=0.2))[0] == "fails"
    gains = pd.DataFrame(
        {"share": [0.6, 0.7], "low": 0.55, "high": 0.8, "rank_biserial": 0.1}, index=["nmse", "chamfer"]
    )
    assert [claims.sb_08(gains * scale, 10, 1)[0] for scale in (1, 0.8, 0.1)] == ["holds", "not shown", "fails"]


def test_leaving_the_domain_is_compared_with_what_a_constant_loses():
    rng = np.random.default_rng(0)
    control = rng.uniform(1.0, 3.0, 60)  # it gets worse too
    ratios = pd.DataFrame({"mean": control, "worse": 2 * control, "same": control, "better": control / 2})
    assert claims.sb_14(ratios[["mean", "worse"]])[0] == "holds"
    assert claims.sb_14(ratios[["mean", "same"]])[0] == "not shown"
    assert claims.sb_14(ratios[["mean", "better"]])[0] == "fails"
    stranger = ratios[["mean", "worse"]].assign(stranger=np.nan)  # a method that takes no surface
    assert claims.sb_14(stranger) == claims.sb_14(ratios[["mean", "worse"]])


def means(**values):
    """Tables 1 and 2 of some methods, each with one value everywhere."""
    index = pd.MultiIndex.from_tuples([(name, "") for name in values], names=["method", "backbone"])
    kinds = ["explicit", "implicit", "parametric"]
    columns = pd.MultiIndex.from_product([kinds, list(analysis.PRINTED)], names=["representation", "metric"])
    return pd.DataFrame([[float(value)] * len(columns) for value in values.values()], index, columns)


def test_methods_that_write_one_expression_run_once_and_not_on_parametric_surfaces():
    few = {"methods": ["mean", "dsr"], "clean_methods": ["dsr", "udsr"]}
    planned = grids(read(root() / "params" / "10_surface_benchmark.yaml", "smoke", **few))
    alone = planned["one output"]
    assert [method.name for method in alone["methods"]] == ["udsr"]
    assert {problem.subset for problem in alone["problems"]} == {"explicit", "implicit"}
    assert {problem.subset for problem in planned["clean"]["problems"]} == {"explicit", "implicit", "parametric"}
    few["clean_methods"] = ["dsr"]
    assert "one output" not in grids(read(root() / "params" / "10_surface_benchmark.yaml", "smoke", **few))

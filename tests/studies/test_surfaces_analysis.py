"""The analyses of the surface study, on cases worked by hand."""

import dataclasses

import rediscover as rd
from factories import scores_frame
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


def test_truths_within_the_operators_of_a_method():
    names = {"TFS4": "x*y", "PRS7": "Abs(x-y)+sin(x)", "NCGS2": "(x**2-y**2)/(1+x**2+y**2)"}
    assert {id: rd.problem(f"surfaces/{id}").truth["z"] for id in names} == names
    found = {"operon": (1, 0, 0), "gplearn": (1, 0, 1), "mean": (0, 0, 0)}
    rows = [
        {"problem": f"surfaces/{id}", "subset": "explicit", "method": method, "symbolic_accuracy": value}
        for method, values in found.items()
        for id, value in zip(names, values, strict=True)
    ]
    methods = [rd.method("operon", symbols="add,mul,abs,sin"), rd.method("gplearn"), rd.method("mean")]
    table = analysis.within_operators(scores_frame(rows), methods, "operon")
    assert table.to_dict("index") == {
        "operon": {"truths": 3, "recovered": 1, "recovered by operon": 1},
        "gplearn": {"truths": 2, "recovered": 2, "recovered by operon": 1},  # it has no abs
    }


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


COLUMNS = ["nmse_release", "chamfer_distance", "hausdorff", "chamfer_squared", "nmse_variance"]
COLUMNS += ["chamfer_distance_relative", "hausdorff_relative"]


def clouds(kind="explicit", n=12, **errors):
    """Scores of methods on so many surfaces of a kind, each with one error everywhere; 0 is a recovered surface."""
    rows = [
        {"problem": f"surfaces/{kind}{i}", "subset": kind, "method": name, "symbolic_accuracy": float(not error)}
        | dict.fromkeys(COLUMNS, error * (1 + i / 100))
        for name, error in errors.items()
        for i in range(n)
    ]
    return scores_frame(rows)


def test_representations_are_compared_by_exact_tests_of_their_surfaces():
    found = pd.concat([clouds(gplearn=0.0), clouds("implicit", gplearn=1.0)])
    judged = claims.sb_03(found)
    assert claims.sb_02(found)[0] == "holds" and {cell.goes for cell in judged.cells if cell.by == "test"} == {False}
    assert judged[0] == "not shown" and "frameworks that did not run: SGA" in judged[1]
    few = pd.concat([clouds(gplearn=0.0, n=3), clouds("implicit", gplearn=1.0, n=2)])
    assert claims.sb_02(few)[0] == claims.sb_03(few)[0] == "not shown", "three against two are chance"


def test_the_best_of_many_is_not_shown_by_a_few():
    found = clouds(PySR=0.1, gplearn=0.5, DSR=0.3, uDSR=0.2)
    judged = claims.sb_04(found)
    assert judged[0] == "not shown" and "rivals that did not run: SGA" in judged[1]
    assert {cell.goes for cell in judged.cells if cell.by == "test"} == {True}
    assert claims.sb_04(clouds(PySR=0.9, gplearn=0.5))[0] == "not shown", "one rival of ten"
    assert claims.sb_05(found)[0] == "not shown" and claims.sb_05(clouds(gplearn=0.5))[0] == "untestable here"


def test_noise_and_parametric_surfaces():
    noise = pd.concat([clouds(gplearn=0.1).assign(noise=0.0), clouds(gplearn=0.3).assign(noise=0.1)])
    assert claims.sb_13(noise)[0] == "holds"
    assert claims.sb_13(noise.assign(nmse_variance=0.1))[0] == "not shown"
    assert claims.sb_09(clouds("parametric", PySR=1.0))[0] == "holds"
    assert claims.sb_09(clouds("parametric", PySR=0.0))[0] == "fails"
    assert claims.sb_09(clouds("parametric", gplearn=0.0))[0] == "untestable here", "Table 2 does not print it"


def test_constants_are_badly_fitted_where_most_answers_gain_by_refitting():
    before = clouds(gplearn=1.0, PySR=1.0)
    for scale, verdict in ((0.5, "holds"), (1.0, "fails")):
        after = before.assign(**{name: before[name] * scale for name in COLUMNS})
        assert claims.sb_08(before, after)[0] == verdict


def test_leaving_the_domain_is_compared_with_what_a_constant_loses():
    control = clouds(mean=1.0, n=60)
    loss = np.random.default_rng(0).uniform(1.0, 3.0, 60)  # it gets worse too
    control["hausdorff_relative_ood"] = control["hausdorff_relative"] * loss
    for factor, verdict in ((2.0, "holds"), (1.0, "not shown"), (0.5, "fails")):
        method = clouds(gplearn=0.4, n=60)
        method["hausdorff_relative_ood"] = method["hausdorff_relative"] * loss * factor
        assert claims.sb_14(method, control)[0] == verdict
    assert claims.sb_14(method, control[:0])[0] == "untestable here"


def test_methods_that_write_one_expression_run_once_and_not_on_parametric_surfaces():
    few = {"methods": ["mean", "dsr"], "clean_methods": ["dsr", "udsr"]}
    planned = grids(read(root() / "params" / "10_surface_benchmark.yaml", "smoke", **few))
    alone = planned["one output"]
    assert [method.name for method in alone["methods"]] == ["udsr"]
    assert {problem.subset for problem in alone["problems"]} == {"explicit", "implicit"}
    assert {problem.subset for problem in planned["clean"]["problems"]} == {"explicit", "implicit", "parametric"}
    few["clean_methods"] = ["dsr"]
    assert "one output" not in grids(read(root() / "params" / "10_surface_benchmark.yaml", "smoke", **few))

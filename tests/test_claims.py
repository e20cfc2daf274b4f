"""Verdicts on claims follow from tests: none is a constant, and each moves once the methods it speaks of have run."""

import importlib
import re

from factories import scores_frame
from rediscover.methods import Method, registry
from rediscover.problems.passages import MODELS, RUBRICS
from rediscover.report import papers
from rediscover.report.claim_cells import Cell, by_counts, compare, family, of_ranks, spelt
from rediscover.report.comparisons import paired_tests
from rediscover.report.ledger import CLAIM_VERDICTS, NOT_PRINTED, Judged, as_printed, claim_verdict, claims
from rediscover.report.statistics import detectable, detectable_groups, kruskal_wallis, paired_wilcoxon
from rediscover.runs.schema import read_csv
from rediscover.studies.boolean import claims as boolean
from rediscover.studies.causal import claims as causal
from rediscover.studies.causal import paper_runs
from rediscover.studies.cde import analysis as cde_analysis
from rediscover.studies.cde import claims as cde
from rediscover.studies.mdbench import analysis as mdbench_analysis
from rediscover.studies.mdbench import claims as mdbench
from rediscover.studies.srsd import analysis as srsd_analysis
from rediscover.studies.srsd import claims as srsd
from rediscover.studies.surfaces import claims as surfaces
from rediscover.system import derived
from rediscover.system.paths import root
from rediscover.system.studies import studies

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.stats.proportion import proportion_confint

KEYS = [key for key in studies() if len(papers.claims(key))]
FUNCTION = re.compile(r"(sb|sr|sy|md|st)_\d\d$|signed_rank$")
SPLITS, STATES, SETS = ["id", "ood"], [1, 2, 3, 4], ["easy", "medium", "hard"]


# ---- the rule


@pytest.mark.parametrize(
    ("met", "against", "open", "verdict"),
    [
        (16, 2, 0, "holds"),  # Wilson: 67 % to 97 %
        (4, 1, 0, "mixed"),  # 38 % to 96 %
        (1, 15, 0, "fails"),
        (3, 0, 1, "not shown"),
        (0, 3, 1, "not shown"),
        (0, 0, 2, "not shown"),
        (30, 1, 5, "holds"),
        (0, 0, 0, "untestable here"),
    ],
)
def test_a_claim_is_judged_by_the_share_of_its_cells(met, against, open, verdict):
    assert claim_verdict([True] * met + [False] * against + [None] * open) == verdict


def test_a_cell_is_made_by_a_test_an_interval_or_a_count():
    judged = Judged([*by_counts([np.bool_(True)]), Cell(None, "test"), Cell(True, "interval")], "seen")
    assert judged == ("not shown", "seen") and [cell.goes for cell in judged.cells] == [True, None, True]
    assert str(judged) == "not shown (2 of 3 cells): seen"
    with pytest.raises(TypeError, match="a cell of a claim is True: make it by a test"):
        Judged([True], "a difference of two means")


def test_a_detectable_effect_is_found_in_four_of_five_samples():
    n = 60  # unequal pairs: exact signs, and signed ranks of normal differences
    shares = (1 + detectable(n**-0.5)) / 2
    beyond = [k for k in range(n + 1) if scipy.stats.binomtest(k, n).pvalue < 0.05]
    assert 0.7 < scipy.stats.binom.pmf(beyond, n, shares).sum() < 0.9
    rng = np.random.default_rng(0)
    for size in (12, 60):
        shift = shift_of(detectable(of_ranks(size)), size, rng)
        rows = [compare(rng.normal(shift, 1, size), np.zeros(size), ("a", "b")) for _ in range(400)]
        share = np.mean([row["p"] < 0.05 for row in rows])  # a large effect has less spread than none, so it is more
        assert 0.7 < share < (0.9 if size == 60 else 1)
    groups, apart = np.repeat([0, 1, 2], 40), 119 * detectable_groups(120, 3)  # noncentrality, for normal values:
    shift = (apart * np.pi / 3 / (40 * 2 / 3)) ** 0.5  # ranks keep 3 / pi of it
    found = [kruskal_wallis(rng.normal(shift * (groups == 1), 1), groups)["p"] < 0.05 for _ in range(400)]
    assert 0.7 < np.mean(found) < 0.9


def shift_of(effect: float, size: int, rng: np.random.Generator) -> float:
    """By how much normal differences are moved so that their mean rank-biserial correlation is `effect`."""
    draws = rng.normal(0, 1, (300, size))
    ways = np.linspace(0, 3, 61)
    means = [np.mean([paired_wilcoxon(d + way, d * 0)["effect"] for d in draws[:60]]) for way in ways]
    return float(np.interp(effect, means, ways))


def test_what_is_not_found_comes_with_what_would_be():
    few = family([compare([1.0, 2.0, -1.5], [0.0] * 3, ("a", "b"))])
    assert spelt(few).endswith("(p 0.75; no effect would be seen)")
    rng = np.random.default_rng(1)
    several = [compare(rng.normal(size=40), np.zeros(40), ("a", "b"), condition=str(i)) for i in range(8)]
    tests = family(several)
    least = detectable(of_ranks(40), 8)
    assert np.allclose(tests["detectable"], least) and detectable(of_ranks(40)) < least
    assert spelt(tests).endswith(f"in the others an effect of {least:.2g} would be seen")
    clear = family([compare(np.arange(1.0, 41), np.zeros(40), ("a", "b"))])
    assert "seen" not in spelt(clear)


LANGUAGE_MODELS = {
    "surfaces": {"SB-01", "SB-06", "SB-07", "SB-10", "SB-11", "SB-12", "SB-15"},
    "cde": {"SY-07", "SY-08", "SY-09", "SY-12", "SY-13"},
    "boolean": {"SY-14"},
}


@pytest.mark.parametrize("key", LANGUAGE_MODELS)
def test_a_claim_that_nothing_here_decides_says_what_would_and_at_which_cost(key):
    takes = studies()[key]["takes"]
    assert set(takes) == LANGUAGE_MODELS[key] and all("dollars" in text for text in takes.values())
    untestable = {claim: Judged([], "needs a model") for claim in papers.claims(key).index}
    findings = claims(key, untestable)["finding"]
    assert all(findings[claim] == f"needs a model; it takes {text}" for claim, text in takes.items())
    assert (findings.drop(list(takes)) == "needs a model").all()
    decided = claims(key, {claim: Judged(by_counts([True]), "seen") for claim in findings.index})
    assert (decided["finding"] == "seen").all()


def test_what_the_loops_would_take_is_in_the_table_of_costs():
    costs = pd.read_csv(root() / "tables" / "loops_costs.csv").query("study == 'surfaces'")
    each = costs.groupby("framework")["a search, gpt-4o-mini"].max()
    total, parts = re.fullmatch(
        r".* on the 153 .*, about (\d+) dollars \((.*)\)", studies()["surfaces"]["takes"]["SB-01"]
    ).groups()
    stated = dict(part.rsplit(" ", 1) for part in parts.split(", "))
    assert {name: round(153 * each[name]) for name in stated} == {name: int(n) for name, n in stated.items()}
    assert int(total) == round(sum(map(int, stated.values())), -1)


# ---- a method that was not there


class Perfect(Method):
    """A method that knows everything, under the name of one that does not run here."""

    name = "dsr"

    def available(self):
        return None


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(papers, "registry", lambda: {**registry(), "dsr": Perfect})


def laws(**right):
    """Scores of methods on forty laws of each set, each with a share of them right."""
    rows = [
        {"problem": f"srsd/{subset}{i}", "method": name, "subset": subset, "ned_published": 1 - share + i / 1e4}
        | dict.fromkeys(("r2_accuracy", "solution_rate"), float(i < 40 * share))
        for name, share in right.items()
        for subset in SETS
        for i in range(40)
    ]
    return scores_frame(rows)


CLOUD = ["nmse_release", "chamfer_distance", "hausdorff", "chamfer_squared", "nmse_variance"]
CLOUD += ["chamfer_distance_relative", "hausdorff_relative"]


def clouds(**errors):
    """Scores of methods on twelve surfaces of each representation, each with one error everywhere; 0 is recovered."""
    rows = [
        {"problem": f"surfaces/{kind}{i}", "subset": kind, "method": name, "symbolic_accuracy": float(not error)}
        | dict.fromkeys(CLOUD, error * (1 + i / 100))
        for name, error in errors.items()
        for kind in ("explicit", "implicit", "parametric")
        for i in range(12)
    ]
    return scores_frame(rows)


def yardstick():
    return pd.DataFrame(
        {"rediscover": 0.5, "printed": 0.4, "method": "DSR"},
        pd.MultiIndex.from_product([["Table 2", "Table 3", "Table 4"], SETS]),
    )


def test_the_claims_about_dsr_wait_for_it_and_follow_it(installed):
    for judge in (srsd.sr_02, srsd.sr_03):
        found = {}
        for name, right in {"absent": {}, "perfect": {"dsr_released": 1.0}, "poor": {"dsr_released": 0.0}}.items():
            scored = laws(gplearn=0.3, **right)
            found[name] = {cell.goes for cell in judge(papers.of_paper(scored, "srsd"), yardstick()).cells}
        assert found == {"absent": set(), "perfect": {True, None}, "poor": {False, None}}

    orders = {}
    for name, error in {"perfect": 0.1, "poor": 0.9}.items():
        scored = papers.of_paper(clouds(gplearn=0.5, dsr=error), "surfacebench")
        orders[name] = {cell.goes for cell in surfaces.sb_05(scored).cells if cell.by == "test"}
    assert orders == {"perfect": {True}, "poor": {False}}


def test_a_language_model_decides_the_claims_about_language_models(monkeypatch):
    class Framework(Perfect):
        name = "openevolve"

    monkeypatch.setattr(papers, "registry", lambda: {**registry(), "openevolve": Framework})
    verdicts = {}
    for error in (0.0, 9.0):
        scored = papers.of_paper(clouds(gplearn=0.5, openevolve=error), "surfacebench")
        verdicts[error] = surfaces.sb_01(scored)[0], surfaces.sb_07(scored)[0]
    assert verdicts == {0.0: ("mixed", "fails"), 9.0: ("not shown", "holds")}
    alone = papers.of_paper(clouds(gplearn=0.5), "surfacebench")
    assert surfaces.sb_01(alone)[0] == surfaces.sb_07(alone)[0] == "untestable here"


# ---- whose cells they are, and what they rest on


def table(name):
    return read_csv(root() / "tables" / f"{name}.csv")


def of_surfaces():
    scored = table("surfaces_scores")
    of_paper = papers.of_paper(scored, "surfacebench")
    known = of_paper[of_paper["hausdorff_ood"].notna()]
    control = scored[(scored["method"] == "mean") & scored["hausdorff_ood"].notna()]
    found = {f"SB-{i:02}": getattr(surfaces, f"sb_{i:02}")(of_paper) for i in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12)}
    noise = papers.of_paper(table("surfaces_noise_scores"), "surfacebench")
    return found | {"SB-13": surfaces.sb_13(noise), "SB-14": surfaces.sb_14(known, control)}


def of_srsd():
    scored = papers.of_paper(table("srsd_scores"), "srsd")
    slopes = pd.read_csv(root() / "tables" / "srsd_regression.csv")
    slopes = papers.of_paper(slopes, "srsd").set_index("method")
    found = {f"SR-0{i}": getattr(srsd, f"sr_0{i}")(scored, yardstick()) for i in (2, 3, 4)}
    rho = srsd_analysis.rank_agreement(scored).loc["law", "rho"].dropna()
    found |= {"SR-05": srsd.sr_05(scored), "SR-06": srsd.sr_06(rho, pd.Series({"easy": 0.0}))}
    return found | {"SR-14": srsd.sr_14(slopes, {"paper": 5, "code": 0}, 120)}


def of_mdbench():
    parts = {"PDEs": table("mdbench_pdes_scores"), "ODEs": table("mdbench_odes_scores")}
    scored = papers.of_paper(pd.concat(parts, names=["systems"]).reset_index("systems"), "mdbench")
    scored["kind"] = scored["method"].map(mdbench.kinds())
    changes = mdbench.ratios(scored)
    found = scored[(scored["systems"] == "ODEs") & np.isinf(scored["snr_db"])]
    found = found.groupby("method")["identified"].agg(["sum", "size"])
    judged = {"MD-01": mdbench.md_01(scored), "MD-02": mdbench.md_02(changes), "MD-09": mdbench.md_09(scored)}
    judged["MD-11"] = mdbench.md_11(found, "")
    tests, names = {}, papers.catalogue("mdbench").set_index("label")["ours"]
    for comparison, test in studies()["mdbench"]["tests"].items():
        frame = parts["PDEs" if "WSINDy" in comparison else "ODEs"]
        about = names[test["a"]], names[test["b"]], test["measure"], test["snr_db"]
        if row := mdbench_analysis.signed_rank(frame, *about, log=test["log"]):
            tests[comparison] = row
    rows = paired_tests(tests.values()).set_axis(pd.Index(tests))
    ends = dict.fromkeys(["one_sided_min", "one_sided_max", "two_sided_min", "two_sided_max"], 9.0)
    for comparison, row in rows.iterrows():
        line = pd.Series(ends | {"missing": "", "maximum": 9}, name=comparison)
        judged[studies()["mdbench"]["tests"][comparison]["claim"]] = mdbench.signed_rank(line, row)
    return judged


def of_cde():
    parts = cde_analysis.parts_of_paper(table("cde_scores"))
    answers = derived.read("cde", "released_answers")
    models = cde_analysis.released_parts(answers)
    top = pd.DataFrame({"method": "a", "value": 1.0, "low": 0.0, "high": 2.0, "printed": 1.0}, index=[1])
    found = {f"SY-0{i}": getattr(cde, f"sy_0{i}")(parts) for i in (5, 7, 8, 9)}
    found |= {"SY-01": cde.sy_01(models, parts, top), "SY-06": cde.sy_06(parts, models)}
    found |= {"SY-10": cde.sy_10(cde_analysis.correlations()), "SY-15": cde.sy_15(answers)}
    return found | {"SY-11": cde.sy_11(derived.read("cde", "released_runs"))}


def of_causal():
    stored = paper_runs.paper_runs()
    recorded = papers.of_paper(stored[stored["scoring"] == ""], "symbolbench").assign(seed=0)
    released = causal.quietest(derived.read("causal", "released_runs"))
    references = pd.Series({"self_edges": 59.3, "complete_graph": 70.4})
    return {"SY-02": causal.sy_02(released, recorded, 54.4, 52.7, references)}


def of_boolean():
    counts = dict.fromkeys(["value", "high", "models", "models_below", "models_above", "min", "max"], 1.0)
    frame = pd.DataFrame(counts, SPLITS)
    return {"SY-04": boolean.sy_04(derived.read("boolean", "released_runs"), frame, frame, frame)}


ON_TABLES = {"surfaces": of_surfaces, "srsd": of_srsd, "mdbench": of_mdbench, "cde": of_cde}
ON_TABLES |= {"causal": of_causal, "boolean": of_boolean}
COUNTS = {"SR-04", "SY-10", "MD-11"}  # of those on the tables: a law or a system that is found, and arithmetic


@pytest.fixture(scope="module", params=ON_TABLES)
def on_tables(request):
    """Claims judged as the notebooks do, on the committed tables."""
    return request.param, ON_TABLES[request.param]()


def test_cells_are_of_the_papers_methods_and_rest_on_tests(on_tables):
    key, found = on_tables
    voters = papers.voters(studies()[key]["paper"])
    for claim, judged in found.items():
        assert {cell.method for cell in judged.cells if cell.by != "not run"} <= voters | {""}, claim
        assert {cell.by for cell in judged.cells} <= {"test", "interval", "not run", "count"}, claim
        assert ("count" in {cell.by for cell in judged.cells}) <= (claim in COUNTS), claim
        if judged.tests is not None:  # as many are decided as Holm lets through
            decided = sum(cell.goes is not None for cell in judged.cells if cell.by == "test")
            assert decided == (judged.tests["p_holm"] < 0.05).sum(), claim


def test_an_own_method_or_a_control_among_the_cells_is_refused():
    for stranger in ("bidirectional", "oracle", "polynomial", "AI Feynman"):
        results = dict.fromkeys(papers.claims("srsd").index, Judged([], "why"))
        results["SR-05"] = Judged([Cell(True, "test", stranger)], "seen")
        with pytest.raises(ValueError, match=f"SR-05: {stranger} is no method of the paper"):
            claims("srsd", results)


def test_a_perfect_method_of_ours_moves_no_verdict():
    scored = laws(gplearn=0.3, dsr_released=0.5)
    more = pd.concat([scored, laws(bidirectional=1.0, oracle=1.0)], ignore_index=True)
    for judge in (srsd.sr_02, srsd.sr_03):
        assert judge(papers.of_paper(more, "srsd"), yardstick()) == judge(papers.of_paper(scored, "srsd"), yardstick())


def test_unlike_is_what_solves_less_than_half_or_twice_as_many_as_printed_everywhere():
    """SRSD is the paper whose headline share is decided by a rule, here as there."""
    scored = table("srsd_scores")
    printed = (
        papers.published("srsd_table3").astype({"value": float}).pivot(index="method", columns="set", values="value")
    )
    unlike = {}
    for line in papers.catalogue("srsd").query("ours != ''").itertuples():
        solved = scored[scored["method"] == line.ours].groupby("subset")["solution_rate"].agg(["sum", "size"])
        apart = []
        for subset, row in solved.iterrows():
            share, there = row["sum"] / row["size"], printed.loc[line.label, subset] / 100
            low, high = proportion_confint(row["sum"], row["size"], method="wilson")
            apart.append(not low <= there <= high and not there / 2 <= share <= 2 * there)
        unlike[line.label] = all(apart)
    stated = papers.catalogue("srsd").set_index("label")["unlike"] != ""
    assert unlike == stated[list(unlike)].to_dict() and stated.sum() == 1


# ---- no claim is a constant


def random(rng, index, columns, low=0.0, high=1.0):
    """A frame of random numbers around a level that differs from draw to draw and column to column."""
    levels = rng.uniform(low, high, len(columns))
    values = levels + rng.normal(scale=rng.choice([0.01, 0.3]) * (high - low), size=(len(index), len(columns)))
    return pd.DataFrame(values, index, columns)


def product(*parts, names=None):
    return pd.MultiIndex.from_product(parts, names=names)


def levels(rng, names, spread=0.5):
    """A level for each name: in their order, against it, all alike, or at random."""
    way = rng.choice([-1, 0, 1])
    order = rng.permutation(len(names)) if rng.random() < 0.2 else np.arange(len(names))
    return dict(zip(names, 0.5 + way * spread * (order / max(1, len(names) - 1) - 0.5), strict=True))


def scores(rng, problems, names, columns, spread=0.5, **about):
    """Scores of methods on problems, around the levels of the methods."""
    level = levels(rng, names, spread)
    rows = [
        {"problem": problem, "method": name} | about | dict.fromkeys(columns, level[name] + rng.normal(scale=0.02))
        for name in names
        for problem in problems
    ]
    return scores_frame(rows)


def surface_scores(rng, n=12):
    kinds = {kind: [f"surfaces/{kind}{i}" for i in range(n)] for kind in ("explicit", "implicit", "parametric")}
    names = [*surfaces.ORDER, *surfaces.frameworks()]
    shift = levels(rng, list(kinds), 1.0)
    parts = [
        scores(rng, ids, names, CLOUD, subset=kind).pipe(
            lambda f, by=shift[kind]: f.assign(**{c: f[c] + by for c in CLOUD})
        )
        for kind, ids in kinds.items()
    ]
    whole = pd.concat(parts, ignore_index=True)
    return whole.assign(symbolic_accuracy=(whole["nmse_release"] < rng.choice([0.6, 0.9, 1.2])).astype(float))


def with_priors(rng):
    level = levels(rng, ["without_priors", "with_priors", "wrong_priors"])
    scored = surface_scores(rng, 18)  # with fewer, no p value of a hundred tests would be small enough
    language = scored[scored["method"].isin(surfaces.frameworks())]
    parts = [
        language.assign(settings=[{"priors": name}] * len(language), **{c: language[c] + 4 * (by - 0.5) for c in CLOUD})
        for name, by in level.items()
    ]
    return pd.concat([scored[~scored["method"].isin(surfaces.frameworks())], *parts], ignore_index=True)


def refits(rng):
    before = surface_scores(rng)
    factor = rng.choice([0.5, 1.0, 2.0])
    return before, before.assign(**{name: before[name] * factor for name in CLOUD})


def noisy(rng):
    scored = surface_scores(rng)
    by = rng.choice([-0.3, 0, 0.3])
    return pd.concat([scored.assign(noise=0.0), scored.assign(noise=0.1, nmse_variance=scored["nmse_variance"] + by)])


def out_of_domain(rng):
    scored = surface_scores(rng)
    control = scored[scored["method"] == "DSR"].assign(
        method="mean", hausdorff_relative_ood=scored["hausdorff_relative"]
    )
    factor = rng.choice([0.5, 1, 2]) * rng.uniform(0.9, 1.1, len(scored))
    return scored.assign(hausdorff_relative_ood=scored["hausdorff_relative"].abs() * factor), control


def failures(rng):
    share = rng.choice([0.1, 0.5, 0.9])
    return pd.DataFrame({"answers": 100, "fitting error": share, "search error": 1 - share}, ["OpenEvolve", "gplearn"])


def leads(rng, names):
    low = rng.normal(size=len(names)) + rng.choice([-3, 0, 3])
    return pd.DataFrame({"value": low + 0.5, "low": low, "high": low + 1}, names)


def law_scores(rng):
    level = levels(rng, ["DSR", "ST", "AFP", "gplearn"], 0.9)
    step = rng.choice([-0.2, 0, 0.2])
    rows = []
    for k, subset in enumerate(SETS):
        for i in range(40):
            for name, share in level.items():
                right = float(rng.random() < share + step * k)
                row = {"problem": f"srsd/{subset}{i}", "subset": subset, "method": name, "solution_rate": right}
                fits = right if name != "ST" or rng.random() < 0.5 else 0.0
                rows.append(row | {"r2_accuracy": fits, "ned_published": 1 - share - step * k + rng.normal(scale=0.02)})
    found = scores_frame(rows)
    return (
        found.assign(r2_accuracy=found["r2_accuracy"].mask(found["method"] == "ST", 0.0))
        if rng.random() < 0.5
        else found
    )


def noise_of_laws(rng):
    scored = law_scores(rng)
    by = scored["method"].map(levels(rng, ["ST", "DSR", "AFP", "gplearn"]))
    raised = scored["ned_published"] + rng.choice([0, 1]) * by
    return pd.concat([scored.assign(noise=0.0), scored.assign(noise=0.1, ned_published=raised)])


def raters(rng):
    names = ["normalized_edit_distance", "r2_score"]
    return pd.DataFrame({"n_implied": 552, "p_laws": 0.5, "low_laws": -1.0, "high_laws": 1.0}, names)


def ratings(rng):
    r = rng.choice([-0.5, 0.0, 0.5], 2)
    return pd.DataFrame({"r": r, "low": r - 0.1, "high": r + 0.1}, ["normalized_edit_distance", "r2_score"])


def slopes(rng):
    frame = random(rng, list("abcdef"), ["operations", "decades", "r_squared"], -1, 1)
    return frame.assign(p_operations=rng.choice([1e-6, 0.5]), p_decades=rng.choice([1e-6, 0.5]))


def sizes(rng):
    sets = np.repeat(SETS, [rng.choice([30, 40]), 40, 50])
    return pd.DataFrame({"set": sets, "paper": 10_000, "upstream": rng.choice([10_000, 9_000])})


def parts(rng, names=("PySR", "ProGED", "Qwen"), models=()):
    """Rows of `cde.analysis.contributions`; `models` have settings of prompts."""
    level, split = levels(rng, list(names), 60), levels(rng, SPLITS, 60)
    by_states, prompts = levels(rng, STATES, 60), ["naive", "context", "cot"] if models else [""]
    prompt, slope = levels(rng, prompts, 60), rng.choice([-15, 0, 15])  # of a model over states
    rows = [
        {"problem": f"cde/{n}{i}", "method": name, "seed": 0, "states": n, "split": s}
        | {"settings": {"model": name, "modality": "", "setting": p} if p else {}}
        | {
            "sr2": level[name]
            + split[s]
            + by_states[n]
            + prompt[p]
            + rng.normal(scale=2)
            + slope * n * (name == "Qwen")
        }
        for name in (models or names)
        for n in STATES
        for s in SPLITS
        for i in range(10)
        for p in prompts
    ]
    return pd.DataFrame(rows)


def top_of(_):
    return pd.DataFrame({"method": "a", "value": 1.0, "low": 0.0, "high": 2.0, "printed": 1.0}, index=[1])


def released(rng):
    level, answer = levels(rng, ["with", "without"]), rng.choice([-0.3, 0.3])
    rows = [
        {"model": model, "reasoning": reasoning, "system": f"S{i}", "noise": 0.0, "r2": level[reasoning] + i / 1e3}
        | {"first_r2": 0.5, "last_r2": 0.5 + answer, "first_complexity": 1, "last_complexity": 1 + np.sign(answer)}
        | {"epochs": 100 * (1 - level[reasoning]) + i}
        for model in ("Qwen3-4B", "Qwen3-8B")
        for reasoning in ("with", "without")
        for i in range(12)
    ]
    return pd.DataFrame(rows)


def systems(rng):
    """Scores of MDBench's methods on systems, clean and at 10 dB, with systems and kind."""
    names = ["SINDy", "PDEFIND", "Operon", "PySR", "ODEFormer"]
    parts = []
    for kind in ("ODEs", "PDEs"):
        level, loss, size = levels(rng, names, 3), levels(rng, names, 3), levels(rng, names, 9)
        for snr_db in (np.inf, 10.0):
            hurt = np.isfinite(snr_db)
            parts += [
                {"problem": f"{kind.lower()}/{i}", "method": name, "snr_db": snr_db, "systems": kind, "identified": 0.0}
                | {"nmse_power": 10 ** (level[name] - 2 + hurt * loss[name] + rng.normal(scale=0.1))}
                | {"complexity_mdbench": 9 + hurt * (size[name] - 0.5) + rng.normal(scale=0.1)}
                for name in names
                for i in range(9)
            ]
    frame = pd.DataFrame(parts)
    return frame.assign(kind=frame["method"].map(mdbench.kinds()))


def at_40(_):
    return pd.DataFrame({"mean": 1.0, "std": 0.5, "size": 9}, ["PDEs", "ODEs"])


def correlations(rng):
    found = random(rng, product(["without_context", "with_context"], STATES, names=["condition", "dim"]), ["r"], -1, 1)
    return found.assign(printed=0.0)


def rubrics(rng, low=1.0, high=5.0):
    frame = leads(rng, product(MODELS, RUBRICS))
    center = frame.index.get_level_values(1).map(dict(zip(RUBRICS, rng.uniform(low, high, len(RUBRICS)), strict=True)))
    return frame.assign(value=center, low=center - 0.1, high=center + 0.1)


def clean(rng):
    frame = pd.DataFrame({"problem": ["pdes/laser", "pdes/nls"], "nmse_power": rng.choice([1e-4, 0.5], 2)})
    return frame.assign(identified=rng.choice([0, 1], 2))


def found_pdes(rng):
    rows = [{"problem": f"pdes/{i}", "variables": "one" if i < 8 else "several"} for i in range(14)]
    share = levels(rng, ["one", "several"], 1.8)
    return pd.DataFrame([row | {"identified": float(rng.random() < share[row["variables"]])} for row in rows])


def on_heat(rng):
    level = levels(rng, ["1D", "2D", "3D"])
    return pd.DataFrame(
        {name: value + rng.normal(scale=0.01, size=9) for name, value in level.items()}, list("abcdefghi")
    )


def slower(rng):
    level = levels(rng, ["linear", "genetic"])
    rows = {(f"{kind} {i}", kind): 10 ** (value + i / 100) for kind, value in level.items() for i in range(8)}
    frame = pd.DataFrame({"2D": rows, "3D": rows})
    return frame.rename_axis(["method", "kind"])


def signed(rng):
    published = dict.fromkeys(["one_sided_min", "one_sided_max", "two_sided_min", "two_sided_max"], 9.0)
    numbers = dict.fromkeys(["n_pairs", "n_zeros", "w_minus", "w_plus", "rank_biserial"], 1.0)
    p = rng.choice([0.01, 0.5, 0.99])
    line = pd.Series(published | {"missing": "", "maximum": 9}, name="SINDy vs EQL")
    return line, pd.Series(numbers | {"p": p, "p_holm": p})


def twins(rng):
    return pd.DataFrame({name: rng.random(100) < rng.choice([0.05, 0.25]) for name in ("twins", "scaled")}).astype(int)


def ned(rng, names):
    return pd.Series(rng.choice([0.0, 0.2, 0.9], len(names)), names)


def by_split(rng, columns, low=0.0, high=100.0):
    return random(rng, SPLITS, columns, low, high)


def logicgep(rng):
    frame = by_split(rng, ["value"])
    return frame.assign(low=frame["value"] - 1, high=frame["value"] + 1)


def identity(_):
    return pd.DataFrame(1.0, SPLITS, ["value", "high", "models", "models_below", "models_above"])


def rules(rng):
    names = [f"informedness_{name}" for name in ("regulated", "identity", "unseen", "identity_unseen")]
    level = dict(zip(names, rng.choice([-0.3, 0.0, 0.3], 4), strict=True))
    rows = [{"network": f"B{i}", "reasoning": r} for i in range(12) for r in ("with reasoning", "without")]
    return pd.DataFrame(rows).assign(**{name: value + rng.normal(scale=0.01, size=24) for name, value in level.items()})


def hybrids(rng):
    rows, names = [], ["GPLearn", "LLM-as-Predictor + GPLearn", "GPLearn + LLM-as-Judge"]
    level = dict(zip(names, rng.choice([20.0, 25.0, 90.0], 3), strict=True))
    for name, split in product(names, SPLITS):
        rows += [
            {"problem": f"cde/{i}", "method": name, "seed": 0, "split": split, "sr2": level[name]} for i in range(9)
        ]
    return pd.DataFrame(rows)


def runs_of_logicgep(rng):
    level = rng.choice([0.6, 0.8])
    rows = [{"problem": f"boolean/{i}", "f1_pooled_id": level + i / 1e3, "f1_pooled_ood": level} for i in range(12)]
    return scores_frame(rows)


def graph_runs(rng, *names):
    level = dict(zip(names, rng.choice([0.3, 0.5, 0.7], len(names)), strict=True))
    rows = [(f"causal/{i}", name, 0, level[name] + i / 1e3) for name in names for i in range(20)]
    return pd.DataFrame(rows, columns=["problem", "method", "seed", "f1_pairs"]).assign(noise=0.01)


def paper_tests(rng):
    scores = ["lexicality", "syntax", *RUBRICS]
    p = rng.choice([1e-6, 0.5], len(scores))
    return pd.DataFrame({"rho_entries": rng.uniform(-1, 1), "p_entries": p, "venue_p_holm": p}, scores)


def densities(rng):
    falling = np.arange(3)[::-1, None] * rng.choice([1, -1])
    return pd.DataFrame(falling + np.zeros(2 + len(RUBRICS)), columns=["lexicality", "syntax", *RUBRICS])


def around(rng, center, names):
    frame = leads(rng, names)
    return frame + center - 1


INPUTS = {
    **{f"sb_{i:02}": lambda rng: (surface_scores(rng),) for i in (1, 2, 3, 4, 5, 6, 7, 9)},
    "sb_08": refits,
    **{f"sb_{i}": lambda rng: (with_priors(rng),) for i in (10, 11, 12)},
    "sb_13": lambda rng: (noisy(rng),),
    "sb_14": out_of_domain,
    "sb_15": lambda rng: (failures(rng),),
    "sr_01": lambda rng: (raters(rng), ratings(rng)),
    **{f"sr_{i:02}": lambda rng: (law_scores(rng), yardstick()) for i in (2, 3, 4)},
    "sr_05": lambda rng: (law_scores(rng),),
    "sr_06": lambda rng: (pd.Series(rng.uniform(-1, 1) + rng.normal(scale=0.1, size=30)), pd.Series({"easy": 0.0})),
    "sr_07": lambda rng: (law_scores(rng), law_scores(rng)),
    "sr_08": lambda rng: (noise_of_laws(rng),),
    "sr_09": lambda rng: (pd.Series([0.01, 0.011, 0.012]) * rng.choice([1, 50]),),
    "sr_10": lambda rng: (twins(rng),),
    "sr_11": lambda rng: (ned(rng, ["AI Feynman", "DSR", "ST"]),),
    "sr_12": lambda rng: (ned(rng, ["AFP", "DSR", "ST"]),),
    "sr_13": lambda rng: (sizes(rng),),
    "sr_14": lambda rng: (slopes(rng), {"paper": 1, "code": 0}, 120),
    "sy_01": lambda rng: (parts(rng, ["Qwen"]), parts(rng, ["PySR", "ProGED"]), top_of(rng)),
    "sy_02": lambda rng: (
        graph_runs(rng, "GPT-4o-mini", "gpt-oss-20b"),
        graph_runs(rng, "PCMCI", "LPCMCI"),
        50.0,
        52.7,
        pd.Series({"self_edges": 1.0, "complete_graph": 2.0}),
    ),
    "sy_03": lambda rng: (logicgep(rng), by_split(rng, ["min", "max"]), pd.Series(1.0, SPLITS), 9, 9),
    "sy_04": lambda rng: (rules(rng), identity(rng), identity(rng), by_split(rng, ["min", "max"])),
    "sy_05": lambda rng: (parts(rng),),
    "sy_06": lambda rng: (parts(rng), parts(rng, ["o4-mini"])),
    "sy_07": lambda rng: (parts(rng),),
    **{f"sy_0{i}": lambda rng: (parts(rng, ["Qwen", "ChatTS"], ["Qwen", "ChatTS"]),) for i in (8, 9)},
    "sy_10": lambda rng: (correlations(rng),),
    "sy_11": lambda rng: (released(rng),),
    **{f"sy_{i}": lambda rng: (hybrids(rng),) for i in (12, 13)},
    "sy_14": lambda rng: (pd.Series(1.0, SPLITS), runs_of_logicgep(rng), runs_of_logicgep(rng)),
    "sy_15": lambda rng: (released(rng),),
    "md_01": lambda rng: (systems(rng),),
    "md_02": lambda rng: (mdbench.ratios(systems(rng)),),
    "signed_rank": signed,
    "md_08": lambda rng: (systems(rng).query("method == 'ODEFormer'"), ""),
    "md_09": lambda rng: (systems(rng),),
    "md_10": lambda rng: (mdbench.ratios(systems(rng)), at_40(rng)),
    "md_11": lambda rng: (
        pd.DataFrame(
            {"sum": rng.choice([0, 1], 8), "size": 63}, papers.published("mdbench_table_a5")["method"].unique()
        ),
        "",
    ),
    "md_12": lambda rng: (found_pdes(rng),),
    "md_13": lambda rng: (on_heat(rng),),
    "md_14": lambda rng: (slower(rng),),
    "md_15": lambda rng: (clean(rng)[:1], clean(rng), pd.Series(rng.random(2), ["law", "truth"])),
    "st_01": lambda rng: (around(rng, 60, list("abcd")),),
    "st_02": lambda rng: (around(rng, 10, ["all", "parsed"]), 0.5),
    "st_03": lambda rng: (around(rng, 10, list("abcd")), pd.Series([1.0, 2.0])),
    "st_04": lambda rng: (leads(rng, product(["lexicality", "syntax"], ["a", "b"])),),
    "st_05": lambda rng: (rubrics(rng),),
    "st_06": lambda rng: (rubrics(rng),),
    "st_07": lambda rng: (densities(rng), leads(rng, product(["lexicality", "syntax"], ["2-5", "11+"]))),
    "st_08": lambda rng: (paper_tests(rng), 170),
    "st_09": lambda rng: (leads(rng, RUBRICS),),
    "st_10": lambda rng: (rubrics(rng, -0.9, 0.9), leads(rng, list("abcd"))),
    "st_11": lambda rng: (paper_tests(rng), 170, 5),
    "st_12": lambda rng: (around(rng, 50, MODELS), pd.Series([60.0])),
    "st_13": lambda rng: (pd.DataFrame({"papers": 170, "total": rng.choice([1043, 1209], 2)}, ["strings", "entries"]),),
    "st_14": lambda rng: (leads(rng, product(["ACL"], ["syntax", "Equivalence"], ["texbleu", "Clarity"])),),
}


def functions():
    for key in KEYS:
        module = importlib.import_module(f"rediscover.studies.{key}.claims")
        yield from ((name, function) for name, function in vars(module).items() if FUNCTION.match(name))


@pytest.mark.parametrize(("name", "judge"), list(functions()), ids=lambda part: part if isinstance(part, str) else "")
def test_no_verdict_is_a_constant(name, judge):
    rng = np.random.default_rng(0)
    verdicts = set()
    for _ in range(60):
        verdicts.add(judge(*INPUTS[name](rng))[0])
        if len(verdicts - {"untestable here"}) > 1:
            break
    else:
        pytest.fail(f"{name} is always {verdicts}")
    assert verdicts <= set(CLAIM_VERDICTS)


def test_every_claim_is_judged_by_a_function():
    named = {name.replace("_", "-").upper() for name, _ in functions()} - {"SIGNED-RANK"}
    tests = {test["claim"] for test in studies()["mdbench"]["tests"].values()}
    assert named | tests == set(papers.claims().index)
    assert set(INPUTS) == {name for name, _ in functions()}


# ---- as printed


def test_the_printed_numbers_have_verdicts_of_their_own():
    found = pd.concat(as_printed(key) for key in KEYS)
    assert set(found.index) == set(papers.claims().index) and set(found) <= {*CLAIM_VERDICTS[:4], NOT_PRINTED}
    # Cells as the notes in published/claims.csv count them.
    cells = surfaces.printed()
    assert (len(cells["SB-02"]), cells["SB-02"].count(True)) == (19, 19)
    assert (len(cells["SB-03"]), cells["SB-03"].count(True)) == (38, 9 + 10)
    assert cells["SB-10"].count(True) == 16 and cells["SB-11"].count(False) == 5
    assert found[["SB-03", "SR-05", "MD-14", "ST-13", "SY-01", "SY-15"]].eq("mixed").all()
    assert found[["SB-08", "SB-13", "MD-02", "ST-11"]].eq(NOT_PRINTED).all()
    assert len(boolean.printed()["SY-03"]) == 20
    assert cde.printed()["SY-01"] == [True] * 4 + [False] * 3 + [True], "both splits"


def test_as_printed_reads_the_published_files(monkeypatch):
    read = papers.published

    def turned(name):
        """The paper with another Table 1, in which implicit surfaces are the ones that are found."""
        table = read(name)
        if name == "surfacebench_table1":
            names = {"explicit": "implicit", "implicit": "explicit"}
            table = table.assign(representation=table["representation"].replace(names))
        return table

    monkeypatch.setattr(surfaces, "published", turned)
    assert as_printed("surfaces")["SB-02"] == "fails"

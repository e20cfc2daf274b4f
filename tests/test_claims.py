"""Verdicts on claims follow from frames: none is a constant, and each moves once the methods it speaks of have run."""

import importlib
import re

from rediscover.methods import Method, registry
from rediscover.problems.passages import MODELS, RUBRICS
from rediscover.report import papers
from rediscover.report.ledger import CLAIM_VERDICTS, NOT_PRINTED, Judged, as_printed, claim_verdict, claims
from rediscover.studies.boolean import claims as boolean
from rediscover.studies.cde import analysis as cde_analysis
from rediscover.studies.passages.scores import LEXICAL
from rediscover.studies.srsd import analysis as srsd_analysis
from rediscover.studies.srsd import claims as srsd
from rediscover.studies.surfaces import analysis as surfaces_analysis
from rediscover.studies.surfaces import claims as surfaces
from rediscover.system.studies import studies

import numpy as np
import pandas as pd
import pytest

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


def test_cells_of_numpy_and_pandas_count():
    judged = Judged([np.bool_(True), None, pd.NA, True], "seen")
    assert judged == ("not shown", "seen") and judged.cells == [True, None, None, True]
    assert str(judged) == "not shown (2 of 4 cells): seen"


LANGUAGE_MODELS = {
    "surfaces": {"SB-01", "SB-06", "SB-07", "SB-10", "SB-11", "SB-12", "SB-15"},
    "cde": {"SY-08", "SY-09", "SY-12", "SY-13", "SY-15"},
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
    decided = claims(key, {claim: Judged([True], "seen") for claim in findings.index})
    assert (decided["finding"] == "seen").all()


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
    """Scores of methods on ten laws of each set, each with a share of them right."""
    rows = [
        {"method": name, "subset": subset, "r2_accuracy": i < 10 * share, "solution_rate": i < 10 * share}
        | {"ned_published": float(i >= 10 * share)}
        for name, share in right.items()
        for subset in SETS
        for i in range(10)
    ]
    return pd.DataFrame(rows).astype({"r2_accuracy": float, "solution_rate": float})


def clouds(**errors):
    """Scores of methods on five surfaces of each representation, each with one error everywhere."""
    kinds = ["explicit", "implicit", "parametric"]
    frame = pd.DataFrame([(m, k) for m in errors for k in kinds for _ in range(5)], columns=["method", "subset"])
    error = frame["method"].map(errors)
    columns = {*surfaces_analysis.PRINTED.values(), "chamfer_squared"} - {"symbolic_accuracy"}
    return frame.assign(symbolic_accuracy=(error == 0).astype(float), **dict.fromkeys(columns, error))


def test_the_claims_about_dsr_wait_for_it_and_follow_it(installed):
    baseline = pd.DataFrame(
        {"rediscover": 0.5, "printed": 0.4, "method": "DSR"},
        pd.MultiIndex.from_product([["Table 2", "Table 3", "Table 4"], SETS]),
    )
    verdicts = {}
    for name, right in {"absent": {}, "perfect": {"dsr_released": 1.0}, "poor": {"dsr_released": 0.0}}.items():
        table = srsd_analysis.by_label(laws(gplearn=0.3, **right))
        verdicts[name] = [srsd.sr_02(table, baseline)[0], srsd.sr_03(table, baseline)[0]]
    assert verdicts == {"absent": ["untestable here"] * 2, "perfect": ["holds"] * 2, "poor": ["fails"] * 2}

    orders = {}
    for name, right in {"absent": {}, "perfect": {"dsr": 0.0}, "poor": {"dsr": 0.9}}.items():
        orders[name] = surfaces.sb_05(surfaces_analysis.means(clouds(gplearn=0.5, **right)))[0]
    assert orders == {"absent": "untestable here", "perfect": "holds", "poor": "fails"}


def test_a_language_model_decides_the_claims_about_language_models(monkeypatch):
    class Framework(Perfect):
        name = "openevolve"

    monkeypatch.setattr(papers, "registry", lambda: {**registry(), "openevolve": Framework})
    verdicts = {}
    for error in (0.0, 9.0):
        means = surfaces_analysis.means(clouds(gplearn=0.5, openevolve=error))
        verdicts[error] = surfaces.sb_01(means)[0], surfaces.sb_07(means)[0]
    assert verdicts == {0.0: ("fails", "fails"), 9.0: ("holds", "holds")}
    alone = surfaces_analysis.means(clouds(gplearn=0.5))
    assert surfaces.sb_01(alone)[0] == surfaces.sb_07(alone)[0] == "untestable here"


# ---- no claim is a constant


def random(rng, index, columns, low=0.0, high=1.0):
    """A frame of random numbers around a level that differs from draw to draw and column to column."""
    levels = rng.uniform(low, high, len(columns))
    values = levels + rng.normal(scale=rng.choice([0.01, 0.3]) * (high - low), size=(len(index), len(columns)))
    return pd.DataFrame(values, index, columns)


def product(*parts, names=None):
    return pd.MultiIndex.from_product(parts, names=names)


def surface_means(rng):
    rows = pd.MultiIndex.from_tuples(
        [(name, "") for name in surfaces.ORDER] + [("OpenEvolve", "a"), ("LaSR", "a")], names=["method", "backbone"]
    )
    kinds = ["explicit", "implicit", "parametric"]
    frame = random(rng, rows, product(kinds, list(surfaces_analysis.PRINTED), names=["representation", "metric"]))
    return frame * np.where(rows.get_level_values("backbone") == "", rng.uniform(0, 2), 0.1)[:, None]


def priors(rng):
    rows = product(
        ["OpenEvolve", "LaSR"], ["explicit"], ["chamfer", "hausdorff"], names=["method", "representation", "metric"]
    )
    return random(rng, rows, ["without_priors", "with_priors", "wrong_priors"])


def leads(rng, names):
    low = rng.normal(size=len(names)) + rng.choice([-3, 0, 3])
    return pd.DataFrame({"value": low + 0.5, "low": low, "high": low + 1}, names)


def law_means(rng):
    frame = random(rng, ["DSR", "ST", "gplearn"], product(["r2_accuracy", "solution_rate", "ned_published"], SETS))
    if rng.random() < 0.3:
        frame.loc["ST", "r2_accuracy"], frame.loc["ST", "ned_published"] = 0.0, -1.0
    if rng.random() < 0.5:
        frame.loc["DSR", ["r2_accuracy", "solution_rate"]] = 9.0
    return frame


def yardstick(_):
    return pd.DataFrame(
        {"rediscover": 0.5, "printed": 0.4, "method": "DSR"}, product(["Table 2", "Table 3", "Table 4"], SETS)
    )


def raters(rng):
    names = ["normalized_edit_distance", "r2_score"]
    return pd.DataFrame({"n_implied": 552, "p_laws": 0.5, "low_laws": -1.0, "high_laws": 1.0}, names)


def ratings(rng):
    names = ["normalized_edit_distance", "r2_score"]
    return pd.DataFrame({"p": rng.choice([0.001, 0.5], 2), "r": rng.uniform(-1, 1, 2)}, names)


def slopes(rng):
    frame = random(rng, list("abcdef"), ["operations", "decades", "r_squared"], -1, 1)
    return frame.assign(p_operations=rng.choice([1e-6, 0.5]), p_decades=rng.choice([1e-6, 0.5]))


def sizes(rng):
    sets = np.repeat(SETS, [rng.choice([30, 40]), 40, 50])
    return pd.DataFrame({"set": sets, "paper": 10_000, "upstream": rng.choice([10_000, 9_000])})


def systems(rng):
    index = pd.MultiIndex.from_tuples(
        [("PySR", "", ""), ("ProGED", "", ""), *(("ChatTS-14B", "", s) for s in ("context", "cot"))]
        + [("Qwen", "text", s) for s in ("naive", "context", "cot")],
        names=cde_analysis.INDEX,
    )
    return random(rng, index, product(["sr2"], SPLITS, STATES, names=cde_analysis.COLUMNS), 0, 100)


def of_paper(_):
    return cde_analysis.printed_means()


def kinds(rng, index):
    return random(rng, index, ["linear", "genetic"], -1, 1)


def correlations(rng):
    found = random(rng, product(["without_context", "with_context"], STATES, names=["condition", "dim"]), ["r"], -1, 1)
    return found.assign(printed=0.0)


def table3(rng):
    frame = random(rng, [*MODELS, "Overall", "sd"], [*LEXICAL, "lexicality", "syntax"], 0, 100)
    frame.loc["sd"] = rng.choice([0.1, 50.0])
    return frame


def rubrics(rng, index=MODELS, low=1.0, high=5.0):
    return random(rng, list(index), RUBRICS, low, high)


def failures(rng):
    index = pd.MultiIndex.from_tuples([("OpenEvolve", "a"), ("gplearn", "")], names=["method", "backbone"])
    return random(rng, index, ["fitting error", "search error"])


def clean(rng):
    frame = pd.DataFrame({"problem": ["pdes/laser", "pdes/nls"], "nmse_power": rng.choice([1e-4, 0.5], 2)})
    return frame.assign(identified=rng.choice([0, 1], 2))


def signed(rng):
    published = dict.fromkeys(["one_sided_min", "one_sided_max", "two_sided_min", "two_sided_max"], 9.0)
    numbers = dict.fromkeys(["n_pairs", "n_zeros", "w_minus", "w_plus", "rank_biserial"], 1.0)
    return pd.Series(published | {"missing": "", "maximum": 9}), pd.Series(
        numbers | {"p": rng.choice([0.01, 0.5, 0.99])}
    )


def twins(rng):
    return pd.DataFrame({name: rng.random(100) < rng.choice([0.05, 0.25]) for name in ("twins", "scaled")}).astype(int)


def ned(rng, names):
    return pd.Series(rng.choice([0.0, 0.2, 0.9], len(names)), names)


def out_of_domain(rng):
    control = rng.uniform(1, 2, 40)
    return pd.DataFrame({"mean": control, "a": control * rng.choice([0.5, 1, 2]) * rng.uniform(0.9, 1.1, 40)})


def by_split(rng, columns, low=0.0, high=100.0):
    return random(rng, SPLITS, columns, low, high)


def logicgep(rng):
    frame = by_split(rng, ["value"])
    return frame.assign(low=frame["value"] - 1, high=frame["value"] + 1)


def identity(_):
    return pd.DataFrame(1.0, SPLITS, ["value", "high", "models", "models_below", "models_above"])


def paper_tests(rng):
    scores = ["lexicality", "syntax", *RUBRICS]
    p = rng.choice([1e-6, 0.5], len(scores))
    return pd.DataFrame({"rho_entries": rng.uniform(-1, 1), "p_entries": p, "venue_p_holm": p}, scores)


def densities(rng):
    falling = np.arange(3)[::-1, None] * rng.choice([1, -1])
    return pd.DataFrame(falling + np.zeros(2 + len(RUBRICS)), columns=["lexicality", "syntax", *RUBRICS])


def venues(rng):
    frame = random(rng, ["ACL", "ICML"], [*LEXICAL, "syntax", *RUBRICS])
    frame[["syntax", "Equivalence"]] -= rng.choice([0, 9])
    return frame


def recorded(rng):
    return {"pcmci": leads(rng, ["x"]).iloc[0].add(50).to_dict() | {"n": 9}}


INPUTS = {
    **{f"sb_{i:02}": lambda rng: (surface_means(rng),) for i in (1, 2, 3, 4, 5, 6, 7, 9)},
    "sb_08": lambda rng: (leads(rng, ["a", "b"]).assign(share=0.5, rank_biserial=0.0), 9, 1),
    "sb_10": lambda rng: (priors(rng),),
    "sb_11": lambda rng: (priors(rng), surface_means(rng)),
    "sb_12": lambda rng: (priors(rng),),
    "sb_13": lambda rng: (random(rng, ["a", "b", "c"], [0.0, 0.1]),),
    "sb_14": lambda rng: (out_of_domain(rng),),
    "sb_15": lambda rng: (failures(rng),),
    "sr_01": lambda rng: (raters(rng), ratings(rng)),
    **{f"sr_{i:02}": lambda rng: (law_means(rng), yardstick(rng)) for i in (2, 3, 4)},
    "sr_05": lambda rng: (law_means(rng),),
    "sr_06": lambda rng: (pd.Series(rng.uniform(-1, 1) + rng.normal(scale=0.1, size=30)), pd.Series({"easy": 0.0})),
    "sr_07": lambda rng: (random(rng, ["a", "b"], ["original", "new"]).assign(p=rng.choice([0.01, 0.5])),),
    "sr_08": lambda rng: (leads(rng, ["a", "ST"]), 0.0, 0.1),
    "sr_09": lambda rng: (pd.Series([0.01, rng.choice([0.02, 0.5])]),),
    "sr_10": lambda rng: (twins(rng),),
    "sr_11": lambda rng: (ned(rng, ["AI Feynman", "DSR", "ST"]),),
    "sr_12": lambda rng: (ned(rng, ["AFP", "DSR", "ST"]),),
    "sr_13": lambda rng: (sizes(rng),),
    "sr_14": lambda rng: (slopes(rng), {"paper": 1, "code": 0}, 120),
    "sy_01": lambda rng: (systems(rng), leads(rng, [1]).assign(printed=1.0, method="a")),
    "sy_02": lambda rng: (50.0, 52.7, pd.Series({"self_edges": 1.0, "complete_graph": 2.0}), 9, recorded(rng)),
    "sy_03": lambda rng: (logicgep(rng), by_split(rng, ["min", "max"]), pd.Series(1.0, SPLITS), 9, 9),
    "sy_04": lambda rng: (leads(rng, ["a", "b"]), identity(rng), by_split(rng, ["min", "max"])),
    "sy_05": lambda rng: (leads(rng, ["a", "b"]).assign(first=1, last=4),),
    "sy_06": lambda rng: (by_split(rng, ["id", "ood"]),),
    "sy_07": lambda rng: (systems(rng),),
    "sy_08": lambda rng: (systems(rng), of_paper(rng)),
    "sy_09": lambda rng: (systems(rng), of_paper(rng)),
    "sy_10": lambda rng: (correlations(rng),),
    "sy_11": lambda rng: (
        {"runs": 9, "gain": 0.1, "improved": rng.random(), "more_complex": rng.random()},
        random(rng, product(["a", "b"], ["with", "without"], names=["model", "reasoning"]), ["SR2"]),
    ),
    **{
        f"sy_{i}": lambda rng: (
            random(rng, ["GPLearn", "LLM-as-Predictor + GPLearn", "GPLearn + LLM-as-Judge"], SPLITS, 20, 60),
        )
        for i in (12, 13)
    },
    "sy_14": lambda rng: (pd.Series(1.0, SPLITS), by_split(rng, SPLITS), pd.Series(rng.uniform(0, 100, 2), SPLITS)),
    "sy_15": lambda rng: (random(rng, ["a", "b"], ["naive", "context", "cot"]),),
    "md_01": lambda rng: (10.0 ** (3 * kinds(rng, product(["PDEs", "ODEs"], ["clean", "noisy"]))),),
    "md_02": lambda rng: (kinds(rng, ["ODEs", "PDEs"]),),
    "signed_rank": signed,
    "md_08": lambda rng: (
        random(rng, [np.inf, 30.0, 10.0], ["nmse_power", "complexity_mdbench"]) ** rng.choice([1, 9]),
        "",
    ),
    "md_09": lambda rng: (kinds(rng, product(["ODEs", "PDEs"], [10.0])),),
    "md_10": lambda rng: (random(rng, ["PDEs", "ODEs"], ["mean", "std", "size"]),),
    "md_11": lambda rng: (pd.DataFrame({"sum": rng.choice([0, 1], 3), "size": 63}, ["EQL", "End2end", "Operon"]), ""),
    "md_12": lambda rng: (pd.DataFrame({"sum": rng.integers(0, 50, 2), "size": 50}, ["one", "several"]),),
    "md_13": lambda rng: (random(rng, ["a", "b"], ["1D", "2D", "3D"]),),
    "md_14": lambda rng: (kinds(rng, ["2D", "3D"]).T,),
    "md_15": lambda rng: (clean(rng)[:1], clean(rng), pd.Series(rng.random(2), ["law", "truth"])),
    "st_01": lambda rng: (table3(rng) / 1.4,),
    "st_02": lambda rng: (table3(rng), rng.uniform(-20, 40), 0.5),
    "st_03": lambda rng: (table3(rng),),
    "st_04": lambda rng: (leads(rng, product(["lexicality", "syntax"], ["a", "b"])),),
    "st_05": lambda rng: (rubrics(rng, low=(low := rng.choice([1, 4])), high=low + 1).assign(Equivalence=6 - low),),
    "st_06": lambda rng: (rubrics(rng),),
    "st_07": lambda rng: (densities(rng), leads(rng, product(["lexicality", "syntax"], ["2-5", "11+"]))),
    "st_08": lambda rng: (densities(rng), paper_tests(rng)),
    "st_09": lambda rng: (leads(rng, RUBRICS),),
    "st_10": lambda rng: (rubrics(rng, low=0, high=rng.choice([0.1, 1])), leads(rng, list("abcd"))),
    "st_11": lambda rng: (paper_tests(rng),),
    "st_12": lambda rng: (random(rng, MODELS, ["exact", "high"], 0, 100),),
    "st_13": lambda rng: (pd.DataFrame({"papers": 170, "total": rng.choice([1043, 1209], 2)}, ["strings", "entries"]),),
    "st_14": lambda rng: (venues(rng),),
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
    assert found[["SB-03", "SR-05", "MD-14", "ST-13"]].eq("mixed").all()
    assert found[["SB-08", "SB-13", "MD-02", "ST-11"]].eq(NOT_PRINTED).all()
    assert len(boolean.printed()["SY-03"]) == 20


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

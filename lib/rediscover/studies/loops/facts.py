"""What README, paper and essays state in numbers of loops with and without a language model."""

import re
from typing import Any

import numpy as np
import pandas as pd

from ...methods import method
from ...problems import problem, problems
from ...report.facts import Interval, listed, one, setting, table
from ...report.papers import published
from ...search.loops.proposers import OPERATORS
from . import derive, recorded
from .analysis import (
    ALONE,
    ARM,
    BEST,
    FLOOR,
    FRAMEWORKS,
    OTHERS,
    PLAIN,
    PRICED,
    PROPOSERS,
    PUBLIC,
    model_name,
    printed_surfaces,
    printed_systems,
)
from .dose import ON, ON_LAWS, SAME
from .params import study_of

NOTEBOOK = "70_what_the_model_adds"
ON_SURFACES = ("llm_sr", "openevolve")
MADE_OF_EXP = {"tanh", "sinh", "cosh", "Abs"}  # or of a root, from which the controls can make them
SIZES = ("small", "middle", "large")  # of the models, in the order of the parameters
SPLITS = {"id": "SR2, in distribution", "ood": "SR2, out of distribution"}


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    studies = table("loops_by_problem")["problem"].drop_duplicates().str.partition("/")[0].value_counts()
    costs = table("loops_costs").set_index(PRICED)["US dollars, gpt-4o-mini"]
    usd = costs.xs(PROPOSERS["genetic"], level="proposer")
    surfaces = {name: _framework(FRAMEWORKS[name]) for name in ON_SURFACES}
    widths = [found["explicit"]["genetic"][0] for found in surfaces.values()]
    return surfaces | {
        "surfaces": studies["surfaces"],
        "seeds": (len(setting(NOTEBOOK, "seeds")), "word"),
        "system_seeds": (len(setting(NOTEBOOK, "system_seeds")), "word"),
        "samples": setting(NOTEBOOK, "evaluations"),
        "systems": {
            "count": studies["cde"],
            "samples": setting(NOTEBOOK, "system_evaluations"),
            **{split: _systems(measure) for split, measure in SPLITS.items()},
            **_used(),
        },
        "vocabulary": _vocabulary(),
        "operon": _plain("Operon", "operon"),
        "tests": _tests(),
        "later": _later(),
        "cost": {name: (usd[FRAMEWORKS[name], "surfaces"], 2) for name in ON_SURFACES}
        | {"systems": (usd[FRAMEWORKS["symbolbench_loop"], "cde"], 2)},
        "widest": (max(interval.high - interval.low for interval in widths), ".2f"),
        "dose": _dose(),
        "memory": _memory(),
        "seeded": _seeded(),
        "priors": _priors(),
        "thoughts": _thoughts(),
    }


def place(value: float, low: float, high: float) -> str:
    """Where a printed value is, seen from an interval.

    Examples
    --------
    >>> place(0.3, 0.1, 0.2), place(0.15, 0.1, 0.2), place(0.0, 0.1, 0.2)
    ('above', 'inside', 'below')
    """
    return "above" if value > high else "below" if value < low else "inside"


def _row(name: str, **where: Any) -> pd.Series:
    return one(table(name).astype({"subset": str}), **where)


def _interval(row: pd.Series) -> Interval:
    return Interval(row["value"], row["low"], row["high"])


def _framework(framework: str) -> dict[str, Any]:
    """Symbolic accuracy of both controls and of the best printed model, by representation."""
    found = {}
    for subset in ("explicit", "implicit"):
        where = {"framework": framework, "subset": subset, "measure": "symbolic accuracy"}
        rows = {name: _row("loops_surfaces", proposer=label, **where) for name, label in PROPOSERS.items()}
        printed = one(printed_surfaces(), proposer=BEST, **where)["value"]
        genetic = rows["genetic"]
        found[subset] = {name: (_interval(row), ".2f") for name, row in rows.items()} | {
            "printed": (printed, ".2f"),
            "place": place(printed, genetic["low"], genetic["high"]),
            "difference": (printed - genetic["value"], "+.2f"),
        }
    return found


def _used() -> dict[str, Any]:
    """How many systems the runs of SymbolBench's loop tried, and how many runs ended in the first round."""
    runs = table("loops_runs").query("framework == @FRAMEWORKS['symbolbench_loop']")
    tried = runs.set_index([*ARM, "problem", "seed"])["evaluations"].unstack("proposer")
    genetic = tried[PROPOSERS["genetic"]]
    loop = method("symbolbench_loop").settings
    first = (tried <= loop["calls"] * loop["samples"]).all(axis=1)  # a round
    return {
        "used.median": genetic.median(),
        "used.mean": (genetic.mean(), ".0f"),
        "used.all": (genetic == setting(NOTEBOOK, "system_evaluations")).sum(),
        "used.first": f"{first.sum()} of {len(tried)}",
    }


def _vocabulary() -> dict[str, int]:
    """Explicit surfaces whose truth has a function that no control may write, and those that it cannot be made of."""
    called = [
        set(re.findall(r"([A-Za-z_]\w*)\(", " ".join(problem(id).truth.values())))
        for id in problems("surfaces", "explicit")
    ]
    outside = [names - set(OPERATORS) for names in called]
    return {
        "explicit": len(called),
        "other_functions": sum(map(bool, outside)),
        "unwritable": sum(bool(names - MADE_OF_EXP) for names in outside),
    }


def _systems(measure: str) -> dict[str, Any]:
    """SR2 of both controls in SymbolBench's loop, and the best that is printed, by number of states."""
    printed = printed_systems().query("measure == @measure").set_index("subset")["value"]
    rows = table("loops_systems").astype({"subset": str}).set_index("subset")
    rows = rows[(rows["framework"] == FRAMEWORKS["symbolbench_loop"]) & (rows["measure"] == measure)]
    genetic, grammar = (rows[rows["proposer"] == PROPOSERS[name]] for name in ("genetic", "grammar"))
    return {
        "next": {n: f"[{row['next_low']:.1f}, {row['next_high']:.1f}]" for n, row in genetic.iterrows()},
        **{n: (value, ".1f") for n, value in genetic["value"].items()},
        "interval": {n: f"[{row['low']:.1f}, {row['high']:.1f}]" for n, row in genetic.iterrows()},
        "printed": {n: (printed[n], ".1f") for n in genetic.index},
        **_printed_beside(printed, genetic),
        "grammar": _printed_beside(printed, grammar),
    }


def _printed_beside(printed: pd.Series, control: pd.DataFrame) -> dict[str, Any]:
    """How often the printed value is above a control's, and for how many states it is off where one run more lies."""
    by_seeds = {n: place(printed[n], row["next_low"], row["next_high"]) for n, row in control.iterrows()}
    off = {f"next_{end}": listed(int(n) for n, found in by_seeds.items() if found == end) for end in ("above", "below")}
    return off | {"ahead": (sum(printed[n] > value for n, value in control["value"].items()), "word")}


def _plain(label: str, method: str) -> dict[str, Any]:
    """Symbolic accuracy of plain genetic programming on explicit surfaces, with both budgets."""
    budgets = {"": setting(NOTEBOOK, "evaluations"), "more": setting(NOTEBOOK, "more_evaluations")[method]}
    where = {"framework": PLAIN, "subset": "explicit", "measure": "symbolic accuracy"}
    rows = {
        name: _row("loops_surfaces", proposer=f"{label}, {count:,}", **where)["value"]
        for name, count in budgets.items()
    }
    more = {"evaluations": budgets["more"], "explicit": (rows["more"], ".2f")}
    return {"explicit": (rows[""], ".2f"), "more": more}


def _tests() -> dict[str, Any]:
    """Genetic operators against the grammar in the errors on surfaces: how often they differ, and which way."""
    tests = table("loops_tests").query("measure == 'nmse_release'")
    tests = tests[tests["b"].str.endswith(PROPOSERS["grammar"])]
    clear = tests["p_holm"] < recorded.CLEAR
    return {
        "grammar": (len(tests), "word"),
        "ahead": ((clear & (tests["rank_biserial"] < 0)).sum(), "word"),
        "behind": ((clear & (tests["rank_biserial"] > 0)).sum(), "word"),
    }


def _later() -> dict[str, Any]:
    """Shares of runs that improve after the early samples."""
    rows = table("loops_later")
    found = {
        key: {
            name: (one(rows, framework=FRAMEWORKS[key], proposer=label)["improved"], ".0%")
            for name, label in PROPOSERS.items()
        }
        for key in ON_SURFACES
    }
    public = one(rows, framework=FRAMEWORKS["llm_sr"], proposer=PUBLIC)
    share = (public["improved"], ".0%")
    return found | {"public": {"runs": (public["runs"], "word"), "share": share, "decades": (public["decades"], 2)}}


def _dose() -> dict[str, Any]:
    """Small models in the loops: how much they were asked, and what came of it."""
    models = {model_name(model): key for model, key in zip(setting(NOTEBOOK, "dose_models"), SIZES, strict=True)}
    doses = {(dose["method"], study_of(dose["problems"][0])): dose for dose in setting(NOTEBOOK, "dose")}
    rows, found = table("loops_dose").set_index(ARM), dict[str, Any]()
    for name, study in doses:
        framework = (FRAMEWORKS | OTHERS)[name] + ON.get(study, "")
        found["_".join([name, study] if study in ON else [name])] = {
            key: (rows.loc[framework, model]["valid"], ".0%")
            for model, key in models.items()
            if (framework, model) in rows.index  # those that were asked
        }
    said = table("loops_dose_replies").set_index(ARM)
    cut = said.loc[FRAMEWORKS["symbolbench_loop"], "cut"]
    tests = table("loops_dose_tests").set_index("condition")
    against = tests[tests["a"].isin(models)]
    worse = against["rank_biserial"] * np.where(against["measure"] == "nmse_release", 1, -1)
    behind = ((worse == 1) & (against["n_zeros"] == 0)).groupby(level=0, sort=False).all()  # on every problem
    where = {
        "framework": FRAMEWORKS["symbolbench_loop"] + ON["boolean"],
        "measure": "informedness, out of distribution",
    }
    informed = one(table("loops_dose_scores"), **where)
    values, posed = table("loops_dose_by_problem"), {key: len(dose["problems"]) for key, dose in doses.items()}
    return found | {
        "surfaces": (posed["llm_sr", "surfaces"], "word"),
        "surface_samples": doses["llm_sr", "surfaces"]["samples"],
        "first": (posed["openevolve", "surfaces"], "word"),
        "systems": (posed["symbolbench_loop", "cde"], "word"),
        "system_samples": doses["symbolbench_loop", "cde"]["samples"],
        "networks": (posed["symbolbench_loop", "boolean"], "word"),
        "graphs": (posed["symbolbench_loop", "causal"], "word"),
        "informedness.control": (informed[list(PROPOSERS.values())].max(), ".2f"),
        "informedness.model": (informed[list(models)].max(), ".2f"),
        "tokens": setting(NOTEBOOK, "dose_tokens"),
        "hours": ((said["replies"] * said["seconds"]).sum() / 3600, ".1f"),
        "cut.symbolbench_loop": {models[name]: (share, ".0%") for name, share in cut.items()},
        "behind": " and ".join(behind.index[behind]),
        "recovered": (int(values["symbolic_accuracy"].sum()), "word"),
        "p_holm": (tests["p_holm"].min(), 2),
        "alone": _alone(values[values["study"] == "surfaces"], list(models)),
    }


def _alone(values: pd.DataFrame, models: list[str]) -> dict[str, Any]:
    """Errors on surfaces with models, of loops that answer without proposals: smaller than without, or the same."""
    wide = values.pivot(index=["framework", "problem"], columns="proposer", values="nmse_release").clip(lower=FLOOR)
    alone = wide[ALONE["none"]]
    ratio = wide[models].div(alone, axis=0)[np.isfinite(alone)].stack()
    same = np.isclose(ratio, 1, rtol=SAME)
    return {"answers": len(ratio), "smaller": int(((ratio < 1) & ~same).sum()), "same": int(same.sum())}


def _memory() -> dict[str, Any]:
    """Laws with their names and in disguise: the most that any proposer fits, and solves."""
    rows = table("loops_memory").set_index("measure")[["named", "disguised"]]
    most = {key: (int(rows.loc[measure].max(axis=None)), "word") for key, measure in ON_LAWS.items()}
    return {
        "laws": (len(setting(NOTEBOOK, "memory_laws")), "word"),
        "samples": (setting(NOTEBOOK, "memory")["llm_sr"], "word"),
        "solved": most["symbolic_solution"],
        "fitted": most["r2_accuracy"],
    }


def _seeded() -> dict[str, Any]:
    """Searches that begin with a model's answers: how many, SR2 of each start, and the three tests."""
    systems, counts = recorded.seeded_systems(), recorded.seeded_counts()
    tests = recorded.seeded_tests(systems)
    value, low, high = recorded.seeded_summary(systems)
    ends = zip(recorded.STARTS, value["SR2, mean"], low["SR2, mean"], high["SR2, mean"], strict=True)
    table6 = published("symbolbench_table6").query("metric == 'sr2' and split == 'id'").set_index("method")["value"]
    found = {name.replace(" ", "_"): (Interval(*found), ".1f") for name, *found in ends}
    medians = {name: (median, ".1f") for name, median in zip(found, value["SR2, median"], strict=True)}
    plain = ("first", "planted", "smallest", "largest", "searches", "improved", "failed")
    return found | {
        **{name: counts[name] for name in plain},
        "noise": (derive.NOISE, ".0%"),
        "best": (derive.BEST, "word"),
        "systems": (counts["systems"], "word"),
        "seeds": (counts["seeds"], "word"),
        "states": (counts["states"], "word"),
        "median": medians,
        "against": {
            name.replace(" ", "_"): recorded.side(row.p_holm, row.rank_biserial)
            for name, row in zip(recorded.QUESTIONS, tests.itertuples(), strict=True)
        },
        "p": {name.replace(" ", "_"): (p, 2) for name, p in zip(recorded.QUESTIONS, tests["p_holm"], strict=True)},
        "printed": {
            "gplearn": (float(table6["GPLearn"]), ".1f"),
            "model": (float(table6["GPT-4o-mini"]), ".1f"),
            "seeded": (float(table6["LLM-as-Predictor + GPLearn"]), ".1f"),
            "systems": recorded.COUNTS["table6"]["systems"],
        },
    }


def _priors() -> dict[str, Any]:
    """Problems with a smaller and a larger error by each text in the prompt."""
    about, rows = recorded.COUNTS["priors"], recorded.priors().reset_index()
    everywhere = rows[rows["among"] == "all problems"].set_index("level")
    found = {
        level.replace(" ", "_"): {name: int(row[name]) for name in ("better", "worse", "pairs")}
        | {"p": (row["p"], 2), "p_holm": (row["p_holm"], 2)}
        for level, row in everywhere.iterrows()
    }
    alone = rows[rows["among"] != "all problems"]
    ends = {
        f"alone.{name}.{end}": getattr(alone[name], end)() for name in ("better", "worse") for end in ("min", "max")
    }
    largest = rows.loc[rows["text"] == rows["text"].iloc[0], "p_holm"].max()
    counts = {"runs": about["runs"], "problems": about["problems"], "levels": (about["levels"], "word")}
    return found | ends | counts | {"largest": (largest, 2)}


def _thoughts() -> dict[str, Any]:
    """Least and largest share of candidates that the thinking text adds, and of how many models."""
    share = recorded.thoughts()["share"]
    return {"least": (share.min(), ".0%"), "most": (share.max(), ".0%"), "models": (len(share), "word")}

"""What README, paper and essays state of surfaces in numbers."""

import json
from typing import Any

import pandas as pd

from ...problems import problem, problems
from ...report.ablations import FIRST, NOW, key
from ...report.facts import Interval, next_best, one, recovered_within, setting, table
from ...report.names import in_words
from ...report.papers import published
from ...report.plots import display_name, order
from ...report.trials import results

EARLY = {"1": 1_000_000, "first_table": 1_100_000, "30": 30_000_000}  # evaluations; the table is complete at the second


def facts() -> dict[str, Any]:
    """Name -> value, or value and form."""
    runs, tests, recovery = (table(f"surfaces_{name}") for name in ("runs", "tests", "recovery"))
    sizes = table("surfaces_scores").groupby("subset")["problem"].nunique()
    cells = table("surfaces_ledger").groupby(["table", "verdict"]).size()
    pair = one(tests, a="polynomial", b="operon")
    printed = published("surfacebench_table1")
    classical = printed["backbone"] == ""
    best = printed.query("representation == 'implicit' and metric == 'nmse'")["value"].astype(float).min()
    same = _copied()
    noise, special = (setting("10_surface_benchmark", name) for name in ("relative_noise", "evaluations_by_method"))
    kinds = table("surfaces_recovery_by_kind")
    return {
        "count": sizes.sum(),
        **sizes,
        "subsets": (len(sizes), "word"),
        "implicit.one": (1 / sizes["implicit"], ".2f"),
        "implicit.two": (2 / sizes["implicit"], ".2f"),
        "implicit.multivalued": sum("multivalued" in problem(id).flags for id in problems("surfaces", "implicit")),
        "runs.ok": (runs["status"] == "ok").sum(),
        "claims": (len(table("surfaces_claims")), "word"),
        "table1.reproduced": cells.get(("Table 1", "reproduced"), 0),
        "table1.differs": cells.get(("Table 1", "differs"), 0),
        "table5.reproduced": cells["Table 5", "reproduced"],
        "printed.classical": (printed[classical]["method"].nunique(), "word"),
        "printed.frameworks": (printed[~classical]["method"].nunique(), "word"),
        "printed.models": (printed[~classical]["backbone"].nunique(), "word"),
        "printed.implicit_nmse": (best, ".2f"),
        "printed.copied": (same.sum(), "word"),
        "printed.copyable": (len(same), "word"),
        "noise.low": (100 * noise[1], ".0f"),
        "noise.middle": (100 * noise[2], ".0f"),
        "noise.high": (100 * noise[3], ".0f"),
        "noise.surfaces": (table("surfaces_noise_scores")["problem"].nunique(), "word"),
        "seeds": (len(setting("10_surface_benchmark", "seeds")), "word"),
        "noise.others": _others_with_noise(),
        "noise.seeds": (len(setting("10_surface_benchmark", "noise_seeds")), "word"),
        "evaluations.bidirectional": (special["bidirectional"] / 1e6, ".0f"),
        **{f"recovered.{kind}": _recovered(part) | _variants(kind) for kind, part in kinds.groupby("subset")},
        **{f"printed.{kind}": (100 * share, ".0f") for kind, share in _best_printed().items()},
        "within": {
            name: recovered_within("surfaces", "symbolic_accuracy", problems("surfaces", "explicit"), evaluations)
            for name, evaluations in EARLY.items()
        },
        "less.regularised_evolution.explicit": _with_less("PySR", "explicit"),
        "less.regularised_evolution.parametric": _with_less("PySR", "parametric"),
        "less.udsr.explicit": _with_less("uDSR", "explicit"),
        "recovered.noisy_0": _recovered_noisy(noise[0]),
        "recovered.noisy": _recovered_noisy(noise[1]),
        **{f"recovered.noisy_{100 * level:.0f}": _recovered_noisy(level) for level in noise[2:]},
        "recovered.best": recovery.query("method != 'oracle'")["recovered"].max(),
        "nmse": {name: _explicit_nmse(name) for name in ("polynomial", "operon")},
        "polynomial.effect": pair["rank_biserial"],
        "polynomial.p": pair["p_holm"],
        "polynomial.pairs": pair["n_pairs"],
        "mean.nmse_variance": (_of_the_mean(2, "harmonised_mean", "nmse_variance"), ".0f"),
        "mean.nmse_release": (_of_the_mean(2, "released_mean", "nmse_release"), ".2f"),
        "mean.nmse_release_median": _of_the_mean(2, "released_median", "nmse_release"),
        "mean.chamfer_mean": (_of_the_mean(1, "released_mean", "chamfer_distance", subset="explicit"), ",.0f"),
        "mean.chamfer_median": _of_the_mean(1, "released_median", "chamfer_distance", subset="explicit"),
    }


def _recovered(rows):
    """Method -> per cent recovered with its interval; next_best: of the others the best."""
    cells = rows[["method", "share", "low", "high"]].rename(columns={"share": "value"})
    cells[["value", "low", "high"]] *= 100
    found = {row.method: (Interval(row.value, row.low, row.high), ".0f") for row in cells.itertuples()}
    others = cells[~cells["method"].str.startswith("bidirectional.")]
    other = next_best(others) if len(others) else {}
    return found | ({"next_best": (other["value"], ".0f"), "next_best.method": other["method"]} if other else {})


def _variants(kind):
    """The method of our own as first recorded and without a part: per cent recovered from exact data with interval."""
    own = table("surfaces_own").query("subset == @kind and noise == 0")
    own = own[own["variant"] != NOW]
    return _recovered(own.assign(method="bidirectional." + own["variant"].map(key)))


def _recovered_noisy(level):
    """Method -> how many surfaces are recovered from targets with that noise, in words; also as first recorded."""
    scores = table("surfaces_noise_scores").query("noise == @level")
    found = scores.groupby("method")["symbolic_accuracy"].sum()
    own = table("surfaces_own_scores").query("noise == @level and problem in @scores.problem")
    own = own[own["variant"] == FIRST].groupby("variant")["symbolic_accuracy"].sum()
    both = found.to_dict() | {f"bidirectional.{key(variant)}": count for variant, count in own.items()}
    other = next_best(found.rename("value").reset_index().assign(low=0.0, high=0.0))
    both["next_best"] = other["value"].value
    # Where none finds any, all are equal, and the best of them has no name.
    best = {"next_best.method": other["method"] if both["next_best"] else "no method"}
    return {name: (count, "word") for name, count in both.items()} | best


def _with_less(label, kind):
    """Per cent recovered with a tenth of the evaluations, the mean of three seeds: a trial of the ledger."""
    trials = pd.read_csv(results("surfaces")).query("row == @label and column == @kind + ' symbolic_accuracy'")
    values = json.loads(one(trials, trial="draws_pysr" if label == "PySR" else "draws_dsr")["values"])
    return 100 * sum(values) / len(values), ".0f"


def _others_with_noise():
    """The methods beside our own that ran on targets with noise, by name."""
    ran = order(table("surfaces_noise_scores").query("noise > 0 and method != 'bidirectional'")["method"].unique())
    return in_words(map(display_name, ran))


def _best_printed():
    """Representation -> the highest symbolic accuracy of Tables 1 and 2."""
    cells = pd.concat([published("surfacebench_table1"), published("surfacebench_table2")])
    cells = cells[cells["metric"] == "symbolic_accuracy"]
    return cells["value"].astype(float).groupby(cells["representation"]).max()


def _of_the_mean(number, kind, column, **where):
    return one(table(f"surfaces_table{number}_{kind}"), method="mean", **where)[column]


def _explicit_nmse(method):
    medians = table("surfaces_table1_harmonised_median_intervals")
    return Interval(*one(medians, subset="explicit", method=method, metric="nmse_variance")[["value", "low", "high"]])


def _copied():
    """For each cell of OpenEvolve in Table 2, whether it equals the implicit one of Table 1."""
    first, second = (published(f"surfacebench_table{n}").query("method == 'OpenEvolve'") for n in (1, 2))
    both = second.merge(first[first["representation"] == "implicit"], on=["method", "backbone", "metric"])
    return both["value_x"] == both["value_y"]

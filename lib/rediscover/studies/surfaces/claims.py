"""Verdicts on the claims of SurfaceBench, each from the statistic that its notebook prints right before.

`means` is Table 1 with Table 2, as printed or as run here (`analysis.means`): index method and backbone as printed (no
backbone: not a language model), columns representation and metric. `printed` asks the same of the paper's own numbers.
"""

import itertools

import pandas as pd

from ...report.ledger import Judged, above, more
from ...report.papers import published
from ...report.statistics import paired_wilcoxon
from ...report.tables import CONTROLS
from .analysis import PRINTED

ERRORS = ("nmse", "chamfer", "hausdorff")
DISTANCES = ("chamfer", "hausdorff")
FEW = 0.1  # share of surfaces up to which few are recovered: the largest that Table 2 prints
ORDER = ("PySR", "TPSR", "uDSR", "E2E", "DSR", "gplearn", "NeSymReS")  # of SB-05


def _groups(means: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of language models, and of the paper's other methods."""
    language = means.index.get_level_values("backbone") != ""
    return means[language], means[~language & means.index.isin(ORDER, level="method")]


def _needs(means: pd.DataFrame) -> str:
    """Which of both kinds of rows are there, for a claim that needs both."""
    language, others = _groups(means)
    names = ", ".join(others.index.get_level_values("method")) or "none"
    return f"needs rows of language models ({len(language)} here) and of the paper's other methods (here {names})"


def _shares(means: pd.DataFrame) -> pd.DataFrame:
    return means.xs("symbolic_accuracy", axis=1, level="metric")


def sb_01(means: pd.DataFrame) -> Judged:
    """Few are recovered, by language models no more: cells are representations."""
    language, others = (_shares(part).mean().dropna() for part in _groups(means))
    both = [kind for kind in language.index if kind in others]
    cells = [language[kind] <= others[kind] for kind in both] + [max(language[k], others[k]) <= FEW for k in both]
    shown = "; ".join(f"{kind} {share:.1%}" for kind, share in _shares(_groups(means)[1]).max().dropna().items())
    return Judged(cells, f"{_needs(means)}; most recovered by one of the latter: {shown or 'none'}")


def sb_02(means: pd.DataFrame) -> Judged:
    """Explicit surfaces are recovered more often than implicit ones: cells are methods."""
    shares = _shares(means)[["explicit", "implicit"]].dropna()
    cells = [more(row.explicit, row.implicit) for row in shares.itertuples()]
    return Judged(cells, f"explicit above implicit for {cells.count(True)} of {len(cells)} methods, {_other(cells)}")


def _other(cells: list) -> str:
    return f"below for {cells.count(False)}, equal for {cells.count(None)}"


def sb_03(means: pd.DataFrame, scaled: pd.DataFrame | None = None) -> Judged:
    """Implicit surfaces are nearer: cells are methods and distances, in means as printed and, here, scaled medians.

    Columns of `scaled`: representation and distance, medians on clouds scaled by the diagonal; index: method.
    """
    parts = {"means as released": means[list(itertools.product(["explicit", "implicit"], DISTANCES))].dropna()}
    if scaled is not None:
        parts["medians of scaled clouds"] = scaled.dropna()
    found = {
        name: [
            more(row["explicit", distance], row["implicit", distance])
            for _, row in part.iterrows()
            for distance in part.columns.unique(1)
        ]
        for name, part in parts.items()
    }
    shown = ", ".join(f"in {cells.count(True)} of {len(cells)} {name}" for name, cells in found.items())
    return Judged(itertools.chain(*found.values()), f"implicit is nearer {shown}")


def sb_04(means: pd.DataFrame) -> Judged:
    """PySR has the lowest explicit errors: cells are errors."""
    explicit = means["explicit"].droplevel("backbone")[list(ERRORS)]
    rows = explicit[explicit.index.isin(published("surfacebench_table1")["method"])]
    others = rows.drop("PySR", errors="ignore")
    if "PySR" not in rows.index or not len(others):
        return Judged([], f"needs PySR and others of Table 1 (here {', '.join(rows.index)})")
    shown = ", ".join(f"{name} {value:.3g}" for name, value in others["nmse"].items())
    cells = [(rows.loc["PySR", e] < others[e]).all() for e in ERRORS]
    return Judged(cells, f"explicit NMSE as released: PySR {rows.loc['PySR', 'nmse']:.3g}, {shown}")


def sb_05(means: pd.DataFrame) -> Judged:
    """The order of seven methods by explicit NMSE: cells are pairs."""
    errors = _groups(means)[1].droplevel("backbone")["explicit", "nmse"].dropna()
    present = [name for name in ORDER if name in errors]
    cells = [more(errors[b], errors[a]) for a, b in itertools.combinations(present, 2)]
    return Judged(cells, f"{cells.count(True)} of {len(cells)} pairs in the printed order; here {', '.join(present)}")


def sb_06(means: pd.DataFrame) -> Judged:
    """OpenEvolve leads the language models on explicit surfaces: cells are metrics, of the best row each."""
    rows = _groups(means)[0]["explicit"]
    best = {
        m: rows[m].groupby(level="method").max() if m == "symbolic_accuracy" else -rows[m].groupby(level="method").min()
        for m in PRINTED
    }
    cells = [
        more(values["OpenEvolve"], values.drop("OpenEvolve").max())
        for values in best.values()
        if "OpenEvolve" in values and len(values) > 1
    ]
    return Judged(cells, f"needs rows of OpenEvolve and of another framework; {len(rows)} rows of language models here")


def sb_07(means: pd.DataFrame) -> Judged:
    """Every other method fits explicit surfaces better than every language model: cells are errors."""
    language, others = (part["explicit"] for part in _groups(means))
    cells = [others[e].max() < language[e].min() for e in ERRORS] if len(language) and len(others) else []
    shown = ", ".join(f"{name} {value:.3g}" for (name, _), value in others["nmse"].items())
    return Judged(cells, f"{_needs(means)}; explicit NMSE as released of the latter: {shown or 'none'}")


def sb_08(gains: pd.DataFrame, refitted: int, recovered: int) -> Judged:
    """Constants are badly fitted; `refitted`: how many answers, `recovered`: how many more of them then.

    Index of `gains`: score, each a cell; columns: share (of answers whose score falls by more than 1 %) with its
    Wilson interval (low, high), rank_biserial. Often is in most answers.
    """
    parts = [
        f"{name} falls by more than 1 % in {gain.share:.0%} of {refitted} (effect {gain.rank_biserial:+.2f})"
        for name, gain in gains.iterrows()
    ]
    cells = [above(gain.low, gain.high, 0.5) for gain in gains.itertuples()]
    return Judged(cells, "; ".join(parts) + f"; {recovered} more are recovered")


def sb_09(means: pd.DataFrame, answered: pd.Series | None = None) -> Judged:
    """Recovery of parametric surfaces is low: cells are methods; `answered`: whether each answered every task.

    That only two methods can return coupled outputs is no cell: here every method does, one coordinate at a time.
    """
    rates = _shares(means).get("parametric", pd.Series(dtype=float)).dropna()
    finding = f"recovery is {rates.min():.2f} to {rates.max():.2f}, published 0.02 to 0.10"
    if answered is not None:
        finding += f"; {answered.sum()} of {len(answered)} generic methods answer every task, one coordinate at a time"
    return Judged(rates <= FEW, finding)


def _priors(table3: pd.DataFrame, condition: str) -> pd.DataFrame:
    """With and without priors; index of `table3`: method, representation, metric; columns: conditions."""
    return table3.reindex(columns=["without_priors", condition]).dropna()


def sb_10(table3: pd.DataFrame) -> Judged:
    """Correct priors bring language models nearer: cells are methods, representations and distances."""
    cells = [more(row.without_priors, row.with_priors) for row in _priors(table3, "with_priors").itertuples()]
    return Judged(cells, f"needs frameworks of language models run with correct priors and without: {len(cells)} pairs")


def sb_11(table3: pd.DataFrame, means: pd.DataFrame) -> Judged:
    """With priors still behind every other method: cells are methods, representations and distances."""
    others = _groups(means)[1]
    pairs = [(row, others[kind, metric].max()) for (_, kind, metric), row in _priors(table3, "with_priors").iterrows()]
    cells = [more(row["with_priors"], worst) for row, worst in pairs if len(others)]
    return Judged(cells, f"needs frameworks of language models run with priors: {len(pairs)} rows; {_needs(means)}")


def sb_12(table3: pd.DataFrame) -> Judged:
    """Wrong priors move language models away: cells as in SB-10."""
    cells = [more(row.wrong_priors, row.without_priors) for row in _priors(table3, "wrong_priors").itertuples()]
    return Judged(cells, f"needs frameworks of language models run with wrong priors and without: {len(cells)} pairs")


def sb_13(medians: pd.DataFrame) -> Judged:
    """Noise makes errors larger; `medians`: method (each a cell) by relative noise, NMSE on clean test data."""
    least, most = medians.columns[0], medians.columns[-1]
    cells = [more(row[most], row[least]) for _, row in medians.iterrows()]
    finding = (
        f"median NMSE on clean test data is larger at {most:.0%} noise than at {least:.0%} "
        f"for {cells.count(True)} of {len(medians)} methods, {_other(cells)}"
    )
    return Judged(cells, finding)


def sb_14(ratios: pd.DataFrame) -> Judged:
    """Methods are worse out of the domain than a constant is: cells are methods, by a signed-rank test.

    A larger cloud is farther from everything, so distances are scaled by its diagonal, and what a control loses by
    leaving the domain is no failure of a method. Index of `ratios`: problem and seed; columns: method; values: scaled
    Hausdorff distance out of the domain over that in it.
    """
    if "mean" not in ratios:
        return Judged([], "needs the mean, which this selection of methods leaves out")
    cells, shown = [], []
    for name in ratios.columns.drop([c for c in CONTROLS if c in ratios]):
        pairs = ratios[[name, "mean"]].dropna()
        if pairs.empty:  # a method of other problems
            continue
        test = paired_wilcoxon(pairs[name], pairs["mean"])
        cells.append(None if test["p"] >= 0.05 else test["effect"] > 0)
        shown.append(f"{name} larger in {(ratios[name].dropna() > 1).mean():.0%}, effect {test['effect']:+.2f}")
    constant = (ratios["mean"].dropna() > 1).mean()
    finding = (
        f"scaled Hausdorff distance out of domain against in it, and out over in against that of the mean, for "
        f"which it is larger on {constant:.0%} of surfaces: {'; '.join(shown)}"
    )
    return Judged(cells, finding)


def sb_15(failures: pd.DataFrame) -> Judged:
    """Language models fail in fitting, not in the family; index of `failures`: method as printed and backbone.

    Columns: shares of explicit answers, of them "fitting error" and "search error"; cells are rows of language models.
    """
    language = failures[failures.index.get_level_values("backbone") != ""]
    others = failures.drop(language.index)["search error"]
    cells = [more(row["fitting error"], row["search error"]) for _, row in language.iterrows()]
    finding = (
        f"needs answers of language models ({len(language)} rows here); of the other methods' explicit answers "
        f"{others.min():.0%} to {others.max():.0%} are search errors"
    )
    return Judged(cells, finding)


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    tables = [published(f"surfacebench_table{number}").astype({"value": float}) for number in (1, 2)]
    means = pd.concat(tables).pivot(index=["method", "backbone"], columns=["representation", "metric"], values="value")
    table3 = published("surfacebench_table3").astype({"value": float})
    table3 = table3.pivot(index=["method", "representation", "metric"], columns="condition", values="value")
    of_means = {1: sb_01, 2: sb_02, 3: sb_03, 4: sb_04, 5: sb_05, 6: sb_06, 7: sb_07, 9: sb_09}
    found = {f"SB-{number:02d}": judge(means).cells for number, judge in of_means.items()}
    return found | {"SB-10": sb_10(table3).cells, "SB-11": sb_11(table3, means).cells, "SB-12": sb_12(table3).cells}

"""How much of a comparison is the budget: the same methods with a thousand to a million evaluations.

Notebook 60 shows all studies beside each other, the notebook of a study its own problems: the runs are the same.
"""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from ... import runs
from ...params import read
from ...report import Output, plots
from ...report.summaries import interval
from ...system.committed import committed
from . import definitions
from .grids import grids
from .params import CrossScoring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"srsd": "laws", "surfaces": "explicit surfaces", "odes": "ordinary equations", "cde": "cde", "pdes": "fields"}
SHIFT = 1.12  # methods at one budget stand side by side


def recoveries(p: CrossScoring, store: Path | None = None) -> pd.DataFrame:
    """`definitions.recoveries` of every method with every number of evaluations, which are a column of their own.

    Finished runs are kept in `store` or, without one, in that of notebook 60.
    """
    store, parts = store or p.store, []
    for name, grid in grids(p).items():
        if name == "problems":
            continue
        ran = runs.grid(**grid | {"store": store})
        ran = ran[ran["status"] != "unavailable"]
        spent = ran["method"].map(grid["evaluations"]).to_numpy()
        found = definitions.recoveries(ran, grid["problems"], store=store)
        parts.append(found.assign(evaluations=spent))
    return pd.concat(parts, ignore_index=True)


def of_study(study: str, profile: str, store: Path) -> pd.DataFrame:
    """`by_budget` of one study's problems among those of notebook 60.

    Parameters
    ----------
    study : ``srsd``, ``surfaces`` or ``odes``, as ids of problems begin.
    profile : whose parameters of notebook 60 are taken.
    store : file that keeps finished runs; of the notebook that asks, so that none waits for another.

    Raises
    ------
    ValueError
        If none of them is of the study.
    """
    path = committed("params") / f"{CrossScoring.notebook}.yaml"
    p = cast(CrossScoring, read(path, profile))
    ids = [id for id in p.budget_problems if id.startswith(f"{study}/")]
    if not ids:
        raise ValueError(f"{path.name}: budget_problems of the {profile} profile has none of {study!r}")
    return by_budget(recoveries(p.model_copy(update={"budget_problems": ids}), store))


def by_budget(recovered: pd.DataFrame) -> pd.DataFrame:
    """What methods reach with their evaluations, on the problems of each study.

    Parameters
    ----------
    recovered : DataFrame
        Columns study, method, evaluations, problem, seed, nmse_per_output and recovered, as `definitions.recovery` has
        them.

    Returns
    -------
    DataFrame
        A row for each study, method and number of evaluations: problems, seeds; recovered, low, high: the mean share,
        with a bootstrap interval over problems, whose seeds are averaged, and NaN where no rule says what is recovered;
        least, most: of the share, over seeds; error: the median over problems and seeds.
    """
    rows = []
    keys = ["study", "method", "evaluations"]
    for key, part in recovered.groupby(keys):
        known = part.dropna(subset="recovered")
        share = interval(known.groupby("problem", sort=False)["recovered"].mean())
        of_seeds = known.groupby("seed")["recovered"].mean()
        row = dict(zip(keys, key, strict=True)) | {"problems": share["n"], "seeds": len(of_seeds)}
        row |= {"recovered": share["value"], "low": share["low"], "high": share["high"]}
        row |= {"least": of_seeds.min(), "most": of_seeds.max()}
        rows.append(row | {"error": interval(part["nmse_per_output"].fillna(np.inf), np.median)["value"]})
    names = "study method evaluations problems seeds recovered low high least most error".split()
    return pd.DataFrame(rows, columns=names)


def draw(budgets: pd.DataFrame) -> "Figure":
    """Share recovered and median error against evaluations: of several studies a column each, of one two panels.

    Parameters
    ----------
    budgets : DataFrame
        From `by_budget`.
    """
    import matplotlib.pyplot as plt

    names = sorted(budgets["study"].unique(), key=list(TITLES).index)
    rows, columns, height = (2, len(names), 4.6) if len(names) > 1 else (1, 2, 2.8)
    figure, axes = plt.subplots(rows, columns, figsize=(7.5, height), sharex=True, squeeze=False)
    pairs = axes.T if len(names) > 1 else axes
    for (above, below), study in zip(pairs, names, strict=True):
        for place, (name, part) in enumerate(budgets[budgets["study"] == study].groupby("method")):
            look = {"color": plots.colour(name), "marker": plots.marker(name), "ms": 4}
            ends = [part["recovered"] - part["low"], part["high"] - part["recovered"]]
            apart = part["evaluations"] * SHIFT ** (place - 1.5)
            above.errorbar(apart, part["recovered"], yerr=ends, capsize=2, **look)
            error = part["error"].clip(plots.DECADES, 1 / plots.DECADES)
            below.plot(apart, error, label=plots.display_name(name), **look)
        above.set(title=TITLES[study] if len(names) > 1 else "", ylim=(-0.03, 1.03))
        below.set(xscale="log", yscale="log")
    for ax in axes[-1]:
        ax.set_xlabel("evaluations")
    pairs[0][0].set_ylabel("share recovered\n(higher is better)")
    pairs[0][1].set_ylabel("median NMSE, at least $10^{-9}$\n(lower is better)")
    plots.letter(axes.ravel())
    figure.legend(*pairs[0][1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def show(study: str, out: Output, figure: str, alt: str) -> None:
    """Print and draw `of_study` in a study's own notebook.

    With parameters changed by hand nothing is shown: none of them bears on these runs.

    Parameters
    ----------
    study : as for `of_study`
    out : of the notebook
    figure : name of its file
    alt : what it shows, in a sentence
    """
    if out.params.explored:
        print("as in the run with the profile's own parameters")
        return
    reached = of_study(study, out.params.profile, out.params.store)
    columns = ["method", "evaluations", "recovered", "low", "high", "least", "most", "error"]
    print(reached[columns].to_string(index=False, float_format="{:.2g}".format))
    with plots.style():
        drawn = draw(reached)
    out.figure(drawn, figure, alt=alt)

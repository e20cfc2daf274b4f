"""The verdict on SymbolBench's claim about causal graphs, with the tests behind it."""

import pandas as pd

from ...report.claim_cells import by_problem, by_tests, compare, family, spelt
from ...report.ledger import Judged, more
from ...report.papers import published

BASELINES = ("PCMCI", "LPCMCI", "j-PCMCI+")
LOWER = ("fdr", "shd")  # the measures in which less is better
FEWEST = 15  # graphs that a model and a baseline must both have
NAMES = {"gpt-4o-mini": "GPT-4o-mini"}  # as released -> as printed


def quietest(released: pd.DataFrame) -> pd.DataFrame:
    """The released runs (`derive.released`) on the least noise of each model, under labels; columns as of scores.

    The baselines saw series without noise, so more of it would be held against the models. Some have no such run.
    """
    least = released.groupby("model")["noise"].transform("min")
    kept = released[released["noise"] == least]
    both = kept.groupby("model")["reasoning"].transform("nunique") > 1
    name = kept["model"].replace(NAMES)
    return kept.assign(method=name.where(~both, name + " (" + kept["reasoning"] + " reasoning)"), seed=0)


def sy_02(released: pd.DataFrame, recorded: pd.DataFrame, best: float, printed: float, references: pd.Series) -> Judged:
    """Language models beat the paper's baselines: cells are models and baselines, F1 by pairs over the same graphs.

    Parameters
    ----------
    released : from `quietest`
    recorded : scores of the stored runs on series without noise, method as printed; no answer, no pair
    best, printed : F1 of the best printed language model (rule: pairs) and printed F1 of PCMCI (triples), in percent
    references : F1 by pairs of self_edges and complete_graph on all graphs, in percent
    """
    models, baselines = (100 * by_problem(frame, "f1_pairs") for frame in (released, recorded))
    rows = []
    for baseline in (name for name in BASELINES if name in baselines):
        for name in models:
            both = models[name].dropna().index.intersection(baselines[baseline].dropna().index)
            about = {"method": name.partition(" (")[0], "condition": ""}
            if len(both) >= FEWEST:
                rows.append(compare(models.loc[both, name], baselines.loc[both, baseline], (name, baseline), **about))
    tests, asked = family(rows), models.shape[1] * baselines.columns.isin(BASELINES).sum()
    noisy = released[released["noise"] > 0]
    names = ", ".join(sorted(noisy["method"].unique()))
    noise = f", which is {noisy['noise'].min():g} or more of {names}" if names else ""
    finding = (
        f"F1 by the models' rule (pairs) of released runs with the least noise that each model saw{noise}, where the "
        f"baselines' answers are on series without noise: {spelt(tests)}; {asked - len(rows)} of {asked} pairs of "
        f"model and baseline have fewer than {FEWEST} graphs and are left out; the best printed F1 is "
        f"{best:.1f} by that rule, by which self edges only have {references['self_edges']:.1f} and the complete graph "
        f"{references['complete_graph']:.1f}; printed F1 {printed:.1f} of PCMCI is by another rule (triples)"
    )
    return Judged(by_tests(tests), finding, tests)


def printed() -> dict[str, list]:
    """The cells by the paper's own numbers: the best language model against each baseline, in each measure."""
    rows = published("symbolbench_table4").query("metric in ('f1', 'precision', 'recall', 'fdr', 'shd')")
    values = rows["value"].astype(float) * rows["metric"].map(lambda name: -1 if name in LOWER else 1)
    rows = rows.assign(value=values)
    best = rows[~rows["model"].isin(BASELINES)].groupby("metric")["value"].max()
    others = rows[rows["model"].isin(BASELINES)]
    return {"SY-02": [more(best[row.metric], row.value) for row in others.itertuples()]}

"""What Table S16 states of the original ranges, from SRBench's own table of results (see `system.derived`)."""

import pandas as pd

from ...system.derived import Table
from ...system.upstream_files import fetch

RESULTS = ("cavalab/srbench", "docs/csv/groundtruth.csv")
LABELS = {"gplearn": "gplearn", "AFP": "AFP", "AFP_FE": "AFP-FE", "AIFeynman": "AI Feynman", "DSR": "DSR"}
RATE = "symbolic_solution_rate_(%)"


def srbench() -> pd.DataFrame:
    """Mean solution rates without noise of the methods of Table S16, over all problems and each group of SRBench's.

    Returns
    -------
    DataFrame
        Columns: method (as SRSD prints it), group (``all``, ``Feynman``, ``Strogatz``), problems (with a rate) and
        solution_rate (in per cent, mean over problems of the share of trials that solve one).
    """
    results = (
        pd.read_csv(fetch(*RESULTS)).query("target_noise == 0").assign(method=lambda t: t["algorithm"].map(LABELS))
    )
    groups = {"all": results, **dict(iter(results.groupby("data_group")))}
    rates = {name: group.groupby("method")[RATE].agg(["size", "mean"]) for name, group in groups.items()}
    found = pd.concat(rates, names=["group"]).rename(columns={"size": "problems", "mean": "solution_rate"})
    found = found.swaplevel().loc[list(LABELS.values())].reset_index()
    return found[["method", "group", "problems", "solution_rate"]]


TABLES = {"srbench": Table(srbench, RESULTS[0], RESULTS[1:])}

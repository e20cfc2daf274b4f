"""SRBench's rates of symbolic solutions, from its own table of results (see `system.derived`)."""

import pandas as pd

from ...system.derived import Table
from ...system.upstream_files import fetch

RESULTS = ("cavalab/srbench", "docs/csv/groundtruth.csv")
RATE = "symbolic_solution_rate_(%)"
PEERS = ("AFP", "AFP_FE", "AIFeynman", "DSR", "gplearn", "Operon")  # of which this package has an implementation


def _results() -> pd.DataFrame:
    names = {"algorithm": "method", "dataset": "problem", "target_noise": "noise", "data_group": "group"}
    return pd.read_csv(fetch(*RESULTS)).rename(columns=names | {RATE: "solution_rate"})


def rates() -> pd.DataFrame:
    """Mean rate of each method on each group of problems and at each level of noise.

    Returns
    -------
    DataFrame
        Columns: method, group (``Feynman`` or ``Strogatz``), noise, problems (with a rate), solution_rate (per cent).
    """
    grouped = _results().groupby(["method", "group", "noise"])["solution_rate"]
    return grouped.agg(problems="count", solution_rate="mean").reset_index()


def laws() -> pd.DataFrame:
    """Rate of each method that this package has too, on each problem and at each level of noise.

    Returns
    -------
    DataFrame
        Columns: method, problem (SRBench's name), noise, solution_rate (per cent of ten trials; NaN without a run).
    """
    found = _results().query("method in @PEERS").sort_values(["method", "problem", "noise"])
    return found[["method", "problem", "noise", "solution_rate"]].reset_index(drop=True)


TABLES = {"srbench_rates": Table(rates, RESULTS[0], RESULTS[1:]), "srbench_laws": Table(laws, RESULTS[0], RESULTS[1:])}

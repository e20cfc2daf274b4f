"""What runs that others recorded say of a model's part: answers as seeds, texts in the prompt, thinking text."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.stats import binomtest

from ...methods.gp_llm_seeded import BEST
from ...report.comparisons import paired_test, paired_tests
from ...report.statistics import holm
from ...report.summaries import interval, sr2_percent
from ...system import derived

COUNTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
CLEAR = 0.05  # corrected p below which two are told apart

STARTS = {  # of `derive.seeded`
    "model": "gpt-4o-mini's answers, then gplearn",
    "grammar": "a random grammar's answers, then gplearn",
    "random": "random programs, then gplearn",
    "model alone": "gpt-4o-mini's answers, no search",
    "grammar alone": "a random grammar's answers, no search",
}
QUESTIONS = {  # what the model's start is tested against, and what it would show to be ahead of it
    "random": "proposals help the search",
    "grammar": "it is the model's knowledge that helps",
    "model alone": "the search is worth having",
}


# ---- answers as seeds


def seeded_systems() -> pd.DataFrame:
    """SR2 of each system in percent, the mean over seeds.

    Returns
    -------
    DataFrame
        Index: system; columns: the keys of `STARTS`.
    """
    runs = derived.read("loops", "seeded_searches")
    runs["sr2"] = sr2_percent(runs["r2"])
    return runs.pivot_table(index="system", columns="start", values="sr2")[[*STARTS]]


def seeded_counts() -> pd.Series:
    """What entered the searches.

    Returns
    -------
    Series
        systems; states (the most of a system); seeds; first (the model's answers that are at the head of the pools)
        and planted (those of them that gplearn has functions for); smallest and largest, the candidates of a pool;
        searches that begin with the model's answers, improved (those that end above the best planted answer) and
        failed (those without a positive R2).
    """
    runs = derived.read("loops", "seeded_searches")
    alone, searched = (runs[runs["start"] == start].set_index("system") for start in ("model alone", "model"))
    return pd.Series(
        {
            "systems": len(alone),
            "states": runs["states"].max(),
            "seeds": searched["seed"].nunique(),
            "first": alone["candidates"].clip(upper=BEST).sum(),
            "planted": alone["planted"].sum(),
            "smallest": alone["candidates"].min(),
            "largest": alone["candidates"].max(),
            "searches": len(searched),
            "improved": (searched["r2"] > alone["r2"].reindex(searched.index)).sum(),
            "failed": (~(searched["r2"] > 0)).sum(),
        }
    )


def seeded_summary(systems: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Mean and median of SR2 over systems, and the ends of their 95 % intervals by bootstrap.

    Parameters
    ----------
    systems : DataFrame
        From `seeded_systems`.

    Returns
    -------
    three DataFrames, alike in shape
        Index: start; columns: SR2, mean and SR2, median.
    """
    found = {
        (STARTS[start], f"SR2, {name}"): interval(values, statistic)
        for start, values in systems.items()
        for name, statistic in (("mean", np.mean), ("median", np.median))
    }
    wide = pd.DataFrame(found).T
    value, low, high = (wide[end].unstack(sort=False).rename_axis("start") for end in ("value", "low", "high"))
    return value, low, high


def seeded_tests(systems: pd.DataFrame) -> pd.DataFrame:
    """The model's answers as seeds against the other starts that `QUESTIONS` names, paired over systems.

    Parameters
    ----------
    systems : DataFrame
        From `seeded_systems`.

    Returns
    -------
    DataFrame
        See `report.comparisons.paired_tests`; a and b are values of `STARTS`.
    """
    return paired_tests(
        paired_test(systems["model"], systems[other], (STARTS["model"], STARTS[other]), measure="SR2")
        for other in QUESTIONS
    )


def side(p_holm: float, rank_biserial: float) -> str:
    """Where the first of two starts is, by a paired test.

    Examples
    --------
    >>> side(0.01, 0.5), side(0.01, -0.5), side(0.2, 0.5)
    ('ahead of', 'behind', 'not told apart from')
    """
    return "not told apart from" if not p_holm < CLEAR else "ahead of" if rank_biserial > 0 else "behind"


def seeded_verdict(tests: pd.DataFrame) -> str:
    """What the rule of `derive.seeded` makes of the tests: a line for each question.

    Parameters
    ----------
    tests : DataFrame
        From `seeded_tests`.
    """
    lines = []
    for question, row in zip(QUESTIONS.values(), tests.itertuples(), strict=True):
        where = side(row.p_holm, row.rank_biserial)
        answer = "yes" if where == "ahead of" else "no"
        lines.append(f"{question}: {answer} ({where} {row.b}; corrected p {row.p_holm:.2g})")
    return "\n".join(lines)


# ---- counts from others' runs


def priors() -> pd.DataFrame:
    """Problems on which LLM-SR's error is smaller or larger with a text in the prompt than without it.

    Returns
    -------
    DataFrame
        Index: text, level (of the prompt), among (which problems). Columns: pairs, better, worse, decades (median
        change of the error), p (exact two-sided sign test, without pairs that are neither), p_holm (corrected for all
        rows).
    """
    rows = pd.DataFrame(COUNTS["priors"]["counts"]).set_index(["text", "level", "among"])
    rows = rows.astype({"pairs": float, "decades": float})
    tested = [binomtest(row.better, row.better + row.worse).pvalue for row in rows.itertuples()]
    return rows.assign(p=tested, p_holm=holm(np.asarray(tested)))


def thoughts() -> pd.DataFrame:
    """Candidates that SymbolBench's reader finds in whole replies, and how many of them the thinking text adds.

    Returns
    -------
    DataFrame
        Index: model. Columns: whole, behind (the thinking text), share (of additional candidates).
    """
    rows = pd.DataFrame(COUNTS["thoughts"]["counts"]).set_index("model")
    return rows.assign(share=rows["whole"] / rows["behind"] - 1)

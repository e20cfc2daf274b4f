"""What small language models do in the loops, beside both controls at equal samples."""

from typing import Any

import numpy as np
import pandas as pd

from ...problems.textbook import SUFFIX
from ...report.comparisons import paired_test, paired_tests
from ...report.summaries import interval, next_share, paired_shares
from .analysis import ARM, FLOOR, PROPOSERS, by_problem

MEASURES = {  # what is shown of a loop on the problems of a study; its arms are compared by the first
    "surfaces": ["nmse_release", "symbolic_accuracy"],
    "cde": ["sr2_id", "sr2_ood"],
    "boolean": ["informedness_pooled_ood", "rules_equivalent"],
    "causal": ["f1_directed", "f1_pairs"],
}
ON = {"boolean": ", networks", "causal": ", graphs"}  # for a loop that takes systems as well
ENDS = ("value", "low", "high")
ON_LAWS = {"symbolic_solution": "solved", "r2_accuracy": "R² > 0.999"}


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Runs or scores with a name of the loop that says what it was asked for.

    >>> rows = pd.DataFrame({"study": ["cde", "causal"], "framework": "a loop"})
    >>> named(rows)["framework"].tolist()
    ['a loop', 'a loop, graphs']
    """
    return frame.assign(framework=frame["framework"] + frame["study"].map(ON).fillna(""))


def samples(run: Any) -> dict[str, float]:
    """What became of the samples of a run: read, valid (a program or system with a score); replies, tokens of them.

    LLM-SR reads one program from a reply, whatever it is. SymbolBench's loop asks until it has read so many systems, or
    one that ends it. LaSR's samples are the steps that it hands to the proposer, valid where the proposer's child is
    taken; genetic operators are its own, so nothing is counted of them. A judge's are the texts that it is shown, valid
    where its reply has a number. A run that ended without an answer has no valid sample of those that were planned;
    LaSR plans evaluations, so there how many samples it had is not known.
    """
    if not run.candidates:
        planned = np.nan if run.method == "lasr" else run.planned
        return {"samples": planned, "valid": 0, "replies": np.nan, "tokens": np.nan}
    notes = run.candidates[0]["notes"]
    if "judged" in notes:
        read = notes["judged"]
        valid = np.nan if notes["proposer"] == "genetic" else read - notes.get("unread", 0)
    elif "handed" in notes:
        own = notes["proposer"] == "genetic"
        read, valid = (np.nan, np.nan) if own else (notes["handed"], notes["taken"])
    else:
        read = notes.get("asked", run.evaluations)
        valid = notes["scored"] if "scored" in notes else read - notes["failed"]
    replies, tokens = notes.get("completions", np.nan), notes.get("completion_tokens", np.nan)
    return {"samples": read, "valid": valid, "replies": replies, "tokens": tokens}


def replies(records: pd.DataFrame) -> pd.DataFrame:
    """What became of the samples of each arm.

    Parameters
    ----------
    records : DataFrame
        Of `runs.grid`, with `ARM` and planned, the samples of a run.

    Returns
    -------
    DataFrame
        Index: framework, proposer. Columns: problems; samples, valid (the share of them that became a program or system
        with a score), replies (of a model, for all samples) and tokens (of a reply).
    """
    counts = pd.DataFrame([samples(run) for run in records.itertuples()], records.index)
    grouped = counts.assign(**named(records)[ARM]).groupby(ARM, sort=False)
    found = grouped.sum(min_count=1)
    found.insert(0, "problems", grouped.size())
    return found.assign(valid=found["valid"] / found["samples"], tokens=found["tokens"] / found["replies"])


def measured(scored: pd.DataFrame) -> pd.DataFrame:
    """By problem: the measures of each framework; see `analysis.by_problem`."""
    found = named(scored).groupby("study", sort=False)
    return pd.concat(
        [by_problem(part, MEASURES[study]).assign(study=study) for study, part in found], ignore_index=True
    )


def summary(values: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The median or mean of each arm, and the ends of its 95 % interval over problems.

    Of shares it is Wilson's, else by bootstrap.

    Parameters
    ----------
    values : DataFrame
        From `measured`.

    Returns
    -------
    three DataFrames, alike in shape
        Index: framework, measure; columns: proposers.
    """
    rows: dict[tuple, dict] = {}
    for (framework, proposer), part in values.groupby(ARM, sort=False):
        for column in MEASURES[part["study"].iloc[0]]:
            if column == "symbolic_accuracy":
                found = next_share([part[column].mean()], len(part))
            else:
                found = interval(part[column], statistic=np.median if column == "nmse_release" else np.mean)
            rows.setdefault((framework, column), {}).update({(end, proposer): found[end] for end in ENDS})
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["framework", "measure"])
    value, low, high = (frame[end][list(dict.fromkeys(values["proposer"]))] for end in ENDS)
    return value, low, high


def tests(values: pd.DataFrame) -> pd.DataFrame:
    """Paired tests of the grammar and of each model against genetic operators, where these ran.

    Errors below `FLOOR` are equal.
    """
    rows = []
    for (study, framework), part in values.groupby(["study", "framework"], sort=False):
        measure = MEASURES[study][0]
        wide = part.pivot(index="problem", columns="proposer", values=measure)
        wide = wide.clip(lower=FLOOR) if measure == "nmse_release" else wide
        genetic = PROPOSERS["genetic"]
        others = [column for column in dict.fromkeys(part["proposer"]) if column != genetic and genetic in wide]
        for other in others:
            about = {"measure": measure, "condition": framework}
            rows.append(paired_test(wide[other], wide[genetic], (other, genetic), **about))
    return paired_tests(rows)


def memory(scored: pd.DataFrame) -> pd.DataFrame:
    """Laws that each proposer solves with their names and in disguise, and the difference of the shares in pairs.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`, with `ARM`: each law as it is and in disguise, one seed.

    Returns
    -------
    DataFrame
        Index: framework, proposer, measure. Columns: laws; named and disguised (laws of which the measure holds);
        difference of the shares, above 0 where names help, with low and high (`summaries.paired_shares`).

    Examples
    --------
    >>> rows = [("textbook/A", 1.0), ("textbook/A-disguised", 0.0), ("textbook/B", 1.0), ("textbook/B-disguised", 1.0)]
    >>> frame = pd.DataFrame(rows, columns=["problem", "r2_accuracy"]).assign(symbolic_solution=0.0)
    >>> memory(frame.assign(framework="LLM-SR", proposer="a"))[["named", "disguised", "difference"]].values.tolist()
    [[0.0, 0.0, 0.0], [2.0, 1.0, 0.5]]
    """
    laws = scored["problem"].str.removesuffix(SUFFIX)
    part = np.where(scored["problem"] == laws, "named", "disguised")
    rows = {}
    for name, measure in ON_LAWS.items():
        wide = scored.assign(law=laws, part=part).pivot(index=[*ARM, "law"], columns="part", values=name) > 0
        for arm, found in wide.groupby(ARM, sort=False):
            named, hidden = found["named"], found["disguised"]
            paired, kept = paired_shares(named, hidden), ("difference", "low", "high")
            counts = {"laws": len(found), "named": named.sum(), "disguised": hidden.sum()}
            rows[*arm, measure] = counts | {name: paired[name] for name in kept}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis([*ARM, "measure"])

"""What small language models do in the loops, beside both controls at equal samples."""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...llm.records import Records
from ...problems.textbook import SUFFIX
from ...report.comparisons import paired_test, paired_tests
from ...report.papers import published
from ...report.summaries import interval, next_share, paired_shares
from .analysis import ARM, FLOOR, PROPOSERS, arms, by_problem

SAME = 1e-6  # relative difference of values that are equal: of one expression, fitted twice
MEASURES = {  # what is shown of a loop on the problems of a study; its arms are compared by the first
    "surfaces": ["nmse_release", "symbolic_accuracy"],
    "cde": ["sr2_id", "sr2_ood"],
    "boolean": ["informedness_pooled_ood", "rules_equivalent"],
    "causal": ["f1_directed", "f1_pairs"],
}
LADDER = {  # loop -> what is shown of it beside larger models, the published table and its rows, and what is one there
    "LLM-SR": ("symbolic_accuracy", "surfacebench_table1", "method == 'LLM-SR' and metric == 'symbolic_accuracy'", 1),
    "SymbolBench's loop": (
        "sr2_ood",
        "symbolbench_table2",
        "metric == 'sr2' and split == 'ood' and modality == 'text' and setting == 'context'",
        1,
    ),
    "SymbolBench's loop, networks": (
        "informedness_pooled_ood",
        "symbolbench_table3",
        "metric == 'bookmaker_informedness' and split == 'ood' and setting == 'context'",
        100,
    ),
    "SymbolBench's loop, graphs": ("f1_directed", "symbolbench_table4", "metric == 'f1' and setting == 'context'", 100),
}
ON = {"boolean": ", networks", "causal": ", graphs"}  # for a loop that takes systems as well
REPLY = ("cut", "tokens", "seconds")
ENDS = ("value", "low", "high")
ON_LAWS = {"symbolic_solution": "solved", "r2_accuracy": "R² > 0.999"}


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Runs or scores with a name of the loop that says what it was asked for.

    >>> rows = pd.DataFrame({"study": ["cde", "causal"], "framework": "a loop"})
    >>> named(rows)["framework"].tolist()
    ['a loop', 'a loop, graphs']
    """
    return frame.assign(framework=frame["framework"] + frame["study"].map(ON).fillna(""))


def replies(planned: Mapping[str, Any]) -> pd.DataFrame:
    """The recorded replies of each model, by problem, those of runs without an answer among them.

    Parameters
    ----------
    planned : the arguments of `runs.grid` of some doses, by name

    Returns
    -------
    DataFrame
        A row a reply. Columns: `ARM`, problem; cut (whether it ended at the limit of tokens); tokens and seconds, by
        the server's count and clock.
    """
    rows = []
    for grid in planned.values():
        models = [each for each in grid["methods"] if getattr(each, "proposer", "") == "recorded"]
        for each, posed in itertools.product(models, grid["problems"]):
            said = Records(each.file(posed.id)).values()
            about = {"study": posed.study, "method": each.name, "settings": {"model": each.model}, "problem": posed.id}
            rows.append(arms(pd.DataFrame([about | _reply(record["response"]) for record in said]), grid))
    return named(pd.concat(rows, ignore_index=True)) if rows else pd.DataFrame(columns=[*ARM, "problem", *REPLY])


def _reply(response: Mapping[str, Any]) -> dict[str, float]:
    timings = response.get("timings", {})  # llama.cpp's
    return {
        "cut": response["choices"][0]["finish_reason"] == "length",
        "tokens": response["usage"]["completion_tokens"],
        "seconds": sum(timings.get(part, np.nan) for part in ("prompt_ms", "predicted_ms")) / 1000,
    }


def spent(said: pd.DataFrame) -> pd.DataFrame:
    """How many replies each model gave, the share of them that was cut, and their mean tokens and seconds."""
    grouped = said.groupby(ARM, sort=False)
    return grouped[list(REPLY)].mean().assign(replies=grouped.size())[["replies", *REPLY]]


def samples(run: Any, replies: int = 0) -> dict[str, float]:
    """What became of the samples of a run.

    Asked is how many programs or systems the proposer was asked for, valid how many became one with a score; unread is
    what could not be read, undefined what could not be scored, repeated what the pool had. SymbolBench's loop asks for
    several systems at a time, and the hybrid with a predictor breeds one more beside them. LaSR's samples are the steps
    that it hands to the proposer, valid where the proposer's child is taken; genetic operators are its own, so nothing
    is counted of them. A judge's are the texts that it is shown, valid where its reply has a number. A run without an
    answer has no valid sample in SymbolBench's loop with a model's replies; elsewhere it leaves no counts.

    Parameters
    ----------
    run : a row of `runs.grid`
    replies : of a model in this run; for a control its requests are in the notes
    """
    notes = run.candidates[0]["notes"] if run.candidates else {}
    if "judged" in notes:
        asked = notes["judged"]
        valid = np.nan if notes["proposer"] == "genetic" else asked - notes.get("unread", 0)
    elif "handed" in notes:
        own = notes["proposer"] == "genetic"
        asked, valid = (np.nan, np.nan) if own else (notes["handed"], notes["taken"])
        notes = {} if own else notes
    elif "asked" in notes:
        asked, valid = notes["asked"], notes["scored"]
    elif "calls" in run.settings and (notes or replies):  # SymbolBench's loop
        asked = notes.get("requests", replies) * run.settings["samples"] + notes.get("bred", 0)
        valid = run.evaluations - notes["failed"] if notes else 0
    else:
        asked = valid = np.nan
    return {
        "answered": len(run.candidates) > 0,
        "asked": asked,
        "valid": valid,
        "unread": notes.get("unreadable", notes.get("unread", np.nan)),
        "undefined": notes.get("undefined", notes.get("failed", np.nan)),
        "repeated": notes.get("repeated", np.nan),
    }


def sampled(records: pd.DataFrame, said: pd.DataFrame) -> pd.DataFrame:
    """What became of the samples of each arm.

    Parameters
    ----------
    records : DataFrame
        Of `runs.grid`, with `ARM`.
    said : DataFrame
        From `replies`.

    Returns
    -------
    DataFrame
        Index: framework, proposer. Columns: problems, answered (runs that ended with an answer), asked, valid (the
        share of those asked for), unread, undefined, repeated; see `samples`.
    """
    records, by = named(records), [*ARM, "problem"]
    known = said.groupby(by).size()
    counts = [
        samples(run, known.get(key, 0))
        for run, key in zip(records.itertuples(), records[by].itertuples(index=False), strict=True)
    ]
    grouped = pd.DataFrame(counts, records.index).assign(**records[ARM]).groupby(ARM, sort=False)
    found = grouped.sum(min_count=1)
    found.insert(0, "problems", grouped.size())
    return found.assign(valid=found["valid"] / found["asked"])


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


def ladder(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Each proposer in the loops of `LADDER`, with its 95 % interval over problems.

    `parts`: from `summary`. Columns of the result: framework, proposer, value, low, high.
    """
    ends = pd.concat({end: part.stack() for end, part in zip(ENDS, parts, strict=True)}, axis=1)
    found = ends.rename_axis(["framework", "measure", "proposer"]).reset_index()
    measures = {framework: row[0] for framework, row in LADDER.items()}
    return found[found["framework"].map(measures) == found["measure"]].drop(columns="measure")


def larger() -> pd.DataFrame:
    """What is printed of the loops of `LADDER` with larger models, the smallest first; the mean over kinds of problems.

    Columns: framework, proposer, value. A model whose size its name does not tell comes last.

    Examples
    --------
    >>> larger()["proposer"].unique().tolist()  # doctest: +NORMALIZE_WHITESPACE
    ['Llama3.2-3B', 'Mathstral-7B', 'Llama-3.1-8B', 'Qwen-3-8b', 'Qwen2.5-14B', 'ChatTS-14B', 'GPT-4o-mini']
    """
    parts = []
    for framework, (_, table, rows, one) in LADDER.items():
        found = published(table).query(f"{rows} and value != ''")
        found = found.rename(columns={"backbone": "proposer", "model": "proposer"})
        value = found["value"].astype(float).groupby(found["proposer"].replace("GPT4o-mini", "GPT-4o-mini")).mean()
        parts.append((value / one).rename("value").reset_index().assign(framework=framework))
    frame = pd.concat(parts, ignore_index=True)
    size = frame["proposer"].str.extract(r"-([0-9.]+)B$", flags=re.IGNORECASE)[0].astype(float)
    return frame.assign(size=size).sort_values("size", kind="stable").drop(columns="size").reset_index(drop=True)


def tests(values: pd.DataFrame) -> pd.DataFrame:
    """Paired tests of the grammar and of each model against genetic operators, where these ran.

    Errors below `FLOOR` are equal, and values that differ by less than `SAME`.
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
            same = np.isclose(wide[other], wide[genetic], rtol=SAME, atol=0)
            rows.append(paired_test(wide[other].mask(same, wide[genetic]), wide[genetic], (other, genetic), **about))
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

"""What the study of proposers compares: runs by framework and proposer, errors by sample, the cost with a model."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...llm.tokens import tokens_in
from ...methods import method
from ...methods.language_costs import Cost, cost
from ...methods.llm_text import prompt
from ...problems import problem, problems
from ...report import budgets, prediction
from ...report.comparisons import best_printed, paired_test, paired_tests
from ...report.papers import published
from ...report.plots import display_name
from ...report.scores import by_seed
from ...report.summaries import interval, next_share, sr2_percent
from ...system import derived

FRAMEWORKS = {"llm_sr": "LLM-SR", "openevolve": "OpenEvolve", "symbolbench_loop": "SymbolBench's loop"}
OTHERS = {
    "sga": "SGA",
    "lasr": "LaSR",
    "icsr": "ICSR",
    "gp_llm_seeded": "SymbolBench's predictor",
    "gp_llm_judge": "SymbolBench's judge",
}
PLAIN = "genetic programming"
PROPOSERS = {"grammar": "random grammar", "genetic": "genetic operators"}
ALONE = {"none": "no proposals"}  # the loop by itself
BEST = "printed, best model"
PUBLIC = "gpt-3.5-turbo, public runs"
ARM = ["framework", "proposer"]
PRICED = ["framework", "study", "proposer"]
SAMPLES = (1, 25, 50, 100, 200, 400, 700, 1000)  # at which a best error is looked up
EARLY = 200  # samples after which SurfaceBench sees few improvements
FLOOR = 1e-9  # errors below it are equal: OpenEvolve's score, -log10(error + 1e-9), hardly tells them apart
BETTER = 0.01  # by what share an error falls that counts as improved


# ---- who is compared


def arms(frame: pd.DataFrame, grid: Mapping[str, Any]) -> pd.DataFrame:
    """Runs or scores with the columns framework and proposer.

    The proposer is a control, a model whose replies were recorded, or a plain search with its evaluations.

    Parameters
    ----------
    frame : DataFrame
        With method and settings.
    grid : arguments of `runs.grid` that the rows are of

    Examples
    --------
    >>> from rediscover.methods import Budget
    >>> rows = pd.DataFrame({"method": ["llm_sr", "gplearn"], "settings": [{"proposer": "genetic"}, {}]})
    >>> arms(rows, {"evaluations": {}, "budget": Budget(1000)})[ARM].values.tolist()
    [['LLM-SR', 'genetic operators'], ['genetic programming', 'gplearn, 1,000']]
    """
    framework = frame["method"].map(lambda name: (FRAMEWORKS | OTHERS).get(name, PLAIN))
    spent = frame["method"].map(lambda name: grid["evaluations"].get(name, grid["budget"].evaluations))
    plain = frame["method"].map(display_name) + spent.map(", {:,}".format)
    stated = frame["settings"].map(_proposer)
    return frame.assign(framework=framework, proposer=stated.where(framework != PLAIN, plain))


def _proposer(settings: Mapping[str, Any]) -> str | None:
    return (PROPOSERS | ALONE).get(settings.get("proposer", "")) or model_name(settings.get("model", ""))


def model_name(served: str) -> str:
    """The name of a served model without the digits of its file.

    >>> model_name("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M-1d9614638d18")
    'Qwen2.5-Coder-0.5B-Instruct-Q4_K_M'
    """
    return served.rpartition("-")[0]


def effort(planned: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Seeds and evaluations (of a loop, samples) of each arm in arguments of `runs.grid`, for `report.Output.table`."""
    parts = []
    for grid in planned:
        for search in grid["methods"]:
            used = budgets.effort({**grid, "methods": [search]}).reset_index()
            settings = {name: getattr(search, name, "") for name in ("proposer", "model")}
            parts.append(arms(used.assign(settings=[settings]), grid))
    return pd.concat(parts).set_index(ARM)[["seeds", "evaluations"]]


def by_problem(scored: pd.DataFrame, measures: Iterable[str]) -> pd.DataFrame:
    """One row for each arm and problem: shares and SR2 are means over seeds, errors are medians.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`, with `ARM`.
    measures : sr2_id, sr2_ood or scores; a failed run adds nothing to them, but its nmse_release is infinite

    Returns
    -------
    DataFrame
        Columns: framework, proposer, subset, problem, and the measures.
    """
    found = scored.assign(**{name: _measure(scored, name) for name in measures})
    how = {name: "median" if name == "nmse_release" else "mean" for name in measures}
    return found.groupby([*ARM, "subset", "problem"], sort=False).agg(how).reset_index()


def _measure(scored: pd.DataFrame, name: str) -> pd.Series:
    if name.startswith("sr2_"):
        return sr2_percent(_score(scored, name.replace("sr2", "r2_trajectories")))
    return _score(scored, name).fillna(np.inf if name == "nmse_release" else 0.0)


def _score(scored: pd.DataFrame, name: str) -> pd.Series:
    """A column of scores; NaN where no run has an answer, and so none has the score."""
    return scored.get(name, pd.Series(np.nan, scored.index))


# ---- tables beside what is printed


def _share(values: pd.Series) -> dict[str, float]:
    found = next_share([values.mean()], len(values))
    return {name: round(value, 12) for name, value in found.items()}  # Wilson's lower end of no share is 0


MEASURES: dict[str, tuple[str, Callable]] = {  # what a table shows: score of `by_problem`, and its statistic
    "symbolic accuracy": ("symbolic_accuracy", _share),
    "mean NMSE": ("nmse_release", interval),
    "median NMSE": ("nmse_release", partial(interval, statistic=np.median)),
    "SR2, in distribution": ("sr2_id", interval),
    "SR2, out of distribution": ("sr2_ood", interval),
}


def summarised(values: pd.DataFrame) -> pd.DataFrame:
    """`MEASURES` of each arm and subset with 95 % intervals over problems: Wilson's of shares, else by bootstrap.

    Parameters
    ----------
    values : DataFrame
        From `by_problem`.

    Returns
    -------
    DataFrame
        Columns: framework, proposer, subset, measure, value, low, high, n (problems).
    """
    rows = []
    for keys, part in values.groupby([*ARM, "subset"], sort=False):
        for measure, (column, statistic) in MEASURES.items():
            if column in part:
                found = statistic(part[column]) | {"n": len(part)}
                about = dict(zip([*ARM, "subset"], keys, strict=True)) | {"measure": measure}
                rows.append(about | {name: found[name] for name in ("value", "low", "high", "n")})
    return pd.DataFrame(rows)


def next_run(scored: pd.DataFrame) -> pd.DataFrame:
    """Where SR2 of one run more would lie with 95 %, by the ledger's rule for methods with chance.

    `scored`: from `runs.scoring.table`, with `ARM`, of systems. Columns of the result: framework, proposer, subset,
    measure, next_low, next_high; arms with fewer than three seeds have no row.
    """
    rows = []
    for name, split in (("SR2, in distribution", "id"), ("SR2, out of distribution", "ood")):
        sr2 = scored[[*ARM, "subset", "seed"]].assign(sr2=_measure(scored, f"sr2_{split}"))
        for keys, part in sr2.groupby([*ARM, "subset"], sort=False):
            means = part.groupby("seed")["sr2"].mean()
            if len(means) > 2:
                ends = prediction.interval(by_seed("sr2", means, len(part) // len(means)))
                rows.append([*keys, name, ends["low"], ends["high"]])
    return pd.DataFrame(rows, columns=[*ARM, "subset", "measure", "next_low", "next_high"])


def printed_surfaces() -> pd.DataFrame:
    """The best that SurfaceBench prints for each framework over its models, as `summarised` has ours, and which model.

    Each number is the best of its column: no one model need have them all.
    """
    rows = published("surfacebench_table1").query("backbone != ''")
    names = {"symbolic_accuracy": "symbolic accuracy", "nmse": "mean NMSE"}
    rows = rows[rows["metric"].isin(names) & rows["method"].isin(FRAMEWORKS.values())]
    best = best_printed(rows, ["method", "representation", "metric"], {"symbolic_accuracy": "higher", "nmse": "lower"})
    best = best.rename(columns={"method": "framework", "representation": "subset", "backbone": "model"})
    return best.assign(measure=best["metric"].map(names), proposer=BEST)[[*ARM, "subset", "measure", "value", "model"]]


def printed_systems() -> pd.DataFrame:
    """The best that SymbolBench prints for its loop over models, modalities and prompts, as `summarised` has ours."""
    names = {"id": "SR2, in distribution", "ood": "SR2, out of distribution"}
    rows = published("symbolbench_table2").query("metric == 'sr2' and setting != '' and value != ''")
    best = best_printed(rows, ["dim", "split", "metric"]).rename(columns={"dim": "subset"})
    model = best["model"] + ", " + best["setting"]
    about = {"framework": FRAMEWORKS["symbolbench_loop"], "proposer": BEST, "model": model}
    return best.assign(**about, measure=best["split"].map(names))[[*ARM, "subset", "measure", "value", "model"]]


def beside(ours: pd.DataFrame, printed: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """What is printed and what is measured in one table, and the ends of our intervals (what is printed has none).

    Returns
    -------
    three DataFrames, alike in shape
        Index: framework, proposer; columns: subset and measure.
    """
    both = pd.concat([printed[printed["subset"].isin(ours["subset"])], ours], ignore_index=True)
    order = [key for name in [*FRAMEWORKS.values(), PLAIN] for key in dict.fromkeys(_keys(both)) if key[0] == name]
    columns = dict.fromkeys(zip(ours["subset"], ours["measure"], strict=True))
    parts = []
    for end in ("value", "low", "high"):
        wide = both.pivot(index=ARM, columns=["subset", "measure"], values=end)
        parts.append(wide.loc[order, [*columns]])
    return parts[0], parts[1], parts[2]


def _keys(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["framework"], frame["proposer"], strict=True))


def tests(values: pd.DataFrame, measures: Iterable[str], plain: Iterable[str]) -> pd.DataFrame:
    """Paired tests, for each framework: genetic operators against the grammar, and against plain searches.

    Errors below `FLOOR` are equal.

    Parameters
    ----------
    values : DataFrame
        From `by_problem`.
    measures : its scores
    plain : proposers of `PLAIN` to be compared with

    Returns
    -------
    DataFrame
        See `report.comparisons.paired_tests`; condition is the subset, a and b are ``framework, proposer``.
    """
    grammar, genetic = PROPOSERS["grammar"], PROPOSERS["genetic"]
    named = values.assign(arm=[", ".join(key) for key in _keys(values)])
    rows = []
    for subset, part in named.groupby("subset", sort=False):
        for measure in measures:
            wide = part.pivot(index="problem", columns="arm", values=measure)
            for framework in dict.fromkeys(part["framework"]):
                ours = f"{framework}, {genetic}"
                others = [f"{framework}, {grammar}", *(f"{PLAIN}, {name}" for name in plain)]
                for other in others if framework != PLAIN else []:
                    if {ours, other} <= set(wide):
                        pair = wide[[ours, other]].dropna()
                        pair = pair.clip(lower=FLOOR) if measure == "nmse_release" else pair
                        about = {"measure": measure, "condition": subset}
                        rows.append(paired_test(pair[ours], pair[other], (ours, other), **about))
    return paired_tests(rows)


# ---- errors by sample


def best_so_far(records: pd.DataFrame) -> pd.DataFrame:
    """Training error of the best program after so many samples, of runs with one output.

    Parameters
    ----------
    records : DataFrame
        Of `runs.grid`, with `ARM`.

    Returns
    -------
    DataFrame
        Columns: framework, proposer, problem, seed, samples, error (at least `FLOOR`; infinite before a program).
    """
    rows = []
    for run in records.itertuples():
        if run.status == "ok" and run.method in ERRORS and len(run.solution) == 1:
            curve = [(sample, max(FLOOR, ERRORS[run.method](score))) for sample, score in _curve(run)]
            for samples in SAMPLES if curve else ():  # a constant target is answered without a search
                error = min((error for sample, error in curve if sample <= samples), default=math.inf)
                about = {name: getattr(run, name) for name in (*ARM, "problem", "seed")}
                rows.append(about | {"samples": samples, "error": error})
    return pd.DataFrame(rows, columns=[*ARM, "problem", "seed", "samples", "error"]).astype({"error": float})


ERRORS: dict[str, Callable[[float], float]] = {  # the mean squared error that a score stands for
    "llm_sr": lambda score: -score,
    "openevolve": lambda score: 10.0**-score - 1e-9,
}


def _curve(run: Any) -> list:
    return run.candidates[0]["notes"].get("curve", [])


def public_runs() -> pd.DataFrame:
    """Errors of public runs of LLM-SR with a language model (`derive.best_so_far`), as `best_so_far` has ours."""
    runs = derived.read("loops", "llmsr_runs")
    problem = runs["problem"] + ", run " + runs["run"].astype(str)
    about = {"framework": FRAMEWORKS["llm_sr"], "proposer": PUBLIC, "problem": problem, "seed": 0}
    return runs.assign(**about)[[*ARM, "problem", "seed", "samples", "error"]]


def still_to_fall(errors: pd.DataFrame) -> pd.DataFrame:
    """By how many decades the error of each run (of `best_so_far` or `public_runs`) still falls after so many samples.

    Returns
    -------
    DataFrame
        Index: framework, proposer, problem, seed; columns: samples.
    """
    wide = errors.pivot_table(index=[*ARM, "problem", "seed"], columns="samples", values="error", sort=False)
    wide = np.log10(wide.sort_index(axis=1).ffill(axis=1))
    return wide.sub(wide.min(axis=1), axis=0)


def later(errors: pd.DataFrame) -> pd.DataFrame:
    """What the samples after the `EARLY` ones bring.

    Parameters
    ----------
    errors : DataFrame
        From `best_so_far`, or of other runs with the same columns.

    Returns
    -------
    DataFrame
        Index: framework, proposer. Columns: runs; improved, the share of runs whose error fell by more than `BETTER`
        after the early samples, with its Wilson interval (low, high), as many trials as problems; decades, by which the
        error fell then, median of those; solved, the share of runs at the floor by then.
    """
    rows = {}
    solved = errors.query("samples == @EARLY").groupby(ARM)["error"].apply(lambda error: (error <= FLOOR).mean())
    for key, part in still_to_fall(errors)[EARLY].groupby(level=ARM, sort=False):
        improved = part > -np.log10(1 - BETTER)
        found = next_share([improved.mean()], part.index.get_level_values("problem").nunique())
        rows[key] = {"runs": len(part), "improved": found["value"], "low": found["low"], "high": found["high"]}
        rows[key] |= {"decades": part[improved].median(), "solved": solved[key]}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(ARM)


# ---- what it would cost with a model


def costs(records: pd.DataFrame, model: str) -> pd.DataFrame:
    """Cost of each framework and study with a model, by the prompts that runs with a control have built (first seed).

    A method of tables searches for each output of a problem by itself, the others for a problem as a whole. Where a
    run has several searches, its notes are of the last.

    Parameters
    ----------
    records : DataFrame
        Of `runs.grid`, with `ARM`.
    model : with a price in ``llm/client.yaml``

    Returns
    -------
    DataFrame
        Index: framework, study, proposer. Columns: runs, of which the next are means; requests, prompt_tokens,
        completion_tokens and usd_each of a search; searches of the whole study, and usd for all of them.
    """
    first = records[(records["seed"] == records["seed"].min()) & (records["status"] == "ok")]
    each = [
        {"framework": run.framework, "study": run.problem.partition("/")[0], "proposer": run.proposer}
        | {"method": run.method}
        | cost(run.method, notes, model)._asdict()
        for run in first.itertuples()
        if "requests" in (notes := run.candidates[0]["notes"])  # none were built for a constant
    ]
    return _whole(pd.DataFrame(each, columns=[*PRICED, "method", *Cost._fields]))


def prompted(model: str) -> pd.DataFrame:
    """As `costs`, of the prompted model of SciText2Eq: one request for each passage that is here."""
    name = "llm_text"
    about = {"framework": "prompted model", "study": "passages", "proposer": "as sent", "method": name}
    asked = [tokens_in(prompt(problem(id))) for id in problems("passages")]
    counts = [cost(name, {"requests": 1, "request_tokens": tokens}, model) for tokens in asked]
    return _whole(pd.DataFrame([about | count._asdict() for count in counts]))


def _whole(each: pd.DataFrame) -> pd.DataFrame:
    grouped = each.groupby([*PRICED, "method"], sort=False)
    found = grouped.mean().rename(columns={"usd": "usd_each"}).assign(runs=grouped.size())
    found = found.reset_index("method")
    studies = found.index.get_level_values("study")
    found["searches"] = [_searches(*key) for key in zip(found["method"], studies, strict=True)]
    return found.assign(usd=found["usd_each"] * found["searches"]).drop(columns="method")


def _searches(name: str, study: str) -> int:
    by_output = hasattr(method(name), "max_rows")
    return sum(len(problem(id).outputs) if by_output else 1 for id in problems(study))

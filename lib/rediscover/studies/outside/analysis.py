"""What the tables of problems from outside are made of: shares, fronts, and the authors' record law by law."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ... import runs
from ...problems import Problem, problem
from ...report.comparisons import recovery
from ...report.statistics import holm
from ...report.summaries import paired_shares, wilson
from ...runs import scoring
from ...runs.answers import on_answers
from ...runs.run import Run
from ...runs.schema import IDENTITY
from ...system import derived, record_files
from ...system.studies import studies
from .params import Outside
from .sample import rules
from .scores import UNREADABLE

ENVELOPE = Path(__file__).with_name("envelope.csv")  # what a run costs by rows and columns; benchmarks/envelope.py
FRONT = 20  # entries that are looked at, in the method's own order
SCORES = f"{__package__}.scores"
ROWS = ["method", "noise", "seed"]  # what of a block is shown once all of its runs are there
PEERS = {"gplearn": "gplearn", "operon": "Operon"}  # ours -> SRBench's name
SOLVED = "symbolic_solution"  # what decides
RULES = {"symbolic solution": SOLVED, "form": "form"}  # the second came after the runs
BESIDE = {"without_rounding": "solution_rate", "r2_above_0999": "r2_accuracy", "form": "form"}  # columns beside it


def loaded(ids: Iterable[str | Problem]) -> list[Problem]:
    """Problems by their ids."""
    return [problem(item) if isinstance(item, str) else item for item in ids]


def finished(block: Mapping[str, Any], p: Outside) -> pd.DataFrame:
    """Runs of a block: in the reference profile those that are recorded, since the rest takes days; else all of them.

    Parameters
    ----------
    block : arguments of `runs.grid`
    p : parameters; what a reader changed, and what is run without records (``FRESH=1``), is computed

    Returns
    -------
    DataFrame
        As `runs.grid` returns it.
    """
    if block["methods"] and (p.profile != "reference" or p.explored or not record_files.used()):
        return runs.grid(**block)
    return _as_first_ended(runs.kept(_planned(block), p.store).drop(columns="origin"))


def _as_first_ended(records: pd.DataFrame) -> pd.DataFrame:
    """Runs that study.yaml lists under ``failed_first`` count as failed, by the rules, whatever they answer now."""
    failed = {(name, *run) for name, listed in studies()["outside"]["failed_first"].items() for run in listed}
    keys = zip(records["method"], records["problem"], records["noise"], records["seed"], strict=True)
    first = pd.Series([key in failed for key in keys], records.index, bool)
    return records.assign(
        status=records["status"].mask(first, "error"),
        reason=records["reason"].mask(first, "ended in an error when it first ran"),
    )


def _planned(block: Mapping[str, Any]) -> list[Run]:
    """The runs of a block; none if it has no methods."""
    asked = {name: value for name, value in block.items() if name != "store"}
    return runs.plan(**asked) if block["methods"] else []


def progress(blocks: Mapping[str, Mapping], records: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many runs of each block are planned, and how many there are.

    Parameters
    ----------
    blocks : name -> arguments of `runs.grid`
    records : name -> rows of `finished`

    Returns
    -------
    DataFrame
        Index: block, method, noise and seed; columns: planned, recorded, and the core-hours of those recorded.
    """
    asked = [
        (name, run.method.name, float(run.problem.noise), run.seed)
        for name, block in blocks.items()
        for run in _planned(block)
    ]
    planned = pd.DataFrame(asked, columns=["block", *ROWS]).groupby(["block", *ROWS], sort=False).size()
    found = joined(*(frame[[*ROWS, "seconds"]].assign(block=name) for name, frame in records.items()))
    spent = found.astype({"noise": float, "seed": int}).groupby(["block", *ROWS])["seconds"].agg(["size", "sum"])
    spent = spent.rename(columns={"size": "recorded", "sum": "hours"}).reindex(planned.index, fill_value=0)
    return spent.assign(planned=planned, hours=spent["hours"] / 3600)[["planned", "recorded", "hours"]]


def whole(records: Mapping[str, pd.DataFrame], counts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Of each block the rows of a method, level of noise and seed of which every run is there.

    So no share is of the problems that ended first.

    Parameters
    ----------
    records : block -> rows of `finished`
    counts : DataFrame
        From `progress`.

    Examples
    --------
    >>> counts = pd.DataFrame({"planned": [2, 1], "recorded": [1, 1]}, [("lsr", "a", 0.0, 0), ("lsr", "b", 0.0, 0)])
    >>> found = pd.DataFrame({"method": ["a", "b"], "noise": 0.0, "seed": 0})
    >>> list(whole({"lsr": found}, counts)["lsr"]["method"])
    ['b']
    """
    there = set(counts.index[counts["recorded"] == counts["planned"]])
    kept = {}
    for name, frame in records.items():
        held = [(name, *row) in there for row in frame[ROWS].itertuples(index=False, name=None)]
        kept[name] = frame[pd.Series(held, frame.index, bool)]
    return kept


def scores(blocks: Mapping[str, pd.DataFrame], problems: Iterable[Problem], store: Any = None) -> pd.DataFrame:
    """Scores of several blocks at once, since workers take longer to start than to score.

    Parameters
    ----------
    blocks : name -> rows of `whole`
    problems : of all of them
    store : as for `runs.grid`

    Returns
    -------
    DataFrame
        As `scoring.table` returns it, with seconds and block; without rows where there are no runs. Rows of a block
        are in its order.
    """
    records = joined(*(frame.assign(block=name) for name, frame in blocks.items()))
    if records.empty:
        return pd.DataFrame(columns=[*IDENTITY, "scoring", *UNREADABLE, "seconds", "block"])
    found = scoring.table(records, problems, store=store).assign(seconds=records["seconds"], block=records["block"])
    # Scores of kinds of problems that no block has yet.
    return found.assign(**{name: float("nan") for name in UNREADABLE if name not in found})


def filled(frames: Iterable[pd.DataFrame]) -> list[pd.DataFrame]:
    """Those that have rows, or the first, if none has."""
    frames = list(frames)
    return [frame for frame in frames if len(frame)] or frames[:1]


def joined(*frames: pd.DataFrame) -> pd.DataFrame:
    """Rows of several blocks."""
    return pd.concat(filled(frames), ignore_index=True)


def grouped(scored: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Solved problems of each group with Wilson's interval, as `comparisons.recovery`; methods are the last of `by`.

    Beside them how many pass each score of `BESIDE` that `scored` has.
    """
    keys = [scored[name] for name in by]
    others = {name: recovery(scored[score], keys)["recovered"] for name, score in BESIDE.items() if score in scored}
    return recovery(scored[SOLVED], keys).assign(**others)


def paired(scored: pd.DataFrame, by: list[str], own: str, others: Iterable[str], score: str = SOLVED) -> pd.DataFrame:
    """What `summaries.paired_shares` says of two methods, group by group; p is also corrected by Holm over all rows.

    Parameters
    ----------
    scored : DataFrame
        Rows of `scores`.
    by : columns that tell apart what is compared
    own, others : the method that is compared, and those that it is compared with
    score : column above 0 where a problem is solved

    Returns
    -------
    DataFrame
        Index: `by` and opponent; columns: pairs, ours_alone, theirs_alone, difference (of shares, above 0 where ours
        is ahead), low, high, p, p_holm. Without rows where no method stands beside another.

    Examples
    --------
    >>> rows = [("a", "1", 1.0), ("b", "1", 0.0), ("a", "2", 1.0), ("b", "2", 1.0)]
    >>> frame = pd.DataFrame(rows, columns=["method", "problem", "symbolic_solution"]).assign(noise=0.0)
    >>> paired(frame, ["noise"], "a", ["b"]).drop(columns=["low", "high"]).to_dict("records")
    [{'pairs': 2, 'ours_alone': 1, 'theirs_alone': 0, 'difference': 0.5, 'p': 1.0, 'p_holm': 1.0}]
    """
    rows = {}
    for key, part in scored.groupby(by):
        wide = part.pivot_table(index="problem", columns="method", values=score)
        for name in (name for name in others if name != own and {name, own} <= {*wide}):
            ours, theirs = (solved > 0 for _, solved in wide[[own, name]].dropna().items())
            rows[*key, name] = {"pairs": len(ours), **paired_shares(ours, theirs)}
    if not rows:
        return pd.DataFrame()
    return corrected(pd.DataFrame.from_dict(rows, orient="index").rename_axis([*by, "opponent"]))


def corrected(pairs: pd.DataFrame) -> pd.DataFrame:
    """Rows of `paired`, of one call or of several, with p corrected by Holm over all of them as p_holm."""
    return pairs.assign(p_holm=holm(pairs["p"])) if len(pairs) else pairs


def of_front(
    records: pd.DataFrame, problems: Iterable[Problem], function: str, entries: int = FRONT, **options: Any
) -> pd.Series:
    """Whether any of the first candidates of each run is what a function of `scores` asks.

    Parameters
    ----------
    records : DataFrame
        Rows of `runs.grid`.
    problems : those of the grid
    function : ``is_law`` or ``accepted``
    entries : how many candidates are looked at, in the method's own order; those behind the first only where it fails
    options : store, workers and progress, as for `runs.grid`

    Returns
    -------
    Series of float, 0 or 1
        By the index of `records`; 0 for a run without an answer.
    """
    problems = list(problems)
    held = pd.Series(0.0, records.index)
    for places in (slice(1), slice(1, entries)):
        left = records[(held == 0) & (records["status"] == "ok")]
        texts = [[candidate["solution"] for candidate in found[places]] for found in left["candidates"]]
        asked = left.assign(solution=pd.Series(texts, left.index, object)).explode("solution").dropna(subset="solution")
        asked["seed"] = 0  # which rows a run had decides nothing, so what stands on several fronts is asked once
        outcomes = on_answers(f"{SCORES}:{function}", asked, problems, **options) if len(asked) else []
        each = pd.Series([max(found.get("result", {"": 0.0}).values()) for found in outcomes], asked.index, float)
        held = held.add(each.groupby(level=0).max(), fill_value=0.0)
    return held


def trials(judged: pd.DataFrame, column: str) -> pd.DataFrame:
    """Trials of each table in which `column` is 1, below how many there are.

    Index: study and table; columns: methods.
    """
    if judged.empty:
        return pd.DataFrame()
    named = judged.assign(table=[id.partition("/")[2] for id in judged["problem"]])
    counts = named.pivot_table(index=["study", "table"], columns="method", values=column, aggfunc="sum")
    made = judged.groupby("method")["seed"].nunique().reindex(counts.columns)
    first = made.to_frame(("all", "trials")).T.rename_axis(["study", "table"])
    return pd.concat([first, counts]).astype(int)


def missed(counts: pd.DataFrame, own: str) -> pd.DataFrame:
    """Tables whose law another method has in all of its trials, and our own in none.

    Parameters
    ----------
    counts : DataFrame
        From `trials`.
    own : name of our method

    Returns
    -------
    DataFrame
        Columns: study, table, method, trials (of that method).
    """
    if own not in counts:
        return pd.DataFrame()
    made = counts.loc["all", "trials"]
    rows = counts.drop(index=("all", "trials"))
    found = rows.drop(columns=own).eq(made.drop(own))[rows[own] == 0].stack()
    named = found[found].index.to_frame(index=False)
    return named.assign(trials=named["method"].map(made))


def against_record(scored: pd.DataFrame) -> pd.DataFrame:
    """Our rates beside SRBench's on the same problems at the same noise, for methods that both have.

    Parameters
    ----------
    scored : DataFrame
        Scores of ``noisy_sample``, the first seed.

    Returns
    -------
    DataFrame
        Index: method and noise; columns: problems, ours and theirs (shares), more, fewer (problems on which ours is
        above or below theirs).
    """
    theirs = derived.read("outside", "srbench_laws").set_index(["method", "problem", "noise"])["solution_rate"] / 100
    known = scored[scored["method"].isin(PEERS)]
    keys = pd.MultiIndex.from_arrays(
        [known["method"].map(PEERS), [id.partition("/")[2] for id in known["problem"]], known["noise"]]
    )
    known = known.assign(theirs=theirs.reindex(keys).to_numpy()).dropna(subset="theirs")
    off = known[SOLVED] - known["theirs"]
    grouped = known.assign(more=off > 0, fewer=off < 0).groupby(["method", "noise"])
    return grouped.agg(
        problems=("problem", "nunique"),
        ours=(SOLVED, "mean"),
        theirs=("theirs", "mean"),
        more=("more", "sum"),
        fewer=("fewer", "sum"),
    )


def aims(
    method: str, laws: pd.DataFrame, noisy: pd.DataFrame, fast: pd.DataFrame, judged: pd.DataFrame
) -> pd.DataFrame:
    """What rules.yaml aims at for a later version of our own method, beside what a version reaches.

    Parameters
    ----------
    method : the version
    laws, noisy, fast : shares of problems solved, as `grouped` returns them, by study and method; by group, noise and
        method; by which answer and method (of SRSD's laws, by FastSRB's rule)
    judged : scores of the real tables, with the column on_front

    Returns
    -------
    DataFrame
        Index: goal; columns: aim and found (per cent of the problems, or tables in which every trial has the law),
        problems (how many those are), low and high (Wilson's interval), missing (how far the aim is). Those that are
        not recorded, or not in all trials, are left out.
    """
    stated: dict[str, float] = {}
    for name, aim in rules()["aims"].items():
        if isinstance(aim, dict):
            stated |= {f"{name} {level:g}": goal for level, goal in aim.items()}
        else:
            stated[name] = float(str(aim).split(" of ")[0])
    reached = {
        " ".join(f"{part:g}" if isinstance(part, float) else part for part in group): (
            row["n"],
            *(100 * row[["share", "low", "high"]]),
        )
        for frame in (laws, noisy, fast)
        for (*group, name), row in frame.iterrows()
        if name == method
    }
    if "first answer" in reached:
        reached["accepted_form"] = reached.pop("first answer")
    names = {"law on the front": "on_front", "law as first answer": "law_with_any_constants"}
    for name, column in names.items():
        counts = trials(judged[judged["method"] == method], column)
        if len(counts) and counts.loc[("all", "trials"), method] == len(rules()["registered"]["trials"]):
            all_of_them = counts.loc["empirical", method] == counts.loc[("all", "trials"), method]
            n, count = len(all_of_them), int(all_of_them.sum())
            reached[f"{name} of EmpiricalBench"] = (n, count, *(n * end for end in wilson(count, n)))
    rows = {name: (aim, *reached[name]) for name, aim in stated.items() if name in reached}
    columns = ["aim", "problems", "found", "low", "high"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("goal")
    return frame.assign(missing=(frame["aim"] - frame["found"]).clip(lower=0))

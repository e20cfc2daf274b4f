"""What the study of coupled differential equations computes twice, or decides a verdict by."""

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...expressions import Expression, parse
from ...expressions.trees import checked_size
from ...problems import Problem, Task, cde
from ...report.ablations import FIRST, NOW
from ...report.comparisons import paired_test, paired_tests
from ...report.papers import of_paper, published
from ...report.summaries import interval, sr2_percent
from ...report.tables import CONTROLS
from ...search.evolution.choice import choose, scores_of
from ...system.studies import studies

SPLITS = {"id": "in distribution", "ood": "out of distribution"}
METRICS = ["sr2", "acc_0.9"]


def contributions(scored: pd.DataFrame) -> pd.DataFrame:
    """What each run adds to SR2 and ACC of Table 2, in percent; they are means over runs.

    Parameters
    ----------
    scored : DataFrame
        From `runs.scoring.table`: problem, subset (number of states), method, seed, r2_trajectories_id and _ood,
        which are not finite where a run failed.

    Returns
    -------
    DataFrame
        Two rows for each of `scored`, first those in distribution: problem, states, method, settings, seed, split
        ('id' or 'ood'), failed, sr2 and acc_0.9 (0 to 100, 0 for a failed run).

    Examples
    --------
    >>> run = {"problem": ["a"], "subset": ["1"], "method": ["mean"], "seed": [0]}
    >>> frame = contributions(pd.DataFrame(run | {"r2_trajectories_id": [0.95], "r2_trajectories_ood": [np.nan]}))
    >>> frame[["split", "failed", "sr2", "acc_0.9"]].values.tolist()
    [['id', False, 95.0, 100.0], ['ood', True, 0.0, 0.0]]
    """
    kept = ["problem", "method", "settings", "seed"]
    identity = scored[[name for name in kept if name in scored]].assign(states=scored["subset"].astype(int))
    measures = scored.reindex(columns=[f"r2_trajectories_{split}" for split in SPLITS])  # none, if no run has an answer
    parts = []
    for split, name in zip(SPLITS, measures, strict=True):
        r2 = measures[name].replace([np.inf, -np.inf], np.nan)
        measured = {"failed": r2.isna(), "sr2": sr2_percent(r2), "acc_0.9": 100.0 * (r2 >= 0.9)}
        parts.append(identity.assign(split=split, **measured))
    return pd.concat(parts, ignore_index=True)


def parts_of_paper(scored: pd.DataFrame) -> pd.DataFrame:
    """`contributions` of the methods that Table 2 prints, under its labels; a language model has its setting's."""
    parts = contributions(of_paper(scored, "symbolbench"))
    stated = parts["settings"].map(lambda settings: settings.get("model", ""))
    parts["method"] = stated.where(stated != "", parts["method"])
    return parts[parts["method"].isin(published("symbolbench_table2")["model"])].reset_index(drop=True)


def released_parts(answers: pd.DataFrame) -> pd.DataFrame:
    """What the released runs of Figure 3 (a) add to SR2: `derive.answers` in the columns of `contributions`.

    A method is a model, with its reasoning where the release has runs of both. Altered systems are left out, in which
    the models saw the series of other equations.
    """
    runs = answers[(answers["noise"] == 0) & answers["model"].isin(published("symbolbench_figure3a")["model"])]
    known = {id: cde.load(id) for id in runs["system"].unique()}
    runs = runs[[("altered" not in known[id].flags) for id in runs["system"]]]
    both = runs.groupby("model")["reasoning"].transform("nunique") > 1
    named = runs["model"] + " (" + runs["reasoning"] + " reasoning)"
    scored = pd.DataFrame({"problem": "cde/" + runs["system"], "method": named.where(both, runs["model"]), "seed": 0})
    scored["subset"] = [known[id].subset for id in runs["system"]]
    return contributions(scored.assign(**{f"r2_trajectories_{split}": runs[f"r2_{split}"] for split in SPLITS}))


def beside_others(ours: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """Paired tests of the method of our own against each other method that ran, by split and number of states.

    Parameters
    ----------
    ours : `contributions` of its variants, with the column variant (`report.ablations`)
    parts : `contributions` of all methods on the same systems, one seed

    Returns
    -------
    DataFrame
        Columns of `PAIRED_TEST`, the mean difference of SR2 in percent with its bootstrap interval over systems. a is
        bidirectional or bidirectional_first, condition ``id 1`` to ``ood 4``.
    """
    wide = parts.pivot_table(index="problem", columns=["split", "method"], values="sr2")
    others = [name for name in wide["id"] if name not in ("bidirectional", *CONTROLS)]
    rows = []
    for variant, name in {NOW: "bidirectional", FIRST: "bidirectional_first"}.items():
        of_variant = ours[ours["variant"] == variant].groupby(["split", "states"], sort=False)
        for (split, states), part in of_variant:
            a = part.set_index("problem")["sr2"]
            for other in others:
                b = wide.loc[a.index, (split, other)]
                apart, where = interval(a - b), f"{split} {states}"
                rows.append(paired_test(a, b, (name, other), measure="sr2", condition=where, interval=apart))
    return paired_tests(rows)


def by_score(records: pd.DataFrame, problems: Iterable[Problem]) -> pd.DataFrame:
    """The runs with, for each state, that expression of the recorded front that has the highest score, PySR's word.

    So the released wrapper of PySR takes its candidates, and compares its ways to differentiate by them. What it then
    chooses, by integrating all combinations of the states' fronts, is not done here.

    Parameters
    ----------
    records : DataFrame
        From `runs.grid`, of methods whose candidates are the states' fronts side by side.
    problems : those of the grid

    Returns
    -------
    DataFrame
        Like `records`, with other solutions; rows without candidates stay as they are.
    """
    known, solutions = {problem.id: problem for problem in problems}, []
    for run in records.itertuples():
        found = [candidate["solution"] for candidate in run.candidates]
        tasks = known[run.problem].tasks(run.seed) if found else []
        chosen = {task.output: _of_highest_score({solution[task.output] for solution in found}, task) for task in tasks}
        solutions.append(chosen or run.solution)
    return records.assign(solution=solutions)


def _of_highest_score(texts: Iterable[str], task: Task) -> str:
    """Of the expressions for a table that no shorter one surpasses, that to which the error falls most."""
    values = dict(zip(task.inputs, np.asarray(task.X, float).T, strict=True))
    power = np.mean(task.y**2) or 1.0

    def loss(expression: Expression) -> float:
        relative = float(np.mean((expression(values) - task.y) ** 2) / power)
        return relative if np.isfinite(relative) else np.inf

    sized = sorted((checked_size(parse(text).tree), loss(parse(text)), text) for text in texts)
    front = [line for i, line in enumerate(sized) if all(line[1] < shorter[1] for shorter in sized[:i])]
    sizes, losses, _ = map(np.array, zip(*front, strict=True))
    return front[choose(losses, scores_of(losses, sizes), "score")][2]


INDEX, COLUMNS = ["model", "modality", "setting"], ["metric", "split", "states"]


def printed_means() -> pd.DataFrame:
    """SR2 and ACC of Table 2. Index: model, modality, setting; columns: metric, split, states; NaN if not printed."""
    rows = published("symbolbench_table2").query("split != ''").rename(columns={"dim": "states"})
    rows["value"], rows["states"] = pd.to_numeric(rows["value"]), rows["states"].astype(int)
    return rows.pivot(index=INDEX, columns=COLUMNS, values="value").sort_index(axis=1)


def correlations() -> pd.DataFrame:
    """Tables 5 and 9 from the printed columns of Table 2: Pearson's r of complexity and OOD accuracy.

    Returns
    -------
    DataFrame
        Index: condition ('without_context'; 'with_context' is context or chain of thought) and dim, as printed.
        Columns: columns (how many of Table 2), r and printed.
    """
    groups = _pairs().groupby(["condition", "dim"])
    frame = groups.size().to_frame("columns").assign(r=groups.apply(lambda part: part.corr().iloc[0, 1]))
    return frame.assign(printed=_printed_correlations()).sort_index(ascending=[False, True])


def nearest() -> pd.Series:
    """Of the correlations of any three or more of the columns that which is nearest to the printed one, by its key."""
    printed = _printed_correlations()
    return pd.Series({key: _nearest(part, printed[key]) for key, part in _pairs().groupby(["condition", "dim"])})


def _nearest(pairs: pd.DataFrame, printed: float) -> float:
    chosen = (list(some) for n in range(3, len(pairs) + 1) for some in itertools.combinations(range(len(pairs)), n))
    with np.errstate(invalid="ignore"):
        found = [np.corrcoef(pairs.to_numpy()[some].T)[0, 1] for some in chosen]
    return min((r for r in found if np.isfinite(r)), key=lambda r: abs(r - printed))


def _pairs() -> pd.DataFrame:
    """Complexity and OOD accuracy of each printed column of Table 2 that has both."""
    rows = published("symbolbench_table2").query("value != ''").astype({"value": float})
    rows["condition"] = np.where(rows["setting"].isin(("context", "cot")), "with_context", "without_context")
    used = rows.query("metric == 'complexity' or (metric == 'acc_0.9' and split == 'ood')")
    keys = ["condition", "dim", "model", "modality", "setting"]
    return used.pivot(index=keys, columns="metric", values="value").dropna()


def _printed_correlations() -> pd.Series:
    return published("symbolbench_table5_9").set_index(["condition", "dim"])["value"].astype(float)


def figure3(released: pd.DataFrame) -> pd.DataFrame:
    """Figure 3 (a) from the stored scores (`derive.released`) beside what the paper draws.

    Returns
    -------
    DataFrame
        Index: model and reasoning ('without', 'with'). Columns: runs, SR2 and ACC (shares, with the paper's
        divisors), "SR2 drawn" and "ACC drawn" (NaN where not recovered).
    """
    drawn, facts = published("symbolbench_figure3a"), studies()["cde"]["figures"]["3a"]
    r2 = released[released["number"] <= facts["last"]].groupby(["model", "reasoning"])["r2"]
    points = drawn.astype({"value": float}).pivot(index=["model", "reasoning"], columns="metric", values="value")
    points = points.loc[drawn.set_index(["model", "reasoning"]).index.unique()].rename_axis(columns=None)
    return points.add_suffix(" drawn").assign(
        runs=r2.size(),
        SR2=r2.agg(lambda values: values.clip(lower=0).sum()) / facts["divisor"]["sr2"],
        ACC=r2.agg(lambda values: (values >= 0.9).sum()) / facts["divisor"]["acc_0.9"],
    )[["runs", "SR2", "SR2 drawn", "ACC", "ACC drawn"]]

"""Values that the essays state, from tables/: prose.yaml asks for them in the middle of its sentences."""

import functools
import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import rediscover as rd
from rediscover.metrics.trajectories import sr2
from rediscover.report import published
from rediscover.studies.boolean import analysis as boolean

import pandas as pd

TABLES = Path(__file__).parents[1] / "tables"


class Interval(NamedTuple):
    """A value with the ends of its interval; formatted as ``value [low, high]``, all three alike."""

    value: float
    low: float
    high: float

    def __format__(self, form):
        value, low, high = (format(part, form) for part in self)
        return f"{value} [{low}, {high}]"


@functools.cache
def table(name: str) -> pd.DataFrame:
    return pd.read_csv(TABLES / f"{name}.csv")


@functools.cache
def provenance(notebook: str) -> dict:
    """Profile, parameters and more of the run that made the tables of a notebook, given its number."""
    (path,) = TABLES.glob(f"{notebook}_*.provenance.json")
    return json.loads(path.read_text())


def setting(notebook: str, name: str):
    return provenance(notebook)["parameters"][name]


def row(name: str, **where) -> dict:
    """The one row of a table with these values."""
    frame = table(name)
    for column, value in where.items():
        frame = frame[frame[column] == value]
    (found,) = frame.to_dict("records")
    return found


def interval(row: dict, value="value", low="low", high="high") -> Interval:
    return Interval(row[value], row[low], row[high])


def count(name: str, what: str = "problem") -> int:
    """Different values in a column."""
    return table(name)[what].nunique()


def row_count(name: str, **where) -> int:
    return int(table(name)[list(where)].eq(pd.Series(where)).all(axis=1).sum())


WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()


def word(number) -> str:
    return WORDS[int(number)]


def shared(values) -> str:
    """What several values have in common, or all of them where a sentence should no longer speak of one."""
    return " or ".join(sorted(set(map(str, values))))


def how_many(true) -> str:
    """Of some comparisons: all, some, or no."""
    return "all" if all(true) else "some" if any(true) else "no"


def listed(numbers) -> str:
    """Whole numbers in words: one; two to four; one, three."""
    numbers = sorted(numbers)
    words = [word(number) for number in numbers]
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{words[0]} to {words[-1]}"
    return ", ".join(words)


# --- 10: surfaces


def copied_cells() -> tuple[int, int]:
    """Cells of OpenEvolve in Table 2 that equal the implicit ones of Table 1, and all of them."""
    one, two = (published(f"surfacebench_table{n}").query("method == 'OpenEvolve'") for n in (1, 2))
    both = two.merge(one[one["representation"] == "implicit"], on=["method", "backbone", "metric"])
    return (both["value_x"] == both["value_y"]).sum(), len(both)


def best_implicit_nmse() -> float:
    cells = published("surfacebench_table1").query("representation == 'implicit' and metric == 'nmse'")
    return cells["value"].astype(float).min()


def table1_methods(classical: bool) -> int:
    rows = published("surfacebench_table1")
    return rows[(rows["backbone"] == "") == classical]["method"].nunique()


def surfaces(subset: str) -> int:
    return table("surfaces_scores").query("subset == @subset")["problem"].nunique()


# --- 30: coupled equations


def affine(split: str) -> pd.DataFrame:
    """SR2 of the affine fit and the best printed model, by number of states."""
    return table("cde_affine").query("split == @split").set_index("states")


def affine_bounds(split: str, states: int) -> str:
    """The interval as the notebook's Table 2 has it, such as [88, 98]."""
    column = {"id": "SR2, in distribution", "ood": "SR2, out of distribution"}[split]
    return row("cde_table2_kept", states=states, method="least_squares")[column].partition(" ")[2]


@functools.cache
def affine_by_draw(draws: int = 5) -> list[float]:
    """SR2 of the affine fit to four states, in percent, for several second initial states: computed, in no table."""
    answers = [(rd.problem(id), rd.method("least_squares").solve(rd.problem(id))) for id in rd.problems("cde", "4")]
    r2 = [[rd.score(p, a, seed=seed)["r2_trajectories_ood"] for p, a in answers] for seed in range(draws)]
    return [100 * sr2(values) for values in r2]


def verdict(split: str, order: str) -> str:
    """Numbers of states for which the fit is ahead of, within or behind its interval."""
    rows = affine(split)
    return listed(rows.index[rows["comparison"] == order])


def systems() -> int:
    return affine("id")["systems"].sum()


def repeated_systems() -> int:
    rows = table("cde_duplicates").query("method == 'least_squares'").groupby("sample")["systems"].sum()
    return rows["all"] - rows["distinct"]


def table6_setting(name: str) -> str:
    return shared(json.loads(text)[name] for text in table("cde_table6_scores")["settings"])


def correlations(setting: str) -> pd.DataFrame:
    """Cells of Tables 5 and 9, recomputed from Table 2."""
    return table("cde_ledger").query("table == 'Tables 5 and 9' and row == @setting")


def other_sign(cells: pd.DataFrame) -> int:
    return (cells["published"].astype(float) * cells["measured"].astype(float) < 0).sum()


# --- 31: Boolean networks


def beside_models(method: str, measure: str) -> dict:
    """A reference beside the printed models; the measure is a short name and a split, such as ``BI id``."""
    name, split = measure.split()
    names = {"P": "precision", "R": "recall", "acc": "accuracy", "BI": "informedness"}
    return row("boolean_references", method=method, split=split, measure=names[name])


def cells_back(cell: str = "T", verdict: str = "reproduced") -> int:
    """Printed cells of LogicGep whose name begins so, with this verdict."""
    rows = table("boolean_logicgep")
    return (logicgep_cells().str.startswith(cell) & (rows["verdict"] == verdict)).sum()


def logicgep_cells() -> pd.Series:
    """Names of the printed cells of LogicGep, such as ``T3 id precision``."""
    rows = table("boolean_logicgep").fillna({"split": ""})
    return rows["table"].str.replace("Table ", "T") + " " + rows["split"] + " " + rows["metric"]


def cells_printed(cell: str = "T") -> int:
    return logicgep_cells().str.startswith(cell).sum()


def back_by_seeds() -> int:
    """Printed cells of Table 3 within the range over seeds alone, no network being left out."""
    runs = table("boolean_scores").query("method == 'logicgep'")
    seeds = [boolean.row(group) for _, group in runs.groupby("seed")]
    inside = 0
    for cell in published("symbolbench_table3").query("model == 'LogicGep'").itertuples():
        values = [measured[cell.split, cell.metric] for measured in seeds]
        half = 0.5 * 10.0 ** -len(cell.value.partition(".")[2])
        inside += min(values) - half <= float(cell.value) <= max(values) + half
    return inside


def by_seed(score: str) -> pd.Series:
    """Mean score of LogicGEP over networks, for each seed."""
    return table("boolean_scores").query("method == 'logicgep'").groupby("seed")[score].mean()


def both(name: str, *columns: str, **where) -> str:
    """The whole number that columns of a row share after rounding."""
    return shared(f"{row(name, **where)[column]:.0f}" for column in columns)


def below(method: str, measure: str) -> list[bool]:
    """For both halves, whether all printed models are below the interval of a method."""
    rows = [beside_models(method, f"{measure} {half}") for half in ("id", "ood")]
    return [row["models_below"] == row["models"] for row in rows]


# --- 32: causal graphs

BEST_MODEL = "best language model, printed"


def without_data(method: str) -> dict:
    return row("causal_trivial", method=method)


def edges(method: str) -> int:
    return int(table("causal_scores").query("method == @method")["edges"].sum())


def levels_ahead() -> str:
    model, self_edges = without_data(BEST_MODEL), without_data("self_edges")
    return " and ".join(level for level in ("0.5", "0.7", "0.8") if model[f"acc_{level}"] > self_edges[f"acc_{level}"])


def ahead_of(reference: str, rule: str) -> pd.Series:
    """Mean difference of F1 to a reference, a value for each constraint-based method."""
    return table("causal_versus").query("b == @reference and condition == @rule")["mean_difference"]


def recorded(method: str, status: str) -> pd.DataFrame:
    return table("causal_recorded").query("method == @method and status == @status")


def stopped() -> pd.Series:
    """Variables of the graphs on which LPCMCI was stopped."""
    graphs = recorded("lpcmci", "timeout")["problem"]
    answers = table("causal_recorded").dropna(subset="parents")
    answers = answers[answers["problem"].isin(graphs)]
    return answers.groupby("problem")["parents"].first().map(lambda parents: len(json.loads(parents)))


def too_large() -> str:
    reasons = recorded("jpcmci_plus", "unsupported")["reason"].str.extract(r"has (\d+) variables")[0]
    return " and ".join(sorted(reasons.dropna(), key=int))


def levels_from_counts() -> float:
    """Share of PCMCI's graphs at 0.8 if the one graph of exactly 4/5 counted."""
    found = row("causal_table4", method="pcmci", source="rediscover")
    return found["acc_0.8"] + 100 / found["graphs"]


# --- 40, 41: differential equations


def coupled_odes() -> int:
    return table("mdbench_odes_scores").query("subset > 1")["problem"].nunique()


def readings(column: str, found: bool) -> int:
    """Published tests that a reading of W allows, or does not."""
    return (table("mdbench_tests")[f"{column}_min"].notna() == found).sum()


def marks_of_weak_methods() -> str:
    return shared(word(row("mdbench_pdes_matches", method=method)["printed_marks"]) for method in ("WSINDy", "EWSINDy"))


def nodes(dataset: str, method: str) -> str:
    """Complexity of a published cell and of ours."""
    cell = row("mdbench_pdes_cells", dataset=dataset, method=method)
    return shared(f"{cell[f'complexity_{source}']:.0f}" for source in ("printed", "rediscover"))


# --- 50: text


def strings() -> int:
    return row("passages_table1", venue="Total", unit="strings")["total"]


def entries() -> int:
    return row("passages_table1", venue="Total", unit="entries")["total"]


def rows_released() -> int:
    rows = table("passages_models")
    ends = [rows[[end, "n_pairs"]].set_axis(["model", "n"], axis=1) for end in "ab"]
    return pd.concat(ends).groupby("model")["n"].max().sum()


def of_models(metric: str) -> pd.Series:
    """A column of Table 3 for the five models, without totals and baselines."""
    return table("passages_table3").set_index("model").loc[:"Qwen3-235B", metric]


def judged(pairing: str, rubric: str = "Equivalence") -> pd.Series:
    """Spearman correlation of judge and people on a rubric, by model."""
    rows = table("passages_alignment").query("pairing == @pairing and rubric == @rubric")
    return rows.set_index("model")["spearman"]


def ends_above(rubric: str) -> float:
    """What the lower ends of the intervals of all models exceed, with one decimal."""
    ends = table("passages_alignment").query("pairing == 'keys' and rubric == @rubric")["low"]
    return math.floor(10 * ends.min()) / 10


def behind(model: str) -> int:
    """Models that a model is ahead of, as ST-10 finds."""
    return int(re.search(rf"{model} is ahead of (\d+) of", row("passages_claims", claim_id="ST-10")["finding"])[1])


def pooled(rubric: str, judge: str = "language model") -> float:
    return row("passages_agreement", pooled=rubric, judge=judge, pairing="keys")["spearman"]


def largest_of_rule_judge(*rubrics: str) -> float:
    """Size of its largest correlation, with one decimal."""
    return round(max(abs(pooled(rubric, "rule judge")) for rubric in rubrics), 1)


def kappa(pairing: str) -> float:
    return table("passages_alignment").query("pairing == @pairing")["kappa"].median()


def text_numbers(*verdicts: str) -> int:
    return table("passages_ledger").query("table == 'Sections 5 and 6' and verdict in @verdicts").shape[0]


def come_back(*tables: str) -> pd.Series:
    return table("passages_ledger").query("table in @tables")["verdict"].eq("reproduced")


def range_in_text() -> str:
    """Lower end of Validity and Appropriateness."""
    return f"{row('passages_ledger', column='range of Validity and Appropriateness scores (1-5 scale)')['low']:.1f}"


def venues_differ() -> str:
    """Rubrics in which venues differ by Holm's correction."""
    rows = table("passages_density").query("venue_p_holm < 0.05")
    return " and ".join(rows["score"][::-1])


def rubrics_above() -> str:
    return row("passages_ledger", column="number of metrics on which humans score above the LLM judge")["measured"]


# --- 60: one table, every definition


def tau(family: str, paper: str) -> Interval:
    return interval(row("cross_rankings", family=family, paper=paper), "tau")


def within(family: str, paper: str) -> Interval:
    return interval(row("cross_rankings", family=family, paper=paper), "same", "same_low", "same_high")


def alike_within(family: str, *papers: str) -> str:
    """The one interval that several papers share."""
    return shared(f"{within(family, paper):.2f}" for paper in papers)


def competing() -> list[str]:
    """The ranked methods: all columns behind family, paper and the three controls."""
    return list(table("cross_table").columns[5:])


def place(paper: str, method: str) -> str:
    errors = row("cross_table", family="error", paper=paper)
    ranked = sorted(competing(), key=errors.get)
    return {0: "first", len(ranked) - 1: "last"}.get(ranked.index(method), "neither first nor last")


def best_of_all(paper: str) -> str:
    """The least error, controls included except the truth."""
    errors = row("cross_table", family="error", paper=paper)
    return min(["mean", "zero", *competing()], key=errors.get)


def decades(method: str) -> int:
    """Power of ten of a method's largest error."""
    return math.floor(math.log10(table("cross_scores").query("method == @method")["nmse_release"].max()))


def recovered(study: str, method: str) -> str:
    found = row("cross_everywhere_runs", study=study, method=method)
    return f"{found['recovered'] * found['n']:.0f} of {found['n']:.0f}"


def missed(study: str, method: str) -> int:
    found = row("cross_everywhere_runs", study=study, method=method)
    return round((1 - found["recovered"]) * found["n"])


def least_error(*studies: str) -> str:
    """The method with the smallest median error in each of the studies, among those run on all problems."""
    rows = table("cross_everywhere_runs").query("where == 'study' and method != 'oracle'").set_index("method")
    return shared(rows.loc[rows["study"] == study, "error"].idxmin() for study in studies)

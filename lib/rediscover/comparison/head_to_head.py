"""One method beside others on the same problems: measures, paired tests, wins and losses, error against size."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.stats

from ..report import plots
from ..report.axes import front
from ..report.comparisons import paired_test, paired_tests
from ..report.names import in_words
from ..report.summaries import interval, next_share
from ..runs.scoring import metric, worst
from . import budgets
from .sections import Section

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.figure import Figure

# Two scores are equal if they differ by less than this share, or if both are below ATOL: that is rounding.
RTOL, ATOL = 1e-6, plots.DECADES
__all__ = ["Comparison"]
EVERY = "all"  # the condition of a comparison over all subsets
DRAWS = 1000  # of the interval of an effect


@dataclass(frozen=True)
class Comparison:
    """A method compared with others on the problems of a study.

    A problem counts once: where there are several seeds, with the mean over those that both methods have. A score that
    is missing where the other method has one counts as the worst; a problem to which a measure does not apply is left
    out.

    Attributes
    ----------
    study : prefix of the problems' ids
    mine : the method's name
    answers : DataFrame
        One row for each method, problem and seed, with the columns subset, size, origin and the scores.
    measures : columns of `answers`, the decisive one first
    remarks : how methods and budgets were chosen, one sentence each
    equal_seconds : whether budgets were chosen so that seconds are about equal
    """

    study: str
    mine: str
    answers: pd.DataFrame
    measures: list[str]
    remarks: tuple[str, ...] = ()
    equal_seconds: bool = False

    def __post_init__(self) -> None:
        absent = [name for name in self.measures if name not in self.answers]  # of methods without expressions
        asked = self.answers.loc[self.answers["method"] == self.mine, "problem"].unique()
        if (n := self.answers["problem"].nunique()) > len(asked):
            said = f"{self.mine} has answers to {len(asked)} of {n} problems: everything here is of these alone."
            object.__setattr__(self, "remarks", (said, *self.remarks))
        answers = self.answers[self.answers["problem"].isin(asked)].assign(**dict.fromkeys(absent, np.nan))
        object.__setattr__(self, "answers", answers)

    @functools.cached_property
    def methods(self) -> list[str]:
        """Mine, then the others in the order of all tables."""
        return [self.mine, *plots.order(set(self.answers["method"]) - {self.mine})]

    @property
    def conditions(self) -> dict[str, list[str]]:
        """Name of each part of the problems that is compared -> their ids: all of them, and every subset."""
        mine = self.answers[self.answers["method"] == self.mine]
        parts = {str(name): list(part["problem"].unique()) for name, part in mine.groupby("subset", sort=False)}
        return parts if len(parts) == 1 else {EVERY: list(mine["problem"].unique()), **parts}

    @functools.cached_property
    def budgets(self) -> pd.DataFrame:
        """What each method used, and where its answers come from; see `budgets.table`."""
        return budgets.table(self.answers, self.methods)

    @property
    def warnings(self) -> list[str]:
        """A sentence for each method whose budget is not that of mine; see `budgets.warnings`."""
        return budgets.warnings(self.budgets, self.mine, ("seconds",) if self.equal_seconds else budgets.USED)

    @functools.cached_property
    def values(self) -> pd.DataFrame:
        """Means of shares and medians of other measures, with their 95 % intervals over problems.

        Index: subset, method, column (a measure, or size). Columns: value, low, high.
        """
        rows = {}
        for condition, ids in self.conditions.items():
            part = self.answers[self.answers["problem"].isin(ids)]
            for name in self.methods:
                group = part[part["method"] == name]
                for measure in self.measures:
                    rows[condition, name, measure] = self._interval(group, measure)
                rows[condition, name, "size"] = interval(group["size"], np.median)
        frame = pd.DataFrame.from_dict(rows, orient="index")[["value", "low", "high"]]
        return frame.rename_axis(["subset", "method", "column"])

    @property
    def table(self) -> pd.DataFrame:
        """Means of shares and medians of other measures. Index: subset, method. Columns: problems, measures, size."""
        return self._section_of_values().frame

    @functools.cached_property
    def tests(self) -> pd.DataFrame:
        """Wilcoxon tests of mine against each other method, with the columns of `runs.schema.PAIRED_TEST`.

        Scores are turned so that more is better: a - b and the effect are positive where mine is better, whatever the
        direction of the measure. The row of all problems holds those of its parts, so that the two are no family:
        Holm's correction is over the tests of all problems, and apart from them over those of the parts.
        """
        rows = [
            paired_test(turn(measure) * a, turn(measure) * b, (self.mine, other), measure=measure, condition=condition)
            for condition, measure, other, a, b in self._pairs
        ]
        whole = paired_tests(row for row in rows if row["condition"] == EVERY)
        parts = paired_tests(row for row in rows if row["condition"] != EVERY)
        return pd.concat([each for each in (whole, parts) if len(each)] or [parts], ignore_index=True)

    @functools.cached_property
    def effects(self) -> pd.DataFrame:
        """Wins, losses and ties beside the effect of each test and its 95 % interval over problems.

        Columns: measure, condition, a, b, wins, losses, ties, effect, low, high (rank-biserial, positive where mine is
        better), p_holm.
        """
        keys = ["measure", "condition", "a", "b"]
        bounds = [
            (measure, condition, self.mine, other, *effect_interval(turn(measure) * a, turn(measure) * b))
            for condition, measure, other, a, b in self._pairs
        ]
        tests = self.tests[[*keys, "p_holm"]]
        merged = self.outcomes.merge(pd.DataFrame(bounds, columns=[*keys, "effect", "low", "high"]), on=keys)
        return merged.merge(tests, on=keys)

    @functools.cached_property
    def outcomes(self) -> pd.DataFrame:
        """On how many problems mine is better. Columns: measure, condition, a, b, wins, losses, ties."""
        rows = []
        for condition, measure, other, a, b in self._pairs:
            equal = np.isclose(a, b, rtol=RTOL, atol=ATOL)
            better = turn(measure) * a > turn(measure) * b
            counts = {"wins": int((better & ~equal).sum()), "losses": int((~better & ~equal).sum())}
            names = {"measure": measure, "condition": condition, "a": self.mine, "b": other}
            rows.append(names | counts | {"ties": int(equal.sum())})
        return pd.DataFrame(rows, columns=["measure", "condition", "a", "b", "wins", "losses", "ties"])

    @functools.cached_property
    def pareto(self) -> pd.DataFrame:
        """The last measure and the median size of each method, and whether no other is better in both.

        Index: method. Columns: the measure, size, front. Methods without expressions have no size and are left out.
        """
        measure, every = self.measures[-1], self.values.xs(next(iter(self.conditions)), level="subset")
        frame = every["value"].unstack("column").reindex(self.methods)[[measure, "size"]].rename_axis(columns=None)
        frame = frame.dropna()
        return frame.assign(front=front(np.column_stack([-turn(measure) * frame[measure], frame["size"]])))

    def label(self, measure: str) -> str:
        """A measure's name for readers, with its statistic and direction."""
        arrow = "\N{DOWNWARDS ARROW}" if turn(measure) < 0 else "\N{UPWARDS ARROW}"
        return f"{measure}, {statistic(measure).__name__} {arrow}"

    def _interval(self, group: pd.DataFrame, measure: str) -> dict[str, float]:
        known = group[["problem", measure]].dropna()
        if statistic(measure) is np.mean and len(known) and known[measure].isin((0, 1)).all():
            each = known.groupby("problem")[measure].mean()
            return next_share(each, len(each))
        return interval(group[measure], statistic(measure))

    @functools.cached_property
    def _pairs(self) -> list[tuple[str, str, str, np.ndarray, np.ndarray]]:
        """Condition, measure, other method, and the scores of both on the problems that both have."""
        found = []
        indexed = {
            name: rows.set_index(["problem", "seed"]).sort_index() for name, rows in self.answers.groupby("method")
        }
        for other in self.methods[1:]:
            shared = indexed[self.mine].index.intersection(indexed[other].index)
            for condition, ids in self.conditions.items():
                part = shared[shared.get_level_values("problem").isin(ids)]
                for measure in self.measures:
                    both = pd.DataFrame({name: indexed[name].loc[part, measure] for name in (self.mine, other)})
                    if both.isna().all().any():  # a method without expressions, for a measure of expressions
                        continue
                    both = both.dropna(how="all").fillna(worst(measure)).groupby("problem", sort=False).mean()
                    a, b = both[self.mine].to_numpy(float), both[other].to_numpy(float)
                    found.append((condition, measure, other, a, b))
        return found

    def plot(self) -> "Figure":
        """Error against size of every method, and mine's wins, ties and losses."""
        import matplotlib.pyplot as plt

        measure, front = self.measures[-1], self.pareto
        with plots.style():
            figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
            for name, row in front.iterrows():
                look = {"color": plots.colour(str(name)), "mec": "black" if row["front"] else "none", "label": name}
                left.plot(row["size"], row[measure], plots.marker(str(name)), ms=9 if name == self.mine else 7, **look)
            left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
            if len(front) and (front[measure] > 0).all() and np.isfinite(front[measure]).all():
                plots.logarithmic(left, left.yaxis)
            left.margins(x=0.25, y=0.15)
            left.set(xlabel="nodes of the answer, median", ylabel=self.label(measure), title="black edge: on the front")
            counts = self.outcomes[self.outcomes["condition"] == next(iter(self.conditions))]
            names = [f"{row.measure}\nagainst {row.b}" for row in counts.itertuples()]
            start = np.zeros(len(counts))
            for kind, colour in (("wins", "#0072b2"), ("ties", "#bbbbbb"), ("losses", "#d55e00")):
                right.barh(range(len(counts)), counts[kind], left=start, color=colour, label=kind)
                start += counts[kind].to_numpy(float)
            right.set_yticks(range(len(counts)), names, size=7)
            right.invert_yaxis()
            right.set(xlabel="problems", title=f"{self.mine}: wins, ties, losses")
            right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        plt.close(figure)
        return figure

    def sections(self) -> list[Section]:
        """Every table, in the order of a report."""
        effects, sizes = self.effects, self.values.xs(next(iter(self.conditions)), level="subset")
        tests = effects[["measure", "condition", "b", "wins", "losses", "ties", "effect", "p_holm"]]
        names = {"b": "against", "condition": "subset"}
        pareto = self.pareto
        columns = {"effect": (effects["low"], effects["high"])}
        both = {name: sizes.xs(name, level="column").loc[pareto.index] for name in (self.measures[-1], "size")}
        return [
            self._section_of_values(),
            Section(f"Paired tests of {self.mine}", tests.rename(columns=names), columns),
            Section("Error and size", pareto, {name: (part["low"], part["high"]) for name, part in both.items()}),
            budgets.section(self.budgets),
        ]

    def _section_of_values(self) -> Section:
        counts = self.answers.groupby("method")["problem"].agg(set)
        heads = {measure: self.label(measure) for measure in self.measures} | {"size": "size, median"}
        parts = {
            bound: self.values[bound].unstack("column").reindex(columns=[*heads]).rename(columns=heads)
            for bound in ("value", "low", "high")
        }
        order = pd.MultiIndex.from_product([[*self.conditions], self.methods], names=["subset", "method"])
        frame = parts["value"].reindex(order).rename_axis(columns=None)
        frame.insert(0, "problems", [len(counts[name] & {*self.conditions[part]}) for part, name in order])
        bounds = {
            head: (parts["low"].reindex(order)[head], parts["high"].reindex(order)[head]) for head in heads.values()
        }
        best = {heads[measure]: metric(measure).direction for measure in self.measures}
        return Section(f"{self.mine} on {self.study}", frame, bounds, best)

    @property
    def notes(self) -> list[str]:
        """What a reader of the tables must know, the warnings first."""
        mine = self.answers[self.answers["method"] == self.mine]
        return [*(f"Warning: {text}" for text in [*self.warnings, *failures(mine)]), *self.remarks, NOTE]

    def latex(self) -> str:
        """The measures and the tests as LaTeX (booktabs), with budgets, seeds and numbers of problems as caption."""
        values, tests, *_ = self.sections()
        whole = self.answers[self.answers["method"] == self.mine]
        about = f"{whole['problem'].nunique()} problems, {_seeds(whole['seed'])}. {budgets.sentence(self.budgets)}"
        first = f"{self.mine} on {self.study}: {' '.join([about, *self.remarks, SHOWN])}"
        second = f"{self.mine} against others on {self.study}, in pairs: {about} {NOTE}"
        return "\n".join([values.latex(first, f"{self.study}-values"), tests.latex(second, f"{self.study}-tests")])

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.sections()), "\n".join(self.notes)])

    def _repr_html_(self) -> str:
        parts = [f"<h4>{section.title}</h4>{section.html()}" for section in self.sections()]
        return "".join([*parts, *(f"<p>{note}</p>" for note in self.notes)])


SHOWN = (
    "Means of shares and medians of other measures, with 95 % intervals over problems (Wilson's where each problem is "
    "0 or 1, else bootstrap); the best in bold."
)
NOTE = (
    "In brackets: 95 % intervals over problems, Wilson's of a share of problems that are each 0 or 1, else bootstrap. "
    "The median of an even number of problems is the lower of the two in the middle. "
    f"Wins, losses and ties count problems; scores that differ by less than {RTOL:g} of the larger, or are both below "
    f"{ATOL:g}, are a tie. The effect is rank-biserial, without the ties (-1: each problem that is no tie is lost). "
    "p is of Wilcoxon's signed-rank test, corrected by Holm: once for all problems, once for the subsets."
)


def statistic(measure: str) -> Callable:
    """What stands for the scores of many problems: the mean of a share, the median of anything else."""
    return np.mean if metric(measure).bounds == (0.0, 1.0) else np.median


def turn(measure: str) -> float:
    """What a score is multiplied with so that more is better."""
    return -1.0 if metric(measure).direction == "lower" else 1.0


def failures(rows: pd.DataFrame) -> list[str]:
    """How runs failed, with an example of each way.

    Parameters
    ----------
    rows : DataFrame
        With method, problem, status and, as far as known, reason.

    Returns
    -------
    list of str

    Examples
    --------
    >>> rows = {"method": "mine", "problem": ["p", "q"], "status": ["ok", "error"], "reason": ["", "my bug"]}
    >>> failures(pd.DataFrame(rows))
    ['mine: 1 of 2 runs ended with error, such as q: my bug']
    """
    said: list[str] = []
    if "status" not in rows:
        return said
    failed = rows[rows["status"] != "ok"]
    for (name, status), part in failed.groupby(["method", "status"], sort=False):
        reason = part["reason"].iloc[0] if "reason" in part else ""
        count = f"{len(part)} of {sum(rows['method'] == name)} runs ended with {status}"
        said.append(f"{name}: {count}, such as {part['problem'].iloc[0]}: {reason}".rstrip(": "))
    return said


def effect_interval(a: np.ndarray, b: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """Rank-biserial correlation of pairs, positive where a is larger, with its 95 % bootstrap interval over pairs.

    Parameters
    ----------
    a, b : ndarray, shape (n,)
        Two equal infinities are an equal pair.
    seed : int
        Of the draws.

    Returns
    -------
    (effect, low, high)
        0 where all pairs are equal.

    Examples
    --------
    >>> effect_interval(np.array([1.0, 2.0, 4.0]), np.array([0.0, 0.0, 0.0]))
    (1.0, 1.0, 1.0)
    >>> effect_interval(np.array([1.0, 2.0]), np.array([3.0, 1.0]))[0]  # ranks 2 and 1: (1 - 2) / 3
    -0.3333333333333333
    """
    with np.errstate(invalid="ignore"):
        difference = np.where(a == b, 0.0, a - b)
    draws = np.random.default_rng(seed).integers(len(difference), size=(DRAWS, len(difference)))
    drawn = np.vstack([difference, difference[draws]])
    zeros = (drawn == 0).sum(axis=1, keepdims=True)  # which have the lowest ranks, and do not count
    ranks = np.where(drawn == 0, 0.0, scipy.stats.rankdata(np.abs(drawn), axis=1) - zeros)
    total = ranks.sum(axis=1)
    effects = np.divide((np.sign(drawn) * ranks).sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
    low, high = np.quantile(effects[1:], [0.025, 0.975])
    return float(effects[0]), float(low), float(high)


def _seeds(seeds: pd.Series) -> str:
    known = sorted(set(seeds))
    return f"seed{'s' * (len(known) > 1)} {in_words(known)}"

"""One method beside others on the same problems: measures, paired tests, wins and losses, error against size."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..report import plots
from ..report.comparisons import paired_test, paired_tests
from ..report.summaries import interval
from ..report.tables import number
from ..runs.scoring import metric, worst

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.figure import Figure

# Two scores are equal if they differ by less than this share, or if both are below ATOL: that is rounding.
RTOL, ATOL = 1e-6, plots.DECADES
__all__ = ["Comparison"]
EVERY = "all"  # the condition of a comparison over all subsets


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
    """

    study: str
    mine: str
    answers: pd.DataFrame
    measures: list[str]

    def __post_init__(self) -> None:
        absent = [name for name in self.measures if name not in self.answers]  # of methods without expressions
        object.__setattr__(self, "answers", self.answers.assign(**dict.fromkeys(absent, np.nan)))

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

    @property
    def origins(self) -> pd.DataFrame:
        """Where the answers of each method come from, and what they cost.

        Index: method. Columns: origin, problems, seeds, evaluations (the median, NaN where it is not known).
        """
        counted = pd.to_numeric(self.answers.get("evaluations", np.nan), errors="coerce")
        grouped = self.answers.assign(counted=counted).groupby("method", sort=False)
        frame = grouped.agg(
            origin=("origin", lambda places: ", ".join(sorted(set(places)))),
            problems=("problem", "nunique"),
            seeds=("seed", "nunique"),
            evaluations=("counted", "median"),
        )
        return frame.loc[self.methods]

    @property
    def table(self) -> pd.DataFrame:
        """Means of shares and medians of other measures. Index: subset, method. Columns: problems, measures, size."""
        rows = {}
        for condition, ids in self.conditions.items():
            part = self.answers[self.answers["problem"].isin(ids)]
            for name in self.methods:
                group = part[part["method"] == name]
                rows[condition, name] = {
                    "problems": group["problem"].nunique(),
                    **{self.label(m): self._value(group, m) for m in self.measures},
                    "size, median": group["size"].median(),
                }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["subset", "method"])

    @functools.cached_property
    def tests(self) -> pd.DataFrame:
        """Wilcoxon tests of mine against each other method, with the columns of `runs.schema.PAIRED_TEST`."""
        return paired_tests(
            paired_test(a, b, (self.mine, other), measure=measure, condition=condition)
            for condition, measure, other, a, b in self._pairs
        )

    @functools.cached_property
    def outcomes(self) -> pd.DataFrame:
        """On how many problems mine is better. Columns: measure, condition, a, b, wins, losses, ties."""
        rows = []
        for condition, measure, other, a, b in self._pairs:
            equal = np.isclose(a, b, rtol=RTOL, atol=ATOL)
            better = (a < b) if metric(measure).direction == "lower" else (a > b)
            counts = {"wins": int((better & ~equal).sum()), "losses": int((~better & ~equal).sum())}
            names = {"measure": measure, "condition": condition, "a": self.mine, "b": other}
            rows.append(names | counts | {"ties": int(equal.sum())})
        return pd.DataFrame(rows, columns=["measure", "condition", "a", "b", "wins", "losses", "ties"])

    @functools.cached_property
    def pareto(self) -> pd.DataFrame:
        """The last measure and the median size of each method, and whether no other is better in both.

        Index: method. Columns: the measure, size, front. Methods without expressions have no size and are left out.
        """
        measure = self.measures[-1]
        groups = {name: self.answers[self.answers["method"] == name] for name in self.methods}
        rows = {name: {measure: self._value(g, measure), "size": g["size"].median()} for name, g in groups.items()}
        frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method").dropna()
        sign = 1 if metric(measure).direction == "lower" else -1
        return frame.assign(front=plots.front(np.column_stack([sign * frame[measure], frame["size"]])))

    def label(self, measure: str) -> str:
        """A measure's name for readers, with its statistic and direction."""
        share = self._share(measure)
        arrow = "\N{DOWNWARDS ARROW}" if metric(measure).direction == "lower" else "\N{UPWARDS ARROW}"
        return f"{measure}, {'mean' if share else 'median'} {arrow}"

    def _share(self, measure: str) -> bool:
        return metric(measure).bounds == (0.0, 1.0)

    def _value(self, group: pd.DataFrame, measure: str) -> float:
        return float(interval(group[measure], np.mean if self._share(measure) else np.median)["value"])

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
                look = {"color": plots.colour(str(name)), "mec": "black" if row["front"] else "none"}
                left.plot(row["size"], row[measure], plots.marker(str(name)), ms=9 if name == self.mine else 7, **look)
                left.annotate(f" {name}", (row["size"], row[measure]), size=8, va="bottom")
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

    def sections(self) -> dict[str, pd.DataFrame]:
        """Every table by its title, in the order of a report."""
        outcomes = self.outcomes.merge(self.tests, on=["measure", "condition", "a", "b"])
        shown = ["measure", "condition", "b", "wins", "losses", "ties", "median_difference", "rank_biserial", "p_holm"]
        return {
            f"{self.mine} on {self.study}": self.table,
            f"Paired tests of {self.mine}": outcomes[shown].rename(columns={"b": "against", "condition": "subset"}),
            "Error and size": self.pareto,
            "Where the answers come from": self.origins,
        }

    def _shown(self) -> dict[str, pd.DataFrame]:
        return {title: frame.map(cell) for title, frame in self.sections().items()}

    def __str__(self) -> str:
        parts = [f"{title}\n{_plain(frame)}" for title, frame in self._shown().items()]
        return "\n\n".join([*parts, NOTE])

    def _repr_html_(self) -> str:
        parts = [f"<h4>{title}</h4>{frame.to_html(border=0)}" for title, frame in self._shown().items()]
        return "".join([*parts, f"<p>{NOTE}</p>"])


NOTE = (
    f"Wins, losses and ties count problems; scores that differ by less than {RTOL:g} of them, or are both below "
    f"{ATOL:g}, are a tie. p is of Wilcoxon's signed-rank test, corrected for all tests of the table (Holm)."
)


def cell(value: Any) -> str:
    """A cell of a comparison as text.

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Examples
    --------
    >>> cell(True), cell(0.25), cell(float("nan"))
    ('yes', '0.250', '')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e5:
        return f"{value:g}"
    return number(float(value) if isinstance(value, np.floating) else value)


def _plain(frame: pd.DataFrame) -> str:
    counts = frame.index.names == [None]
    return (frame if counts else frame.reset_index()).to_string(index=False)

"""Where a method stands over all studies: one row for each, by the study's own first measure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .. import comparison
from ..methods import Method, method
from ..problems import problem, problems
from ..system.studies import stated_measures, studies
from .answers import kept
from .head_to_head import Comparison, turn
from .sections import Section


@dataclass(frozen=True)
class Summary:
    """Comparisons of one method, one for each study.

    Attributes
    ----------
    mine : the method's name
    comparisons : id prefix of the study's problems -> Comparison
    left_out : sentences on the studies without one
    """

    mine: str
    comparisons: dict[str, Comparison]
    left_out: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """One row for each study, all its problems together, by its first measure.

        Index: study. Columns: problems, measure, mine, best other, its value, rank, of, effect, low, high.
        """
        return pd.DataFrame.from_dict(
            {study: _row(found) for study, found in self.comparisons.items()}, orient="index"
        ).rename_axis("study")

    def sections(self) -> list[Section]:
        """The one table, in the form of a comparison's."""
        frame = self.table
        shown = frame.drop(columns=["low", "high", "mine low", "mine high"])
        bounds = {"mine": (frame["mine low"], frame["mine high"]), "effect": (frame["low"], frame["high"])}
        return [Section(f"{self.mine} on {len(frame)} studies", shown, bounds)]

    @property
    def notes(self) -> list[str]:
        """What a reader of the table must know."""
        ranks, of = self.table["rank"], self.table["of"]
        said = [
            f"Mean rank {ranks.mean():.3g} of {of.mean():.3g} methods over {len(ranks)} studies, each by its own first "
            "measure; measures of different studies are not averaged.",
            "The effect is rank-biserial against the best other method, positive where yours is better.",
        ]
        for study, found in self.comparisons.items():
            said += [f"Warning: {study}: {text}" for text in found.warnings]
        return [*said, *self.left_out, *dict.fromkeys(r for c in self.comparisons.values() for r in c.remarks)]

    def latex(self) -> str:
        """The table as LaTeX (booktabs)."""
        [section] = self.sections()
        return section.latex(f"{section.title}. {' '.join(self.notes)}", "studies")

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.sections()), "\n".join(self.notes)])

    def _repr_html_(self) -> str:
        return "".join([*(part.html() for part in self.sections()), *(f"<p>{note}</p>" for note in self.notes)])


def compare_all(mine: str | type | Method, against: str | Iterable[str] = (), **options: Any) -> Summary:
    """Compare a method with others on every study of a paper whose problems it treats.

    Parameters
    ----------
    mine : as for `compare`; a name means the problems on which it was run, anything else is run on every study
    against : as for `compare`: others by name, where they have answers to a study, or by default its five best
    **options : as for `compare`

    Returns
    -------
    Summary

    Raises
    ------
    LookupError
        If no study is left.
    """
    named = isinstance(mine, str) and ":" not in mine
    name = str(mine) if named else comparison.known(mine)
    found, left = {}, []
    for study in every():
        known = kept(name, study, None) if named else None
        if named and known is None:
            left.append(f"{study} is left out: {name} was not run there.")
            continue
        if not named and not isinstance(problem(problems(study)[0]), method(name).accepts):
            left.append(f"{study} is left out: {name} does not treat its problems.")
            continue
        try:
            ids = [] if known is None else list(dict.fromkeys(known["problem"]))
            found[study] = comparison.compare(mine, against, study, ids=ids, **options)
        except LookupError as error:
            left.append(f"{study} is left out: {error.args[0]}.")
    if not found:
        raise LookupError(f"nothing to compare {name} on: {' '.join(left)}")
    return Summary(name, found, tuple(left))


def run_all(methods: Iterable[str], **options: Any) -> Iterator[pd.DataFrame]:
    """Run methods on every study of a paper whose problems they treat.

    Parameters
    ----------
    methods : names or references
    **options : as for `run`

    Yields
    ------
    DataFrame
        Of each study, as `run` returns it.
    """
    listed = list(methods)
    for study in every():
        first = problem(problems(study)[0])
        if treating := [each for each in listed if isinstance(first, method(each).accepts)]:
            yield comparison.run(treating, study, **options)


def every() -> list[str]:
    """Id prefixes of the problems of all studies that follow a paper and state their measures."""
    prefixes = [prefix for study in studies().values() if study.get("paper") for prefix in study["problems"]]
    return [prefix for prefix in prefixes if prefix in stated_measures()]


def _row(found: Comparison) -> dict[str, Any]:
    measure = found.measures[0]
    whole = next(iter(found.conditions))
    values = found.values.xs((whole, measure), level=("subset", "column"))
    turned = turn(measure) * values["value"]
    ranks = turned.rank(ascending=False, method="min")
    mine, best = values.loc[found.mine], turned.drop(found.mine).idxmax()
    effects = found.effects
    chosen = effects[(effects["condition"] == whole) & (effects["measure"] == measure) & (effects["b"] == best)]
    effect = {name: float(chosen[name].iloc[0]) if len(chosen) else float("nan") for name in ("effect", "low", "high")}
    return {
        "problems": len(found.conditions[whole]),
        "measure": found.label(measure),
        "mine": mine["value"],
        "mine low": mine["low"],
        "mine high": mine["high"],
        "best other": str(best),
        "its value": values.loc[best, "value"],
        "rank": int(ranks[found.mine]),
        "of": len(ranks),
        **effect,
    }

"""Where a loop keeps its programs, and which it shows: islands, a grid of features, the best few.

>>> softmax([0.0, math.log(3.0)]).round(12).tolist()
[0.25, 0.75]
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .proposals import Scored, Shown

DIGITS = 12  # significant ones that make scores equal, so that machines agree on clusters


def rounded(score: float) -> float:
    """A score with `DIGITS` significant digits.

    >>> rounded(-0.1 - 0.2) == rounded(-0.3)
    True
    """
    return float(f"{score:.{DIGITS}g}")


def softmax(values: Iterable[float]) -> np.ndarray:
    shifted = np.array(list(values), float)
    weights = np.exp(shifted - shifted.max())
    return weights / weights.sum()


class Islands:
    """Populations that never mix, each divided into clusters of equal score, as in FunSearch and LLM-SR.

    An island is drawn, each as likely; of its clusters some with replacement, with the chances softmax(score/T); of
    each a program, with the chances softmax of minus its length in characters, counted from the cluster's
    shortest in units of the longest. T falls along a sawtooth. LLM-SR empties its worse islands after hours by the
    clock, which a thousand samples do not take; nothing is emptied here.

    Attributes
    ----------
    clusters : by island, score -> programs
    counts : programs that an island was given

    Parameters
    ----------
    islands : their number.
    shown : clusters that are drawn for a prompt, at most as many as there are.
    temperature, period : T = temperature (1 - (n mod period)/period) after n programs on the island.

    References
    ----------
    B. Romera-Paredes et al., Nature 625 (2024) 468; P. Shojaee et al., arXiv:2404.18400
    """

    def __init__(self, islands: int = 10, shown: int = 2, temperature: float = 0.1, period: int = 30_000) -> None:
        self.shown, self.temperature, self.period = shown, temperature, period
        self.clusters: list[dict[float, list[Scored]]] = [{} for _ in range(islands)]
        self.counts = [0] * islands

    def add(self, program: Scored, place: int | None) -> None:
        for i in range(len(self.clusters)) if place is None else [place]:
            self.clusters[i].setdefault(rounded(program.score), []).append(program)
            self.counts[i] += 1

    def show(self, rng: np.random.Generator) -> Shown:
        place = int(rng.integers(len(self.clusters)))
        island = self.clusters[place]
        if not island:
            return Shown((), place=place)
        scores = list(island)
        chances = self.chances(scores, self.counts[place])
        drawn = rng.choice(len(scores), min(self.shown, len(scores)), p=chances)
        picked = [self.pick(island[scores[i]], rng) for i in drawn]
        return Shown(tuple(sorted(picked, key=lambda program: program.score)), place=place)

    def heat(self, count: int) -> float:
        """Temperature of an island that was given so many programs.

        >>> Islands().heat(0), Islands().heat(15_000), Islands().heat(30_000)
        (0.1, 0.05, 0.1)
        """
        return self.temperature * (1 - count % self.period / self.period)

    def chances(self, scores: Sequence[float], count: int) -> np.ndarray:
        """Of the clusters of an island."""
        return softmax(score / self.heat(count) for score in scores)

    @staticmethod
    def weights(lengths: Sequence[int]) -> np.ndarray:
        """Chances of the programs of a cluster, by the numbers of their characters."""
        return softmax((min(lengths) - length) / (max(lengths) + 1e-6) for length in lengths)

    def pick(self, cluster: Sequence[Scored], rng: np.random.Generator) -> Scored:
        return cluster[rng.choice(len(cluster), p=self.weights([len(program.text) for program in cluster]))]


class Top:
    """The best few programs of different skeletons, shown from worst to best.

    Attributes
    ----------
    best : at most `keep` programs, best first
    """

    def __init__(self, shown: int = 5, keep: int = 50) -> None:
        self.shown, self.keep = shown, max(shown, keep)
        self.best: list[Scored] = []

    def add(self, program: Scored, place: int | None) -> None:
        known = {str(other.reading.expression) for other in self.best}
        if str(program.reading.expression) not in known:
            ranked = sorted([*self.best, program], key=lambda p: (-p.score, p.complexity, p.sample))
            self.best = ranked[: self.keep]

    def show(self, rng: np.random.Generator) -> Shown:
        return Shown(tuple(self.best[: self.shown][::-1]))


# ------------------------------------------------------------------------------------------------------- MAP-Elites


class Member(NamedTuple):
    """A program on an island; one that came from another island never leaves again."""

    program: Scored
    cell: tuple[int, int]
    migrant: bool


class Range:
    """Bins over the values seen so far, from the least to the largest; 10 values alike lie in the middle.

    >>> length = Range(10)
    >>> [length.bin(value) for value in (5, 9, 5, 8, 105)]
    [5, 9, 0, 7, 9]
    """

    def __init__(self, bins: int) -> None:
        self.bins, self.low, self.high = bins, math.inf, -math.inf

    def bin(self, value: float) -> int:
        self.low, self.high = min(self.low, value), max(self.high, value)
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return min(int(share * self.bins), self.bins - 1)


def distance(a: str, b: str) -> float:
    """How different two texts are, after OpenEvolve: by their lengths, numbers of lines and sets of characters.

    >>> round(distance("ab", "abcd\\n"), 12)
    11.8
    """
    lines = abs(a.count("\n") - b.count("\n"))
    return 0.1 * abs(len(a) - len(b)) + 10 * lines + 0.5 * len(set(a) ^ set(b))


class Grid:
    """Islands with a grid of complexity and diversity on each, whose cells keep their best: OpenEvolve's database.

    Islands take turns. A parent is drawn with the chances of its score, at least 0.001; with `exploration` and
    `exploitation` above 0 a share of the parents is any of the island, and a share one of the archive.
    Complexity is the length of the text, diversity its mean `distance` from the first 20 texts that differed.

    Attributes
    ----------
    islands : members of each, in the order in which they came
    cells : text -> its bins of complexity and diversity when it came last

    Parameters
    ----------
    islands, bins : their number, and bins for each feature.
    population : programs on all islands together; beyond it the worst goes.
    archive : the best programs, from which `exploitation` draws.
    top, diverse : programs of the island that are shown: its best, and any others.
    inspirations : any others of the island that are shown beside them.
    elite : share of the inspirations that are its best instead, with `exploration` or `exploitation`.
    exploration, exploitation : shares of the parents, see above.
    interval, migration : after so many programs on an island, this share of each goes to its two neighbours.

    References
    ----------
    J.-B. Mouret and J. Clune, arXiv:1504.04909; github.com/algorithmicsuperintelligence/openevolve
    """

    REFERENCES = 20

    def __init__(
        self,
        islands: int = 10,
        bins: int = 10,
        population: int = 70,
        archive: int = 30,
        top: int = 4,
        diverse: int = 2,
        inspirations: int = 5,
        elite: float = 0.3,
        exploration: float = 0.0,
        exploitation: float = 0.0,
        interval: int = 50,
        migration: float = 0.1,
    ) -> None:
        self.islands: list[list[Member]] = [[] for _ in range(islands)]
        self.population, self.archive, self.top, self.diverse = population, archive, top, diverse
        self.inspirations, self.elite = inspirations, elite
        self.exploration, self.exploitation = exploration, exploitation
        self.interval, self.migration = interval, migration
        self.ranges = Range(bins), Range(bins)
        self.references: list[str] = []
        self.cells: dict[str, tuple[int, int]] = {}
        self.generations, self.migrated, self.turn = [0] * islands, 0, 0

    def add(self, program: Scored, place: int | None) -> None:
        cell = self.cells[program.text] = self.cell(program.text)
        for i in range(len(self.islands)) if place is None else [place]:
            self.settle(i, Member(program, cell, False))
        if place is not None:
            self.generations[place] += 1
            if max(self.generations) - self.migrated >= self.interval:
                self.migrate()

    def cell(self, text: str) -> tuple[int, int]:
        """Bins of complexity and diversity."""
        others = [other for other in self.references if other != text]
        diversity = float(np.mean([distance(text, other) for other in others])) if others else 0.0
        if len(self.references) < self.REFERENCES and text not in self.references:
            self.references.append(text)
        return self.ranges[0].bin(len(text)), self.ranges[1].bin(diversity)

    def settle(self, i: int, member: Member) -> None:
        """Put a member on an island: it takes the place of the best of its cell if it is better."""
        island, score = self.islands[i], member.program.score
        rivals = [other for other in island if other.cell == member.cell]
        champion = max(rivals, key=lambda other: other.program.score, default=None)
        if champion is not None and score > champion.program.score:
            island.remove(champion)
        island.append(member)
        everyone = [
            (other.program.score, j, k) for j, group in enumerate(self.islands) for k, other in enumerate(group)
        ]
        if len(everyone) > max(self.population, len(self.islands)):
            _, j, k = min(entry for entry in everyone if len(self.islands[entry[1]]) > 1)
            del self.islands[j][k]

    def migrate(self) -> None:
        """Copies of the best natives of each island go to both neighbours."""
        self.migrated, count = max(self.generations), len(self.islands)
        leaving = []
        for i, island in enumerate(self.islands):
            natives = [member for member in ranked(island) if not member.migrant]
            leaving += [(i, member) for member in natives[: max(1, int(len(island) * self.migration))]]
        for i, member in leaving:
            for j in dict.fromkeys([(i + 1) % count, (i - 1) % count]):
                if j != i:
                    self.settle(j, member._replace(migrant=True))

    def show(self, rng: np.random.Generator) -> Shown:
        place = self.turn % len(self.islands)
        self.turn += 1
        island = ranked(self.islands[place])
        if not island:
            return Shown((), place=place)
        parent = self.parent(place, rng)
        best, rest = island[: self.top], island[self.top :]
        others = [member for member in island if member.program is not parent]
        mixed = self.exploration > 0 or self.exploitation > 0
        elite = min(len(others), int(self.inspirations * self.elite)) if mixed else 0
        inspirations = others[:elite] + sample(others[elite:], self.inspirations - elite, rng)
        shown = [member.program for member in [*best, *sample(rest, self.diverse, rng)]]
        return Shown(tuple(shown), parent, tuple(member.program for member in inspirations), place)

    def parent(self, place: int, rng: np.random.Generator) -> Scored:
        island, kind = self.islands[place], rng.random()
        if kind < self.exploration:
            return island[rng.integers(len(island))].program
        if kind < self.exploration + self.exploitation:
            best = ranked([member for group in self.islands for member in group])[: self.archive]
            own = [member for member in best if member in island] or best
            return own[rng.integers(len(own))].program
        weights = np.array([max(member.program.score, 0.001) for member in island])
        return island[rng.choice(len(island), p=weights / weights.sum())].program


def ranked(members: Iterable[Member]) -> list[Member]:
    """The best first, older ones before younger ones."""
    return sorted(members, key=lambda member: (-member.program.score, member.program.sample))


def sample(members: Sequence[Member], count: int, rng: np.random.Generator) -> list[Member]:
    if not members or count < 1:
        return []
    return [members[i] for i in rng.choice(len(members), min(count, len(members)), replace=False)]

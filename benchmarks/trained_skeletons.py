"""What training adds: problems solved by `trained_skeletons` and by `random_skeletons` with as many evaluations.

The rule was written before the result: lib/rediscover/methods/weights/trained_skeletons.md.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rediscover import method, problem, problems
from rediscover.expressions import parse
from rediscover.methods import Budget
from rediscover.problems import Task, generator
from rediscover.search.networks.sequence_sets import draw_equation
from rediscover.system.writing import replacing

import numpy as np
import pandas as pd
import yaml
from scipy.stats import binomtest

SUITES = Path(__file__).parents[1] / "tests" / "data" / "public_suites.yaml"
PAIR = ("random_skeletons", "trained_skeletons")
EVALUATIONS, SEEDS, SOLVED = 5000, 3, 1e-6
OWN, FITTED, NEW = 100, 200, 1000  # equations, and rows of a problem
POOL = SEEDS * (FITTED + NEW)  # rows of a problem, of which each seed takes others


class Given(NamedTuple):
    set: str
    name: str
    X: np.ndarray
    y: np.ndarray


def own() -> Iterator[Given]:
    """New equations of the generator that the network was trained on."""
    for k in range(OWN):
        drawn = draw_equation(generator(k, "trained_skeletons", "own"), POOL)
        yield Given("own", f"own{k}", drawn.X, drawn.y)


def nguyen() -> Iterator[Given]:
    for suite in yaml.safe_load(SUITES.read_text(encoding="utf-8")):
        if suite["id"].startswith("nguyen"):
            rng = generator(0, suite["id"])
            columns = {name: rng.uniform(*ends, POOL) for name, ends in suite["domain"].items()}
            yield Given("nguyen", suite["id"], np.column_stack([*columns.values()]), parse(suite["truth"])(columns))


def laws() -> Iterator[Given]:
    """Easy laws of at most three inputs, on the original ranges."""
    for name in problems("srsd", "easy"):
        law: Any = problem(name, variant="fsrd")
        if len(law.inputs) <= 3:
            rows = law.data()["train"]
            yield Given("laws", name, rows.X, rows.y.ravel())


def solved(given: Given, name: str, seed: int, evaluations: int) -> bool:
    """Whether the candidate of the least loss holds on new rows."""
    chosen = generator(seed, given.name).permutation(len(given.y))
    fitted, new = chosen[:FITTED], chosen[FITTED : FITTED + NEW]
    inputs = tuple(f"x{k}" for k in range(given.X.shape[1]))
    task = Task(inputs, "y", given.X[fitted], given.y[fitted])
    budget = Budget(evaluations=evaluations)
    best = method(name).fit(task, budget=budget, rng=generator(seed, given.name, name))[0]
    with np.errstate(all="ignore"):
        found = parse(best.solution["y"])(dict(zip(inputs, given.X[new].T, strict=True)))
        return bool(np.mean((found - given.y[new]) ** 2) < SOLVED * np.var(given.y[new]))


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """For each set: runs, those that each method solves, problems on which one is ahead, and p of the sign test."""
    each = runs.pivot_table(index=["set", "problem"], columns="method", values="solved", aggfunc="sum")
    rows = {}
    for name, group in each.groupby(level="set", sort=False):
        ahead = int((group[PAIR[1]] > group[PAIR[0]]).sum())
        behind = int((group[PAIR[1]] < group[PAIR[0]]).sum())
        p = binomtest(ahead, ahead + behind).pvalue if ahead + behind else 1.0
        seeds = len(runs["seed"].unique())
        rows[name] = [len(group) * seeds, *(int(group[method].sum()) for method in PAIR), ahead, behind, round(p, 4)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=["runs", *PAIR, "ahead", "behind", "p"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, help="problems of each set, for a trial")
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS, help="of a run")
    parser.add_argument("--runs", type=Path, default=Path("build/trained_skeletons.csv"), help="file of all runs")
    options = parser.parse_args()
    if reason := method(PAIR[1]).available():
        print(reason, file=sys.stderr)
        return 2
    given = [each for group in (own(), nguyen(), laws()) for each in itertools.islice(group, options.first)]
    rows = [
        (each.set, each.name, name, seed, solved(each, name, seed, options.evaluations))
        for each, seed, name in itertools.product(given, range(SEEDS), PAIR)
    ]
    runs = pd.DataFrame(rows, columns=["set", "problem", "method", "seed", "solved"])
    options.runs.parent.mkdir(parents=True, exist_ok=True)
    with replacing(options.runs) as part:
        runs.to_csv(part, index=False)
    print(compared(runs).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())

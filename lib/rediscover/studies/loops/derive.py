"""What this study derives from runs that others released: numbers, not programs or formulas (see `system.derived`)."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...expressions import parse
from ...expressions.integration import simulate
from ...methods import method
from ...methods.gp_llm_seeded import BEST
from ...methods.gplearn_steps import prefix
from ...metrics.trajectories import r2_trajectories
from ...problems import Task, generator, problem
from ...search.loops.verification_loop import SOLVER, Context, Grammar, SkeletonVerifier, search
from ...system.derived import Table
from ...system.upstream_files import fetch_json

LOGS, FILE = "scientific-intelligent-modelling/llm-sr-logs", "llmsr_programs.json.gz"
SAMPLES = (1, 25, 50, 100, 200, 400, 700)  # at which a best error is looked up, and at the end
LEAST = 500  # programs of a run that is long enough
PROBLEMS = {"oscillator1": "oscillator1", "oscillator2": "oscillator2", "osc2": "oscillator2", "stress": "stressstrain"}

RUNS, POOLS = "nuuuh/SymbolBench-runs", "released_outputs.json.gz"
MODEL, NOISE = "gpt-4o-mini", 0.01  # of the released pools that seed a search
SEEDS = range(5)
ROUNDS = 40  # most rounds of a grammar that fills a pool
EVALUATIONS = 3_000  # of right-hand sides in an integration, as the loop's verifier allows
LEAST_R2 = -1.0  # what is stored of any lower R2: they are all 0 in SR2, and the lowest depend on the machine


def best_so_far() -> pd.DataFrame:
    """Best training error of each public run of LLM-SR with gpt-3.5-turbo that has `LEAST` programs, by samples.

    A log that stands in two folders is one run. Columns: problem, run, programs, valid (with a finite error), samples,
    error (of the best program so far; the linear one that each run starts from is before the first sample).
    """
    runs: dict[str, dict[int, float]] = defaultdict(dict)
    for entry in fetch_json(LOGS, FILE):
        single = entry["file"].endswith(".json")  # one program a file: the folder is the run
        name = entry["file"].rpartition("/")[0] if single else entry["file"]
        runs[name][entry["n"]] = _error(entry)
    rows, seen = [], []
    for name, errors in sorted(runs.items()):
        if len(errors) < LEAST or "drsr_" in name.rpartition("/")[2] or errors in seen:
            continue
        seen.append(errors)
        problem = next(problem for word, problem in PROBLEMS.items() if re.search(word, name))
        valid = sum(map(math.isfinite, errors.values()))
        about = {"problem": problem, "run": len(seen), "programs": len(errors), "valid": valid}
        for samples in [*SAMPLES, max(errors)]:
            best = min((error for n, error in errors.items() if n <= samples), default=math.inf)
            rows.append(about | {"samples": samples, "error": best})
    return pd.DataFrame(rows)


def _error(entry: dict) -> float:
    """Mean squared error of a program; infinite where it has none."""
    text, sign = (entry["mse"], 1) if "mse" in entry else (entry["score"], -1)
    try:
        error = sign * float(text)
    except (TypeError, ValueError):
        return math.inf
    return error if math.isfinite(error) else math.inf


def seeded() -> pd.DataFrame:
    """R2 of gplearn's searches that begin with a model's answers, with a grammar's, or with random programs.

    What is run: the pools that SymbolBench released of gpt-4o-mini at 1 % noise, for S001 to S020. For each state
    gplearn searches with the settings of the released hybrid (`methods.gp_llm_seeded`): a population of 5, 50
    generations, finite differences of the clean trajectory as in Table 6. Its first population is

    - ``model``: the first five systems of the released pool, with their stored constants, where gplearn has the
      functions; a random program takes the place of another;
    - ``random``: five random programs;
    - ``grammar``: the first five systems of a pool of as many different systems, which a random grammar draws and the
      loop's verifier fits to a trajectory of the same noise, a new pool for each seed.

    A seed begins alike in all three but for what is planted. ``model alone`` and ``grammar alone`` are the best R2 of
    the planted systems, without a search.

    The rule, set before any of it was run: the score is R2 of the integrated system along the clean training
    trajectory, with the loop's solver. A system's number is SR2 in percent, the mean over seeds (negative or missing
    counts 0). Three two-sided paired tests over systems, corrected by Holm: ``model`` against ``random``, against
    ``grammar`` and against ``model alone``. Proposals help a search if the first is positive with a corrected p
    below 0.05; it is the model's knowledge that helps if the second is too; the search is worth having if the third is.

    Returns
    -------
    DataFrame
        Columns: system, states, start (as above), seed, r2 (NaN where the integration failed, at least `LEAST_R2`),
        planted (systems that entered the first population), candidates (of the pool that they are from).
    """
    items = [run for run in fetch_json(RUNS, POOLS)["items"] if run["task"] == "DE"]
    chosen = [run for run in items if (run["model"], run["noise"]) == (MODEL, NOISE)]
    return pd.DataFrame([row for run in sorted(chosen, key=lambda run: run["truth"]) for row in seeded_system(run)])


def seeded_system(run: Mapping) -> list[dict]:
    """The rows of `seeded` for a released run."""
    clean, noisy = (problem(f"cde/{run['truth']}", noise=noise) for noise in (0.0, NOISE))
    sides = [[re.sub(r"\bx_(\d+)\b", r"x\1", text) for text in row[1]] for row in run["candidates"]]
    released = [dict(zip(clean.inputs, texts, strict=True)) for texts in sides]
    rows = []

    def add(start: str, seed: int, pool: list, r2: float) -> None:
        about = {"system": run["truth"], "states": len(clean.inputs), "start": start, "seed": seed}
        rows.append(about | {"r2": r2, "planted": len(plantable(pool)), "candidates": len(pool)})

    add("model alone", 0, released, best_alone(clean, released))
    for seed in SEEDS:
        drawn = drawn_pool(noisy, len(released), seed)
        add("grammar alone", seed, drawn, best_alone(clean, drawn))
        for start, pool in {"model": released, "random": [], "grammar": drawn}.items():
            add(start, seed, pool, trajectory_r2(clean, bred(clean, plantable(pool), seed)))
    return rows


def plantable(pool: list[dict[str, str]]) -> list[dict[str, str]]:
    """Of the first systems of a pool those that gplearn has the functions for."""
    return [answer for answer in pool[:BEST] if all(prefix(text, tuple(answer)) for text in answer.values())]


def best_alone(problem: Any, pool: list[dict[str, str]]) -> float:
    """The best R2 of the systems of a pool that would be planted; NaN where there is none."""
    found = [trajectory_r2(problem, answer) for answer in plantable(pool)]
    return max((r2 for r2 in found if math.isfinite(r2)), default=math.nan)


def drawn_pool(problem: Any, size: int, seed: int) -> list[dict[str, str]]:
    """So many different systems of a random grammar with a score by the released verifier, the best first."""
    grammar = Grammar()

    def propose(context: Context) -> Iterable[dict[str, str]]:
        missing = size - len(context.pool)
        return grammar(context)[:missing] if missing else []

    verify = SkeletonVerifier(problem, fit="released", seed=seed, evaluations=EVALUATIONS)
    rng = generator(seed, problem.id, "seeds of a grammar")
    return [answer.solution for answer in search(problem, propose, verify, epochs=ROUNDS, rng=rng).pool]


def bred(problem: Any, seeds: list[dict[str, str]], seed: int) -> dict[str, str]:
    """State -> equation by gplearn, with the settings of the released hybrid, from systems that are planted."""
    hybrid: Any = method("gp_llm_seeded", proposer="grammar")
    states = problem.observed()
    rates = np.gradient(states, problem.times(), axis=0)
    answer = {}
    for i, state in enumerate(problem.inputs):
        task = Task(problem.inputs, state, states, rates[:, i])
        random_state = int(generator(seed, problem.id, state).integers(2**31))
        answer[state] = hybrid.equation(task, [planted[state] for planted in seeds], random_state)
    return answer


def trajectory_r2(problem: Any, answer: Mapping[str, str]) -> float:
    """R2 of a system along the clean training trajectory: NaN if its integration fails, at least `LEAST_R2`."""
    equations = {state: parse(text) for state, text in answer.items()}
    initial, t = problem.initial_state(), problem.times()
    states = simulate(equations, initial, t, solver=SOLVER, evaluations=EVALUATIONS)
    return round(float(np.maximum(r2_trajectories(states, problem.solution()), LEAST_R2)), 6)


TABLES = {"llmsr_runs": Table(best_so_far, LOGS, (FILE,)), "seeded_searches": Table(seeded, RUNS, (POOLS,))}

"""What this study derives from public logs of LLM-SR: numbers of runs, not programs (see `system.derived`)."""

import math
import re
from collections import defaultdict

import pandas as pd

from ...system.derived import Table
from ...system.upstream_files import fetch_json

LOGS, FILE = "scientific-intelligent-modelling/llm-sr-logs", "llmsr_programs.json.gz"
SAMPLES = (1, 25, 50, 100, 200, 400, 700)  # at which a best error is looked up, and at the end
LEAST = 500  # programs of a run that is long enough
PROBLEMS = {"oscillator1": "oscillator1", "oscillator2": "oscillator2", "osc2": "oscillator2", "stress": "stressstrain"}


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


TABLES = {"llmsr_runs": Table(best_so_far, LOGS, (FILE,))}

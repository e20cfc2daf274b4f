"""What one fit of bidirectional costs by columns, rows and budget, where nothing exact is found (``make bench``).

The table goes into docs/methods.md, and into envelope.csv of the study of problems from outside, which draws it.
"""

import resource
import subprocess
import sys
import time
from itertools import product

from rediscover import method
from rediscover.methods import Budget
from rediscover.problems import Task
from rediscover.report.pages import put
from rediscover.studies.outside.analysis import ENVELOPE
from rediscover.system.writing import write_text

import numpy as np
import pandas as pd

COLUMNS, ROWS, EVALUATIONS = (2, 10, 50), (10, 1_000, 100_000, 1_000_000), (10_000, 30_000_000)
PAGE, MARK = "docs/methods.md", "<!--cost of bidirectional-->"


def measured(columns: int, rows: int, evaluations: int) -> tuple[float, float]:
    """Seconds of the processor and MiB at most, in a process of its own; the table itself is counted."""
    numbers = map(str, (columns, rows, evaluations))
    run = subprocess.run([sys.executable, __file__, *numbers], check=True, capture_output=True, text=True)
    seconds, megabytes = map(float, run.stdout.split())
    return seconds, megabytes


def fit(columns: int, rows: int, evaluations: int) -> tuple[float, float]:
    """The same in this process: a target of two inputs with noise, beside inputs that say nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = np.sin(X[:, 0] * X[:, 1]) + np.abs(X[:, 1]) ** 1.3 + 0.3 * rng.normal(size=rows)
    search, task = method("bidirectional"), Task(tuple(f"x{i}" for i in range(columns)), "y", X, y)
    started = time.process_time()
    search.fit(task, budget=Budget(evaluations=evaluations), rng=np.random.default_rng(0))
    return time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure every case, and write the table into the page and the file."""
    names, found = ["evaluations", "columns", "rows", "seconds", "MiB"], []
    for evaluations, columns, rows in product(EVALUATIONS, COLUMNS, ROWS):
        seconds, megabytes = measured(columns, rows, evaluations)
        found.append((evaluations, columns, rows, round(seconds, 1), round(megabytes)))
        print(*found[-1], flush=True)
    frame = pd.DataFrame(found, columns=names)
    write_text(ENVELOPE, frame.to_csv(index=False))
    shown = frame.drop(columns="seconds").map("{:,.0f}".format)
    shown.insert(3, "seconds", frame["seconds"].map("{:.1f}".format))
    put(shown, PAGE, MARK)


if __name__ == "__main__":
    print(*fit(*map(int, sys.argv[1:]))) if len(sys.argv) > 1 else main()

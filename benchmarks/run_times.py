"""Processor seconds of MDBench's methods on its fields, beside which Table A7 is ranked (``make run-times``).

Each method has the settings, the budget and the rows with which its cells are tried again (trials.yaml): the published
ones on the full grid, and 2,000 rows for Operon, PySR's algorithm (with fewer evaluations than the paper's) and uDSR,
which are therefore not ranked. Methods with chance have three seeds. Beside our own code of a method that is PySINDy's,
PySINDy itself is timed, also on the heavy fields; there, and of EWSINDy, where a run takes it many minutes, it has one
seed. DeepMoD is left out, since of its 48 published settings one is run. Nothing is taken from records. Nothing else
should run beside it. The first seed of our own code took some 40 minutes on one core.
"""

import os
import sys
from pathlib import Path

from rediscover import problem
from rediscover.report import trials as rules
from rediscover.report.papers import catalogue
from rediscover.report.rules import SEEDS
from rediscover.runs import grid
from rediscover.studies import mdbench
from rediscover.studies.mdbench import trials
from rediscover.studies.mdbench.analysis import label

import pandas as pd

NAMES = ("boxes", "sweeps", "draws_pysr_fields", "draws_udsr_fields", "evaluations_fields", "boxes_ensembles")
RESULTS = Path(mdbench.__file__).with_name("run_times.csv")
COLUMNS = ["dataset", "method", "program", "seed", "seconds"]


def timed() -> list[dict]:
    """What is timed: rules of trials, of our own code and of the package."""
    known = rules.rules("mdbench")
    fields = {"only": known["sweeps"]["only"]}
    packages = [rule for rule in known.values() if rule.get("package") and rule["tables"] == ["mdbench_table3"]]
    own = [fields | {"label": "PDEFIND", "method": "pdefind"}, *(known[name] for name in NAMES)]
    return [*own, *packages]


def main(asked: list[str]) -> None:
    """Time every method on every field that is not timed yet, or on those asked for; write after each.

    Parameters
    ----------
    asked : ids of fields, names of methods, or both; all if there are none of a kind
    """
    os.environ["REDISCOVER_FRESH"] = "1"
    chance = catalogue("mdbench").set_index("label")["chance"]
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=COLUMNS)
    fields, programs = ([name for name in asked if ("/" in name) == kind] for kind in (True, False))
    for rule in (rule for rule in timed() if not programs or rule["method"] in programs):
        compiled = rule.get("package")  # the first run of other programs may compile them, so it is made twice
        once = not chance[rule["label"]] or rule.get("whole") or rule["method"] == "pysindy_ewsindy"
        for id in (id for id in rule["only"] if not fields or id in fields):
            for seed in range(1 if once else SEEDS):
                row = [label(id), rule["label"], rule["method"], seed]
                if (done[COLUMNS[:-1]] == row).all(axis=1).any():
                    continue
                (search, budget), field = trials.searched(rule), problem(id, **rule.get("options", {}))
                for _ in range(1 if compiled else 2):
                    run = grid([field], [search], seeds=[seed], budget=budget, workers=1, progress=False).iloc[0]
                compiled = True
                print(*row, run["status"], f"{run['seconds']:.2f} s", flush=True)
                if run["status"] == "ok":
                    done.loc[len(done)] = [*row, float(f"{run['seconds']:.3g}")]
                    done.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main(sys.argv[1:])

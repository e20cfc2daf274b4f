"""Processor seconds of MDBench's methods on its fields, beside which Table A7 is ranked (``make run-times``).

Each method has the settings, the budget and the rows with which its cells are tried again (trials.yaml): the published
ones, on the full grid. DeepMoD is left out, since of its 48 published settings one is run. Nothing is taken from
records. Nothing else should run beside it: some 40 minutes on one core.
"""

import os
import sys
from pathlib import Path

from rediscover import problem
from rediscover.report import trials as rules
from rediscover.runs import grid
from rediscover.studies import mdbench
from rediscover.studies.mdbench import trials
from rediscover.studies.mdbench.analysis import label

import pandas as pd

NAMES = ("boxes", "sweeps", "draws_pysr_fields", "draws_udsr_fields", "evaluations_fields", "boxes_ensembles")
RESULTS = Path(mdbench.__file__).with_name("run_times.csv")


def main(asked: list[str]) -> None:
    """Time every method on every field that is not timed yet, or on those asked for; write after each."""
    os.environ["REDISCOVER_FRESH"] = "1"
    known = rules.rules("mdbench")
    plain = {"label": "PDEFIND", "method": "pdefind", "only": known["sweeps"]["only"]}
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["dataset", "method", "seconds"])
    for rule in [plain, *(known[name] for name in NAMES)]:
        for id in asked or rule["only"]:
            if ((done["dataset"] == label(id)) & (done["method"] == rule["label"])).any():
                continue
            (search, budget), field = trials.searched(rule), problem(id, **rule.get("options", {}))
            run = grid([field], [search], budget=budget, workers=1, progress=False).iloc[0]
            print(label(id), rule["label"], run["status"], f"{run['seconds']:.2f} s", flush=True)
            if run["status"] == "ok":
                done.loc[len(done)] = [label(id), rule["label"], f"{run['seconds']:.3g}"]
                done.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main(sys.argv[1:])

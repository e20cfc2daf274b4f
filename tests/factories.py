"""Frames of runs and of scores for tests: a test gives the columns that it is about, the others are filled in."""

from rediscover.runs.schema import RUNS, SCORES, Schema, check

import numpy as np
import pandas as pd

FILLED = {
    "problem": "toys/1",
    "subset": "",
    "method": "gplearn",
    "settings": {},
    "noise": 0.0,
    "seed": 0,
    "status": "ok",
    "reason": "",
    "scoring": "",
    "solution": None,
    "candidates": [],
    "loss": np.nan,
    "complexity": np.nan,
    "evaluations": pd.NA,
    "seconds": 1.0,
    "peak_mb": 80.0,
    "reused": False,
}


def runs_frame(columns) -> pd.DataFrame:
    """A frame as `runs.grid` gives it; `columns` is a mapping of columns or a list of rows."""
    return _filled(columns, RUNS)


def scores_frame(columns) -> pd.DataFrame:
    """A frame as `scoring.table` gives it; columns that are not of the schema are scores."""
    return _filled(columns, SCORES)


def _filled(columns, schema: Schema) -> pd.DataFrame:
    filled = {name: FILLED[name] for name in schema if name != "study"}
    if isinstance(columns, list):
        frame = pd.DataFrame([filled | row for row in columns])
    else:
        frame = pd.DataFrame(columns)
        for name in filled.keys() - set(frame):
            frame[name] = pd.Series([filled[name]] * len(frame), frame.index, dtype=object).infer_objects()
    if "evaluations" in schema:
        frame = frame.astype({"evaluations": "Int64"})
    if "study" not in frame:
        frame["study"] = frame["problem"].str.partition("/")[0]
    check(frame[list(schema)], schema)
    return frame

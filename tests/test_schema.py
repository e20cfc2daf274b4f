"""Frames hold what their schema says, in memory and after a way through CSV."""

from factories import runs_frame
from rediscover.runs.schema import RUNS, SCORES, check, read_csv, to_csv

import numpy as np
import pytest

IDENTITY = {"problem": "odes/1", "subset": "1", "method": "sindy", "settings": {"a": [1, 0.5]}, "noise": 0.1}
ANSWER = {"solution": {"x0": "2.0*x0"}, "candidates": [{"solution": {"x0": "2.0*x0"}, "notes": {}}]}
NOTHING = {"solution": None, "candidates": [], "status": "timeout", "loss": np.nan, "complexity": np.nan}


@pytest.fixture
def runs():
    ok = IDENTITY | ANSWER | {"reason": "", "loss": 0.25, "complexity": 3.0, "evaluations": 7}
    return runs_frame([ok, ok | NOTHING | {"reason": "more than 1 s", "evaluations": None}])


def test_runs_come_back_from_csv_as_they_were(runs, tmp_path):
    to_csv(check(runs, RUNS), tmp_path / "runs.csv")
    again = read_csv(tmp_path / "runs.csv")
    assert again["subset"].tolist() == ["1", "1"] and again["reason"].tolist() == ["", "more than 1 s"]
    for name in ("settings", "solution", "candidates"):
        assert again[name].tolist() == runs[name].tolist(), name
    assert check(again.astype({"evaluations": "Int64"}), RUNS)["loss"].isna().tolist() == [False, True]


def test_csv_holds_json_and_blanks(runs, tmp_path):
    to_csv(runs[["settings", "solution"]], tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text().splitlines() == [
        "settings,solution",
        '"{""a"": [1, 0.5]}","{""x0"": ""2.0*x0""}"',
        '"{""a"": [1, 0.5]}",',
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solution": '{"x0": "2.0*x0"}'}, "column 'solution' holds a str, not dict | None"),
        ({"seed": "0"}, "column 'seed' holds a str, not int"),
        ({"front": 1.0}, "column 'front' is not of this frame"),
    ],
)
def test_another_type_or_column_is_refused(runs, change, message):
    with pytest.raises(TypeError, match=message.replace("|", r"\|")):
        check(runs.assign(**change), RUNS)


def test_a_missing_column_is_refused_and_scores_are_numbers(runs):
    scores = runs[[name for name in SCORES if name in RUNS]].assign(scoring="", r2=0.5)
    with pytest.raises(TypeError, match="no column 'scoring'"):
        check(scores.drop(columns="scoring"), SCORES, rest=float)
    with pytest.raises(TypeError, match="column 'r2' holds a str"):
        check(scores.assign(r2="0.5"), SCORES, rest=float)
    assert check(scores, SCORES, rest=float) is scores

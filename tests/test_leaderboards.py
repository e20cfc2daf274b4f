"""One's own rows on the leaderboards, and those that others submit: checked by a sample, refused if untrue."""

import shutil
from pathlib import Path

import rediscover as rd
from rediscover import comparison, methods
from rediscover.cli import main
from rediscover.comparison.submissions import SubmissionError, check, submit
from rediscover.publish import boards, own_rows, site
from rediscover.runs.schema import read_csv, to_csv
from rediscover.system import record_files
from rediscover.system.studies import studies

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
RECORDS = record_files.load(ROOT / "records" / "surfaces" / "regularised_evolution.jsonl.xz")
THREE = ["surfaces/TFS4", "surfaces/QIS2", "surfaces/NCGS2"]
BOARD = studies()["surfaces"]["leaderboards"][0]
SLOPE = """from dataclasses import dataclass
from typing import ClassVar

from rediscover.methods import Candidate
from rediscover.methods.tables import Tabular


@dataclass(frozen=True)
class Slope(Tabular):
    name: ClassVar[str] = "slope"

    def search(self, task, *, budget, rng):
        slope = float(task.X[:, 0] @ task.y) / float(task.X[:, 0] @ task.X[:, 0])
        return [Candidate({task.output: f"{slope!r}*{task.inputs[0]}"}, evaluations=1)]
"""


def fresh(monkeypatch, folder):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    monkeypatch.setattr(methods, "_given", {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    fresh(monkeypatch, tmp_path)
    return tmp_path


def test_own_rows_are_on_the_board_in_a_terminal_and_on_the_page(folder, capsys):
    before = boards.leaderboard(BOARD)
    assert not before["from"].isin(["yours", "submitted"]).any()
    comparison.new("mine")
    Path("mine.py").write_text(Path("mine.py").read_text().replace("text = ", 'text = "x*y"  # '))
    comparison.run("./mine.py:Mine", "surfaces", ids=THREE)
    right = read_csv("build/own/surfaces/mine.csv")["symbolic_accuracy"].sum()
    after = boards.leaderboard(BOARD)
    row = after[after["from"] == "yours"].iloc[0]
    assert right >= 1 and row["value"] == pytest.approx(100 * right / len(rd.problems("surfaces", "explicit")))
    assert (row["name"], row["answered"], row["problems"]) == ("mine", 3, 129) and row["rank"] >= 1
    assert len(after) == len(before) + 1
    assert main(["leaderboard", "--study", "surfaces", "--top", "2"]) == 0
    said = capsys.readouterr().out
    assert "mine (yours)" in said and "3 of 129" in said and "Implicit surfaces recovered" in said
    [line] = [line for line in said.splitlines() if "mine (yours)" in line]
    assert line.split()[0] == f"{row['rank']:.0f}"
    macro = site.Writer(folder / "site").environment.from_string(
        '{% from "parts.html" import board with context %}{{ board(about, table, "") }}'
    )
    about, shown = site.board(BOARD)
    assert shown.equals(after)
    page = macro.render(about=about, table=shown)
    assert "mine <small>yours</small>" in page and 'href="method/mine.html"' not in page


def test_costs_are_those_of_the_runs_on_the_board():
    ran = read_csv(ROOT / "tables" / "surfaces_runs.csv").query("method == 'regularised_evolution'")
    for number, subset in enumerate(("explicit", "implicit", "parametric")):
        row = boards.leaderboard(studies()["surfaces"]["leaderboards"][number]).set_index("method")
        row = row.loc["regularised_evolution"]
        mine = ran[ran["subset"] == subset]
        assert row["evaluations"] == mine["evaluations"].median() == (3_000_000 if number == 2 else 1_000_000)
        asked = {"evaluations": 1_000_000, "noise": 0.0, "seed": 0, "settings": mine["settings"].iloc[0]}
        lines = {line["problem"]: line for line in RECORDS if {name: line[name] for name in asked} == asked}
        assert row["seconds"] == np.median([lines[id]["seconds"] for id in mine["problem"]])


def test_own_method_stands_beside_what_was_first_recorded_and_says_what_it_rests_on(capsys):
    stated = read_csv(ROOT / "tables" / "cde_own_scores.csv").query("variant == 'as first recorded' and subset == '1'")
    board = studies()["cde"]["leaderboards"][0]
    frame = boards.leaderboard(board).set_index("method")
    share = (stated["r2_trajectories_ood"] >= board["at_least"]).mean()
    assert frame.loc["bidirectional_first", "value"] == pytest.approx(100 * share) and len(stated) > 10
    assert np.isnan(frame.loc["bidirectional_first", "rank"]) and frame.loc["bidirectional", "rank"] >= 1
    said = boards.rests_on(board, frame.reset_index())
    assert "100,000 evaluations allowed, now 150,000,000" in said and "Published rows" in said and "1 seed" in said
    assert "first recorded" not in boards.rests_on(
        board, frame.drop(["bidirectional", "bidirectional_first"]).reset_index()
    )
    for study in studies().values():
        for about in study.get("leaderboards", []):
            assert len(boards.rests_on(about, boards.leaderboard(about))) > 100


def test_a_median_of_few_known_costs_is_none():
    runs = pd.DataFrame({"seconds": [1.0, np.nan, np.nan, 3.0], "evaluations": [2.0, 4.0, 6.0, 8.0]})
    assert boards._median(runs, "seconds") is None and boards._median(runs, "evaluations") == 5


def test_a_method_of_the_package_that_was_run_again_is_no_row_of_ones_own(folder):
    comparison.run("mean", "surfaces", ids=THREE[:1])
    assert Path("build/own/surfaces/mean.csv").exists()
    assert list(own_rows.of_board(BOARD, THREE)) == []


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """A method that was run on a whole study and submitted, in a folder of its own."""
    folder = tmp_path_factory.mktemp("submitted")
    with pytest.MonkeyPatch.context() as monkeypatch:
        fresh(monkeypatch, folder)
        monkeypatch.setenv("REDISCOVER_ROOT", "")  # as where the package is installed; what is made is here
        monkeypatch.delenv("REDISCOVER_ROOT")
        (folder / "slope.py").write_text(SLOPE)
        comparison.run("./slope.py:Slope", "odes", ids=rd.problems("odes")[:2])
        with pytest.raises(SubmissionError, match="was not run on 61 problems of odes, such as odes/"):
            submit("./slope.py:Slope", "odes")
        comparison.run("./slope.py:Slope", "odes")
        monkeypatch.setattr("rediscover.comparison.submissions.submissions", lambda: folder / "submissions")
        place = submit("./slope.py:Slope", "odes")
    assert sorted(path.name for path in place.iterdir()) == ["method.yaml", "odes.csv", "slope.py"]
    return place


@pytest.fixture
def copy(submitted, folder):
    return Path(shutil.copytree(submitted, folder / "submissions" / "slope"))


def test_a_true_submission_passes_the_command_of_ci(copy, capsys):
    assert main(["spot-check", "--submissions", str(copy), "--seed", "7", "--size", "5"]) == 0
    assert capsys.readouterr().out == "slope on odes: 5 of 5 drawn rows came out as submitted (seed 7)\n"


@pytest.mark.parametrize("column", ["solution", "nmse_per_output", "identified"])
def test_a_row_that_was_made_better_is_found(copy, capsys, column):
    rows = read_csv(copy / "odes.csv")
    better = {"solution": [{name: "1" for name in answer} for answer in rows["solution"]]}
    rows[column] = better.get(column, 0.5 if column == "nmse_per_output" else 1.0)
    to_csv(rows, copy / "odes.csv")
    assert main(["spot-check", "--submissions", str(copy), "--seed", "7", "--size", "3"]) == 2
    assert "does not come out as submitted" in capsys.readouterr().err


def test_a_study_must_be_whole(copy, capsys):
    to_csv(read_csv(copy / "odes.csv").iloc[:-1], copy / "odes.csv")
    with pytest.raises(SubmissionError, match=r"odes\.csv has 62 rows where 63 are asked for"):
        check(copy)
    (copy / "method.yaml").unlink()
    with pytest.raises(SubmissionError, match=r"holds no method\.yaml"):
        check(copy)


def test_no_submissions_are_no_error(folder, monkeypatch, capsys):
    monkeypatch.setattr("rediscover.system.committed.submissions", lambda: folder / "submissions")
    assert main(["spot-check", "--submissions"]) == 0 and "no submissions" in capsys.readouterr().out


def test_a_name_of_the_package_cannot_be_submitted(folder, capsys):
    assert main(["submit", "operon", "--study", "surfaces"]) == 2
    assert "write ./mine.py:Mine" in capsys.readouterr().err

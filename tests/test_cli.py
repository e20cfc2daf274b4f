"""The command line: each command does its work, and each mistake is one line and status 2."""

import json
import os
import re
import subprocess
import sys

from rediscover.cli import main

import pandas as pd
import pytest


def run(*arguments, **environment):
    command = [sys.executable, "-m", "rediscover", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def test_problems_and_methods(capsys):
    assert main(["problems", "--study", "surfaces", "--subset", "implicit"]) == 0
    assert capsys.readouterr().out.split()[0] == "surfaces/AMHD1"
    assert main(["methods"]) == 0
    assert re.search(r"\boracle +yes\b", capsys.readouterr().out)


def test_solve_prints_candidates_and_scores(capsys):
    assert main(["solve", "polynomial", "surfaces/TFS4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["candidates"][0]) == {"loss", "complexity", "solution"}
    assert found["scores of the first"]["symbolic_accuracy"] == 1.0


def test_settings_are_read_as_json(capsys):
    assert main(["solve", "operon", "surfaces/TFS4", "--set", "max_length=5", "--evaluations", "200"]) == 0
    assert main(["solve", "operon", "surfaces/TFS4", "--set", "length=5"]) == 2
    assert "no setting 'length'" in capsys.readouterr().err


def test_score_of_one_text_and_of_several(capsys):
    assert main(["score", "surfaces/TFS4", "2*x*y", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["symbolic_accuracy"] == 1.0
    assert main(["score", "surfaces/TCS5", "--named", "x=u", "y=v", "z=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["symbolic_accuracy"] == 0.0


def test_a_grid_of_which_nothing_could_run_is_no_success(capsys):
    assert main(["run", "--methods", "llm_sr", "--problems", "surfaces/TFS4"]) == 1
    printed = capsys.readouterr()
    assert ",unavailable," in printed.out and "nothing could run: needs a language model" in printed.err
    assert main(["run", "--methods", "llm_sr", "zero", "--problems", "surfaces/TFS4"]) == 0


def test_run_writes_records_and_resumes(tmp_path):
    arguments = (
        "run",
        "--problems",
        "surfaces/TFS4",
        "--methods",
        "mean",
        "zero",
        "--store",
        str(tmp_path / "s.sqlite"),
    )
    first = run(*arguments, "--out", str(tmp_path / "a.csv"))
    second = run(*arguments, "--out", str(tmp_path / "b.csv"))
    assert first.returncode == second.returncode == 0, first.stderr
    a, b = pd.read_csv(tmp_path / "a.csv"), pd.read_csv(tmp_path / "b.csv")
    assert a["status"].tolist() == ["ok", "ok"] and not a["reused"].any() and b["reused"].all()
    assert a.drop(columns=["reused"]).equals(b.drop(columns=["reused"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "opern", "surfaces/TFS4"], "unknown method 'opern'; did you mean 'operon'?"),
        (["solve", "nope", "surfaces/TFS4"], "unknown method 'nope' (`rediscover methods` lists them)"),
        (["ledger", "--id", "srsd_table2-500"], "no id 'srsd_table2-500' in the ledger; did you mean"),
        (["solve", "operon", "surfaces/TFS44"], "unknown problem 'surfaces/TFS44'; did you mean 'surfaces/TFS4'?"),
        (["solve", "operon", "surface/TFS4"], "unknown study 'surface'; did you mean 'surfaces'?"),
        (["solve", "operon", "surfaces/TFS4", "--seconds", "-1"], "seconds must be a positive number, got -1"),
        (["solve", "operon", "surfaces/TFS4", "--noise", "-1"], "noise must be a finite number >= 0, got -1"),
        (["solve", "pysr", "surfaces/TFS4"], "pysr is unavailable"),
        (["score", "surfaces/TFS4", "2*x*"], "at position 4"),
        (["score", "surfaces/TFS4", "2*w"], "w"),
        (["score", "surfaces/TCS5", "u"], "give a mapping, not one text"),
        (["score", "srsd/I.12.5", "q_2*("], "at position"),
        (["score", "srsd/I.12.5", "q_2*zz"], "unknown variable 'zz'"),
        (["score", "--named", "srsd/I.12.5", "G=q_2*E_f"], "srsd/I.12.5 has no output 'G' (outputs: F)"),
        (["score", "cde/S002", "x"], "unknown variable 'x'"),
        (["ledger", "--paper", "srsd", "--table", "Table 9"], "no table 'Table 9' where paper is srsd"),
        (
            ["fit", "planets", "--inputs", "semi-major axis [au]", "--target", "period [yr]", "--method", "sindy"],
            "sindy does not treat problems of the kind regression",
        ),
        (["run", "--problems", "surfaces/TFS4", "--methods", "zero", "--store", "/proc/none/s.sqlite"], "/proc/none"),
        (["problems", "--study", "surfaces", "--subset", "round"], "no subset 'round'"),
        (["fit", "planets", "--max-evaluations", "1.5"], "--max-evaluations: '1.5' is no whole number"),
        (["fit", "planets", "--time-limit", "soon"], "--time-limit: 'soon' is no number"),
    ],
    ids=lambda value: " ".join(value[1:4]) if isinstance(value, list) else "",
)
def test_mistakes(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1 and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["problems", "methods"])  # more than a pipe holds, and less
@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_pipe_that_closes_is_no_error(command, reader):
    line = f"{sys.executable} -m rediscover {command} | {reader}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_help_names_every_command():
    text = run("--help").stdout
    assert all(name in text for name in ("problems", "methods", "solve", "run", "leaderboard", "submit", "ledger"))

"""What goes wrong in a user's own file is said with its line; what is returned, with what was expected."""

import json
import os
import pty
import re
import subprocess
import sys
import termios

from rediscover.cli import main
from rediscover.report import shell
from rediscover.runs import grid
from rediscover.runs.scoring import metric

import pytest

PROBLEM = "surfaces/TFS4"
FILE = """from dataclasses import dataclass
from typing import ClassVar

from rediscover.methods import Candidate
from rediscover.methods.tables import Tabular


def helper(task):
    raise RuntimeError("my bug")


@dataclass(frozen=True)
class Bad(Tabular):
    name: ClassVar[str] = "bad"
    how: str = "raise"

    def search(self, task, *, budget, rng):
        if self.how == "raise":
            helper(task)
        if self.how == "divide":
            return 1 / 0
        return eval(self.how)
"""
TYPES = {
    "'x + y'": "search returned str instead of a list of Candidate: write `return [Candidate({output: text})]`",
    "[3]": "search returned list of int instead of a list of Candidate",
    "[Candidate('x + y')]": "search returned a Candidate of a str, expected a mapping: {'z': text}",
    "[Candidate({'z': 3.0})]": "search returned a solution for z of type float, expected a text",
    "[Candidate({'z': 'x'}, loss='small')]": "search returned the loss 'small', expected a number",
    "[Candidate({'w': 'x'})]": "search returned a solution for ['w'], expected one for 'z'",
}


@pytest.fixture
def bad(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    (tmp_path / "bad.py").write_text(FILE)
    return "./bad.py:Bad"


def shell_of(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "rediscover", *arguments], capture_output=True, text=True, **options)


def test_the_reason_of_a_failed_run_has_file_line_and_code(bad):
    [reason] = grid(PROBLEM, bad, progress=False)["reason"]
    lines = FILE.splitlines()
    at, within = (1 + lines.index(text) for text in ("            helper(task)", '    raise RuntimeError("my bug")'))
    places = f"bad.py, line {at}, in search > bad.py, line {within}, in helper"
    assert reason == f'RuntimeError: my bug ({places}: raise RuntimeError("my bug"))'


def test_run_and_solve_print_it(bad):
    done = shell_of("run", "--methods", bad, "--study", "surfaces", "--problems", PROBLEM)
    said = f"bad: 1 of 1 runs ended with error, such as {PROBLEM}: RuntimeError: my bug (bad.py, line "
    assert done.returncode == 2 and said in done.stderr
    assert 'in helper: raise RuntimeError("my bug")' in done.stderr
    done = shell_of("solve", bad, PROBLEM, "--set", "how=divide")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "ZeroDivisionError: division by zero (bad.py, line 21, in search: return 1 / 0)" in done.stderr


def test_run_prints_it_where_other_runs_gave_an_answer(bad):
    done = shell_of("run", "--methods", bad, "mean", "--study", "surfaces", "--problems", PROBLEM)
    said = f"bad: 1 of 1 runs ended with error, such as {PROBLEM}: RuntimeError: my bug (bad.py, line "
    assert done.returncode == 0 and said in done.stdout


def test_an_error_of_the_package_has_no_lines_of_a_user():
    """Reasons on record are compared with those of today."""
    [reason] = grid(PROBLEM, "logicgep", progress=False)["reason"]
    assert "line" not in reason and "(" not in reason


@pytest.mark.parametrize("returned", TYPES)
def test_a_result_of_a_wrong_type_is_one_sentence_with_what_was_expected(bad, capsys, returned):
    assert main(["solve", bad, PROBLEM, "--set", f"how={json.dumps(returned)}"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and TYPES[returned] in said


def test_an_error_in_the_file_itself_says_its_line(bad, tmp_path, capsys):
    (tmp_path / "bad.py").write_text("x = 1\ny = nothing_like_it\n")
    assert main(["solve", bad, PROBLEM]) == 2
    assert "bad.py, line 2, in <module>: y = nothing_like_it" in capsys.readouterr().err
    (tmp_path / "bad.py").write_text("x = 1\ndef f(:\n")
    assert main(["solve", bad, PROBLEM]) == 2
    assert "bad.py, line 2: def f(:" in capsys.readouterr().err


RUN = ["run", "--methods", "mean", "--study", "surfaces", "--problems", PROBLEM]


def test_bars_are_silent_in_a_file_and_named_in_a_terminal(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "REDISCOVER_PROGRESS"}
    silent = shell_of(*RUN, cwd=tmp_path, env=environment)
    assert silent.returncode == 0 and silent.stderr == ""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))  # of none tqdm draws nothing
    command = [sys.executable, "-m", "rediscover", *RUN]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, cwd=tmp_path, env=environment) as done:
        os.close(theirs)
        said = b""
        while True:
            try:
                said += (part := os.read(ours, 4096))
            except OSError:  # Linux, when the other end is closed
                break
            if not part:
                break
    os.close(ours)
    assert done.returncode == 0
    assert re.search(rb"runs: +100%", said) and re.search(rb"scores: +100%", said), said


def test_the_list_of_methods_fits_a_terminal(capsys):
    for arguments in (["methods"], ["methods", "--long"]):
        assert main(arguments) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
    assert any(re.match(r"pysr +no ", line) for line in lines)
    assert "julia" in " ".join(lines).lower()


def test_solve_and_score_print_for_people_and_for_programs(capsys):
    assert main(["solve", "polynomial", PROBLEM, "--show", "2"]) == 0
    said = capsys.readouterr().out
    assert "2 of 15 candidates, best first" in said and re.search(r"\n +1 +\S+ +1 +z = \S+\*x\*y\n", said)
    assert re.search(r"\nsymbolic_accuracy +1 +higher\n", said)
    assert "Constants: symbolic_accuracy forgives every constant" in said
    assert main(["score", PROBLEM, "2*x*y"]) == 0
    shown = capsys.readouterr().out
    assert "{" not in shown and max(map(len, shown.splitlines())) <= 80
    assert main(["score", PROBLEM, "2*x*y", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["symbolic_accuracy"] == 1.0 and scores["nmse_variance"] > 1
    assert main(["solve", "polynomial", PROBLEM, "--show", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [set(each) for each in found["candidates"]] == [{"loss", "complexity", "solution"}] * 2


def test_what_is_said_to_be_forgiven_is_of_declared_metrics_and_true():
    """Answers that differ from the truth in what is forgiven have the score of the truth."""
    from rediscover import score

    assert all(metric(name).__name__ == name for name in shell.forgiven())
    one, other = (score("srsd/I.12.1", f"{factor}*mu*N_n") for factor in (3, 5))
    assert one["solution_rate"] == other["solution_rate"] == 1.0 and one["r2"] < 1
    assert all(one[name] == other[name] for name in ("ned_published", "ned_harmonised"))
    assert score("srsd/I.12.1", "mu*N_n")["ned_published"] < one["ned_published"]  # a factor where there is none counts
    assert score("srsd/I.12.1", "3*mu*N_n + 1")["solution_rate"] == 0.0

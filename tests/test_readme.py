"""The README is true: its commands run, its code works, its generated parts are those of tables/."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rediscover.report import readme

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
DOCS = {
    path.relative_to(ROOT): path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
}


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.S)


def test_generated_parts_are_up_to_date():
    assert readme.generated(TEXT, ROOT / "tables") == TEXT, "run `make readme`"


@pytest.mark.parametrize("document", DOCS, ids=str)
def test_links_and_pictures_exist(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", DOCS[document]):
        assert (ROOT / document.parent / target).exists(), target


def test_make_targets_exist():
    named = set(re.findall(r"`?make ([a-z]+)", TEXT))
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert named <= known


def test_python_example_runs():
    (example,) = [block for block in blocks("python") if "import rediscover as rd" in block]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "line", [line for block in blocks("sh") for line in block.splitlines() if "rediscover " in line]
)
def test_shell_examples_run(line, tmp_path):
    words = shlex.split(line.split("  #")[0])
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_the_method_shown_is_a_whole_method(tmp_path):
    """The example is put where it says, in a copy of the package, and found there."""
    (example,) = [block for block in blocks("python") if "class Median" in block]
    package = tmp_path / "rediscover"
    subprocess.run(["cp", "-r", str(ROOT / "lib" / "rediscover"), str(package)], check=True)
    (package / "methods" / "median.py").write_text(example)
    code = (
        "import rediscover as rd; p = rd.problem('surfaces/TFS4'); c = rd.method('median').solve(p);"
        "assert 'median' in set(rd.methods()['name']); assert rd.score(p, c)['symbolic_accuracy'] == 0;"
        "print(rd.__file__)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout


def test_make_without_a_goal_is_help_and_mistakes_are_named():
    def make(*arguments):
        return subprocess.run(["make", *arguments], capture_output=True, text=True, cwd=ROOT)

    assert "make smoke" in make().stdout
    wrong = make("all", "STUDY=99_none")
    assert wrong.returncode and "no study is called 99_none" in wrong.stderr
    wrong = make("all", "PROFILE=slow")
    assert wrong.returncode and "no profile is called slow" in wrong.stderr

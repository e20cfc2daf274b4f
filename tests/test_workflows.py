"""What runs elsewhere: every command of the workflows is one that this repository has."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
STEPS = [(name, step) for name, flow in WORKFLOWS.items() for job in flow["jobs"].values() for step in job["steps"]]
RUN = [(name, line) for name, step in STEPS for line in step.get("run", "").splitlines()]


def made(commands):
    """Targets that make is asked for in these command lines."""
    words = [shlex.split(line) for line in commands]
    return sorted({target for line in words if line[:1] == ["make"] for target in line[1:] if "=" not in target})


TARGETS = made(line for _, line in RUN)


def dry(target):
    """What `make` says to a target without running a line of its recipe."""
    asked = ["make", "--dry-run", target, f"PY={sys.executable}"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)


def test_each_workflow_runs_something():
    assert {"ci", "whole", "pysr"} <= {name for name, _ in RUN}
    assert {"test", "whole", "coverage", "test-pysr"} <= set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_exists(target):
    done = dry(target)
    assert done.returncode == 0, done.stderr


def test_a_target_that_there_is_not_would_be_seen():
    assert made(["make tset PROFILE=smoke", "python -m pip install ."]) == ["tset"]
    assert "No rule to make target" in dry("tset").stderr


def test_the_readme_s_commands_run_on_every_python_that_is_allowed():
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    job = WORKFLOWS["ci"]["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"] and lowest == ">=3.11"
    assert [line for name, line in RUN if name == "ci"] == ["make test"]
    assert re.search(r"^make test\b", (ROOT / "README.md").read_text(), flags=re.M)


def test_actions_are_pinned_and_nobody_is_trusted_with_a_secret():
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert used and [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action)] == []
    for name, flow in WORKFLOWS.items():
        published = {"pages": "write", "id-token": "write"} if name == "pages" else {}  # by the hosting service
        assert flow["permissions"] == {"contents": "read"} | published and "secrets." not in str(flow), name


def test_the_marker_of_the_tests_of_pysr_selects_some_that_all_others_leave_out():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert "not pysr" in settings["addopts"] and "-m pysr" in dry("test-pysr").stdout
    assert "pytest.mark.pysr" in (ROOT / "tests" / "test_pysr.py").read_text()


def test_the_container_makes_the_environment_as_a_user_and_then_everything():
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert [name for name, _ in steps] == ["FROM", "RUN", "RUN", "USER", "WORKDIR", "COPY", "RUN", "CMD"]
    assert steps[0][1].startswith("python:3.11") and steps[-2][1] == "make .venv/.ready"
    command = json.loads(steps[-1][1])
    assert command == ["make", "all"] and dry("all").returncode == 0
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv", "build"} <= set(ignored) and ".git" not in ignored


def docker():
    """Whether images can be built here."""
    return shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True).returncode == 0


@pytest.mark.whole
def test_the_container_builds():
    if not docker():
        pytest.skip("docker does not run here")
    subprocess.run(["docker", "build", "--quiet", "."], cwd=ROOT, check=True, timeout=3000)

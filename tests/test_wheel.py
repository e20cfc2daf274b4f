"""A wheel in an environment of its own, outside of any clone: the lines of docs/my-method.md work there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rediscover.runs.schema import read_csv

import pytest

pytestmark = pytest.mark.minutes
ROOT = Path(__file__).parents[1]
PROBLEMS = ["surfaces/TFS4", "surfaces/QIS2", "surfaces/NCGS2"]
PACKAGES = 45  # that the core may bring
COPIED = ("lib", "params", "tables", "pyproject.toml", "README.md", "LICENSE")


def ran(*command, where, env=None):
    done = subprocess.run([*map(str, command)], cwd=where, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: setuptools writes beside the sources, and packs what an earlier build left."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.check_output(["git", "ls-files", "-z", *COPIED], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    ran(sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-w", "made", where=folder)
    [made] = (folder / "made").glob("*.whl")
    return made


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """The environment's folder of programs, with the wheel and what it depends on, and the variables to use it with."""
    folder = tmp_path_factory.mktemp("environment")
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "REDISCOVER_ROOT", "VIRTUAL_ENV")}
    env |= {"REDISCOVER_CACHE": "", "REDISCOVER_PROGRESS": "off"}
    ran(sys.executable, "-m", "venv", folder, where=folder)
    programs = folder / "bin"
    install = [programs / "python", "-m", "pip", "install", "--quiet", wheel]
    done = subprocess.run([*map(str, install)], env=env, capture_output=True, text=True)
    if re.search(r"connection|No matching distribution", done.stderr) and done.returncode:
        pytest.skip("without a network the packages that the core needs cannot be installed")
    assert done.returncode == 0, done.stderr
    return programs, env


def test_the_core_brings_few_packages(alone, tmp_path):
    programs, env = alone
    listed = ran(programs / "python", "-m", "pip", "list", "--format=freeze", where=tmp_path, env=env).splitlines()
    names = {line.partition("==")[0] for line in listed}
    brought = names - {"rediscover", "pip", "setuptools"}
    assert "rediscover" in names and len(brought) <= PACKAGES, sorted(brought)


def test_my_method_without_a_clone(alone, tmp_path):
    """From an empty folder to a report; others' answers come from the tables that the wheel brings."""
    programs, env = alone
    text = (ROOT / "docs" / "my-method.md").read_text(encoding="utf-8")
    lines = re.search(r"```sh\n(.*?)```", text, re.S)[1].splitlines()
    said = {}
    for line in lines:
        name, *arguments = line.partition("#")[0].split()
        if "--subset" in arguments:
            at = arguments.index("--subset")
            arguments[at : at + 2] = ["--problems", *PROBLEMS]
        said[arguments[0]] = ran(programs / name, *arguments, where=tmp_path, env=env)
    assert list(said) == ["new", "run", "compare", "report"]
    answers = read_csv(tmp_path / "build" / "own" / "surfaces" / "mine.csv")
    assert set(answers["problem"]) == set(PROBLEMS) and set(answers["status"]) == {"ok"}
    assert "tables/surfaces_scores.csv" in said["compare"]
    page = Path(said["report"].strip())
    assert (tmp_path / page).resolve() == (tmp_path / "build/own/report/index.html").resolve()
    assert "power_law" in (tmp_path / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["params", "tables"])
def test_what_the_wheel_brings_is_what_is_committed(alone, folder):
    programs, _ = alone
    brought = list((programs.parent / "share" / "rediscover" / folder).iterdir())
    assert brought and all(path.read_bytes() == (ROOT / folder / path.name).read_bytes() for path in brought)

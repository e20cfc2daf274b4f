"""What make does again: notebooks whose outputs or sources are others than when they were made, whatever the time."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLD = (1_000_000_000, 1_000_000_000)
# In place of Python: papermill writes a table and its provenance, made.py is run, all else does nothing.
PYTHON = f"""#!/bin/sh
case "$*" in
*made.py*) exec {sys.executable} "$@";;
*papermill*)
    echo again >> runs
    mkdir -p build/smoke/tables
    echo 1 > build/smoke/tables/t.csv
    digest=$(sha256sum build/smoke/tables/t.csv | cut -d' ' -f1)
    echo '{{"profile": "smoke", "files": {{"tables/t.csv": "'$digest'"}}}}' \\
        > build/smoke/tables/00_one.provenance.json
    cp "$3" "$4";;
esac
"""


@pytest.fixture
def place(tmp_path):
    """A folder with this Makefile, one notebook and one module, made once."""
    for folder in ("notebooks", "params", "lib/rediscover/system"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "lib/rediscover/system/made.py", tmp_path / "lib/rediscover/system")
    (tmp_path / "lib/rediscover/one.py").write_text("x = 1\n")
    (tmp_path / "params/00_one.yaml").write_text("")
    notebook(tmp_path, "x = 1", "out")
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    assert times_run(tmp_path) == 1
    return tmp_path


def notebook(place, source, output):
    cell = {"cell_type": "code", "source": source, "outputs": [output]}
    (place / "notebooks/00_one.ipynb").write_text(json.dumps({"cells": [cell]}))


def times_run(place) -> int:
    """How often the notebook has been run, after another `make smoke`."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    command = ["make", "--no-print-directory", "smoke", "PY=./python"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return len((place / "runs").read_text().splitlines())


def test_nothing_is_done_twice(place):
    assert times_run(place) == 1


@pytest.mark.parametrize("what", ["deleted", "edited"])
def test_an_output_that_is_not_there_as_it_was_is_made_again(place, what):
    table = place / "build/smoke/tables/t.csv"
    table.unlink() if what == "deleted" else table.write_text("2")
    os.utime(place / "build/smoke/tables", OLD)
    assert times_run(place) == 2 and table.read_text() == "1\n"
    assert times_run(place) == 2


@pytest.mark.parametrize("name", ["lib/rediscover/one.py", "params/00_one.yaml", "notebooks/00_one.ipynb"])
def test_a_source_that_comes_with_an_old_time_is_seen(place, name):
    if name.endswith(".ipynb"):
        notebook(place, "x = 2", "out")
    else:
        (place / name).write_text("x = 2\n")
    os.utime(place / name, OLD)
    assert times_run(place) == 2
    assert times_run(place) == 2


def test_what_a_committed_notebook_shows_is_no_source(place):
    notebook(place, "x = 1", "another output")
    os.utime(place / "notebooks/00_one.ipynb", OLD)
    assert times_run(place) == 1


def test_an_executed_notebook_from_the_future_hides_nothing(place):
    later = 2_000_000_000
    os.utime(place / "build/smoke/00_one.ipynb", (later, later))
    (place / "build/smoke/tables/t.csv").unlink()
    assert times_run(place) == 2
    assert times_run(place) == 2


def test_runs_that_failed_are_tried_again_when_asked(place):
    environment = os.environ | {"RETRY": "error"}
    subprocess.run(["make", "smoke", "PY=./python"], cwd=place, env=environment, check=True, capture_output=True)
    assert len((place / "runs").read_text().splitlines()) == 2

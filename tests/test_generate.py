"""Generation of formulas as a user starts it: make, a process of its own, and a real server on loopback."""

import collections
import os
import re
import subprocess
import sys
from pathlib import Path

from loopback import serving

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]


def written(request):
    """A formula when asked for one, and a score of 4 when asked to judge."""
    return '{"score": 4}' if request["model"] == "judge" else "<latex>a = b</latex><description>a is b</description>"


@pytest.fixture
def server():
    with serving(written) as web:
        yield web


def generate(folder, server, **environment):
    """`make generate` with the working folder's build/ and records/ in `folder`."""
    command = ["make", "-f", str(ROOT / "Makefile"), "generate", f"PY={sys.executable}", "MODEL=writer"]
    command += ["JUDGE=judge", "LIMIT=2", f"BASE_URL={server.url}"]
    environment |= {"OPENAI_API_KEY": "none", "REDISCOVER_MIRROR": str(folder), "REDISCOVER_PROGRESS": "off"}
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "cwd": folder}
    return subprocess.run(command, env=os.environ | environment, timeout=120, **options)


def test_make_generate_asks_first_then_writes_scores_and_resumes(server, tmp_path):
    asked = generate(tmp_path, server)
    assert asked.returncode and "YES=1" in asked.stderr and not server.seen
    assert "2 formulas by writer and 10 scores by judge: an unknown price" in asked.stdout
    assert f"\nrequests go to {server.url}\n" in asked.stdout

    done = generate(tmp_path, server, YES="1")
    assert done.returncode == 0, done.stderr
    assert collections.Counter(request["model"] for request in server.seen) == {"writer": 2, "judge": 10}
    table = pd.read_csv(tmp_path / "build" / "generate" / "writer.csv")
    assert table["latex"].tolist() == ["a = b", "a = b"] and table["description"].tolist() == ["a is b"] * 2
    assert (table[["Validity", "Coverage", "Clarity", "Appropriateness", "Equivalence"]] == 4).all(axis=None)
    assert table["structure_distance"].between(0, 1).all()
    assert re.search(r"2 formulas, 0 failed; build/generate/writer.csv", done.stdout)
    assert len((tmp_path / "records" / "writer.jsonl").read_text().splitlines()) == 2

    again = generate(tmp_path, server, YES="1")
    assert again.returncode == 0 and len(server.seen) == 12
    assert "2 and 10 replies are recorded already" in again.stdout


def test_make_generate_without_a_model_says_what_to_type():
    command = ["make", "generate", f"PY={sys.executable}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode and "make generate MODEL=... BASE_URL=" in done.stderr


def test_a_server_that_is_not_there_is_one_line(tmp_path):
    command = [sys.executable, "-m", "rediscover.studies.passages.generate", "--model", "writer", "--judge", "judge"]
    command += ["--limit", "1", "--tries", "1", "--base-url", "http://127.0.0.1:1/v1"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"YES": "1"}, timeout=120
    )
    assert "Traceback" not in done.stderr and "1 failed" in done.stdout
    row = pd.read_csv(tmp_path / "build" / "generate" / "writer.csv").iloc[0]
    assert "ConnectError at http://127.0.0.1:1/v1" in row["failure"] and pd.isna(row["Validity"])

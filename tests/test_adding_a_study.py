"""The files of docs/adding-a-study.md, put where it says, are a study like the others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-a-study.md").read_text()
FILES = re.findall(r"^`([\w/.]+)`.*?```\w+\n(.*?)```", PAGE, flags=re.S | re.M)


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the repository with the new files, after `make all` of the new study, the ledger and the README."""
    copy = tmp_path_factory.mktemp("extended")
    for name in ("lib", "params", "notebooks", "tables", "paper", "docs", "figures", "records"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("Makefile", "README.md", "CITATION.cff"):
        shutil.copy(ROOT / name, copy / name)
    for path, text in FILES:
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        assert not target.exists(), f"{path} is there already"
        if target.suffix == ".ipynb":
            first, *rest = text.strip().split("# %%\n")
            cells = [new_markdown_cell("# Does a method find the pendulum?"), new_code_cell(first.strip())]
            cells[1].metadata["tags"] = ["parameters"]
            cells += [new_code_cell(cell.strip()) for cell in rest]
            kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
            nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), target)
        else:
            target.write_text(text)
    command = ["make", "all", "PROFILE=reference", "STUDY=70_toys 90_ledger", f"PY={sys.executable}"]
    environment = os.environ | {"PYTHONPATH": str(copy / "lib"), "REDISCOVER_ROOT": str(copy)}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy


def test_it_takes_eight_files():
    assert len(FILES) == 8 and len(dict(FILES)) == 8


def test_its_tables_and_its_rows_of_the_ledger_are_there(extended):
    shares = pd.read_csv(extended / "tables" / "toys_recovery.csv", index_col=0)
    assert shares.loc["power_law", "recovered"] == 1 and shares.loc["mean", "recovered"] == 0
    ledger = pd.read_csv(extended / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    (row,) = ledger[ledger["paper"] == "ToyBench"].to_dict("records")
    assert row["verdict"] == "reproduced" and row["notebook"] == "70_toys" and float(row["measured"]) == 1


def test_its_facts_are_known(extended):
    found = pd.read_csv(extended / "tables" / "facts.csv", dtype=str).set_index("fact")["text"]
    assert found["toys.laws"] == "one" and found["toys.recovered"] == "100%" and found["surfaces.count"] == "183"


def test_it_is_counted_in_the_results_and_on_the_site(extended):
    text = (extended / "docs" / "results.md").read_text()
    assert "**Toys** (notebook 70):" in text and "| power_law | 1 | 1 |" in text
    assert re.search(r"^\| ToyBench \| 1 \| 0 \|", text, flags=re.M)
    environment = os.environ | {"PYTHONPATH": str(extended / "lib"), "REDISCOVER_ROOT": str(extended)}
    command = [sys.executable, "-m", "rediscover.publish.site"]
    done = subprocess.run(command, cwd=extended, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = "".join(path.read_text() for path in (extended / "build" / "site").glob("*.html"))
    assert "ToyBench" in pages and "70_toys" in pages
    # It states no measures, so that a comparison over all studies passes it by.
    every = [sys.executable, "-c", "from rediscover.comparison import summary; print(summary.every())"]
    done = subprocess.run(every, cwd=extended, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "surfaces" in done.stdout and "toys" not in done.stdout, done.stderr

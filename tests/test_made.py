"""What make does again: what is other than when it was made, whatever the time, and nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rediscover.system import made as made_again

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
OLD = (1_000_000_000, 1_000_000_000)
LEVEL = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")  # what tells a make that another has called it
# In place of Python: papermill writes a table and its provenance, publishing a list of what it wrote; made.py is run.
PYTHON = f"""#!/bin/sh
case "$*" in
*made.py*) exec {sys.executable} "$@";;
*publish*) echo published >> runs; ls README.md notebooks/*.ipynb > "$3";;
*papermill*)
    name=$(basename "$3" .ipynb)
    folder=; [ "$5$6$7" = "-pprofilesmoke" ] && folder=build/smoke/
    echo $name >> runs
    mkdir -p ${{folder}}tables
    test -e ${{folder}}tables/$name.csv || echo 1 > ${{folder}}tables/$name.csv
    echo '{{"profile": "'$7'", "files": {{"tables/'$name'.csv": ""}}}}' > ${{folder}}tables/$name.provenance.json
    cp "$3" "$4";;
esac
"""


def make(place, *arguments) -> str:
    """What ``make`` prints."""
    environment = {name: value for name, value in os.environ.items() if name not in LEVEL}
    command = ["make", "--no-print-directory", *arguments, "PY=./python"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_python(place):
    (place / "python").write_text(PYTHON)
    (place / "python").chmod(0o755)
    return place


def notebook(place, source, output, text="Text."):
    cells = [{"cell_type": "code", "source": source, "outputs": [output]}, {"cell_type": "markdown", "source": text}]
    (place / "notebooks/00_one.ipynb").write_text(json.dumps({"cells": cells}))


class TestOneNotebook:
    @pytest.fixture
    def place(self, tmp_path):
        """A folder with this Makefile, one notebook and two modules, made once."""
        for folder in ("notebooks", "params", "lib/rediscover/system"):
            (tmp_path / folder).mkdir(parents=True)
        shutil.copy(ROOT / "Makefile", tmp_path)
        for name in ("made", "code_version"):
            shutil.copy(ROOT / f"lib/rediscover/system/{name}.py", tmp_path / "lib/rediscover/system")
        for package in ("lib/rediscover", "lib/rediscover/system"):
            (tmp_path / package / "__init__.py").write_text("")
        (tmp_path / "lib/rediscover/one.py").write_text("x = 1\n")
        (tmp_path / "lib/rediscover/other.py").write_text("x = 1\n")
        (tmp_path / "params/00_one.yaml").write_text("")
        notebook(tmp_path, "from rediscover.one import x", "out")
        assert self.times_run(with_python(tmp_path)) == 1
        return tmp_path

    def times_run(self, place) -> int:
        """How often the notebook has been run, after another `make smoke`."""
        make(place, "smoke")
        return len((place / "runs").read_text().splitlines())

    def test_nothing_is_done_twice(self, place):
        assert self.times_run(place) == 1

    @pytest.mark.parametrize("what", ["deleted", "edited"])
    def test_an_output_that_is_not_there_as_it_was_is_made_again(self, place, what):
        table = place / "build/smoke/tables/00_one.csv"
        table.unlink() if what == "deleted" else table.write_text("2")
        os.utime(place / "build/smoke/tables", OLD)
        assert self.times_run(place) == 2 and table.exists()
        assert self.times_run(place) == 2

    @pytest.mark.parametrize("name", ["lib/rediscover/one.py", "params/00_one.yaml", "notebooks/00_one.ipynb"])
    def test_a_source_that_comes_with_an_old_time_is_seen(self, place, name):
        if name.endswith(".ipynb"):
            notebook(place, "from rediscover.one import x as y", "out")
        else:
            (place / name).write_text("x = 2\n")
        os.utime(place / name, OLD)
        assert self.times_run(place) == 2
        assert self.times_run(place) == 2

    def test_what_decides_no_result_is_no_source(self, place):
        notebook(place, "from rediscover.one import x", "another output", "Other text.")
        (place / "lib/rediscover/other.py").write_text("x = 2\n")
        (place / "lib/rediscover/one.py").write_text('"""A docstring."""\nx = 1  # a remark\n')
        assert self.times_run(place) == 1
        os.utime(place / "params/00_one.yaml")
        assert self.times_run(place) == 1

    def test_a_change_that_is_taken_back_is_none(self, place):
        (place / "lib/rediscover/one.py").write_text("x = 2\n")
        assert "00_one: rediscover.one has changed" in make(place, "smoke", "-n")
        (place / "lib/rediscover/one.py").write_text("x = 1\n")
        assert self.times_run(place) == 1

    def test_data_beside_a_module_are_sources(self, place):
        (place / "lib/rediscover/one.csv").write_text("x\n1\n")
        assert self.times_run(place) == 2
        assert self.times_run(place) == 2

    def test_an_edit_while_it_runs_is_seen_the_next_time(self, place):
        program = place / "python"
        program.write_text(PYTHON.replace('cp "$3" "$4"', 'cp "$3" "$4"; echo "x = 3" > lib/rediscover/one.py'))
        (place / "lib/rediscover/one.py").write_text("x = 2\n")
        assert self.times_run(place) == 2
        with_python(place)
        assert self.times_run(place) == 3
        assert self.times_run(place) == 3

    def test_an_executed_notebook_from_the_future_hides_nothing(self, place):
        later = 2_000_000_000
        os.utime(place / "build/smoke/00_one.ipynb", (later, later))
        (place / "build/smoke/tables/00_one.csv").unlink()
        assert self.times_run(place) == 2
        assert self.times_run(place) == 2

    def test_runs_that_failed_are_tried_again_when_asked(self, place):
        make(place, "smoke", "RETRY=error")
        assert len((place / "runs").read_text().splitlines()) == 2

    @pytest.mark.parametrize(
        ("arguments", "at_once"),
        [((), 2), (["JOBS=1"], 1), (["FRESH=1"], 1), (["RETRY=error"], 1), (["PROFILE=smoke"], 1)],
    )
    def test_two_run_at_a_time_where_runs_are_read_and_not_timed(self, place, arguments, at_once):
        (place / "records").mkdir()
        (place / "records/SHA256SUMS").write_text("")
        (place / "paper").mkdir()
        for name in ("paper/main.tex", "README.md"):
            (place / name).write_text("")
        for name in ("01_two", "02_three"):
            shutil.copy(place / "notebooks/00_one.ipynb", place / f"notebooks/{name}.ipynb")
            (place / f"params/{name}.yaml").write_text("")
        # Each waits for the other, but for no more than three seconds.
        waiting = "for i in $(seq 30); do [ $(grep -xc 1 spans) = 2 ] && break; sleep 0.1; done"
        running = f'echo 1 >> spans; {waiting}; echo -1 >> spans; cp "$3" "$4"'
        (place / "python").write_text(PYTHON.replace('cp "$3" "$4"', running))
        make(place, "all", "STUDY=01_two 02_three", *arguments)
        spans = [int(line) for line in (place / "spans").read_text().split()]
        assert len(spans) == 4 and max(np.cumsum(spans)) == at_once


TARGET = Path("build/smoke/00_one.ipynb")
FILES = ("notebooks/00_one.ipynb", "params/00_one.yaml", "lib/rediscover/one.py", "lib/rediscover/inner.py")
WRITTEN = ("build/smoke/tables/a.csv", "build/smoke/tables/b.csv")


class TestDrawnEdits:
    @pytest.fixture
    def place(self, tmp_path, monkeypatch):
        """A folder in which a notebook has been made of two modules, data and parameters."""
        monkeypatch.chdir(tmp_path)
        for folder in ("notebooks", "params", "lib/rediscover/system", "build/smoke/tables"):
            Path(folder).mkdir(parents=True)
        shutil.copy(ROOT / "lib/rediscover/system/code_version.py", "lib/rediscover/system")
        for package in ("lib/rediscover", "lib/rediscover/system"):
            Path(package, "__init__.py").write_text("")
        Path("lib/rediscover/one.py").write_text("from .inner import y\n\nx = 1\n")
        Path("lib/rediscover/inner.py").write_text("y = 1\n")
        Path("lib/rediscover/other.py").write_text("z = 1\n")
        Path("lib/rediscover/one.csv").write_text("x\n1\n")
        Path("params/00_one.yaml").write_text("x: 1\n")
        notebook(Path(), "from rediscover.one import x", "out")
        for name in WRITTEN:
            Path(name).write_text("x\n1\n")
        files = {f"tables/{Path(name).name}": "" for name in WRITTEN}
        provenance = Path("build/smoke/tables/00_one.provenance.json")
        provenance.write_text(json.dumps({"profile": "smoke", "files": files}))

    def now(self):
        made_again.code.cache_clear()
        files = [Path(name) for name in FILES if not name.startswith("lib")]
        return {"sources": made_again.sources(TARGET, files), "outputs": made_again.outputs(TARGET)}

    def edit(self, rng):
        """Change one thing; whether its content decides or is a result."""
        what, number = rng.integers(10), int(rng.integers(10**9))
        name = str(rng.choice([*FILES, *WRITTEN, "lib/rediscover/one.csv"]))
        if what < 4:  # a time alone, and prose
            os.utime(name, (number, number))
        elif what == 4:
            path = Path("lib/rediscover", str(rng.choice(["one", "inner"])) + ".py")
            code = re.sub(r'^""".*"""\n', "", path.read_text())
            path.write_text(f'"""Title {number}."""\n{code}# {number}\n')
        elif what == 5:
            Path("lib/rediscover/other.py").write_text(f"z = {number}\n")
        elif what == 6:
            text = json.loads(Path(FILES[0]).read_text())["cells"][0]["source"]
            notebook(Path(), text, f"other {number}", f"Text {number}.")
        elif name.endswith(".ipynb"):
            notebook(Path(), f"from rediscover.one import x\nx + {number}", "out")
        elif name in WRITTEN and what == 7:
            Path(name).unlink(missing_ok=True)
        else:
            Path(name).write_text((Path(name).read_text() if Path(name).exists() else "") + f"\nx{number}: int = 1\n")
        if what > 6 and Path(name).exists():  # however old it says that it is
            os.utime(name, OLD)
        return bool(what > 6)

    def test_a_content_is_noticed_and_a_time_is_not(self, place):
        rng, before, seen = np.random.default_rng(6), self.now(), []
        for _ in range(100):
            gone = [name for name in WRITTEN if not Path(name).exists()]
            for name in gone:
                Path(name).write_text("x\n1\n")
            before = self.now()
            seen.append(self.edit(rng))
            assert bool(made_again.changed(before, self.now())) == seen[-1], seen
        assert 20 < sum(seen) < 80


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A copy of the repository after `make all`, whose notebooks wrote one table each."""
    place = tmp_path_factory.mktemp("all")
    for name in ("lib", "notebooks", "params", "paper", "records", "tables"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.npz", "*.jsonl.xz", "*.tex")
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    for name in ("Makefile", "README.md"):
        shutil.copy(ROOT / name, place)
    (place / "paper/main.tex").write_text(r"\documentclass{article}\begin{document}Short.\end{document}")
    said = make(with_python(place), "all").splitlines()[-1]
    typeset = (place / "build/paper/main.pdf").exists()
    assert typeset == bool(shutil.which("latexmk")) and said.endswith("main.pdf" if typeset else "says what it needs")
    assert (place / "runs").read_text().splitlines()[-2:] == ["90_ledger", "published"]
    return place


class TestAllNotebooks:
    def queued(self, place) -> list[str]:
        """What ``make -n all`` says that it would run."""
        said = make(place, "-n", "all")
        found = re.findall(r'echo "(\w+): running|-m (rediscover\.publish|rediscover spot-check) ', said)
        return ["".join(names).removeprefix("rediscover").strip(" .") for names in found]

    def edited(self, place, name, old="", new="\nSURE = 1\n") -> list[str]:
        """What is queued when a file has another text; afterwards it has its own again, and nothing is."""
        path = place / name
        text = path.read_text()
        assert old in text
        try:
            path.write_text(text.replace(old, new, 1) if old else text + new)
            return self.queued(place)
        finally:
            path.write_text(text)

    def test_nothing_is_done_twice(self, made):
        assert self.queued(made) == []
        before = (made / "runs").read_text()
        make(made, "all")
        assert (made / "runs").read_text() == before

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("studies/srsd/claims.py", ["20_srsd_edit_distance", "90_ledger", "publish"]),
            ("studies/cde/claims.py", ["30_symbolbench_odes", "90_ledger", "publish"]),
            ("studies/srsd/facts.py", ["publish"]),
            ("publish/readme.py", ["publish"]),
            ("publish/pages/labels.yaml", ["publish"]),
        ],
    )
    def test_a_module_queues_what_imports_it(self, made, name, expected):
        assert self.edited(made, f"lib/rediscover/{name}") == expected
        assert self.queued(made) == []

    def test_the_scores_of_a_study_queue_what_runs_its_problems(self, made):
        found = self.edited(made, "lib/rediscover/studies/surfaces/scores.py")
        assert {"00_start_here", "10_surface_benchmark", "60_cross_scoring", "90_ledger", "publish"} <= {*found}
        assert not {"31_symbolbench_boolean", "40_mdbench_odes", "50_text_to_equation"} & {*found}

    def test_what_all_import_queues_all(self, made):
        found = self.edited(made, "lib/rediscover/problems/__init__.py")
        assert found[-2:] == ["spot-check", "publish"]
        assert sorted(found[:-2]) == sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))

    def test_the_text_of_a_notebook_queues_publishing_alone(self, made):
        assert self.edited(made, "notebooks/40_mdbench_odes.ipynb", "## Try this", "## Try that") == ["publish"]

    def test_the_code_of_a_notebook_queues_it(self, made):
        change = ("import numpy as np", "import numpy")
        found = self.edited(made, "notebooks/40_mdbench_odes.ipynb", *change)
        assert found == ["40_mdbench_odes", "90_ledger", "publish"]

    def test_records_queue_the_notebooks_of_their_problems(self, made):
        name = re.search(r"(\w{4})  cde/", (made / "records" / "SHA256SUMS").read_text())[1]
        found = self.edited(made, "records/SHA256SUMS", f"{name}  cde/", "0000  cde/")
        assert "30_symbolbench_odes" in found and "20_srsd_edit_distance" not in found
        assert "spot-check" in found

    def test_a_page_that_was_edited_is_published_again(self, made):
        assert self.edited(made, "README.md", "# ", "#  ") == ["publish"]

    def test_publishing_alone_runs_no_notebook(self, made):
        text = (made / "params/40_mdbench_odes.yaml").read_text()
        (made / "params/40_mdbench_odes.yaml").write_text(text + "\n")
        said = make(made, "-n", "publish")
        (made / "params/40_mdbench_odes.yaml").write_text(text)
        assert "papermill" not in said

    @pytest.mark.parametrize("name", ["surfaces_scores", "mdbench_odes_budgets"])
    def test_tables_that_another_notebook_changed_are_read_again(self, made, name):
        """Cross-scoring follows the tables of scores and of budgets, not the notebooks that write them."""
        table = made / "tables" / f"{name}.csv"
        text = table.read_text()
        assert self.edited(made, f"tables/{name}.csv", "\n", "\n\n")[0] == "60_cross_scoring"
        assert table.read_text() == text

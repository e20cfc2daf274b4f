"""Any change of a parameter runs, or is refused in one sentence before anything is computed; nothing of it is kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from parameter_cases import STARTS, Case, cases

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
CASES = {f"{case.notebook[:2]} {case.name}": case for case in cases()}
READS = {  # notebook -> those whose tables it needs
    "41_mdbench_pdes": ("40_mdbench_odes",),
    "60_cross_scoring": ("10_surface_benchmark", "20_srsd_edit_distance", "40_mdbench_odes"),
}
SAMPLE = [  # of each kind of change some, in half a minute
    "00 methods: without oracle",
    "00 methods: others alone",
    "00 methods: one of another study",
    "00 seeds: another, too",
    "10 noise_surfaces: of another study",
    "20 relative_noise: text",
    "30 methods: without least_squares",
    "31 methods: without truth_table",
    "32 max_variables: an unknown key",
    "40 snr_db: empty",
    "41 linear_settings: an unknown key",
    "50 papers: an unknown one",
    "60 problems: of another study",
    "70 proposers: an unknown one",
    "90 reasons: zero",
]


class Explorer:
    """Notebooks of a repository of its own in a temporary folder, run by `exploring`."""

    def __init__(self, root: Path) -> None:
        self.root, self.known = root, {}
        for name in ("notebooks", "params", "tables"):
            shutil.copytree(ROOT / name, root / name)
        self.environment = os.environ | {"REDISCOVER_ROOT": str(root), "MPLBACKEND": "agg"}
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("exploring.py")],
            cwd=root,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, notebook: str, changes: dict) -> dict:
        """How it ended, as `exploring.execute` says it; the same again from memory."""
        line = json.dumps({"notebook": notebook, "changes": changes})
        if line not in self.known:
            print(line, file=self.process.stdin, flush=True)
            self.known[line] = json.loads(self.process.stdout.readline())
        return self.known[line]


@pytest.fixture(scope="module")
def explorer(tmp_path_factory):
    explorer = Explorer(tmp_path_factory.mktemp("exploring"))
    yield explorer
    with explorer.process as process:
        process.stdin.close()


def check(case: Case, outcome: dict) -> None:
    where = f"{case.notebook}, {case.name}, in the cell\n{outcome.get('cell')}\n{outcome.get('trace')}"
    if outcome["error"]:
        assert outcome["error"] == "ParameterError" and "params.load(" in outcome["cell"], where
        assert "\n" not in outcome["message"], where
    else:
        assert not case.wrong, f"{case.notebook}, {case.name}: was not refused"


def test_there_are_cases_of_every_notebook_and_every_parameter():
    from rediscover import params

    assert len(CASES) >= 200 and sum(not case.wrong for case in CASES.values()) >= 200
    for notebook, model in params.models().items():
        names = {case.name.split(":")[0] for case in CASES.values() if case.notebook == notebook}
        assert names == set(model.model_fields) - {"profile", "explored"}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_runs_or_is_refused_in_one_sentence(explorer, name):
    check(CASES[name], explorer.run(CASES[name].notebook, CASES[name].changes))


@pytest.mark.whole
@pytest.mark.parametrize("name", CASES)
def test_every_change_runs_or_is_refused_in_one_sentence(explorer, name):
    case = CASES[name]
    for other in READS.get(case.notebook, ()) if not case.wrong else ():
        assert not explorer.run(other, {})["error"]
    check(case, explorer.run(case.notebook, case.changes))


def test_papermill_prints_the_same(explorer):
    """The cells run as a kernel would run them: in 00_start_here, with two methods and another surface."""
    changes = STARTS["00_start_here"]["small"] | {"problem": "surfaces/TFS4", "methods": ["mean", "polynomial"]}
    given = explorer.root / "changes.json"  # YAML, too
    given.write_text(json.dumps(changes))
    words = ["-m", "papermill", "notebooks/00_start_here.ipynb", "out.ipynb", "-f", given, "-k", "python3"]
    command = [sys.executable, *words, "--no-progress-bar", "--log-level", "ERROR"]
    subprocess.run(command, cwd=explorer.root, env=explorer.environment, check=True, timeout=120)
    run = [cell for cell in nbformat.read(explorer.root / "out.ipynb", as_version=4).cells if cell.cell_type == "code"]
    streams = [[output["text"] for output in cell.outputs if output.get("name") == "stdout"] for cell in run]
    outcome = explorer.run("00_start_here", changes)
    assert not outcome["error"] and outcome["printed"] == ["".join(texts) for texts in streams]
    assert "TFS4" in outcome["printed"][2]


def test_nothing_is_written_but_under_build_explore(explorer):
    changes = STARTS["00_start_here"]["small"] | {"seeds": [1]}
    assert not explorer.run("00_start_here", changes)["error"]
    assert (explorer.root / "build" / "explore" / "tables" / "start_here.csv").exists()
    for path in (ROOT / "tables").iterdir():
        assert (explorer.root / "tables" / path.name).read_bytes() == path.read_bytes()
    assert not (explorer.root / "figures").exists()

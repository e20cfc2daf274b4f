"""The same seed and profile give the same bytes, also when two runs work at once or one was killed and resumed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from rediscover.system import reproducible_blas

import pytest
import yaml

ROOT = Path(__file__).parents[1]
STUDY = "10_surface_benchmark"
SURFACES = ["surfaces/TFS4", "surfaces/QIS2", "surfaces/AMHD1", "surfaces/TCS5"]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Two copies of what a run reads: notebooks and parameters (fewer surfaces, so that this takes seconds)."""
    made = []
    for name in ("at_once", "killed"):
        root = tmp_path_factory.mktemp(name)
        (root / "notebooks").mkdir()
        shutil.copy(ROOT / "notebooks" / f"{STUDY}.ipynb", root / "notebooks")
        content = yaml.safe_load((ROOT / "params" / f"{STUDY}.yaml").read_text())
        content["smoke"] |= {"surfaces": SURFACES, "evaluations": 200}
        (root / "params").mkdir()
        (root / "params" / f"{STUDY}.yaml").write_text(yaml.safe_dump(content))
        made.append(root)
    return made


def start(root, name):
    words = ["-m", "papermill", f"notebooks/{STUDY}.ipynb", f"{name}.ipynb"]
    environment = os.environ | {"REDISCOVER_ROOT": str(root), "REDISCOVER_PROGRESS": "off"}
    return begin([sys.executable, *words, "-k", "python3", "--no-progress-bar"], root, environment)


def begin(command, root, environment) -> subprocess.Popen:
    """A process in a group of its own, so that it can be killed with all that it starts."""
    return subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen,
    )


def listen():
    """To interrupts, also where these tests were started in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(process, seconds=300):
    _, errors = process.communicate(timeout=seconds)
    assert process.returncode == 0, errors[-3000:]


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for kind in ("tables", "figures")
        for path in sorted((folder / kind).iterdir())
    }


# numpy is imported first, as alphabetical order has it: this process computes with other kernels, `solve` must not.
LATE = """
import sys, time, warnings
import numpy
warnings.simplefilter("ignore", RuntimeWarning)
import rediscover
from rediscover.runs import recording, records
from rediscover.runs.worker import checked, ending
from rediscover.studies import notebooks, planned
from rediscover.system import reproducible_blas

count, seconds, allowed = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
assert reproducible_blas.differs()
runs = [run for notebook in notebooks() for run in planned(notebook)]
known = [(run, line) for run, line in recording.sample(runs, seed=0, size=4 * count) if line["seconds"] < seconds]
here = records.processor()
drawn = [(run, line) for run, line in known if run.method.portable or line["processor"] == here][:count]
end, files, done = time.monotonic() + allowed, set(), 0
for run, line in drawn:
    if time.monotonic() > end:
        break
    try:
        outcome = checked(run.problem, run.method.solve(run.problem, budget=run.budget, seed=run.seed))
    except rediscover.methods.Unsupported as error:
        outcome = ending("unsupported", str(error))
    except Exception as error:
        outcome = ending("error", f"{type(error).__name__}: {error}")
    done += 1
    files.add(str(records.path(line)))
    if not recording.equal(line, outcome):
        print("other:", run.method.name, run.problem.id, run.seed, outcome["status"], flush=True)
print(done, "of", len(drawn), "in", len(files), "files")
"""


def late(count, seconds, allowed):
    """What a process that has imported numpy first says of recorded answers that it asks for again."""
    kept = {name: value for name, value in os.environ.items() if name not in reproducible_blas.settings()}
    command = [sys.executable, "-c", LATE, str(count), str(seconds), str(allowed)]
    return subprocess.run(command, env=kept, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(
    not reproducible_blas.KERNELS.keys() <= reproducible_blas.settings().keys(), reason="no such kernels"
)
def test_recorded_answers_come_back_where_numpy_was_imported_first():
    said = late(6, 0.2, 100)
    assert "other:" not in said and said.startswith("6 of 6 in"), said


FIELD = """
import rediscover, hashlib, sys
axes, *arrays = rediscover.problem("pdes/ad").samples(0)
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


def test_a_field_that_is_kept_for_all_is_the_same_whoever_simulates_it(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in reproducible_blas.settings()}
    said = set()
    for name, first, more in (
        ("late", "import numpy", {}),
        ("first", "", {}),
        ("threads", "", {"OMP_NUM_THREADS": "2"}),
    ):
        command = [sys.executable, "-W", "ignore", "-c", first + FIELD]
        environment = kept | more | {"XDG_CACHE_HOME": str(tmp_path / name)}
        said.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(said) == 1


@pytest.mark.minutes
@pytest.mark.skipif(
    not reproducible_blas.KERNELS.keys() <= reproducible_blas.settings().keys(), reason="no such kernels"
)
def test_many_recorded_answers_come_back_where_numpy_was_imported_first():
    said = late(300, 5.0, 3600)
    assert "other:" not in said and "300 of 300 in" in said, said


def test_two_at_once_and_one_that_was_killed(places):
    at_once, killed = places
    both = start(at_once, "a"), start(at_once, "b")
    for process in both:
        finish(process)

    process = start(killed, "a")
    store = killed / "build" / "smoke" / f"{STUDY}.sqlite"
    end = time.monotonic() + 120
    while not store.exists() and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    finish(start(killed, "b"))

    expected, found = files(at_once / "build" / "smoke"), files(killed / "build" / "smoke")
    assert "tables/surfaces_runs.csv" in expected and "figures/surfaces_overview.pdf" in expected
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []

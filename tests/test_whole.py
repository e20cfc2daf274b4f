"""The whole artifact from a clone of what is committed: an hour's work, done by `make whole` alone.

`PROFILE` in the environment chooses the profile, smoke unless it is set.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from test_reproducible import begin, files, finish

import pytest

pytestmark = pytest.mark.whole
ROOT = Path(__file__).parents[1]
PROFILE = os.environ.get("PROFILE", "smoke")
INTERRUPTIONS = 10
BUSY = 6


def clone(folder: Path) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("there is no repository to clone")
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "clone")], check=True)
    return folder / "clone"


def make(root: Path, before=(), **variables) -> subprocess.Popen:
    """``make all`` in a clone, with the packages of this Python, the clone's own library, and an empty cache."""
    cache = root.parent / "cache"
    environment = os.environ | {"PYTHONPATH": str(root / "lib"), "XDG_CACHE_HOME": str(cache)} | variables
    environment.pop("REDISCOVER_ROOT", None)
    command = [*before, "make", "--no-print-directory", "all", f"PROFILE={PROFILE}", f"PY={sys.executable}"]
    return begin(command, root, environment)


def results(root: Path) -> dict[str, bytes]:
    return files(root / "build" / "smoke" if PROFILE == "smoke" else root)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run, and how many seconds it took."""
    root = clone(tmp_path_factory.mktemp("whole"))
    started = time.monotonic()
    finish(make(root), seconds=None)
    return root, time.monotonic() - started


def test_a_second_time_nothing_is_done(whole):
    started = time.monotonic()
    finish(make(whole[0]), seconds=None)
    assert time.monotonic() - started < 3


def test_interrupted_ten_times_and_resumed_ends_with_the_same_bytes(whole, tmp_path):
    root, rng, longest = clone(tmp_path), random.Random(20), whole[1] / INTERRUPTIONS
    for k in range(INTERRUPTIONS):
        process = make(root)
        time.sleep(rng.uniform(0.05, 1) * longest)
        assert process.poll() is None, f"ended before interruption {k + 1}: {process.communicate()[1][-3000:]}"
        os.killpg(process.pid, signal.SIGKILL if k % 2 else signal.SIGINT)  # pulled plugs and Ctrl-C
        process.communicate()
    finish(make(root), seconds=None)
    expected, found = results(whole[0]), results(root)
    assert len(expected) > 100 and found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


def same(expected: dict[str, bytes], found: dict[str, bytes]) -> None:
    assert [name for name in expected | found if found.get(name) != expected.get(name)] == []


def test_without_a_network_and_released_files_every_study_ends_with_the_same_bytes(whole, tmp_path):
    alone = ["unshare", "--map-root-user", "--net"]
    if not (shutil.which("unshare") and shutil.which("ip")) or subprocess.run([*alone, "true"]).returncode:
        pytest.skip("this system cannot take the network away from a process")
    root = clone(tmp_path)
    kernels = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]  # notebooks talk to their kernels over loopback
    finish(make(root, [*alone, *kernels], REDISCOVER_MIRROR=""), seconds=None)
    same(results(whole[0]), results(root))


@pytest.mark.skipif(not shutil.which("taskset"), reason="this system cannot tie a process to a processor")
def test_on_one_processor_every_study_ends_with_the_same_bytes(whole, tmp_path):
    root = clone(tmp_path)
    finish(make(root, ["taskset", "-c", "0"]), seconds=None)
    same(results(whole[0]), results(root))


def test_beside_busy_processes_every_study_ends_with_the_same_bytes(whole, tmp_path):
    root = clone(tmp_path)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        finish(make(root), seconds=None)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    same(results(whole[0]), results(root))


def test_the_kernels_of_an_old_processor_print_the_same(tmp_path):
    root = clone(tmp_path)
    old = {
        "REDISCOVER_OWN_KERNELS": "1",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/notebooks"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / "lib")} | old,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]

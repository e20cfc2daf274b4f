"""What several test modules need."""

import collections
import json
import os
from pathlib import Path

import processors
from rediscover.metrics import compared_trees
from rediscover.system import upstream_files
from rediscover.system.store import CACHE

import pytest

os.environ.setdefault("REDISCOVER_PROGRESS", "off")  # a bar would be output of the notebooks


# Tests that `make test-fast` leaves out, and files: of these, in a new clone, the first test compiles an engine, which
# takes seconds, and it may be any. `make slow-tests` writes the list.
SLOW = Path(__file__).with_name("slow.txt")
SLOW_SECONDS = 0.05
_seconds: dict[str, float] = collections.defaultdict(float)
_compiled: set[str] = set()


def pytest_collection_modifyitems(items):
    slow = set(SLOW.read_text().splitlines())
    for item in items:
        if {item.nodeid, _file(item.nodeid)} & slow:
            item.add_marker(pytest.mark.slow)
    processors.leave_uncompared(items)


def pytest_terminal_summary(terminalreporter):
    ran = (getattr(report, "nodeid", "") for reports in terminalreporter.stats.values() for report in reports)
    if any(".ipynb::" in nodeid for nodeid in ran) and not processors.made_here():
        terminalreporter.write_line(
            "Cells that show or count answers of Operon are not compared: they are others here."
        )


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_sessionstart():
    """With REDISCOVER_TIME_TESTS, note the files whose tests compile something."""
    if os.environ.get("REDISCOVER_TIME_TESTS"):
        from numba.core import event

        class Compiled(event.Listener):
            def on_start(self, event):
                _compiled.add(_file(os.environ.get("PYTEST_CURRENT_TEST", "")))

            def on_end(self, event):
                pass

        event.register("numba:compile", Compiled())


def pytest_runtest_logreport(report):
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish():
    """With REDISCOVER_TIME_TESTS, add to the list what took long in this session (a shared set-up counts once)."""
    if os.environ.get("REDISCOVER_TIME_TESTS"):
        long = {name for name, seconds in _seconds.items() if seconds > SLOW_SECONDS and ".ipynb" not in name}
        known = set(SLOW.read_text().splitlines()) | _compiled - {""}
        files = {name for name in known if "::" not in name}
        SLOW.write_text("\n".join([*sorted(files | {name for name in known | long if _file(name) not in files}), ""]))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the verified facts, beside the repository; where it is absent, tests skip."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder.name}/ is not beside the repository")
    return folder


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """Mirror of the released files that lies beside a working copy, where there is one."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "upstream"
    if not folder.is_dir():
        pytest.skip("no mirror of the released files at ../shared/data/upstream")
    return folder


@pytest.fixture
def mirror(mirror_folder, monkeypatch) -> Path:
    """The same, in use for one test: a notebook that is tested after it finds no mirror."""
    monkeypatch.setenv(upstream_files.MIRROR, str(mirror_folder))
    return mirror_folder


@pytest.fixture(scope="session")
def reference_tables() -> Path:
    """Folder of the tables that README, essays and paper tell of, all of the reference profile, changed or not."""
    folder = Path(__file__).resolve().parents[1] / "tables"
    profiles = {path.stem: json.loads(path.read_text())["profile"] for path in folder.glob("*.provenance.json")}
    others = sorted(name for name, profile in profiles.items() if profile != "reference")
    assert profiles and not others, f"{', '.join(others)}: not of the reference profile; run `make all` for them"
    return folder


@pytest.fixture
def impatient(tmp_path, monkeypatch):
    """A machine that gives up on computer algebra after a fifth of a second, with a cache of its own."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("REDISCOVER_FRESH", "1")
    monkeypatch.setenv("REDISCOVER_GUARD", "0.2")


@pytest.fixture(scope="module")
def no_trees_from_disk():
    """Edit distances from trees made anew, not from the user's cache or the records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE, "")
        patch.setenv("REDISCOVER_FRESH", "1")
        yield
    compared_trees.published_tree.cache_clear()

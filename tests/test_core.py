"""What works with the core's packages alone: no notebooks, no language model, no baselines of others."""

import subprocess
import sys
import tomllib

from rediscover.system.paths import root

import pytest

# Imports of what the extras bring fail, as they do where only the core is installed.
WITHOUT = """
import importlib.metadata, re, sys

def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()

def required(package, extra):
    try:
        lines = importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:  # of another system or Python
        lines = []
    return {plain(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in lines if ("extra ==" in line) == extra}

core, queue = set(), {"rediscover"}
while queue:  # the core brings along what its packages need: mpmath by way of SymPy
    core |= queue
    queue = {name for package in queue for name in required(package, extra=False)} - core
extras = required("rediscover", extra=True) - core
hidden = {m for m, d in importlib.metadata.packages_distributions().items() if extras & set(map(plain, d))}
hidden -= {m for m in hidden if m.startswith("_") or m in ("setuptools", "pkg_resources")}

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def ran(code, cwd):
    script = WITHOUT + code
    return subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, cwd=cwd)


def shell(*arguments):
    return f"from rediscover import cli\ncli.main({list(arguments)!r})"


@pytest.mark.parametrize(
    "code",
    [
        "import rediscover as rd; p = rd.problem('srsd/I.12.1'); print(rd.score(p, rd.method('power_law').solve(p)))",
        "import rediscover as rd; p = rd.problem('odes/1'); print(rd.score(p, rd.method('sindy').solve(p)))",
        shell("methods"),
        shell("problems", "--study", "srsd"),
        shell("solve", "polynomial", "surfaces/NCGS1"),
        shell("score", "srsd/I.12.1", "mu*N_n"),
        shell("ledger", "--paper", "srsd"),
    ],
)
def test_the_core_is_enough(code, tmp_path):
    done = ran(code, tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("import rediscover.metrics.latex", "text"),
        ("import rediscover.llm.client", "llm"),
        ("import rediscover as rd; rd.problem('surfaces/AMHD1').data(0)", "fields"),
    ],
)
def test_what_needs_an_extra_names_it(code, extra, tmp_path):
    done = ran(code, tmp_path)
    assert done.returncode and f"pip install '.[{extra}]' in the folder of the clone" in done.stderr.splitlines()[-1]


def test_the_lock_holds_all_extras():
    project = tomllib.loads((root() / "pyproject.toml").read_text("utf-8"))["project"]
    makefile = (root() / "Makefile").read_text("utf-8")
    locked = next(line for line in makefile.splitlines() if line.startswith("EXTRAS :=")).split()[2:]
    assert set(locked) == project["optional-dependencies"].keys() - {"pysr", "neural", "model"}

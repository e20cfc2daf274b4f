"""Problems and methods that misbehave in every way the grid must survive. Workers import this module."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from rediscover.methods import Candidate, Method, Unsupported, generator
from rediscover.problems import Regression, Split, Transitions

import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Regression):
    """y = slope * x: ten points."""

    slope: float = 2.0

    def data(self, seed=0):
        x = generator(seed, self.id).uniform(size=(10, 1))
        return {"train": Split(x, self.slope * x[:, 0])}


def line(name="a", **options):
    return Line(id=f"lines/{name}", truth={"y": "2*x"}, inputs=("x",), **options)


def network():
    return Transitions(id="networks/one", truth={"a": "not a"})


@dataclass(frozen=True)
class Slope(Method):
    """The honest one: least squares through the origin."""

    name = "slope"
    digits: int = 3

    def fit(self, task, *, budget, rng):
        slope = float(task.X[:, 0] @ task.y / (task.X[:, 0] @ task.X[:, 0]))
        return [Candidate({task.output: f"{slope:.{self.digits}f}*x"}, loss=rng.uniform(), evaluations=1)]


@dataclass(frozen=True)
class Kernels(Method):
    """Declines, and says with which kernels of OpenBLAS and how many threads it would have computed."""

    name = "kernels"

    def fit(self, task, *, budget, rng):
        from threadpoolctl import threadpool_info

        blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
        raise Unsupported(f"{blas[0]['architecture']} {blas[0]['num_threads']}")


@dataclass(frozen=True)
class Logged(Method):
    """Writes a line to a file per run, so that a test can count what was computed."""

    name = "logged"
    log: str = ""
    pause: float = 0.0

    def solve(self, problem, *, budget=None, seed=0):
        time.sleep(self.pause)
        with open(self.log, "a") as file:
            file.write(f"{problem.id} {seed}\n")
        return [Candidate({"y": f"{seed}*x"})]


@dataclass(frozen=True)
class Bad(Method):
    """Does what `how` says."""

    name = "bad"
    how: str = "raise"
    file: str = ""

    def solve(self, problem, *, budget=None, seed=0):
        return getattr(self, f"do_{self.how}")()

    def do_raise(self):
        raise RuntimeError(f"two\nlines at {object()!r}")

    def do_hang(self):
        while True:
            pass

    def do_sleep_in_c(self):
        ctypes.PyDLL(None).sleep(60)  # holds the interpreter's lock: no signal handler of Python would run

    def do_allocate(self):
        hold = []
        while True:
            hold.append(np.ones(2_000_000))

    def do_segfault(self):
        ctypes.string_at(0)

    def do_die_later(self):
        """Answers, and takes the worker down in the middle of the next run."""
        threading.Timer(0.1, os._exit, [3]).start()
        return [Candidate({"y": "x"})]

    def do_exit(self):
        os._exit(3)

    def do_quit(self):
        sys.exit("enough")

    def do_garbage(self):
        return {"y": "x"}

    def do_strings(self):
        return ["x"]

    def do_nothing(self):
        return []

    def do_wrong_output(self):
        return [Candidate({"z": "x"})]

    def do_no_mapping(self):
        return [Candidate("x")]

    def do_not_plain(self):
        return [Candidate({"y": "x"}, notes={"data": object()})]

    def do_not_a_number(self):
        return [Candidate({"y": "x"}, loss="low")]

    def do_unparsable(self):
        return [Candidate({"y": "x +* 2"})]

    def do_half(self):
        return [Candidate({"y": "x"}), Candidate({"y": "x +* 2"})]

    def do_unsupported(self):
        raise Unsupported("bad does not treat lines")

    def do_noise(self):
        print("{" * 100_000, flush=True)
        os.write(1, b"\0" * 100_000)
        os.write(2, b"\xff" * 100_000)
        return [Candidate({"y": "x"})]

    def do_long_front(self):
        return [Candidate({"y": f"{i}*x"}, complexity=np.int64(i)) for i in range(80)]

    def do_child(self):
        """Starts a process that would live for a minute, and then hangs."""
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(self.file).write_text(str(child.pid))
        self.do_hang()


@dataclass(frozen=True)
class Absent(Method):
    name = "absent"
    requires = ("a-package-that-nobody-wrote",)


@dataclass(frozen=True)
class Threads(Method):
    """Reports what limits the worker sees."""

    name = "threads"

    def solve(self, problem, *, budget=None, seed=0):
        from threadpoolctl import threadpool_info

        counts = sorted({pool["num_threads"] for pool in threadpool_info()})
        return [Candidate({"y": "x"}, notes={"threads": counts, "hash": hash("x")})]

"""Problems and methods that misbehave in every way the grid must survive. Workers import this module."""

import builtins
import ctypes
import errno
import gc
import json
import locale
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
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


SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.EAGAIN, errno.ENOMEM)


def interruptions(seed):
    """What the machine does to a run before it lets it answer, one a try: kills it, or gives no disk and no memory."""
    rng = np.random.default_rng(seed)
    return [("kill", "killed by another", *SHORTAGES)[i] for i in rng.integers(0, 8, rng.integers(1, 4))]


@dataclass(frozen=True)
class Interrupted(Method):
    """Answers when it has been interrupted as drawn, at a drawn moment of each try; writes a sign per try."""

    name = "interrupted"
    log: str = ""

    def solve(self, problem, *, budget=None, seed=0):
        log = Path(self.log) / str(seed)
        before = len(log.read_text()) if log.exists() else 0
        log.write_text("." * (before + 1))
        time.sleep(np.random.default_rng((seed, before)).choice([0.0, 0.01, 0.1]))
        ways = interruptions(seed)
        if before < len(ways):
            if ways[before] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if ways[before] == "killed by another":
                subprocess.run(["kill", "-9", str(os.getpid())])
            raise RuntimeError("cannot save") from OSError(ways[before], "short")
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

    def do_steer(self):
        raise RuntimeError("\x1b[31mred\x1b]0;title\x07 \u202ereversed\0")

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

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_kill_once(self):
        """As the kernel does where memory is short."""
        if not os.path.exists(self.file):
            Path(self.file).write_text("")
            self.do_kill()
        return [Candidate({"y": "x"})]

    def do_kill_all(self):
        """Its parent and the parent's parent too."""
        if not os.path.exists(self.file):
            Path(self.file).write_text("")
            os.kill(int(Path(f"/proc/{os.getppid()}/stat").read_text().split()[3]), signal.SIGKILL)
            os.kill(os.getppid(), signal.SIGKILL)
            self.do_kill()
        return [Candidate({"y": "x"})]

    def do_no_space(self):
        raise RuntimeError("cannot save") from OSError(errno.ENOSPC, "No space left on device")

    def do_huge_count(self):
        return [Candidate({"y": "x"}, evaluations=2**63)]

    def do_complex(self):
        return [Candidate({"y": "x"}, loss=np.complex128(1 + 2j))]

    def do_no_text(self):
        return [Candidate({"y": None})]

    def do_long_notes(self):
        return [Candidate({"y": "x"}, notes={"log": "x" * 2_000_000})]

    def do_half_a_pair(self):
        return [Candidate({"y": "x"}, notes={"log": "\ud800"})]

    def do_patch_report(self):
        json.dumps = lambda *_, **__: '{"status": "fine"}'
        return [Candidate({"y": "x"})]

    def do_patch_answer(self):
        json.dumps = lambda *_, **__: '{"status": "ok", "reason": "", "candidates": [{"solution": {}, "loss": []}]}'
        return [Candidate({"y": "x"})]

    def do_detach(self):
        """Leaves a process that nobody waits for, in a session of its own, as a daemon does."""
        if not os.fork():
            os.setsid()
            if pid := os.fork():
                Path(self.file).write_text(str(pid))
                os._exit(0)
            os.closerange(3, 30)
            time.sleep(60)
            os._exit(0)
        os.wait()
        return [Candidate({"y": "x"})]

    def do_child_allocates(self):
        subprocess.run([sys.executable, "-c", "import time; x = bytearray(400_000_000); time.sleep(60)"])

    def do_many_processes(self):
        sleepers = [subprocess.Popen(["sleep", "60"]) for _ in range(300)]
        sleepers[0].wait()

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


left_open = []


@dataclass(frozen=True)
class Careless(Method):
    """Answers, and leaves its process as nobody else should find it."""

    name = "careless"

    def solve(self, problem, *, budget=None, seed=0):
        np.seterr(all="raise")
        warnings.simplefilter("error")
        os.environ.update(LC_ALL="tr_TR.UTF-8", OMP_NUM_THREADS="7", REDISCOVER_GUARD="0")
        del os.environ["PATH"]
        sys.path.insert(0, "/nowhere")
        os.chdir("/")
        os.umask(0o077)
        locale.setlocale(locale.LC_ALL, "C")
        random.seed(7)
        np.random.seed(7)  # noqa: NPY002
        np.linalg.lstsq = np.log = np.dot = lambda *_, **__: np.zeros(3)
        builtins.sum = lambda *_: 0
        sys.setrecursionlimit(5000)
        gc.disable()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        os.nice(1)
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        left_open.append(open(os.devnull))
        Slope.fit = lambda *_, **__: [Candidate({"y": "nonsense"})]
        return [Candidate({"y": "x"})]


@dataclass(frozen=True)
class Surroundings(Method):
    """Says in which state it finds its process."""

    name = "surroundings"

    def solve(self, problem, *, budget=None, seed=0):
        found = {
            "errors": np.geterr(),
            "filters": [str(entry) for entry in warnings.filters],
            "environment": dict(sorted(os.environ.items())),
            "path": sys.path,
            "folder": os.getcwd(),
            "umask": os.umask(0o022),
            "locale": locale.setlocale(locale.LC_ALL),
            "random": [random.random(), np.random.random()],  # noqa: NPY002
            "patched": [np.linalg.lstsq.__module__, type(np.log).__name__, np.dot.__module__, sum.__module__],
            "recursion": sys.getrecursionlimit(),
            "collects": gc.isenabled(),
            "signals": [str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)],
            "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)],
            "nice": os.nice(0),
            "threads": threading.active_count(),
            "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(),
            "files": len(os.listdir("/proc/self/fd")),
        }
        return [Candidate({"y": "x"}, notes=found)]


def process(problem, solution, seed):
    """Work on an answer: which process does it."""
    return {"pid": os.getpid()}

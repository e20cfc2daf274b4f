"""The same rounding on every x86 processor with AVX2, that is from 2013 on.

OpenBLAS and NumPy take the kernels that suit the processor best. These add in another order or round the last
digit of an exponential another way, and a genetic search, a chaotic system or a fit with many minima makes
another result of that digit. So everybody gets the kernels that all these processors have, and one thread.
Libraries look at the variables when they are loaded: import `rediscover` before numpy. Where numpy came
first, or a variable says otherwise, `differs` tells, and methods answer in a worker, which always has these kernels.
"""

import os
import platform
import sys
import warnings
from pathlib import Path

LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "JULIA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
# Of a child process, of which there are as many as processors; strings hash alike in all of them, so that the
# order of a set cannot change a result.
CHILD = ONE_THREAD | {"PYTHONHASHSEED": "0"}
OWN_KERNELS = "REDISCOVER_OWN_KERNELS"  # set to take the kernels that the environment names, in workers too
PROCESSOR = Path("/proc/cpuinfo")
_late = False


def settings(machine: str = "", processor: Path = PROCESSOR) -> dict[str, str]:
    """Environment variables that fix the arithmetic here.

    Parameters
    ----------
    machine : as from `platform.machine`, by default of this one.
    processor : file with the line "flags" of Linux.

    Returns
    -------
    dict of name -> value. Without AVX2 (OpenBLAS would not check), on another architecture or where that file
    is absent, kernels are left as they are: results then differ in the last digits.
    """
    try:
        with processor.open() as lines:
            flags = next((line.split() for line in lines if line.startswith("flags")), [])
    except OSError:
        flags = []
    same = (machine or platform.machine()) == "x86_64" and {"avx2", "fma"} <= set(flags)
    return ONE_THREAD | (KERNELS if same else {})


def of_workers() -> dict[str, str]:
    """Environment variables of a worker, whatever those of its parent are; with `OWN_KERNELS`, its parent's kernels."""
    return CHILD if os.environ.get(OWN_KERNELS) else settings() | CHILD


def fix() -> None:
    """Set what `settings` says for this process and its children, except for variables that are set.

    Warns
    -----
    RuntimeWarning
        If numpy is loaded already, with other kernels: this process will not compute as those do that are recorded.
    """
    global _late
    wanted = settings()
    _late = "numpy" in sys.modules and bool(_others())
    if _late:
        message = "numpy was imported before rediscover, so arithmetic in this process may differ from what is recorded"
        warnings.warn(f"{message}; methods answer in workers: import rediscover first", RuntimeWarning, stacklevel=3)
    for name, value in wanted.items():
        os.environ.setdefault(name, value)


def differs() -> bool:
    """Whether this process does not compute as a worker does: numpy came first, or a variable says otherwise."""
    return not os.environ.get(OWN_KERNELS) and (_late or bool(_others()))


def _others() -> list[str]:
    """Settings that the environment does not have, or has otherwise."""
    return [f"{name}={os.environ.get(name)}" for name, value in settings().items() if os.environ.get(name) != value]


def named() -> str:
    """The kernels that the environment names for workers too; empty without `OWN_KERNELS`."""
    return " ".join(_others()) if os.environ.get(OWN_KERNELS) else ""

"""The same rounding on every x86 processor with AVX2, that is from 2013 on.

OpenBLAS and NumPy take the kernels that suit the processor best. These add in another order or round the last
digit of an exponential another way, and a genetic search, a chaotic system or a fit with many minima makes
another result of that digit. So everybody gets the kernels that all these processors have, and one thread.
Libraries look at the variables when they are loaded: import `rediscover` before numpy.
"""

import os
import platform
from pathlib import Path

LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "JULIA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
# Of a child process, of which there are as many as processors; strings hash alike in all of them, so that the
# order of a set cannot change a result.
CHILD = ONE_THREAD | {"PYTHONHASHSEED": "0"}
PROCESSOR = Path("/proc/cpuinfo")


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


def fix() -> None:
    """Set what `settings` says for this process and its children, except for variables that are set."""
    for name, value in settings().items():
        os.environ.setdefault(name, value)

"""Results must not depend on which kernels a library picks for the processor."""

import json
import os
import subprocess
import sys
from pathlib import Path

from rediscover.system import reproducible_blas

import pytest

PATHS = [Path(__file__).parent, Path(reproducible_blas.__file__).parents[1]]
SETTINGS = {*reproducible_blas.KERNELS, *reproducible_blas.ONE_THREAD}
PROGRAM = """
import json
import rediscover
import numpy, scipy.linalg
from numpy._core._multiarray_umath import __cpu_features__ as features
from threadpoolctl import threadpool_info
blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
threads = max(library["num_threads"] for library in blas)
print(json.dumps([sorted({library["architecture"] for library in blas}), threads, features["X86_V4"]]))
"""


def child(**variables):
    """Kernels and threads of OpenBLAS, and whether NumPy uses AVX-512, in a fresh process."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS} | variables
    command = [sys.executable, "-W", "error::ImportWarning", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def cpuinfo(tmp_path, flags):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\nmodel name\t: any\nflags\t\t: {flags}\nbugs\t\t:\n")
    return path


class TestSettings:
    @pytest.mark.parametrize(
        ("machine", "flags", "same"),
        [
            ("x86_64", "fpu fma avx avx2 bmi2", True),
            ("x86_64", "fpu fma avx avx2 avx512f", True),
            ("x86_64", "fpu avx", False),
            ("x86_64", "", False),
            ("aarch64", "fma avx2", False),
        ],
    )
    def test_kernels_only_where_every_one_of_them_runs(self, tmp_path, machine, flags, same):
        found = reproducible_blas.settings(machine, cpuinfo(tmp_path, flags))
        assert reproducible_blas.ONE_THREAD.items() <= found.items()
        assert (reproducible_blas.KERNELS.items() <= found.items()) is same

    def test_a_system_without_the_file_keeps_its_kernels(self, tmp_path):
        assert reproducible_blas.settings("x86_64", tmp_path / "none") == reproducible_blas.ONE_THREAD


@pytest.mark.skipif(
    not reproducible_blas.KERNELS.items() <= reproducible_blas.settings().items(), reason="no x86 processor with AVX2"
)
class TestThisProcess:
    def test_libraries_load_these_kernels_and_one_thread(self):
        assert child() == [["Haswell"], 1, False]

    def test_what_the_user_has_set_stays(self):
        assert child(OPENBLAS_CORETYPE="Nehalem", OPENBLAS_NUM_THREADS="2")[:2] == [["Nehalem"], 2]

    def test_workers_have_them_even_where_numpy_came_first(self, tmp_path):
        work = [
            "import numpy, rediscover.runs, grid_methods as given",
            f"runs = rediscover.runs.grid([given.line()], [given.Kernels()], store={str(tmp_path / 'runs')!r})",
            "print(*runs['reason'])",
        ]
        environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(work)],
            env=environment | {"PYTHONPATH": os.pathsep.join(map(str, PATHS))},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "Haswell 1\n"

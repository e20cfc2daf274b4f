"""Compiled engines run wherever the package can be read."""

import os
import subprocess
import sys

from rediscover.system import compiled_cache

PROGRAM = """
from rediscover.system import compiled_cache

compiled_cache.config.CACHE_DIR = ""
compiled_cache.can_be_written = lambda folder: False
from rediscover.search.programs.compiled import compiled

@compiled
def double(x):
    return 2 * x

assert double(3.0) == 6.0
print(compiled_cache.config.CACHE_DIR)
"""


def test_where_nothing_can_be_written_a_folder_of_its_own_is_kept_for_the_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != compiled_cache.CACHE}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    folder = done.stdout.strip()
    assert "rediscover-numba-" in folder and not os.path.exists(folder)


def test_a_folder_that_can_be_written_is_told_from_one_that_cannot(tmp_path):
    assert compiled_cache.can_be_written(tmp_path / "new")
    (tmp_path / "file").write_text("")
    assert not compiled_cache.can_be_written(tmp_path / "file" / "folder")

"""What a profile costs from scratch: minutes of all and of each notebook, and peak memory (``make cost``)."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from rediscover.system.paths import root
from rediscover.system.writing import replacing

import pandas as pd
import psutil

SAMPLED = 0.2  # seconds between two looks at the memory


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds and the largest sum of resident memory (GB) of a command and all its descendants."""
    started, peak = time.monotonic(), 0.0
    process = psutil.Popen(command, cwd=root())
    while process.poll() is None:
        total = 0
        for member in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):  # gone in the meantime
                total += member.memory_info().rss
        peak = max(peak, total / 1e9)
        time.sleep(SAMPLED)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.monotonic() - started, peak


def minutes(profile: str) -> dict[str, float]:
    """Minutes that each notebook ran, as papermill has written them into it."""
    executed = sorted((root() / "build" / profile).glob("[0-9]*.ipynb"))
    return {path.stem: json.loads(path.read_text())["metadata"]["papermill"]["duration"] / 60 for path in executed}


def main(profiles: Sequence[str] = ("smoke", "reference")) -> None:
    """Run all notebooks of the profiles from scratch and put what it cost into tables/cost.csv."""
    path, rows = root() / "tables" / "cost.csv", list[dict[str, Any]]()
    for profile in profiles:
        shutil.rmtree(root() / "build" / profile, ignore_errors=True)
        goal = f"--no-print-directory all PROFILE={profile}"
        seconds, gigabytes = measure(["make", *goal.split(), f"PY={sys.executable}"])
        rows.append({"profile": profile, "notebook": "all", "minutes": seconds / 60, "gigabytes": gigabytes})
        rows += [{"profile": profile, "notebook": name, "minutes": each} for name, each in minutes(profile).items()]
        print(f"{profile}: {seconds / 60:.1f} min, {gigabytes:.1f} GB", flush=True)
    others = pd.read_csv(path).query("profile not in @profiles")
    costs = pd.concat([others, pd.DataFrame(rows)]).sort_values("profile", ascending=False, kind="stable")
    with replacing(path) as part:
        costs.to_csv(part, index=False, float_format="%.2f")


if __name__ == "__main__":
    main(sys.argv[1:] or ("smoke", "reference"))

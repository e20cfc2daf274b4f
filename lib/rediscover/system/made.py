"""Whether what a notebook has written is still there, and is what its sources give: asked by make.

Times of files do not tell: an output may have been deleted or edited, a source may have come with an old time. So a
file of digests stands beside each executed notebook. It imports nothing of this package, since make asks it often::

    python made.py [--keep] DIGESTS EXECUTED PROVENANCE SOURCE...

Without ``--keep`` it writes DIGESTS anew, later than EXECUTED, if sources or outputs are others than when it was kept.
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path


def sources(paths: list[Path]) -> str:
    """Digest of the texts of sources; of a notebook only its cells, as running it changes what they show."""
    summed = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        if path.suffix == ".ipynb":
            content = json.dumps([cell["source"] for cell in json.loads(content)["cells"]]).encode()
        summed.update(f"{path} {hashlib.sha256(content).hexdigest()}\n".encode())
    return summed.hexdigest()


def outputs(provenance: Path) -> dict[str, str]:
    """Digests of a notebook's outputs as they are now, by name; of one that is gone an empty text."""
    if not provenance.exists():
        return {}
    record = json.loads(provenance.read_text(encoding="utf-8"))
    found = {"profile": record["profile"]}
    for name in record["files"]:
        path = provenance.parents[1] / name
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
    return found


def changed(kept: Path, now: dict) -> str:
    """What is other than when it was kept, in words; empty if nothing is."""
    try:
        before = json.loads(kept.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return "it was not made here"
    if before["sources"] != now["sources"]:
        return "its sources have changed"
    both = before["outputs"].keys() | now["outputs"].keys()
    other = sorted(name for name in both if before["outputs"].get(name) != now["outputs"].get(name))
    return f"{other[0]} is not what it wrote" if other else ""


def main(arguments: list[str]) -> None:
    """Run as a program."""
    keep = arguments[0] == "--keep"
    digests, executed, provenance, *paths = map(Path, arguments[keep:])
    now = {"sources": sources(paths), "outputs": outputs(provenance)}
    if keep:
        part = digests.with_name(f"{digests.name}.{os.getpid()}")
        part.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        part.replace(digests)
    elif reason := changed(digests, now):
        later = time.time()
        if executed.exists():
            print(f"{executed.stem}: {reason}", flush=True)
            later = max(later, executed.stat().st_mtime + 1)
        digests.write_text("")
        os.utime(digests, (later, later))


if __name__ == "__main__":
    main(sys.argv[1:])

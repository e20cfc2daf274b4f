"""Whether what make has made is what its sources give: asked by make before it runs anything.

Times of files do not tell: an output may have been deleted or edited, a source may have come with an old time, and a
comment changes no result. So a file of digests stands beside each target of make, and this program sets its time: later
than the target's if the target must be made again, else the same. It is run without this package::

    python made.py [--keep] TARGET [FILE...]

A target depends on the files named; a notebook on its code cells, and of records on those of its problems; both on the
modules that they import, directly or not, and on the data beside these. What a module imports, and what in it is code,
says `code_version`; what is loaded by name stands in `REGISTRIES`, `BY_NAME` and `ROOTS`.
"""

import ast
import fnmatch
import functools
import hashlib
import importlib.util
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

REGISTRIES = ("methods", "metrics", "problems")  # packages that load all their modules
BY_NAME = ("derive", "grids", "params", "scores", "trials")  # modules of a notebook's study; of others the scores
ROOTS = {  # of targets that are no notebooks
    "publish": ("publish.*", "studies.*.facts"),
    "spot_checks": ("runs.recording", "metrics.compared_trees", "studies.*.grids", "studies.*.params"),
}
LIB = Path("lib/rediscover")
DATA = (".yaml", ".csv", ".npz", ".bpe", ".html", ".css", ".js")
Digests = dict[str, str]


def digest(content: bytes | str) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


@functools.cache
def code() -> dict[str, tuple[str, list[str]]]:
    """Module -> digest of its code, and the modules that it imports. What was read once is kept in build/code.json."""
    spec: Any = importlib.util.spec_from_file_location(
        "rediscover.system.code_version", LIB / "system" / "code_version.py"
    )
    versions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(versions)
    paths = {".".join(path.relative_to(LIB.parent).with_suffix("").parts): path for path in sorted(LIB.rglob("*.py"))}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    kept_in, listed, found = Path("build/code.json"), digest("".join(paths)), {}
    known = json.loads(kept_in.read_text(encoding="utf-8")) if kept_in.exists() else {}
    for name, path in paths.items():
        key = digest(f"{listed} {name} {digest(path.read_bytes())}")
        try:
            found[key] = known.get(key) or [versions._own_version(name), sorted(versions.imported(name)), name]
        except SyntaxError:  # whoever imports it will say so
            found[key] = [key, [], name]
    if found.keys() != known.keys():
        write(kept_in, found)
    modules = {name: (version, imports) for version, imports, name in found.values()}
    for registry in (f"rediscover.{name}" for name in REGISTRIES):
        if registry in modules:
            modules[registry][1].extend(name for name in modules if name.startswith(f"{registry}."))
    return modules


def reached(roots: set[str]) -> set[str]:
    """The modules that match a root, and all that these import, directly or not."""
    waiting = [name for root in roots for name in (fnmatch.filter(code(), root) if "*" in root else [root])]
    waiting = [name for name in waiting if name in code()]
    found: set[str] = set()
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += code()[name][1]
    return found


def data(modules: set[str]) -> list[Path]:
    """The data in the folders of modules and of the packages around them, and in folders there that are no packages."""
    around = {os.path.join(LIB.parent, *name.split(".")[:k]) for name in modules for k in range(1, name.count(".") + 2)}
    found = []
    for folder, folders, names in os.walk(LIB):
        if "__init__.py" in names and folder not in around:
            folders.clear()  # nothing of this package is reached
        else:
            found += [Path(folder, name) for name in names if name.endswith(DATA)]
    return found


def studies() -> dict[str, dict[str, list[str]]]:
    """Study -> its notebooks, and prefixes of the ids of its problems."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(LIB.glob("studies/*/study.yaml")):
        text = path.read_text(encoding="utf-8")
        for name in ("notebooks", "problems"):
            listed = re.search(rf"^{name}:(.*(?:\n *- .*)*)", text, flags=re.M)
            found.setdefault(path.parent.name, {})[name] = re.findall(r"\w+", listed[1]) if listed else []
    return found


def named(notebook: str, text: str) -> tuple[set[str], set[str]]:
    """Roots of the studies that a notebook belongs to or names problems of, and the prefixes of these problems.

    It names them in its code, in its parameters, or in the grids of its study.
    """
    own = [key for key, study in studies().items() if notebook in study["notebooks"]]
    text += "".join(path.read_text(encoding="utf-8") for key in own for path in LIB.glob(f"studies/{key}/grids.py"))
    found = {prefix for prefix, _ in re.findall(r"""["'\[\s](\w+)(/\w|["'])""", text)}
    found |= {prefix for key in own for prefix in studies()[key]["problems"]}
    scores = {f"rediscover.studies.{key}.scores" for key, study in studies().items() if found & {*study["problems"]}}
    return scores | {f"rediscover.studies.{key}.{name}" for key in own for name in BY_NAME}, found


def imports(text: str) -> set[str]:
    """Names that the code of a notebook imports, of modules or of what is in them."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def sources(target: Path, files: list[Path]) -> Digests:
    """Name -> digest of all that a target depends on."""
    texts = {path: path.read_text(encoding="utf-8") for path in files if path.exists()}
    roots = {f"rediscover.{root}" for root in ROOTS.get(target.stem, ())}
    if target.suffix == ".ipynb":
        [notebook] = [path for path in texts if path.stem == target.stem and path.suffix == ".ipynb"]
        cells = [cell for cell in json.loads(texts[notebook])["cells"] if cell["cell_type"] == "code"]
        texts[notebook] = "\n".join("".join(cell["source"]) for cell in cells)
        by_name, prefixes = named(target.stem, "\n".join(texts[path] for path in texts if path.stem == target.stem))
        roots |= imports(texts[notebook]) | by_name
        for path in texts:
            if path.name == "SHA256SUMS":
                texts[path] = "\n".join(records(texts[path], prefixes))
    modules = reached(roots)
    found = {str(path): digest(text) for path, text in texts.items()}
    found |= {name: code()[name][0] for name in modules}
    return found | {str(path): digest(path.read_bytes()) for path in data(modules)}


def records(sums: str, prefixes: set[str]) -> list[str]:
    """The lines of records/SHA256SUMS that are of these problems, or of no problem."""
    return [line for line in sums.splitlines() if "/" not in line or line.split()[1].split("/")[0] in prefixes]


def outputs(target: Path) -> Digests:
    """Digests of what a target has written, as it is now; of a file that is gone an empty text.

    A notebook says in its provenance what it wrote; any other target is a list of it.
    """
    folder = target.parent if target.parent.name == "smoke" else Path()
    provenance = folder / "tables" / f"{target.stem}.provenance.json"
    found = {}
    if target.suffix != ".ipynb":
        names = target.read_text(encoding="utf-8").split() if target.exists() else []
    elif provenance.exists():
        record = json.loads(provenance.read_text(encoding="utf-8"))
        names, found["profile"] = record["files"], record["profile"]
    else:
        names = []
    for path in (folder / name for name in names):
        found[str(path)] = digest(path.read_bytes()) if path.exists() else ""
    return found


def changed(before: dict[str, Digests], now: dict[str, Digests]) -> str:
    """What is other than when the target was made, in words; empty if nothing is."""
    if not before.get("outputs"):
        return "it was not made here"
    wrote = before["outputs"]
    for name in sorted(before["sources"].keys() | now["sources"].keys()):
        if name not in wrote and before["sources"].get(name) != now["sources"].get(name):
            return f"{name} has changed"
    for name in sorted(wrote.keys() | now["outputs"].keys()):
        if wrote.get(name) != now["outputs"].get(name):
            return f"{name} is not what it wrote"
    return ""


def write(path: Path, content: dict) -> None:
    """Write a file of JSON aside, and put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def main(arguments: list[str]) -> None:
    """Run as a program."""
    keep = arguments[0] == "--keep"
    target, *files = map(Path, arguments[keep:])
    kept_in = target.with_name(f".{target.name}.digests")
    try:
        kept = json.loads(kept_in.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        kept = {}
    if keep:  # the sources are those that it was made of, though one may have been edited meanwhile
        write(kept_in, {"asked": kept["asked"], "sources": kept["asked"], "outputs": outputs(target)})
    else:
        now = {"sources": sources(target, files), "outputs": outputs(target)}
        reason = changed(kept, now)
        write(kept_in, kept | {"asked": now["sources"]})
        if target.exists() and reason:
            print(f"{target.stem}: {reason}", flush=True)
    if target.exists():
        then = target.stat().st_mtime_ns
        if not keep and reason:
            then = max(time.time_ns(), then + 10**9)
        os.utime(kept_in, ns=(then, then))


if __name__ == "__main__":
    main(sys.argv[1:])

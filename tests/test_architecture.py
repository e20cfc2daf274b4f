"""The rules of the house: arrows go down, studies are named in their own rooms only, keys follow imports."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rediscover.system import code_version as versions
from rediscover.system.studies import studies

import numpy as np
import pytest

LIB = Path(__file__).parents[1] / "lib" / "rediscover"
FLOORS = [  # from the ground up; rooms of one floor do not import each other
    ["system"],
    ["numerics"],
    ["llm", "expressions"],
    ["problems", "metrics"],
    ["search"],
    ["methods"],
    ["runs", "params"],
    ["report"],
    ["studies", "estimators"],
    ["publish", "comparison"],
    ["cli"],
]
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(
    ".".join(["rediscover", *path.relative_to(LIB).with_suffix("").parts]).removesuffix(".__init__")
    for path in LIB.rglob("*.py")
)
LINES = 400  # of a module
NAMED = {name for key, study in studies().items() for name in (key, *study["problems"])}
# Words that are also names of the field, and so allowed everywhere outside of string literals and imports.
FIELD = {"boolean", "causal", "surfaces", "passages"}


def room(module: str) -> str:
    return module.split(".")[1] if module.count(".") else ""


def test_imports_go_down():
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        for other in sorted(versions.imported(module))
        if room(module) in LEVEL and room(other) in LEVEL and room(other) != room(module)
        if LEVEL[room(other)] >= LEVEL[room(module)]
    ]
    assert not wrong, "\n".join(wrong)


def test_no_circle():
    for module in MODULES:
        for other in versions.imported(module):
            if other != module and room(other) in LEVEL:
                back = versions.reached(other)
                assert module not in back or module == "rediscover", f"{module} and {other} import each other"


def test_studies_do_not_import_each_other():
    for module in MODULES:
        if room(module) == "studies" and module.count(".") > 1:
            own = module.split(".")[2]
            others = {m.split(".")[2] for m in versions.imported(module) if m.startswith("rediscover.studies.")}
            assert others <= {own}, f"{module} imports {others - {own}}"


def studies_named(module: str) -> list[str]:
    """Studies that a module names in a text that is no docstring, or in an import."""
    tree = ast.parse(versions._path(module).read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    prose = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and node.value.split("/")[0] in NAMED - FIELD
    ]
    imports = [
        m for m in versions.imported(module) if m.rpartition(".")[2] in NAMED and room(m) in ("problems", "studies")
    ]
    return texts + sorted(imports)


def test_no_study_is_named_outside_its_rooms():
    """Neither in an import nor as a text that is a key: `problem.study` and the index are how others know them."""
    unnamed = [m for m in MODULES if room(m) not in ("studies", "problems", "")]
    wrong = [f"{module} names {', '.join(found)}" for module in unnamed if (found := studies_named(module))]
    assert not wrong, "\n".join(wrong)


def test_a_module_fits_in_the_head():
    lengths = {path.relative_to(LIB).as_posix(): len(path.read_text().splitlines()) for path in LIB.rglob("*.py")}
    wrong = [f"{path}: {length} lines" for path, length in sorted(lengths.items()) if length > LINES]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(LIB, folder / "rediscover", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


# As made.py does, without the rest of the package, which other Pythons here need not have.
ALONE = """
import importlib.util, json, sys
name = "rediscover.system.code_version"
spec = importlib.util.spec_from_file_location(name, sys.argv[1])
versions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(versions)
print(json.dumps({name: versions.code_version(name) for name in json.loads(sys.argv[2])}))
"""


def other_pythons() -> list[str]:
    """Interpreters on this machine that can read the package, one for each minor version but this one."""
    found = {}
    for path in [
        *Path.home().glob(".pyenv/versions/3.*/bin/python3"),
        *map(shutil.which, ("python3.12", "python3.13")),
    ]:
        runs = path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0  # a shim may name none
        if runs and (match := re.search(r"3\.(\d+)", str(path))) and int(match[1]) >= 11:
            found.setdefault(int(match[1]), str(path))
    return [path for minor, path in sorted(found.items()) if minor != sys.version_info.minor]


def drawn_modules() -> list[str]:
    return np.random.default_rng(7).permutation(MODULES)[:50].tolist()


def test_drawn_modules_have_the_same_version_under_every_python():
    if not (pythons := other_pythons()):
        pytest.skip("there is no other Python of 3.11 or later on this machine")
    here = {name: versions.code_version(name) for name in drawn_modules()}
    for python in pythons:
        command = [python, "-I", "-c", ALONE, versions.__file__, json.dumps(drawn_modules())]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == here, python


def test_no_version_hangs_on_how_python_writes_a_tree(monkeypatch):
    before = {name: versions._own_version.__wrapped__(name) for name in drawn_modules()}

    def refuse(*_, **__):
        raise AssertionError("versions of Python write trees in other ways")

    monkeypatch.setattr(versions.ast, "dump", refuse)
    monkeypatch.setattr(versions.ast, "unparse", refuse)
    assert {name: versions._own_version.__wrapped__(name) for name in before} == before


def code_versions(folder: Path) -> dict[str, str]:
    """Version of every module as the copy of the library in `folder` computes it."""
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1])\n"
        "from rediscover.system.code_version import code_version\n"
        "print(json.dumps({name: code_version(name) for name in json.loads(sys.argv[2])}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), json.dumps(MODULES)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("edited", ["problems/__init__.py", "metrics/trees.py"])
def test_editing_a_module_changes_the_keys_of_what_imports_it_and_no_others(copy, edited):
    before = code_versions(copy)
    path = copy / "rediscover" / edited
    text = path.read_text()
    path.write_text(text + "\n\nEDITED = 1\n")
    try:
        after = code_versions(copy)
    finally:
        path.write_text(text)
    name = re.sub(r"\.__init__$", "", "rediscover." + edited.removesuffix(".py").replace("/", "."))
    expected = {module for module in MODULES if name in versions.reached(module)}
    assert {module for module in MODULES if before[module] != after[module]} == expected


def test_an_edit_of_any_module_changes_the_keys_of_what_imports_it_and_no_others(monkeypatch):
    """Over all modules; that an edit of a file changes what is hashed of it is the test above."""
    own = versions._own_version
    before = {module: versions.code_version(module) for module in MODULES}
    importers = {edited: {module for module in MODULES if edited in versions.reached(module)} for edited in MODULES}
    try:
        for edited in MODULES:
            versions.code_version.cache_clear()
            monkeypatch.setattr(
                versions, "_own_version", lambda name, edited=edited: own(name) + "!" * (name == edited)
            )
            changed = {module for module in MODULES if versions.code_version(module) != before[module]}
            assert changed == importers[edited], f"an edit of {edited}"
    finally:
        versions.code_version.cache_clear()


def edited_versions(folder: Path, edited: str, *changes: tuple[str, str]) -> dict[str, str]:
    """Versions of all modules while the text of one of them is another."""
    path = folder / "rediscover" / edited
    text = path.read_text()
    for old, new in changes:
        assert old in text
        path.write_text(path.read_text().replace(old, new, 1))
    try:
        return code_versions(folder)
    finally:
        path.write_text(text)


def test_comments_docstrings_and_annotations_change_no_key(copy):
    before = code_versions(copy)
    words = ('"""', '"""Other words. '), ("\n@metric", "\n# a remark\n@metric")
    assert edited_versions(copy, "metrics/trees.py", *words) == before
    types = ("(tree: Any) -> tuple | None:", "(tree) -> object:"), ("labels: list[int] = []", "labels = []")
    assert edited_versions(copy, "metrics/trees.py", *types) == before


def test_the_type_of_a_field_changes_a_key(copy):
    field = ("prediction: int | None", "prediction: float | None")
    assert edited_versions(copy, "metrics/trees.py", field) != code_versions(copy)


WRITERS = {
    "system/writing.py": "through which all others write",
    "system/made.py": "is run without this package, and writes aside too",
    "system/record_files.py": "writes several files together",
    "system/given_up.py": "writes what `replacing` gives",
    "report/tables.py": "writes what `replacing` gives",
    "methods/pretrained.py": "writes in a temporary folder",
    "search/networks/inference.py": "writes in a temporary folder",
    "search/networks/training/descent.py": "writes the log of a training that is kept only when whole",
    "llm/records.py": "appends a line of what a server said, under its lock",
    "runs/__init__.py": "opens a terminal",
    "system/store.py": "opens a lock",
}


def test_files_are_written_whole_or_not_at_all():
    direct = re.compile(r'\.write_(text|bytes)\(|\bopen\([^)]*"[wa]b?t?"')
    found = {str(path.relative_to(LIB)) for path in LIB.rglob("*.py") if direct.search(path.read_text())}
    assert found - WRITERS.keys() == set(), "use rediscover.system.writing"

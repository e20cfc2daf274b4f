"""The README and the documents are true: its commands run, its code works, its generated parts are those of tables/."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rediscover.publish import readme

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
DOCS = {path.relative_to(ROOT): path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.S)


@pytest.mark.parametrize("page", readme.PAGES)
def test_generated_parts_are_up_to_date(page):
    assert readme.generated(ROOT / page) == (ROOT / page).read_text(), "run `make publish`"


def test_the_readme_is_its_template_without_marks_and_one_page():
    assert readme.front() == TEXT, "run `make publish`; edit docs/README.md.in"
    prose = re.sub(r"```.*?```|\]\([^)]*\)|`[^`]*`", "", TEXT, flags=re.S)
    assert len(TEXT.splitlines()) <= 80 and "<!--" not in TEXT
    assert len(re.findall(r"\d+(?:[.,]\d+)*", prose)) <= 30


def test_each_section_stands_in_one_place():
    pages = [(ROOT / page).read_text() for page in readme.PAGES]
    texts = [*pages, *(path.read_text().replace(r"\n", "\n") for path in (ROOT / "notebooks").glob("*.ipynb"))]
    assert all(sum(text.count(f"<!--{name}-->\n") for text in texts) == 1 for name in readme.SECTIONS)


@pytest.mark.parametrize("document", [*DOCS, Path("notebooks/README.md")], ids=str)
def test_links_and_pictures_exist(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text()):
        assert (ROOT / document.parent / target).exists(), target


def test_every_notebook_is_listed():
    listed = (ROOT / "notebooks" / "README.md").read_text()
    assert sorted(re.findall(r"\]\((\w+\.ipynb)\)", listed)) == sorted(
        p.name for p in (ROOT / "notebooks").glob("*.ipynb")
    )


def test_make_targets_exist():
    named = set(re.findall(r"`?make ([a-z]+)", TEXT))
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert named <= known


def test_python_example_gives_what_is_shown():
    (example,) = [block for block in blocks("python") if "import rediscover as rd" in block]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert blocks("text") == [done.stdout]


def test_the_method_shown_is_a_whole_method(tmp_path):
    """The example is put where it says, in a copy of the package, and found there."""
    page = (ROOT / "docs" / "extend.md").read_text()
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", page, flags=re.S) if "class Median" in block]
    package = tmp_path / "rediscover"
    subprocess.run(["cp", "-r", str(ROOT / "lib" / "rediscover"), str(package)], check=True)
    (package / "methods" / "median.py").write_text(example)
    code = (
        "import rediscover as rd; p = rd.problem('surfaces/TFS4'); c = rd.method('median').solve(p);"
        "assert 'median' in set(rd.methods()['name']); assert rd.score(p, c)['symbolic_accuracy'] == 0;"
        "print(rd.__file__)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout


def test_make_without_a_goal_is_help_and_mistakes_are_named():
    def make(*arguments):
        return subprocess.run(["make", *arguments], capture_output=True, text=True, cwd=ROOT)

    assert "make smoke" in make().stdout
    wrong = make("all", "STUDY=99_none")
    assert wrong.returncode and "no study is called 99_none" in wrong.stderr
    wrong = make("all", "PROFILE=slow")
    assert wrong.returncode and "no profile is called slow" in wrong.stderr


def commands():
    """Every command of the README and the documents: in sh blocks, indented, and between backticks."""
    found = {}
    for document, text in DOCS.items():
        plain = re.sub(r"```python.*?```", "", text, flags=re.S)
        lines = [line for block in re.findall(r"```sh\n(.*?)```", plain, flags=re.S) for line in block.splitlines()]
        lines += re.findall(r"^    (\S.*)$", re.sub(r"```.*?```", "", plain, flags=re.S), flags=re.M)
        lines += re.findall(r"`((?:rediscover|make|taskset|pip|conda) [^`\n]+)`", plain)
        for line in lines:
            found.setdefault(line.split("  #")[0].strip().rstrip("&").strip(), set()).add(str(document))
    return found


COMMANDS = commands()
OWN = "docs/my-method.md"  # whose commands follow each other; tests/test_comparison.py types them
CATALOGS = "docs/integrations.md"  # whose commands read a file of the page; tests/test_catalogs.py types them
MODELS = "docs/llm.md"  # whose commands need a server; tests/test_language_models.py parses them
NOT_HERE = ("conda", "pip", ".venv/bin/pip", ".venv/bin/dask", ".venv/bin/python")  # another environment, or a cluster


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_every_document_runs(line, tmp_path):
    """make runs dry, everything else as it stands; what needs another environment is known by its program."""
    if {OWN, CATALOGS, MODELS} & COMMANDS[line] or "retest" in line:  # an hour; tests/test_reasons.py does a part of it
        return
    words = [word for word in shlex.split(line) if not re.match(r"[A-Z]+=\S", word)]
    words = words[3:] if words[0] == "taskset" else words
    if words[0] in NOT_HERE:
        return
    known = {"make": ["make", "-n", f"PY={sys.executable}"], "rediscover": [sys.executable, "-m", "rediscover"]}
    assert words[0] in known, f"{COMMANDS[line]}: no test knows how to run {line!r}"
    settings = [word for word in shlex.split(line) if re.match(r"[A-Z_]+=\S", word)] if words[0] == "make" else []
    done = subprocess.run(
        [*known[words[0]], *words[1:], *settings],
        capture_output=True,
        text=True,
        cwd=ROOT if words[0] == "make" else tmp_path,
        # PY=python is for an environment that is active; Debian has python3 only
        env=os.environ | {"REDISCOVER_ROOT": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0 and done.stdout, done.stderr


def test_commands_are_found_everywhere():
    assert {str(document) for document in DOCS} == set().union(*COMMANDS.values())
    assert len(COMMANDS) > 30


def test_the_commands_for_a_method_of_ones_own_are_those_of_its_page():
    own = {line for line in COMMANDS if re.search(r"\bmine\b|rediscover report", line)}
    assert len(own) == 5 and all(OWN in COMMANDS[line] for line in own)


def test_what_is_not_run_here_is_declared():
    """Extras that a document installs exist, and the programs of the cluster guide come with the lock."""
    known = (ROOT / "pyproject.toml").read_text()
    for extra in {name for text in DOCS.values() for name in re.findall(r"(?:rediscover|\.)\[(\w+)\]", text)}:
        assert f"\n{extra} = [" in known
    assert "\ndask==" in (ROOT / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the package with the files of docs/extend.md where it says they go."""
    package = tmp_path_factory.mktemp("extended") / "rediscover"
    subprocess.run(["cp", "-r", str(ROOT / "lib" / "rediscover"), str(package)], check=True)
    text = (ROOT / "docs" / "extend.md").read_text()
    _, metric, line = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    paths = re.findall(r"`lib/rediscover/((?:metrics|studies/srsd)/\w+\.py)`", text)
    assert paths == ["metrics/robust.py", "studies/srsd/scores.py"]
    (package / paths[0]).write_text(metric)
    module = package / paths[1]
    changed = re.sub(r"(from \.\.\.metrics import .*)", r"\1, robust", module.read_text(), count=1)
    changed = changed.replace("    scores = {\n", f"    scores = {{\n{line}", 1)
    module.write_text(changed)
    return package.parent


@pytest.mark.parametrize(
    "code",
    [
        "from rediscover.metrics import robust; import doctest; assert doctest.testmod(robust) == (0, 1)",
        "s = rd.score(rd.problem('srsd/I.12.1'), '0'); assert s['median_relative_error'] == 1;"
        "from rediscover.runs import scoring; assert scoring.worst('median_relative_error') == float('inf')",
    ],
    ids=["the metric", "its scores"],
)
def test_what_the_documents_add_works(extended, code):
    done = subprocess.run(
        [sys.executable, "-c", f"import rediscover as rd; {code}; print(rd.__file__)"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(extended)},
        cwd=extended,
    )
    assert done.returncode == 0, done.stderr
    assert str(extended) in done.stdout


def test_the_citation_file_is_readable():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == re.search(r'version = "(.*)"', (ROOT / "pyproject.toml").read_text())[1]
    assert cited["license"] == "MIT" and len(cited["references"]) == 5
    assert all(entry["title"] and entry["authors"] for entry in cited["references"])


def test_phrases_that_readers_stumbled_over_are_gone():
    """As docs/style.md lists them, in whatever a reader or a user can see."""
    table = (ROOT / "docs" / "style.md").read_text().partition("| not | but |")[2]
    phrases = re.findall(r"^\| (.+?) \| .+? \|$", table.partition("\n\n")[0], flags=re.M)[1:]
    folders = [ROOT / "docs", ROOT / "notebooks", ROOT / "paper", ROOT / "params", ROOT / "lib", ROOT / ".github"]
    kinds = {".md", ".in", ".ipynb", ".tex", ".yaml", ".yml", ".py", ".html"}
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    paths += [ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")]
    texts = {path: re.sub(r"\s+", " ", path.read_text()) for path in paths if path.name != "style.md"}
    assert len(phrases) >= 10 and len(texts) > 400
    found = [f"{path.name}: {phrase}" for path, text in texts.items() for phrase in phrases if phrase in text]
    assert not found, found


def test_the_table_of_methods_says_what_runs_under_a_name():
    lines = [line.strip("|").split("|") for line in readme.methods().splitlines()]
    heads = [cell.strip() for cell in lines[0]]
    rows = {cells[0].strip(): dict(zip(heads, map(str.strip, cells), strict=True)) for cells in lines[2:]}
    runs = {name: row["what runs"] for name, row in rows.items()}
    assert runs["Operon"] == runs["PCMCI"] == "the package itself" and runs["uDSR"] == "our own code"
    assert runs["SINDy"] == "our own code; the package as `pysindy_sindy`" and runs["TPSR"] == ""
    assert "tunes a hundred" in rows["gplearn"]["less than in the paper"]
    assert rows["like AI Feynman, as released"]["name here"] == "ai_feynman_released"

"""Parameter files: all valid, all complete, and every mistake answered in one line."""

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

from rediscover import params
from rediscover.params import ParameterError
from rediscover.system import plain_yaml

import nbformat
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "params").glob("*.yaml"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
GOOD = ROOT / "params" / "10_surface_benchmark.yaml"


@pytest.mark.parametrize("profile", params.PROFILES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_valid(path, profile):
    assert params.read(path, profile).profile == profile


def test_each_notebook_has_a_file_and_sets_nothing_but_its_profile():
    assert [path.stem for path in FILES] == [path.stem for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        (cell,) = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
        assert cell.source == 'profile = "smoke"', path.stem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evalutions": 3}, "unknown key 'evalutions'"),
        ({"evaluations": None}, "evaluations"),
        ({"evaluations": "many"}, "evaluations: expected a number, got the text 'many'"),
        ({"seconds": "1e-3"}, "'1e-3' is text to YAML, not a number"),
        ({"seconds": -1.0}, "seconds: input should be greater than 0, got -1.0"),
        ({"evaluations": 0}, "evaluations"),
        ({"evaluations": 1.5}, "evaluations"),
        ({"methods": []}, "methods"),
        ({"methods": ["opern"]}, "unknown method 'opern'; did you mean 'operon'?"),
        ({"methods": ["mean", "mean"]}, "'mean' is listed twice"),
        ({"surfaces": ["surfaces/NCGS99"]}, "unknown problem 'surfaces/NCGS99'"),
        ({"seeds": [-1]}, "seeds.0"),
        ({"sampler": "grid"}, "sampler"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_mistakes_are_named_in_one_line(tmp_path, change, message):
    content = yaml.safe_load(GOOD.read_text())
    for section in content.values():
        section.update({key: value for key, value in change.items() if key in section})
    content["smoke"] |= change
    sections = {s: {k: v for k, v in values.items() if v is not None} for s, values in content.items()}
    path = tmp_path / GOOD.name
    path.write_text(yaml.safe_dump(sections))
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        params.read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_row": 3}, "10_surface_benchmark has no parameter 'max_row'; did you mean 'max_rows'?"),
        ({"colour": "red"}, "no parameter 'colour' (parameters: seeds, methods"),
        ({"profile": "fast"}, "the profiles are smoke, reference, paper"),
        ({"max_rows": -1}, "max_rows: input should be greater than 0"),
        ({"relative_noise": []}, "relative_noise: list should have at least 1 item"),
        ({"surfaces": ["surfaces/AMHD2"]}, "none of these is explicit, as the surfaces of most tables here: add one"),
        (
            {"packages": [], "seeds": [0, 1]},
            "seeds: cells are compared for one seed; for more see `rediscover retest mdbench`",
        ),
        ({"ablation_methods": ["proged"]}, "ablation_methods: none of these is among the methods: add 'proged'"),
        ({"dummy_methods": ["proged"]}, "dummy_methods: none of these is among the methods: add 'proged'"),
        (
            {"added": {"fresh": {"operon": 9}}},
            "added: 'operon' is one of the opponents: leave it out of one of the two",
        ),
        ({"laws": ["srsd/I.15.10"]}, "none of these is easy, as the laws of the comparison over noise here: add one"),
    ],
)
def test_a_notebook_refuses_in_one_sentence(change, message):
    notebooks = dict.fromkeys(("laws", "ablation_methods", "dummy_methods"), "20_srsd_edit_distance")
    notebooks |= {"packages": "40_mdbench_odes", "added": "80_outside"}
    notebook = next((notebooks[name] for name in change if name in notebooks), GOOD.stem)
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        params.load(notebook, change)
    assert "\n" not in str(caught.value)


def test_a_changed_parameter_is_used_and_its_results_are_kept_apart():
    plain, changed = params.load(GOOD.stem, {}), params.load(GOOD.stem, {"max_rows": 7})
    assert changed.max_rows == 7 and changed.seeds == plain.seeds
    assert changed.folder == ROOT / "build" / "explore" and plain.folder == ROOT / "build" / "smoke"


def test_a_list_given_on_the_command_line_of_papermill_is_a_list():
    assert params.load(GOOD.stem, {"seeds": "[3, 4]"}).seeds == [3, 4]
    with pytest.raises(ParameterError, match=r"seeds.1: input should be greater than or equal to 0"):
        params.load(GOOD.stem, {"seeds": "[3, -4]"})


def test_only_the_parameters_cell_and_papermills_are_read():
    """The rest of `globals()` is what an analysis computed, also when the cell is run again later."""
    cells = {
        "In": [
            "",
            'profile = "smoke"\nmax_rows = 5',
            "# Parameters\nseeds = [3]",
            "records = 1\nmax_rows = 9",
            "%magic",
        ],
        **{"profile": "smoke", "max_rows": 5, "seeds": [3], "records": 1},
    }
    p = params.load(GOOD.stem, cells)
    assert (p.max_rows, p.seeds) == (5, [3])
    cells["In"].append('profile = "smoke"')  # the cell without its change
    assert params.load(GOOD.stem, cells).max_rows == params.load(GOOD.stem, {}).max_rows


def test_yaml_number_without_a_point_is_text_and_said_so(tmp_path):
    path = tmp_path / GOOD.name
    path.write_text(re.sub(r"^(  seconds:) .*$", r"\1 1e-3", GOOD.read_text(), flags=re.M))
    with pytest.raises(ParameterError, match="'1e-3' is text to YAML"):
        params.read(path)


def test_files_that_are_no_mapping_or_not_there(tmp_path):
    path = tmp_path / GOOD.name
    with pytest.raises(ParameterError, match="No such file"):
        params.read(path)
    path.write_text("- a\n- b\n")
    with pytest.raises(ParameterError, match="expected the sections common, smoke, reference, paper"):
        params.read(path)
    path.write_text("a: [1\n")
    with pytest.raises(ParameterError, match="not valid YAML"):
        params.read(path)
    with pytest.raises(ParameterError, match="no notebook is called"):
        params.read(tmp_path / "99_none.yaml")


def check(path, **environment):
    command = [sys.executable, "-m", "rediscover", "check", str(path), "--profile", "smoke"]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment)


def test_check_ends_with_status_2_and_one_line(tmp_path):
    bad = tmp_path / GOOD.name
    bad.write_text(GOOD.read_text().replace("common:\n", "common:\n  colour: red\n"))
    done = check(bad)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "unknown key 'colour'" in done.stderr


def test_check_of_an_unreachable_scheduler():
    done = check(GOOD, SCHEDULER="tcp://127.0.0.1:9")
    assert done.returncode == 2 and "SCHEDULER=tcp://127.0.0.1:9 cannot be reached" in done.stderr


def test_check_of_a_store_from_a_newer_version(tmp_path):
    import sqlite3

    root = tmp_path / "copy"
    for name in ("notebooks", "params", "build/smoke"):
        (root / name).mkdir(parents=True)
    store = root / "build" / "smoke" / "10_surface_benchmark.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("pragma user_version = 9999")
    done = check(GOOD, REDISCOVER_ROOT=str(root))
    assert (
        done.returncode == 2 and "has version 9999, this program knows" in done.stderr and done.stderr.count("\n") == 1
    )


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_read_only_output_folder_stops_before_anything_runs(tmp_path):
    root = tmp_path / "copy"
    for name in ("notebooks", "params", "build/smoke/tables", "build/smoke/figures"):
        (root / name).mkdir(parents=True)
    tables = root / "build" / "smoke" / "tables"
    tables.chmod(stat.S_IREAD | stat.S_IEXEC)
    if os.access(tables, os.W_OK):  # root writes everywhere: let a file stand where the folder should be
        tables.chmod(0o755)
        tables.rmdir()
        tables.write_text("")
    done = check(GOOD, REDISCOVER_ROOT=str(root))
    assert done.returncode == 2 and str(tables) in done.stderr and done.stderr.count("\n") == 1


def test_environment_and_lock_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock: dict[str, set] = {}  # a package may have one version for each version of Python
    for name, version in re.findall(r"^([\w.-]+)==([^ \\;]+)", (ROOT / "requirements.lock").read_text(), flags=re.M):
        lock.setdefault(name, set()).add(version)
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = dict(line.split("==") for line in conda[-1]["pip"] if "==" in line)
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["causal"], *extras["cluster"], *extras["dev"]]
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in wanted}
    assert [name for name in names if pins.get(name) not in lock[name]] == []
    assert any(line.startswith("julia") for line in conda if isinstance(line, str)) and "pysr" in pins


def test_lock_is_exact_hashed_and_names_no_host():
    text = (ROOT / "requirements.lock").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and not re.search(r"^(torch|nvidia|triton)", text, flags=re.M)


SAID_TWICE = [
    (r"^(  seconds:) .*$", r"\1 5\n\1 60", "'seconds' is there twice: keep one"),
    (r"^(smoke:)$", r"smoke: {seeds: [0]}\n\1", "'smoke' is there twice"),
    (r"^(  seconds:) .*$", r"\1 010", "'010' is a number to the base 8 or 60 to some"),
    (r"^(  seconds:) .*$", r"\1 1:30", "'1:30' is a number to the base 8 or 60"),
    (r"^(  seconds:) .*$", r"\1 1:30.5", "'1:30.5' is a number to the base 8 or 60"),
    (r"^(smoke:)$", r"\1\n  <<: {seconds: 3}", "write the values out"),
    (r"^(  ablated:) .*$", r"\1 {pieces: [explicit], pieces: [implicit]}", "'pieces' is there twice"),
]


@pytest.mark.parametrize(("what", "instead", "message"), SAID_TWICE)
def test_a_file_that_says_two_things_at_once_is_refused(tmp_path, what, instead, message):
    path, good = tmp_path / GOOD.name, GOOD.read_text()
    path.write_text(re.sub(what, instead, good, count=1, flags=re.M))
    assert path.read_text() != good
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        params.read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["[3, 4", "{a: 1, a: 2}", "[010]", "[1:30]"])
def test_what_papermill_hands_over_is_refused_in_one_sentence(value):
    with pytest.raises(ParameterError, match="is not valid YAML") as caught:
        params.load(GOOD.stem, {"seeds": value})
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers() | st.booleans(), min_size=1), st.data())
def test_a_mapping_is_read_as_it_is_and_never_with_a_key_twice(mapping, data):
    assert plain_yaml.load(yaml.safe_dump(mapping)) == mapping
    lines = yaml.safe_dump(mapping).splitlines()
    lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(lines)).split(":")[0] + ": 7")
    with pytest.raises(yaml.YAMLError, match="is there twice"):
        plain_yaml.load("\n".join(lines))


@pytest.mark.parametrize("path", sorted(ROOT.glob("params/*.yaml")) + sorted(ROOT.glob("lib/**/*.yaml")), ids=str)
def test_no_file_of_the_project_has_a_key_twice(path):
    """Merges of what is written above are theirs."""
    text = re.sub(r"<<: \*\w+,?", "", path.read_text(encoding="utf-8"))
    plain_yaml.load(text)

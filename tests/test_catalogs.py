"""Catalogs of other people: what can be used becomes problems for every method, the rest is refused in a sentence."""

import csv
import io
import re
import shlex
from pathlib import Path

import rediscover as rd
from rediscover import cli
from rediscover.expressions import parse
from rediscover.problems import catalogs
from rediscover.problems.catalogs import writing

import numpy as np
import pandas as pd
import pytest
import yaml

HERE = Path(__file__).parent / "data" / "catalogs"
FALLS = catalogs.read(HERE / "falls.yaml")

# Entry -> its inputs, its formula in them, and how they are drawn.
READ = {
    "energy": (
        ("m", "v", "h"),
        "m*v**2/2 + m*9.81*h",
        [["log", 1, 10], ["uniform", 0.5, 4], ["integer", 1, 10, "signed"]],
    ),
    "depth": (("t",), "-t**2", [["uniform", 1, 2, "negative"]]),
    "circle": (("v1", "v2"), "3.0*pi*v1**2 + v2", [["uniform", 1, 2], ["uniform", 1, 2]]),  # a variable called pi
    "whole": (("n",), "n**2", [["integer", 1, 5]]),
}
REFUSED = {
    "no formula": "no formula",
    "no variables": "no variables",
    "no mapping": "no variables",
    "a gap": "without a gap",
    "no range": "v1 has no `sample_range`",
    "three ends": "v1 has no `sample_range` of two numbers",
    "upside down": "the smaller first",
    "no number": "'low' and 'high'; give two numbers",
    "endless": "two finite numbers",
    "log of zero": "log scale from 0",
    "negative twice": "range of its absolute value",
    "halves": "whole ends",
    "gamma drawn": "unknown `sample_type`",
    "a sign too much": "unknown `sample_type`",
    "no function": "no function 'bessel'",
    "code": "no function '__import__'",
    "another variable": "unknown variable 'v2'",
    "an equation": "right-hand side",
    "nowhere": "no finite value",
    "few rows": "no whole numbers",
}


@pytest.mark.parametrize("entry", READ)
def test_an_entry_is_read(entry):
    found = FALLS.problem(entry)
    inputs, formula, samplers = READ[entry]
    assert (found.id, found.study, found.inputs) == (f"falls/{entry}", "catalog", inputs)
    (expression,) = found.expressions.values()
    assert expression == parse(formula, inputs)
    assert list(found.samplers.values()) == samplers
    train, test = found.data(seed=1)["train"], found.data(seed=1)["test"]
    assert (len(train.y), len(test.y)) == ((20, 30) if entry == "whole" else (60, 1000))
    assert train.y == pytest.approx(expression(dict(zip(inputs, train.X.T, strict=True))))
    assert not np.array_equal(train.y, found.data(seed=2)["train"].y)


def test_values_lie_where_the_catalog_says():
    X = FALLS.problem("energy").data()["test"].X
    m, v, h = X.T
    assert 1 <= m.min() < 1.5 and 9 < m.max() <= 10 and 0.5 <= v.min() and v.max() <= 4
    assert set(h) == {*range(-9, 0), *range(1, 10)}
    t = FALLS.problem("depth").data()["test"].X
    assert -2 <= t.min() and t.max() <= -1


def test_what_a_catalog_says_of_an_entry_stays():
    energy, depth = FALLS.problem("energy"), FALLS.problem("falls/depth")
    assert (energy.outputs, energy.source) == (("E",), "a textbook of mechanics")
    assert (depth.outputs, depth.subset, depth.note) == (("d",), "easy", "a well")
    assert FALLS.ids("easy") == ["falls/depth"]
    with pytest.raises(KeyError, match="subsets: easy"):
        FALLS.ids("hard")


@pytest.mark.parametrize("entry", REFUSED)
def test_an_entry_that_cannot_be_used_is_refused_in_a_sentence(entry):
    said = FALLS.refused[f"falls/{entry}"]
    assert said.startswith(f"falls/{entry} is left out: ") and REFUSED[entry] in said and "\n" not in said
    with pytest.raises(ValueError, match=re.escape(said)):
        FALLS.problem(entry)


def test_nothing_of_a_catalog_is_lost():
    entries = yaml.safe_load((HERE / "falls.yaml").read_text())["expressions"]
    assert {f"falls/{name}" for name in entries} == {*FALLS.entries, *FALLS.refused}
    assert {*READ} | {*REFUSED} == {*entries}


def test_entries_without_a_head():
    flat = catalogs.read(HERE / "flat.yaml")
    assert flat.ids() == ["flat/spring", "flat/raw only"] and not flat.refused
    assert flat.problem("spring").truth == {"F": "k*x/2"} and flat.problem("raw only").truth == {"y": "k*exp(x)"}
    assert flat.problem("spring").samplers == {"k": ["log", 0.1, 10], "x": ["log", 0.001, 0.1, "signed"]}


def test_a_table_of_formulas(tmp_path):
    laws = catalogs.read(HERE / "laws.csv")
    assert laws.ids() == ["laws/rest", "laws/decay", "laws/dice"]
    assert laws.problem("rest").truth == {"E_0": "m*c**2"}
    assert laws.problem("decay").samplers == {"a": ["log", 0.1, 10, "signed"], "t": ["uniform", 0, 4]}
    assert set(laws.problem("dice").data()["train"].X[:, 0]) == {1, 2, 3, 4, 5, 6}
    reasons = ("its name", "no formula", "unknown variable 'b'", "cannot be read at 'a from 1", "two ranges of a")
    reasons += ("called 'log'", "no variables")
    assert len(laws.refused) == len(reasons)
    for said, reason in zip(laws.refused.values(), reasons, strict=True):
        assert reason in said and said.startswith("laws/")
    rows = list(csv.reader((HERE / "laws.csv").read_text().splitlines()))
    for ending, sign in (("tsv", "\t"), ("csv", ";")):
        with (tmp_path / f"laws.{ending}").open("w", newline="") as file:
            csv.writer(file, delimiter=sign).writerows(rows)
        other = catalogs.read(tmp_path / f"laws.{ending}")
        assert other.refused == laws.refused
        assert [problem.truth for problem in other.entries.values()] == [p.truth for p in laws.entries.values()]


def test_the_columns_of_the_feynman_database():
    found = catalogs.read(HERE / "columns.csv")
    assert {id: problem.truth for id, problem in found.entries.items()} == {
        "columns/I.12.1": {"F": "mu*Nn"},
        "columns/I.6.2a": {"f": "exp(-theta**2/2)/sqrt(2*pi)"},
    }
    assert [*found.refused.values()] == [
        "columns/short is left out: b has no range; write two numbers into its columns"
    ]


@pytest.fixture
def relativity(tmp_path):
    """A data set of SRBench's form, and its formula."""
    folder = tmp_path / "relativity"
    folder.mkdir()
    (folder / "metadata.yaml").write_text((HERE / "metadata.yaml").read_text())
    X = np.random.default_rng(0).uniform((1, 1, 3), (5, 2, 10), (200, 3))
    table = pd.DataFrame(X, columns=["m_0", "v", "c"])
    table.assign(target=X[:, 0] / np.sqrt(1 - X[:, 1] ** 2 / X[:, 2] ** 2)).to_csv(
        folder / "relativity.tsv.gz", sep="\t", index=False
    )
    return folder


def test_a_table_of_srbench_with_its_formula(relativity):
    found = catalogs.read(relativity / "metadata.yaml").problem("relativity")
    assert found.truth == {"target": "m_0/sqrt(1 - v**2/c**2)"} and found.inputs == ("m_0", "v", "c")
    first = found.data(seed=0)
    assert [len(split.y) for split in first.values()] == [150, 50]
    assert found.evaluate(dict(zip(found.inputs, first["test"].X.T, strict=True))) == pytest.approx(first["test"].y)
    rows = {tuple(row) for split in first.values() for row in split.X}
    assert len(rows) == 200 and not np.array_equal(first["test"].y, found.data(seed=1)["test"].y)
    noisy = catalogs.read(relativity).problem("relativity", noise=0.1)
    off = noisy.data()["train"].y - first["train"].y
    assert off.std() == pytest.approx(0.1 * np.sqrt(np.mean(first["train"].y ** 2)), rel=0.2)
    assert np.array_equal(noisy.data()["test"].y, first["test"].y)
    assert rd.score(found, "m_0/sqrt(1 - (v/c)**2)")["symbolic_solution"] == 1
    assert rd.score(found, "m_0")["symbolic_solution"] == 0


def test_a_folder_of_tables_and_what_they_lack(relativity):
    for name, changed in (("noformula", ("m = m_0/sqrt(1 - v**2/c**2)", "")), ("notable", ("relativity", "absent"))):
        (folder := relativity.parent / name).mkdir()
        (folder / "metadata.yaml").write_text((relativity / "metadata.yaml").read_text().replace(*changed))
        (folder / "relativity.tsv.gz").write_bytes((relativity / "relativity.tsv.gz").read_bytes())
    found = catalogs.read(relativity.parent)
    assert [id.partition("/")[2] for id in found.ids()] == ["relativity"]
    said = dict(zip(("noformula", "notable"), found.refused.values(), strict=True))
    assert "states no formula" in said["noformula"] and "no absent.tsv.gz beside" in said["notable"]
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    (relativity / "relativity.tsv.gz").write_text(pointer)  # what a clone without its large files has
    with pytest.raises(ValueError, match=r"relativity\.tsv\.gz is no table of numbers"):
        catalogs.read(relativity)


@pytest.mark.parametrize("ids", [["phybench/0", "phybench/17"], ["srbench/feynman_I_6_2a", "srbench/strogatz_lv1"]])
def test_our_problems_come_back_as_they_were(ids, tmp_path):
    ours = list(map(rd.problem, ids))
    path = tmp_path / "catalog.yaml"
    path.write_text(writing.text(ours))
    back = catalogs.read(path)
    assert back.ids() == ids and not back.refused
    for problem in ours:
        found = back.problem(problem.id)
        assert (found.inputs, found.outputs, found.rows, found.subset) == (
            problem.inputs,
            problem.outputs,
            problem.rows,
            problem.subset,
        )
        for seed in (0, 1):
            for name, split in problem.data(seed).items():
                assert np.array_equal(found.data(seed)[name].X, split.X)
                assert np.array_equal(found.data(seed)[name].y, split.y)


def test_signs_and_whole_numbers_come_back(tmp_path):
    path = tmp_path / "again.yaml"
    path.write_text(writing.text(list(FALLS.entries.values())))
    again = catalogs.read(path)
    assert {id: (p.samplers, p.truth) for id, p in again.entries.items()} == {
        id: (p.samplers, p.truth) for id, p in FALLS.entries.items()
    }


def test_a_problem_that_is_no_formula_of_independent_inputs_is_not_written():
    with pytest.raises(TypeError, match="odes/"):
        writing.text([rd.problem(rd.problems("odes")[0])])


BOMB = """
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g, *g]
i: {prepared: v1, moniker: *h, vars: {v1: {name: *h, sample_range: [*h, *h], sample_type: [*h, pos]}}}
j: {prepared: *h, vars: {v1: {name: *h, sample_range: [1, 2], sample_type: *h}}}
k: {prepared: v1, rows: *h, vars: {v1: {sample_range: [*h, *h]}}}
"""

WRONG = {
    "bomb.yaml": (BOMB, "nothing in .* can be used"),
    "list.yaml": ("- 1\n", "is no catalog"),
    "object.yaml": ("!!python/object/apply:os.getcwd []\n", "is no YAML"),
    "broken.yaml": ("a: [\n", "is no YAML"),
    "empty.yaml": ("", "is no catalog"),
    "nothing.yaml": ("metadata: {name: x}\n", "no entries"),
    "numbers.csv": ("a,b\n1,2\n", "no column of formulas"),
    "empty.csv": ("", "no column of formulas"),
    "image.npz": (b"PK\x03\x04\xff\xfe", "no text in UTF-8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_no_catalog_is_refused(name, tmp_path):
    held, reason = WRONG[name]
    path = tmp_path / name
    path.write_bytes(held if isinstance(held, bytes) else held.encode())
    with pytest.raises(ValueError, match=reason) as error:
        catalogs.read(path)
    assert len(str(error.value)) < 400


def rediscover(*arguments, capsys):
    status = cli.main(list(map(str, arguments)))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_commands_take_problems_of_a_catalog(tmp_path, monkeypatch, capsys):
    (tmp_path / "laws.csv").write_text((HERE / "laws.csv").read_text())
    monkeypatch.chdir(tmp_path)
    status, out, err = rediscover("problems", "--catalog", "laws.csv", capsys=capsys)
    assert (status, out.split()) == (0, ["laws/rest", "laws/decay", "laws/dice"]) and err.count("is left out") == 7
    status, out, _ = rediscover("show", "rest", "--catalog", "laws.csv", capsys=capsys)
    assert status == 0 and "E_0 = m*c**2" in out
    status, out, _ = rediscover("score", "rest", "c*m*c", "--catalog", "laws.csv", "--json", capsys=capsys)
    assert status == 0 and '"symbolic_solution": 1.0' in out
    status, out, _ = rediscover("solve", "power_law", "laws/rest", "--catalog", "laws.csv", "--json", capsys=capsys)
    assert status == 0 and '"solution_rate": 1.0' in out


def test_the_commands_of_the_page_do_what_it_says(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[1] / "docs" / "integrations.md").read_text()
    (typed,) = re.findall(r"```sh\n(.*?)```", page, flags=re.S)
    (table,) = re.findall(r"```text\n(name,.*?)```", page, flags=re.S)
    (written,) = re.findall(r"`(rediscover problems --study [^`]*)`", page)
    (tmp_path / "laws.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    said = []
    for line in (*typed.splitlines(), written):
        program, *arguments = shlex.split(line, comments=True)
        status, out, err = rediscover(*arguments, capsys=capsys)
        assert (program, status, err) == ("rediscover", 0, "")
        said.append(out)
    listed, rows, compared, _ = said
    assert listed.split() == ["laws/rest", "laws/decay"]
    frame = pd.read_csv(io.StringIO(rows))
    assert frame.groupby("method")["symbolic_solution"].sum().to_dict() == {"bidirectional": 2, "power_law": 1}
    assert "bidirectional on laws" in compared and (tmp_path / "build" / "own" / "catalog").is_dir()
    assert len(catalogs.read("phybench.yaml").ids()) == 90


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["problems", "--catalog", "none.yaml"], "there is no catalog none.yaml"),
        (["solve", "mean", "unknown", "--catalog", "laws.csv"], "laws/unknown is left out"),
        (["solve", "mean", "rust", "--catalog", "laws.csv"], "did you mean 'rest'?"),
        (["run", "--methods", "mean", "--catalog", "laws.csv", "--study", "surfaces"], "leave one out"),
        (["run", "--methods", "mean", "--catalog", "laws.csv", "--profile", "smoke"], "--profile and --model are for"),
        (["compare", "mean", "mean", "--catalog", "laws.csv"], "two methods or more, each once"),
        (["compare", "mean", "gp", "--study", "surfaces", "--seeds", "1"], "leave them out without --catalog"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(arguments, reason, monkeypatch, capsys):
    monkeypatch.chdir(HERE)
    status, out, err = rediscover(*arguments, capsys=capsys)
    assert (status, out) == (2, "") and reason in err.splitlines()[-1]

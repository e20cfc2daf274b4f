"""A method of one's own: from an empty folder to a report, from files, packages and notebooks, beside others."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import rediscover as rd
from rediscover import comparison, methods, runs
from rediscover.cli import main
from rediscover.comparison.answers import answers as scored_answers
from rediscover.comparison.head_to_head import Comparison
from rediscover.expressions import parse
from rediscover.methods.sklearn_adaptor import from_sklearn
from rediscover.problems import STUDIES
from rediscover.report import pictures
from rediscover.runs import predictions
from rediscover.runs.schema import PAIRED_TEST, read_csv
from rediscover.studies import asked
from rediscover.system import user_classes
from rediscover.system.paths import root
from rediscover.system.studies import measures_of

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

DOCS = root() / "docs" / "my-method.md"
THREE = ["surfaces/TFS4", "surfaces/QIS2", "surfaces/NCGS2"]
FOREST = """
from sklearn.ensemble import RandomForestRegressor
from rediscover.methods.sklearn_adaptor import from_sklearn
Forest = from_sklearn(RandomForestRegressor(5), None, "forest")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, outside of the repository; what is made known in it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    monkeypatch.setattr(methods, "_given", {})
    return tmp_path


def failing(capsys, *arguments):
    assert main(list(map(str, arguments))) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("rediscover: "), said
    return said


def test_the_commands_of_the_documentation(folder, capsys):
    """All that docs/my-method.md types, on three surfaces."""
    text = DOCS.read_text()
    lines = re.search(r"```sh\n(.*?)```", text, re.S)[1].splitlines()
    old, new = re.search(r"```diff\n-(.*?)\n\+(.*?)\n```", text, re.S).groups()
    typed = [line.partition("#")[0].split()[1:] for line in lines if line.startswith("rediscover")]
    assert [arguments[0] for arguments in typed] == ["new", "run", "compare", "report"]
    said = {}
    for arguments in typed:
        if "--subset" in arguments:
            at = arguments.index("--subset")
            arguments[at : at + 2] = ["--problems", *THREE]
        assert main(arguments) == 0, capsys.readouterr().err
        said[arguments[0]] = capsys.readouterr().out
        if arguments[0] == "new":
            source = Path("mine.py").read_text()
            assert old in source
            Path("mine.py").write_text(source.replace(old, new))
    assert "symbolic_accuracy" in said["run"] and re.search(r"explicit +mine +3 ", said["run"])
    answers = read_csv("build/own/surfaces/mine.csv")
    middle = np.median(rd.problem(THREE[0]).data(0)["train"].y)
    assert float(answers.set_index("problem").loc[THREE[0], "solution"]["z"]) == middle
    assert "operon" in said["compare"] and "wins" in said["compare"]
    assert re.search(r"tables/surfaces_scores.csv|build/reference/", said["compare"])  # or the store of `make all`
    page = Path(said["report"].strip()).read_text()
    assert "http" not in page.replace("http-equiv", "") and '<img src="data:image/png' in page
    tables = Path("build/own/report/tables")
    assert len(list(tables.glob("*.tex"))) == 5 and len(list(tables.glob("*.csv"))) == 5
    assert set(read_csv(tables / "answers.csv")["method"]) == {"mine", "operon", "power_law"}


def test_the_file_that_is_written_works_as_it_is_and_is_not_overwritten(folder):
    path = comparison.new("my_line")
    assert path.name == "my_line.py"
    found = rd.method("./my_line.py:MyLine").solve("surfaces/AMHD1")
    assert found[0].solution.keys() == {"z"} and rd.score("surfaces/AMHD1", found)["nmse_variance"] < 1e-9
    with pytest.raises(FileExistsError, match="choose another name"):
        comparison.new("my_line")
    for name, reason in {"Mine": "small letters", "a-b": "small letters", "operon": "is here already"}.items():
        with pytest.raises(ValueError, match=reason):
            comparison.new(name)


@pytest.mark.parametrize(
    ("study", "name", "ids"),
    [
        ("surfaces", "mean", ["surfaces/TFS4", "surfaces/AMHD1", "surfaces/TCS5"]),
        ("srsd", "polynomial", ["srsd/I.27.6", "srsd/I.12.5"]),
        ("odes", "sindy", ["odes/24"]),
    ],
)
def test_scores_are_those_of_the_committed_tables(folder, reference_tables, study, name, ids):
    """The same budget, options, choice among candidates and rules as in the study's notebook."""
    ours = comparison.run(name, study, ids=ids, profile="reference").set_index("problem")
    frame = read_csv(reference_tables / f"{measures_of(study)['table']}.csv")
    theirs = frame[(frame["method"] == name) & (frame["noise"] == 0) & frame["problem"].isin(ids)].set_index("problem")
    for measure in measures_of(study)["measures"]:
        assert np.allclose(ours.loc[ids, measure], theirs.loc[ids, measure], rtol=1e-6, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("study", STUDIES)
def test_a_method_can_be_planned_on_every_study(study):
    ids = rd.problems(study)[:2]
    grid = asked(ids, ["mean"], "smoke")
    assert [problem.id for problem in grid["problems"]] == ids
    assert [method.name for method in grid["methods"]] == ["mean"]
    assert all(problem.noise == 0 for problem in grid["problems"])
    assert "noise" not in grid


def test_a_method_is_planned_at_the_whole_budget_and_without_its_opponents():
    """Samples of the study of problems from outside run with noise, and early; its tables have seeds of their own."""
    of_a_sample = asked(["srbench/feynman_test_9"], ["operon"], "reference")
    assert "noise" not in of_a_sample and of_a_sample["evaluations"]["operon"] == 2_500_000
    assert [method.name for method in of_a_sample["methods"]] == ["operon"]
    tables = asked(["empirical/hubble"], ["operon"], "reference", [3])
    assert [method.name for method in tables["methods"]] == ["operon"] and tables["seeds"] == [3]


def test_finished_runs_are_not_done_again_and_an_edited_file_is_run(folder, monkeypatch):
    comparison.new("mine")
    comparison.run("./mine.py:Mine", "surfaces", ids=THREE[:1])
    seen = []
    compute = runs.compute
    monkeypatch.setattr(runs, "compute", lambda *a, **k: [seen.append(r["reused"]) or r for r in compute(*a, **k)])
    comparison.run("./mine.py:Mine", "surfaces", ids=THREE[:2])
    assert seen == [True, False]
    assert len(read_csv("build/own/surfaces/mine.csv")) == 2
    source = Path("mine.py").read_text()
    Path("mine.py").write_text(source.replace("text = ", 'text = "7.5"  # '))
    comparison.run("./mine.py:Mine", "surfaces", ids=THREE[:1])
    assert seen[2:] == [False]
    answers = read_csv("build/own/surfaces/mine.csv")  # answers of other code are not kept beside these
    assert answers["solution"].tolist() == [{"z": "7.5"}]


def test_a_method_beside_a_module_of_its_folder(folder):
    (folder / "beside_it.py").write_text("def text():\n    return '1.5'\n")
    source = "import beside_it\n" + comparison.new("mine").read_text().partition('"""\n\nfrom')[2].join(["from", ""])
    (folder / "mine.py").write_text(source.replace("text = ", "text = beside_it.text()  # "))
    frame = runs.grid("surfaces/TFS4", "./mine.py:Mine")
    assert frame["solution"][0] == {"z": "1.5"}


def test_a_method_of_an_installed_package(folder, monkeypatch):
    """Found by its entry point, and by module and class."""
    package = folder / "brought_in"
    package.mkdir()
    (package / "__init__.py").write_text(comparison.new("brought").read_text())
    (folder / "brought.py").unlink()
    (folder / "brought_in-1.dist-info").mkdir()
    (folder / "brought_in-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: brought-in\nVersion: 1\n")
    lines = f"[{user_classes.GROUP}]\nbrought = brought_in:Brought\nlost = brought_in:Lost\n"
    (folder / "brought_in-1.dist-info" / "entry_points.txt").write_text(lines)
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    listed = methods.methods().set_index("name")
    assert listed.loc["brought", "available"] and "defines no 'Lost'" in listed.loc["lost", "reason"]
    frame = runs.grid("surfaces/TFS4", ["brought", "brought_in:Brought"])
    assert list(frame["status"]) == ["ok", "ok"] and list(frame["method"]) == ["brought", "brought"]
    with pytest.raises(KeyError, match="did you mean 'brought'"):
        rd.method("brough")


def test_a_method_of_a_notebook_with_what_it_uses(folder):
    """A notebook's module has no file, as that of ``python -c``."""
    code = f"""
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import rediscover as rd
from rediscover.methods import Candidate, Method

CENTRE = np.median

def middle(y):
    return repr(float(CENTRE(y)))

@dataclass(frozen=True)
class Mine(Method):
    shift: float = 0.0
    name: ClassVar[str] = "mine"

    def fit(self, task, *, budget, rng):
        return [Candidate({{task.output: middle(task.y + self.shift)}})]

found = rd.compare(Mine(shift=1.0), against="power_law", study="surfaces", ids={THREE[:2]!r})
print(found.answers.query("method == 'mine'")["solution"].iloc[0]["z"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert np.isclose(float(done.stdout), np.median(rd.problem(THREE[0]).data(0)["train"].y) + 1)


class TestPredictions:
    @pytest.mark.parametrize("id", ["surfaces/QIS2", "surfaces/AMHD1", "surfaces/TCS5", "srsd/I.27.6"])
    def test_measures_are_those_of_the_study(self, id):
        """An expression, scored by the study and by its predictions."""
        problem = rd.problem(id)
        [answer, *_] = rd.method("polynomial").solve(problem)
        texts = [parse(answer.solution[name]) for name in answer.solution]
        predicted = {
            name: np.squeeze(np.stack([f(dict(zip(problem.inputs, split.X.T, strict=True))) for f in texts], axis=-1))
            for name, split in problem.data(0).items()
        }
        scores = rd.score(problem, answer)
        found = predictions.measures(problem, predicted)
        assert len(found) >= 2 and "symbolic_accuracy" not in found and "solution_rate" not in found
        for column, value in found.items():
            assert np.isclose(value, scores[column], rtol=1e-9), column

    def test_a_forest_is_run_scored_and_compared(self, folder, capsys):
        (folder / "forest.py").write_text(FOREST)
        arguments = ["--study", "surfaces", "--problems", "surfaces/TCS5"]
        assert main(["run", "--methods", "./forest.py:Forest", *arguments]) == 0
        assert main(["compare", "forest", "power_law", *arguments]) == 0
        tests = capsys.readouterr().out.partition("Paired tests")[2].partition("Error and size")[0]
        assert "nmse_variance" in tests and "symbolic_accuracy" not in tests

    def test_it_is_refused_where_equations_are_asked_for(self, folder, capsys):
        (folder / "forest.py").write_text(FOREST)
        said = failing(capsys, "run", "--methods", "./forest.py:Forest", "--study", "odes", "--problems", "odes/1")
        assert "forest only predicts" in said
        said = failing(capsys, "solve", "./forest.py:Forest", "surfaces/TFS4")
        assert "forest only predicts" in said and "run --study" in said
        with pytest.raises(TypeError, match="has no predict"):
            from_sklearn(type("Half", (), {"fit": lambda self, X, y: self})(), None, "half")
        assert from_sklearn(RandomForestRegressor(), None, "forest")().only_predicts


class TestComparison:
    ANSWERS = pd.DataFrame(
        [
            # a problem, a seed, then by method: error and size
            ("p", "one", 0, {"mine": (0.1, 5.0), "other": (0.2, 3.0)}),
            ("p", "one", 1, {"mine": (0.3, 5.0), "other": (0.2, 3.0)}),
            ("q", "one", 0, {"mine": (1e-12, 5.0), "other": (1e-15, 3.0)}),
            ("r", "two", 0, {"mine": (np.nan, 5.0), "other": (0.5, 3.0)}),
            ("s", "two", 0, {"mine": (np.nan, 5.0), "other": (np.nan, 3.0)}),
            ("t", "two", 0, {"mine": (0.4, 5.0), "other": (0.5, 3.0)}),
        ],
        columns=["problem", "subset", "seed", "both"],
    )

    def comparison(self):
        rows = [
            {"problem": r.problem, "subset": r.subset, "seed": r.seed, "method": name, "origin": "here"}
            | {"nmse_variance": error, "size": size}
            for r in self.ANSWERS.itertuples()
            for name, (error, size) in r.both.items()
        ]
        return Comparison("shapes", "mine", pd.DataFrame(rows), ["nmse_variance"])

    def test_wins_losses_and_ties(self):
        """p is equal over its seeds, q is rounding, r has no score of mine, s has none at all, t is won."""
        outcomes = self.comparison().outcomes.set_index("condition")
        assert outcomes.loc["all", ["wins", "losses", "ties"]].tolist() == [1, 1, 2]
        assert outcomes.loc["one", ["wins", "losses", "ties"]].tolist() == [0, 0, 2]
        assert outcomes.loc["two", ["wins", "losses", "ties"]].tolist() == [1, 1, 0]

    def test_tests_have_the_one_schema(self):
        tests = self.comparison().tests
        assert list(tests.columns) == list(PAIRED_TEST)
        row = tests.set_index("condition").loc["all"]
        assert (row["a"], row["b"], row["n_pairs"]) == ("mine", "other", 4)

    def test_the_front_holds_what_no_other_beats_in_both(self):
        answers = pd.DataFrame(
            {"method": ["mine", "small", "worse"], "nmse_variance": [0.1, 0.5, 0.6], "size": [9.0, 3.0, 4.0]}
        ).assign(problem="p", subset="one", seed=0, origin="here")
        pareto = Comparison("shapes", "mine", answers, ["nmse_variance"]).pareto
        assert pareto["front"].to_dict() == {"mine": True, "small": True, "worse": False}

    def test_everything_is_of_the_problems_that_mine_has_answers_to(self):
        few = self.comparison()
        others = [{"problem": f"x{i}", "subset": "one", "seed": 0, "method": "other"} for i in range(5)]
        more = pd.DataFrame(others).assign(origin="here", nmse_variance=1e-9, size=99.0)
        many = Comparison("shapes", "mine", pd.concat([few.answers, more], ignore_index=True), ["nmse_variance"])
        assert many.pareto.equals(few.pareto) and many.budgets.equals(few.budgets)
        assert many.remarks[0] == "mine has answers to 5 of 10 problems: everything here is of these alone."
        assert many.pareto["size"].to_dict() == many.values.loc["all"]["value"].unstack("column")["size"].to_dict()

    def test_it_shows_itself(self):
        found = self.comparison()
        assert found._repr_html_().count("<table") == 4 and "wins" in str(found)
        assert len(found.plot().axes) == 2


class TestLooks:
    @pytest.mark.parametrize("study", STUDIES)
    def test_every_kind_of_problem(self, study, capsys):
        problem = rd.problem(rd.problems(study)[0])
        page = problem._repr_html_()
        assert problem.id in page and problem.latex()
        assert (problem.plot() is None) == (problem.kind == "passage") == ("<img" not in page)
        rd.show(problem.id)
        assert problem.id in capsys.readouterr().out

    def test_meanings_and_units(self):
        assert rd.problem("srsd/I.27.6").meanings["f"] == "focal length"
        assert rd.problem("cde/P002").meanings["x0"] == "CC (mg per litre)"
        assert rd.problem("boolean/B01").meanings["x1"] == "Ap"
        assert "focal length" in rd.problem("srsd/I.27.6")._repr_html_()

    def test_a_candidate(self):
        candidate = rd.Candidate({"f": "d_1*d_2"}, loss=0.5)
        assert candidate.latex() == "f = d_{1} d_{2}" and "loss 0.5" in candidate._repr_html_()
        assert candidate.plot("srsd/I.27.6").axes[0].get_xlabel() == "f, true"
        with pytest.raises(TypeError, match=r"write candidate\.plot"):
            candidate.plot()

    def test_a_text_that_is_no_expression_is_shown_as_it_is(self):
        assert pictures.latex(rd.Candidate({"y": "2*"})) == r"y = \text{2*}"


BROKEN = {
    "import nothing_like_it": "No module named 'nothing_like_it'): mend it or install",
    "raise SystemExit(3)": "SystemExit: 3",
    "def f(:": "SyntaxError",
    "x = 1": "defines no 'Mine' (it defines nothing)",
    "Mine = 3": "is no method",
    "from rediscover import Candidate as Mine": "is no method",
    "from rediscover.methods import Method\nclass Mine(Method): pass": "has no name",
    "from rediscover.methods import Method\nclass Mine(Method): name = True": "has no name",
    "from rediscover.methods import Method\nclass Mine(Method): name = '\\x1b[31m'": "has no name",
    "from rediscover.methods import Method\nclass Mine(Method): name = 'mean'": "'mean' is here already",
}


@pytest.mark.parametrize("source", BROKEN, ids=lambda text: text.split("\n")[-1])
def test_a_file_that_is_no_method_is_one_sentence(folder, capsys, source):
    (folder / "mine.py").write_text(source + "\n")
    assert BROKEN[source] in failing(capsys, "run", "--methods", "./mine.py:Mine", "--study", "surfaces")


def test_a_broken_file_of_the_package_leaves_the_others_alone(monkeypatch, capsys):
    import_module = importlib.import_module

    def broken(name, *rest):
        if name == "rediscover.methods.gplearn":
            raise ModuleNotFoundError("No module named 'gone'")
        return import_module(name, *rest)

    known = dict(methods.registry())
    methods.registry.cache_clear()
    monkeypatch.setattr(methods, "_broken", {})
    monkeypatch.setattr(importlib, "import_module", broken)
    try:
        assert main(["methods"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "methods/gplearn.py cannot be imported: ModuleNotFoundError: No module named 'gone'" in said
        assert main(["solve", "mean", "surfaces/TFS4"]) == 0
    finally:
        monkeypatch.undo()
        methods.registry.cache_clear()
    assert methods.registry() == known and not methods._broken


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "operon"], "is here already"),
        (["run", "--methods", "mean"], "add --study surfaces"),
        (["run", "--methods", "./none.py:Mine", "--study", "surfaces"], "`rediscover new none` writes one"),
        (["run", "--methods", "./none.py", "--study", "surfaces"], "unknown method './none.py'"),
        (["run", "--methods", "mean", "--study", "surface"], "no study has the problems 'surface' (known: "),
        (["run", "--methods", "mean", "--study", "surfaces", "--subset", "round"], "no subset 'round'"),
        (["run", "--methods", "mean", "--study", "odes", "--subset", "9"], "no problems in the subset '9'"),
        (["run", "--methods", "mean", "--study", "surfaces", "--problems", "surfaces/TFS44"], "did you mean"),
        (["run", "--methods", "mean", "--study", "surfaces", "--profile", "fast"], "the profiles are smoke"),
        (["run", "--methods", "mean", "--study", "surfaces", "--evaluations", "9"], "the budget is the study's"),
        (["run", "--methods", "mean", "--problems", "surfaces/TFS4", "--subset", "x"], "add --study"),
        (["run", "--methods", "mean", "--problems", "surfaces/TFS4", "--out", "/proc/none/x.csv"], "/proc/none/x.csv"),
        (["run", "--methods", "mean", "--study", "boolean", "--problems", "boolean/B01"], "does not treat problems"),
        (["compare", "mine", "operon", "--study", "surfaces"], "`rediscover run --methods ./mine.py:Mine --study surf"),
        (["compare", "mean", "mean", "--study", "surfaces"], "compared with itself"),
        (["compare", "mean", "zer", "--study", "surfaces"], "did you mean 'zero'?"),
        (["compare", "mean", "zero"], "name the study of the comparison"),
        (["report"], "nothing was compared here"),
        (["report", "--out", "/proc/none"], "cannot be written: choose another --out"),
        (["show", "TFS4"], "did you mean 'surfaces/TFS4'?"),
        (["show", "nothing"], "write study/name"),
        (["solve", "logicgep", "surfaces/TFS4"], "logicgep does not treat problems of the kind regression"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_mistakes(folder, capsys, arguments, message):
    assert message in failing(capsys, *arguments)
    assert not list(folder.rglob("*.csv"))


def test_mistakes_in_python():
    problem = rd.problem("surfaces/TFS4")
    with pytest.raises(TypeError, match=r"write \{'evaluations': 2000\}"):
        rd.method("mean").solve(problem, budget=2000)
    with pytest.raises(TypeError, match="budget: no 'evals'; did you mean 'evaluations'"):
        rd.method("mean").solve(problem, budget={"evals": 3})
    with pytest.raises(TypeError, match=r"data\(seed=0\)\['train'\]"):
        problem.data("train")
    with pytest.raises(TypeError, match="expected a problem or its id"):
        rd.score(3, "x")
    assert rd.score("surfaces/TFS4", "x*y")["symbolic_accuracy"] == 1.0

    class Wrong(methods.Method):
        name = "wrong"

        def fit(self, task, *, budget, rng):
            return "x + y"

    with pytest.raises(TypeError, match="fit returned str instead of a list of Candidate"):
        Wrong().solve(problem)


def test_records_are_taken_before_tables(folder, monkeypatch):
    """An answer that is recorded is scored here, and said to be so."""
    run = runs.plan(**{k: v for k, v in asked(THREE[:1], ["power_law"], "reference").items() if k != "store"})
    line = {"status": "ok", "reason": "", "seconds": 1.0, "peak_mb": 9.0, "reused": True}
    line["candidates"] = [{"solution": {"z": "x*y"}, "loss": 0.0, "complexity": 3.0, "evaluations": 1, "notes": {}}]
    monkeypatch.setattr(runs.records, "find", lambda planned: [line] * len(planned))
    assert len(run) == 1
    found = scored_answers("power_law", "surfaces", THREE[:1])
    assert list(found["origin"]) == ["records"] and list(found["symbolic_accuracy"]) == [1.0]
    assert list(found["size"]) == [3.0]


def test_heavy_packages_wait_until_they_are_needed():
    code = "import sys, rediscover, rediscover.cli; print([m for m in ('sympy', 'matplotlib', 'pandas', 'cloudpickle') "
    code += "if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_of_methods_loads_no_tables():
    code = "import sys; from rediscover import methods; methods.registry(); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_share_has_wilson_s_interval_and_a_mean_that_is_none_a_bootstrap():
    found = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    rows = [
        {"method": name, "problem": f"p{i}", "subset": "all", "seed": 0, "size": 1.0, "origin": ""}
        | {"symbolic_accuracy": value, "r2_accuracy": 1.0}
        for name in ("mine", "other")
        for i, value in enumerate(found)
    ]
    frame = pd.DataFrame(rows)
    values = Comparison("shapes", "mine", frame, ["symbolic_accuracy", "r2_accuracy"]).values
    # Wilson: (0.5 + z**2 / 20) / (1 + z**2 / 10) -+ z * sqrt(0.25 / 10 + z**2 / 400) / (1 + z**2 / 10), z = 1.959964
    assert values.loc["all", "mine", "symbolic_accuracy"].tolist() == pytest.approx([0.5, 0.236593, 0.763407], abs=1e-6)
    assert values.loc["all", "mine", "r2_accuracy"].tolist() == pytest.approx([1.0, 0.722467, 1.0], abs=1e-6)
    seeds = pd.concat([frame, frame.assign(seed=1, symbolic_accuracy=1)])  # means 1 and 0.5: 7.5 of 10 problems
    values = Comparison("shapes", "mine", seeds, ["symbolic_accuracy"]).values
    assert values.loc["all", "mine", "symbolic_accuracy"].tolist() == pytest.approx(
        [0.75, 0.442182, 0.919052], abs=1e-5
    )
    frame["symbolic_accuracy"] = np.linspace(0.4, 0.6, len(frame))
    low, high = Comparison("shapes", "mine", frame, ["symbolic_accuracy"]).values.loc[
        "all", "mine", "symbolic_accuracy"
    ][1:]
    assert 0.4 < low < high < 0.6

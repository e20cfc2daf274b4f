"""The adaptors of integrations/ do what the frameworks ask of a method, played from outside."""

import ast
import contextlib
import importlib.util
import inspect
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import types
import warnings
from pathlib import Path

from loading import loaded
from rediscover.estimators import EquationRegressor, NoClearEquation, NoisyData
from rediscover.expressions import parse

import numpy as np
import pandas as pd
import pytest
import sympy
import yaml
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).parents[1] / "integrations"


def installed(name):
    return importlib.util.find_spec(name) is not None


# SRBench: its own test imports the method, looks at what it states, fits a small table and reads the text of the model.


@pytest.fixture(scope="module")
def regressor():
    return loaded(FOLDER / "srbench" / "regressor.py")


@pytest.fixture(scope="module")
def energy():
    """A noisy table with names that are others' in SymPy, and its noise."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform((1, 0.5, 1), (5, 3, 4), (120, 3)), columns=["m_0", "E", "beta"])
    exact = X["m_0"] * X["E"] ** 2 / X["beta"]
    return X, exact.to_numpy() + rng.normal(0, 0.01 * np.sqrt(np.mean(exact**2)), len(X))


def test_srbench_finds_what_its_guide_asks_for(regressor):
    kinds = {"test_params": dict, "max_train_samples": int, "scale_x": bool, "scale_y": bool}
    kinds |= {"pre_train": types.FunctionType}
    assert all(isinstance(value, kinds[name]) for name, value in regressor.eval_kwargs.items())
    assert {"X"} <= {*inspect.signature(regressor.model).parameters}
    assert hasattr(regressor.est, "max_time") and hasattr(regressor.est, "random_state")
    about = yaml.safe_load((FOLDER / "srbench" / "metadata.yml").read_text())
    assert {*about} == {"authors", "email", "name", "description", "url"} and about["name"] == "rediscover"
    assert "python=3.11" in yaml.safe_load((FOLDER / "srbench" / "environment.yml").read_text())["dependencies"]
    subprocess.run(["bash", "-n", str(FOLDER / "srbench" / "install.sh")], check=True)


@contextlib.contextmanager
def _quiet():
    """What the regressor says of noise is no error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoisyData)
        warnings.simplefilter("ignore", NoClearEquation)
        yield


@pytest.fixture(scope="module")
def fitted(regressor, energy):
    """As SRBench fits: seed set, three quarters of the rows, its test's parameters."""
    X, y = energy
    train, _, target, _ = train_test_split(X, y, train_size=0.75, random_state=42)
    est = clone(regressor.est)
    est.random_state = 42
    est.set_params(**regressor.eval_kwargs["test_params"])
    with _quiet():
        return est.fit(train, target)


def test_srbench_reads_the_model_in_the_names_of_the_columns(regressor, energy, fitted):
    X, y = energy
    est = fitted
    assert est.ended_ in ("done", "exact")  # within its time, which is on the clock
    _, test, _, target = train_test_split(X, y, train_size=0.75, random_state=42)
    prediction = est.predict(test)
    assert r2_score(target, prediction) > 0.99
    text = regressor.model(est, X)
    known = {name: sympy.Symbol(name) for name in X}
    read = sympy.parse_expr(text, local_dict=known)
    assert read.free_symbols == {*known.values()}
    values = sympy.lambdify(list(known.values()), read)(*test.to_numpy().T)
    assert values == pytest.approx(prediction, rel=1e-9)
    assert sympy.simplify(read / (known["m_0"] * known["E"] ** 2 / known["beta"])).is_number
    assert regressor.complexity(est) == sum(1 for _ in sympy.preorder_traversal(read))
    json.dumps(est.get_params())
    for each in (*regressor.get_population(est), regressor.get_best_solution(est)):
        assert regressor.model(each, X) == text and np.array_equal(each.predict(test), prediction)
    others = dict(zip(known.values(), sympy.symbols("beta a m_0"), strict=True))  # two are names of other columns
    assert sympy.parse_expr(
        regressor.model(est, X.set_axis([str(other) for other in others.values()], axis=1)),
        local_dict={str(other): other for other in others.values()},
    ) == read.xreplace(others)


def test_srbench_sets_the_time(regressor, energy):
    X, y = energy
    est = clone(regressor.est).set_params(max_time=1.0)
    start = time.monotonic()
    with _quiet():
        est.fit(X, y)
    assert est.time_limit == 0.9 and est.ended_ in ("time", "done", "exact") and time.monotonic() - start < 60


def test_srbench_gets_finite_predictions_where_the_equation_has_none(regressor):
    x = np.linspace(1, 2, 40)[:, None]
    est = clone(regressor.est).set_params(max_evaluations=2000).fit(x, np.log(x[:, 0]))
    values = est.predict(np.array([[-1.0], [1.5]]))
    assert values == pytest.approx([np.log(x).mean(), np.log(1.5)])


# srbf: its runner serves the worker over a socket. Where srbf is not installed, a few lines here speak the same
# messages; then the runner's own part (its start by --connect, its answer to a line that is no JSON) is not checked.

PLAYER = """
import importlib.util, json, socket, sys
spec = importlib.util.spec_from_file_location("worker", sys.argv[3])
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
host, _, port = sys.argv[2].partition(":")
lines = socket.create_connection((host, int(port))).makefile("rw")
for line in lines:
    asked = json.loads(line)
    kind = asked.pop("type")
    if kind == "init":
        options = asked["options"]
        state = worker.load(options)
        said = {"type": "ready", "info": worker.info(state)}
    elif kind == "fit":
        number, x, y = asked.pop("id"), asked.pop("x"), asked.pop("y")
        found = worker.fit(x, y, **asked, options=options, state=state)
        said = {"error": None, "type": "result", "id": number, **found}
    else:
        said = {"type": "closed"}
    lines.write(json.dumps(said) + chr(10))
    lines.flush()
    if kind == "close":
        break
"""


@pytest.fixture
def served(tmp_path):
    """A function that sends a message, or a text as it is, to the served worker and returns its answer."""
    if installed("srbf"):
        runner = Path(importlib.util.find_spec("srbf").submodule_search_locations[0]) / "worker" / "runner.py"
    else:
        runner = tmp_path / "player.py"
        runner.write_text(PLAYER)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        command = [sys.executable, str(runner), "--connect", address, str(FOLDER / "srbf" / "rediscover_worker.py")]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
            try:
                connection, _ = server.accept()
                connection.settimeout(120)
                with connection, connection.makefile("rw") as lines:

                    def ask(message):
                        lines.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
                        lines.flush()
                        return json.loads(lines.readline())

                    yield ask
                assert process.wait(60) == 0
            finally:
                process.kill()


def table(rows=80):
    X = np.random.default_rng(1).uniform(1, 4, (rows, 2))
    return X, X[:, 0] ** 2 / (X[:, 0] + X[:, 1])


def test_srbf_is_served_and_survives_what_is_wrong(served):
    options = {"max_evaluations": 20_000, "time_limit": 60}
    ready = served({"type": "init", "options": options})
    assert ready["type"] == "ready" and ready["info"]["worker"] == "rediscover"
    if installed("srbf"):
        assert served("{no json")["type"] == "error"
        assert served({"type": "dance"})["type"] == "error"
    X, y = table()
    asked = {"type": "fit", "id": 7, "x": X.tolist(), "y": y.tolist(), "x_val": [], "meta": {}}
    bad = served(asked | {"variables": ["x1"]})
    assert (bad["type"], bad["id"], bad["expression"]) == ("result", 7, None) and "2) for 1 variables" in bad["error"]
    ragged = served(asked | {"id": 8, "x": [[1.0, 2.0], [1.0]], "variables": ["x1", "x2"]})
    assert ragged["id"] == 8 and ragged["error"] and "\n" not in ragged["error"]
    missing = served(asked | {"id": 9, "y": [float("nan"), *y[1:].tolist()], "variables": ["x1", "x2"]})
    assert missing["id"] == 9 and "NaN" in missing["error"]
    good = served(asked | {"id": 10, "variables": ["x1", "x2"]})
    assert (good["id"], good["error"]) == (10, None) and good["extra"]["clear"]
    columns = {"x1": X[:, 0], "x2": X[:, 1]}
    assert parse(good["expression"], columns)(columns) == pytest.approx(y)
    assert all(set(parse(text, columns).names) <= {*columns} for text in good["extra"]["front"])
    assert served({"type": "close"}) == {"type": "closed"}


def test_an_option_that_srbf_cannot_pass_on_is_refused_before_the_first_problem():
    worker = loaded(FOLDER / "srbf" / "rediscover_worker.py")
    with pytest.raises(TypeError, match="populations"):
        worker.load({"populations": 3})


# benchopt: a benchmark with this solver is run by its own command. Where benchopt is not installed the file cannot be
# imported; then it is only checked that it states what BaseSolver documents, and nothing of it is run.

OBJECTIVE = """
from benchopt import BaseObjective

class Objective(BaseObjective):
    name = "regression"
    sampling_strategy = "run_once"

    def set_data(self, X, y):
        self.X, self.y = X, y

    def get_objective(self):
        return {"X": self.X, "y": self.y}

    def evaluate_result(self, model):
        return {"value": 1 - model.score(self.X, self.y)}

    def get_one_result(self):
        from sklearn.dummy import DummyRegressor

        return {"model": DummyRegressor().fit(self.X, self.y)}
"""
DATASET = """
import numpy as np
from benchopt import BaseDataset

class Dataset(BaseDataset):
    name = "product"

    def get_data(self):
        X = np.random.default_rng(0).uniform(1, 2, (60, 2))
        return {"X": X, "y": 3 * X[:, 0] * X[:, 1]}
"""


def test_benchopt_finds_the_documented_members_of_a_solver():
    tree = ast.parse((FOLDER / "benchopt" / "equation_regressor.py").read_text())
    (solver,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert solver.name == "Solver" and [base.id for base in solver.bases] == ["BaseSolver"]
    methods = {node.name: [a.arg for a in node.args.args] for node in solver.body if isinstance(node, ast.FunctionDef)}
    assert methods == {
        "skip": ["self", "X", "y"],
        "set_objective": ["self", "X", "y"],
        "run": ["self", "n_iter"],
        "get_result": ["self"],
    }
    stated = {node.targets[0].id: ast.literal_eval(node.value) for node in solver.body if isinstance(node, ast.Assign)}
    assert stated["name"] == "rediscover" and stated["sampling_strategy"] == "run_once"
    assert {*stated["parameters"], *stated["test_config"]} <= {*EquationRegressor().get_params()}
    assert all(isinstance(values, list) for values in stated["parameters"].values())


@pytest.mark.skipif(not installed("benchopt"), reason="benchopt is not installed")
def test_benchopt_runs_the_solver(tmp_path):
    place = tmp_path / "benchmark_regression"
    for folder in ("datasets", "solvers"):
        (place / folder).mkdir(parents=True)
    (place / "objective.py").write_text(OBJECTIVE)
    (place / "datasets" / "product.py").write_text(DATASET)
    shutil.copy(FOLDER / "benchopt" / "equation_regressor.py", place / "solvers")
    asked = ["-s", "rediscover[max_evaluations=2000]", "-d", "product", "--no-plot", "--no-html", "-n", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "benchopt", "run", str(place), *asked, "--output", "found"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = place.rglob("found*.parquet")
    rows = pd.read_parquet(found)
    assert rows["objective_value"].max() < 1e-9 and rows["solver_name"].str.startswith("rediscover").all()

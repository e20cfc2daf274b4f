"""Adaptors of pretrained transformers: how trees are read, what is asked for before anything is loaded, the process.

The packages and their weights are not here. A small package of the same interface stands in for them, whose "model"
is a list of trees: it shows that data, settings and answers travel, and nothing about the transformers.
"""

import hashlib
import pickle
import textwrap

import rediscover as rd
from rediscover import methods
from rediscover.expressions import ExpressionError, parse
from rediscover.methods.pretrained import from_prefix, system
from rediscover.problems import Task

import numpy as np
import pytest

NAMES = ("e2e", "odeformer")


class TestReading:
    @pytest.mark.parametrize(
        "text, expected",
        [
            ("x_1", "v"),
            ("-3", "-3"),
            ("sub,x_0,x_1", "u - v"),
            ("div,x_0,sub,x_1,2.5", "u/(v - 2.5)"),
            ("pow,x_0,-1.5", "u**(-1.5)"),
            ("pow2,add,x_0,x_1", "(u + v)**2"),
            ("pow3,inv,x_0", "(1/u)**3"),
            ("id,arctan,neg,x_0", "atan(-u)"),
            ("mul,1e-3,abs,x_0", "0.001*abs(u)"),
            ("mul,pi,e", "3.141592653589793*2.718281828459045"),
        ],
    )
    def test_worked(self, text, expected):
        values = {"u": np.array([0.5, 2.0]), "v": np.array([1.5, -3.0])}
        read = from_prefix(text, ["u", "v"])
        np.testing.assert_allclose(read(values), parse(expected)(values), rtol=1e-14)

    @pytest.mark.parametrize(
        "text, message",
        [
            ("add,x_0", "add at place 0 lacks an argument"),
            ("x_0,x_1", "2 expressions instead of one"),
            ("x_2", "unknown token 'x_2'"),
            ("rand", "unknown token 'rand'"),
            ("mul,x_0,__import__", "unknown token '__import__'"),
            ("mul,x_0,nan", "nan is no finite number"),
            ("", "unknown token ''"),
        ],
    )
    def test_what_is_no_tree_is_named(self, text, message):
        with pytest.raises(ExpressionError, match=message):
            from_prefix(text, ["u", "v"])

    def test_a_system_has_one_equation_a_state(self):
        with pytest.raises(ExpressionError, match="1 equations for 2 states"):
            system("x_0", ["u", "v"])


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with modules called torch, symbolicregression and odeformer."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "torch.py").write_text(
        textwrap.dedent("""\
        import pickle
        def manual_seed(seed):
            pass
        def load(path, map_location, weights_only=True):
            assert map_location == "cpu" and not weights_only
            with open(path, "rb") as file:
                return pickle.load(file)
        """)
    )
    shared = textwrap.dedent("""\
        import numpy as np
        class Tree:
            def __init__(self, text):
                self.text = text
            def prefix(self):
                return self.text
        """)
    (folder / "symbolicregression").mkdir()
    (folder / "symbolicregression" / "__init__.py").touch()
    (folder / "symbolicregression" / "model.py").write_text(
        shared
        + textwrap.dedent("""\
        class SymbolicTransformerRegressor:
            def __init__(self, model, rescale, max_input_points, n_trees_to_refine):
                assert rescale and getattr(np, "infty") == np.inf
                self.trees = model
                self.trees.append("mul,%d,x_%d" % (max_input_points, n_trees_to_refine))
            def fit(self, X, y):
                self.trees.append("add,%r,mul,0.0,x_0" % float(np.mean(y[X[:, 0] > 0])))
            def retrieve_tree(self, all_trees, with_infos):
                return [{"relabed_predicted_tree": Tree(text)} for text in self.trees]
        """)
    )
    (folder / "odeformer").mkdir()
    (folder / "odeformer" / "__init__.py").touch()
    (folder / "odeformer" / "model.py").write_text(
        shared
        + textwrap.dedent("""\
        class SymbolicTransformerRegressor:
            def __init__(self, model):
                self.model = model
            def set_model_args(self, args):
                self.args = args
            def fit(self, times, trajectories):
                last = "mul,%r,x_0" % (self.args["beam_temperature"] * trajectories.shape[1] * len(times))
                self.predictions = {0: [None, *map(Tree, self.model), Tree(last)]}
        """)
    )
    return folder


@pytest.fixture
def settings(package, tmp_path):
    def make(trees):
        path = tmp_path / "model.pt"
        path.write_bytes(pickle.dumps(trees))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return {"weights": str(path), "sha256": digest, "trust": True, "source": str(package)}

    return make


class TestAvailable:
    @pytest.mark.parametrize("name", NAMES)
    def test_says_what_to_fetch_from_where(self, name):
        reason = methods.method(name).available()
        where = {
            "e2e": "dl.fbaipublicfiles.com/symbolicregression/model1.pt",
            "odeformer": "drive.google.com file 1L_UZ",
        }
        assert where[name] in reason and "sha256" in reason
        assert where[name] in methods.method(name, weights="/nowhere/model.pt").available()

    @pytest.mark.parametrize("name", NAMES)
    def test_one_thing_after_the_other(self, name, settings):
        given = settings([])
        assert methods.method(name, **given).available() is None
        wrong = methods.method(name, **given | {"sha256": "0" * 64}).available()
        assert given["sha256"] in wrong and "0" * 64 in wrong
        assert given["sha256"] in methods.method(name, **given | {"sha256": None}).available()
        untrusted = methods.method(name, **given | {"trust": False})
        assert "pickled module, which can run any code" in untrusted.available()
        assert "cannot import torch" in methods.method(name, **given | {"source": "/nowhere"}).available()
        assert "/nowhere/python" in methods.method(name, **given | {"python": "/nowhere/python"}).available()

    def test_nothing_is_loaded_without_trust(self, settings, tmp_path):
        """A pickle that would leave a file behind, as any pickle may."""

        class Trap:
            def __reduce__(self):
                return open, (str(tmp_path / "sprung"), "w")

        task = Task(("u",), "z", np.arange(4.0)[:, None], np.arange(4.0))
        given = settings(Trap()) | {"trust": False}
        with pytest.raises(RuntimeError, match=r"e2e: .* is a pickled module"):
            methods.method("e2e", **given).fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))
        assert not (tmp_path / "sprung").exists()

    def test_changed_weights_are_noticed(self, settings, tmp_path):
        method = methods.method("e2e", **settings(["x_0"]))
        assert method.available() is None
        (tmp_path / "model.pt").write_bytes(pickle.dumps(["x_0", "x_1"]))
        assert "SHA-256" in method.available()


class TestTransport:
    def test_e2e(self, settings):
        X = np.random.default_rng(0).normal(size=(50, 2))
        task = Task(("u", "v"), "z", X, 2 * X[:, 0] * X[:, 1])
        method = methods.method("e2e", **settings(["mul,2,mul,x_0,x_1", "pow2,x_1"]), n_trees_to_refine=1)
        first, second, third, last = method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))
        assert (first.solution, first.loss, first.complexity) == ({"z": "2*(u*v)"}, pytest.approx(0, abs=1e-30), 5)
        assert second.solution == {"z": "v**2"} and third.solution == {"z": "200*v"}
        assert parse(last.solution["z"]).constants[0] == pytest.approx(np.mean(task.y[X[:, 0] > 0]))

    def test_odeformer(self, settings):
        problem = next(p for p in map(rd.problem, rd.problems("cde")) if len(p.outputs) == 2)
        method = methods.method("odeformer", **settings(["x_1,|,neg,x_0"]), beam_temperature=0.25)
        with pytest.raises(ExpressionError, match="1 equations for 2 states"):
            method.solve(problem)  # the stand-in's last answer has one equation
        one = next(p for p in map(rd.problem, rd.problems("cde")) if len(p.outputs) == 1)
        found = methods.method("odeformer", **settings(["sin,x_0"])).solve(one)
        state = one.outputs[0]
        assert found[0].solution == {state: f"sin({state})"}
        assert parse(found[1].solution[state]).constants == pytest.approx([0.1 * len(one.times())])

    def test_a_package_that_fails_is_quoted(self, settings):
        task = Task(("u",), "z", np.arange(4.0)[:, None], np.arange(4.0))
        method = methods.method("e2e", **settings(3))
        with pytest.raises(RuntimeError, match=r"(?s)e2e: the package failed: .*AttributeError"):
            method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))

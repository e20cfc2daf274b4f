"""Adaptors of pretrained transformers: how trees are read, what is asked for before anything is loaded, the process.

The packages and their weights are not here. A small package of the same interface stands in for them, whose "model"
is a list of answers: it shows that data, settings and answers travel, and nothing about the transformers.
"""

import hashlib
import json
import pickle
import textwrap

import rediscover as rd
from rediscover import methods
from rediscover.expressions import ExpressionError, parse
from rediscover.methods.pretrained import from_infix, from_prefix, system
from rediscover.problems import Task

import numpy as np
import pytest

NAMES = ("e2e", "nesymres", "odeformer")
WORDS = {"word2id": {"F": 2, "c": 3, "x_1": 4}, "id2word": {"2": "F", "3": "c", "4": "x_1"}, "una_ops": ["sin"]}
WORDS |= {"bin_ops": ["add"], "total_variables": ["x_1", "x_2", "x_3"], "total_coefficients": ["cm_0"]}
WORDS |= {"rewrite_functions": []}


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

    @pytest.mark.parametrize(
        "text, expected",
        [
            ("((x_1)*(sin(x_2)))", "u*sin(v)"),
            ("0.5*x_1**2*ln(x_2) - 1.0e-3*Abs(x_2)", "0.5*u**2*log(v) - 0.001*abs(v)"),
            ("(asin(x_1))/(coth(x_2))", "asin(u)*tanh(v)"),
            ("x_2**x_3*exp(-x_3)", "v*exp(-1)"),
        ],
    )
    def test_infix_worked(self, text, expected):
        values = {"u": np.array([0.5, 0.25]), "v": np.array([1.5, 3.0])}
        np.testing.assert_allclose(from_infix(text, ["u", "v"])(values), parse(expected)(values), rtol=1e-14)

    def test_inputs_are_renamed_all_at_once(self):
        assert str(from_infix("x_1 - 2*x_2/x_3", ["x_3", "x_1", "x_2"])) == "x_3 - 2*x_1/x_2"

    @pytest.mark.parametrize(
        "text, message",
        [
            ("zoo", "'zoo' .*zoo is no number"),
            ("1.2*I*x_1", r"'1.2\*I\*x_1' .*unknown variable 'I'"),
            ("c0*x_1", r"'c0\*x_1' .*unknown variable 'c0'"),
            ("__import__('os')", "no function '__import__'"),
            ("(x_1)+(", "the text ends"),
        ],
    )
    def test_infix_that_is_no_expression_is_named(self, text, message):
        with pytest.raises(ExpressionError, match=message):
            from_infix(text, ["u", "v"])

    def test_a_system_has_one_equation_a_state(self):
        with pytest.raises(ExpressionError, match="1 equations for 2 states"):
            system("x_0", ["u", "v"])


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with modules called torch, symbolicregression, nesymres with omegaconf, and odeformer."""
    folder = tmp_path_factory.mktemp("package") / "src"
    folder.mkdir()
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
    for part in ("nesymres", "nesymres/architectures"):
        (folder / part).mkdir()
        (folder / part / "__init__.py").touch()
    (folder / "omegaconf.py").write_text(
        textwrap.dedent("""\
        import json, types
        class OmegaConf:
            @staticmethod
            def load(path):
                with open(path) as file:
                    return types.SimpleNamespace(**json.load(file))
        """)
    )
    (folder / "nesymres" / "dclasses.py").write_text(
        textwrap.dedent("""\
        from dataclasses import dataclass
        @dataclass
        class BFGSParams:
            activated: bool
            n_restarts: int
            add_coefficients_if_not_existing: bool
            normalization_o: bool
            idx_remove: bool
            normalization_type: str
            stop_time: int
        @dataclass
        class FitParams:
            word2id: dict
            id2word: dict
            total_coefficients: list
            total_variables: list
            rewrite_functions: list
            una_ops: list
            bin_ops: list
            bfgs: BFGSParams
            beam_size: int
        """)
    )
    (folder / "nesymres" / "architectures" / "model.py").write_text(
        textwrap.dedent("""\
        import pickle
        class Model:
            @classmethod
            def load_from_checkpoint(cls, path, map_location, cfg):
                assert map_location == "cpu" and cfg == {"dim_input": 4}
                model = cls()
                with open(path, "rb") as file:
                    model.answers = pickle.load(file)
                return model
            def eval(self):
                self.ready = True
            def fitfunc(self, X, y, cfg_params):
                assert self.ready and X.dtype == y.dtype == "float32" and X.shape[:1] == y.shape
                assert cfg_params.id2word == {2: "F", 3: "c", 4: "x_1"} and cfg_params.word2id["F"] == 2
                bfgs = cfg_params.bfgs
                assert bfgs.normalization_type == "MSE" and bfgs.stop_time == 1e9 and bfgs.idx_remove
                texts, losses = self.answers
                if texts:
                    texts.append("%d*x_1 + %d" % (cfg_params.beam_size, bfgs.n_restarts))
                    losses = losses if losses != losses else losses + [float(abs(X).max())]
                    texts.append("%r + x_3" % float(y.sum()))
                    losses = losses if losses != losses else losses + [float(len(y))]
                return {"all_bfgs_preds": texts, "all_bfgs_loss": losses}
        """)
    )
    given = folder.parent / "jupyter" / "100M"
    given.mkdir(parents=True)
    (given / "config.yaml").write_text(json.dumps({"architecture": {"dim_input": 4}}))
    (given / "eq_setting.json").write_text(json.dumps(WORDS))
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
            "nesymres": "huggingface.co/TommasoBendinelli/NeuralSymbolicRegressionThatScales, file 100M.ckpt",
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
        assert "is a pickle, which can run any code" in untrusted.available()
        assert "cannot import torch" in methods.method(name, **given | {"source": "/nowhere"}).available()
        assert "/nowhere/python" in methods.method(name, **given | {"python": "/nowhere/python"}).available()

    def test_nesymres_needs_the_settings_of_the_release(self, settings, package, tmp_path):
        given = settings([])
        beside = methods.method("nesymres", **given, configuration=str(package.parent / "jupyter" / "100M"))
        assert beside.available() is None
        (tmp_path / "config.yaml").touch()
        reason = methods.method("nesymres", **given, configuration=str(tmp_path)).available()
        assert reason == f"no eq_setting.json in {tmp_path}: name its folder as configuration"

    @pytest.mark.parametrize("name", ["e2e", "nesymres"])
    def test_nothing_is_loaded_without_trust(self, name, settings, tmp_path):
        """A pickle that would leave a file behind, as any pickle may."""

        class Trap:
            def __reduce__(self):
                return open, (str(tmp_path / "sprung"), "w")

        task = Task(("u",), "z", np.arange(4.0)[:, None], np.arange(4.0))
        given = settings(Trap()) | {"trust": False}
        with pytest.raises(RuntimeError, match=rf"{name}: .* is a pickle, which"):
            methods.method(name, **given).fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))
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

    def test_nesymres(self, settings):
        """Sorted by the package's loss; a row with an input of 200 is left out of inputs and target."""
        X = np.random.default_rng(0).uniform(-5, 5, size=(20, 2))
        X[3, 1], X[:, 0] = 200, 0
        task = Task(("u", "v"), "z", X, np.arange(20.0))
        answers = ["1.5*x_1*sin(x_2)", "nan", "x_2*I", "exp(x_2)"], [0.25, np.nan, 1 + 1j, 0.125]
        method = methods.method("nesymres", **settings(answers), n_restarts=7)
        found = method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))
        texts = ["exp(v)", "1.5*1*sin(v)", "32*1 + 7", "187.0 + 1"]
        assert [candidate.solution["z"] for candidate in found] == texts
        largest = np.abs(np.delete(X, 3, axis=0)).max()
        assert [candidate.loss for candidate in found] == pytest.approx([0.125, 0.25, largest, 19], rel=1e-6)
        assert all(candidate.notes == {"rows_too_large": 1} for candidate in found)
        assert found[0].complexity == parse(texts[0]).size

    @pytest.mark.parametrize("answers", [([], np.nan), (["zoo"], np.nan)])
    def test_nesymres_without_a_loss_has_no_candidate(self, answers, settings):
        task = Task(("u",), "z", np.arange(4.0)[:, None], np.arange(4.0))
        method = methods.method("nesymres", **settings(answers))
        assert method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0)) == []

    def test_nesymres_names_a_text_that_cannot_be_read(self, settings):
        task = Task(("u",), "z", np.arange(4.0)[:, None], np.arange(4.0))
        method = methods.method("nesymres", **settings((["c0*x_1"], [0.5])))
        with pytest.raises(ExpressionError, match=r"'c0\*x_1' .*unknown variable 'c0'"):
            method.fit(task, budget=methods.Budget(), rng=np.random.default_rng(0))

    def test_nesymres_says_what_it_cannot_treat(self):
        """Without weights: they could not help."""
        four = Task(("a", "b", "c", "d"), "z", np.ones((4, 4)), np.arange(4.0))
        with pytest.raises(methods.Unsupported, match="at most 3 inputs, z has 4: leave some out"):
            methods.method("nesymres").fit(four, budget=methods.Budget(), rng=np.random.default_rng(0))
        far = Task(("u",), "z", np.array([[1.0], [200.0], [300.0]]), np.arange(3.0))
        with pytest.raises(methods.Unsupported, match="two rows with inputs below 200, z has fewer"):
            methods.method("nesymres").fit(far, budget=methods.Budget(), rng=np.random.default_rng(0))

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

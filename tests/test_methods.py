"""Contracts that every method file must keep, found through the registry, and what each method of ours
promises beyond."""

import importlib.metadata
import json
import pickle
import types
from pathlib import Path

from rediscover import methods, report
from rediscover.expressions import parse
from rediscover.methods import Budget, presets, pysr
from rediscover.methods.gplearn import write
from rediscover.methods.polynomial import monomials
from rediscover.methods.sklearn_adaptor import from_sklearn
from rediscover.methods.tables import Tabular
from rediscover.problems import LevelSet, Passage, Regression, Split, Task, Transitions
from rediscover.system.code_version import code_version, reached

import numpy as np
import pandas as pd
import pytest
import yaml

REGISTRY = methods.registry()
BUDGET = Budget(evaluations=500)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_method_travels_to_a_worker(name):
    method = REGISTRY[name]()
    again = pickle.loads(pickle.dumps(method))
    assert type(again) is type(method) and again.settings == method.settings


def test_the_registry_holds_the_methods_of_this_folder_in_a_fixed_order():
    ours = {"gplearn", "mean", "operon", "oracle", "polynomial", "power_law", "pysr", "zero", "operon_log_scaled"}
    assert ours <= set(REGISTRY)
    assert list(REGISTRY) == sorted(REGISTRY)


@pytest.mark.parametrize("name", REGISTRY)
class TestEveryMethod:
    def test_says_what_it_is(self, name):
        cls = REGISTRY[name]
        assert cls.name == name and cls.reference and cls.accepts
        assert cls.__doc__ and not cls.__doc__.startswith(cls.__name__ + "(")

    def test_settings_survive_json_and_make_the_same_method(self, name):
        settings = methods.method(name).settings
        assert methods.method(name, **json.loads(json.dumps(settings, allow_nan=False))) == methods.method(name)

    def test_it_reaches_a_worker_process(self, name):
        assert pickle.loads(pickle.dumps(methods.method(name))) == methods.method(name)

    def test_unknown_setting_is_named(self, name):
        with pytest.raises(TypeError, match=f"{name}: no setting 'colour'"):
            methods.method(name, colour="red")

    def test_version_is_text_where_available(self, name):
        method = methods.method(name)
        reason = method.available()
        assert reason is None or len(reason) > 10
        if reason is None:
            assert method.version == methods.method(name).version != ""

    def test_a_kind_outside_accepts_is_refused(self, name):
        foreign = next((k for k in (Passage, Transitions, Regression) if k not in REGISTRY[name].accepts), None)
        if foreign is None:
            pytest.skip(f"{name} accepts every kind")
        with pytest.raises(methods.Unsupported, match=f"{name} does not treat problems of the kind {foreign.kind}"):
            methods.method(name).solve(foreign(id="test/foreign", truth={"z": "1"}))


class TestControls:
    @pytest.mark.parametrize("kind", REGISTRY["oracle"].accepts)
    def test_oracle_returns_the_truth_of_every_kind(self, kind):
        problem = kind(id="test/any", truth={"a": "x + 1", "b": "x & y"})
        assert methods.method("oracle").solve(problem)[0].solution == problem.truth

    def test_oracle_has_no_answer_where_no_law_is_known(self):
        with pytest.raises(methods.Unsupported, match="of this problem none is known"):
            methods.method("oracle").solve(REGISTRY["oracle"].accepts[0](id="test/any", truth={"z": ""}))

    def test_mean_and_zero(self):
        task = Task(("x",), "z", np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, np.nan]))
        mean, zero = (methods.method(n).fit(task, budget=BUDGET, rng=None)[0] for n in ("mean", "zero"))
        assert (mean.solution, mean.loss, mean.notes) == ({"z": "1.5"}, 0.25, {"rows_dropped": 1})
        assert (zero.solution, zero.loss) == ({"z": "0.0"}, 2.5)

    def test_mean_of_a_level_set_is_a_plane(self):
        class Ball(LevelSet):
            def tasks(self, seed=0):
                return [Task(("x", "y"), "z", np.zeros((2, 2)), np.array([1.0, 4.0]))]

        ball = Ball(id="test/ball", truth={"F": "x**2 + y**2 + z**2 - 1"}, inputs=("x", "y", "z"))
        assert methods.method("mean").solve(ball)[0].solution == {"z": "2.5"}


def fit(name, X, y, names=("x", "y0"), validation=None, seed=0, budget=BUDGET, **settings):
    task = Task(names, "z", np.asarray(X, dtype=float), np.asarray(y, dtype=float), validation)
    return methods.method(name, **settings).fit(task, budget=budget, rng=np.random.default_rng(seed))


class TestPolynomial:
    X = np.random.default_rng(5).uniform(-2, 3, (60, 2))

    def test_finds_the_terms_and_the_coefficients(self):
        y = 3 - 0.5 * self.X[:, 0] ** 3 * self.X[:, 1] + 7 * self.X[:, 1] ** 2
        best = parse(fit("polynomial", self.X, y)[0].solution["z"])
        assert sorted(np.abs(best.constants)) == pytest.approx([0.5, 3, 7])
        assert best({"x": 2.0, "y0": -1.0}) == pytest.approx(3 + 4 + 7)

    def test_front_has_one_model_per_number_of_terms(self):
        front = fit("polynomial", self.X, np.sin(self.X[:, 0]) + self.X[:, 1], max_active=6)
        by_size = sorted(front, key=lambda c: c.complexity)
        assert [c.complexity for c in by_size] == [1, 2, 3, 4, 5, 6]
        losses = [c.loss for c in by_size]
        assert losses == sorted(losses, reverse=True)

    def test_validation_rows_decide_the_order(self):
        y = self.X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=60)
        V = np.random.default_rng(2).uniform(-2, 3, (50, 2))
        front = fit("polynomial", self.X, y, validation=Split(V, V[:, 0]))
        errors = [np.mean((parse(c.solution["z"])({"x": V[:, 0], "y0": V[:, 1]}) - V[:, 0]) ** 2) for c in front]
        assert errors == sorted(errors)

    def test_degree_falls_with_the_number_of_inputs(self):
        assert [monomials(n, 4, 70).sum(axis=1).max() for n in (1, 3, 4, 5, 6, 10, 11, 200)] == [4, 4, 4, 3, 2, 2, 1, 1]

    def test_more_terms_than_rows(self):
        front = fit("polynomial", self.X[:5], self.X[:5, 0])
        assert all(c.complexity <= 5 for c in front)
        assert front[0].complexity == 1


class TestPowerLaw:
    def test_exact_law_in_si_units(self):
        rng = np.random.default_rng(0)
        m, r = 10 ** rng.uniform(20, 26, 100), 10 ** rng.uniform(5, 9, 100)
        best = fit("power_law", np.column_stack([m, r]), 6.674e-11 * m / r**2, ("m", "r"))[0]
        assert best.solution["z"].endswith("*m/r**2")
        assert parse(best.solution["z"]).constants[0] == pytest.approx(6.674e-11, rel=1e-10)

    def test_half_integers_and_the_raw_fit_beside_them(self):
        x = np.linspace(1, 4, 30)[:, None]
        snapped, raw = fit("power_law", x, 2 * x[:, 0] ** 1.5, ("x",))
        assert parse(snapped.solution["z"]) == parse("2.0*x**1.5")
        assert parse(raw.solution["z"]).constants == pytest.approx((2, 1.5))
        first = fit("power_law", x, 2 * x[:, 0] ** 1.3, ("x",))[0]
        assert parse(first.solution["z"]).constants == pytest.approx((2, 1.3))

    @pytest.mark.parametrize(
        "law", ["-3.0*x*y0", "2.0*x**2*y0", "x**2*y0**2", "-x/y0", "x**3/y0**2", "x*sqrt(abs(y0))"]
    )
    def test_signs(self, law):
        X = np.random.default_rng(1).uniform(0.5, 2, (80, 2)) * np.random.default_rng(2).choice([-1, 1], (80, 2))
        y = parse(law)({"x": X[:, 0], "y0": X[:, 1]})
        best = parse(fit("power_law", X, y)[0].solution["z"])
        assert best({"x": X[:, 0], "y0": X[:, 1]}) == pytest.approx(y, rel=1e-9)

    def test_zeros_and_signs_without_a_law_give_a_defined_answer(self):
        X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [4.0, 5.0]])
        front = fit("power_law", X, [1.0, -1.0, 2.0, -3.0, 1.0])
        assert front[0].notes["rows_zero"] == 2 and front[0].notes["sign_agreement"] == pytest.approx(2 / 3)
        assert all(np.isfinite(parse(c.solution["z"]).constants).all() for c in front)

    def test_nothing_but_zeros_is_an_error(self):
        with pytest.raises(ValueError, match="every row has a zero"):
            fit("power_law", [[0.0, 1.0], [0.0, 2.0]], [1.0, 2.0])


class TestGplearn:
    X = np.column_stack([np.linspace(-2, 2, 41), np.linspace(0.5, 4, 41)])

    def test_text_is_the_program_protected_or_not(self):
        from gplearn.genetic import SymbolicRegressor

        y = np.log(self.X[:, 1]) / self.X[:, 0].clip(0.2) + np.sqrt(self.X[:, 1])
        seen = set()
        for seed in range(6):
            est = SymbolicRegressor(
                population_size=60,
                generations=3,
                function_set=("add", "sub", "mul", "div", "sqrt", "log", "inv", "neg", "abs", "max", "min", "tan"),
                random_state=seed,
            ).fit(self.X, y)
            for program in est._programs[-1]:
                text, protected = write(program.program, self.X, ("x", "y0"))
                got = parse(text, names=("x", "y0"))({"x": self.X[:, 0], "y0": self.X[:, 1]})
                np.testing.assert_allclose(
                    np.broadcast_to(got, 41), program.execute(self.X), rtol=1e-9, atol=1e-9, err_msg=text
                )
                seen.update(protected)
        assert {"div", "log", "sqrt", "inv"} <= seen

    def test_best_candidate_predicts_what_gplearn_predicts(self):
        from gplearn.functions import _function_map as functions

        program = [functions["div"], 1, functions["sub"], 0, 0.5]
        X = np.array([[2.0, 3.0], [0.5, 3.0]])
        assert write(program, X[:1], ("a", "b")) == ("(b/(a - 0.5))", [])
        text, protected = write(program, X, ("a", "b"))
        assert protected == ["div"]
        assert parse(text)({"a": X[:, 0], "b": X[:, 1]}).tolist() == [2.0, 1.0]

    def test_unknown_function_is_named(self):
        with pytest.raises(ValueError, match="gplearn: unknown function 'bessel'"):
            methods.method("gplearn", function_set="add,bessel")


class TestOperon:
    X = np.random.default_rng(3).uniform(0.5, 3, (120, 2))

    def test_every_text_of_the_front_is_the_tree(self):
        from rediscover.methods.operon import SYMBOLS, as_text

        from pyoperon.sklearn import SymbolicRegressor

        y = np.exp(-self.X[:, 0]) * self.X[:, 1] ** 2 + np.tanh(self.X[:, 1] - self.X[:, 0])
        compared = 0
        for seed, symbols in enumerate([SYMBOLS[:8], SYMBOLS[8:16], SYMBOLS[16:], SYMBOLS]):
            est = SymbolicRegressor(
                allowed_symbols=",".join([*symbols, "add", "mul", "constant", "variable"]),
                objectives=["r2", "length"],
                max_evaluations=3000,
                population_size=150,
                pool_size=150,
                random_state=seed,
            ).fit(self.X, y)
            for model in est.pareto_front_:
                text = as_text(est, model["tree"], ("x", "y0"))
                got = parse(text, names=("x", "y0"))({"x": self.X[:, 0], "y0": self.X[:, 1]})
                single = est.evaluate_model(model["tree"], self.X)
                np.testing.assert_allclose(np.broadcast_to(got, 120), single, rtol=1e-4, atol=1e-4, err_msg=text)
                compared += 1
        assert compared >= 8

    @pytest.mark.parametrize(
        "symbol",
        "add sub mul div aq pow powabs abs atan ceil cos cosh exp floor log logabs log1p sin sinh "
        "sqrt tan tanh".split(),
    )
    def test_every_symbol_is_written_as_it_is_evaluated(self, symbol):
        from rediscover.methods.operon import SYMBOLS

        import pyoperon as op
        from pyoperon.sklearn import _KNOWN_SYMBOLS

        assert symbol in SYMBOLS
        kind = op.Node(_KNOWN_SYMBOLS[symbol])
        tree = op.Tree([*(op.Node.Constant(c) for c in (1.25, 2.5)[-kind.Arity :]), kind]).UpdateNodes()
        data = op.Dataset(np.ones((1, 1), order="F"))
        value = float(op.Evaluate(op.DispatchTable(), tree, data, op.Range(0, 1))[0])
        assert parse(op.InfixFormatter.Format(tree, {}, 9))({}) == pytest.approx(value, rel=1e-6)

    @pytest.mark.parametrize("constant", [1.5e-33, -6.25e-12, 3.0e30])
    def test_constants_keep_their_digits_at_any_scale(self, constant):
        from rediscover.methods.operon import as_text

        import pyoperon as op
        from pyoperon.sklearn import SymbolicRegressor

        est = SymbolicRegressor(max_evaluations=200, population_size=100, random_state=0)
        est.fit(self.X, self.X[:, 0])
        tree = op.Tree([op.Node.Constant(constant)]).UpdateNodes()
        with pytest.warns(UserWarning, match="no variables"):
            text = as_text(est, tree, ("x", "y0"))
        assert float(parse(text)({})) == pytest.approx(constant, rel=1e-6, abs=0)

    def test_max_rows_is_a_seeded_subsample_that_is_noted(self):
        y = self.X[:, 0] * self.X[:, 1]
        first, again, other = (fit("operon", self.X, y, max_rows=30, seed=s)[0] for s in (1, 1, 2))
        assert first == again != other
        assert first.notes["rows_used"] == 30

    @pytest.mark.parametrize(
        "settings, message", [({"symbols": "add,fmin"}, "unknown symbol 'fmin'"), ({"max_rows": 0}, "max_rows")]
    )
    def test_bad_settings(self, settings, message):
        with pytest.raises(ValueError, match=message):
            methods.method("operon", **settings)


class TestPresets:
    def test_a_preset_is_its_method_with_other_defaults(self):
        rows = yaml.safe_load(Path(presets.__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
        for name, row in rows.items():
            preset, plain = methods.method(name), methods.method(row["method"], **row["settings"])
            assert preset.settings == plain.settings != methods.method(row["method"]).settings
            assert isinstance(preset, type(plain)) and preset.reference == row["reference"] != plain.reference
            assert pickle.loads(pickle.dumps(preset)) == preset  # as it travels to workers

    def test_a_setting_that_the_method_lacks_is_refused(self):
        with pytest.raises(TypeError, match=r"mine: power_law has no setting 'depth' \(settings: "):
            presets.preset("mine", "power_law", {"depth": 3}, "", "")


class TestPysr:
    def test_arguments_carry_settings_budget_and_determinism(self):
        arguments = methods.method("pysr", maxsize=40, unary_operators="sin,log").arguments(Budget(500), 7, "out")
        assert arguments["maxsize"] == 40 and arguments["unary_operators"] == ["sin", "log"]
        assert arguments["max_evals"] == 500 and arguments["random_state"] == 7
        assert arguments["deterministic"] and arguments["parallelism"] == "serial"
        assert arguments["nested_constraints"] is None
        assert methods.method("pysr").arguments(Budget(), 0, "")["nested_constraints"] == {"tan": {"tan": 1}}
        assert methods.method("pysr", unary_operators="").arguments(Budget(), 0, "")["unary_operators"] == []

    def test_arguments_are_those_of_the_newest_version(self):
        interface = yaml.safe_load((Path(__file__).parent / "data/pysr_interface.yaml").read_text(encoding="utf-8"))
        asked = methods.method("pysr").arguments(Budget(), 0, "out")
        assert set(asked) <= set(interface["__init__"]) and {"X", "y", "variable_names"} <= set(interface["fit"])
        assert not set(interface["never_together"]) <= set(asked)

    def test_equations_become_candidates_with_the_chosen_one_first(self):
        frame = pd.DataFrame(
            {
                "complexity": [1, 5, 9],
                "loss": [2.0, 0.1, 0.09],
                "equation": ["x10", "(x0 * 2.5) + 1.0", "exp(x1 ^ 2.0) - x0"],
            }
        )
        inputs = ("E", "x1", *"abcdefgh", "S")
        front = pysr.candidates(frame.to_dict("records"), inputs, "z", best=5)
        assert [c.solution["z"] for c in front] == ["(E * 2.5) + 1.0", "exp(x1 ^ 2.0) - E", "S"]
        assert [(c.complexity, c.loss) for c in front] == [(5, 0.1), (9, 0.09), (1, 2.0)]
        with pytest.raises(ValueError, match="x10, but there are 2 inputs"):
            pysr.candidates(frame.to_dict("records"), ("a", "b"), "z")

    def test_unavailable_says_what_to_install_and_never_imports(self, monkeypatch):
        import sys

        monkeypatch.setattr(pysr, "find_spec", lambda name: None)
        assert "pip install '.[pysr]' in the folder of the clone" in methods.method("pysr").available()
        monkeypatch.setattr(pysr, "find_spec", lambda name: object())
        monkeypatch.setenv("PYTHON_JULIACALL_EXE", "/no/such/julia")
        assert "finds no Julia" in methods.method("pysr").available()
        monkeypatch.setenv("PYTHON_JULIACALL_EXE", sys.executable)
        assert methods.method("pysr").available() is None
        assert "juliacall" not in sys.modules


class TestLogScaled:
    @pytest.mark.parametrize("name", ["operon", "gplearn", "polynomial"])
    def test_is_the_inner_method_in_other_units(self, name):
        rng = np.random.default_rng(4)
        X = 10 ** rng.uniform(-1, 1, (80, 2)) * [1e-34, 1e26] * rng.choice([-1, 1], (80, 2))
        X[0, 0] = 0.0
        y = X[:, 0] * X[:, 1] * 1e-12 + 1e-20
        wrapped = fit(f"{name}_log_scaled", X, y)
        unit = [float(f"{np.exp(np.mean(np.log(np.abs(c[c != 0])))):.6g}") for c in (*X.T, y)]
        inner = fit(name, X / unit[:2], y / unit[2])
        assert len(wrapped) == len(inner)
        for ours, theirs in zip(wrapped, inner, strict=True):
            here = parse(ours.solution["z"], names=("x", "y0"))({"x": X[:, 0], "y0": X[:, 1]})
            there = parse(theirs.solution["z"])({"x": X[:, 0] / unit[0], "y0": X[:, 1] / unit[1]})
            np.testing.assert_allclose(here, there * unit[2], rtol=1e-12)

    def test_has_the_settings_of_the_inner_method(self):
        assert (
            methods.method("operon_log_scaled", population_size=50).settings.keys()
            == methods.method("operon").settings.keys()
        )

    def test_validation_rows_stay_in_original_units(self):
        X = np.linspace(1, 2, 40)[:, None] * 1e-20
        front = fit("polynomial_log_scaled", X, 3e20 * X[:, 0], ("x",), Split(X, 3e20 * X[:, 0]))
        assert parse(front[0].solution["z"])({"x": 5e-20}) == pytest.approx(15)


class TestAdaptor:
    def line(self):
        from sklearn.linear_model import LinearRegression

        def text(fitted, X):
            terms = [f"{c!r}*{name}" for c, name in zip(fitted.coef_.tolist(), X.columns, strict=True)]
            return " + ".join([repr(float(fitted.intercept_)), *terms])

        return from_sklearn(LinearRegression(), text, "line", reference="Gauss (1809)")

    def test_a_scikit_learn_regressor(self):
        line = self.line()
        X = np.random.default_rng(0).normal(size=(30, 2))
        task = Task(("u", "v"), "z", X, 2 * X[:, 0] - 3 * X[:, 1] + 1)
        best = line().fit(task, budget=BUDGET, rng=np.random.default_rng(0))[0]
        assert parse(best.solution["z"], names=("u", "v"))({"u": 2.0, "v": 1.0}) == pytest.approx(2)
        assert (line.name, line.reference, line.__module__) == ("line", "Gauss (1809)", __name__)
        assert issubclass(line, Tabular) and best.loss < 1e-20

    def test_an_srbench_module(self):
        class Halves:
            """A regressor with SRBench's interface: it draws its answer with random_state."""

            random_state = 0

            def get_params(self):
                return {"random_state": self.random_state}

            def set_params(self, random_state):
                self.random_state = random_state

            def fit(self, X, y):
                self.answer = np.random.default_rng(self.random_state).normal()

        def model(est, X=None):
            return f"{est.answer!r}*{X.columns[1]}"

        module = types.SimpleNamespace(est=Halves(), model=model)
        halves = from_sklearn(module.est, module.model, "halves")()
        task = Task(("u", "v"), "z", np.ones((3, 2)), np.arange(3.0))
        draws = [halves.fit(task, budget=BUDGET, rng=np.random.default_rng(s))[0].solution["z"] for s in (1, 1, 2)]
        assert draws[0] == draws[1] != draws[2] and draws[0].endswith("*v")
        assert not hasattr(module.est, "answer")  # the given object stays unfitted

    def test_not_a_regressor(self):
        with pytest.raises(TypeError, match="odd: int has no fit"):
            from_sklearn(3, str, "odd")


def test_version_follows_the_base_class_and_the_package(monkeypatch):
    version = methods.method("operon").version
    assert importlib.metadata.version("pyoperon") in version
    assert version.split("-")[0] == code_version("rediscover.methods.operon")
    assert "rediscover.methods.tables" in reached("rediscover.methods.operon")


class TestCatalogue:
    def test_every_printed_method_is_listed_once(self):
        import importlib.resources

        import yaml

        folder = importlib.resources.files("rediscover") / "studies"
        entries = yaml.safe_load((folder / "methods.yaml").read_text(encoding="utf-8"))
        listed = [(study, label) for e in entries for study, labels in e["papers"].items() for label in labels]
        assert len(listed) == len(set(listed))
        tables = sorted(p for p in Path(folder).glob("*/published/*.csv") if "_table" in p.name)
        printed = set()
        for path in tables:
            with path.open(encoding="utf-8") as file:
                frame = pd.read_csv(file, dtype=str, keep_default_na=False)
            for column in {"method", "model"} & set(frame):
                printed |= {(path.name.split("_")[0], label) for label in frame[column]}
        not_methods = {("srsd", "target"), ("scitext2eq", "Overall")}
        assert set(listed) == printed - not_methods

    def test_status_follows_the_registry(self):
        table = report.catalogue().set_index("method")
        assert table.loc["Operon", ["status", "ours", "reason"]].tolist() == ["runs here", "operon", ""]
        assert table.loc["End-to-end transformer", "status"] == "runs with more installed"
        for name in ("LLM-SR", "LaSR", "SGA", "OpenEvolve", "prompted language model (text to equation)"):
            assert table.loc[name, "status"] == "runs with an endpoint", name
        assert (table["reason"][table["status"] != "runs here"].str.len() > 10).all()


@pytest.mark.parametrize(
    "law",
    [
        "2*x**1.5",
        "3.0 + 0.5*log(x)",
        "2*exp(-0.7*x)*x**2",
        "log(3.0/x**2 - 0.5/t**2)",
        "1/(1.0 + 2*x)",
        "4 + 2*exp(1.5*x)",
    ],
)
def test_classic_curves_are_found(law):
    X = np.random.default_rng(0).uniform([1, 2], [2, 3], (60, 2))
    values = {"x": X[:, 0], "t": X[:, 1]}
    y = parse(law, ["x", "t"])(values)
    found = fit("transformed_linear", X, y, ("x", "t"), budget=Budget(evaluations=100_000))
    assert len(found) > 20 and 1000 < found[0].evaluations < 100_000
    best = parse(found[0].solution["z"], ["x", "t"])
    assert np.sqrt(np.mean((best(values) - y) ** 2)) < 1e-3 * np.std(y)


def test_classic_curves_of_what_has_no_logarithm():
    X = np.array([[0.0], [1.0], [2.0], [-3.0], [4.0]])
    best = fit("transformed_linear", X, X[:, 0] ** 2 - 1, ("x",))[0]
    assert best.loss < 1e-20 and "log" not in best.solution["z"]

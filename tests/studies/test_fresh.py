"""Fresh problems: the same for a name, others for another, and none with an input or a summand without effect."""

import hashlib

import rediscover as rd
from rediscover import params
from rediscover.cli import main
from rediscover.expressions import parse
from rediscover.expressions.trees import NAMED, fold
from rediscover.problems import facts, fresh
from rediscover.problems.srbench import Drawn
from rediscover.studies.outside import fresh as study
from rediscover.studies.outside import sample, scores
from rediscover.system.paths import root
from rediscover.system.studies import rules

import numpy as np
import pytest

FEW = 12  # of a draw
IDENTITIES = [
    {"E": 1, "m": -1, "c_": -2},
    {"P": 1, "U": -1, "I": -1},
    {"E": 1, "kB_": -1, "T": -1},
    {"q": 1, "C": -1, "U": -1},
    {"U": 1, "R": -1, "I": -1},
    {"F": 1, "k": -1, "l": -1},
    {"h_": 1, "w": 1, "E": -1},
    {"sigma_": 1, "T": 4, "A": 1, "P": -1},
    {"eps0_": 1, "A": 1, "l": -1, "C": -1},
    {"G_": 1, "m": 2, "l": -2, "F": -1},
    {"B": 1, "q": 1, "v": 1, "F": -1},
    {"B": 1, "e_": 1, "me_": -1, "w": -1},
    {"eta": 1, "A": 1, "v": 1, "l": -1, "F": -1},
    {"rho": 1, "g_": 1, "l": 1, "p": -1},
    {"L": 1, "w": 1, "E": -1},
    {"D": 1, "t": 1, "A": -1},
    {"p": 1, "V": 1, "E": -1},
    {"m": 1, "a": 1, "F": -1},
]


def box(names, low=1.0, high=2.0):
    return {name: ["uniform", low, high] for name in names}


def made(formula, names="xy", **ends):
    return Drawn(id="fresh/test/0", truth={"f": formula}, inputs=tuple(names), samplers=box(names, **ends))


def test_listed_draws_are_made_again():
    for about in fresh.draws():
        assert fresh.entry(about["name"], about["method"], about["size"]) == about
    assert len({about["name"] for about in fresh.draws()}) == len(fresh.draws())
    assert rd.problems("fresh") == [f"fresh/{about['name']}/{n}" for about in fresh.draws() for n in range(200)]


def test_the_seed_is_the_digest_of_the_name():
    assert fresh.seed_of("mine") == int.from_bytes(hashlib.sha256(b"mine").digest()[:8], "big")
    with pytest.raises(ValueError, match="no name of a draw"):
        fresh.seed_of("../mine")


def test_another_name_is_another_draw_and_a_problem_hangs_on_no_other():
    one, other = (fresh.draw(name, FEW) for name in ("test-one", "test-other"))
    assert not {p.truth["f"] for p in one} & {p.truth["f"] for p in other}
    fresh.load.cache_clear()
    alone = rd.problem(f"fresh/test-one/{FEW - 1}")
    assert alone is not one[-1] and fresh.text([alone]) == fresh.text(one[-1:])


@pytest.mark.parametrize("name", ["frozen-x", "frozen-x/01", "frozen-x/-1", "a b/1", "/1"])
def test_an_id_that_is_no_draw_is_refused(name):
    with pytest.raises(KeyError, match="unknown problem"):
        rd.problem(f"fresh/{name}")


def test_half_are_surfaces_of_the_families_of_surfacebench_and_half_physics():
    stated = facts("fresh")
    codes = {group["code"] for group in facts("surfaces")}
    assert set(stated["surfaces"]["families"]) == codes
    for problem in fresh.draw("test-one", FEW):
        part = "physics" if int(problem.id.rpartition("/")[2]) % 2 else "surfaces"
        assert problem.family in stated[part]["families"]
        assert set(problem.expressions["f"].names) == set(problem.inputs) == set(problem.samplers)


def dimension(tree, units):
    """Units of a law, where each sum has those of its parts and a function none."""

    def combined(label, children):
        if label in ("+", "-"):
            np.testing.assert_array_equal(*children)
            return children[0]
        if label in ("*", "/"):
            return children[0] + (children[1] if label == "*" else -children[1])
        if label == "**":
            return children[0] * exponents[id(children[1])]
        if label in ("sqrt", "neg"):
            return children[0] * (0.5 if label == "sqrt" else 1)
        if children:
            np.testing.assert_array_equal(children[0], np.zeros(5))
            return np.zeros(5)
        found = np.array(units.get(label, (0,) * 5), float)
        if not isinstance(label, str) or label in NAMED:
            exponents[id(found)] = label
            kept.append(found)
        return found

    exponents, kept = {}, []
    return fold(tree, combined)


def test_units_cancel():
    laws = [p for p in fresh.draw("test-one", 2 * FEW) if p.units]
    assert len(laws) == FEW
    for problem in laws:
        law = parse(problem.law)
        dimension(law.tree, problem.units)
        constants = facts("fresh")["physics"]["constants"]
        values = {name: value for name, (_, value) in constants.items()}
        assert str(law.substitute(values)) == problem.truth["f"]
        assert set(problem.units) == set(law.names)
    with pytest.raises(AssertionError):
        dimension(parse("m + v").tree, {"m": (1, 0, 0, 0, 0), "v": (0, 1, -1, 0, 0)})


@pytest.mark.parametrize("known", IDENTITIES, ids=str)
def test_units_hold_known_identities(known):
    np.testing.assert_array_equal(fresh.units_of(known), np.zeros(5))


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("x*y + x", ""),
        ("x", "y has no effect"),
        ("x*y + 0.001*x", "a summand has no effect"),
        ("1000 + x*y/1000", "values are too small, too large or too much alike"),
        ("1/(x*y - 1)**4", "few rows rule the errors"),
        ("sin(1000*x*y)", "it is ill conditioned"),
        ("sqrt(x - y)", "a value is not finite"),
        ("sin(x*1e-6)*1e-4*y", "values are too small, too large or too much alike"),
    ],
)
def test_what_is_not_accepted(formula, said):
    assert fresh.fault(made(formula)) == said


def test_every_input_and_every_summand_of_a_draw_matters_on_other_rows():
    share = facts("fresh")["accepted"]["share"] / 2  # other rows: the stated share, less what chance may take
    for problem in fresh.draw("test-one", FEW):
        rng = np.random.default_rng(5)
        X, others = problem.draw_inputs(2000, rng), problem.draw_inputs(2000, rng)
        y = problem.target(X)
        assert np.isfinite(y).all()
        for i in range(len(problem.inputs)):
            changed = X.copy()
            changed[:, i] = others[:, i]
            assert np.mean((problem.target(changed) - y) ** 2) > 2 * share * np.var(y), (problem.id, i)


def test_noise_is_that_of_srbenchs_laws():
    clean, noisy = (rd.problem("fresh/test-one/1", noise=level).data(3) for level in (0, 0.1))
    off = noisy["train"].y - clean["train"].y
    assert np.std(off) == pytest.approx(0.1 * np.sqrt(np.mean(clean["train"].y ** 2)), rel=0.05)
    assert np.array_equal(noisy["test"].y, clean["test"].y) and len(off) == 7500


def test_the_truth_has_full_scores():
    problem = rd.problem("fresh/test-one/3", rows=(100, 100))
    assert scores.score(problem, problem.truth) == dict.fromkeys(scores.LAW, 1.0)


def test_meanings_are_units():
    problem = next(p for p in fresh.draw("test-one", FEW) if p.units)
    name = problem.inputs[0]
    assert problem.meanings[name] == fresh.unit_text(problem.units[name]) and problem.meanings["f"] == ""


def test_a_draw_is_added_once(tmp_path, monkeypatch):
    path = tmp_path / "lib" / "rediscover" / "problems" / "data" / "fresh_draws.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# head\n[]\n")
    monkeypatch.setattr(fresh, "root", lambda: tmp_path)
    monkeypatch.setattr(fresh, "draws", list)
    new = fresh.add("test-one", "mean", 3)
    assert path.read_text().startswith("# head\n- name: test-one\n") and new == fresh.entry("test-one", "mean", 3)
    monkeypatch.setattr(fresh, "draws", lambda: [new])
    with pytest.raises(ValueError, match="was drawn before"):
        fresh.add("test-one", "mean")


def test_the_command_prints_a_draw_or_writes_it(tmp_path, capsys):
    assert main(["fresh", "--seed", "test-one", "--size", "3"]) == 0
    printed = capsys.readouterr().out
    assert printed == fresh.text(fresh.draw("test-one", 3)) and printed.count("\n") == 3
    assert main(["fresh", "--seed", "test-one", "--size", "3", "--out", str(tmp_path / "new" / "draw.txt")]) == 0
    assert (tmp_path / "new" / "draw.txt").read_text() == printed
    assert main(["fresh", "--seed", "no name"]) == 2


def test_rules_are_those_of_the_other_problems_from_outside_and_have_a_digest_of_their_own():
    laid_down, frozen = study.rules(), sample.rules()
    same = laid_down["registered"].keys()
    assert laid_down["registered"] == {name: frozen["registered"][name] for name in same}
    assert rules("fresh") != rules("lsr") and len(rules("fresh")) == 16
    assert laid_down["frozen"] == frozen["frozen"]


def test_blocks_are_those_of_the_rules():
    reference = params.read(root() / "params" / "80_outside.yaml", "reference")
    planned = study.grids(reference)
    later, rivals = (planned.pop(f"{block} bidirectional_noise") for block in ("later", "opponents of"))
    assert planned["fresh_sample"]["problems"] == planned["early_fresh"]["problems"] == study.sample()
    assert {grid["noise"] == study.rules()["relative_noise"] for grid in planned.values()} == {True}
    assert len(study.sample()) == len(set(study.sample())) == 50
    assert {m.name for m in planned["fresh"]["methods"]} == {"bidirectional"}
    assert {m.name for m in planned["fresh_sample"]["methods"]} == {"bidirectional", *reference.opponents}
    (wide,) = planned["fresh_added"]["methods"]
    (narrow,) = (m for m in planned["fresh_sample"]["methods"] if m.name == "regularised_evolution")
    assert planned["fresh_added"]["evaluations"][wide.name] == planned["fresh_sample"]["evaluations"][narrow.name]
    assert planned["fresh_added"]["problems"] == study.sample()
    assert wide.settings | {"unary_operators": ""} == narrow.settings | {"unary_operators": ""}
    all_of_it = rd.problems("fresh", study.rules()["draw"])
    assert sorted([*planned["fresh"]["problems"], *study.sample()]) == sorted(all_of_it)
    assert {m.name for m in later["methods"]} == {"bidirectional", "bidirectional_noise"}
    assert set(later["problems"]) < set(rd.problems("fresh", "noise-2026-11")) and len(set(later["problems"])) == 50
    assert sorted(later["noise"]) == study.rules()["relative_noise"] and later["seeds"] == [0]
    assert [m.name for m in rivals["methods"]] == reference.opponents
    assert {**rivals, "methods": later["methods"]} == later


def test_the_page_compares_all_draws_with_the_benchmarks():
    table = (root() / study.PAGE).read_text(encoding="utf-8").split(study.MARK)[1]
    for set_, row in study.distribution().iterrows():
        assert f"| {' | '.join([str(set_), *row])} |" in table


def test_a_shape_by_hand():
    found = study.shape([parse("2*x + sin(y)")])
    assert found == {"nodes": 6, "operators": 3, "numbers": 1, "functions": {"+", "*", "sin"}}


def test_formulas_are_told_apart_up_to_names_and_numbers():
    one, same, other = map(parse, ("2.5*x + y", "0.1*p + q", "x + 2.5*y"))
    assert study._form(one) == study._form(same) != study._form(other)

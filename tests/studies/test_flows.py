"""Chaotic flows: the package's equations, none that ODEBench has, finite records, and scores by hand."""

import itertools

import rediscover as rd
from rediscover import params
from rediscover.expressions import parse
from rediscover.problems import facts, flows
from rediscover.studies.outside import flows as study
from rediscover.studies.outside import sample, scores
from rediscover.studies.outside.grids import grids
from rediscover.system.paths import root

import numpy as np
import pytest
import sympy

# Rates that dysts 0.96 itself gives at its initial states.
RATES = {
    "Halvorsen": [15.645125427227988, 37.898646803513316, -30.83482410358465],
    "HyperLorenz": [-59.908218178852735, -105.51162343751423, -37.651299559623176, -8.502839303788335],
    "BelousovZhabotinsky": [4.324162305044577, -16.652128798198753, -0.22168742131594038],
    "Chua": [-0.1103601785675984, 0.45685562999999985, 3.18821272],
}


def terms(truth, order):
    """Of each equation its terms without coefficients, states renamed: `order` has the new number of each."""
    states = sympy.symbols([f"x{i}" for i in order])
    old = sympy.symbols(list(truth))
    found = {}
    for name, text in zip(states, truth.values(), strict=True):
        side = sympy.expand(parse(text).sympy()).subs(dict(zip(old, states, strict=True)), simultaneous=True)
        found[name] = frozenset(part.as_independent(*states)[1] for part in sympy.Add.make_args(side))
    return found


def test_there_are_all_of_the_package_with_a_reason_for_each_that_is_left_out():
    known = facts("flows")
    assert (len(known["flows"]), len(known["left_out"])) == (95, 40)  # 135 in the package
    assert not known["flows"].keys() & known["left_out"].keys()
    assert len(flows.ids("polynomial")) + len(flows.ids("other")) == len(flows.ids())
    with pytest.raises(KeyError, match=r"no subset 'chaotic' .subsets: polynomial, other"):
        flows.ids("chaotic")


def test_none_has_the_terms_of_a_system_of_odebench():
    systems = [rd.problem(id) for id in rd.problems("odes") if rd.problem(id).subset == "3"]
    known = [terms(system.truth, range(3)) for system in systems]
    three = [rd.problem(id) for id in rd.problems("flows", "polynomial") if len(rd.problem(id).inputs) == 3]
    lorenz = {"x0": "10*(x1 - x0)", "x1": "x0*(28 - x2) - x1", "x2": "x0*x1 - 8*x2/3"}
    assert terms(lorenz, range(3)) in known
    for flow in three:
        assert not any(terms(flow.truth, order) in known for order in itertools.permutations(range(3))), flow.id


@pytest.mark.parametrize("name", RATES)
def test_rates_at_the_initial_state_are_those_of_the_package(name):
    flow = flows.load(name)
    assert flow.rates(np.array([flow.initial]))[0] == pytest.approx(RATES[name], rel=1e-12)


@pytest.mark.parametrize("name", ["Halvorsen", "HyperPang", "SwingingAtwood"])
def test_a_record_follows_the_rates(name):
    t, u, du = flows.load(name).trajectory()
    assert u.shape == du.shape == (1000, len(flows.load(name).inputs)) and np.isfinite(u).all()
    assert t[200] == pytest.approx(flows.load(name).period)  # 200 points a period
    off = np.gradient(u, t[1] - t[0], axis=0, edge_order=2) - du
    assert (off.std(axis=0) < 0.05 * du.std(axis=0)).all()


def test_noise_is_a_share_of_the_spread_of_each_state_and_the_same_for_the_same_seed():
    flow = rd.problem("flows/Halvorsen", noise=0.01)
    clean, (_, u, du) = flow.clean(), flow.trajectory(1)
    assert (u - clean.u).std(axis=0) == pytest.approx(0.01 * clean.u.std(axis=0), rel=0.1)
    assert np.array_equal(u, flow.trajectory(1).u) and not np.array_equal(u, flow.trajectory(2).u)
    assert np.array_equal(du, clean.du) and np.array_equal(flow.data(1)["test"].y, clean.du[800:])
    assert {name: len(part.y) for name, part in flow.data(1).items()} == {
        "train": 600,
        "validation": 200,
        "refit": 800,
        "test": 200,
    }


def test_scores_of_a_flow_by_hand():
    flow = rd.problem("flows/SprottB")  # x1*x2, x0 - x1, 1 - x0*x1
    assert scores.score(flow, flow.truth) == {"identified": 1.0, "nmse_per_output": 0.0}

    def identified(**changed):
        return scores.score(flow, {**flow.truth, **changed})["identified"]

    assert (identified(x0="1.04*x1*x2"), identified(x0="1.06*x1*x2")) == (1.0, 0.0)
    assert identified(x0="x1*x2 + 0.01*x0") == 0.0
    assert scores.score(flow, {**flow.truth, "x0": "x1*("}) == scores.FLOW


def test_parameters_and_sample_are_those_that_were_laid_down():
    reference, laid = params.read(root() / "params" / "80_outside.yaml", "reference"), sample.rules("flows")
    registered = dict(laid["registered"])
    assert registered.pop("opponents") == reference.flow_opponents
    mine = {name: getattr(reference, name) for name in registered}
    mine["evaluations_by_method"] = {"operon": mine["evaluations_by_method"]["operon"]}
    assert mine == registered and reference.seeds == laid["seeds"]
    planned = grids(reference)["flows"]
    assert planned["problems"] == study.sample() and planned["noise"] == laid["relative_noise"]
    assert len(set(study.sample())) == laid["sample"]

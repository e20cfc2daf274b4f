"""What this study derives from SymbolBench's released runs, which state no licence (see `system.derived`)."""

import numpy as np
import pandas as pd
import sympy

from ...expressions import parse
from ...metrics import boolean as metrics
from ...problems import boolean
from ...system.derived import Table
from ...system.upstream_files import fetch_json

RUNS, FILES = "nuuuh/SymbolBench-runs", ("released_outputs.json.gz", "bn.json")
MEASURES = ("f1", "precision", "recall", "accuracy")  # in the order in which they are stored


def rederive(run: dict, rules: dict, nodes=None) -> dict[str, float]:
    """`MEASURES` and informedness of rules; a node without a rule counts as predicted 1, as released.

    Parameters
    ----------
    run : a released run with its ``train``, the transitions it was scored on: two bool arrays of states
    rules : node -> Expression
    nodes : what is counted; by default the nodes that have a rule, as released
    """
    problem, (before, after) = boolean.load(run["truth"]), run["train"]
    rules = {node: rules.get(node) for node in (rules if nodes is None else nodes)}
    predicted = metrics.missing_as_true(metrics.next_states(rules, before, problem.inputs))
    truth = after[:, [problem.inputs.index(node) for node in rules]]
    return {name: getattr(metrics, f"{name}_pooled")(predicted, truth) for name in (*MEASURES, "informedness")}


def read_rules(texts: dict) -> dict:
    """The rules of a candidate, parsed, never executed: node -> Expression."""
    return {node: parse(text, logic=True) for node, text in texts.items()}


def is_skipped(rule) -> bool:
    """Whether a rule holds a negated bare variable, which the compiler of the final evaluation cannot write."""
    nodes = sympy.preorder_traversal(rule.sympy())
    return any(isinstance(node, sympy.Not) and node.args[0].is_Symbol for node in nodes)


def best_answer(run: dict) -> dict:
    """A run's best candidate, scored by what is counted, and how far stored scores are from those derived again."""
    rules, regulated = read_rules(run["candidates"][0][0]), boolean.load(run["truth"]).truth
    kept = [node for node, rule in rules.items() if not is_skipped(rule)]
    over_regulated = rederive(run, rules, regulated)
    gaps = [
        abs(rederive(run, read_rules(texts))[name] - value)
        for texts, *stored in run["candidates"]
        for name, value in zip(MEASURES, stored, strict=False)
    ]
    return {
        "network": run["truth"],
        "reasoning": "with reasoning" if run["thinking"] else "without",
        **{f"stored_{name}": value for name, value in zip(MEASURES, run["candidates"][0][1:], strict=False)},
        "stored": len(gaps),
        "largest_difference": max(gaps),
        "rules": len(rules),
        "skipped": len(rules) - len(kept),
        "for_inputs": len(set(rules) - set(regulated)),
        **rederive(run, rules),
        "f1_without_skipped": rederive(run, rules, kept)["f1"] if kept else np.nan,
        "f1_regulated": over_regulated["f1"],
        "informedness_regulated": over_regulated["informedness"],
        "informedness_identity": rederive(run, read_rules({node: node for node in regulated}))["informedness"],
        **unseen(run, rules),
    }


def unseen(run: dict, rules: dict) -> dict[str, float]:
    """Informedness over the nodes with a rule, of rules and of the identity, on transitions drawn here.

    They are of the same process, both halves of the first draw, without those that the rules were chosen on.
    """
    problem, shown = boolean.load(run["truth"]), {tuple(state) for state in run["train"][0].astype(int)}
    drawn = np.vstack([split.X for split in problem.data(0).values()])
    before = np.array([state for state in drawn.astype(bool) if tuple(state.astype(int)) not in shown])
    fresh, identity = run | {"train": (before, problem.step(before))}, {node: node for node in problem.truth}
    answers = {"informedness_unseen": rules, "informedness_identity_unseen": read_rules(identity)}
    return {name: rederive(fresh, given, problem.truth)["informedness"] for name, given in answers.items()}


def released() -> pd.DataFrame:
    """A row for each released run: `best_answer`."""
    runs, networks = (fetch_json(RUNS, name)["items"] for name in FILES)
    transitions = {network["id"]: network.get("upstream_transitions") for network in networks}
    rows = []
    for run in (run for run in runs if run["task"] == "BN"):
        pairs = transitions[run["truth"]]["train"]
        run["train"] = [np.array([[bit == "1" for bit in pair[i]] for pair in pairs]) for i in (0, 1)]
        rows.append(best_answer(run))
    return pd.DataFrame(rows)


TABLES = {"released_runs": Table(released, RUNS, FILES)}

"""SymbolBench's released runs on Boolean networks, and their scores derived again."""

import json
from pathlib import Path

import numpy as np

from ...expressions import parse
from ...metrics import boolean as metrics
from ...problems import boolean
from ...system.paths import root
from ...system.upstream_files import PACK, model_runs

MEASURES = ("precision", "recall", "accuracy", "f1")


def runs(folder: Path | None = None) -> list[dict] | None:
    """Released runs, or None where the file of them is not beside the repository.

    Parameters
    ----------
    folder : as for `model_runs`

    Returns
    -------
    list of dict with thinking, truth (id of the network), candidates (rules, F1, precision, recall, accuracy,
    complexity; best first), and train: the transitions they were scored on, two bool arrays of states
    """
    found = model_runs("BN", folder)
    if found is None:
        return None
    data = (folder or root().parent) / PACK.with_name("bn.json")
    networks = {item["id"]: item for item in json.loads(data.read_text())["items"]}
    for run in found:
        transitions = networks[run["truth"]]["upstream_transitions"]["train"]
        run["train"] = [np.array([[bit == "1" for bit in pair[i]] for pair in transitions]) for i in (0, 1)]
    return found


def rederive(run: dict, rules: dict, nodes=None) -> dict[str, float]:
    """`MEASURES` and informedness of rules; a node without a rule counts as predicted 1, as released.

    Parameters
    ----------
    run : one of `runs`
    rules : node -> Expression
    nodes : what is counted; by default the nodes that have a rule, as released
    """
    problem, (before, after) = boolean.load(run["truth"]), run["train"]
    rules = {node: rules.get(node) for node in (rules if nodes is None else nodes)}
    predicted = metrics.next_states(rules, before, problem.inputs)
    truth = after[:, [problem.inputs.index(node) for node in rules]]
    return {name: getattr(metrics, f"{name}_pooled")(predicted, truth) for name in (*MEASURES, "informedness")}


def read_rules(run: dict, candidate: int = 0) -> dict:
    """The rules of a candidate, parsed, never executed: node -> Expression."""
    return {node: parse(text, logic=True) for node, text in run["candidates"][candidate][0].items()}


def is_skipped(rule) -> bool:
    """Whether a rule holds a negated bare variable, which the compiler of the final evaluation cannot write."""
    import sympy

    nodes = sympy.preorder_traversal(rule.sympy())
    return any(isinstance(node, sympy.Not) and node.args[0].is_Symbol for node in nodes)

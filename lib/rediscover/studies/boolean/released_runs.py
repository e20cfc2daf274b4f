"""What SymbolBench's released runs on Boolean networks say: Figure 3, stored scores derived again, skipped rules."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ...expressions import parse
from ...metrics import boolean as metrics
from ...problems import boolean
from ...report.summaries import interval
from ...system.paths import root
from ...system.upstream_files import PACK, model_runs

FIGURE3B = {  # precision, recall, accuracy, F1 of Qwen3-0.6B, without and with reasoning, as drawn
    False: (0.613, 0.822, 0.718, 0.696),
    True: (0.629, 0.807, 0.733, 0.700),
}
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


def rederive(run: dict, candidate: int = 0, nodes=None) -> dict[str, float]:
    """Scores of a candidate from its rules, which are parsed, never executed.

    Parameters
    ----------
    run : one of `runs`
    nodes : what is counted; by default the nodes that the candidate names, as released

    Returns
    -------
    dict with `MEASURES` and informedness; a node without a rule counts as predicted 1, as released
    """
    problem, (before, after) = boolean.load(run["truth"]), run["train"]
    rules = _rules(run, candidate)
    rules = {node: rules.get(node) for node in (rules if nodes is None else nodes)}
    predicted = metrics.next_states(rules, before, problem.inputs)
    truth = after[:, [problem.inputs.index(node) for node in rules]]
    names = (*MEASURES, "informedness")
    return {name: getattr(metrics, f"{name}_pooled")(predicted, truth) for name in names}


def _rules(run: dict, candidate: int = 0) -> dict:
    return {node: parse(text, logic=True) for node, text in run["candidates"][candidate][0].items()}


def skipped(rule) -> bool:
    """Whether a rule holds a negated bare variable, which the compiler of the final evaluation cannot write."""
    import sympy

    nodes = sympy.preorder_traversal(rule.sympy())
    return any(isinstance(node, sympy.Not) and node.args[0].is_Symbol for node in nodes)


def figure3(released: list[dict]) -> pd.DataFrame:
    """Figure 3 (b), Boolean part: means over networks of the best candidates' scores, beside what the paper draws."""
    rows = {}
    for thinking, drawn in FIGURE3B.items():
        scores = pd.DataFrame([rederive(run) for run in released if run["thinking"] == thinking])
        name = "with reasoning" if thinking else "without"
        rows[name, "drawn"] = dict(zip(MEASURES, drawn, strict=True))
        rows[name, "derived"] = scores[list(MEASURES)].mean().to_dict()
    return pd.DataFrame.from_dict(rows, orient="index")


def derived(released: list[dict], candidates: int | None = None) -> dict[str, float]:
    """How far stored scores are from those derived again, over all stored candidates or the first few."""
    worst, count = 0.0, 0
    for run in released:
        for i, (_, *stored) in enumerate(run["candidates"][:candidates]):
            scores = rederive(run, i)
            order = zip(("f1", "precision", "recall", "accuracy"), stored, strict=False)
            worst = max(worst, *(abs(scores[name] - value) for name, value in order))
            count += 1
    return {"candidates": count, "largest difference": worst}


def answers(released: list[dict]) -> pd.DataFrame:
    """The best candidate of each run: what it answers, and F1 by what is counted.

    Returns
    -------
    DataFrame with the number of rules, of those that the final evaluation skips, and of those that are for an input (a
    node that never changes); F1 as released, without the skipped rules, and over the regulated nodes
    """
    rows = []
    for run in released:
        rules, regulated = _rules(run), boolean.load(run["truth"]).truth
        kept = [node for node, rule in rules.items() if not skipped(rule)]
        rows.append(
            {
                "rules": len(rules),
                "skipped": len(rules) - len(kept),
                "for inputs": len(set(rules) - set(regulated)),
                "f1": rederive(run)["f1"],
                "f1 without skipped": rederive(run, nodes=kept)["f1"] if kept else np.nan,
                "f1 of regulated": rederive(run, nodes=regulated)["f1"],
            }
        )
    return pd.DataFrame(rows)


def chance(released: list[dict]) -> pd.DataFrame:
    """Informedness in percent on the training transitions: of the best candidates as released and over the regulated
    nodes, and of the identity map over the same nodes."""
    rows = {}
    for thinking in FIGURE3B:
        label = "with reasoning" if thinking else "without"
        found: dict[str, list[float]] = {}
        for run in (run for run in released if run["thinking"] == thinking):
            regulated = boolean.load(run["truth"]).truth
            same = run | {"candidates": [[{node: node for node in regulated}]]}
            found.setdefault(f"Qwen3-0.6B {label}, as released", []).append(rederive(run)["informedness"])
            found.setdefault(f"Qwen3-0.6B {label}, regulated nodes", []).append(
                rederive(run, nodes=regulated)["informedness"]
            )
            found.setdefault(f"identity {label}, regulated nodes", []).append(rederive(same)["informedness"])
        rows |= {name: interval([100 * value for value in values]) for name, values in found.items()}
    return pd.DataFrame.from_dict(rows, orient="index")[["value", "low", "high", "n"]]

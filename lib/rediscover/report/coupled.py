"""The study of SymbolBench's coupled differential equations: its pictures, tables, claims and ledger."""

import numpy as np
import pandas as pd

from ..expressions import parse
from ..metrics.trajectories import accuracy, sr2
from ..problems.cde import simulate
from .figures import colour, style
from .ledger import combine, compare, published

SYSTEMS = 156
SPLITS = ("id", "ood")
NEEDS_MODEL = {
    "SY-01": "language models; PySR, its baseline, needs Julia",
    "SY-07": "PySR, which needs Julia, and language models",
    "SY-08": "language models",
    "SY-09": "language models",
    "SY-11": "language models",
    "SY-12": "language models",
    "SY-13": "a language model as judge",
    "SY-15": "language models",
}
CLAIMS = tuple(sorted((*NEEDS_MODEL, "SY-05", "SY-06", "SY-10")))


def census(systems) -> pd.DataFrame:
    """Systems and flags by number of states."""
    flags = ("duplicate", "altered", "degenerate", "chaotic")
    rows = [
        {"states": int(s.subset), "systems": 1} | {flag: int(flag in s.flags) for flag in flags}
        for s in systems
    ]
    return pd.DataFrame(rows).groupby("states").sum()


def look(system, answers):
    """True trajectories from both initial states (lines) and those of answers (dashes).

    Parameters
    ----------
    system : CoupledODE
    answers : method -> (state -> text of its right-hand side)
    """
    import matplotlib.pyplot as plt

    t = system.times()
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
        for ax, split in zip(axes, SPLITS, strict=True):
            ax.plot(t, system.solution(split), color="#999999", lw=2.5)
            for name, texts in answers.items():
                equations = {state: parse(texts[state]) for state in system.inputs}
                states = simulate(equations, system.initial_state(split), t)
                ax.plot(t, states[:, 0], "--", color=colour(name), label=name)
                ax.plot(t, states[:, 1:], "--", color=colour(name))
            ax.set(xlabel="time", title={"id": "in distribution", "ood": "out of distribution"}[split])
        axes[0].set_ylabel("states")
        axes[0].legend()
    return figure


def row(scored, failures: str = "kept") -> dict[tuple[str, str], float]:
    """(split, measure) -> percent, for the systems of one method and dimension; failures 'kept' or 'dropped'."""
    cells = {}
    for split in SPLITS:
        r2 = scored[f"r2_trajectories_{split}"].where(lambda v: np.isfinite(v) | (v < 0))
        cells[split, "sr2"] = 100 * sr2(r2, failures=failures)
        cells[split, "acc_0.9"] = 100 * accuracy(r2, 0.9, failures=failures)
    return cells


def table(scored, out, failures: str = "kept") -> str:
    """Table 2: SR2 and accuracy by dimension, with the largest printed value of a language model below."""
    rows = {}
    for (dim, name), group in scored.groupby(["subset", "method"], sort=False):
        rows[dim, name] = {"systems": len(group)} | {
            f"{m} {s}": value for (s, m), value in row(group, failures).items()
        }
    printed = published("symbolbench_table2")
    printed = printed[(printed["setting"] != "") & (printed["value"] != "")]
    for dim in dict.fromkeys(scored["subset"]):
        part = printed[printed["dim"] == dim].assign(value=lambda f: f["value"].astype(float))
        best = part.groupby(["split", "metric"])["value"].max()
        rows[dim, "best language model, printed"] = {
            f"{m} {s}": best.get((s, m), np.nan) for s in SPLITS for m in ("sr2", "acc_0.9")
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").sort_index(level=0, sort_remaining=False)
    frame.index.names = ["states", "method"]
    caption = f"SymbolBench Table 2, percent, failures {failures}"
    return f"{caption}\n" + out.table(frame, f"coupled_table2_{failures}", caption=caption)


def correlations() -> pd.DataFrame:
    """Tables 5 and 9 from the printed columns of Table 2: Pearson's r of complexity and OOD accuracy.

    With context: the columns with context or chain of thought; without: all others.
    """
    rows = published("symbolbench_table2").query("value != ''")
    keys = ["model", "modality", "setting"]
    found = []
    for condition in ("without_context", "with_context"):
        context = rows["setting"].isin(("context", "cot"))
        part = rows[context if condition == "with_context" else ~context]
        for dim, group in part.groupby("dim"):
            size = group[group["metric"] == "complexity"].set_index(keys)["value"].astype(float)
            right = (
                group.query("metric == 'acc_0.9' and split == 'ood'").set_index(keys)["value"].astype(float)
            )
            both = pd.concat([size, right], axis=1, keys=["size", "right"]).dropna()
            found.append(
                {"condition": condition, "dim": dim, "columns": len(both), "r": both.corr().iloc[0, 1]}
            )
    return pd.DataFrame(found)


def convergence(curves):
    """Best R2 of the loop so far against the number of epochs, one line per proposer.

    Parameters
    ----------
    curves : name -> list of (epoch, score, complexity)
    """
    import matplotlib.pyplot as plt

    with style():
        figure, ax = plt.subplots(figsize=(4.5, 2.8))
        for name, curve in curves.items():
            steps = np.array(curve, dtype=float)
            ax.plot(steps[:, 0], steps[:, 1], "o-", color=colour(name), label=name, ms=3)
        ax.set(xlabel="epoch", ylabel="best $R^2$ so far (higher is better)")
        ax.legend()
    return figure


def claims(scored) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each of `CLAIMS`; the oracle does not count."""
    results = {claim: ("untestable here", f"needs {what}") for claim, what in NEEDS_MODEL.items()}
    part = scored[scored["method"] != "oracle"]
    cells = {key: row(group) for key, group in part.groupby(["method", "subset"])}
    whole = part["problem"].nunique() == SYSTEMS
    falls = [cells[key]["ood", "sr2"] < cells[key]["id", "sr2"] for key in cells]
    finding = (
        f"SR2 is lower out of distribution in {sum(falls)} of {len(falls)} cells of method and dimension"
    )
    results["SY-06"] = (_verdict(falls) if whole else "untestable here", finding)
    drops = []
    for name in dict.fromkeys(part["method"]):
        values = [cells[key]["ood", "sr2"] for key in sorted(cells) if key[0] == name]
        drops.append(values[-1] < values[0])
    finding = f"OOD SR2 is lower in the largest dimension than in the smallest for {sum(drops)} of {len(drops)} methods"
    results["SY-05"] = (_verdict(drops) if whole else "untestable here", finding)
    r = correlations().set_index(["condition", "dim"])["r"]
    printed = published("symbolbench_table5_9").set_index(["condition", "dim"])["value"].astype(float)
    gap = (r - printed).abs().groupby("condition").max()
    finding = (
        f"recomputed from the printed Table 2: values with context come back within {gap['with_context']:.3f}, those "
        f"without are off by up to {gap['without_context']:.2f}"
    )
    results["SY-10"] = ("mixed", finding)
    return results


def _verdict(signs) -> str:
    return "holds" if all(signs) else "fails" if not any(signs) else "mixed"


ROUNDING = 0.005  # what rounding in the columns of Table 2 does to a correlation


def ledger() -> pd.DataFrame:
    """Published Tables 2, 5 (and 9, the same) and 6: only the correlations can be recomputed so far."""
    absent = {
        "PySR": ("not run", "needs Julia"),
        "ProGED": ("not run", "no method for it yet"),
        "ODEformer": ("not run", "pins an old SymPy and downloads weights"),
        "GPLearn": (
            "not run",
            "its row is on 29 systems by the released script, which is not a method here yet",
        ),
        "*": ("not run", "needs a language model"),
    }
    options = {"definition": "as released", "tolerance": "", "absent": absent}
    table2 = compare(
        "SymbolBench",
        "Table 2",
        published("symbolbench_table2"),
        {},
        keys=["model"],
        row="{model} {modality} {setting}",
        column="dimension {dim} {split} {metric}",
        **options,
    )
    measured = {
        (c.condition, c.dim): {
            "value": c.r,
            "low": c.r - ROUNDING,
            "high": c.r + ROUNDING,
            "reason": f"over {c.columns} printed columns",
        }
        for c in correlations().itertuples()
    }
    options |= {"definition": "from the printed Table 2", "tolerance": f"{ROUNDING}: its columns are rounded"}
    table5 = compare(
        "SymbolBench",
        "Tables 5 and 9",
        published("symbolbench_table5_9"),
        measured,
        keys=["condition", "dim"],
        row="{condition}",
        column="dimension {dim}",
        **options,
    )
    options |= {"definition": "as released", "tolerance": ""}
    table6 = compare(
        "SymbolBench",
        "Table 6",
        published("symbolbench_table6"),
        {},
        keys=["method"],
        row="{method}",
        column="{split} {metric}",
        **options,
    )
    return combine([table2, table5, table6])

"""The verdicts on SymbolBench's claims about Boolean networks, each with its statistic.

Numbers are in percent; frames have the splits ``id`` and ``ood`` as index. `printed` asks the paper's own numbers.
"""

from typing import Any

import pandas as pd

from ...report.claim_cells import Cell, by_intervals, by_problem, by_tests, compare, family, spelt
from ...report.ledger import Judged, more
from ...report.papers import published


def _both(values: pd.Series) -> str:
    return f"{values['id']:.1f} and {values['ood']:.1f}"


def sy_03(logicgep: pd.DataFrame, models: pd.DataFrame, truth_table: pd.Series, run: int, of: int) -> Judged:
    """LogicGep beats every model in informedness: cells are splits, its interval against the best printed model.

    Columns: value, low, high; min, max (of the printed models).
    """
    lead = logicgep[["low", "high"]].sub(models["max"], axis=0)
    cells = [Cell(cell.goes, cell.by, "LogicGep") for cell in by_intervals(lead)] if run == of else []
    finding = (
        f"informedness, in distribution and out of it, on {run} of {of} networks: LogicGep "
        f"{_both(logicgep['value'])} (95 % from {_both(logicgep['low'])}), best printed model {_both(models['max'])}; "
        f"truth_table {_both(truth_table)}"
    )
    return Judged(cells, finding)


def sy_04(released: pd.DataFrame, identity: pd.DataFrame, majority: pd.DataFrame, printed: pd.DataFrame) -> Judged:
    """Models beat chance, which has informedness 0: cells are rows of released runs, over networks.

    `released`: `derive.released`, whose rules are asked on transitions that they were not chosen on (unseen). Those
    that they were chosen on (regulated) make no cells, since there no answer worse than chance would be kept. Columns
    of `identity` and `majority`: value, high, models, models_below, models_above; of `printed` as in `sy_03`.
    """
    tests, against, chosen = over_unseen(released), over_unseen(released, "the identity"), []
    for reasoning, part in released.groupby("reasoning"):
        chosen.append(f"{reasoning} {100 * part['informedness_regulated'].median():.3g}")
    finding = (
        f"one model, Qwen3-0.6B, on {released['network'].nunique()} networks: released runs, over nodes with a rule, "
        f"on transitions that the rules were not chosen on, medians: {spelt(tests)}; beside the identity map, which "
        f"learns nothing: {spelt(against)}; on those that they were chosen on, which decide nothing: "
        f"{', '.join(chosen)}; all printed values are above 0 (least {_both(printed['min'])}, best "
        f"{_both(printed['max'])}); the identity has {_among_models(identity)}; majority, a constant for each node, "
        f"has {_among_models(majority)}"
    )
    return Judged(by_tests(tests), finding, tests)


def over_unseen(released: pd.DataFrame, rival: str = "chance") -> pd.DataFrame:
    """Tests over networks of released rules against chance or the identity, on transitions they were not chosen on."""
    rows = []
    for reasoning, part in released.groupby("reasoning"):
        percent = 100 * part.set_index("network")[["informedness_unseen", "informedness_identity_unseen"]]
        values, identity = (percent[name] for name in percent)
        other = identity if rival == "the identity" else 0 * values
        about: dict[str, Any] = {"method": "Qwen3-0.6B", "condition": reasoning}
        rows.append(compare(values, other, ("informedness", rival), **about))
    return family(rows)


def _among_models(reference: pd.DataFrame) -> str:
    models, below, over = (reference[name] for name in ("models", "models_below", "models_above"))
    return (
        f"{_both(reference['value'])} (95 % to {_both(reference['high'])}): of {models['id']} printed models "
        f"{below['id']} and {below['ood']} are below its interval, {over['id']} and {over['ood']} above"
    )


def sy_14(gain: pd.Series, alone: pd.DataFrame, judged: pd.DataFrame | None = None) -> Judged:
    """A judge improves LogicGep: cells are splits, F1 over networks with a judge against LogicGep `alone`.

    `gain`: the printed one. Scores of both: columns problem, method, seed, f1_pooled_id and f1_pooled_ood.
    """
    by_seed = 100 * alone.groupby("seed")[["f1_pooled_id", "f1_pooled_ood"]].mean().set_axis(["id", "ood"], axis=1)
    rows = []
    about: dict[str, Any]
    for split in gain.index if judged is not None else ():
        with_, without = (100 * by_problem(part, f"f1_pooled_{split}", 0.0).iloc[:, 0] for part in (judged, alone))
        about = {"method": "LogicGep + LLM-as-Judge", "condition": split}
        rows.append(compare(with_, without, ("with a judge", "without"), **about))
    tests = family(rows)
    finding = (
        f"needs LogicGEP with a judge; the printed gains in F1, {_both(gain)}, are of one run each, and "
        f"{len(by_seed)} runs of LogicGEP without a judge differ by up to {_both(by_seed.max() - by_seed.min())}"
    )
    return Judged(by_tests(tests), finding, tests)


def printed() -> dict[str, list]:
    """The cells of each claim by the paper's own numbers."""
    rows = published("symbolbench_table3").query("metric == 'bookmaker_informedness'").astype({"value": float})
    of_logicgep = rows["model"] == "LogicGep"
    best, models = rows[of_logicgep].set_index("split")["value"], rows[~of_logicgep].set_index("split")["value"]
    f1 = published("symbolbench_table7").query("metric == 'f1'").astype({"value": float})
    f1 = f1.pivot(index="method", columns="split", values="value")
    return {
        "SY-03": [more(best[split], value) for split, value in models.items()],
        "SY-04": list(models > 0),
        "SY-14": list(f1.loc["LogicGep + LLM-as-Judge"] > f1.loc["LogicGep"]),
    }

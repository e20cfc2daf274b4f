"""The verdicts on SymbolBench's claims about Boolean networks, each from the statistic printed before it.

Numbers are in percent; frames have the splits ``id`` and ``ood`` as index, each a cell. `printed` asks the paper's own.
"""

import pandas as pd

from ...report.ledger import Judged, above, more
from ...report.papers import published


def _both(values: pd.Series) -> str:
    return f"{values['id']:.1f} and {values['ood']:.1f}"


def sy_03(logicgep: pd.DataFrame, models: pd.DataFrame, truth_table: pd.Series, run: int, of: int) -> Judged:
    """LogicGep beats every model in informedness. Columns: value, low, high; min, max (of models, printed or here)."""
    pairs = logicgep.join(models)
    cells = [above(row.low, row.high, row.max) for row in pairs.itertuples()] if run == of else []
    finding = (
        f"informedness, in distribution and out of it, on {run} of {of} networks: LogicGep "
        f"{_both(logicgep['value'])} (95 % from {_both(logicgep['low'])}), best printed model {_both(models['max'])}; "
        f"truth_table {_both(truth_table)}"
    )
    return Judged(cells, finding)


def sy_04(here: pd.DataFrame, identity: pd.DataFrame, printed: pd.DataFrame) -> Judged:
    """Models beat chance: cells are rows of `here`, models that ran, with low and high of their informedness.

    Columns of `identity`: value, high, models, models_below, models_above; of `printed` as in `sy_03`.
    """
    models, below, over = (identity[name] for name in ("models", "models_below", "models_above"))
    finding = (
        f"needs language models ({len(here)} rows here); all printed values are above 0 (least "
        f"{_both(printed['min'])}, best {_both(printed['max'])}), but the identity map, which learns nothing, has "
        f"{_both(identity['value'])} (95 % to {_both(identity['high'])}): of {models['id']} printed models "
        f"{below['id']} and {below['ood']} are below its interval, {over['id']} and {over['ood']} above"
    )
    return Judged([above(row.low, row.high) for row in here.itertuples()], finding)


def sy_14(gain: pd.Series, by_seed: pd.DataFrame, judged: pd.Series | None = None) -> Judged:
    """A judge improves LogicGep. The printed gain in F1; F1 here by seed (rows) and split, and with a judge."""
    cells = []
    if judged is not None:  # what one run more of LogicGep alone may reach is no gain
        cells = [
            True if judged[s] > by_seed[s].max() else False if judged[s] < by_seed[s].min() else None
            for s in gain.index
        ]
    finding = (
        f"needs LogicGEP with a judge; the printed gains in F1, {_both(gain)}, are of one run each, and "
        f"{len(by_seed)} runs of LogicGEP without a judge differ by up to {_both(by_seed.max() - by_seed.min())}"
    )
    return Judged(cells, finding)


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

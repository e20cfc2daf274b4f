"""The verdicts on SymbolBench's claims about Boolean networks, each from the statistic printed before it.

Numbers are in percent; frames have the splits ``id`` and ``ood`` as index. All return (verdict, finding).
"""

import pandas as pd

Judged = tuple[str, str]


def _both(values: pd.Series) -> str:
    return f"{values['id']:.1f} and {values['ood']:.1f}"


def sy_03(logicgep: pd.DataFrame, printed: pd.DataFrame, truth_table: pd.Series, run: int, of: int) -> Judged:
    """LogicGep beats every model in informedness. Columns: value, low; min, max (of printed models)."""
    finding = (
        f"informedness, in distribution and out of it, on {run} of {of} networks: logicgep {_both(logicgep['value'])} "
        f"(95 % from {_both(logicgep['low'])}), best printed model {_both(printed['max'])}; "
        f"truth_table {_both(truth_table)}"
    )
    ahead = (logicgep["low"] > printed["max"]).all()
    return "untestable here" if run < of else "holds" if ahead else "fails", finding


def sy_04(identity: pd.DataFrame, printed: pd.DataFrame) -> Judged:
    """Models beat chance. Columns: value, high, models, models_below, models_above; as in `sy_03`."""
    models, below, above = (identity[name] for name in ("models", "models_below", "models_above"))
    return "untestable here", (
        f"models were not run; all printed values are above 0 (least {_both(printed['min'])}, best "
        f"{_both(printed['max'])}), but the identity map, which learns nothing, has {_both(identity['value'])} "
        f"(95 % to {_both(identity['high'])}): of {models['id']} printed models {below['id']} and {below['ood']} "
        f"are below its interval, {above['id']} and {above['ood']} above"
    )


def sy_14(gain: pd.Series, by_seed: pd.DataFrame) -> Judged:
    """A judge improves LogicGep. The printed gain in F1 by split; F1 here by seed (rows) and split (columns)."""
    return "untestable here", (
        f"the judge was not run; the printed gains in F1, {_both(gain)}, are of one run each, and {len(by_seed)} runs "
        f"of LogicGEP without a judge differ by up to {_both(by_seed.max() - by_seed.min())}"
    )

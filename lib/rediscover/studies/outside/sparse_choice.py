"""Where sparse regression loses a chaotic flow: its library, finite differences, or the choice among its settings.

``python -m rediscover.studies.outside.sparse_choice`` writes ``sparse_choice.csv``, which notebook 80 counts.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from ...methods.sindy import SINDyCross
from ...methods.sparse_dynamics import PRINTED, as_text
from ...metrics.dynamics import expanded, fidelity
from ...problems import generator, problem
from ...runs.schema import to_csv
from ...system import arguments
from .flows import sample
from .sample import rules

RESULTS = Path(__file__).with_name("sparse_choice.csv")


def stages(flow: Any) -> dict[str, bool]:
    """How far sparse regression with products comes with a flow.

    Parameters
    ----------
    flow : a `problems.flows.Flow`, with its noise

    Returns
    -------
    dict of bool
        ``library``: all terms of the truth are in the library. ``differences``: with these terms, and no others, the
        regression on finite differences has every coefficient within 5 %. ``settings``: one of the settings that the
        method tries is the system, once it is fitted again. Where the library lacks a term, all are false.
    """
    fitter = SINDyCross()
    p = fitter.prepare(flow, 0)
    rows, texts = p.rows("refit"), [term.text(flow.outputs, ()) for term in p.terms]
    place = {key: j for j, text in enumerate(texts) for key in expanded(text)}
    truth = {state: expanded(flow.truth[state]) for state in flow.outputs}
    if not all(key in place for terms in truth.values() for key in terms):
        return {"library": False, "differences": False, "settings": False}

    def identified(equations) -> bool:
        written = [{texts[j]: float(c) for j, c in zip(*pair, strict=True) if abs(c) > PRINTED} for pair in equations]
        if any(len(terms) != len(truth[state]) for state, terms in zip(flow.outputs, written, strict=True)):
            return False
        solution = {state: as_text(terms) for state, terms in zip(flow.outputs, written, strict=True)}
        return fidelity(solution, flow.truth) == "identified"

    columns = [[place[key] for key in terms] for terms in truth.values()]
    known = [(j, np.linalg.lstsq(rows.X[:, j], rows.Y[:, i], rcond=None)[0]) for i, j in enumerate(columns)]
    rng = generator(0, flow.id, fitter.name)
    found = any(identified(fitter.refit(p, setting, rng)) for setting, _ in fitter.search(p, rng))
    return {"library": True, "differences": identified(known), "settings": found}


def table(ids: list[str]) -> pd.DataFrame:
    """A row for each flow and level of noise of the rules, with what `stages` says."""
    asked = [(id, level) for level in rules("flows")["noise"] for id in ids]
    rows = [{"problem": id, "noise": level, **stages(problem(id, noise=level))} for id, level in tqdm(asked)]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    arguments.none(__doc__)
    to_csv(table(sample()), RESULTS)

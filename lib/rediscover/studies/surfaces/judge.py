"""Symbolic accuracy by a language model, as SurfaceBench has it judged (Appendix A.1), beside the rule of this study.

``python -m rediscover.studies.surfaces.judge --model M --base-url URL`` asks any OpenAI-compatible server about a
sample of recorded answers, half of which the rule takes for the true surface. Every reply is recorded at once, so that
a run which was stopped resumes; the cost is shown first and has to be confirmed, unless ``YES=1`` is set.
"""

import re
import sys
from pathlib import Path

import pandas as pd
import yaml

from ...methods import CONTROLS
from ...problems import problem
from ...report.judging import Judging
from ...report.statistics import agreement
from ...report.summaries import wilson
from ...runs.schema import read_csv
from ...system.committed import committed

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def sample(size: int = 30, seed: int = 0) -> pd.DataFrame:
    """Recorded answers to explicit surfaces: `size` that the rule accepts, and as many that it refuses, one a surface.

    Returns
    -------
    DataFrame
        Columns problem, method, truth, answer (texts) and rule (bool), in the order in which they are asked about.
    """
    keys = ["problem", "method", "seed"]
    scores = read_csv(committed("tables") / "surfaces_scores.csv").query("subset == 'explicit' and status == 'ok'")
    answers = read_csv(committed("tables") / "surfaces_runs.csv")[[*keys, "solution"]]
    rows = scores[~scores["method"].isin(CONTROLS)].merge(answers, on=keys)
    rows["rule"] = rows["symbolic_accuracy"] == 1
    shuffled = rows.sample(frac=1, random_state=seed).drop_duplicates(["problem", "rule"])
    chosen = shuffled.groupby("rule").head(size).sort_values(keys)
    texts = {"truth": chosen["problem"].map(lambda id: dict(problem(id).truth)["z"])}
    texts["answer"] = chosen["solution"].map(lambda solution: solution["z"])
    return chosen.assign(**texts)[["problem", "method", "truth", "answer", "rule"]].reset_index(drop=True)


def question(truth: str, answer: str) -> list[dict[str, str]]:
    """What the judge is asked: whether some choice of constants makes both formulas one function."""
    return [{"role": "user", "content": _FACTS["prompt"].format(truth=truth, answer=answer)}]


def verdict(reply: str) -> bool | None:
    """The last answer of a reply; None without one.

    Examples
    --------
    >>> verdict("Both are x*y. Answer: Yes"), verdict("**Answer:** no."), verdict("I cannot say")
    (True, False, None)
    """
    found = re.findall(_FACTS["verdict"], reply)
    return found[-1].lower() == "yes" if found else None


def summary(rows: pd.DataFrame) -> pd.Series:
    """How a model's verdicts go with the rule's: columns rule and verdict (None: without one).

    Returns
    -------
    Series
        n, answered; accepted and refused, the shares of yes among answers that the rule accepts and refuses, with the
        ends of Wilson's intervals; kappa (Cohen's).

    Examples
    --------
    >>> told = summary(pd.DataFrame({"rule": [True, True, False, False], "verdict": [True, False, False, None]}))
    >>> [round(float(told[name]), 2) for name in ("answered", "accepted", "refused", "kappa")]  # 2/3, by chance 4/9
    [3.0, 0.5, 0.0, 0.4]
    """
    known = rows[rows["verdict"].notna()].astype({"rule": float, "verdict": float})
    told: dict[str, float] = {"n": len(rows), "answered": len(known)}
    for name, value in (("accepted", 1), ("refused", 0)):
        part = known.loc[known["rule"] == value, "verdict"]
        low, high = wilson(part.sum(), len(part)) if len(part) else (float("nan"),) * 2
        told |= {name: part.mean(), f"{name}_low": low, f"{name}_high": high}
    return pd.Series(told | {"kappa": agreement(known["rule"], known["verdict"])["kappa"]}, dtype=object)


JUDGING = Judging(
    __doc__,
    "verdict",
    sample,
    lambda row: question(row.truth, row.answer),
    verdict,
    summary,
    {name: _FACTS[name] for name in ("temperature", "max_tokens")},
    "build/judge.csv",
)
main = JUDGING.main

if __name__ == "__main__":
    sys.exit(main())

"""The four criteria of SymbolBench's judge (Section 4.2.2) beside our rules: which of two answers it thinks better of.

``python -m rediscover.studies.loops.judge --model M --base-url URL`` asks any OpenAI-compatible server about pairs of
recorded answers to one output, an equation or a Boolean rule: one that is right by our rule and one that is not. The
question, its sampling and what is read are those of `gp_llm_judge` with ``criteria``. Every reply is recorded at once,
so that a run which was stopped resumes; the cost is shown first and has to be confirmed, unless ``YES=1`` is set.
"""

import itertools
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from ...expressions import ExpressionError, parse
from ...methods import CONTROLS
from ...methods.gp_llm_judge import GpLlmJudge, Judge, opinion_of, scores_in
from ...methods.questions import Questions
from ...metrics import boolean
from ...metrics.equivalence import equivalent
from ...problems import Transitions, problem
from ...report.judging import Judging
from ...report.summaries import wilson
from ...runs.schema import read_csv
from ...system.committed import committed

KINDS = {"equation": "cde", "rule": "boolean"}
NOT_DRAWN = (*CONTROLS, "identity", "majority", "loop_grammar", "loop_gp")  # controls: no data, or a loop alone
JUDGE = GpLlmJudge(proposer="genetic", criteria=True)  # for its question alone; the model is asked here
SIZE = 10  # pairs of each kind
LONGEST = 150  # characters of an answer that is drawn: whether a longer one is right may take minutes to see
SAMPLING = {**JUDGE.texts["profiles"][JUDGE.profile], **JUDGE.texts["sampling_of_criteria"]}


def right(posed: Any, output: str, text: str) -> bool:
    """Whether an equation is the true one for some constants, within the observed ranges; a rule has its truth table.

    What cannot be read is wrong.
    """
    try:
        if isinstance(posed, Transitions):
            answer = {output: parse(text, logic=True)}
            return boolean.rules_equivalent(answer, {output: posed.expressions[output]}) == 1
        seen = posed.observed(0)
        domain = {name: (column.min(), column.max()) for name, column in zip(posed.inputs, seen.T, strict=True)}
        return equivalent(text, posed.expressions[output], domain)
    except ExpressionError:
        return False


def sample(size: int = SIZE, seed: int = 0) -> pd.DataFrame:
    """Pairs of recorded answers to one output of a problem, one that is right and one that is not.

    There are `size` pairs of equations and as many of rules, one a problem, of answers by any method but the controls
    that have at most `LONGEST` characters. Problems and answers are drawn by the seed; the first output in that order
    with both kinds of answers is taken, and of these the two whose lengths differ least, so that a judge cannot tell
    them by their length.

    Returns
    -------
    DataFrame
        Columns kind, problem, output, method, truth, answer (texts) and rule (bool).
    """
    pairs = [itertools.islice(_pairs(kind, seed), size) for kind in KINDS]
    rows = [row for pair in itertools.chain(*pairs) for row in pair]
    return pd.DataFrame(rows).sort_values(["kind", "problem", "rule"]).reset_index(drop=True)


def _pairs(kind: str, seed: int) -> Iterator[list[dict]]:
    study = KINDS[kind]
    runs = read_csv(committed("tables") / f"{study}_runs.csv").query("status == 'ok'")
    runs = runs[~runs["method"].isin(NOT_DRAWN)].sample(frac=1, random_state=seed)
    for id, part in runs.groupby("problem", sort=False):
        posed = problem(id)
        for output in dict.fromkeys(name for solution in part["solution"] for name in solution):
            answers = {run.solution[output]: run.method for run in part.itertuples() if output in run.solution}
            about = {"kind": kind, "problem": id, "output": output, "truth": posed.truth[output]}
            rows = [
                about | {"method": method, "answer": text, "rule": right(posed, output, text)}
                for text, method in answers.items()
                if len(text) <= LONGEST
            ]
            accepted, refused = ([row for row in rows if row["rule"] == verdict] for verdict in (True, False))
            if accepted and refused:
                pairs = ([one, other] for one in accepted for other in refused)
                yield min(pairs, key=lambda pair: abs(len(pair[0]["answer"]) - len(pair[1]["answer"])))
                break


@cache
def _judge(id: str) -> Judge:
    return Judge(JUDGE, problem(id), Questions(None))


def question(row: Any) -> list[dict[str, str]]:
    """What the judge is asked of a row of `sample`."""
    return _judge(row.problem).messages(row.output, row.answer)


def opinion(reply: str) -> float | None:
    """From 0 to 10 by the scores that a reply has; None without any.

    Examples
    --------
    >>> opinion('{"context": 4, "plausibility": 4, "conciseness": 3, "coherence": 5}'), opinion("fine")
    (7.5, None)
    """
    scores = scores_in(reply)
    return opinion_of(scores) if scores else None


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """In how many pairs the right answer has the higher opinion: columns kind, problem, rule and opinion.

    Returns
    -------
    DataFrame
        Index: kind. Columns: pairs, of which both were scored; higher, equal and lower, those in which the right
        answer has a higher, the same or a lower opinion; share, of higher among higher and lower, 0.5 for a judge
        that tosses a coin, with low and high (Wilson, 95 %); p, of the sign test.

    Examples
    --------
    >>> two = pd.DataFrame({"kind": "rule", "problem": ["a", "a", "b", "b"], "rule": [True, False] * 2})
    >>> told = summary(two.assign(opinion=[7.5, 5.0, 5.0, 5.0]))
    >>> told[["pairs", "higher", "equal", "lower", "share", "p"]].loc["rule"].tolist()
    [2.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    """
    found = {}
    for kind, part in rows.astype({"opinion": float}).groupby("kind"):
        wide = part.pivot(index="problem", columns="rule", values="opinion").dropna()
        ahead = np.sign(wide[True] - wide[False])
        counts = {name: int((ahead == sign).sum()) for name, sign in (("higher", 1), ("equal", 0), ("lower", -1))}
        told, unequal = {"share": np.nan, "low": np.nan, "high": np.nan, "p": 1.0}, counts["higher"] + counts["lower"]
        if unequal:
            ends = (counts["higher"] / unequal, *wilson(counts["higher"], unequal))
            told = dict(zip(told, (*ends, binomtest(counts["higher"], unequal).pvalue), strict=True))
        found[kind] = {"pairs": len(wide), **counts, **told}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("kind")


JUDGING = Judging(__doc__, "opinion", sample, question, opinion, summary, SAMPLING, "build/judge_criteria.csv", SIZE)
main = JUDGING.main

if __name__ == "__main__":
    sys.exit(main())

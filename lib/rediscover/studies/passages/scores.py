"""Scores of a formula for a passage, as SciText2Eq publishes them and harmonised.

As published: texbleu (by the surrogate, see `metrics.latex.texbleu`), levenshtein_similarity, seqsim, rouge_l, their
mean lexicality, ted, and syntax = 1 - ted. Harmonised: texbleu without the brevity penalty, rouge_l_words without
GPT-2's tokens, ted_parsed beside parse_failures, structure_distance, operator_jaccard, also with commands spelt alike.
An empty formula is scored like any other; the released pipeline leaves it out.
"""

import pandas as pd

from ...metrics import latex

LOADS = ("rouge_score.tokenizers", "pylatexenc.latexwalker")  # see `runs.answers.OnAnswer`
LEXICAL = ("texbleu", "levenshtein_similarity", "seqsim", "rouge_l")
TABLE3 = (*LEXICAL, "lexicality", "ted", "syntax")


def score(problem, solution, seed=0) -> dict[str, float]:
    """All scores of one answer.

    Parameters
    ----------
    problem : TextPassage
    solution : ``{"latex": ...}``, as written; it is cleaned here
    seed : without effect, a passage has no random data

    Returns
    -------
    dict of metric -> value
        ted_parsed is NaN where SymPy parses nothing.
    """
    return scores_of([latex.clean(solution["latex"])], [latex.clean(problem.truth["latex"])]).iloc[0].to_dict()


def scores_of(predictions, truths) -> pd.DataFrame:
    """All scores of many cleaned formulas, one row per pair, as `score` gives them.

    Parameters
    ----------
    predictions, truths : sequences of LaTeX, equally long, cleaned by `metrics.latex.clean`
    """
    released = (
        latex.texbleu,
        latex.rouge_l,
        latex.levenshtein_similarity,
        latex.seqsim,
        latex.rouge_l_words,
        latex.ted,
    )
    frame = latex.score_pairs(predictions, truths, metrics=(*released, *latex.HARMONISED))
    pairs = zip(predictions, truths, strict=True)
    frame["texbleu_no_penalty"] = [latex.texbleu(a, b, brevity=False) for a, b in pairs]
    frame["lexicality"] = frame[list(LEXICAL)].mean(axis=1)
    frame["syntax"] = 1 - frame["ted"]
    return frame


def table3(scores: pd.DataFrame) -> pd.DataFrame:
    """Means per model in percent, and over the models with their standard deviation: Table 3.

    The printed deviation is the population one of the printed means, rounded to two decimals and then to one: only so
    does ROUGE-L's come out as 2.0 (the unrounded means have 1.94).

    Parameters
    ----------
    scores : DataFrame with the columns model and `TABLE3`, a row for each formula

    Returns
    -------
    DataFrame
        Index: the models, then Overall and sd. Columns: `TABLE3`.
    """
    models = 100 * scores.groupby("model", sort=False)[list(TABLE3)].mean()
    return pd.concat(
        [models, models.mean().to_frame("Overall").T, models.round(1).std(ddof=0).round(2).to_frame("sd").T]
    )

r"""How alike are two LaTeX formulas: the metrics of SciText2Eq as its released pipeline runs them, and repaired ones.

A formula of several equations is one string with ``" || "`` between them. `clean` comes before every metric
of the pipeline; the metrics take what they are given, so call it first. As published:
`levenshtein_similarity`, `seqsim`, `rouge_l`, `texbleu`, `ted`. Harmonised: `ted_parsed` with
`parse_failures`, `texbleu` with ``brevity=False``, `structure_distance`; and `operator_jaccard`.

`latex_strings` has those of characters, tokens and operators, `latex_trees` those of trees. Text is parsed
(by SymPy's LaTeX parser, in processes that can be killed), never executed.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from . import metric
from .latex_strings import (
    SEPARATOR,
    TOKENIZER,
    Gpt2Tokenizer,
    clean,
    gpt2,
    levenshtein_similarity,
    load_embeddings,
    operator_jaccard,
    operators,
    parts,
    rouge_l,
    rouge_l_words,
    seqsim,
    texbleu,
    tokens,
)
from .latex_trees import (
    forget,
    letter_commands,
    parse,
    parse_failures,
    parsed_before,
    structure,
    structure_distance,
    ted,
    ted_parsed,
)

__all__ = [
    "HARMONISED",
    "PUBLISHED",
    "SEPARATOR",
    "TOKENIZER",
    "Gpt2Tokenizer",
    "clean",
    "forget",
    "gpt2",
    "letter_commands",
    "levenshtein_similarity",
    "lexicality",
    "load_embeddings",
    "operator_jaccard",
    "operators",
    "parse",
    "parse_failures",
    "parsed_before",
    "parts",
    "rouge_l",
    "rouge_l_words",
    "score_pairs",
    "seqsim",
    "structure",
    "structure_distance",
    "syntax",
    "ted",
    "ted_parsed",
    "texbleu",
    "tokens",
]


@metric("higher", upper=1.0)
def lexicality(prediction: str, truth: str) -> float:
    """Mean of `texbleu`, `levenshtein_similarity`, `seqsim` and `rouge_l`: how alike two formulas are as text.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        In [0, 1].
    """
    return float(np.mean([f(prediction, truth) for f in (texbleu, levenshtein_similarity, seqsim, rouge_l)]))


@metric("higher", lower=-1.0, upper=1.0)
def syntax(prediction: str, truth: str) -> float:
    """One minus `ted`: how alike two formulas are as trees.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> syntax("y=a+b", "x=u+v")
    1.0
    """
    return 1 - ted(prediction, truth)


PUBLISHED = (texbleu, levenshtein_similarity, seqsim, rouge_l, ted)
HARMONISED = (ted_parsed, parse_failures, structure_distance, operator_jaccard)


def score_pairs(
    predictions: Sequence[str],
    truths: Sequence[str],
    *,
    metrics: Iterable[Callable] = PUBLISHED,
    processes: int | None = None,
) -> pd.DataFrame:
    """Metrics of many pairs of cleaned formulas, one row per pair.

    Parameters
    ----------
    predictions, truths : sequences of str, equally long
        As `clean` returns them.
    metrics : metrics of this module
    processes : int, optional
        How many parse at a time; as many as there are processors by default.

    Returns
    -------
    DataFrame, one column per metric under its name
    """
    pairs = list(zip(predictions, truths, strict=True))
    metrics = tuple(metrics)
    if {ted, ted_parsed, parse_failures} & set(metrics):
        parse({part for pair in pairs for text in pair for part in parts(text)}, processes=processes)
    return pd.DataFrame({f.__name__: [f(a, b) for a, b in pairs] for f in metrics})

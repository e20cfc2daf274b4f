r"""How alike are two LaTeX formulas: the metrics of SciText2Eq as its released pipeline runs them, and repaired ones.

Several equations are one string with ``" || "`` between them. `clean` comes before every metric of the pipeline. As
published: `levenshtein_similarity`, `seqsim`, `rouge_l`, `texbleu`, `ted`. Harmonised: `ted_parsed` with
`parse_failures`, `texbleu` with ``brevity=False``, `structure_distance`, `operator_jaccard_spelt_alike`. Layout (how a
fraction is set, the order of scripts, space, a dot between factors) counts in all measures but the last two.

Text is parsed (by SymPy's LaTeX parser, in processes that can be killed), never executed.
"""

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from ..system.extras import extra
from . import metric
from .latex_text import (
    FACTS,
    SEPARATOR,
    TOKENIZER,
    Gpt2Tokenizer,
    clean,
    gpt2,
    load_embeddings,
    parts,
    spelt_alike,
    tokens,
)
from .latex_trees import forget, letter_commands, parse, parsed_before, structure
from .trees import size, tree_edit_distance

with extra("text"):
    from rapidfuzz.distance import LCSseq, Levenshtein

__all__ = ["SEPARATOR", "TOKENIZER", "Gpt2Tokenizer", "clean", "gpt2", "load_embeddings", "parts", "tokens"]
__all__ += ["forget", "letter_commands", "parse", "parsed_before", "structure"]
__all__ += [
    "levenshtein_similarity",
    "operator_jaccard",
    "operator_jaccard_spelt_alike",
    "operators",
    "rouge_l",
    "rouge_l_words",
    "seqsim",
    "texbleu",
]
__all__ += ["lexicality", "parse_failures", "structure_distance", "syntax", "ted", "ted_parsed"]
__all__ += ["HARMONISED", "PUBLISHED", "score_pairs"]

FORMULAS = """str
    LaTeX, cleaned by `clean`."""

# ---- characters


@metric("higher", upper=1.0, of=FORMULAS)
def levenshtein_similarity(prediction: str, truth: str) -> float:
    r"""One minus the edit distance between two strings over the longer length, to 4 decimals as published.

    ``1 - d / max(len(truth), len(prediction), 1)`` in characters, unit costs. SciText2Eq's "Levenshtein". Two
    empty strings: 1.

    >>> levenshtein_similarity(r"\beta", r"\alpha")  # 4 edits over 6 characters
    0.3333
    """
    longest = max(len(truth), len(prediction), 1)
    return round(1 - Levenshtein.distance(truth, prediction) / longest, 4)


@metric("higher", upper=1.0, of=FORMULAS)
def seqsim(prediction: str, truth: str) -> float:
    r"""Ratio of matching blocks of characters, ``2 M / T`` by Ratcliff and Obershelp.

    ``difflib.SequenceMatcher(None, truth, prediction).ratio()`` with its heuristic for popular characters
    left on (it acts from 200 characters), so it is not symmetric. Two empty strings: 1.

    >>> round(seqsim("a/b", r"\frac{a}{b}"), 6)  # a and b match: 2 * 2 / 14
    0.285714
    """
    return difflib.SequenceMatcher(None, truth, prediction).ratio()


# ---- tokens


@functools.lru_cache(maxsize=50_000)
def _spelt(text: str, tokenizer: Gpt2Tokenizer | None) -> str:
    decode = (tokenizer or gpt2()).decode
    return " ".join(decode([i]) for i in tokens(text, tokenizer))


@functools.lru_cache(maxsize=50_000)
def _words(text: str) -> list[str]:
    with extra("text"):
        from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True).tokenize(text)


def _rouge(prediction: str, truth: str) -> float:
    a, b = _words(prediction), _words(truth)
    common = LCSseq.similarity(a, b)
    if not common:
        return 0.0
    precision, recall = common / len(a), common / len(b)
    return round(2 * precision * recall / (precision + recall), 4)  # in rouge_score's order: the 4th digit can differ


@metric("higher", upper=1.0)
def rouge_l(prediction: str, truth: str, *, tokenizer: Gpt2Tokenizer | None = None) -> float:
    """ROUGE-L F1 over GPT-2 tokens, as published.

    Tokens are decoded one by one and joined by blanks; then rouge_score's own tokenizer (lower case, only a-z
    and 0-9 stay, Porter stems) and ``F1 = 2 LCS / (len(prediction) + len(truth))``, 4 decimals. Braces,
    operators and Greek letters typed as such vanish. Nothing in common, or an empty side: 0.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.
    tokenizer : Gpt2Tokenizer, optional
        GPT-2's by default.

    Returns
    -------
    float
        In [0, 1], 4 decimals.

    Raises
    ------
    rediscover.system.upstream_files.ReleasedError
        If GPT-2's merges cannot be had; `rouge_l_words` needs none.

    Examples
    --------
    >>> rouge_l("ab", "abc", tokenizer=Gpt2Tokenizer())  # bytes: a, b in a, b, c: 2 * 2 / 5
    0.8
    """
    return _rouge(_spelt(prediction, tokenizer), _spelt(truth, tokenizer))


@metric("higher", upper=1.0, of=FORMULAS)
def rouge_l_words(prediction: str, truth: str) -> float:
    """ROUGE-L F1 over words of letters and digits: `rouge_l` without GPT-2's tokens, 4 decimals.

    >>> rouge_l_words("a/b", r"\\frac{a}{b}")  # a, b of frac, a, b: 2 * 2 / 5
    0.8
    """
    return _rouge(prediction, truth)


@metric("higher", upper=1.0)
def texbleu(
    prediction: str,
    truth: str,
    *,
    brevity: bool = True,
    embeddings: np.ndarray | None = None,
    tokenizer: Gpt2Tokenizer | None = None,
) -> float:
    r"""TexBLEU as SciText2Eq ran it: unigrams and bigrams compared by index, times a brevity penalty.

    With token distances ``d_i = (1 - cos(e_i, e_i'))^2 / 2`` over aligned tokens (the positional term is zero, since
    aligned tokens have equal positions), ``s_n = 1 - mean of d over the first min(count) n-grams``, the score is
    ``sqrt(s_1 s_2) BP``, ``BP = 1`` if the prediction is longer, else ``exp(1 - len(truth) / len(prediction))``. An
    n-gram size that one side does not have gives ``s_n = 1e-10``: a single token scores 0 even against itself.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.
    brevity : bool
        False leaves the penalty out, as the metric's authors do; it explains 98 % of the published variation.
    embeddings : ndarray, shape (n_vocabulary, n_dimensions), optional
        GPT-2's token embeddings (`load_embeddings`). Without, every pair of different tokens counts as the average
        pair does (``(1 - cos)^2 = 0.525``): the surrogate, within 0.01 of the published values (root mean square).
    tokenizer : Gpt2Tokenizer, optional
        GPT-2's by default.

    Returns
    -------
    float in [0, 1], 4 decimals; 0 if either side is empty.

    References
    ----------
    Jung et al., TeXBLEU: automatic metric for evaluating LaTeX format, ICASSP 2025 (which has no penalty).

    Examples
    --------
    >>> texbleu("abd", "abc", tokenizer=Gpt2Tokenizer())  # d = 0.2625: sqrt((1 - d/3) (1 - d/4))
    0.9234
    """
    if not prediction or not truth:
        return 0.0
    a, b = (np.array(tokens(text, tokenizer)) for text in (prediction, truth))
    n = min(len(a), len(b))
    d = _gaps(a[:n], b[:n], embeddings) / 2
    s1 = 1 - d.mean()
    s2 = 1 - (d[:-1] + d[1:]).mean() / 2 if n > 1 else 0.0
    penalty = 1.0 if not brevity or len(a) > len(b) else math.exp(1 - len(b) / len(a))
    return round(math.sqrt(max(s1, 1e-10) * max(s2, 1e-10)) * penalty, 4)


def _gaps(a: np.ndarray, b: np.ndarray, embeddings: np.ndarray | None) -> np.ndarray:
    if embeddings is None:
        return np.where(a == b, 0.0, FACTS["texbleu_mean_gap"])
    x, y = (np.asarray(embeddings[ids], float) for ids in (a, b))
    cosine = (x * y).sum(1) / np.maximum(np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1), 1e-12)
    return np.where(a == b, 0.0, (1 - cosine) ** 2)


# ---- operators


@metric("higher", upper=1.0, of=FORMULAS)
def operator_jaccard(prediction: str, truth: str) -> float:
    r"""Overlap of the sets of operators, ``|A & B| / |A | B|``: SciText2Eq's Table 5. Two empty sets: 1.

    What an operator is the paper does not say; ``latex.yaml`` holds the set used here. On all released rows its
    shares of exact and high overlap are within the sampling error of the published ones, which come from 100 rows.

    Commands are taken as they are written: ``\dfrac`` is another operator than ``\frac``. See
    `operator_jaccard_spelt_alike`.

    >>> operator_jaccard("a=b*c", r"a=\frac{b}{c}")  # {=, *} and {=, frac}
    0.3333333333333333
    """
    return _overlap(operators(prediction), operators(truth))


@metric("higher", upper=1.0, of=FORMULAS)
def operator_jaccard_spelt_alike(prediction: str, truth: str) -> float:
    r"""`operator_jaccard` (harmonised) that does not depend on layout.

    Other spellings of a command (``spellings`` in ``latex.yaml``) count as it, dots between factors not at all.

    >>> operator_jaccard_spelt_alike(r"\dfrac{a}{b}", r"\frac{a}{b}"), operator_jaccard(r"\dfrac{a}{b}", r"\frac{a}{b}")
    (1.0, 0.0)
    """
    silent = FACTS["silent_commands"]
    return _overlap(*(operators(spelt_alike(text)).difference(silent) for text in (prediction, truth)))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def operators(text: str) -> frozenset[str]:
    r"""Operators that occur in a formula.

    Parameters
    ----------
    text : str
        LaTeX.

    Returns
    -------
    frozenset of str
        Commands without their backslash, and characters.

    Examples
    --------
    >>> sorted(operators(r"y=\sum_i x_i"))
    ['=', '_', 'sum']
    """
    commands = set(re.findall(r"\\([A-Za-z]+)", text))
    known = frozenset(FACTS["operator_commands"])
    return (known & commands) | (frozenset(FACTS["operator_characters"]) & set(text))


# ---- trees


@metric("lower", of=FORMULAS)
def ted(prediction: str, truth: str) -> float:
    r"""Mean tree edit distance between SymPy's parses, over the larger size, as published.

    The i-th equation of one side is compared with the i-th of the other, surplus ones are ignored. Nodes are
    labelled by SymPy's class alone, so names and numbers are invisible. A side that SymPy cannot parse counts
    as distance 1, and so does a formula without equations: half of the published values are of that kind.
    Layout that SymPy stumbles over (``\dfrac`` is read, ``x(y - z)`` below a bar is a call of x) counts, as released.
    Trees that differ all over can be further apart than the larger one is big: values a little above 1 occur.

    >>> ted("y=a+b", "x=u+v")
    0.0
    """
    distances = _ted_parts(prediction, truth)
    return float(np.mean([1.0 if d is None else d for d in distances])) if distances else 1.0


@metric("lower", of=FORMULAS)
def ted_parsed(prediction: str, truth: str) -> float:
    """`ted` over those pairs of equations that SymPy parses on both sides; NaN if there are none.

    Report it beside `parse_failures`.

    >>> ted_parsed("y=a || }{", "y=a || b=c")
    0.0
    """
    distances = [d for d in _ted_parts(prediction, truth) if d is not None]
    return float(np.mean(distances)) if distances else math.nan


@metric("lower", upper=1.0, of=FORMULAS)
def parse_failures(prediction: str, truth: str) -> float:
    """Share of pairs of equations of which SymPy cannot parse one side or the other; 1 if there are no pairs.

    >>> parse_failures("y=a || }{", "y=a || b=c")
    0.5
    """
    distances = _ted_parts(prediction, truth)
    return sum(d is None for d in distances) / len(distances) if distances else 1.0


def _ted_parts(prediction: str, truth: str) -> list[float | None]:
    pairs = list(zip(parts(prediction), parts(truth), strict=False))
    parsed = parse({part for pair in pairs for part in pair})
    trees = [(parsed[a], parsed[b]) for a, b in pairs]
    return [tree_edit_distance(a, b) / max(size(a), size(b)) if a and b else None for a, b in trees]


@metric("lower", upper=1.0, of=FORMULAS)
def structure_distance(prediction: str, truth: str) -> float:
    r"""Tree edit distance between LaTeX source trees, in [0, 1]: a structure metric that never fails.

    With the edit distance ``d`` of trees of ``m`` and ``n`` nodes it is ``2 d / (m + n + d)``, which is a metric (Li
    and Zhang, A metric normalization of tree edit distance, Frontiers of Computer Science 5 (2011)). The tree is that
    of the markup, read leniently by pylatexenc (see `structure`): commands with their arguments, sub- and
    superscripts with theirs, operators; letters, Greek or not, are one label and numbers another, so that renaming a
    variable costs nothing, as in `ted`. Layout does not count: the style of a fraction, other spellings of a command,
    the order of sub- and superscript, space, fonts, the size of brackets, alignment, a dot between factors
    (``spellings``, ``silent_commands`` and ``alignments`` in ``latex.yaml``). Formulas are compared whole, with all
    their equations. Two empty formulas: 0.

    >>> structure_distance("y_j=a", "x_i=b")
    0.0
    >>> structure_distance(r"\dfrac{a}{b} x_{1}^{2}", r"\frac{a}{b} \cdot x^{2}_{1}")
    0.0
    >>> structure_distance(r"\frac{a}{b}", r"\sqrt{a}")  # 4 and 3 nodes, d = 2 (relabel, delete): 4 / 9
    0.4444444444444444
    """
    a, b = structure(prediction), structure(truth)
    distance = tree_edit_distance(a, b)
    return 2 * distance / (size(a) + size(b) + distance)


# ---- together


@metric("higher", upper=1.0, of=FORMULAS)
def lexicality(prediction: str, truth: str) -> float:
    """Mean of `texbleu`, `levenshtein_similarity`, `seqsim` and `rouge_l`: how alike two formulas are as text."""
    return float(np.mean([f(prediction, truth) for f in (texbleu, levenshtein_similarity, seqsim, rouge_l)]))


@metric("higher", lower=-1.0, upper=1.0, of=FORMULAS)
def syntax(prediction: str, truth: str) -> float:
    """One minus `ted`: how alike two formulas are as trees.

    >>> syntax("y=a+b", "x=u+v")
    1.0
    """
    return 1 - ted(prediction, truth)


PUBLISHED = (texbleu, levenshtein_similarity, seqsim, rouge_l, ted)
HARMONISED = (ted_parsed, parse_failures, structure_distance, operator_jaccard, operator_jaccard_spelt_alike)


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

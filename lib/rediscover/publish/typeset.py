r"""Mathematics as MathML, which browsers draw by themselves: TeX, trees of expressions, truths and answers.

`mathml` converts TeX, `formula` writes trees of expressions, which are many and long, at once.
"""

import functools
import html
import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import tostring

from ..expressions import ExpressionError, parse
from ..expressions.trees import fold
from ..problems import Passage, Problem, Series
from ..system.extras import extra

NODES = 150  # of a tree that is typeset; a longer answer is shown as text
GREEK = set(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega varepsilon""".split()
)
ONE, SPACE = re.compile(r"<m[in]>[^<]*</m[in]>"), '<mspace width="0.17em"></mspace>'
ARG = re.compile(r"\\arg(?![A-Za-z])")  # the one common operator that the converter lacks
SHOWN = {"mathvariant", "stretchy", "fence", "form", "accent", "width", "columnalign", "movablelimits"}


def mathml(tex: str, display: bool = False) -> str:
    r"""TeX as a MathML element; what the converter cannot read is shown as it is written.

    Parameters
    ----------
    tex : str
        Of mathematics, without dollars. Nothing in it can become markup, a link or a style.
    display : bool
        Whether it stands on a line of its own.

    Examples
    --------
    >>> mathml(r"x_1")
    '<math><msub><mi>x</mi><mn>1</mn></msub></math>'
    >>> mathml("x_")
    '<math><mtext>x_</mtext></math>'
    """
    return _math(_inner(tex, display), display)


def _math(inner: str, display: bool = True) -> str:
    return f"<math{DISPLAY * display}>{inner}</math>"


@functools.lru_cache(maxsize=20_000)
def _inner(tex: str, display: bool = False) -> str:
    try:
        with extra("text"):
            from latex2mathml.converter import convert_to_element
        [row] = convert_to_element(ARG.sub(r"\\operatorname{arg}", tex), display="block" if display else "inline")
    except Exception:  # the converter has an exception for each thing that it misses, and a depth
        return f"<mtext>{html.escape(tex)}</mtext>"
    row = row[0] if len(row) == 1 else row
    for part in row.iter():  # it writes signs as entities
        part.text = html.unescape(part.text or "")
        part.attrib = {key: value for key, value in part.attrib.items() if key in SHOWN}
    return tostring(row, encoding="unicode", short_empty_elements=False)


def name(text: str) -> str:
    r"""A variable's name as TeX.

    Examples
    --------
    >>> name("sigma_free"), name("x0"), name("u0_xx")
    ('\\sigma_{\\text{free}}', 'x_{0}', 'u_{0,xx}')
    """
    base, *below = text.split("_")
    letters = base.rstrip("0123456789")
    digits = base[len(letters) :]
    head = f"\\{letters}" if letters in GREEK else letters if len(letters) <= 1 else rf"\text{{{letters}}}"
    parts = [digits] * bool(digits) + below
    spelt = [
        part if len(part) == 1 or not part.isalpha() or set(part) <= set("xyzt") else rf"\text{{{part}}}"
        for part in parts
    ]
    spelt = [f"\\{part}" if part in GREEK else written for part, written in zip(parts, spelt, strict=True)]
    return head + (f"_{{{','.join(spelt)}}}" if parts else "")


SUM, MINUS, PRODUCT, FRACTION, ATOM = 1, 2, 3, 4, 5
DISPLAY, NEGATIVE, TIMES = ' display="block"', "<mo>−</mo>", "<mo>·</mo>"
SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "and": "∧", "or": "∨", "xor": "⊕"}
SIGNS |= {"<": "&lt;", ">": "&gt;", "implies": "⟹"}
AROUND = {"abs": "||", "floor": "⌊⌋", "ceil": "⌈⌉"}


def number(value: float) -> str:
    """A constant as MathML, four digits of it.

    >>> number(-1.23456e-9)
    '<mo>−</mo><mn>1.235</mn><mo>×</mo><msup><mn>10</mn><mn>-9</mn></msup>'
    """
    text = str(value) if isinstance(value, int) and abs(value) < 1e6 else f"{value:.4g}"
    digits, _, power = text.partition("e")
    scaled = f"<mo>×</mo><msup><mn>10</mn><mn>{int(power)}</mn></msup>" if power else ""
    return NEGATIVE * digits.startswith("-") + f"<mn>{digits.lstrip('-')}</mn>{scaled}"


def formula(tree: tuple) -> str:
    """The tree of an expression as MathML, without the element around it.

    Examples
    --------
    >>> formula(parse("x/2").tree)
    '<mfrac><mi>x</mi><mn>2</mn></mfrac>'
    """
    return fold(tree, _written)[0]


def _written(label: Any, children: list[tuple[str, int]]) -> tuple[str, int]:
    """A node as MathML, and how strongly it binds."""
    if not children:
        if isinstance(label, str):
            return {"π": "<mi>π</mi>", "ℯ": "<mi>e</mi>"}.get(label) or _inner(name(label)), ATOM
        text = number(label)
        return text, MINUS if text.startswith(NEGATIVE) else PRODUCT if "×" in text else ATOM
    (a, binds), (b, binds_b) = children[0], children[-1]
    if label in ("+", "-"):
        second = b if binds_b > (SUM if label == "-" else 0) else _bracketed(b)
        if b.startswith(NEGATIVE) and (label == "+" or binds_b >= MINUS):  # a + -b is a - b
            label, second = "-" if label == "+" else "+", b.removeprefix(NEGATIVE)
        return a + (NEGATIVE if label == "-" else "<mo>+</mo>") + second, SUM
    if label == "neg":
        return NEGATIVE + (a if binds > MINUS else _bracketed(a)), MINUS
    if label == "*":
        first, second = (t if p >= PRODUCT or (p == MINUS and t is a) else _bracketed(t) for t, p in children)
        between = TIMES if second.startswith("<mn>") else SPACE
        return first + between + second, PRODUCT if binds != MINUS else MINUS
    if label == "/":
        sign = NEGATIVE if a.startswith(NEGATIVE) and binds == MINUS else ""
        return f"{sign}<mfrac>{_row(a.removeprefix(sign))}{_row(b)}</mfrac>", MINUS if sign else FRACTION
    if label == "**":
        base = a if binds == ATOM and "<msup>" not in a else _bracketed(a)
        return (f"<msqrt>{a}</msqrt>" if b == "<mn>0.5</mn>" else f"<msup>{_row(base)}{_row(b)}</msup>"), ATOM
    return _function(label, children), SUM if label in SIGNS else ATOM


def _function(label: str, children: list[tuple[str, int]]) -> str:
    texts = [text for text, _ in children]
    if label in SIGNS:
        first, second = (text if binds > SUM else _bracketed(text) for text, binds in children)
        return f"{first}<mo>{SIGNS[label]}</mo>{second}"
    if label == "not":
        return "<mo>¬</mo>" + (texts[0] if children[0][1] == ATOM else _bracketed(texts[0]))
    if label == "exp":
        return f"<msup><mi>e</mi>{_row(texts[0])}</msup>"
    if label in ("sqrt", "cbrt"):
        return f"<msqrt>{texts[0]}</msqrt>" if label == "sqrt" else f"<mroot>{_row(texts[0])}<mn>3</mn></mroot>"
    if label in AROUND:
        return _bracketed(texts[0], *AROUND[label])
    if label == "where":
        when = f"<mtext>if </mtext>{texts[0]}", "<mtext>otherwise</mtext>"
        cases = zip(texts[1:], when, strict=False)  # one or both
        lines = "".join(f"<mtr><mtd>{value}</mtd><mtd>{case}</mtd></mtr>" for value, case in cases)
        return f"<mrow><mo>{{</mo><mtable>{lines}</mtable></mrow>"
    return f"<mi>{html.escape(label)}</mi>{_bracketed('<mo>,</mo>'.join(texts))}"


def _row(inner: str) -> str:
    """One element, as a place for one wants it."""
    return inner if ONE.fullmatch(inner) else f"<mrow>{inner}</mrow>"


def _bracketed(inner: str, opening: str = "(", closing: str = ")") -> str:
    return f"<mrow><mo>{opening}</mo>{inner}<mo>{closing}</mo></mrow>"


LEFT = {"trajectories": r"\dot{%s}", "field": r"\partial_t %s", "transitions": "%s^{+}"}  # what a right-hand side is of


def equations(problem: Problem, solution: Mapping[str, Any], equals: bool = True) -> list[str]:
    """A truth or an answer as HTML, one text for each of its equations; those too long to typeset stay text.

    Parameters
    ----------
    problem : Problem
        Whose kind says how to read it.
    solution : output -> text of its expression, rule or formula; of a causal graph, its parents with their lags.
    equals : bool
        Whether the left-hand sides are shown.
    """
    if isinstance(problem, Passage):
        return [mathml(part.strip(), True) for text in solution.values() for part in str(text).split("||")]
    shown = []
    for output, text in solution.items():
        left = _inner(LEFT.get(problem.kind, "%s") % name(output)) + "<mo>=</mo>"
        if isinstance(problem, Series):
            parents = ", ".join(f"{name(parent)}(t - {lag})" for parent, lag in text) or r"\emptyset"
            shown.append(mathml(rf"{name(output)}(t) \leftarrow {parents}", True))
            continue
        right = _right(str(text), problem.kind == "transitions")
        if right is None:
            shown.append(f"<code>{html.escape(f'{output} = {text}' if equals else str(text))}</code>")
        elif problem.kind == "level set" and output == "F":
            shown.append(_math(f"{right}<mo>=</mo><mn>0</mn>"))
        else:
            shown.append(_math(left * equals + right))
    return shown


@functools.lru_cache(maxsize=20_000)
def _right(text: str, logic: bool) -> str | None:
    try:
        read = parse(text, logic=logic)
    except (ExpressionError, RecursionError):
        return None
    return formula(read.tree) if read.size <= NODES else None

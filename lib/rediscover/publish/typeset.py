r"""Mathematics as MathML, which browsers draw by themselves: TeX, trees of expressions, truths and answers.

A tree becomes TeX, `tex`, and TeX becomes MathML Core, `mathml`. TeX that is not known is shown as it is written.
"""

import functools
import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from pylatexenc.latex2text import get_default_latex_context_db

from ..expressions import ExpressionError, parse
from ..expressions.trees import fold
from ..problems import Passage, Problem, Series

NODES = 150  # of a tree that is typeset; a longer answer is shown as text
GREEK = set(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega varepsilon""".split()
)
TOKEN = re.compile(r"\\(?:[A-Za-z]+\*?|.)|\d+(?:\.\d+)?|\s+|.", re.S)
ACCENTS = {"hat": "^", "widehat": "^", "tilde": "~", "widetilde": "~", "bar": "¯", "overline": "¯", "vec": "→"}
ACCENTS |= {"dot": "˙", "ddot": "¨"}
FONTS = {"mathbf": "BOLD", "boldsymbol": "BOLD", "bm": "BOLD", "mathbb": "DOUBLE-STRUCK", "mathcal": "SCRIPT"}
FONTS |= {"mathscr": "SCRIPT", "mathfrak": "FRAKTUR"}
UPRIGHT = {
    "text",
    "mathrm",
    "operatorname",
    "textit",
    "textrm",
    "mathit",
    "textbf",
    "mathsf",
    "texttt",
    "mathtt",
    "mbox",
}
WORDS = set("arg sin cos tan cot sinh cosh tanh exp log ln det dim ker arcsin arccos arctan deg gcd Pr sec csc".split())
LIMITS = {"lim", "max", "min", "sup", "inf", "argmax", "argmin", "limsup", "liminf"}
LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂", "iint": "∬"}
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, "!": 0, " ": 0.25, "quad": 1, "qquad": 2, "~": 0.25}
IGNORED = set("displaystyle textstyle scriptstyle limits nolimits nonumber notag big Big bigg Bigg bigl bigr".split())
IGNORED |= set("Bigl Bigr biggl biggr Biggl Biggr middle".split())
SYMBOLS = {"dots": "…", "ldots": "…", "cdots": "⋯", "land": "∧", "lor": "∨", "lnot": "¬", "top": "⊤", "|": "‖"}
SYMBOLS |= {"to": "→", "mid": "|", "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖"}
SYMBOLS |= {"lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "langle": "⟨", "rangle": "⟩", "colon": ":"}
SYMBOLS |= {"leftarrow": "←", "succ": "≻", "odot": "⊙", "nabla": "∇", "partial": "∂", "triangleq": "≜", "iff": "⟺"}
SYMBOLS |= {"coloneqq": "≔", "hbar": "ℏ", "implies": "⟹", "prime": "′", "ell": "ℓ", "lfloor": "⌊", "rfloor": "⌋"}
SYMBOLS |= {"lceil": "⌈", "rceil": "⌉", "neg": "¬", "gets": "←", "thickapprox": "≈", "rightarrow": "→"}
DISPLAY, RIGID = ' display="block"', ' stretchy="false"'
PLAIN = get_default_latex_context_db()


def mathml(tex: str, display: bool = False) -> str:
    r"""TeX as a MathML element that says its TeX to who cannot see it.

    Parameters
    ----------
    tex : str
        Of mathematics, without dollars.
    display : bool
        Whether it stands on a line of its own.

    Examples
    --------
    >>> mathml(r"\frac{x}{2}")
    '<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>'
    """
    return f"<math{DISPLAY * display}>{_inner(tex)}</math>"


@functools.lru_cache(maxsize=20_000)
def _inner(tex: str) -> str:
    return _Reader(tex).row()


class _Reader:
    """One reading of one formula."""

    def __init__(self, tex: str) -> None:
        self.tokens = [token if not token.isspace() else " " for token in TOKEN.findall(tex)]
        self.place = 0

    def peek(self) -> str:
        while self.place < len(self.tokens) and self.tokens[self.place] == " ":
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def row(self, ends: tuple[str, ...] = ()) -> str:
        """What stands before one of `ends` (or the text's end), which is not read."""
        return "".join(self.parts(ends))

    def parts(self, ends: tuple[str, ...]) -> list[str]:
        found: list[str] = []
        while (token := self.peek()) and token not in ends:
            if token in "^_":
                base = found.pop() if found else "<mrow></mrow>"
                found.append(self.scripts(base))
            else:
                found.append(self.atom())
        return found

    def scripts(self, base: str) -> str:
        scripts = {}
        while (sign := self.peek()) and sign in "^_":
            self.next()
            scripts[sign] = self.argument()
        under = base.startswith("<mo>") and base[4:-5] in LARGE.values() and base[4:-5] not in "∫∮∬"
        kind = "under" if under or 'class="limit"' in base else "sub"
        above = "over" if kind == "under" else "sup"
        if len(scripts) == 2:
            tag = f"m{kind}{above}"
            return f"<{tag}>{base}{scripts['_']}{scripts['^']}</{tag}>"
        tag = f"m{kind}" if "_" in scripts else f"m{above}"
        return f"<{tag}>{base}{next(iter(scripts.values()))}</{tag}>"

    def argument(self) -> str:
        if self.peek() == "{":
            return self.group()
        token = self.peek()
        if token.isdigit() and len(token) > 1:  # x^10 is x^1 0
            self.tokens[self.place] = token[1:]
            return f"<mn>{token[0]}</mn>"
        return self.atom() if token else "<mrow></mrow>"

    def group(self) -> str:
        self.next()
        parts = self.parts(("}",))
        self.next()
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def raw(self) -> str:
        """The text of an argument in braces, spaces kept."""
        if self.peek() != "{":
            return self.next()
        self.place += 1
        depth, start = 1, self.place
        while depth and self.place < len(self.tokens):
            depth += {"{": 1, "}": -1}.get(self.tokens[self.place], 0)
            self.place += 1
        return "".join(self.tokens[start : self.place - 1])

    def atom(self) -> str:
        token = self.next()
        if token == "{":
            self.place -= 1
            return self.group()
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        token = {"-": "−", "*": "∗", "'": "′", "~": "\u00a0", "}": ""}.get(token, token)
        return f"<mo{RIGID * (token in '()[]|')}>{html.escape(token)}</mo>" if token else ""

    def command(self, name: str) -> str:
        if name in ("frac", "dfrac", "tfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "sqrt":
            return self.root()
        if name == "left":
            return self.fenced()
        if name == "begin":
            return self.table(self.raw())
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in FONTS:
            return f"<mi>{''.join(_styled(letter, FONTS[name]) for letter in self.raw())}</mi>"
        if name.rstrip("*") in UPRIGHT:
            text = self.raw().replace("\\", "")
            kind = "limit" if text in LIMITS else "word"
            return f'<mtext class="{kind}">{html.escape(text)}</mtext>'
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"></mspace>' if SPACES[name] else ""
        if name in ("underbrace", "overbrace", "mathop", "mathrel", "mathbin", "boxed"):
            return self.argument()
        if name in ("tag", "label"):
            self.raw()
            return ""
        return self.symbol(name)

    def symbol(self, name: str) -> str:
        if name in IGNORED or name == "\\":
            return ""
        if name in LARGE:
            return f"<mo>{LARGE[name]}</mo>"
        if name in LIMITS:
            return f'<mo class="limit" movablelimits="false">{name}</mo>'
        if name in WORDS:
            return f"<mi>{name}</mi><mo>\u2061</mo>" if len(name) > 1 else f"<mi>{name}</mi>"
        known = PLAIN.get_macro_spec(name)
        text = SYMBOLS.get(name) or getattr(known, "simplify_repl", None)
        if not isinstance(text, str) or not text or "%" in text:
            text = name if not name.isalpha() else f"\\{name}"
        kind = "mi" if text[0].isalpha() else "mo"
        return f"<{kind}>{html.escape(text)}</{kind}>"

    def root(self) -> str:
        if self.peek() != "[":
            return f"<msqrt>{self.argument()}</msqrt>"
        self.next()
        degree = self.row(("]",))
        self.next()
        return f"<mroot>{self.argument()}<mrow>{degree}</mrow></mroot>"

    def fenced(self) -> str:
        opened = self.fence()
        inner = self.row(("\\right",))
        self.next()
        return f"<mrow>{opened}{inner}{self.fence()}</mrow>"

    def fence(self) -> str:
        token = self.next()
        if token == ".":
            return ""
        sign = SYMBOLS.get(token[1:], token[1:]) if token.startswith("\\") else token
        return f'<mo stretchy="true">{html.escape(sign)}</mo>'

    def table(self, name: str) -> str:
        if name == "array":
            self.raw()
        rows: list[list[str]] = [[]]
        while (token := self.peek()) and token != "\\end":
            rows[-1].append(self.row(("&", "\\\\", "\\end")))
            if (token := self.peek()) != "\\end":
                self.next()
            if token == "\\\\":
                rows.append([])
        self.next()
        self.raw()
        cells = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows if row)
        signs = {"cases": "{.", "pmatrix": "()", "bmatrix": "[]", "vmatrix": "||"}.get(name, "..")
        fences = [f"<mo>{sign}</mo>" * (sign != ".") for sign in signs]
        return f'<mrow>{fences[0]}<mtable class="{html.escape(name)}">{cells}</mtable>{fences[1]}</mrow>'


def _styled(letter: str, style: str) -> str:
    case = "CAPITAL" if letter.isupper() else "SMALL"
    for start in ("MATHEMATICAL ", ""):
        try:
            return unicodedata.lookup(f"{start}{style} {case} {letter.upper()}")
        except KeyError:
            continue
    return "" if letter in "\\{}" else letter


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


def number(value: float) -> str:
    r"""A constant as TeX, four digits of it.

    >>> number(0.5), number(-1.23456e-9)
    ('0.5', '-1.235\\times 10^{-9}')
    """
    text = str(value) if isinstance(value, int) and abs(value) < 1e6 else f"{value:.4g}"
    digits, _, power = text.partition("e")
    return rf"{digits}\times 10^{{{int(power)}}}" if power else digits


SUM, MINUS, PRODUCT, FRACTION, ATOM = 1, 2, 3, 4, 5
SIGNS = {"<=": r"\leq", ">=": r"\geq", "==": "=", "!=": r"\neq", "and": r"\land", "or": r"\lor", "xor": r"\oplus"}
SIGNS |= {"<": "<", ">": ">", "implies": r"\implies"}
AROUND = {"abs": ("|", "|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}


def tex(tree: tuple) -> str:
    r"""The tree of an expression as TeX.

    Examples
    --------
    >>> tex(parse("2*x0/(1 + exp(-x1))").tree)
    '\\frac{2\\,x_{0}}{1 + e^{-x_{1}}}'
    """
    return fold(tree, _written)[0]


def _written(label: Any, children: list[tuple[str, int]]) -> tuple[str, int]:
    if not children:
        if isinstance(label, str):
            return {"π": r"\pi", "ℯ": "e"}.get(label) or name(label), ATOM
        text = number(label)
        return text, MINUS if text.startswith("-") else PRODUCT if "times" in text else ATOM
    (a, binds), (b, binds_b) = children[0], children[-1]
    if label in ("+", "-"):
        second = b if binds_b > (SUM if label == "-" else 0) else _bracketed(b)
        if b.startswith("-") and (label == "+" or binds_b >= MINUS):  # a + -b is a - b
            label, second = "-" if label == "+" else "+", b[1:]
        return f"{a} {label} {second}", SUM
    if label == "neg":
        return "-" + (a if binds > MINUS else _bracketed(a)), MINUS
    if label == "*":
        first, second = (t if p >= PRODUCT or (p == MINUS and t is a) else _bracketed(t) for t, p in children)
        return first + (r" \cdot " if second[0].isdigit() else r"\,") + second, PRODUCT if binds != MINUS else MINUS
    if label == "/":
        sign = "-" if a.startswith("-") and binds == MINUS else ""
        return rf"{sign}\frac{{{a[len(sign) :]}}}{{{b}}}", MINUS if sign else FRACTION
    if label == "**":
        base = a if binds == ATOM and "^" not in a else _bracketed(a)
        return (rf"\sqrt{{{a}}}", ATOM) if b == "0.5" else (f"{base}^{{{b}}}", ATOM)
    return _function(label, children), SUM if label in SIGNS else ATOM


def _function(label: str, children: list[tuple[str, int]]) -> str:
    texts = [text for text, _ in children]
    if label in SIGNS:
        first, second = (text if binds > SUM else _bracketed(text) for text, binds in children)
        return f"{first} {SIGNS[label]} {second}"
    if label == "not":
        return r"\lnot " + (texts[0] if children[0][1] == ATOM else _bracketed(texts[0]))
    if label == "exp":
        return f"e^{{{texts[0]}}}"
    if label in ("sqrt", "cbrt"):
        return rf"\sqrt{'[3]' * (label == 'cbrt')}{{{texts[0]}}}"
    if label in AROUND:
        return rf"\left{AROUND[label][0]}{{{texts[0]}}}\right{AROUND[label][1]}"
    if label == "where":
        other = rf"\\ {texts[2]} & \text{{otherwise}}" if len(texts) == 3 else ""
        return rf"\begin{{cases}}{texts[1]} & \text{{if }}{texts[0]}{other}\end{{cases}}"
    called = f"\\{label}" if label in WORDS else rf"\text{{{label}}}"
    return rf"{called}\left({', '.join(texts)}\right)"


def _bracketed(text: str) -> str:
    return rf"\left({text}\right)"


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
        left = LEFT.get(problem.kind, "%s") % name(output) + " = "
        if isinstance(problem, Series):
            parents = ", ".join(f"{name(parent)}(t - {lag})" for parent, lag in text) or r"\emptyset"
            shown.append(mathml(rf"{name(output)}(t) \leftarrow {parents}", True))
            continue
        right = _right(str(text), problem.kind == "transitions")
        if right is None:
            shown.append(f"<code>{html.escape(f'{output} = {text}' if equals else str(text))}</code>")
        elif problem.kind == "level set" and output == "F":
            shown.append(mathml(f"{right} = 0", True))
        else:
            shown.append(mathml(left * equals + right, True))
    return shown


@functools.lru_cache(maxsize=20_000)
def _right(text: str, logic: bool) -> str | None:
    try:
        read = parse(text, logic=logic)
    except (ExpressionError, RecursionError):
        return None
    return tex(read.tree) if read.size <= NODES else None

"""The tree of an expression that does not depend on how it is written: the smallest one that its normal form gives."""

import functools
import math
import re
from collections.abc import Iterator
from typing import Any

import sympy
from sympy.polys.rings import PolyElement

from ..expressions import parse
from ..expressions.algebra import to_sympy
from ..expressions.trees import build, fold
from .normal_form import LARGEST_INDEX, by_parts, fraction, quotient
from .quotients import Quotient, TooLargeError, factored
from .trees import size

VARIED = 12  # terms of a quotient that is written in more ways than two
SPLIT = 12  # terms of a quotient that is also written as a sum of quotients
COLLECTED = 12  # terms of a polynomial that is also collected by one of its symbols
FACTOR = sympy.EulerGamma  # stands for any number in front of a product: SymPy would multiply 2*(x + y) out


def smallest_tree(text: str) -> tuple:
    """The smallest canonical tree of some forms of an expression's normal form."""
    numbers: dict[str, Any] = {}

    def named(label: Any, children: list[tuple]) -> tuple:
        # A decimal number gets a symbol until all variables are real: of exp(p*x/q) with a complex x, SymPy asks for
        # the zeros, and takes it for a polynomial of degree p. An exponent stays, as roots of fractions take long.
        if label == "**" and children[1][0] in numbers and numbers[children[1][0]].q > LARGEST_INDEX:
            children[1] = (float(numbers[children[1][0]]),)
        if label == "π" or isinstance(label, float):
            value = math.pi if label == "π" else label
            numbers[f"number {value!r}"] = fraction(value)
            return (f"number {value!r}",)
        return build(label, *children) if children else (label,)

    expression = _of_real_functions(to_sympy(fold(parse(text).tree, named)))
    values = {symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols}
    values |= {symbol: numbers[symbol.name] for symbol in values if symbol.name in numbers}
    return canonical(smallest(expression.xreplace(values)))


class sinh(sympy.sinh):  # type: ignore[misc]  # SymPy has no types
    """Known to be real: to find out, SymPy may take ``exp(p*x/q)`` for a polynomial of degree p."""

    def _eval_is_real(self) -> bool:
        return True


class cosh(sympy.cosh):  # type: ignore[misc]  # SymPy has no types
    """As `sinh`."""

    def _eval_is_positive(self) -> bool:
        return True


class tanh(sympy.tanh):  # type: ignore[misc]  # SymPy has no types
    """As `sinh`."""

    def _eval_is_real(self) -> bool:
        return True


class where(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """Values and conditions in turn: SymPy takes powers of a Piecewise apart, and divides by a branch that is 0."""

    is_real = True

    @classmethod
    def eval(cls, *parts: Any) -> Any:
        """Without pieces whose condition never holds, and the value alone where the first one always does."""
        pieces = list(zip(parts[::2], parts[1::2], strict=True))
        possible = [piece for piece in pieces if piece[1] != sympy.false]
        if not possible:
            return sympy.nan
        if possible[0][1] == sympy.true:
            return possible[0][0]
        return None if possible == pieces else cls(*(part for piece in possible for part in piece))


def _of_real_functions(expression: Any) -> Any:
    for kind in (sinh, cosh, tanh):
        expression = expression.replace(kind.__base__, kind)
    return expression.replace(sympy.Piecewise, lambda *pieces: where(*(part for piece in pieces for part in piece)))


# ---- forms


@functools.lru_cache(maxsize=4096)
def smallest(expression: Any) -> Any:
    """Of the forms of an expression's normal form, the one with the smallest canonical tree, its numbers changed.

    Where its polynomials would be too large, the expression as it is written, with its parts in their smallest forms.
    """
    if expression.is_Atom:
        return expression
    if not isinstance(expression, sympy.Expr):
        return by_parts(expression, smallest)
    try:
        form = quotient(expression)
    except TooLargeError:
        return expression.func(*map(smallest, expression.args))
    forms = [_dressed(symbolic, meaning, joined) for symbolic, meaning in _forms(form) for joined in (0, 1)]
    return min(dict.fromkeys(forms), key=lambda form: (size(tree := canonical(form)), repr(tree)))


def _forms(form: Quotient) -> Iterator[tuple[Any, dict]]:
    """Forms in symbols that depend on nothing but the normal form, and what the symbols stand for."""
    yield _plain(form.numerator) / _plain(form.denominator), form.meaning
    yield _ratio(form.numerator, form.denominator), form.meaning
    if len(form.numerator) + len(form.denominator) > VARIED or not form.numerator:
        return
    yield from ((symbolic, form.meaning) for symbolic in _sums(form))
    kernels = {symbol: _of_half_angle(kernel) for symbol, kernel in form.meaning.items()}
    halved = form.numerator.as_expr().xreplace(kernels) / form.denominator.as_expr().xreplace(kernels)
    waves = halved != form.value
    for wanted, power, expression, options in (
        (form.related, 1, form.value, {"of_sines": False}),
        (waves, 1, halved, {"doubling": False}),
        (waves, 1, halved, {"doubling": False, "of_sines": False}),
        (form.related, -1, 1 / form.value, {}),
    ):
        if wanted and (other := _within_bounds(expression, options)):
            for symbolic in (_ratio(other.numerator, other.denominator), *_sums(other)):
                yield symbolic**power, other.meaning


def _within_bounds(expression: Any, options: dict[str, bool]) -> Quotient | None:
    try:
        return quotient(expression, **options)
    except TooLargeError:
        return None


def _of_half_angle(kernel: Any) -> Any:
    if not isinstance(kernel, sympy.sin | sympy.cos):
        return kernel
    u = kernel.args[0] / 2
    return 2 * sympy.sin(u) * sympy.cos(u) if isinstance(kernel, sympy.sin) else 1 - 2 * sympy.sin(u) ** 2


def _sums(form: Quotient) -> Iterator[Any]:
    """A quotient as a sum of quotients, and as one over a sum."""
    for part, other, power in ((form.numerator, form.denominator, 1), (form.denominator, form.numerator, -1)):
        if not other.is_ground and 1 < len(part) <= SPLIT:
            terms = [part.ring.term_new(*term).cancel(other) for term in part.terms()]
            yield sympy.Add(*(_ratio(above, below) for above, below in terms)) ** power


def _ratio(above: PolyElement, below: PolyElement) -> Any:
    """A quotient of polynomials in symbols: a number, and irreducible factors with 1 for their first coefficient."""
    if not above:
        return sympy.S.Zero
    parts = factored(above) + [(part, -power) for part, power in factored(below)]
    return _number(above.LC / below.LC) * sympy.Mul(*(_grouped(part) ** power for part, power in parts))


def _number(number: Any) -> Any:
    return sympy.sign(number) * (1 if _is_one(number) else FACTOR)


def _is_one(number: Any) -> bool:
    return 10**14 * abs(abs(number) - 1) < 1  # numbers are read with 15 digits


def _plain(polynomial: PolyElement) -> Any:
    """A polynomial as it stands."""
    ring, total = polynomial.ring, sympy.S.Zero
    for monomial, constant in polynomial.terms():
        term = ring.term_new(monomial, sympy.sign(constant) if _is_one(constant) else constant)
        total += term.as_expr()
    return total


def _product(polynomial: PolyElement) -> Any:
    """As `_ratio`, of a polynomial, the factors of which are not grouped."""
    parts = factored(polynomial)
    return _number(polynomial.LC) * sympy.Mul(*(_plain(part) ** power for part, power in parts))


@functools.lru_cache(maxsize=4096)
def _grouped(polynomial: PolyElement) -> Any:
    """An irreducible polynomial as a sum of products: by groups of terms without common symbols, or by one symbol."""
    plain = _plain(polynomial)
    if not 2 < len(polynomial) <= COLLECTED:
        return plain
    ring, groups = polynomial.ring, _groups(polynomial)
    if len(groups) > 1:
        return sympy.Add(*(_product(group) for group in groups))
    forms = [plain]
    for k, symbol in enumerate(ring.symbols):
        parts: dict[int, PolyElement] = {}
        for monomial, constant in polynomial.terms():
            rest = ring.term_new((*monomial[:k], 0, *monomial[k + 1 :]), constant)
            parts[monomial[k]] = parts.get(monomial[k], ring.zero) + rest
        if 1 < len(parts) < len(polynomial):
            forms.append(sympy.Add(*(symbol**power * _product(part) for power, part in parts.items())))
    return min(forms, key=lambda form: sum(1 for _ in sympy.preorder_traversal(form)))


def _groups(polynomial: PolyElement) -> list[PolyElement]:
    """The terms by the symbols that they share, directly or not; a constant is a group."""
    groups: list[tuple[set[int], PolyElement]] = []
    for monomial, constant in polynomial.terms():
        symbols, group = {k for k, power in enumerate(monomial) if power}, polynomial.ring.term_new(monomial, constant)
        apart = []
        for others, terms in groups:
            if symbols & others:
                symbols, group = symbols | others, group + terms
            else:
                apart.append((others, terms))
        groups = [*apart, (symbols, group)]
    return [group for _, group in groups]


# ---- kernels


def _dressed(symbolic: Any, meaning: dict, joined: int) -> Any:
    """A form with the kernels in place of their symbols; `joined` puts square roots and logarithms together."""
    if symbolic.is_Add:
        return _sum(symbolic, meaning, joined)
    powers = {meaning.get(base, base): power for base, power in symbolic.as_powers_dict().items()}
    exponent, under, parts = sympy.S.Zero, sympy.S.One, []
    for kernel in list(powers):
        if kernel not in powers or not kernel.args:
            continue
        argument = kernel.args[0]
        if isinstance(kernel, sympy.Abs) and powers.get(argument, 1) % 2 == 0:
            powers[kernel] += powers.pop(argument)  # abs(u)/u**2 is 1/abs(u)
        if isinstance(kernel, sympy.Abs) and powers.get(argument) == -1:
            powers |= {kernel: powers[kernel] - 1, argument: sympy.S.Zero, sympy.sign(argument): sympy.S.One}
        if isinstance(kernel, sympy.sin) and powers.get(sympy.cos(argument)) == -powers[kernel]:
            powers |= {sympy.tan(argument): powers[kernel], kernel: sympy.S.Zero, sympy.cos(argument): sympy.S.Zero}
    for kernel, power in powers.items():
        if isinstance(kernel, sympy.exp):
            exponent += power * kernel.args[0]
        elif joined and kernel.is_Pow and kernel.exp == sympy.S.Half:
            under *= kernel.base**power
        elif joined and isinstance(kernel, sympy.Abs):
            under *= kernel.args[0] ** (2 * power)
        else:
            parts.append((_dressed(kernel, meaning, joined) if kernel.is_Add else _kernel(kernel)) ** power)
    return sympy.Mul(*parts, _exponential(exponent), sympy.sqrt(smallest(under)))


def _exponential(exponent: Any) -> Any:
    """``exp(v*log(u))`` is ``u**v``."""
    factors = sympy.Mul.make_args(exponent)
    logarithms = [factor for factor in factors if isinstance(factor, sympy.log)]
    if len(logarithms) != 1:
        return sympy.exp(smallest(exponent))
    return smallest(logarithms[0].args[0]) ** smallest(sympy.Mul(*(f for f in factors if f not in logarithms)))


def _sum(symbolic: Any, meaning: dict, joined: int) -> Any:
    """``2*log(a) - 2*log(b)`` is ``2*log(a/b)``."""
    terms, factors = list(symbolic.args), {}
    for term in terms:
        factor, symbol = term.as_coeff_Mul(rational=True)
        if joined and isinstance(meaning.get(symbol), sympy.log):
            factors[term] = factor
    if len(factors) > 1:
        unit = functools.reduce(sympy.gcd, factors.values())
        arguments = [meaning[term / factor].args[0] ** (factor / unit) for term, factor in factors.items()]
        logarithm = FACTOR * sympy.log(smallest(sympy.Mul(*arguments)))
        rest = [_dressed(term, meaning, joined) for term in terms if term not in factors]
        return sympy.Add(logarithm / (FACTOR if unit == 1 else 1), *rest)
    return sympy.Add(*(_dressed(term, meaning, joined) for term in terms))


def _kernel(kernel: Any) -> Any:
    """A kernel with its arguments in their smallest forms."""
    if kernel.is_Atom:
        return kernel
    if kernel.is_Pow:
        return smallest(kernel.base) ** kernel.exp
    return kernel.func(*map(smallest, kernel.args))


# ---- trees

EVEN = {"Abs", "cos", "cosh"}
ODD = {"sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh", "sign"}
SYMMETRIC = {"Max", "Min", "And", "Or", "Xor", "Equality", "Unequality"}
NUMBER = ("C",)


def canonical(expression: Any) -> tuple:
    """Tree of an expression as it stands, by the rules of `ned_harmonised`.

    Raises
    ------
    ValueError
        If it is no real function.
    """
    if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        raise ValueError(f"{expression} is no real function")
    return _wrapped(_signed(expression))


def _wrapped(signed: tuple[int, tuple]) -> tuple:
    sign, tree = signed
    return tree if sign > 0 else ("-", tree)


def _signed(expression: Any) -> tuple[int, tuple]:
    """Sign and canonical tree of what it is the sign of."""
    if expression.is_number:
        return 1, NUMBER
    if expression.is_Symbol:
        return 1, (expression.name,)
    if expression.is_Add:
        constant = [NUMBER] if any(term.is_number for term in expression.args) else []
        terms = [_signed(term) for term in expression.args if not term.is_number]
        sums = {sign: sorted((_wrapped((sign * s, t)) for s, t in terms), key=_order) for sign in (1, -1)}
        sign = min(sums, key=lambda sign: (_order(("", *sums[sign])), -sign))
        return sign, ("Add", *constant, *sums[sign])
    if expression.is_Mul or (expression.is_Pow and expression.exp.is_number):
        sign, has_constant, factors = _factors(expression, 1)
        powers = [t if (v - 1).is_zero else ("Pow", t, NUMBER) for (t, _), v in factors.items() if not v.is_zero]
        parts = [NUMBER] * (has_constant or not powers) + sorted(powers, key=_order)
        tree = parts[0] if len(parts) == 1 else ("Mul", *parts)
        return (1 if has_constant else sign), tree
    name = type(expression).__name__
    children = [_signed(argument) for argument in expression.args]
    if name in ODD:
        ((sign, child),) = children
        return sign, (name, child)
    if name in EVEN:
        children = [(1, tree) for _, tree in children]
    trees = list(map(_wrapped, children))
    return 1, (name, *(sorted(trees, key=_order) if name in SYMMETRIC else trees))


def _order(tree: tuple) -> tuple:
    """Sorting key: variables first, so that equal ones stand in equal places; signs are the last to tell."""
    text = repr(tree)
    return re.findall(r"\('(x\d+)',\)", text), text.replace("('-', ", "("), text


def _factors(expression: Any, power: Any) -> tuple[int, bool, dict]:
    """Of a power of an expression: sign, whether it has a constant factor, exponents by canonical tree and numbers.

    The numbers tell ``x + 1`` from ``x + 2``, which have the same tree: their product is no square.
    """
    power = sympy.sympify(power)
    if expression.is_Pow and expression.exp.is_number:
        return _factors(expression.base, expression.exp * power)
    if expression.is_Mul:
        number = sympy.Mul(*(factor for factor in expression.args if factor.is_number))
        if power.is_integer or not number.is_negative:
            sign, constant = 1, False
            factors: dict = {}
            for factor in expression.args:
                s, c, more = _factors(factor, power)
                sign, constant = sign * s, constant or c
                for base, exponent in more.items():
                    factors[base] = factors.get(base, sympy.S.Zero) + exponent
            return sign, constant, factors
    if expression.is_number:
        is_sign = (abs(expression) - 1).is_zero and power.is_integer
        return (-1 if is_sign and expression.is_negative and power.is_odd else 1), not is_sign, {}
    sign, tree = _signed(expression)
    numbers = tuple(sorted(map(str, expression.atoms(sympy.Number))))
    if sign < 0 and not power.is_integer:  # a root of something with a minus: the sign cannot come out
        return 1, False, {(("-", tree), numbers): power}
    return (sign if power.is_odd else 1), False, {(tree, numbers): power}

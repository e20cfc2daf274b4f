"""Quotients of polynomials with rational coefficients, in symbols of which some are algebraic over the others."""

import functools
from typing import Any, NamedTuple

import sympy
from sympy.polys.fields import FracElement, FracField
from sympy.polys.rings import PolyElement

LARGEST_POWER = 40  # of a sum that is multiplied out
TERMS = 40  # of a polynomial
FACTORED, FACTORED_DEGREE = 40, 10  # terms and degree of a polynomial that is factored
PRODUCTS = 10 * TERMS  # of terms, in one step
DIGITS, KEPT = 60, 20  # of numbers that are no fractions: to calculate with, and in the result


class TooLargeError(ValueError):
    """The polynomials of an expression would have too many terms."""


class Quotient(NamedTuple):
    """A normal form in symbols: polynomials, and what each symbol stands for."""

    numerator: PolyElement
    denominator: PolyElement
    meaning: dict
    related: bool  # some symbols are algebraic

    @property
    def value(self) -> Any:
        """The SymPy expression."""
        return self.read(self.numerator) / self.read(self.denominator)

    def read(self, polynomial: PolyElement) -> Any:
        return polynomial.as_expr().xreplace(self.meaning)


def reduced(symbolic: Any, relations: list[tuple[Any, int, Any]], meaning: dict, exact: bool) -> Quotient:
    free = symbolic.free_symbols.union(*(power.free_symbols | {symbol} for symbol, _, power in relations))
    free = free or {sympy.Symbol("x0")}  # a field has a symbol
    field = FracField(sorted(free, key=lambda symbol: symbol.name), sympy.QQ)
    value = _element(symbolic, field)
    for symbol, index, power in relations:
        k, power = field.symbols.index(symbol), _element(power, field).numer
        numerator, denominator = (_lowered(part, k, index, power) for part in (value.numer, value.denom))
        if index == 2 and denominator.degree(k) > 0:
            generator = field.ring.gens[k]
            other = denominator.compose(generator, -generator)
            numerator, denominator = (_lowered(part * other, k, 2, power) for part in (numerator, denominator))
        value = _checked(field(numerator) / field(denominator))
    numerator, denominator = (part.quo_ground(value.denom.LC) for part in (value.numer, value.denom))
    if not exact:
        numerator, denominator = _rounded(numerator), _rounded(denominator)
    content, denominator = denominator.primitive()
    return Quotient(numerator.quo_ground(content), denominator, meaning, bool(relations))


def _rounded(polynomial: PolyElement) -> PolyElement:
    """With `KEPT` digits, and without what only the digits left out have made."""
    ring, largest = polynomial.ring, max(map(abs, polynomial.coeffs()), default=0)
    result = ring.zero
    for monomial, coefficient in polynomial.terms():
        if abs(coefficient) * 10 ** (DIGITS - KEPT // 2) > largest:
            short = sympy.Rational(str(sympy.Rational(coefficient.numerator, coefficient.denominator).evalf(KEPT)))
            result += ring.term_new(monomial, sympy.QQ(short.p, short.q))
    return result


def _element(expression: Any, field: FracField) -> FracElement:
    """The quotient of polynomials that an expression in symbols is."""
    if expression.is_Rational:
        return field(sympy.QQ(expression.p, expression.q))
    if expression.is_Symbol:
        return field.gens[field.symbols.index(expression)]
    if expression.is_Pow:
        base, power = _element(expression.base, field), int(expression.exp)
        if len(base.numer) + len(base.denom) == 2:
            return base**power
        if abs(power) > LARGEST_POWER:
            raise TooLargeError("a high power of a sum")
        return functools.reduce(_product, [base if power > 0 else 1 / base] * abs(power), field(1))
    elements = [_element(argument, field) for argument in expression.args]
    if expression.is_Mul:
        return functools.reduce(_product, elements)
    return functools.reduce(_sum, elements)


def factored(polynomial: PolyElement) -> list[tuple[PolyElement, int]]:
    """Irreducible factors with 1 for their first coefficient, and their powers; a large one counts as irreducible."""
    ring, monomial = polynomial.ring, _common(polynomial)
    symbols = [(generator, power) for generator, power in zip(ring.gens, monomial, strict=True) if power]
    rest = polynomial.quo(ring.term_new(monomial, ring.domain.one))
    return symbols + ([] if rest.is_ground else _factored_sum(rest.monic()))


def _common(polynomial: PolyElement) -> tuple[int, ...]:
    """Powers of the symbols that all terms have."""
    return tuple(map(min, zip(*polynomial.monoms(), strict=True)))


@functools.lru_cache(maxsize=4096)
def _factored_sum(polynomial: PolyElement) -> list[tuple[PolyElement, int]]:
    if len(polynomial) > FACTORED or max(map(sum, polynomial.monoms())) > FACTORED_DEGREE:
        return [(polynomial, 1)]
    return [(part.monic(), power) for part, power in polynomial.factor_list()[1]]


def _product(a: FracElement, b: FracElement) -> FracElement:
    if max(len(a.numer) * len(b.numer), len(a.denom) * len(b.denom)) > PRODUCTS:
        raise TooLargeError("a product of large sums")
    return _checked(a * b)


def _sum(a: FracElement, b: FracElement) -> FracElement:
    if max(len(a.numer) * len(b.denom), len(a.denom) * len(b.numer), len(a.denom) * len(b.denom)) > PRODUCTS:
        raise TooLargeError("a sum of large quotients")
    return _checked(a + b)


def _checked(value: FracElement) -> FracElement:
    if max(len(value.numer), len(value.denom)) > TERMS:
        raise TooLargeError(f"more than {TERMS} terms")
    return value


def _lowered(polynomial: PolyElement, k: int, index: int, power: PolyElement) -> PolyElement:
    """The polynomial with ``power`` for the k-th symbol to the power of ``index``."""
    ring = polynomial.ring
    groups: dict[int, PolyElement] = {}
    for monomial, coefficient in polynomial.terms():
        times, rest = divmod(monomial[k], index)
        lower = (*monomial[:k], rest, *monomial[k + 1 :])
        groups[times] = groups.get(times, ring.zero) + ring.term_new(lower, coefficient)
    if sum(len(group) * len(power) ** times for times, group in groups.items()) > PRODUCTS:
        raise TooLargeError("a high power of a root")
    return sum((group * power**times for times, group in groups.items()), ring.zero)


def of_double_angles(form: Quotient, relations: list[tuple[Any, int, Any]], waves: list[tuple[Any, Any]]) -> Any:
    """The expression with sine and cosine of twice an angle, where those of the angle occur in even numbers; or None.

    Then the expression does not change where both change their sign, and ``sin(u)**2`` is ``(1 - cos(2*u))/2`` and
    ``sin(u)*cos(u)`` is ``sin(2*u)/2``.
    """
    symbols = form.numerator.ring.symbols
    for sine, cosine in waves:
        if sine not in symbols or cosine not in symbols:  # its root is the kernel
            continue
        if any({sine, cosine} & power.free_symbols for symbol, _, power in relations if symbol not in (sine, cosine)):
            continue
        s, c = symbols.index(sine), symbols.index(cosine)
        parities = {(m[s] + m[c]) % 2 for part in (form.numerator, form.denominator) for m in part.monoms()}
        if len(parities) > 1 or form.numerator.degree(s) + form.denominator.degree(s) + form.numerator.degree(c) <= 0:
            continue
        odd = parities.pop()
        return _doubled(form, form.numerator, sine, cosine, odd) / _doubled(form, form.denominator, sine, cosine, odd)
    return None


def _doubled(form: Quotient, polynomial: PolyElement, sine: Any, cosine: Any, odd: int) -> Any:
    """One of the polynomials in twice the angle, after multiplication with the sine where its powers are odd."""
    s, c = (polynomial.ring.symbols.index(symbol) for symbol in (sine, cosine))
    angle = 2 * form.meaning[sine].args[0]
    square, product = (1 - sympy.cos(angle)) / 2, sympy.sin(angle) / 2
    result = sympy.S.Zero
    for monomial, coefficient in polynomial.terms():
        sines, cosines = monomial[s] + odd, monomial[c]
        rest = tuple(0 if i in (s, c) else power for i, power in enumerate(monomial))
        both = product**cosines * square ** ((sines - cosines) // 2)
        result += form.read(polynomial.ring.term_new(rest, coefficient)) * both
    return result

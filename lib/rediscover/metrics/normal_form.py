"""One form for all writings of an expression: a quotient of polynomials in kernels, reduced by what relates these.

A *kernel* is a variable, a function whose argument is in normal form itself, or a root of an irreducible polynomial.
With a symbol for each, an expression is a quotient of polynomials, and cancelling makes that unique where the kernels
are independent (J. Moses, Algebraic simplification: a guide for the perplexed, Comm. ACM 14 (1971) 527). They are made
so: logarithms and roots of products are split into those of irreducible factors, exponentials of sums into products,
multiples of an angle into sine and cosine of their common divisor, tangents into quotients. Three relations remain,

    cos(u)**2 = 1 - sin(u)**2,    root**n = polynomial,    abs(u)**2 = u**2.

They keep the powers of these kernels below n and remove square roots, cosines and sizes from denominators.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import sympy

from .quotients import DIGITS, KEPT, Quotient, factored, of_double_angles, reduced

LARGEST_INDEX = 12  # of a root; x**0.37 is a kernel of its own
LARGEST_MULTIPLE = 12  # of an exponent or an angle that is expanded in a smaller one


@functools.lru_cache(maxsize=4096)
def normal(expression: Any) -> Any:
    """The normal form of a SymPy expression in real symbols, or of a condition, with rational numbers only.

    Parameters
    ----------
    expression : sympy.Basic

    Returns
    -------
    sympy.Basic

    Raises
    ------
    TooLargeError
        If a polynomial would have too many terms.
    ValueError, ZeroDivisionError
        If the expression is no real function.
    """
    if expression.is_Rational or expression.is_Symbol:
        return expression
    if isinstance(expression, sympy.Expr):
        return number(expression) if expression.is_number else quotient(expression).value
    return by_parts(expression, normal)


def by_parts(condition: Any, form: Callable[[Any], Any]) -> Any:
    """A condition, or a piece of a function, from forms of its parts; ``a > b`` is ``b - a < 0``."""
    if not isinstance(condition, sympy.core.relational.Relational):
        return condition.func(*map(form, condition.args)) if condition.args else condition
    difference = condition.lhs - condition.rhs
    if isinstance(condition, sympy.StrictGreaterThan | sympy.GreaterThan):
        return condition.reversed.func(form(-difference), 0)
    return condition.func(form(difference), 0)


def fraction(value: float) -> Any:
    """A decimal number as a fraction, with 15 digits or the one below 1000 that has these: 0.333333333333333 is 1/3."""
    exact = sympy.Rational(f"{value:.14e}")
    short = exact.limit_denominator(1000)
    return short if abs(short - exact) <= abs(exact) / 10**14 else exact


def number(expression: Any, digits: int = KEPT) -> Any:
    """A number as a fraction; of roots, logarithms and the like, so many digits.

    Raises
    ------
    ValueError
        If it is infinite, undefined or complex.
    """
    if expression.is_Rational:
        return expression
    if expression.is_Float and expression.is_finite:
        return fraction(float(expression))
    value = expression.evalf(digits)
    if not value.is_Float or not value.is_finite:
        raise ValueError(f"{expression} is no real number")
    return sympy.Rational(str(value))


@functools.lru_cache(maxsize=4096)
def quotient(expression: Any, *, of_sines: bool = True, doubling: bool = True) -> Quotient:
    """The normal form in symbols.

    Parameters
    ----------
    expression : sympy.Expr
    of_sines : bool
        Powers of sines and none of cosines, or the other way round.
    doubling : bool
        Angles are doubled as often as possible; without, a form is not unique.
    """
    kernels = Kernels()
    symbolic = kernels.symbolic(expression)
    assign, meaning, relations = kernels.resolved(of_sines)
    relations = [(symbol, index, assign(power)) for symbol, index, power in relations]
    form = reduced(assign(symbolic), relations, meaning, kernels.exact)
    doubled = of_double_angles(form, relations, kernels.waves) if of_sines and doubling else None
    return form if doubled is None else quotient(doubled)


def factors(expression: Any) -> list[tuple[Any, int]]:
    """Irreducible factors and their powers: -1 and the size of the constant factor first, where they are not 1."""
    form = quotient(expression)
    if not form.numerator:
        return [(sympy.S.Zero, 1)]
    first, found = form.numerator.LC / form.denominator.LC, []
    parts = factored(form.numerator) + [(part, -power) for part, power in factored(form.denominator)]
    for part, power in parts:
        content, primitive = part.primitive()  # whole numbers, so that no root of a number comes in
        first *= content**power
        found.append((form.read(primitive), power))
    constant = sympy.Rational(first.numerator, first.denominator)
    numbers = [(part, 1) for part in (sympy.sign(constant), abs(constant)) if part != 1]
    return numbers + sorted(found, key=str)


def positive_factors(expression: Any) -> list[tuple[Any, int]]:
    """As `factors`, with the sign in a factor that can take it, one with terms of both signs if there is one."""
    parts = dict(factors(expression))
    able = [part for part, power in parts.items() if power % 2 and not part.is_number]
    if parts.pop(-1, 0):
        if not able:
            raise ValueError(f"{expression} is negative")
        changed = min(able, key=lambda part: (all_of_one_sign(part), str(part)))
        parts = {-part if part == changed else part: power for part, power in parts.items()}
    return list(parts.items())


def summands(expression: Any) -> list[Any]:
    """Terms of the numerator over the denominator, each in normal form; one where sines or roots relate them."""
    form = quotient(expression)
    if form.related and not form.denominator.is_ground:
        return [form.value]
    ring = form.numerator.ring
    parts = [ring.term_new(*term) for term in form.numerator.terms()]
    if form.denominator.is_ground:
        return [form.read(part) / form.read(form.denominator) for part in parts]
    return [normal(form.read(part) / form.read(form.denominator)) for part in parts]


class Kernels:
    """The kernels of an expression. Multiples of one have placeholders until all are known."""

    def __init__(self) -> None:
        self.others: dict = {}  # symbol -> function
        self.roots: dict = {}  # polynomial -> exponent between 0 and 1 -> placeholder
        self.exponentials: dict = {}  # argument -> factor -> placeholder
        self.sines: dict = {}  # angle -> factor -> placeholder
        self.cosines: dict = {}
        self.waves: list = []  # pairs of symbols of sine and cosine
        self.symbols: dict = {}  # expression -> its symbolic form
        self.exact = True  # all numbers are fractions

    def symbolic(self, expression: Any) -> Any:
        """The expression with symbols for all but sums, products and whole powers."""
        if expression not in self.symbols:
            self.symbols[expression] = self._symbolic(expression)
        return self.symbols[expression]

    def _symbolic(self, expression: Any) -> Any:
        if expression.is_number:
            return self.number(expression)
        if expression.is_Symbol:
            return expression
        if expression.is_Add or expression.is_Mul:
            return expression.func(*map(self.symbolic, expression.args), evaluate=False)
        if expression.is_Pow:
            return self.power(expression.base, expression.exp)
        (argument, *_), kind = expression.args, type(expression)
        if kind is sympy.exp:
            return self.exponential(argument)
        if kind is sympy.log:
            return sympy.Add(*(power * self.logarithm(part) for part, power in positive_factors(argument)))
        if kind is sympy.sign:
            return self.symbolic(sympy.Abs(argument)) / self.symbolic(argument)
        if kind is sympy.Abs:
            return sympy.Mul(*(self.size(part, power) for part, power in factors(argument)))
        if kind in (sympy.sin, sympy.cos, sympy.tan):
            return self.wave(kind, normal(argument))
        built = kind(*map(normal, expression.args))
        return self.other(built) if type(built) is kind else self.symbolic(built)

    def number(self, expression: Any) -> Any:
        self.exact = self.exact and bool(expression.is_Rational)
        return number(expression, DIGITS)

    def other(self, function: Any) -> Any:
        symbol = sympy.Symbol(str(function))
        self.others[symbol] = function
        return symbol

    def placed(self, family: dict, member: Any, factor: Any) -> Any:
        return family.setdefault(member, {}).setdefault(factor, sympy.Dummy())

    def power(self, base: Any, exponent: Any) -> Any:
        exponent = normal(exponent)
        if exponent.is_Integer:
            return self.symbolic(base) ** exponent
        if base.is_number or not exponent.is_number:
            return self.exponential(exponent * sympy.log(base))
        return sympy.Mul(*(self.root(part, power, exponent) for part, power in positive_factors(base)))

    def root(self, part: Any, power: int, exponent: Any) -> Any:
        """``(part**power)**exponent`` of an irreducible factor: a whole power times one between 0 and 1."""
        total = power * exponent
        if part.is_number:
            return self.number(part**total)
        if isinstance(part, sympy.exp):
            return self.exponential(total * part.args[0])
        if part.is_Pow:  # a root
            return self.root(part.base, 1, part.exp * total)
        whole = sympy.floor(total)
        if power % 2 == 0 and (whole % 2 or whole != total):
            part = sympy.Abs(part)
        base = self.symbolic(part) ** whole
        if whole == total:
            return base
        self.symbolic(part)
        if total.q > LARGEST_INDEX:
            return base * self.placed(self.exponentials, sympy.log(part), total - whole)
        return base * self.placed(self.roots, part, total - whole)

    def exponential(self, argument: Any) -> Any:
        """``exp(a + b)`` is a product, ``exp(c*log(f))`` a power."""
        result = sympy.S.One
        for term in summands(argument):
            factor, rest = term.as_coeff_Mul(rational=True)
            if rest.is_number:
                result *= self.number(sympy.exp(term))
            elif isinstance(rest, sympy.log):
                result *= self.power(rest.args[0], factor)
            else:
                result *= self.placed(self.exponentials, rest, factor)
        return result

    def logarithm(self, part: Any) -> Any:
        if part.is_number:
            return self.number(sympy.log(part))
        if isinstance(part, sympy.exp):
            return self.symbolic(part.args[0])
        if part.is_Pow:
            return self.symbolic(part.exp) * self.logarithm(part.base)
        return self.other(sympy.log(part))

    def size(self, part: Any, power: int) -> Any:
        """``abs(part)**power``."""
        size = sympy.Abs(part)
        if power % 2 == 0 or type(size) is not sympy.Abs:
            return self.symbolic(part if power % 2 == 0 else size) ** power
        self.symbolic(part)
        return self.symbolic(part) ** (power - 1) * self.other(size)

    def wave(self, kind: Any, angle: Any) -> Any:
        if angle.is_number:
            return self.number(kind(angle))
        factor, unit = _unit_angle(angle)
        sine = sympy.sign(factor) * self.placed(self.sines, unit, abs(factor))
        cosine = self.placed(self.cosines, unit, abs(factor))
        return {sympy.sin: sine, sympy.cos: cosine}.get(kind, sine / cosine)

    def resolved(self, of_sines: bool) -> tuple[Any, dict, list]:
        """A function that replaces the placeholders, what the symbols stand for, and the relations.

        A relation is a symbol, a power of it, and what that power is.
        """
        meaning, relations = dict(self.others), []
        values: dict = {}
        for symbol, function in self.others.items():
            if type(function) is sympy.Abs:
                relations.append((symbol, 2, self.symbolic(function.args[0]) ** 2))
        for argument, placed in self.exponentials.items():
            for name, unit, multiples in _units(placed):
                symbol = sympy.Symbol(f"exp {name}{argument}")
                meaning[symbol] = sympy.exp(unit * argument)
                values |= {placed[factor]: symbol**n for factor, n in multiples.items()}
        for angle in self.sines.keys() | self.cosines.keys():
            sines, cosines = self.sines.get(angle, {}), self.cosines.get(angle, {})
            for name, unit, multiples in _units(sines.keys() | cosines.keys()):
                sine, cosine = sympy.Symbol(f"sin {name}{angle}"), sympy.Symbol(f"cos {name}{angle}")
                meaning |= {sine: sympy.sin(unit * angle), cosine: sympy.cos(unit * angle)}
                bound, free = (cosine, sine) if of_sines else (sine, cosine)
                relations.append((bound, 2, 1 - free**2))
                self.waves.append((sine, cosine))
                for factor, n in multiples.items():
                    real, imaginary = _whole_multiple(sine, cosine, n)
                    values |= {sines.get(factor): imaginary, cosines.get(factor): real}
        related, replaced = {symbol for symbol, _, _ in relations}, {}
        for part, placed in self.roots.items():
            index = sympy.ilcm(1, *(exponent.q for exponent in placed))
            root, power = sympy.Symbol(f"root {part}"), self.symbolic(part).xreplace(values)
            meaning[root] = part ** sympy.Rational(1, index)
            values |= {symbol: root ** (exponent * index) for exponent, symbol in placed.items()}
            if power.is_Symbol and power not in related:
                replaced[power] = root**index
            else:
                relations.append((root, int(index), power))
        # The outermost relation first: the name of what a root is taken of is shorter.
        relations.sort(key=lambda relation: (-len(relation[0].name), relation[0].name))
        return lambda symbolic: symbolic.xreplace(values).xreplace(replaced), meaning, relations


def all_of_one_sign(part: Any) -> bool:
    """Whether all terms of a sum have the same sign where all variables are positive."""
    return len({term.could_extract_minus_sign() for term in sympy.Add.make_args(part)}) == 1


def _unit_angle(angle: Any) -> tuple[Any, Any]:
    """A rational factor and the rest, which has no sign in front."""
    numerator, denominator = angle.as_numer_denom()
    content, primitive = numerator.as_content_primitive()
    constant, denominator = denominator.as_content_primitive()
    if primitive.could_extract_minus_sign():
        content, primitive = -content, -primitive
    return content / constant, primitive / denominator


def _units(factors: Iterable[Any]) -> Iterator[tuple[str, Any, dict]]:
    """A name, a unit, and which multiple of it each factor is: one unit for all, or, beyond a bound, one for each."""
    sizes = sorted({abs(factor) for factor in factors})
    unit = functools.reduce(sympy.gcd, sizes)
    if sizes[-1] <= LARGEST_MULTIPLE * unit:
        yield "", unit, {factor: int(factor / unit) for factor in factors}
    else:
        for size in sizes:
            yield f"{size} ", size, {factor: int(factor / size) for factor in factors if abs(factor) == size}


def _whole_multiple(sine: Any, cosine: Any, n: int) -> tuple[Any, Any]:
    """Cosine and sine of n times an angle: ``(cosine + i*sine)**n``."""
    real, imaginary = sympy.S.One, sympy.S.Zero
    for _ in range(n):
        real, imaginary = (
            sympy.expand(real * cosine - imaginary * sine),
            sympy.expand(real * sine + imaginary * cosine),
        )
    return real, imaginary

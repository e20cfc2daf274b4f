"""Fresh problems: laws that nobody can have tuned to, since their formulas hang on the name of the version they judge.

``fresh/<version>/<n>`` is the n-th formula of the draw with that name. Half of them, those with an even number, are
surfaces: formulas of grammars after the seventeen codes of SurfaceBench's families. The others are physics: products,
quotients, roots, sums and transcendental laws of quantities whose units cancel, with constants of nature. The grammars
and what a formula must pass are in ``data/fresh.yaml``: finite, well conditioned, and no input and no summand without
effect. Rows and noise are those of SRBench's laws.

A version is judged by one draw of `SIZE`, made after the version stands; ``data/fresh_draws.yaml`` lists every such
draw ever made, with the SHA-256 of its formulas. Any other name is a draw too, for whoever wants one.
"""

import hashlib
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import yaml

from ..expressions import Expression, parse
from ..system.paths import root
from ..system.writing import write_text
from . import facts, generator
from .srbench import Drawn

SIZE = 200  # of a draw
DRAWS = "fresh_draws"
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
NUMBER = re.compile(r"0|[1-9][0-9]*")
SLOT = re.compile(r"<(\w+)>")
MONOMIAL = re.compile(r"\b[MNOGH]\b")
UNITLESS = ("G", "H")  # among the letters of monomials
STEP = 1e-6  # relative, of the inputs, by which conditioning is measured
PLACES = 64 ** np.arange(5)  # of units written as one number; each is far below 32
LARGEST = 10  # rows that must not rule the errors


@dataclass(frozen=True, eq=False, kw_only=True)
class Fresh(Drawn):
    """A formula of a draw.

    Attributes
    ----------
    family : code of a family of surfaces, or kind of physical law
    law : the formula with its constants of nature by name
    units : input or constant -> powers of kg, m, s, K and A; empty for surfaces
    """

    family: str = ""
    law: str = ""
    units: Mapping[str, tuple[int, ...]]

    @property
    def meanings(self) -> dict[str, str]:
        """Units of the inputs, up to a power of ten."""
        return {name: unit_text(self.units.get(name, ())) for name in self.inputs} | dict.fromkeys(self.outputs, "")


def unit_text(powers: tuple[int, ...]) -> str:
    """Powers of kg, m, s, K and A as text.

    Examples
    --------
    >>> unit_text((1, 2, -2, 0, 0)), unit_text(())
    ('kg m**2 s**-2', '')
    """
    known = zip(("kg", "m", "s", "K", "A"), powers, strict=False)
    return " ".join(name if power == 1 else f"{name}**{power}" for name, power in known if power)


def seed_of(version: str) -> int:
    """The seed of a draw: the first 64 bits of the SHA-256 of its name.

    Raises
    ------
    ValueError
        If the name is no word of letters, digits, points and dashes.

    Examples
    --------
    >>> hex(seed_of("mine"))
    '0x3fd30542fe3f61b1'
    """
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no name of a draw: use letters, digits, '.', '_' and '-'")
    return int(hashlib.sha256(version.encode()).hexdigest()[:16], 16)


def draw(version: str, size: int = SIZE) -> list[Fresh]:
    """The first formulas of the draw with this name, the same on every machine.

    Examples
    --------
    >>> [problem.id for problem in draw("mine", 2)]
    ['fresh/mine/0', 'fresh/mine/1']
    """
    return [load(f"{version}/{number}") for number in range(size)]


def text(problems: list[Fresh]) -> str:
    """A draw as lines: id, formula, and the range of each input."""
    return "".join(f"{p.id}: {next(iter(p.truth.values()))}; {_ranges(p)}\n" for p in problems)


def _ranges(problem: Fresh) -> str:
    return ", ".join(f"{name} in [{low}, {high}]" for name, (_, low, high) in problem.samplers.items())


def entry(version: str, method: str, size: int = SIZE) -> dict[str, Any]:
    """What the list of draws says of one: name, method that it judges, seed, size and SHA-256 of `text`."""
    digest = hashlib.sha256(text(draw(version, size)).encode()).hexdigest()
    return {"name": version, "method": method, "seed": hex(seed_of(version)), "size": size, "sha256": digest}


def draws() -> list[dict[str, Any]]:
    """Every draw ever made for a version of a method, as `entry` writes it, the oldest first."""
    return facts(DRAWS)


def add(version: str, method: str, size: int = SIZE) -> dict[str, Any]:
    """Draw for a version of a method, and put it on the list: ``python -m rediscover.problems.fresh NAME METHOD``.

    Raises
    ------
    ValueError
        If there is a draw of this name, which stays as it is.
    """
    if version in {known["name"] for known in draws()}:
        raise ValueError(f"{version} was drawn before: a new version of a method needs a name of its own")
    path = root() / "lib" / "rediscover" / "problems" / "data" / f"{DRAWS}.yaml"
    new = entry(version, method, size)
    head = path.read_text("utf-8").partition("\n")[0]
    write_text(path, f"{head}\n{yaml.safe_dump([*draws(), new], sort_keys=False, width=160)}")
    return new


def ids(subset: str | None = None) -> list[str]:
    """Names of the problems of the listed draws, optionally of one (its name)."""
    known = {about["name"]: about["size"] for about in draws()}
    if subset is not None and subset not in known:
        raise KeyError(f"fresh has no subset {subset!r} (subsets: {', '.join(known) or 'none yet'})")
    chosen = known if subset is None else {subset: known[subset]}
    return [f"{name}/{number}" for name, size in chosen.items() for number in range(size)]


def unlisted(name: str) -> bool:
    """Whether this is a problem of any draw, listed or not."""
    version, _, number = name.rpartition("/")
    return bool(VERSION.fullmatch(version) and NUMBER.fullmatch(number))


@cache
def load(name: str) -> Fresh:
    """One problem of a draw; others of it are not drawn for that."""
    version, _, number = name.rpartition("/")
    rng, stated = generator(seed_of(version), number), facts("fresh")
    surface = int(number) % 2 == 0
    families = stated["surfaces" if surface else "physics"]["families"]
    family = str(rng.choice(list(families)))
    for _ in range(stated["accepted"]["attempts"]):
        parts = _surface(family, rng) if surface else _law(family, rng)
        if parts is None:
            continue
        problem = Fresh(
            id=f"fresh/{name}",
            truth={"f": parts["truth"]},
            law=parts["law"],
            inputs=tuple(parts["samplers"]),
            samplers=parts["samplers"],
            units=parts["units"],
            family=family,
            subset=version,
            source=f"drawn by the name {version}",
        )
        if not fault(problem):
            return problem
    raise RuntimeError(f"fresh/{name}: no formula of {family} passes: state more attempts in data/fresh.yaml")


def _surface(family: str, rng: np.random.Generator) -> dict[str, Any]:
    """A formula of a family of surfaces, and its box."""
    stated = facts("fresh")["surfaces"]
    about = stated["families"][family]
    formula = expanded(rng.choice(about["formulas"]), stated["words"], about["inputs"], rng)
    box = stated["boxes"][rng.integers(len(stated["boxes"]))]
    samplers = {name: ["uniform", *map(float, box)] for name in about["inputs"]}
    return {"truth": formula, "law": formula, "samplers": samplers, "units": {}}


def expanded(formula: str, words: Mapping[str, list[str]], inputs: list[str], rng: np.random.Generator) -> str:
    """The formula with every slot replaced: words until there are none, then inputs and numbers.

    Examples
    --------
    >>> expanded("<wave>(<a>)", {"wave": ["sin"]}, ["x"], generator(0))
    'sin(x)'
    """
    order = dict(zip("abd", rng.permutation(inputs), strict=False))

    def replaced(slot: re.Match) -> str:
        name = slot[1]
        if name in words:
            return str(rng.choice(words[name]))
        if name in facts("fresh")["numbers"]:
            return _number(name, rng)
        return str(rng.choice(inputs) if name == "x" else order[name])

    while SLOT.search(formula):
        formula = SLOT.sub(replaced, formula)
    return formula


def _number(kind: str, rng: np.random.Generator) -> str:
    low, high = facts("fresh")["numbers"][kind]
    if kind == "k":
        return str(rng.integers(low, high + 1))
    return f"{math.exp(rng.uniform(math.log(low), math.log(high))):.2g}"


@cache
def _kinds() -> dict[str, np.ndarray]:
    """Symbol of a quantity or a constant -> its units, shape (5,)."""
    stated = facts("fresh")["physics"]
    constants = {name: units for name, (units, _) in stated["constants"].items()}
    return {name: np.array(units) for name, units in {**stated["quantities"], **constants}.items()}


def _law(family: str, rng: np.random.Generator) -> dict[str, Any] | None:
    """A physical law of a kind whose units cancel, and its box; None where the units find no other monomial."""
    stated = facts("fresh")["physics"]
    formula = expanded(rng.choice(stated["families"][family]), stated["words"], [], rng)
    letters = list(dict.fromkeys(MONOMIAL.findall(formula)))
    free = _free(rng)
    wanted = {letter: np.zeros(5) if letter in UNITLESS else units_of(free) for letter in letters}
    found = {letter: free if letter == "M" else _of_units(wanted[letter], rng) for letter in letters}
    texts, inputs = _written(found, rng)
    if not all(texts.values()) or len(set(texts.values())) < len(texts):
        return None
    if not 1 < len(inputs) <= stated["most_inputs"]:
        return None
    law = MONOMIAL.sub(lambda letter: f"({texts[letter[0]]})", formula)
    law = str(parse(law))
    names = [name for name in parse(law).names if name in inputs]
    boxes = rng.choice(len(stated["boxes"]), len(names))
    values = {name: value for name, (_, value) in stated["constants"].items()}
    used = {name: inputs.get(name, name) for name in parse(law).names}
    return {
        "law": law,
        "truth": str(parse(law).substitute(values)),
        "samplers": {n: ["uniform", *map(float, stated["boxes"][i])] for n, i in zip(names, boxes, strict=True)},
        "units": {name: tuple(_kinds()[symbol].tolist()) for name, symbol in used.items()},
    }


def _free(rng: np.random.Generator) -> dict[str, float]:
    """A monomial, symbol -> exponent, of whatever units it has."""
    stated = facts("fresh")["physics"]
    chosen = rng.choice(list(_kinds()), rng.choice(stated["factors"]), replace=False)
    return {str(symbol): float(rng.choice(stated["exponents"])) for symbol in chosen}


def units_of(monomial: Mapping[str, float]) -> np.ndarray:
    """Powers of kg, m, s, K and A of a monomial, shape (5,).

    Examples
    --------
    >>> units_of({"m": 1, "v": 2}).tolist()
    [1.0, 2.0, -2.0, 0.0, 0.0]
    """
    return sum((power * _kinds()[symbol] for symbol, power in monomial.items()), np.zeros(5))


def _of_units(wanted: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """A monomial of these units; empty where there is none."""
    if (wanted % 1).any():  # the powers of monomials are whole
        return {}
    for factors in rng.permutation(facts("fresh")["physics"]["given_factors"]):
        chosen, powers, codes = _monomials(int(factors))
        where = np.argwhere(codes == int(wanted @ PLACES))
        if len(where):
            i, j = where[rng.integers(len(where))]
            symbols = list(_kinds())
            return {symbols[k]: float(power) for k, power in zip(chosen[i], powers[j], strict=True)}
    return {}


@cache
def _monomials(factors: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All monomials of so many factors: places of their symbols, exponents, and units as one number, shape (n, m)."""
    stated = facts("fresh")["physics"]
    chosen = np.array(list(combinations(range(len(_kinds())), factors)))
    powers = np.array(list(product(stated["matching"], repeat=factors)))
    units = np.array(list(_kinds().values()))[chosen]
    return chosen, powers, np.einsum("mf,nf->nm", powers, units @ PLACES)


def _written(found: Mapping[str, Mapping[str, float]], rng: np.random.Generator) -> tuple[dict, dict[str, str]]:
    """Text of each monomial, and input -> symbol of its quantity; a quantity may be one input in several monomials."""
    stated, inputs, texts = facts("fresh")["physics"], dict[str, str](), {}
    for letter, monomial in found.items():
        named = {}
        for symbol, power in monomial.items():
            name, known = symbol, [input for input, kind in inputs.items() if kind == symbol]
            if symbol not in stated["constants"]:
                again = known and rng.random() < stated["shared"]
                name = str(rng.choice(known)) if again else f"{symbol}{len(known) + 1}"
                inputs[name] = symbol
            named[name] = power
        texts[letter] = _product(named) if any(name in inputs for name in named) else ""
    return texts, inputs


def _product(powers: Mapping[str, float]) -> str:
    """A monomial as text.

    Examples
    --------
    >>> _product({"m": 1.0, "r": -2.0, "E": 0.5, "k": -1.0})
    'm*sqrt(E)/(r**2*k)'
    """
    above = "*".join(_power(name, power) for name, power in powers.items() if power > 0) or "1"
    below = "*".join(_power(name, -power) for name, power in powers.items() if power < 0)
    return f"{above}/({below})" if below else above


def _power(name: str, power: float) -> str:
    return f"sqrt({name})" if power == 0.5 else name if power == 1 else f"{name}**{power:g}"


def fault(problem: Drawn) -> str:
    """What a formula does not pass of ``accepted`` in the data file; empty for a good one.

    Examples
    --------
    >>> box = {name: ["uniform", 1.0, 2.0] for name in "xy"}
    >>> given = {"id": "fresh/mine/0", "inputs": ("x", "y"), "samplers": box}
    >>> [fault(Drawn(truth={"f": f}, **given)) for f in ("x*y", "x + 0.001*y", "log(x - y)")]
    ['', 'y has no effect', 'a value is not finite']
    """
    stated = facts("fresh")["accepted"]
    rng = generator(0, problem.id, "accepted")
    X, others = (problem.draw_inputs(stated["rows"], rng) for _ in range(2))
    with np.errstate(all="ignore"):
        y = problem.target(X)
        shifted = problem.target(X * (1 + STEP))
        if y.shape != (len(X),) or not np.isfinite(y).all():
            return "a value is not finite"
        size, deviation, squares = np.sqrt(np.mean(y**2)), np.std(y), np.sort((y - y.mean()) ** 2)
        low, high = stated["scale"]
        if not (low <= size <= high and deviation >= stated["spread"] * size):
            return "values are too small, too large or too much alike"
        if squares[-LARGEST:].sum() > stated["rows_share"] * squares.sum():
            return "few rows rule the errors"
        if not np.quantile(np.abs(shifted - y), 0.9) <= stated["condition"] * STEP * deviation:
            return "it is ill conditioned"
        for i, name in enumerate(problem.inputs):
            changed = X.copy()
            changed[:, i] = others[:, i]
            if not np.mean((problem.target(changed) - y) ** 2) >= 2 * stated["share"] * deviation**2:
                return f"{name} has no effect"
        columns = dict(zip(problem.inputs, X.T, strict=True))
        (tree,) = (expression.tree for expression in problem.expressions.values())
        for without in mutilated(tree, columns):
            if not np.mean((Expression(without)(columns) - y) ** 2) >= stated["share"] * deviation**2:
                return "a summand has no effect"
    return ""


def mutilated(tree: tuple, columns: Mapping[str, np.ndarray]) -> Iterator[tuple]:
    """The tree with each operand of its sums and differences in turn held at its mean; a number becomes 0.

    Examples
    --------
    >>> [str(Expression(t)) for t in mutilated(parse("2*(x + 1)").tree, {"x": np.array([3.0, 5.0])})]
    ['2*(4.0 + 1)', '2*(x + 0.0)']
    """
    for place, child in enumerate(tree[1:], 1):
        if tree[0] in ("+", "-"):
            part = Expression(child)
            mean = float(np.mean(part(columns))) if part.names else 0.0
            yield (*tree[:place], (mean,), *tree[place + 1 :])
        for changed in mutilated(child, columns):
            yield (*tree[:place], changed, *tree[place + 1 :])


if __name__ == "__main__":
    from rediscover.problems import fresh

    print(fresh.add(sys.argv[1], sys.argv[2]))

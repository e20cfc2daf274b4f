"""Transcendental formulas of one line on short ranges, where polynomials and their quotients come close."""

from typing import NamedTuple

from rediscover.expressions import parse

import numpy as np

# How often each form is drawn; u is b*x with a drawn b, a and c are drawn.
FORMS = (
    "exp({u})",
    "exp(-{u})",
    "sin({u})",
    "cos({u})",
    "tanh({u})",
    "atan({u})",
    "log(1 + {u})",
    "sinh({u})",
    "x*exp(-{u})",
    "exp(-{u}**2)",
    "sin({u})/x",
    "sqrt(x)*cos({u})",
    "{a}*exp(-{u}) + {c}",
    "{a}*sin({u}) + {c}",
    "{a}*log({u}) + {c}",
    "{a}*tanh({u}) - {c}*x",
)
ROWS = 100


class OneLiner(NamedTuple):
    """A formula in x and the range of x that its rows are from."""

    text: str
    low: float
    high: float

    def table(self):
        """X of shape (rows, 1) and y, at equal distances."""
        x = np.linspace(self.low, self.high, ROWS)
        return x[:, None], np.asarray(parse(self.text, ("x",))({"x": x}))


def drawn(count: int, seed: int) -> list[OneLiner]:
    """Formulas with constants of two digits, ranges of a width from 0.2 to 1 that begin between 0.1 and 2."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        a, b, c = (float(f"{value:.2g}") for value in rng.uniform(0.2, 3.0, 3))
        low, width = (float(f"{value:.2g}") for value in (rng.uniform(0.1, 2.0), rng.uniform(0.2, 1.0)))
        text = FORMS[i % len(FORMS)].format(u=f"({b}*x)" if b != 1 else "x", a=a, c=c)
        found.append(OneLiner(text, low, low + width))
    return found

"""uDSR: a recurrent policy with breeding and a polynomial token."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

from ..search.policy.policy import Training
from ..search.policy.token_genetics import Breeding
from ..search.policy.tokens import POLYNOMIAL, monomials
from . import Unsupported
from .dsr import Dsr

MOST_TERMS = 350  # more make a sum that no expression can hold


@dataclass(frozen=True)
class Udsr(Dsr):
    """Unified deep symbolic regression: a recurrent policy with breeding and a polynomial token.

    As released: the policy of `dsr`, the breeding of `nggp`, and a token that stands for a polynomial fitted to the
    data.

    The polynomial holds all monomials of the inputs up to its degree. It stands at most once in an
    expression, never with a constant and never inside sin, cos, tan, n2 or abs; its target values follow by
    undoing the functions around it. The paper's uDSR also splits problems and starts from a policy trained on
    other data; the released code does neither, and neither does this. Budget: as `nggp`. The defaults are
    MDBench's.

    Attributes
    ----------
    function_set : as `dsr`, and poly.
    degree : of the polynomial.
    coefficient_tolerance : smaller coefficients are dropped; absolute, so it depends on the data's units.
    generations, population_size, elites : of the breeding, whose parents are drawn from the batch; 0
        generations for none.
    as_released : leave out what MDBench's wrapper could not read back. It reads the front as text, a fitted
        polynomial is one word of it that is neither a name nor a number, and the row is lost. Only polynomials
        without a variable survive. The front itself is made before that, so that expressions with
        polynomials have already driven others from it; it may end up empty.

    References
    ----------
    M. Landajuela, C. Lee, J. Yang, R. Glatt, C. P. Santiago, I. Aravena, T. N. Mundhenk, G. Mulcahy, B. K.
    Petersen, A unified framework for deep symbolic regression, NeurIPS 2022.
    """

    function_set: str = "add,sub,mul,div,sin,cos,exp,poly,const"
    entropy: float = 0.05
    entropy_decay: float = 0.7
    max_length: int = 64
    uniform_arity: bool = True
    soft_length: float | None = 10.0
    gtol: float = 1e-3
    degree: int = 3
    coefficient_tolerance: float = 1e-10
    generations: int = 20
    population_size: int | None = 100
    elites: int = 50
    as_released: bool = False
    name: ClassVar[str] = "udsr"
    reference: ClassVar[str] = "Landajuela et al., A unified framework for deep symbolic regression (NeurIPS 2022)"

    def __post_init__(self):
        super().__post_init__()
        if self.degree < 0 or not self.coefficient_tolerance >= 0:
            raise ValueError("udsr: degree and coefficient_tolerance must be at least 0")

    def search(self, task, *, budget, rng):
        terms = math.comb(len(task.inputs) + self.degree, self.degree)
        if POLYNOMIAL in self._functions and terms > MOST_TERMS:
            raise Unsupported(
                f"udsr: a polynomial of degree {self.degree} in {len(task.inputs)} inputs has {terms} terms, "
                f"more than the {MOST_TERMS} that fit into an expression; lower the degree"
            )
        return super().search(task, budget=budget, rng=rng)

    def _training(self) -> Training:
        if not self.generations:
            return super()._training()
        breeding = Breeding(self.generations, self.population_size, self.elites)
        return dataclasses.replace(super()._training(), breeding=breeding)

    def _polynomials(self) -> dict:
        return {"degree": self.degree, "tolerance": self.coefficient_tolerance}

    def _expression(self, library, sequence, numbers):
        return library.expression(sequence, numbers, self.degree)

    def _kept(self, library, sequence, numbers) -> bool:
        if not self.as_released or library.token(POLYNOMIAL) not in sequence:
            return True
        varies = monomials(len(library.inputs), self.degree).any(axis=1)
        return not numbers[varies].any()

"""DSR: a recurrent policy trained by the risk-seeking policy gradient."""

from dataclasses import dataclass
from typing import ClassVar

from ..search.policy.policy import Training, search
from ..search.policy.priors import Rules, rules
from ..search.policy.rewards import Rewards
from ..search.policy.tokens import MOST_TOKENS, POLYNOMIAL, Library
from . import Candidate, Unsupported
from .tables import Tabular

FUNCTIONS = "add,sub,mul,div,sin,cos,exp,log"


@dataclass(frozen=True)
class Dsr(Tabular):
    """Deep symbolic regression: a network of 32 units writes expressions and learns from its best 5 %.

    Expressions are drawn token by token, their constants fitted, and rewarded by 1/(1 + e), e the root mean
    squared error over the standard deviation of the targets; an expression that is undefined, too large or
    too small on any row earns 0. The loss of a batch is the mean over its best part of -(R - q) log p, q the
    reward that this part reaches, less a weighted entropy. Everything is NumPy and compiled code of this
    library. Budget: every expression drawn is one evaluation; those that a fit of constants costs do not
    count. The search ends early when e**2 < 1e-12 on the training rows. Returned are all expressions that
    nothing of the same or a smaller complexity beats, the best reward first; the loss is e.

    Defaults are those of the code published with the paper, with constants added: the paper's own benchmark
    uses the eight functions alone, which is several times faster.

    SRSD's configuration files have the eight functions with and without const, uniform arity, soft length 10,
    entropy 0.03 with decay 0.7, and 2,000,000 expressions; see `nggp` for what they made the released program do.

    Attributes
    ----------
    function_set : of add, sub, mul, div, sin, cos, tan, exp, log, sqrt, tanh, abs, neg, inv, n2, n3, const.
    batch_size : expressions for one step of training.
    quantile : share of a batch that is learned from.
    learning_rate, entropy, entropy_decay : of Adam, weight of the entropy, its fall from token to token.
    min_length, max_length : tokens of an expression.
    max_constants : in one expression.
    uniform_arity : start with equal chances for leaves, functions of one and of two arguments.
    soft_length, soft_scale : soft pull to a length; None for none.
    gtol : slope at which the fit of constants stops, which is BFGS from ones on forward differences.
    scaled_start : start a constant that multiplies the whole expression at its least-squares value instead of
        at one. Not in the paper; needed where constants are far from one, as in SI units.

    References
    ----------
    B. K. Petersen, M. Landajuela, T. N. Mundhenk, C. P. Santiago, S. K. Kim, J. T. Kim, Deep symbolic
    regression: recovering mathematical expressions from data via risk-seeking policy gradients, ICLR 2021.
    """

    max_rows: int | None = 1000
    function_set: str = f"{FUNCTIONS},const"
    batch_size: int = 1000
    quantile: float = 0.05
    learning_rate: float = 5e-4
    entropy: float = 0.005
    entropy_decay: float = 1.0
    min_length: int = 4
    max_length: int = 30
    max_constants: int = 3
    uniform_arity: bool = False
    soft_length: float | None = None
    soft_scale: float = 5.0
    gtol: float = 1e-5
    scaled_start: bool = False
    name: ClassVar[str] = "dsr"
    reference: ClassVar[str] = "Petersen et al., Deep symbolic regression (ICLR 2021)"
    searches: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        try:
            self._rules(self._library(("x",)))
            self._training()
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        if POLYNOMIAL in self._functions and not self._polynomials():
            raise ValueError(f"{self.name}: poly belongs to udsr")
        if not self.gtol > 0:
            raise ValueError(f"{self.name}: gtol must be positive, got {self.gtol}")

    def search(self, task, *, budget, rng):
        if len(task.inputs) + len(self._functions) > MOST_TOKENS:
            raise Unsupported(f"{self.name} has room for {MOST_TOKENS} tokens, got {len(task.inputs)} inputs")
        library = self._library(task.inputs)
        rewards = self._rewards(library, task)
        evaluations = max(1, int(budget.evaluations))
        found = search(rewards, self._rules(library), self._training(), evaluations, rng)
        return [
            Candidate(
                {task.output: str(self._expression(library, entry.sequence, numbers))},
                loss=error,
                complexity=complexity,
                evaluations=found.evaluations,
                notes={"tokens": len(entry.sequence)},
            )
            for complexity, entry in found.front()
            for error, numbers in [rewards.fitted(entry.sequence)]
            if self._kept(library, entry.sequence, numbers)
        ]

    @property
    def _functions(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.function_set.split(","))

    def _library(self, inputs) -> Library:
        return Library(tuple(inputs), self._functions)

    def _rules(self, library: Library) -> Rules:
        return rules(
            library,
            min_length=self.min_length,
            max_length=self.max_length,
            max_constants=self.max_constants,
            uniform_arity=self.uniform_arity,
            soft_length=self.soft_length,
            soft_scale=self.soft_scale,
        )

    def _training(self) -> Training:
        return Training(
            batch=self.batch_size,
            quantile=self.quantile,
            learning_rate=self.learning_rate,
            entropy=self.entropy,
            decay=self.entropy_decay,
        )

    def _rewards(self, library: Library, task) -> Rewards:
        return Rewards(
            library,
            task.X,
            task.y,
            max_length=self.max_length,
            gtol=self.gtol,
            scaled_start=self.scaled_start,
            **self._polynomials(),
        )

    def _polynomials(self) -> dict:
        """Settings of the fitted polynomials."""
        return {}

    def _expression(self, library: Library, sequence, numbers):
        return library.expression(sequence, numbers)

    def _kept(self, library: Library, sequence, numbers) -> bool:
        """Whether an expression of the front is an answer."""
        return True

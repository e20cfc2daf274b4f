"""EQL: a network whose units are functions, read as equations."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..expressions import ExpressionError, from_sympy
from ..metrics.dynamics import fitness
from ..metrics.regression import nmse_power
from ..problems import Evolving, Trajectories, generator
from ..search.networks.function_networks import Network, expected_mask
from ..search.networks.gated_training import LINE_SEARCH, polish, polish_closed, train
from . import Budget, Candidate, Method
from .sparse_dynamics import Scored, Selection, as_grid, sample

# Units of a hidden layer, as in MDBench's Table A3.
LISTS = {
    "A": tuple("id mul cos sin exp square sqrt id mul cos sin exp square sqrt log".split()),
    "B": tuple("id mul cos div sqrt cos sin div mul mul cos id log".split()),
}
DECIMALS, SMALLEST = 3, 1e-4  # of numbers printed as released; smaller ones are 0


class Fit(NamedTuple):
    """A network after training.

    Attributes
    ----------
    network : Network
    weights, biases : ndarray, of what it computes
    shown : ndarray, the weights of what is printed
    """

    network: Network
    weights: np.ndarray
    biases: np.ndarray
    shown: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Rates, shape (n_states, n)."""
        return self.network.predict(self.weights, self.biases, np.ascontiguousarray(X, self.weights.dtype))

    def fault(self, X: np.ndarray) -> str | None:
        return self.network.fault(self.weights, self.biases, np.ascontiguousarray(X, self.weights.dtype))


@dataclass(frozen=True)
class EQL(Method):
    """Equation learner as MDBench runs it: one network for all states, 16 settings, the best one fitted again.

    Sums of the states go into fixed functions, up to twice, and sums of these are the rates. Gates close weights
    (`rediscover.search.networks.function_networks`). Each network takes full-batch steps of Adam on the squared error
    and a penalty for open gates, then L-BFGS. All arithmetic of the search is in single precision, and neither states
    nor rates are scaled, so that exponentials and squares of large states overflow: such a setting is out, its cause
    is in ``notes["failed"]``; if none is left, or the one chosen fails when it is fitted again, that is the error of
    the run. Settings are fitted to the training rows and chosen by the fitness on the validation rows; `loss` is that
    NMSE.

    Budget: an evaluation is one gradient of one network on all rows, by Adam or L-BFGS. It is shared equally among the
    settings and the last fit; the steps that each took are in ``notes["steps"]``.

    Attributes
    ----------
    layers : numbers of hidden layers
    functions : lists of units, of `LISTS`: A or B
    reg : penalties for an open gate
    steps : of Adam, fewer where the budget allows no more
    polish : gradients for L-BFGS; its last line search may need 20 more
    as_released : a setting that overflows is chosen before all others (`as_in_the_release`), and fails when it is
        fitted again unless that is finite. L-BFGS keeps the gates of Adam's last step, which are random; the network
        then predicts with gates without noise, which it was not fitted with. What is printed is another one again:
        the gates of its last layer are left out, so is what keeps roots, logarithms and quotients finite, and numbers
        are rounded to three decimals. The network that MDBench scores is in ``notes["network"]``. What is printed may
        hold complex numbers (the logarithm of a negative constant), zoo or nan, and then cannot be read here; MDBench
        counts its nodes.
        Otherwise, L-BFGS fits in double precision what is left with gates without noise, with closed ones closed, and
        that is printed with all digits.

    References
    ----------
    G. Martius, C. H. Lampert, Extrapolation and learning equations, arXiv:1610.02995; S. S. Sahoo, C. H. Lampert,
    G. Martius, Learning equations for extrapolation and control, ICML 2018; MDBench 2025, Table A3.
    """

    name: ClassVar[str] = "eql"
    reference: ClassVar[str] = "Martius and Lampert 2016; Sahoo et al. 2018; MDBench 2025, Table A3"
    accepts: ClassVar[tuple[type, ...]] = (Trajectories,)
    searches: ClassVar[bool] = True

    layers: tuple[int, ...] = (1, 2)
    functions: tuple[str, ...] = ("A", "B")
    reg: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 5e-2)
    steps: int = 10_000
    polish: int = 50
    as_released: bool = False

    def __post_init__(self) -> None:
        as_grid(self, "layers", "functions", "reg")
        for listed in self.functions:
            if listed not in LISTS:
                raise ValueError(f"eql: no list of functions {listed!r} (lists: {', '.join(LISTS)})")
        for n in (*self.layers, self.steps, self.polish):
            if not isinstance(n, int) or n < 1:
                raise ValueError(f"eql: layers, steps and polish must be whole numbers, at least 1, got {n!r}")
        for penalty in self.reg:
            if not isinstance(penalty, int | float) or not 0 <= penalty < np.inf:
                raise ValueError(f"eql: reg must be numbers, at least 0 and finite, got {penalty!r}")

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        """The equations of highest fitness, refitted.

        Raises
        ------
        FloatingPointError
            If no setting has finite predictions, or the chosen one not when it is fitted again; with the cause.
        ValueError
            If the budget has no step for each network.
        """
        search = Search(self, problem, seed, self.allowed(budget))
        tried, undefined, failed = [], [], {}
        for setting, fit in search.fits("train", itertools.product(self.layers, self.functions), self.reg):
            try:
                tried.append(Scored(*search.score(fit), setting))
            except FloatingPointError as error:
                failed[_words(setting)] = str(error)
                undefined.append(Scored(search.nodes(fit), np.nan, setting))
        if not tried:
            first, cause = next(iter(failed.items()))
            raise FloatingPointError(f"eql: none of {len(failed)} settings is finite, such as {first}: {cause}")
        chosen = self.as_in_the_release([*tried, *undefined]) if self.as_released else Selection.best(tried)
        shape = chosen.setting["layers"], chosen.setting["functions"]
        ((_, fit),) = search.fits("refit", [shape], (chosen.setting["reg"],))
        try:
            fit = search.finite(fit, "refit")
        except FloatingPointError as error:
            raise FloatingPointError(f"eql: {_words(chosen.setting)}, fitted again: {error}") from None
        printed = search.printed(fit)
        notes = {"setting": dict(chosen.setting), "steps": search.steps, "failed": failed}
        if self.as_released:
            network = fit.network.equations(fit.weights, fit.biases, problem.inputs)
            notes["network"] = dict(zip(problem.outputs, map(_text, network), strict=True))
        solution = dict(zip(problem.outputs, map(_text, printed), strict=True))
        return [Candidate(solution, float(chosen.nmse), size(printed), search.evaluations, notes)]

    def as_in_the_release(self, tried: list[Scored]) -> Scored:
        """The setting of highest fitness, as comparisons with an undefined error go: they are false.

        For each complexity the lowest error, then the highest fitness, are looked for from the first to the last. An
        overflowed network is printed as nan, one node a state: it comes first, and nothing is better.
        """
        grid = itertools.product(self.reg, self.layers, self.functions)  # in the order of the released code
        order = {(layers, functions, reg): i for i, (reg, layers, functions) in enumerate(grid)}
        tried = sorted(tried, key=lambda one: (one.complexity, order[tuple(one.setting.values())]))
        groups = itertools.groupby(tried, key=lambda one: one.complexity)
        front = [min(group, key=lambda one: one.nmse) for _, group in groups]
        return max(front, key=lambda one: fitness(one.nmse, one.complexity))

    def allowed(self, budget: Budget) -> int:
        """Steps of Adam for each network."""
        networks = len(self.layers) * len(self.functions) * len(self.reg) + 1
        reserved = self.polish + LINE_SEARCH
        steps = min(self.steps, int(budget.evaluations) // networks - reserved)
        if steps < 1:
            least = networks * (reserved + 1)
            raise ValueError(f"eql: {networks} networks need {least} evaluations or more, got {budget.evaluations:g}")
        return steps


class Search:
    """Fits of one problem.

    Attributes
    ----------
    method, problem, seed, steps : what is fitted, and how
    evaluations : gradients so far
    """

    def __init__(self, method: EQL, problem: Evolving, seed: int, steps: int) -> None:
        self.method, self.problem, self.seed, self.steps = method, problem, seed, steps
        self.evaluations = 0
        data = sample(problem, seed)
        self.cuts = problem.time_blocks(len(data.t))
        self.X, self.Y = data.u.T, data.target.T

    def fits(self, block: str, shapes: Iterable[tuple], reg: tuple) -> Iterator[tuple[dict[str, Any], Fit | str]]:
        """Every setting with its network, or why it has none; those of one shape are trained together."""
        X, Y = self.X[:, self.cuts[block]], self.Y[:, self.cuts[block]]
        for layers, functions in shapes:
            network = Network(LISTS[functions], layers, len(X), len(Y))
            rng = generator(self.seed, self.problem.id, self.method.name, f"{layers} {functions}")
            trained = train(network, X, Y, reg, self.steps, rng)
            self.evaluations += int(trained.steps.sum())
            for own, fault, penalty in zip(trained.parameters, trained.faults, reg, strict=True):
                setting = {"layers": layers, "functions": functions, "reg": penalty}
                yield setting, fault or self.finished(network, own, trained.noise, X, Y, penalty)

    def finished(self, network: Network, own, noise, X, Y, penalty: float) -> Fit:
        calls = self.method.polish
        if not self.method.as_released:
            weights, biases, used = polish_closed(network, own, X, Y, calls)
            shown = weights
        else:
            own, used = polish(network, own, noise, X, Y, penalty, calls)
            shown, a, biases = network.parts(own)
            weights = shown * expected_mask(a)
            last = np.arange(len(weights)) >= len(weights) - np.prod(network.shapes[-1])
            shown = np.where(last, shown, weights)
        self.evaluations += used
        return Fit(network, weights, biases, shown)

    def score(self, fit: Fit | str) -> tuple[int, float]:
        """Complexity of what is printed, and NMSE of the network on the validation block.

        Raises
        ------
        FloatingPointError
            If there is no network, or one without finite predictions; with the cause.
        """
        fit = self.finite(fit, "validation")
        cut = self.cuts["validation"]
        return self.nodes(fit), nmse_power(fit.predict(self.X[:, cut]).T, self.Y[:, cut].T)

    def nodes(self, fit: Fit | str) -> int:
        """Complexity of what is printed: a network that was given up is nan."""
        return len(self.Y) if isinstance(fit, str) else size(self.printed(fit))

    def finite(self, fit: Fit | str, block: str) -> Fit:
        """The network itself, if its predictions on a block are finite; raises as `score`."""
        if isinstance(fit, str):
            raise FloatingPointError(fit)
        if cause := fit.fault(self.X[:, self.cuts[block]]):
            raise FloatingPointError(f"{block} rows: {cause}")
        return fit

    def printed(self, fit: Fit) -> list:
        """What is printed, as SymPy expressions."""
        import sympy

        plain = self.method.as_released
        found = fit.network.equations(fit.shown, fit.biases, self.problem.inputs, plain)
        if plain:
            found = [e.xreplace({n: _rounded(float(n)) for n in e.atoms(sympy.Float)}) for e in found]
        return found


def size(equations: list) -> int:
    """Nodes of SymPy expressions, as MDBench counts them."""
    import sympy

    return sum(1 for equation in equations for _ in sympy.preorder_traversal(equation))


def _text(equation: Any) -> str:
    try:
        return str(from_sympy(equation))
    except ExpressionError:  # the root of a negative constant, or a quotient by 0: MDBench's code counts their nodes
        return str(equation)


def _rounded(number: float) -> Any:
    import sympy

    return sympy.Float(round(number, DECIMALS)) if abs(number) >= SMALLEST else sympy.Integer(0)


def _words(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items())

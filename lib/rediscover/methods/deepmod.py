"""DeepMoD: a network fitted to a field and to an equation that loses its terms meanwhile."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..metrics.dynamics import linear_size
from ..metrics.regression import nmse_power
from ..problems import Field, generator
from ..search.networks.field_equations import Objective, Setup, cells, columns, setup
from ..search.networks.field_networks import FieldNetwork
from ..search.networks.field_training import CHECK, Ended, Schedule, Training
from . import Budget, Candidate, Method, Unsupported
from .sparse_dynamics import PRINTED, Sampled, Scored, Selection, as_grid, as_text, sample

TEST = 0.2  # of the points
FEWEST = 50  # points
GAIN = 1e-5  # of the test error, below which it is not better
PATIENCE = 500  # steps without a gain before the first mask; as released 10
SPAN = 4.0  # scaled coordinates go from -SPAN to SPAN


class Units(NamedTuple):
    """What the network's numbers are in those of the data: (number - centre)/unit.

    Attributes
    ----------
    centres, units : ndarray, shape (1 + axes,), of t, x, ...
    offset, sizes : ndarray, shape (states,)
    """

    centres: np.ndarray
    units: np.ndarray
    offset: np.ndarray
    sizes: np.ndarray


class Library(NamedTuple):
    """Products of states and their derivatives.

    Attributes
    ----------
    given : Setup
    powers : ndarray, shape (columns, quantities)
    texts : of the columns
    """

    given: Setup
    powers: np.ndarray
    texts: list[str]

    @classmethod
    def of(cls, states: tuple[str, ...], axes: tuple[str, ...], degree: int, order: int) -> "Library":
        given = setup(len(axes), order)
        names = [*states]
        for state in states:
            names += [f"{state}_{''.join(a * k for a, k in zip(axes, m, strict=True))}" for m in given.multi]
        powers = cells(degree, len(states), len(given.multi))
        texts = [
            "*".join(n if p == 1 else f"{n}**{p}" for n, p in zip(names, row, strict=True) if p) or "1"
            for row in powers
        ]
        return cls(given, powers, texts)

    def values(self, data: Sampled, times: slice) -> np.ndarray:
        """The columns by finite differences, shape (columns, n)."""
        states = range(data.u.shape[-1])
        made = [data.u[..., i] for i in states]
        made += [data.differentiate(data.u[..., i], multi) for i in states for multi in self.given.multi]
        return columns(self.powers, np.stack([each[..., times].ravel() for each in made]))

    def in_units(self, coefficients: np.ndarray, units: Units) -> np.ndarray:
        """Coefficients for the data's own numbers from those for the network's."""
        factors = [1 / size for size in units.sizes]
        factors += [np.prod(units.units[1:] ** multi) / size for size in units.sizes for multi in self.given.multi]
        return coefficients * np.prod(np.array(factors) ** self.powers, axis=1) * units.sizes[:, None] / units.units[0]


@dataclass(frozen=True)
class DeepMoD(Method):
    """DeepMoD as MDBench runs it: a tanh network for the states whose own derivatives must obey a sparse equation.

    The network has four layers of 50 units, t and the coordinates as inputs, and learns from random points of the
    field, a fifth of them for the test error. Its loss is the squared error of the states and that of their rates by
    the equation, whose coefficients are those of least squares at each step. When the test error falls no more, the
    columns with a lasso coefficient below the threshold are left out, and this choice is made again among all
    columns every 50 steps, until the coefficients have settled. The equation is scored with finite differences, as
    all equations are; the setting of highest fitness on the validation rows is trained again on training and
    validation rows. A grid of one setting has nothing to choose and is trained once, on these; `loss` is its NMSE on
    the validation rows.

    Systems: one dimension of space, or two and one state, where the library is {1, u} times {1, first and second
    derivatives} and neither `degrees` nor `orders` have an effect.

    Budget: an evaluation is one step of one network. It is shared equally among the trainings. Thresholds of one
    library share the steps before the first mask, so that a grid takes fewer. On one core and 2000 points, a step
    takes about 8, 9, 12 and 17 ms with derivatives up to order 1, 2, 3 and 4, and the published grid, of 48 settings
    and 50,000 steps each, up to eight hours. One setting in a minute: degree 2, order 3, threshold 0.1, 1250 points
    and 4000 steps.

    Attributes
    ----------
    degrees : highest powers of the states
    orders : highest derivative orders
    thresholds : of the lasso's coefficients, columns and rates having length 1
    steps : at most, of one training
    points : of the field, for training and test
    as_released : coordinates and states keep their units, in which tanh may be flat, and a gain of the test error of
        1e-5 large; the first mask comes at the first check without it, and training may end before. The
        coordinates of points in two dimensions are numbered in the order y, x, t, and their states in that of
        t, x, y: they do not belong together. A mask without terms is an error of the run, and so are several states:
        the library has columns twice, whose least squares are singular.
        Otherwise, coordinates are scaled to [-4, 4], where units of tanh are neither flat nor straight, and states to
        mean 0 and deviation 1; the first mask comes after 500 steps without a gain, or after half of the steps, and
        training may end 200 steps later. A setting that loses all terms of a state is out.

    References
    ----------
    G.-J. Both et al., DeepMoD: Deep learning for model discovery in noisy data, J. Comput. Phys. 428 (2021) 109985;
    MDBench 2025, Table A2.
    """

    name: ClassVar[str] = "deepmod"
    reference: ClassVar[str] = "Both et al. 2021; MDBench 2025, Table A2"
    accepts: ClassVar[tuple[type, ...]] = (Field,)
    searches: ClassVar[bool] = True

    degrees: tuple[int, ...] = (1, 2, 3, 4)
    orders: tuple[int, ...] = (1, 2, 3, 4)
    thresholds: tuple[float, ...] = (0.1, 0.3, 0.5)
    steps: int = 50_000
    points: int = 2000
    as_released: bool = False

    def __post_init__(self) -> None:
        as_grid(self, "degrees", "orders", "thresholds")
        for n in (*self.degrees, *self.orders, self.steps, self.points):
            if isinstance(n, bool) or not isinstance(n, int) or n < 1:
                raise ValueError(f"deepmod: degrees, orders, steps and points must be whole numbers from 1, got {n!r}")
        if self.points < FEWEST:
            raise ValueError(f"deepmod: points must be {FEWEST} or more, got {self.points}")
        if max(self.orders) > Field.max_order:
            raise ValueError(f"deepmod: orders go up to {Field.max_order}, got {max(self.orders)}")
        for threshold in self.thresholds:
            if not isinstance(threshold, int | float) or not 0 < threshold < np.inf:
                raise ValueError(f"deepmod: thresholds must be positive numbers, got {threshold!r}")

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        """The equations of highest fitness, trained again; an equation that lost its terms is 0.

        Raises
        ------
        Unsupported
            If the library is not for such a system, or no setting gives an equation for every state.
        FloatingPointError
            If the chosen setting has no finite loss when it is trained again, or, as released, loses all terms.
        ValueError
            If the budget has too few steps for each training.
        """
        data = sample(problem, seed)
        grid = self.grid(data, problem.id)
        search = Search(self, problem, data, seed, self.allowed(len(grid) * len(self.thresholds), budget))
        tried, failed = [], {}
        if len(grid) * len(self.thresholds) > 1:
            for setting, found in search.fits("train", grid, self.thresholds):
                if isinstance(found, str):
                    failed[", ".join(f"{name} {value}" for name, value in setting.items())] = found
                else:
                    tried.append(Scored(*search.score(found), setting))
            setting = dict(Selection.best(tried).setting)
        else:
            (degree, order), (threshold,) = grid[0], self.thresholds
            setting = {"degree": degree, "order": order, "threshold": threshold}
        ((_, last),) = search.fits("refit", [(setting["degree"], setting["order"])], (setting["threshold"],))
        if isinstance(last, str):
            raise FloatingPointError(f"deepmod: {last}")
        loss = Selection.best(tried).nmse if tried else search.score(last)[1]
        equations = [dict(zip(last.texts, row, strict=True)) for row in last.coefficients.tolist()]
        kept = [{text: c for text, c in equation.items() if abs(c) > PRINTED} for equation in equations]
        notes = {
            "setting": setting,
            "steps": last.ended.steps,
            "first_mask": last.ended.first,
            "test_error": last.ended.error,
            "failed": failed,
        }
        solution = {state: as_text(terms) for state, terms in zip(problem.outputs, kept, strict=True)}
        return [Candidate(solution, float(loss), sum(map(linear_size, kept)), search.evaluations, notes)]

    def grid(self, data: Sampled, name: str) -> list[tuple[int, int]]:
        """Degrees and orders of the libraries; raises Unsupported where there is none."""
        axes, states = len(data.axes), data.u.shape[-1]
        if axes > 2:
            raise Unsupported(f"deepmod: its library is for one or two dimensions of space, and {name} has {axes}")
        if axes == 2 and states > 1:
            raise Unsupported(f"deepmod: its library in two dimensions is for one state, and {name} has {states}")
        if states > 1 and self.as_released:
            raise Unsupported("deepmod: the released library of several states has columns twice: no least squares")
        orders = [2] if axes == 2 else self.orders
        grid = itertools.product([1] if axes == 2 else self.degrees, [o for o in orders if o <= data.order])
        if not (found := list(grid)):
            raise Unsupported(f"deepmod: an axis of {name} has too few points for derivatives of order {min(orders)}")
        return found

    def allowed(self, settings: int, budget: Budget) -> int:
        """Steps of one training."""
        trainings = settings + (settings > 1)
        steps = min(self.steps, int(budget.evaluations) // trainings)
        if steps < 2 * CHECK:
            least = trainings * 2 * CHECK
            raise ValueError(f"deepmod: {trainings} trainings need {least} steps or more, got {budget.evaluations:g}")
        return steps


class Found(NamedTuple):
    """Equations in the data's own numbers.

    Attributes
    ----------
    texts : of the columns
    coefficients : ndarray, shape (states, columns)
    predicted : ndarray, shape (states, n)
        On the validation rows.
    ended : Ended
    """

    texts: list[str]
    coefficients: np.ndarray
    predicted: np.ndarray
    ended: Ended


class Search:
    """Trainings on one field.

    Attributes
    ----------
    method, problem, data, seed, steps : what is trained, and how
    evaluations : steps so far
    """

    def __init__(self, method: DeepMoD, problem: Any, data: Sampled, seed: int, steps: int) -> None:
        self.method, self.problem, self.data, self.seed, self.steps = method, problem, data, seed, steps
        self.axes = tuple(problem.samples(seed)[0])
        self.cuts = problem.time_blocks(len(data.t))
        self.evaluations = 0

    def fits(self, block: str, grid: Any, thresholds: tuple) -> Iterator[tuple[dict[str, Any], Found | str]]:
        """Every setting with its equations, or why it has none."""
        X, Y = self.points(block)
        units = self.units(X, Y)
        X = ((X - units.centres[:, None]) / units.units[:, None]).astype(np.float32)
        Y = (Y - units.offset[:, None]) / units.sizes[:, None]
        held = max(int(TEST * Y.shape[1]), 1)
        test, X, Y = (X[:, -held:], Y[:, -held:]), X[:, :-held], Y[:, :-held].astype(np.float32)
        for degree, order in grid:
            library = Library.of(self.problem.outputs, self.axes, degree, order)
            network = FieldNetwork(len(X), len(Y), library.given.directions)
            objective = Objective(network, library.given.rows, library.powers, units.offset / units.sizes, X, Y)
            training = Training(objective, test, self.schedule(), self.steps)
            rng = generator(self.seed, self.problem.id, self.method.name, f"{block} {degree} {order}")
            ends = training.run(network.start(rng).astype(np.float32), thresholds)
            for threshold in thresholds:
                setting = {"degree": degree, "order": order, "threshold": threshold}
                try:
                    yield setting, self.found(library, next(ends), units, block)
                except FloatingPointError as error:
                    yield setting, str(error)
                    break
            self.evaluations += training.taken

    def found(self, library: Library, ended: Ended, units: Units, block: str) -> Found | str:
        lost = ~ended.coefficients.any(axis=1)
        if lost.any() and (block == "train" or self.method.as_released):
            return f"{self.problem.outputs[lost.argmax()]} has lost all terms at threshold {ended.threshold:g}"
        coefficients = library.in_units(ended.coefficients, units)
        predicted = coefficients @ library.values(self.data, self.cuts["validation"])
        return Found(library.texts, coefficients, predicted, ended)

    def score(self, found: Found) -> tuple[int, float]:
        """Complexity, and NMSE on the validation rows."""
        rates = self.data.target[..., self.cuts["validation"], :].reshape(-1, len(found.coefficients)).T
        sizes = [
            linear_size([t for t, c in zip(found.texts, row, strict=True) if abs(c) > PRINTED])
            for row in found.coefficients
        ]
        return sum(sizes), nmse_power(found.predicted.T, rates.T)

    def schedule(self) -> Schedule:
        if self.method.as_released:
            return Schedule(10, GAIN, self.steps, from_start=True)
        return Schedule(PATIENCE, GAIN, self.steps // 2)

    def points(self, block: str) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (t, x, ...) and states of random points of a block, shapes (1 + axes, n) and (states, n)."""
        cut = self.cuts[block]
        u = np.moveaxis(self.data.u[..., cut, :], -2, 0)
        lines = (self.data.t[cut], *self.data.axes)
        total = u[..., 0].size
        rng = generator(self.seed, self.problem.id, self.method.name, block)
        chosen = rng.choice(total, min(self.method.points, total), replace=False)
        places = np.unravel_index(chosen, u.shape[:-1])
        values = u[places].T
        if self.method.as_released and len(lines) == 3:
            places = np.unravel_index(chosen, u.shape[-2::-1])[::-1]
        return np.stack([line[i] for line, i in zip(lines, places, strict=True)]), values

    def units(self, X: np.ndarray, Y: np.ndarray) -> Units:
        if self.method.as_released:
            return Units(np.zeros(len(X)), np.ones(len(X)), np.zeros(len(Y)), np.ones(len(Y)))
        low, high, sizes = X.min(axis=1), X.max(axis=1), Y.std(axis=1)
        return Units((low + high) / 2, (high - low) / (2 * SPAN), Y.mean(axis=1), np.where(sizes > 0, sizes, 1))

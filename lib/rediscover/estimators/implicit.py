"""`ImplicitEquation`: the equation F = 0 of a cloud of points."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..expressions import Expression, parse
from ..expressions.trees import is_number
from ..problems import generator
from ..problems.tables import Cloud
from . import choice
from .base import EquationEstimator, check_magnitudes, column_names, held_out_rows
from .constants import Form, tabulated
from .names import Name
from .regressor import SEARCHED, sample, weights_of
from .residuals import DistanceResiduals, columns
from .selection import candidate_forms, select

LEAST = 11  # points
PRUNED = 30  # terms of a sum, above which none is taken away


class ImplicitEquation(EquationEstimator):
    """An equation F(x) = 0 that holds on a cloud of points.

    Errors are distances of points from the surface, to first order |F| / |grad F|. Of each equation that the search
    finds, those with terms taken away, the smallest first, are compared too. Which is chosen is decided on a fifth of
    the points by the rules in `rediscover.estimators.choice`; the parts of the mean and of the straight line are played
    by points with shuffled coordinates and by a plane. F and a multiple of it are one equation, so the largest term has
    the factor 1 where all terms have factors (`scaled`).

    Methods that know no level sets regress the last coordinate on the others.

    Parameters
    ----------
    method, operators, max_complexity, max_evaluations, time_limit, random_state, units, constants
        As for `rediscover.estimators.base.EquationEstimator`; F may have any unit.

    Attributes
    ----------
    equations_ : DataFrame
        The front, as for `EquationRegressor`; errors are in units of the coordinates.
    constants_, skeleton_, expressions_, clear_, message_, evaluations_, ended_
        As for `EquationRegressor`; the output is F. Constants that rows do not determine have no standard error.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 6, 60)
    >>> found = ImplicitEquation(max_evaluations=2000).fit(np.column_stack([2 * np.cos(angle), np.sin(angle)]))
    >>> bool(np.abs(found.predict([[2.0, 0.0], [0.0, -1.0]])).max() < 1e-9)
    True
    """

    treats = (Cloud,)
    beaten = "points with shuffled coordinates and a plane"

    def fit(self, X: Any, y: Any = None) -> "ImplicitEquation":
        """Search for an equation.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_coordinates)
            Points, at least 11, of two coordinates or more.
        y : ignored

        Returns
        -------
        ImplicitEquation

        Raises
        ------
        ValueError
            If a parameter is wrong, there are too few points, or a number is missing or infinite.
        """
        solver, allowed, seed = self._validated()
        given = column_names(X)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=LEAST, ensure_min_features=2)
        self._names, self._outputs = self._named(given or column_names(X)), (Name("F", "F", ""),)
        dimensions = self._dimensions(None)
        inner = tuple(f"x{i}" for i in range(X.shape[1]))
        check_magnitudes([name.column for name in self._names], X)
        X = np.unique(X, axis=0)
        rng = generator(seed, "rows")
        out = held_out_rows(len(X), rng, choice.FEW_POINTS)
        zero, one = np.zeros(len(X)), np.ones(len(X))
        rest = DistanceResiduals(inner, X[out], zero[out], one[out]) if out.any() else None
        train = DistanceResiduals(inner, X[~out], zero[~out], one[~out], rest)
        few = train.X[np.sort(rng.permutation(len(train.X))[:SEARCHED])]
        found = self._search([Cloud(id="own/cloud", truth={"F": ""}, inputs=inner, points=few)], solver, seed)
        texts = []
        for candidate in found.candidates:
            left = candidate.solution.get("F") or f"{inner[-1]} - ({candidate.solution[inner[-1]]})"
            texts += [left, *pruned(left, inner, few)]
        flat = plane(inner, train.X)
        forms = candidate_forms(texts, inner, allowed, self.max_complexity)
        candidates = [flat, *(Form(scaled(form.expression, inner, few)) for form in forms)]
        selection = select(candidates, train, flat, flat, dimensions.refused if dimensions else None)
        every = train.all()
        free, self._chosen = every.fit(selection.front[selection.chosen].form), every.fit(selection.form)
        self.expressions_ = {"F": self._shown(self._chosen.shown)}
        self.skeleton_ = self._skeleton(free)
        errors, freedom = every.errors(free)
        units = dimensions.of_constants(self._chosen) if dimensions else None
        table = tabulated("F", free, self._chosen, errors, freedom, units)
        self.constants_ = table.drop(columns="output")
        self._sample = sample(train, rng)
        self._set_results({"F": selection}, found, {}, 0 if rest is None else len(rest.y))
        self.equations_ = self.equations_.drop(columns="output")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Distances of points from the surface F = 0, to first order, with the sign of F.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_coordinates)

        Returns
        -------
        ndarray, shape (n,)
            In units of the coordinates.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        inner = tuple(f"x{i}" for i in range(X.shape[1]))
        n = len(X)
        return np.array(DistanceResiduals(inner, X, np.zeros(n), weights_of(None, n)).predicted(self._chosen))

    def score(self, X: Any, y: Any = None) -> float:
        """One less the mean square of the distances over the variance of the points.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, n_coordinates)
        y : ignored

        Returns
        -------
        float
            1 where all points lie on the surface.
        """
        off = self.predict(X)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return float(1 - np.mean(off**2) / (X.var(axis=0).sum() or 1.0))


def plane(names: tuple[str, ...], X: np.ndarray) -> Form:
    """The plane that is nearest to the points, by total least squares."""
    mean = X.mean(axis=0)
    normal = np.linalg.svd(X - mean, full_matrices=False)[2][-1]
    tree: tuple = (float(-normal @ mean),)
    for name, slope in zip(names, normal, strict=True):
        tree = ("+", tree, ("*", (float(slope),), (name,)))
    return Form(Expression(tree))


def scaled(expression: Expression, names: tuple[str, ...], X: np.ndarray) -> Expression:
    """A sum, all terms of which have factors, divided by that of the largest term; others stay as they are.

    Parameters
    ----------
    expression : Expression
    names : of the columns of X
    X : ndarray, shape (n, n_names)
        A term's size is the root of its mean square on these points.

    Returns
    -------
    Expression

    Examples
    --------
    >>> print(scaled(parse("1 - 4.0*x**2 - 2.0*y**2"), ("x", "y"), np.array([[0.5, 0.0], [0.0, 0.5]])))
    -0.25 + x**2 + 0.5*y**2
    """
    terms = [(sign * factor, rest) for sign, term in summed(expression.tree) for factor, rest in [factored(term)]]
    others = [(factor, rest) for factor, rest in terms if rest]
    if len(terms) < 2 or not others or any(factor in (1, -1, 0) for factor, _ in others):
        return expression
    values = columns(names, X)
    with np.errstate(all="ignore"):
        sizes = [abs(factor) * float(np.sqrt(np.mean(Expression(rest)(values) ** 2))) for factor, rest in others]
    largest = others[int(np.argmax(np.nan_to_num(sizes)))]
    tree: tuple = ()
    for factor, rest in terms:
        by = float(factor / largest[0])
        if (factor, rest) == largest:
            term = rest
        else:
            term = ("*", (abs(by),), rest) if rest else (abs(by),)
        first = term if by > 0 else ("neg", term) if rest else (by,)
        tree = ("+" if by > 0 else "-", tree, term) if tree else first
    return Expression(tree)


def factored(term: tuple) -> tuple[float, tuple]:
    """A term as a number and the rest, which is empty where it is a number."""
    if is_number(term[0]) and len(term) == 1:
        return float(term[0]), ()
    if term[0] == "neg":
        factor, rest = factored(term[1])
        return -factor, rest
    if term[0] == "*" and (found := factored(term[1]))[0] not in (1, -1):
        return found[0], ("*", found[1], term[2]) if found[1] else term[2]
    return 1.0, term


def pruned(text: str, names: tuple[str, ...], X: np.ndarray) -> list[str]:
    """A sum without its smallest term, without its two smallest, and so on down to two terms.

    Parameters
    ----------
    text : of an expression
    names : of the columns of X
    X : ndarray, shape (n, n_names)
        A term's size is the root of its mean square on these points.

    Returns
    -------
    list of str

    Examples
    --------
    >>> pruned("x - 0.001*y + y**2", ("x", "y"), np.array([[1.0, 2.0], [2.0, 1.0]]))
    ['x + y**2']
    """
    terms = summed(parse(text, names).tree)
    if not 2 < len(terms) <= PRUNED:
        return []
    values = columns(names, X)
    with np.errstate(all="ignore"):
        sizes = [float(np.sqrt(np.mean(Expression(term)(values) ** 2))) for _, term in terms]
    order = sorted(range(len(terms)), key=lambda i: sizes[i])
    found = []
    for k in range(1, len(terms) - 1):
        tree: tuple = ()
        for i, (sign, term) in enumerate(terms):
            if i not in order[:k]:
                first = term if sign > 0 else ("neg", term)
                tree = ("+" if sign > 0 else "-", tree, term) if tree else first
        found.append(str(Expression(tree)))
    return found


def summed(tree: tuple, sign: int = 1) -> list[tuple[int, tuple]]:
    """Terms of a sum with their signs."""
    terms: list[tuple[int, tuple]] = []
    stack = [(sign, tree)]
    while stack:
        sign, node = stack.pop()
        if node[0] in ("+", "-") and len(node) == 3:
            stack += [(sign if node[0] == "+" else -sign, node[2]), (sign, node[1])]
        else:
            terms.append((sign, node))
    return terms

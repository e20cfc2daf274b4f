"""Parts of an equation that are known: y = factor(x) f(x) + offset(x), of which f is searched.

With r the residual of f to (y - offset)/factor and weights w factor^2, the weighted squared error w factor^2 r^2 is
that of the whole equation, so that fitting f so is fitting the whole. Rows where the factor is zero say nothing of f,
and are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from .names import Name, displayed
from .residuals import columns

ONE, ZERO = Expression((1,)), Expression((0,))


@dataclass(frozen=True)
class Known:
    """What stands around the part that is searched.

    Attributes
    ----------
    names : of the columns of a table, as the search has them
    factor, offset : expressions in these names
    """

    names: tuple[str, ...]
    factor: Expression = ONE
    offset: Expression = ZERO

    @property
    def nothing(self) -> bool:
        return self.factor == ONE and self.offset == ZERO

    def whole(self, f: Expression) -> Expression:
        """The whole equation around an f; the constants of f come first.

        Examples
        --------
        >>> print(Known(("x",), offset=parse("9.81*x")).whole(parse("2.5*x**2")))
        2.5*x**2 + 9.81*x
        """
        tree = f.tree
        if self.factor != ONE:
            tree = ("*", tree, self.factor.tree)
        if self.offset != ZERO:
            tree = ("+", tree, self.offset.tree)
        return Expression(tree)

    def values(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Factor and offset of each row, shape (n,) each.

        Raises
        ------
        ValueError
            If one is undefined or infinite on a row.
        """
        found = []
        for what, part in (("factor", self.factor), ("offset", self.offset)):
            values = np.broadcast_to(part(columns(self.names, X)), len(X)).astype(float)
            if not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
                raise ValueError(f"{what} is undefined in row {row}; leave such rows out or change it")
            found.append(values)
        return found[0], found[1]

    def used(self, X: np.ndarray) -> np.ndarray:
        """Rows that say something of f, as a mask of shape (n,).

        Raises
        ------
        ValueError
            If there are fewer than two.
        """
        mask = self.values(X)[0] != 0
        if mask.sum() < 2:
            raise ValueError("factor is zero in all rows or all but one; give one that is not")
        return mask

    def rest(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What f is to give on rows, and the weights of its errors, shape (n,) each."""
        if self.nothing:
            return y, weights
        factor, offset = self.values(X)
        with np.errstate(all="ignore"):
            return np.where(factor == 0, 0.0, (y - offset) / factor), weights * factor**2

    def scale(self, X: np.ndarray, weights: np.ndarray) -> float:
        """Root mean square of the factor: errors of f times this are errors of y."""
        return 1.0 if self.nothing else float(np.sqrt(np.average(self.values(X)[0] ** 2, weights=weights)))


def known(names: Sequence[Name], factor: str | None, offset: str | None) -> Known:
    """The parts as somebody wrote them in the names that equations show.

    Parameters
    ----------
    names : of the columns
    factor, offset : texts of expressions, or None

    Returns
    -------
    Known

    Raises
    ------
    ValueError
        If one cannot be read, or has other names.
    """
    inner = {name.shown: f"x{i}" for i, name in enumerate(names)}
    found = {}
    for what, text in (("factor", factor), ("offset", offset)):
        if text is not None:
            try:
                found[what] = displayed(parse(text, [*inner]), inner)
            except (ExpressionError, TypeError) as error:
                raise ValueError(f"{what}: {error}; write it in {', '.join(inner)}") from None
    return Known(tuple(inner.values()), **found)

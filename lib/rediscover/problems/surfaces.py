"""SurfaceBench: 183 surfaces in three representations, with seeded samples.

The paper gives ranges and sizes; what it leaves open is decided here:

- Out of domain means every input in the bands that double the domain (the four corner squares): 5 to 10 in
  absolute value for the domain [-5, 5].
- Integer grids: a random tenth of the grid is kept for testing, the rest for training, each drawn without
  repetition where it is large enough. Bands hold integers, 51 to 100 in absolute value for [-50, 50].
- Rows without a finite output are drawn again.
- Noise is Gaussian with a standard deviation of ``noise`` times that of the output, on training outputs only;
  for an implicit surface the output is z.
- The splits have random streams of their own: the size of one changes no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np

from ..expressions import Expression
from ..numerics import level_sets
from . import LevelSet, Problem, Regression, Split, Task, facts, generator

REPRESENTATIONS = ("explicit", "implicit", "parametric")
INPUTS = {"explicit": ("x", "y"), "implicit": ("x", "y", "z"), "parametric": ("u", "v")}
OUTPUTS = {"explicit": ("z",), "implicit": ("F",), "parametric": ("x", "y", "z")}


@cache
def _entries() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Name -> (category, entry), from the data file."""
    return {entry["id"]: (group, entry) for group in facts("surfaces") for entry in group["surfaces"]}


@cache
def categories() -> dict[str, str]:
    """Category code (the letters of an id) -> the paper's name for it."""
    return {group["code"]: group["name"] for group, _ in _entries().values()}


def ids(subset: str | None = None) -> list[str]:
    """Names of all surfaces, or of those of a representation or a category code.

    Examples
    --------
    >>> len(ids()), len(ids("implicit")), ids("TRPS")[-1]
    (183, 24, 'TRPS10')
    """
    if subset is not None and subset not in REPRESENTATIONS and subset not in categories():
        raise KeyError(f"surfaces: no subset {subset!r} (known: {', '.join([*REPRESENTATIONS, *categories()])})")
    return [name for name, (group, _) in _entries().items() if subset in (None, group["code"], group["representation"])]


def load(name: str) -> "ImplicitSurface | Surface":
    """One surface by its name."""
    group, entry = _entries()[name]
    representation = group["representation"]
    note = entry.get("note", "")
    if "reading" in entry:
        note += f"{'; ' if note else ''}the text can also be read as {entry['reading']}"
    flags = (*group.get("flags", ()), *entry.get("flags", ()))
    inputs = INPUTS[representation]
    low, high = map(float, entry.get("domain", group["domain"]))
    return (ImplicitSurface if representation == "implicit" else Surface)(
        id=f"surfaces/{name}",
        truth={output: entry[output] for output in OUTPUTS[representation]},
        inputs=inputs,
        subset=representation,
        category=group["code"],
        domain=((low, high),) * len(inputs),
        flags=flags,
        note=note,
        source="substitute" if "substitute" in flags else "SurfaceBench, Table 6",
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sampled(Problem):
    """What all surfaces have in common.

    Attributes
    ----------
    category : code of the paper's category, see `categories`.
    domain : (low, high) of each input.
    sampler : 'uniform', as released, or 'curvature', denser where the training surface is curved, as the paper says.
    n_train, n_test, n_ood : rows of the splits.
    """

    choices: ClassVar = {"sampler": ("uniform", "curvature")}
    category: str
    domain: tuple[tuple[float, float], ...]
    sampler: str = "uniform"
    n_train: int = 5000
    n_test: int = 500
    n_ood: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in ("n_train", "n_test", "n_ood"):
            value = getattr(self, size)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{self.id}: {size} must be a whole number >= 1, got {value!r}")
        try:
            domain = np.array(self.domain, dtype=float)
        except (TypeError, ValueError):
            domain = np.empty(0)
        if domain.shape != (len(self.inputs), 2) or not np.all(domain[:, 0] < domain[:, 1]):
            wanted = f"one (low, high) for each of {', '.join(self.inputs)}"
            raise ValueError(f"{self.id}: domain must hold {wanted}, got {self.domain!r}")
        object.__setattr__(self, "domain", tuple(map(tuple, domain.tolist())))

    @property
    def splits(self) -> tuple[str, ...]:
        return ("train", "test") if "no_ood" in self.flags else ("train", "test", "ood")

    def data(self, seed: int = 0) -> dict[str, Split]:
        """Splits ``train``, ``test`` and, where the surface reaches so far, ``ood``."""
        return {name: self.split(name, seed) for name in self.splits}

    def split(self, name: str, seed: int = 0) -> Split:
        """One split; see `data`."""
        raise NotImplementedError

    def _noisy(self, y: np.ndarray, seed: int) -> np.ndarray:
        rng = generator(seed, self.id, "noise")
        return y + self.noise * np.std(y, axis=0) * rng.standard_normal(y.shape) if self.noise else y


@dataclass(frozen=True, eq=False, kw_only=True)
class Surface(_Sampled, Regression):
    """An explicit surface z(x, y), or a parametric one: x, y and z of (u, v)."""

    def split(self, name: str, seed: int = 0) -> Split:
        """One split; see `data`."""
        n, rng = getattr(self, f"n_{name}"), generator(seed, self.id, name)
        if "integer_grid" in self.flags:
            X = self._integers(name, n, rng, seed)
        elif name == "train" and self.sampler == "curvature":
            candidates = self._draw(name, max(20_000, 4 * n), rng)
            X = candidates[_weighted(_curvature(self._at, candidates, self.domain), n, rng)]
        else:
            X = self._draw(name, n, rng)
        y = self._at(X)
        return Split(X, self._noisy(y, seed) if name == "train" else y)

    def _at(self, X: np.ndarray) -> np.ndarray:
        return self.evaluate(dict(zip(self.inputs, np.moveaxis(X, -1, 0), strict=True)))

    def _draw(self, name: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """Uniform inputs of the domain or, for ``ood``, of the bands around it, with finite outputs."""
        low, high = np.transpose(self.domain)
        X, rows = np.empty((n, len(low))), np.arange(n)
        for _ in range(100):
            where = rng.random((len(rows), len(low)))
            X[rows] = low + (high - low) * where if name != "ood" else _band(low, high, where, rng)
            y = self._at(X[rows])
            rows = rows[~np.isfinite(y.reshape(len(rows), -1)).all(axis=1)]
            if not rows.size:
                return X
        raise ValueError(f"{self.id}: no finite outputs on {self.domain} for {rows.size} of {n} rows")

    def _integers(self, name: str, n: int, rng: np.random.Generator, seed: int) -> np.ndarray:
        low, high = np.transpose(self.domain)
        if name == "ood":
            depth = (high - low) // 2
            return np.rint(_band(low, high, rng.integers(1, depth + 1, (n, len(depth))) / depth, rng))
        axes = [np.arange(np.ceil(a), np.floor(b) + 1) for a, b in self.domain]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        grid = generator(seed, self.id, "grid").permutation(grid)
        tenth = len(grid) // 10
        part = grid[:tenth] if name == "test" else grid[tenth:]
        return rng.choice(part, size=n, replace=n > len(part))

    def points(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Inputs and outputs as points in space, shape (n, 3)."""
        return y if self.subset == "parametric" else np.column_stack([X, y])


@dataclass(frozen=True, eq=False, kw_only=True)
class ImplicitSurface(_Sampled, LevelSet):
    """A surface F(x, y, z) = 0, sampled uniformly by area within the box of its domain.

    ``split.X`` holds points of the surface and ``split.y`` zeros; as a table (`tasks`), z is regressed on x
    and y, as the release does, though most of these surfaces have several z for one (x, y).

    Attributes
    ----------
    resolution : grid nodes per axis for marching cubes (half of it in each of the four ``ood`` boxes).
    """

    resolution: int = 128

    @property
    def F(self) -> Expression:
        return self.expressions["F"]

    def boxes(self, name: str) -> tuple[tuple[tuple[float, float], ...], ...]:
        """The domain, or for ``ood`` the four corner columns around it, with twice its range of z."""
        if name != "ood":
            return (self.domain,)
        (x0, x1), (y0, y1), (z0, z1) = self.domain
        x, y, z = (x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2
        return tuple(
            (sideways, forward, (z0 - z, z1 + z))
            for sideways in ((x0 - x, x0), (x1, x1 + x))
            for forward in ((y0 - y, y0), (y1, y1 + y))
        )

    def cloud(self, F: Expression, name: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """Points, shape (n, 3), of the surface F = 0 in this surface's boxes; (0, 3) where there are none."""
        return level_sets.sample(F, self.boxes(name), n, rng, self._nodes(name))

    def seeded_cloud(self, F: Expression, name: str, n: int, seed: int, stream: str) -> np.ndarray:
        """The same from a random stream of this surface; kept for the next who asks, so not to be written to."""
        return _seeded_cloud(F, self.boxes(name), self._nodes(name), n, seed, (self.id, stream))

    def _nodes(self, name: str) -> int:
        return self.resolution // 2 if name == "ood" else self.resolution

    def split(self, name: str, seed: int = 0) -> Split:
        """One split; see `data`."""
        n = getattr(self, f"n_{name}")
        if name == "train" and self.sampler == "curvature":
            rng = generator(seed, self.id, name)
            X = self.cloud(self.F, name, max(20_000, 4 * n), rng)
            X = X[_weighted(_bending(self.F, X, self.domain), n, rng)]
        else:
            X = self.seeded_cloud(self.F, name, n, seed, name).copy()
        if len(X) < n:
            raise ValueError(f"{self.id}: no surface within {self.boxes(name)}")
        if name == "train":
            X[:, 2] = self._noisy(X[:, 2], seed)
        return Split(X, np.zeros(n))

    def tasks(self, seed: int = 0) -> list[Task]:
        X = self.split("train", seed).X
        return [Task(inputs=("x", "y"), output="z", X=X[:, :2], y=X[:, 2])]


@lru_cache(maxsize=16)  # answers to one surface are scored one after the other
def _seeded_cloud(F: Expression, boxes: tuple, nodes: int, n: int, seed: int, names: tuple[str, ...]) -> np.ndarray:
    points = level_sets.sample(F, boxes, n, generator(seed, *names), nodes)
    points.flags.writeable = False
    return points


def _band(low: np.ndarray, high: np.ndarray, depth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values beyond an interval by `depth` (0 to 1) halves of it, on a random side."""
    beyond = (high - low) / 2 * depth
    return np.where(rng.random(depth.shape) < 0.5, low - beyond, high + beyond)


def _weighted(curvature: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of n rows, without repetition, drawn with weight 1 + curvature / median curvature, 5 at most.

    Curvature is capped at its 95th percentile first. Where more than half is flat the mean stands for the median.
    """
    curvature = np.nan_to_num(curvature, nan=0.0, posinf=np.finfo(float).max)
    curvature = np.minimum(curvature, np.percentile(curvature, 95))
    scale = np.median(curvature) or np.mean(curvature) or 1.0
    weight = np.minimum(1 + curvature / scale, 5.0)
    return np.argsort(rng.standard_exponential(len(weight)) / weight)[:n]  # sequential weighted draws


def _curvature(
    f: Callable[[np.ndarray], np.ndarray], X: np.ndarray, domain: Sequence[tuple[float, float]]
) -> np.ndarray:
    """How curved a surface over two inputs is, by central differences with a step of 1/1000 of the range.

    A single output z: (|z_xx| + |z_yy| + 2 |z_xy|) / (1 + z_x^2 + z_y^2). Three: the absolute mean curvature.
    """
    a, b = np.diag([1e-3 * (high - low) for low, high in domain])
    h, k = a[0], b[1]
    with np.errstate(all="ignore"):
        at, up, down, right, left = f(X), f(X + a), f(X - a), f(X + b), f(X - b)
        fu, fv = (up - down) / (2 * h), (right - left) / (2 * k)
        fuu, fvv = (up - 2 * at + down) / h**2, (right - 2 * at + left) / k**2
        fuv = (f(X + a + b) - f(X + a - b) - f(X - a + b) + f(X - a - b)) / (4 * h * k)
        if at.ndim == 1:
            return (np.abs(fuu) + np.abs(fvv) + 2 * np.abs(fuv)) / (1 + fu**2 + fv**2)
        normal = np.cross(fu, fv)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        E, F, G = (np.sum(p * q, axis=1) for p, q in ((fu, fu), (fu, fv), (fv, fv)))
        L, M, N = (np.sum(p * normal, axis=1) for p in (fuu, fuv, fvv))
        return np.abs(E * N - 2 * F * M + G * L) / (2 * np.abs(E * G - F**2))


def _bending(F: Expression, X: np.ndarray, domain: Sequence[tuple[float, float]]) -> np.ndarray:
    """How curved a level set is at its points: |div(grad F / |grad F|)|, by central differences."""
    total = np.zeros(len(X))
    for axis, (low, high) in enumerate(domain):
        step = np.eye(3)[axis] * 1e-3 * (high - low)
        ahead, behind = (level_sets.value_and_gradient(F, X + shift)[1] for shift in (step, -step))
        with np.errstate(all="ignore"):
            ahead, behind = (g[:, axis] / np.linalg.norm(g, axis=1) for g in (ahead, behind))
            total += (ahead - behind) / (2 * step[axis])
    return np.abs(total)

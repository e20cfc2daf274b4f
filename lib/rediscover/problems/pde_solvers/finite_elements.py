"""Heat in boxes, by linear finite elements."""

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, splu

from ...system.extras import extra
from .setting import Setting, Simulation, slope


def box_mesh(axes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (C order of the grid) and simplices of a box: each cell is cut along its main diagonal.

    Returns
    -------
    vertices : ndarray, shape (n, d)
    simplices : ndarray of int, shape (m, d + 1)
    """
    n = [len(axis) for axis in axes]
    vertices = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(n))
    strides = [int(np.prod(n[i + 1 :])) for i in range(len(n))]
    corner = np.asarray(np.ravel_multi_index(np.indices([k - 1 for k in n]).reshape(len(n), -1), n))
    paths = [np.cumsum([0, *(strides[i] for i in order)]) for order in permutations(range(len(n)))]
    return vertices, (corner[:, None, None] + np.array(paths)).reshape(-1, len(n) + 1)


def assemble(vertices: np.ndarray, simplices: np.ndarray) -> tuple[sparse.csc_array, sparse.csc_array | None]:
    """Consistent mass and stiffness matrices of linear elements.

    Works for simplices of any dimension up to that of the space; stiffness is None for facets.
    """
    corners = vertices[simplices]
    edges = corners[:, 1:] - corners[:, :1]
    k, d = simplices.shape[1] - 1, vertices.shape[1]
    gram = edges @ edges.transpose(0, 2, 1)
    volume = np.sqrt(np.linalg.det(gram)) / np.prod(np.arange(1, k + 1))
    local = (np.ones((k + 1, k + 1)) + np.eye(k + 1)) / ((k + 1) * (k + 2))
    rows = np.repeat(simplices, k + 1, axis=1).ravel()
    columns = np.tile(simplices, (1, k + 1)).ravel()

    def matrix(blocks: np.ndarray) -> sparse.csc_array:
        return sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(len(vertices),) * 2).tocsc()

    mass = matrix(volume[:, None, None] * local)
    if k < d:
        return mass, None
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    return mass, matrix(volume[:, None, None] * (gradients @ gradients.transpose(0, 2, 1)))


def heat(s: Setting) -> Simulation:
    """Soil warmed from above: linear elements, consistent mass, backward Euler, the published discrete system.

    The surface (end of the driven axis) follows the daily temperature; all other sides are insulated. One
    step more than stored is computed, because the derivatives belong to the full record.
    """
    p = s.parameters
    step = s.t[1] - s.t[0]
    axes = list(s.axes.values())
    vertices, simplices = box_mesh(axes)
    mass, stiffness = assemble(vertices, simplices)
    system = (mass + step * p["kappa"] / (p["rho"] * p["c"]) * stiffness).tocsr()
    driven = list(s.axes).index(p["driven"])
    surface = np.isclose(vertices[:, driven], axes[driven][-1])
    inside = ~surface
    solve = splu(system[inside][:, inside].tocsc()).solve
    coupling = system[inside][:, surface]
    mass = mass.tocsr()[inside]
    u = np.full(len(vertices), p["mean"])
    saved = []
    for t in step * np.arange(1, len(s.t) + 2):
        load = mass @ u
        u = u.copy()
        u[surface] = p["mean"] + p["swing"] * np.sin(p["omega"] * t)
        u[inside] = solve(load - coupling @ u[surface])
        saved.append(u)
    u = np.stack(saved, axis=-1).reshape(*map(len, axes), len(saved), 1)
    # The one- and two-dimensional records are stored whole: their derivative is one-sided at the last
    # stored time.
    cut = u[..., : len(s.t), :]
    return Simulation(cut, slope(u, step)[..., : len(s.t), :] if len(axes) == 3 else None)


def laser(s: Setting) -> Simulation:
    """A plate heated by a moving laser: linear tetrahedra, backward Euler, convective loss on all faces."""
    p = s.parameters
    axes = list(s.axes.values())
    step = s.t[1] - s.t[0]
    vertices, simplices = box_mesh(axes)
    mass, stiffness = assemble(vertices, simplices)
    faces = _boundary(simplices)
    skin, _ = assemble(vertices, faces)
    capacity = p["rho"] * p["c"]
    system = (mass / step + p["kappa"] / capacity * stiffness + p["convection"] / capacity * skin).tocsr()
    loss = p["convection"] / capacity * p["ambient"] * skin.sum(axis=1)
    source = _loads(vertices, simplices)
    precondition = LinearOperator(system.shape, matvec=lambda v, d=system.diagonal(): v / d)
    u = np.full(len(vertices), p["ambient"])
    saved = []
    for t in step * np.arange(len(s.t) + 1):
        centre = p["length"] / 2 * (1 + 0.5 * np.sin(2 * np.pi * t / p["period"]))

        def heating(x: np.ndarray, y: np.ndarray, centre: float = centre, head: float = p["speed"] * t) -> np.ndarray:
            return p["power"] / p["c"] * np.exp(-p["width"] * ((x - centre) ** 2 + (y - head) ** 2))

        load = mass @ u / step + loss + source(heating)
        u, failed = cg(system, load, x0=u, rtol=1e-9, M=precondition)
        if failed:
            raise ArithmeticError(f"laser: conjugate gradients did not converge at t = {t:.2f}")
        saved.append(u)
    u = np.stack(saved, axis=-1).reshape(*map(len, axes), len(saved), 1)
    return Simulation(u[..., : len(s.t), :], slope(u, step)[..., : len(s.t), :])


def _boundary(simplices: np.ndarray) -> np.ndarray:
    """Facets that belong to one simplex only."""
    k = simplices.shape[1]
    facets = np.concatenate([np.delete(simplices, i, axis=1) for i in range(k)])
    _, first, counts = np.unique(np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True)
    return facets[first[counts == 1]]


def _loads(vertices: np.ndarray, simplices: np.ndarray) -> Callable:
    """Load vectors of functions of (x, y) on tetrahedra, by a rule exact to degree 5."""
    with extra("fields"):
        from skfem.quadrature import get_quadrature
        from skfem.refdom import RefTet

    points, weights = get_quadrature(RefTet, 5)
    points = np.column_stack([1 - points.sum(axis=0), *points])
    weights = 6 * weights
    corners = vertices[simplices]
    volume = abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    places = points @ corners  # (m, points, 3)
    hats = weights[:, None] * points

    def load(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        local = (function(places[..., 0], places[..., 1]) * volume[:, None]) @ hats
        return np.bincount(simplices.ravel(), local.ravel(), minlength=len(vertices))

    return load

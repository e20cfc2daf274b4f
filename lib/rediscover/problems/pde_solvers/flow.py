"""Incompressible flow, and reaction with diffusion past a cylinder: quadratic velocity, linear pressure, triangles."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...system.extras import extra
from .finite_elements import box_mesh
from .setting import Setting, Simulation, slope


class Quadrature(NamedTuple):
    """Sparse matrices from nodal values to values and derivatives at quadrature points, and weights there."""

    value: sparse.csr_array
    x: sparse.csr_array
    y: sparse.csr_array
    weight: sparse.dia_array


def _at_points(basis: Any) -> Quadrature:
    n_points = basis.dx.size
    rows = np.arange(n_points).reshape(basis.dx.shape)

    def matrix(pick: Callable) -> sparse.csr_array:
        blocks = [np.broadcast_to(pick(shape), rows.shape) for (shape,) in basis.basis]
        columns = [np.broadcast_to(dofs[:, None], rows.shape) for dofs in basis.element_dofs]
        every = np.ravel([rows] * len(blocks))
        return sparse.csr_array((np.ravel(blocks), (every, np.ravel(columns))), shape=(n_points, basis.N))

    return Quadrature(
        matrix(np.asarray),
        matrix(lambda shape: shape.grad[0]),
        matrix(lambda shape: shape.grad[1]),
        sparse.diags_array(basis.dx.ravel()),
    )


class Flow:
    """Incremental pressure correction: Crank-Nicolson viscosity, explicit convection, unit density.

    Parameters
    ----------
    mesh : skfem.MeshTri
    viscosity, step : float
    open_ends : position -> bool, on the boundary; there the normal is along x and the pressure is given
    inflow : (x, y) of velocity nodes -> (bool, value), where the velocity along x is given and not 0, or None
    pressure : x of a node on an open end where the pressure is given -> value
    """

    def __init__(
        self,
        mesh: Any,
        viscosity: float,
        step: float,
        *,
        open_ends: Callable,
        inflow: Callable | None = None,
        pressure: Callable,
    ) -> None:
        with extra("fields"):
            import skfem

        self.velocity = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=6)
        self.basis = skfem.Basis(mesh, skfem.ElementTriP1(), intorder=6)
        v, p = self._v, self._p = _at_points(self.velocity), _at_points(self.basis)
        w, self.step = v.weight, step
        ends = mesh.facets_satisfying(open_ends, boundaries_only=True)
        walls = np.setdiff1d(mesh.boundary_facets(), ends)
        self._mass = v.value.T @ w @ v.value
        xx, yy, yx = v.x.T @ w @ v.x, v.y.T @ w @ v.y, v.y.T @ w @ v.x
        edge = skfem.FacetBasis(mesh, skfem.ElementTriP2(), facets=ends, intorder=6)
        b = _at_points(edge)
        outward = b.value.T @ b.weight @ sparse.diags_array(edge.normals[0].ravel())
        half = viscosity / 2
        viscous = sparse.block_array(
            [[half * (2 * xx + yy - outward @ b.x), half * yx], [half * (yx.T - outward @ b.y), half * (xx + 2 * yy)]]
        )
        inertia = sparse.block_diag([self._mass] * 2) / step
        self._explicit = (inertia - viscous).tocsr()
        edge_p = _at_points(skfem.FacetBasis(mesh, skfem.ElementTriP1(), facets=ends, intorder=6))
        self._force = sparse.vstack([v.x.T @ w @ p.value - outward @ edge_p.value, v.y.T @ w @ p.value]).tocsr()
        self._stiffness = (p.x.T @ w @ p.x + p.y.T @ w @ p.y).tocsr()

        still = self.velocity.get_dofs(walls).flatten()
        n = self.velocity.N
        given = np.zeros(2 * n)
        fixed = np.concatenate([still, n + still])
        if inflow is not None:
            here, speed = inflow(*self.velocity.doflocs)
            fixed = np.union1d(fixed, np.concatenate([np.flatnonzero(here), n + np.flatnonzero(here)]))
            given[np.flatnonzero(here)] = speed[here]
        self._advance = _constrained(inertia + viscous, fixed, given)
        held = self.basis.get_dofs(ends).flatten()
        if inflow is not None:
            here, _ = inflow(*self.basis.doflocs)
            held = held[~here[held]]
        level = np.zeros(self.basis.N)
        level[held] = pressure(self.basis.doflocs[0, held])
        self._project = _constrained(self._stiffness, held, level)
        self._correct = splu(self._mass.tocsc()).solve

    def run(self, n_steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield nodal (u, v, p) after each step, from rest."""
        v, pr, w = self._v, self._p, self._v.weight
        n = self.velocity.N
        u, p = np.zeros(2 * n), np.zeros(self.basis.N)
        for _ in range(n_steps):
            ux, uy = u[:n], u[n:]
            along, across = v.value @ ux, v.value @ uy
            convection = [v.value.T @ (w @ (along * (v.x @ c) + across * (v.y @ c))) for c in (ux, uy)]
            u = self._advance(self._explicit @ u - np.concatenate(convection) + self._force @ p)
            divergence = v.x @ u[:n] + v.y @ u[n:]
            new = self._project(self._stiffness @ p - pr.value.T @ (w @ divergence) / self.step)
            rise = new - p
            u = u - self.step * np.concatenate(
                [self._correct(v.value.T @ (w @ (slope @ rise))) for slope in (pr.x, pr.y)]
            )
            p = new
            yield u[:n], u[n:], p


def _constrained(matrix: Any, fixed: np.ndarray, values: np.ndarray) -> Callable:
    """Solver of a linear system in which some unknowns have given values."""
    matrix = matrix.tocsr()
    free = np.setdiff1d(np.arange(matrix.shape[0]), fixed)
    rows = matrix[free]
    inner = splu(rows[:, free].tocsc())
    shift = rows[:, fixed] @ values[fixed]

    def solve(load: np.ndarray) -> np.ndarray:
        x = values.copy()
        x[free] = inner.solve(load[free] - shift)
        return x

    return solve


def ns_channel(s: Setting) -> Simulation:
    """Start-up of pressure-driven flow between plates, on the published mesh of 2 x 16 x 16 triangles."""
    with extra("fields"):
        import skfem

    p = s.parameters
    step, ticks = s.t[1] - s.t[0], np.arange(p["cells"] + 1) / p["cells"]
    vertices, triangles = box_mesh([ticks, ticks])
    mesh = skfem.MeshTri(vertices.T.copy(), triangles.T.copy())
    flow = Flow(
        mesh,
        p["mu"],
        step,
        open_ends=lambda x: np.isclose(x[0], 0) | np.isclose(x[0], 1),
        pressure=lambda x: p["inflow_pressure"] * (x < 0.5),
    )
    corners = flow.velocity.nodal_dofs[0]
    steps = p["skip"] + len(s.t) + 1
    record = np.array([[u[corners], v[corners]] for u, v, _ in flow.run(steps)])
    u = np.moveaxis(record.reshape(steps, 2, len(ticks), len(ticks)), (0, 1), (2, 3))
    keep = [slice(p["first"], p["first"] + len(axis)) for axis in s.axes.values()]
    window = (*keep, slice(p["skip"], p["skip"] + len(s.t)))
    return Simulation(u[window], slope(u, step)[window])


def cylinder_mesh(p: Mapping[str, Any], seed: int = 0) -> Any:
    """Graded triangles around the cylinder, by relaxing springs (Persson & Strang 2004).

    Returns
    -------
    skfem.MeshTri
    """
    with extra("fields"):
        import skfem

    centre, radius, h = np.array(p["centre"]), p["radius"], p["fine"]
    box = np.array([p["length"], p["height"]])

    def distance(x: np.ndarray) -> np.ndarray:  # negative inside
        outside = np.max([-x[:, 0], x[:, 0] - box[0], -x[:, 1], x[:, 1] - box[1]], axis=0)
        return np.maximum(outside, radius - np.hypot(*(x - centre).T))

    def size(x: np.ndarray) -> np.ndarray:
        return np.minimum(p["coarse"], h + 0.15 * (np.hypot(*(x - centre).T) - radius))

    points = _lattice(box, h)
    points = points[distance(points) < 1e-3 * h]
    points = points[np.random.default_rng(seed).random(len(points)) < (h / size(points)) ** 2]
    corners = np.array([[0, 0], [box[0], 0], [0, box[1]], box])
    points = _relaxed(np.concatenate([corners, points]), len(corners), distance, size, h)
    used, triangles = np.unique(_triangles(points, distance, h), return_inverse=True)
    return skfem.MeshTri(points[used].T.copy(), triangles.reshape(-1, 3).T.copy())


def _lattice(box: np.ndarray, h: float) -> np.ndarray:
    """Corners of equilateral triangles that fill a box."""
    rows = []
    for i, y in enumerate(np.arange(0, box[1] + h / 2, h * np.sqrt(3) / 2)):
        x = np.arange(h / 2 * (i % 2), box[0] + h / 2, h)
        rows.append(np.column_stack([x, np.full(len(x), y)]))
    return np.concatenate(rows)


def _triangles(points: np.ndarray, distance: Callable, h: float) -> np.ndarray:
    """Delaunay triangles whose centres lie in the domain."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(points).simplices
    return triangles[distance(points[triangles].mean(axis=1)) < -1e-3 * h]


def _relaxed(points: np.ndarray, n_fixed: int, distance: Callable, size: Callable, h: float) -> np.ndarray:
    """Points moved until the springs between them, which only push, are at rest; the first `n_fixed` stay."""
    old = np.full_like(points, np.inf)
    for _ in range(400):
        if np.max(np.hypot(*(points - old).T) / size(points)) > 0.1:
            old = points.copy()
            triangles = _triangles(points, distance, h)
            bars = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        ends = points[bars[:, 0]] - points[bars[:, 1]]
        length = np.hypot(*ends.T)
        wanted = size(points[bars].mean(axis=1))
        wanted = wanted * 1.2 * np.sqrt((length**2).sum() / (wanted**2).sum())
        push = (np.maximum(wanted - length, 0) / length)[:, None] * ends
        force = np.zeros_like(points)
        np.add.at(force, bars[:, 0], push)
        np.add.at(force, bars[:, 1], -push)
        force[:n_fixed] = 0
        points = points + 0.2 * force
        d = distance(points)
        out, tiny = d > 0, 1e-7
        normal = np.stack([(distance(points[out] + tiny * e) - d[out]) / tiny for e in np.eye(2)], axis=1)
        points[out] -= d[out, None] * normal
        if np.max(np.hypot(*force[d < -1e-3 * h].T)) * 0.2 < 2e-3 * h:
            break
    return points


def _past_cylinder(p: Mapping[str, Any]) -> Flow:
    def inflow(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.isclose(x, 0), 4 * p["peak"] * y * (p["height"] - y) / p["height"] ** 2

    return Flow(
        cylinder_mesh(p),
        p["mu"],
        p["step"],
        open_ends=lambda x: np.isclose(x[0], p["length"]),
        inflow=inflow,
        pressure=np.zeros_like,
    )


def ns_cylinder(s: Setting) -> Simulation:
    """Flow past a cylinder at Reynolds number 100 from an impulsive start, on a mesh of our own.

    Two other meshes agree within 2 % in u and 7 to 10 % in v and p: the phase of the young vortex street drifts.
    """
    p = s.parameters
    flow = _past_cylinder(p)
    places = np.stack(np.meshgrid(*s.axes.values(), indexing="ij")).reshape(2, -1)
    at = flow.velocity.probes(places), flow.basis.probes(places)
    kept = np.round(s.t / p["step"]).astype(int)
    wanted = set(kept) | set(kept - 1) | set(kept + 1)
    frames = {
        i: np.stack([at[0] @ u, at[0] @ v, at[1] @ q], axis=-1)
        for i, (u, v, q) in enumerate(flow.run(kept[-1] + 1), start=1)
        if i in wanted
    }
    shape = (*map(len, s.axes.values()), len(kept), 3)
    u = np.stack([frames[i] for i in kept], axis=1).reshape(shape)
    du = np.stack([(frames[i + 1] - frames[i - 1]) / (2 * p["step"]) for i in kept], axis=1).reshape(shape)
    return Simulation(u, du)


def rd_cylinder(s: Setting) -> Simulation:
    """Three reacting species carried by that flow: linear elements, implicit Euler, two Newton steps each."""
    p = s.parameters
    flow = _past_cylinder(p)
    c, v = flow._p, flow._v
    w, n, k = c.weight, flow.basis.N, p["reaction"]
    thin, ratio = p["every"]["chemistry"], p["every"]["velocity"]
    step = ratio * p["step"]
    places = np.stack(np.meshgrid(*s.axes.values(), indexing="ij")).reshape(2, -1)
    at = flow.velocity.probes(places), flow.basis.probes(places)
    mass = c.value.T @ w @ c.value
    diffusion = p["diffusion"] * (c.x.T @ w @ c.x + c.y.T @ w @ c.y)
    feed = np.zeros(3 * n)
    for i, place in enumerate(p["discs"].values()):
        near = np.hypot(*(flow.basis.doflocs - np.array(place)[:, None])) <= p["disc_radius"]
        feed[i * n : (i + 1) * n] = mass @ (p["source"] * near)
    state = np.zeros(3 * n)
    first = round(s.t[0] / step) - 2
    frames = []
    for i, (u, across, q) in enumerate(flow.run(round(s.t[-1] / p["step"])), start=1):
        if i % ratio:
            continue
        wind = sparse.diags_array(v.value @ u) @ c.x + sparse.diags_array(v.value @ across) @ c.y
        carry = mass / step + diffusion + c.value.T @ w @ wind
        old = sparse.block_diag([mass / step] * 3) @ state
        for _ in range(2):
            a, b = c.value @ state[:n], c.value @ state[n : 2 * n]
            rate = c.value.T @ (w @ (k * a * b))
            by_a, by_b = (c.value.T @ w @ sparse.diags_array(k * other) @ c.value for other in (b, a))
            zero = sparse.csr_array((n, n))
            linear = sparse.block_diag([carry, carry, carry + k * mass])
            jacobian = linear + sparse.block_array([[by_a, by_b, zero], [by_a, by_b, zero], [-by_a, -by_b, zero]])
            residual = linear @ state - old - feed + np.concatenate([rate, rate, -rate])
            state = state - splu(jacobian.tocsc()).solve(residual)
        if i // ratio >= first:
            species = state.reshape(3, n)
            frames.append(np.stack([at[0] @ u, at[0] @ across, at[1] @ q, *(at[1] @ x for x in species)], axis=-1))
    record = np.stack(frames, axis=1)
    kept = np.round(s.t / step).astype(int) - first
    assert kept[1] - kept[0] == thin
    shape = (*map(len, s.axes.values()), len(kept), 6)
    return Simulation(record[:, kept].reshape(shape), slope(record, step)[:, kept].reshape(shape))

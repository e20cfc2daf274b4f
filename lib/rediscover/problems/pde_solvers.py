"""The numerical solutions behind the fields of MDBench, each by the discretisation that the published data
came from.

Every solver takes a `Setting` and returns a `Record`. What is discretised, and to which accuracy the
published arrays are met, stands with each solver; the equations and numbers are in ``data/pdes.yaml``.
"""

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, splu


class Setting(NamedTuple):
    """What a solver needs: physical parameters, the axes of the stored grid, and the stored times."""

    parameters: Mapping[str, Any]
    axes: Mapping[str, np.ndarray]
    t: np.ndarray


class Record(NamedTuple):
    """A simulated field.

    Attributes
    ----------
    u : ndarray, shape (n_x, [n_y, [n_z,]] n_t, d)
    du : ndarray of the shape of `u`, or None
        Time derivative by differences of the full record, where `u` is cut or thinned in time.
    """

    u: np.ndarray
    du: np.ndarray | None = None


def slope(u: np.ndarray, step: float) -> np.ndarray:
    """Time derivative of second order, one-sided at both ends, along the second to last axis."""
    return np.gradient(u, step, axis=-2, edge_order=2)


# Fourier


def etdrk4(v, linear, nonlinear: Callable, step: float, every: int, n_saved: int, points: int = 64):
    """Exponential time differencing, Runge-Kutta of fourth order (Kassam & Trefethen 2005).

    Parameters
    ----------
    v : ndarray, shape (n,)
        Spectrum at the start.
    linear : ndarray, shape (n,)
        Symbol of the linear part.
    nonlinear : spectrum -> spectrum of the rest
    step : time step
    every : steps between saved spectra; the first saved one is `v`.
    points : on the contour around each coefficient; a full circle where the symbol is complex.

    Returns
    -------
    ndarray, shape (n_saved, n)
    """
    full = np.iscomplexobj(linear)
    circle = np.exp((2j if full else 1j) * np.pi * (np.arange(1, points + 1) - 0.5) / points)
    z = step * linear[:, None] + circle
    mean = (lambda values: values.mean(axis=1)) if full else (lambda values: values.mean(axis=1).real)
    e, half = np.exp(step * linear), np.exp(step * linear / 2)
    q = step * mean((np.exp(z / 2) - 1) / z)
    f1 = step * mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3)
    f2 = step * mean((2 + z + np.exp(z) * (z - 2)) / z**3)
    f3 = step * mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3)
    saved = [v]
    for _ in range(n_saved - 1):
        for _ in range(every):
            n0 = nonlinear(v)
            a = half * v + q * n0
            na = nonlinear(a)
            b = half * v + q * na
            nb = nonlinear(b)
            c = half * a + q * (2 * nb - n0)
            v = e * v + n0 * f1 + 2 * (na + nb) * f2 + nonlinear(c) * f3
        saved.append(v)
    return np.array(saved)


def _spectral(s: Setting, start, linear, advection: float, every: int) -> Record:
    """Solve u_t = linear(u) + advection * (u^2)_x, periodic, for a real field."""
    x = s.axes["x"]
    k = _wavenumbers(x)

    def nonlinear(v):
        return 1j * advection * k * np.fft.fft(np.fft.ifft(v).real ** 2)

    spectra = etdrk4(np.fft.fft(start), linear(k), nonlinear, s.parameters["step"], every, len(s.t))
    return Record(np.fft.ifft(spectra, axis=1).real.T[..., None])


def _wavenumbers(x: np.ndarray) -> np.ndarray:
    """Angular wavenumbers of a periodic grid; the unpaired one is 0, so that odd derivatives stay real."""
    k = 2 * np.pi * np.fft.fftfreq(len(x), x[1] - x[0])
    k[len(x) // 2] = 0
    return k


def _every(s: Setting) -> int:
    return round((s.t[1] - s.t[0]) / s.parameters["step"])


def burgers(s: Setting) -> Record:
    """Pseudo-spectral, relative L2 error 7e-9 against the published file."""
    nu = s.parameters["nu"]
    return _spectral(s, np.exp(-((s.axes["x"] + 2) ** 2)), lambda k: -nu * k**2, -0.5, _every(s))


def kdv(s: Setting) -> Record:
    """Pseudo-spectral, two solitons; 2e-5 against the published file, which is that file's own error."""
    x = s.axes["x"]
    waves = zip(s.parameters["speeds"], s.parameters["centres"], strict=True)
    start = sum(c / 2 / np.cosh(np.sqrt(c) / 2 * (x - x0)) ** 2 for c, x0 in waves)
    return _spectral(s, start, lambda k: 1j * k**3, -3.0, _every(s))


def ks(s: Setting) -> Record:
    """Pseudo-spectral; with this step the same scheme as the published file (5e-12), chaotic beyond."""
    x = s.axes["x"]
    return _spectral(s, np.cos(x / 16) * (1 + np.sin(x / 16)), lambda k: k**2 - k**4, -0.5, _every(s))


def nls(s: Setting) -> Record:
    """Pseudo-spectral for psi = u + iv on a grid refined in x: the periodic wrap of sech has a kink."""
    x, refine = s.axes["x"], s.parameters["refine"]
    fine = x[0] + (x[1] - x[0]) / refine * np.arange(refine * len(x))
    k = 2 * np.pi * np.fft.fftfreq(len(fine), fine[1] - fine[0])

    def nonlinear(v):
        psi = np.fft.ifft(v)
        return -1j * np.fft.fft(np.abs(psi) ** 2 * psi)

    start = np.fft.fft(2 / np.cosh(fine) + 0j)
    spectra = etdrk4(start, 0.5j * k**2, nonlinear, s.parameters["step"], _every(s), len(s.t))
    psi = np.fft.ifft(spectra, axis=1).T[::refine]
    return Record(np.stack([psi.real, psi.imag], axis=-1))


def rd(s: Setting) -> Record:
    """Fourier in two dimensions, RK45 with scipy's default tolerances on the spectra, as published."""
    from scipy.integrate import solve_ivp

    a, b = np.meshgrid(s.axes["x"], s.axes["y"])  # the first coordinate varies along the second axis, as published
    n = a.shape
    k = 2 * np.pi / s.parameters["length"] * np.fft.fftfreq(n[0], 1 / n[0])
    damping = s.parameters["d"] * (k[:, None] ** 2 + k**2)
    r, angle = np.hypot(a, b), np.angle(a + 1j * b)
    start = np.stack([np.tanh(r) * np.cos(angle - r), np.tanh(r) * np.sin(angle - r)])

    def rates(_, flat):
        spectra = flat.reshape(2, *n)
        u, v = np.fft.ifft2(spectra).real
        square = u**2 + v**2
        growth, turn = 1 - square, -s.parameters["beta"] * square
        return (np.fft.fft2([growth * u - turn * v, turn * u + growth * v]) - damping * spectra).ravel()

    solution = solve_ivp(rates, (s.t[0], s.t[-1]), np.fft.fft2(start).ravel(), t_eval=s.t)
    fields = np.fft.ifft2(solution.y.T.reshape(len(s.t), 2, *n)).real
    return Record(np.ascontiguousarray(np.moveaxis(fields, (0, 1), (2, 3))))


# Closed form and finite volumes


def ad(s: Setting) -> Record:
    """A spreading Gaussian in free space, exact."""
    p = s.parameters
    x, y, t = np.meshgrid(s.axes["x"], s.axes["y"], s.t, indexing="ij")
    age = t + p["delay"]
    square = (x + p["drift"][0] * t) ** 2 + (y + p["drift"][1] * t) ** 2
    return Record((p["amplitude"] / age * np.exp(-square / (2 * age)))[..., None])


def advection(s: Setting) -> Record:
    """Upwind finite volumes of second order, monotonised-central limiter, single precision as published."""
    p, x = s.parameters, s.axes["x"]
    width = np.float32(x[1] - x[0])
    beta = np.float32(p["beta"])
    length = x[-1] - x[0]
    start = p["mean"] + p["amplitude"] * np.sin(2 * np.pi * p["periods"] * x / length + p["phase"])

    def flux_difference(u):
        left, right = u - np.roll(u, 1), np.roll(u, -1) - u
        centre = (left + right) / 2
        steepest = np.minimum(2 * np.minimum(abs(left), abs(right)), abs(centre))
        limited = np.sign(centre) * (left * right > 0) * steepest
        face = u + limited / 2
        return face - np.roll(face, 1)

    u = start.astype(np.float32)
    saved = [u]
    longest = p["courant"] * float(width / beta)
    for remaining in np.diff(s.t):
        while remaining > 1e-12:
            dt = min(longest, remaining)
            rate = np.float32(dt) * beta / width
            u = u - rate * flux_difference(u - rate / 2 * flux_difference(u))
            remaining -= dt
        saved.append(u)
    return Record(np.stack(saved, axis=1).astype(float)[..., None])


# Linear finite elements


def box_mesh(axes) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (C order of the grid) and simplices of a box: each cell is cut along its main diagonal.

    Returns
    -------
    vertices : ndarray, shape (n, d)
    simplices : ndarray of int, shape (m, d + 1)
    """
    n = [len(axis) for axis in axes]
    vertices = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(n))
    strides = [int(np.prod(n[i + 1 :])) for i in range(len(n))]
    corner = np.ravel_multi_index(np.indices([k - 1 for k in n]).reshape(len(n), -1), n)
    paths = [np.cumsum([0, *(strides[i] for i in order)]) for order in permutations(range(len(n)))]
    return vertices, (corner[:, None, None] + np.array(paths)).reshape(-1, len(n) + 1)


def assemble(vertices: np.ndarray, simplices: np.ndarray):
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

    def matrix(blocks):
        return sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(len(vertices),) * 2).tocsc()

    mass = matrix(volume[:, None, None] * local)
    if k < d:
        return mass, None
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    return mass, matrix(volume[:, None, None] * (gradients @ gradients.transpose(0, 2, 1)))


def heat(s: Setting) -> Record:
    """Soil warmed from above: linear elements, consistent mass, backward Euler, the published discrete
    system.

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
    return Record(cut, slope(u, step)[..., : len(s.t), :] if len(axes) == 3 else None)


def laser(s: Setting) -> Record:
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

        def heating(x, y, centre=centre, head=p["speed"] * t):
            return p["power"] / p["c"] * np.exp(-p["width"] * ((x - centre) ** 2 + (y - head) ** 2))

        load = mass @ u / step + loss + source(heating)
        u, failed = cg(system, load, x0=u, rtol=1e-9, M=precondition)
        if failed:
            raise ArithmeticError(f"laser: conjugate gradients did not converge at t = {t:.2f}")
        saved.append(u)
    u = np.stack(saved, axis=-1).reshape(*map(len, axes), len(saved), 1)
    return Record(u[..., : len(s.t), :], slope(u, step)[..., : len(s.t), :])


def _boundary(simplices: np.ndarray) -> np.ndarray:
    """Facets that belong to one simplex only."""
    k = simplices.shape[1]
    facets = np.concatenate([np.delete(simplices, i, axis=1) for i in range(k)])
    _, first, counts = np.unique(np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True)
    return facets[first[counts == 1]]


def _loads(vertices, simplices) -> Callable:
    """Load vectors of functions of (x, y) on tetrahedra, by a rule exact to degree 5."""
    from skfem.quadrature import get_quadrature
    from skfem.refdom import RefTet

    points, weights = get_quadrature(RefTet, 5)
    points = np.column_stack([1 - points.sum(axis=0), *points])
    weights = 6 * weights
    corners = vertices[simplices]
    volume = abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    places = points @ corners  # (m, points, 3)
    hats = weights[:, None] * points

    def load(function):
        local = (function(places[..., 0], places[..., 1]) * volume[:, None]) @ hats
        return np.bincount(simplices.ravel(), local.ravel(), minlength=len(vertices))

    return load


# Incompressible flow: quadratic velocity and linear pressure on triangles


class Quadrature(NamedTuple):
    """Sparse matrices from nodal values to values and derivatives at quadrature points, and weights there."""

    value: sparse.csr_array
    x: sparse.csr_array
    y: sparse.csr_array
    weight: sparse.dia_array


def _at_points(basis) -> Quadrature:
    n_points = basis.dx.size
    rows = np.arange(n_points).reshape(basis.dx.shape)

    def matrix(pick):
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

    def __init__(self, mesh, viscosity, step, *, open_ends, inflow=None, pressure):
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

    def run(self, n_steps: int):
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


def _constrained(matrix, fixed, values) -> Callable:
    """Solver of a linear system in which some unknowns have given values."""
    matrix = matrix.tocsr()
    free = np.setdiff1d(np.arange(matrix.shape[0]), fixed)
    rows = matrix[free]
    inner = splu(rows[:, free].tocsc())
    shift = rows[:, fixed] @ values[fixed]

    def solve(load):
        x = values.copy()
        x[free] = inner.solve(load[free] - shift)
        return x

    return solve


def ns_channel(s: Setting) -> Record:
    """Start-up of pressure-driven flow between plates, on the published mesh of 2 x 16 x 16 triangles."""
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
    return Record(u[window], slope(u, step)[window])


def cylinder_mesh(p: Mapping[str, Any], seed: int = 0):
    """Graded triangles around the cylinder, by relaxing springs (Persson & Strang 2004).

    Returns
    -------
    skfem.MeshTri
    """
    import skfem

    centre, radius, h = np.array(p["centre"]), p["radius"], p["fine"]
    box = np.array([p["length"], p["height"]])

    def distance(x):  # negative inside
        outside = np.max([-x[:, 0], x[:, 0] - box[0], -x[:, 1], x[:, 1] - box[1]], axis=0)
        return np.maximum(outside, radius - np.hypot(*(x - centre).T))

    def size(x):
        return np.minimum(p["coarse"], h + 0.15 * (np.hypot(*(x - centre).T) - radius))

    points = _lattice(box, h)
    points = points[distance(points) < 1e-3 * h]
    points = points[np.random.default_rng(seed).random(len(points)) < (h / size(points)) ** 2]
    corners = np.array([[0, 0], [box[0], 0], [0, box[1]], box])
    points = _relaxed(np.concatenate([corners, points]), len(corners), distance, size, h)
    used, triangles = np.unique(_triangles(points, distance, h), return_inverse=True)
    return skfem.MeshTri(points[used].T.copy(), triangles.reshape(-1, 3).T.copy())


def _lattice(box, h: float) -> np.ndarray:
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
    def inflow(x, y):
        return np.isclose(x, 0), 4 * p["peak"] * y * (p["height"] - y) / p["height"] ** 2

    return Flow(
        cylinder_mesh(p),
        p["mu"],
        p["step"],
        open_ends=lambda x: np.isclose(x[0], p["length"]),
        inflow=inflow,
        pressure=np.zeros_like,
    )


def ns_cylinder(s: Setting) -> Record:
    """Flow past a cylinder at Reynolds number 100 from an impulsive start, on a mesh of our own.

    Two other meshes agree within 2 % in u and 7 to 10 % in v and p: the phase of the young vortex street
    drifts.
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
    return Record(u, du)


def rd_cylinder(s: Setting) -> Record:
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
    return Record(record[:, kept].reshape(shape), slope(record, step)[:, kept].reshape(shape))


SOLVERS: dict[str, Callable[[Setting], Record]] = {
    "advection": advection,
    "burgers": burgers,
    "kdv": kdv,
    "ks": ks,
    "nls": nls,
    "ad": ad,
    "rd": rd,
    "heat_1d": heat,
    "heat_2d": heat,
    "heat_3d": heat,
    "ns_channel": ns_channel,
    "ns_cylinder": ns_cylinder,
    "laser": laser,
    "rd_cylinder": rd_cylinder,
}

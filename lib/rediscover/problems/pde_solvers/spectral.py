"""Fourier and flux discretisations of fields on periodic grids."""

from collections.abc import Callable

import numpy as np

from .setting import Setting, Simulation


def etdrk4(
    v: np.ndarray, linear: np.ndarray, nonlinear: Callable, step: float, every: int, n_saved: int, points: int = 64
) -> np.ndarray:
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


def _spectral(
    s: Setting, start: np.ndarray, linear: Callable[[np.ndarray], np.ndarray], advection: float, every: int
) -> Simulation:
    """Solve u_t = linear(u) + advection * (u^2)_x, periodic, for a real field."""
    x = s.axes["x"]
    k = _wavenumbers(x)

    def nonlinear(v: np.ndarray) -> np.ndarray:
        return 1j * advection * k * np.fft.fft(np.fft.ifft(v).real ** 2)

    spectra = etdrk4(np.fft.fft(start), linear(k), nonlinear, s.parameters["step"], every, len(s.t))
    return Simulation(np.fft.ifft(spectra, axis=1).real.T[..., None])


def _wavenumbers(x: np.ndarray) -> np.ndarray:
    """Angular wavenumbers of a periodic grid; the unpaired one is 0, so that odd derivatives stay real."""
    k = 2 * np.pi * np.fft.fftfreq(len(x), x[1] - x[0])
    k[len(x) // 2] = 0
    return k


def _every(s: Setting) -> int:
    return round((s.t[1] - s.t[0]) / s.parameters["step"])


def burgers(s: Setting) -> Simulation:
    """Pseudo-spectral, relative L2 error 7e-9 against the published file."""
    nu = s.parameters["nu"]
    return _spectral(s, np.exp(-((s.axes["x"] + 2) ** 2)), lambda k: -nu * k**2, -0.5, _every(s))


def kdv(s: Setting) -> Simulation:
    """Pseudo-spectral, two solitons; 2e-5 against the published file, which is that file's own error."""
    x = s.axes["x"]
    waves = zip(s.parameters["speeds"], s.parameters["centres"], strict=True)
    start = sum(c / 2 / np.cosh(np.sqrt(c) / 2 * (x - x0)) ** 2 for c, x0 in waves)
    return _spectral(s, start, lambda k: 1j * k**3, -3.0, _every(s))


def ks(s: Setting) -> Simulation:
    """Pseudo-spectral; with this step the same scheme as the published file (5e-12), chaotic beyond."""
    x = s.axes["x"]
    return _spectral(s, np.cos(x / 16) * (1 + np.sin(x / 16)), lambda k: k**2 - k**4, -0.5, _every(s))


def nls(s: Setting) -> Simulation:
    """Pseudo-spectral for psi = u + iv on a grid refined in x: the periodic wrap of sech has a kink."""
    x, refine = s.axes["x"], s.parameters["refine"]
    fine = x[0] + (x[1] - x[0]) / refine * np.arange(refine * len(x))
    k = 2 * np.pi * np.fft.fftfreq(len(fine), fine[1] - fine[0])

    def nonlinear(v: np.ndarray) -> np.ndarray:
        psi = np.fft.ifft(v)
        return -1j * np.fft.fft(np.abs(psi) ** 2 * psi)

    start = np.fft.fft(2 / np.cosh(fine) + 0j)
    spectra = etdrk4(start, 0.5j * k**2, nonlinear, s.parameters["step"], _every(s), len(s.t))
    psi = np.fft.ifft(spectra, axis=1).T[::refine]
    return Simulation(np.stack([psi.real, psi.imag], axis=-1))


def rd(s: Setting) -> Simulation:
    """Fourier in two dimensions, RK45 with scipy's default tolerances on the spectra, as published."""
    from scipy.integrate import solve_ivp

    a, b = np.meshgrid(s.axes["x"], s.axes["y"])  # the first coordinate varies along the second axis, as published
    n = a.shape
    k = 2 * np.pi / s.parameters["length"] * np.fft.fftfreq(n[0], 1 / n[0])
    damping = s.parameters["d"] * (k[:, None] ** 2 + k**2)
    r, angle = np.hypot(a, b), np.angle(a + 1j * b)
    start = np.stack([np.tanh(r) * np.cos(angle - r), np.tanh(r) * np.sin(angle - r)])

    def rates(_: float, flat: np.ndarray) -> np.ndarray:
        spectra = flat.reshape(2, *n)
        u, v = np.fft.ifft2(spectra).real
        square = u**2 + v**2
        growth, turn = 1 - square, -s.parameters["beta"] * square
        return (np.fft.fft2([growth * u - turn * v, turn * u + growth * v]) - damping * spectra).ravel()

    solution = solve_ivp(rates, (s.t[0], s.t[-1]), np.fft.fft2(start).ravel(), t_eval=s.t)
    fields = np.fft.ifft2(solution.y.T.reshape(len(s.t), 2, *n)).real
    return Simulation(np.ascontiguousarray(np.moveaxis(fields, (0, 1), (2, 3))))


# Closed form and finite volumes


def ad(s: Setting) -> Simulation:
    """A spreading Gaussian in free space, exact."""
    p = s.parameters
    x, y, t = np.meshgrid(s.axes["x"], s.axes["y"], s.t, indexing="ij")
    age = t + p["delay"]
    square = (x + p["drift"][0] * t) ** 2 + (y + p["drift"][1] * t) ** 2
    return Simulation((p["amplitude"] / age * np.exp(-square / (2 * age)))[..., None])


def advection(s: Setting) -> Simulation:
    """Upwind finite volumes of second order, monotonised-central limiter, single precision as published."""
    p, x = s.parameters, s.axes["x"]
    width = np.float32(x[1] - x[0])
    beta = np.float32(p["beta"])
    length = x[-1] - x[0]
    start = p["mean"] + p["amplitude"] * np.sin(2 * np.pi * p["periods"] * x / length + p["phase"])

    def flux_difference(u: np.ndarray) -> np.ndarray:
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
    return Simulation(np.stack(saved, axis=1).astype(float)[..., None])

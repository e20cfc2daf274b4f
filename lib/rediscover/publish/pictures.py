"""Pictures of data as small SVG files, written directly: they take their colours from the page and weigh little.

A panel's axes stand in its ``data-x`` and ``data-y`` (low, high, scale), by which the page shows the values of the
nearest point.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problems import Field, LevelSet, Passage, Problem, Series, Trajectories, Transitions
from ..problems import problem as load
from ..system.upstream_files import ReleasedError

POINTS = 200  # drawn of a table
WIDTH, HEIGHT = 300, 220
LEFT, RIGHT, TOP, BOTTOM = 66, 10, 10, 40
SHADES = 8  # classes c0..c7 of the style sheet
PANELS = 6
DECADES = 1.5  # positive values that span more are drawn on a logarithmic axis
GREEK = dict(alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ε", theta="θ", kappa="κ", mu="μ", nu="ν", rho="ρ")
GREEK |= dict(sigma="σ", tau="τ", phi="φ", chi="χ", psi="ψ", omega="ω", lambda_="λ", Omega="Ω", Phi="Φ", eta="η")


def data(given: Problem, seed: int = 0) -> list[str]:
    """SVG pictures of a problem's data, one for each panel; none for a passage."""
    if isinstance(given, Passage):
        return []
    if isinstance(given, Trajectories):
        return _trajectories(*given.trajectory(seed)[:2], given.inputs)
    if isinstance(given, Field):
        return _field(*given.samples(seed)[:3])
    if isinstance(given, Series):
        reads = {child: tuple(parent for parent, _ in parents) for child, parents in given.truth.items()}
        return [_network(given.inputs, reads), *_series(given)]
    if isinstance(given, Transitions):
        reads = {node: rule.names for node, rule in given.expressions.items()}
        shown = given.data(seed)["train"].X[:30].T
        return [
            _network(given.inputs, reads),
            cells(shown, "state shown for training", "node", "States from which a step is shown; dark is on"),
        ]
    return _table(given, seed)


def _table(given: Problem, seed: int) -> list[str]:
    split = given.data(seed)["train"]
    X, y = split.X[:POINTS], split.y[:POINTS]
    if isinstance(given, LevelSet):
        return [_space(split.X[: 3 * POINTS])]
    if y.ndim == 2 and y.shape[1] == 3:
        return [_space(split.y[: 3 * POINTS])]
    (output,) = given.outputs
    if X.shape[1] == 2 and given.subset == "explicit":
        return [
            panel(*split.X[: 3 * POINTS].T, *given.inputs, shade=split.y[: 3 * POINTS], note=f"shade: {spelt(output)}")
        ]
    return [panel(X[:, i], y, name, output) for i, name in enumerate(given.inputs[:PANELS])]


def _trajectories(t: np.ndarray, u: np.ndarray, names: Sequence[str]) -> list[str]:
    over_time = panel(t, u, "t", ", ".join(map(spelt, names)), lines=True)
    return [over_time, *([panel(u[:, 0], u[:, 1:2], names[0], names[1], lines=True)] if u.shape[1] > 1 else [])]


def _field(axes: Any, t: np.ndarray, u: np.ndarray) -> list[str]:
    names = list(axes)
    if len(names) == 1:
        return [cells(_thin(u[..., 0].T), "x", "t", "The first state over space and time")]
    middle = u[..., -1, 0] if len(names) == 2 else u[:, :, u.shape[2] // 2, -1, 0]
    return [cells(_thin(middle.T), "x", "y", "The first state at the last time")]


def _series(given: Any) -> list[str]:
    """The series, where they can be integrated; the released ones are not passed on."""
    if not given.equations:
        return []
    try:
        again: Any = load(given.id, series_from="equations")
        values = again.series()
    except (ReleasedError, ValueError):
        return []
    return [panel(np.arange(len(values)), values, "sample", ", ".join(map(spelt, given.inputs[:4])), lines=True)]


def _network(names: Sequence[str], reads: Mapping[str, Iterable[str]]) -> str:
    matrix = np.array([[name in reads.get(node, ()) for name in names] for node in names], float)
    return cells(matrix, "reads", "node", "Which node (row) depends on which (column)", names)


def _thin(values: np.ndarray, most: int = 48) -> np.ndarray:
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)) for n in values.shape)
    return values[np.ix_(rows, columns)]


class Axis:
    """One axis: from values to pixels."""

    def __init__(self, values: ArrayLike, first: float, last: float) -> None:
        known = np.asarray(values, float)
        known = known[np.isfinite(known)]
        self.low, self.high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        self.log = self.low > 0 and math.log10(self.high / self.low) > DECADES
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.first, self.last = first, last

    def __call__(self, values: ArrayLike) -> np.ndarray:
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        scaled = np.log10(values) if self.log else np.asarray(values, float)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.first + (scaled - low) / (high - low) * (self.last - self.first)

    def ticks(self) -> list[tuple[float, str]]:
        middle = math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        near = 0 if self.log else 1e-3 * (self.high - self.low)  # nothing, as far as the picture shows
        shown = [value if abs(value) > near else 0.0 for value in (self.low, middle, self.high)]
        return [(float(self(value)), short(value)) for value in shown]

    def __str__(self) -> str:
        return f"{self.low:.6g},{self.high:.6g},{'log' if self.log else 'linear'}"


def panel(x: Any, y: Any, x_name: str, y_name: str, *, shade: Any = None, lines: bool = False, note: str = "") -> str:
    """Points (shaded by a third value, if given) or lines over two axes.

    Parameters
    ----------
    x : array_like, shape (n,)
    y : array_like, shape (n,) or (n, k)
        k lines.
    x_name, y_name : what the axes show
    shade : array_like, shape (n,), optional
    lines : bool
    note : written into the panel
    """
    across, down = Axis(x, LEFT, WIDTH - RIGHT), Axis(y, HEIGHT - BOTTOM, TOP)
    columns = np.asarray(y, float).reshape(len(x), -1).T
    if shade is not None:
        order = np.argsort(np.argsort(shade)) * SHADES // len(shade)
        marks = "".join(_dots(across(x[order == i]), down(y[order == i]), f"c{i}") for i in range(SHADES))
    elif lines:
        marks = "".join(_line(across(x), down(column), f"l{i % 4}") for i, column in enumerate(columns[:8]))
    else:
        marks = _dots(across(x), down(y), "dots")
    kind = "Lines" if lines else "Points"
    text = f"{kind}: {spelt(y_name)} over {spelt(x_name)}" + f", {note}" * bool(note)
    return _svg(_frame(across, down, x_name, y_name) + marks, text, f'data-x="{across}" data-y="{down}"')


def cells(values: np.ndarray, x_name: str, y_name: str, text: str, names: Sequence[str] = ()) -> str:
    """A matrix as shaded cells, first row on top where its rows have names, else at the bottom."""
    values = np.asarray(values, float)
    rows, columns = values.shape
    wide, high = (WIDTH - LEFT - RIGHT) / columns, (HEIGHT - TOP - BOTTOM) / rows
    finite = values[np.isfinite(values)]
    low, span = finite.min(), np.ptp(finite) or 1.0
    shades = np.clip(np.nan_to_num((values - low) / span) * SHADES, 0, SHADES - 1).astype(int)
    drawn = values if names else values[::-1]
    shades = shades if names else shades[::-1]
    paths = []
    for shade in range(SHADES):
        if names and shade < SHADES - 1:
            continue  # of a matrix of links, only the links
        moves = [
            f"M{LEFT + c * wide:.1f} {TOP + r * high:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"
            for r, c in np.argwhere(shades == shade)
        ]
        paths.append(f'<path class="f{shade}" d="{"".join(moves)}"/>' if moves else "")
    labels = ""
    if names and len(names) <= 20:
        labels = "".join(_text(LEFT - 4, TOP + (i + 0.7) * high, spelt(name), "end") for i, name in enumerate(names))
        labels += "".join(
            _text(LEFT + (i + 0.5) * wide, HEIGHT - BOTTOM + 12, spelt(name), "middle")
            for i, name in enumerate(names[:20])
        )
    box = f'<rect class="axis" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"/>'
    titles = _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_name, "middle") + _side(y_name)
    return _svg("".join(paths) + box + labels + titles, text) if drawn.size else ""


def _space(points: np.ndarray) -> str:
    """Points of a surface, seen from the side and above; near ones are dark."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return ""
    low, high = np.percentile(finite, [1, 99], axis=0)
    cube = (np.clip(finite, low, high) - low) / np.where(high > low, high - low, 1) - 0.5
    turn, tilt = math.radians(30), math.radians(25)
    x, y, z = cube.T
    across = x * math.cos(turn) - y * math.sin(turn)
    deep = x * math.sin(turn) + y * math.cos(turn)
    up = z * math.cos(tilt) + deep * math.sin(tilt)
    near = np.argsort(np.argsort(-deep)) * SHADES // len(deep)
    left, top = WIDTH / 2 + across * 190, HEIGHT / 2 - up * 150
    marks = "".join(_dots(left[near == i], top[near == i], f"c{i}") for i in range(SHADES))
    return _svg(marks, "Points of the surface in space, nearer ones darker")


def _frame(across: Axis, down: Axis, x_name: str, y_name: str) -> str:
    box = f'<rect class="axis" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"/>'
    anchors = ("start", "middle", "end")
    x = "".join(
        _text(place, HEIGHT - BOTTOM + 14, text, a) for (place, text), a in zip(across.ticks(), anchors, strict=True)
    )
    shifts = (0, 4, 9)
    y = "".join(_text(LEFT - 4, place + s, text, "end") for (place, text), s in zip(down.ticks(), shifts, strict=True))
    return box + x + y + _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, spelt(x_name), "middle") + _side(spelt(y_name))


def _side(text: str) -> str:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    place = f'text-anchor="middle" transform="translate(11 {middle}) rotate(-90)"'
    return f'<text class="title" {place}>{html.escape(text)}</text>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _dots(x: np.ndarray, y: np.ndarray, name: str) -> str:
    known = np.isfinite(x) & np.isfinite(y)
    moves = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in zip(x[known], y[known], strict=True))
    return f'<path class="dots {name}" d="{moves}"/>' if moves else ""


def _line(x: np.ndarray, y: np.ndarray, name: str) -> str:
    known = np.isfinite(x) & np.isfinite(y)
    pairs = [f"{a:.1f} {b:.1f}" for a, b in zip(x[known], y[known], strict=True)]
    return f'<path class="line {name}" d="M{"L".join(pairs)}"/>' if pairs else ""


def _svg(body: str, text: str, more: str = "") -> str:
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="plot" role="img" aria-label="{html.escape(text)}" {box} {more}>{body}</svg>'


def short(value: float) -> str:
    """A tick's number.

    >>> [short(x) for x in (0.5, 1234.5, 2e-9, -3.0)]
    ['0.5', '1.23×10³', '2×10⁻⁹', '−3']
    """
    text = f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1e3 else f"{value:.2e}"
    digits, _, power = text.partition("e")
    digits = digits.rstrip("0").rstrip(".") if power else digits
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")) if power else ""
    return (digits + f"×10{raised}" * bool(power)).replace("-", "−")


def spelt(name: str) -> str:
    """A variable's name in plain characters, such as θ₁."""
    base, *below = name.split("_")
    letters = base.rstrip("0123456789")
    low = (base[len(letters) :] + "".join(part for part in below if part.isdigit())).translate(
        str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    )
    rest = "".join(f" {part}" for part in below if not part.isdigit())
    return GREEK.get(letters, GREEK.get(letters + "_", letters)) + low + rest

"""A surface in three dimensions, and its equation."""

import re

import numpy as np

from ...expressions import parse

INTEGERS = np.arange(-8, 9.0)  # of a surface on integers, those around the origin
NODES, POINTS = 70, 6000
GROUP = r"[^{}]*"
for _ in range(4):  # levels of braces
    GROUP = r"(?:[^{}]|\{" + GROUP + r"\})*"
GROUP = r"\{(" + GROUP + r")\}"
WIDE = 20  # signs of an equation, which have room below a panel


def equation(surface) -> str:
    """What a surface is, for matplotlib: fractions with a stroke and exp(...), so that all of it can be read.

    A wide equation has lines of its factors, each after the first with a sign at its start, a parametric surface one
    for each coordinate. Cases stay in LaTeX.
    """
    texts = {name: _flat(rule.latex()) for name, rule in surface.expressions.items()}
    if surface.subset == "implicit":
        return f"$0 = {texts['F']}$"
    return "\n".join(f"${name} = {_broken(text)}$" for name, text in texts.items())


def _flat(text: str) -> str:
    """LaTeX without stacked fractions and without exponents of exponents."""

    def term(group: str) -> str:
        return f"({group})" if re.search(r" [+-] ", group) else group

    text = text.replace(r"\bmod", r"\,\mathrm{mod}\,")  # matplotlib has no other
    text = re.sub(r"(?<!\w)e\^" + GROUP, lambda m: rf"\exp({m[1]})", text)
    return re.sub(r"\\frac" + GROUP * 2, lambda m: f"{term(m[1])} / {term(m[2])}", text)


def _broken(text: str) -> str:
    """In lines that have room, cut before factors and strokes outside of parentheses."""
    if "cases" in text:
        return text
    depth, cuts = 0, [0]
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if depth == 0 and text.startswith((r" \sin", r" \cos", r" \exp", " /"), at):
            cuts.append(at)
    lines = [""]
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        wide = len(re.sub(r"\\left|\\right|[\\{}^ ]", "", lines[-1] + text[start:end])) > WIDE
        if wide and lines[-1]:  # a line of its own, which says that it goes on with a product
            has_sign = text.startswith(" /", start) or lines[-1].endswith(("+", "-"))
            lines.append("" if has_sign else r"\cdot\,")
        lines[-1] += text[start:end]
    return "$\n$".join(lines)


def draw(ax, surface, solution=None):
    """One surface in a 3-D axes; with `solution` the predicted one, seen within the bounds of the truth.

    An explicit or parametric surface is drawn as a mesh over its inputs, one on integers as a step for each of those
    around the origin; an implicit one as points of the surface, and a prediction z(x, y) of it as a mesh within the
    box. The colour is z, on the scale of the truth. Returns what a colour bar shows.
    """
    truth = _extent(surface)
    look = {"cmap": "viridis", "vmin": truth[2][0], "vmax": truth[2][1], "lw": 0, "rasterized": True}
    ax.set(xlim=truth[0], ylim=truth[1], zlim=truth[2])
    if surface.kind == "level set" and (solution is None or "F" in solution):
        F = parse(solution["F"]) if solution else surface.F
        cloud = surface.cloud(F, "test", POINTS, np.random.default_rng(0))
        shown = ax.scatter(*cloud.T, c=cloud[:, 2], s=1, **look)
    else:
        mesh = _mesh(surface, solution)
        low, high = np.array(truth).T[:, :, None, None]
        x, y, z = np.where(((mesh >= low) & (mesh <= high)).all(axis=0), mesh, np.nan)
        shown = ax.plot_surface(x, y, z, rstride=1, cstride=1, antialiased=False, **look)
    for axis, name in ((ax.xaxis, "$x$"), (ax.yaxis, "$y$"), (ax.zaxis, "$z$")):
        axis.set_ticks([])
        axis.set_label_text(name, size=8)
        axis.labelpad = -15
    ax.set_facecolor("none")  # or it hides labels of the one beside
    return shown


def _mesh(surface, solution=None):
    """x, y and z over a grid of the first two inputs."""
    on_integers = "integer_grid" in surface.flags
    axes = [INTEGERS if on_integers else np.linspace(*ends, NODES) for ends in surface.domain[:2]]
    values = dict(zip(surface.inputs, np.meshgrid(*axes), strict=False))
    shape, texts = values[surface.inputs[0]].shape, dict(solution or surface.truth)
    values |= {name: parse(texts[name])(values) for name in ("xyz" if surface.subset == "parametric" else "z")}
    mesh = np.stack([np.broadcast_to(values[name], shape) for name in "xyz"])
    if on_integers:  # a square for each
        mesh, ends = mesh.repeat(2, axis=1).repeat(2, axis=2), np.tile([-0.5, 0.5], len(INTEGERS))
        mesh[:2] += np.stack(np.meshgrid(ends, ends))
    return mesh


def _extent(surface):
    """(low, high) per axis with a margin: of the box for an implicit surface, else of nearly all of the truth."""
    low, high = np.transpose(surface.domain[:3])
    if surface.kind != "level set":
        mesh = _mesh(surface).reshape(3, -1)
        low, high = np.nanpercentile(np.where(np.isfinite(mesh), mesh, np.nan), [0.5, 99.5], axis=1)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    return list(zip(low - margin, high + margin, strict=True))

"""How a problem and a candidate look: typeset, in HTML, as a picture, as text."""

import dataclasses
import html
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expressions import ExpressionError, parse
from ..methods import Candidate
from ..problems import Problem, problem_of
from . import plots
from .tables import number

if TYPE_CHECKING:  # loaded on first use
    from matplotlib.figure import Figure

POINTS = 2000  # of a picture, at most
LINES = 12  # of equations that are typeset in HTML; more are written as text


def latex(shown: Problem | Candidate) -> str:
    """The equations as LaTeX, aligned where there are several.

    Parameters
    ----------
    shown : Problem or Candidate

    Returns
    -------
    str

    Examples
    --------
    >>> from rediscover.problems import problem
    >>> latex(problem("surfaces/TFS4"))
    'z = x y'
    """
    if isinstance(shown, Problem):
        solution, kind, logic = shown.truth, shown.kind, shown.kind == "transitions"
    else:
        solution, kind, logic = shown.solution, "", False
    lines = [_equation(name, value, kind, logic) for name, value in solution.items()]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{aligned} " + r" \\ ".join(line.replace(" = ", " &= ", 1) for line in lines) + r" \end{aligned}"


def _equation(name: str, value: Any, kind: str, logic: bool) -> str:
    if kind == "passage" or name == "latex":
        return str(value)
    left = _symbol(name)
    if not isinstance(value, str):  # parents of a variable of a graph
        parents = ", ".join(_symbol(parent) + f"(t-{lag})" for parent, lag in value)
        return rf"{left}(t) = f({parents})"
    try:
        right = parse(value, logic=logic).latex()
    except ExpressionError:
        right = r"\text{" + value.replace("_", r"\_") + "}"
    if kind == "level set" and name == "F":
        return f"{right} = 0"
    rate = {"trajectories": rf"\dot{{{left}}}", "field": rf"\partial_t {left}", "transitions": f"{left}(t+1)"}
    return f"{rate.get(kind, left)} = {right}"


def _symbol(name: str) -> str:
    import sympy

    return sympy.latex(sympy.Symbol(name))


def text(shown: Problem | Candidate) -> str:
    """A problem or a candidate in lines of text, for a shell.

    Parameters
    ----------
    shown : Problem or Candidate

    Returns
    -------
    str
    """
    if isinstance(shown, Candidate):
        return "\n".join([f"{name} = {value}" for name, value in shown.solution.items()] + _facts(shown))
    lines = [f"{shown.id}: {_what(shown)}"]
    lines += [f"  {name} = {value}" for name, value in shown.truth.items()]
    lines += [f"{name}: {meaning}" for name, meaning in shown.meanings.items() if meaning]
    return "\n".join([*lines, *_facts(shown)])


def page(shown: Problem | Candidate) -> str:
    """A problem or a candidate in HTML: equations, variables with meaning and unit, and a problem's data as a picture.

    Parameters
    ----------
    shown : Problem or Candidate

    Returns
    -------
    str
    """
    solution: Mapping[str, Any] = shown.truth if isinstance(shown, Problem) else shown.solution
    if len(solution) <= LINES:
        parts = [f"<p>$\\displaystyle {html.escape(latex(shown))}$</p>"]
    else:
        parts = [f"<pre>{html.escape(text(shown))}</pre>"]
    if isinstance(shown, Problem):
        parts.insert(0, f"<p><b>{html.escape(shown.id)}</b> {html.escape(_what(shown))}</p>")
        rows = [
            f"<tr><th>{html.escape(name)}</th><td>{'output' if name in shown.outputs else 'input'}</td>"
            f"<td style='text-align: left'>{html.escape(meaning)}</td></tr>"
            for name, meaning in shown.meanings.items()
        ]
        if any(shown.meanings.values()):
            parts.append(f"<table><tr><th></th><th></th><th>meaning</th></tr>{''.join(rows)}</table>")
        if (figure := plot(shown)) is not None:
            parts.append(f'<img alt="data of {html.escape(shown.id)}" src="data:image/png;base64,{_png(figure)}">')
    return "".join([*parts, *(f"<p>{html.escape(fact)}</p>" for fact in _facts(shown))])


def plot(shown: Problem | Candidate, problem: Problem | str | None = None, *, seed: int = 0) -> "Figure | None":
    """A picture: of a problem its data, of a candidate its predictions against the truth on a problem's test rows.

    A problem's data are drawn as a surface, trajectories, a field, states, or the target over each input.

    Parameters
    ----------
    shown : Problem or Candidate
    problem : Problem or its id
        Of a candidate.
    seed : int
        Of the data.

    Returns
    -------
    Figure, or None for a problem without numbers

    Raises
    ------
    TypeError
        If a candidate is to be drawn and no problem is given, or one without a table of numbers.
    """
    import matplotlib.pyplot as plt

    if isinstance(shown, Candidate):
        if problem is None:
            raise TypeError("plot: a candidate is drawn on a problem's data: write candidate.plot('srsd/I.27.6')")
        with plots.style():
            return _predicted(shown, problem_of(problem), seed, plt)
    draw = _DRAWN.get(shown.kind)
    if draw is None:
        return None
    with plots.style():
        figure = draw(shown, seed, plt)
    plt.close(figure)  # shown by the one who asked
    return figure


def _what(problem: Problem) -> str:
    """Title, kind and subset."""
    return ", ".join(filter(None, [getattr(problem, "title", ""), problem.kind, problem.subset]))


def _facts(shown: Problem | Candidate) -> list[str]:
    if isinstance(shown, Problem):
        given = [", ".join(shown.flags).replace("_", " "), shown.note, shown.source]
        return [fact for fact in given if fact]
    sizes = {"loss": shown.loss, "complexity": shown.complexity, "evaluations": shown.evaluations}
    known = {name: value for name, value in sizes.items() if value is not None and not math.isnan(value)}
    return [", ".join(f"{name} {number(value)}" for name, value in known.items())] if known else []


def _png(figure: "Figure") -> str:
    import base64
    import io

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return base64.b64encode(buffer.getvalue()).decode()


def _table(shown: Any, seed: int, plt: Any) -> Any:
    """Of a surface its points in space, else the target over each input."""
    X, y = shown.data(seed)["train"]
    X, y = X[:POINTS], y[:POINTS]
    space = X if shown.kind == "level set" else y if y.ndim == 2 else np.column_stack([X, y])
    if space.shape[1] == 3 and (shown.kind == "level set" or X.shape[1] == 2):
        figure = plt.figure(figsize=(3.6, 3.2))
        axes = figure.add_subplot(projection="3d")
        axes.scatter(*space.T, c=space[:, 2], s=3, cmap="viridis")
        names = shown.outputs if y.ndim == 2 else (*shown.inputs, *shown.outputs)
        axes.set(xlabel=names[0], ylabel=names[1], zlabel=names[2])
        return figure
    figure, row = plt.subplots(1, X.shape[1], figsize=(2.2 * X.shape[1] + 0.6, 2.2), sharey=True, squeeze=False)
    for axes, name, column in zip(row[0], shown.inputs, X.T, strict=True):
        axes.plot(column, y, ".", ms=2, alpha=0.4)
        axes.set_xlabel(f"${_symbol(name)}$")
        if np.min(column) > 0 and np.max(column) > 100 * np.min(column):
            plots.logarithmic(axes, axes.xaxis)
    if np.min(y) > 0 and np.max(y) > 100 * np.min(y):
        plots.logarithmic(row[0, 0], row[0, 0].yaxis)
    row[0, 0].set_ylabel(f"${_symbol(shown.outputs[0])}$")
    return figure


def _predicted(candidate: Candidate, problem: Problem, seed: int, plt: Any) -> Any:
    """Predicted against true values on the test rows, for each output."""
    if problem.kind not in ("regression", "trajectories"):
        raise TypeError(f"plot: {problem.id} has no table of predictions: plot the problem, or score the candidate")
    test = problem.data(seed)["test"]
    values = dict(zip(problem.inputs, test.X.T, strict=True))
    figure, row = plt.subplots(1, len(problem.outputs), figsize=(2.8 * len(problem.outputs), 2.6), squeeze=False)
    for i, (axes, name) in enumerate(zip(row[0], problem.outputs, strict=True)):
        true = test.output(i).y
        axes.plot(
            true, np.broadcast_to(parse(candidate.solution[name], problem.vocabulary)(values), true.shape), ".", ms=3
        )
        axes.axline((true.mean(), true.mean()), slope=1, color="#777777", lw=1)
        axes.set(xlabel=f"{name}, true", ylabel=f"{name}, predicted")
    plt.close(figure)
    return figure


def _lines(times: np.ndarray, states: np.ndarray, names: tuple[str, ...], plt: Any) -> Any:
    figure, axes = plt.subplots(figsize=(4.4, 2.4))
    for name, column in zip(names, states.T, strict=True):
        axes.plot(times, column, label=name)
    axes.set_xlabel("t")
    if len(names) <= 10:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _trajectory(shown: Any, seed: int, plt: Any) -> Any:
    times, states, _ = shown.trajectory(seed)
    return _lines(times, states, shown.inputs, plt)


def _series(shown: Any, seed: int, plt: Any) -> Any:
    """The series where it can be integrated, else who causes whom; looking at a problem downloads nothing."""
    if shown.equations:
        values = dataclasses.replace(shown, series_from="equations").series()
        return _lines(np.arange(len(values)), values, shown.inputs, plt)
    causes = np.zeros((len(shown.inputs), len(shown.inputs)))
    for parent, child, _ in shown.edges:
        causes[shown.inputs.index(child), shown.inputs.index(parent)] = 1
    figure, axes = plt.subplots(figsize=(3, 3))
    axes.imshow(causes, cmap="Greys", vmax=1.5)
    axes.set(xlabel="cause", ylabel="effect")
    axes.grid(False)
    return figure


def _field(shown: Any, seed: int, plt: Any) -> Any:
    """States over the first axis of space and time; of further axes the middle."""
    axes_of_space, times, states, _ = shown.samples(seed)
    names = shown.outputs
    figure, row = plt.subplots(1, len(names), figsize=(2.8 * len(names) + 0.6, 2.4), squeeze=False, sharey=True)
    (first, x), *_ = axes_of_space.items()
    for axes, name, values in zip(row[0], names, np.moveaxis(states, -1, 0), strict=True):
        while values.ndim > 2:
            values = values[:, values.shape[1] // 2]
        axes.pcolormesh(times, x, values, shading="auto", rasterized=True)
        axes.set(title=name, xlabel="t")
        axes.grid(False)
    row[0, 0].set_ylabel(first)
    return figure


def _transitions(shown: Any, seed: int, plt: Any) -> Any:
    states = shown.data(seed)["train"].X[:60]
    figure, axes = plt.subplots(figsize=(5, 0.14 * states.shape[1] + 0.8))
    axes.imshow(np.asarray(states, float).T, aspect="auto", cmap="Greys", interpolation="nearest")
    axes.set(xlabel="observed states", ylabel="nodes")
    axes.grid(False)
    return figure


_DRAWN = {
    "regression": _table,
    "level set": _table,
    "trajectories": _trajectory,
    "series": _series,
    "field": _field,
    "transitions": _transitions,
}

"""What was found, in three panels: the front, the fit, and its residuals."""

from typing import Any

import numpy as np

INK, ACCENT, PALE = "#333333", "#c1440e", "#7a9cc6"


def figure(found: Any) -> Any:
    """The front, the fit and residuals of a fitted estimator.

    Parameters
    ----------
    found : EquationRegressor, EquationSystem or ImplicitEquation

    Returns
    -------
    matplotlib.figure.Figure
        Not among those of pyplot, so that nothing has to be closed.
    """
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(12, 3.8), layout="constrained")
    left, middle, right = drawn.subplots(1, 3)
    _front(left, found.equations_)
    if "records" in found._sample:
        _trajectories(middle, right, found)
    else:
        _rows(middle, right, found)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    return drawn


def _front(axes: Any, table: Any) -> None:
    outputs = table["output"].unique() if "output" in table else [None]
    for i, output in enumerate(outputs):
        part = table if output is None else table[table["output"] == output]
        axes.plot(part["complexity"], part["validation_error"], "o-", color=f"C{i}", label=output)
        chosen = part[part["chosen"]]
        axes.plot(chosen["complexity"], chosen["validation_error"], "o", ms=13, mfc="none", mec=ACCENT, mew=2)
    if (table["validation_error"] > 0).all():
        axes.set_yscale("log")
    axes.set(xlabel="complexity, nodes", ylabel="validation error (root mean square)", title="front (ring: chosen)")
    if len(outputs) > 1:
        axes.legend(frameon=False)


def _rows(middle: Any, right: Any, found: Any) -> None:
    X, y, out = (found._sample[name] for name in ("X", "y", "held_out"))
    parts = [part for part in ((~out, PALE, "searched"), (out, ACCENT, "held out")) if part[0].any()]
    predicted = found.predict(_framed(found, X))
    cloud = "F" in found.expressions_ and not hasattr(found, "searched_rows_")
    residuals = predicted if cloud else y - predicted
    if cloud:
        for mask, color, label in parts:
            middle.plot(X[mask, 0], X[mask, 1], ".", ms=4, color=color, label=label)
        middle.set(xlabel=found._names[0].column, ylabel=found._names[1].column, title="points")
        across, what = X[:, 0], found._names[0].column
    else:
        for mask, color, label in parts:
            middle.plot(predicted[mask], y[mask], ".", ms=4, color=color, label=label)
        ends = [np.nanmin(y), np.nanmax(y)]
        middle.plot(ends, ends, color=INK, lw=1)
        middle.set(xlabel="fitted", ylabel=found._outputs[0].column, title="fit")
        across, what = predicted, "fitted"
    if len(parts) > 1:
        middle.legend(markerscale=2, framealpha=0.8)
    for mask, color, _ in parts:
        right.plot(across[mask], residuals[mask], ".", ms=4, color=color)
    right.axhline(0, color=INK, lw=1)
    right.set(xlabel=what, ylabel="distance" if cloud else "observed - fitted", title="residuals")


def _trajectories(middle: Any, right: Any, found: Any) -> None:
    for t, states in found._sample["records"]:
        solution = found.simulate(states[0], t)
        for i, name in enumerate(found._names):
            middle.plot(t, states[:, i], ".", ms=4, color=f"C{i}")
            middle.plot(t, solution[:, i], color=f"C{i}", lw=1, label=name.column)
            right.plot(t, states[:, i] - solution[:, i], ".", ms=4, color=f"C{i}")
    handles = dict(zip(*reversed(middle.get_legend_handles_labels()), strict=True))
    middle.legend(handles.values(), handles, frameon=False)
    time = found.time if isinstance(found.time, str) else "time"
    middle.set(xlabel=time, title="states, and the solution from the first one")
    right.axhline(0, color=INK, lw=1)
    units = ", ".join(dict.fromkeys(name.unit for name in found._names if name.unit))
    right.set(xlabel=time, ylabel="observed - solution" + (f" [{units}]" if units else ""), title="residuals")


def _framed(found: Any, X: np.ndarray) -> Any:
    """The rows as they were fitted: with names of columns where there were such."""
    if not hasattr(found, "feature_names_in_"):
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=found.feature_names_in_)

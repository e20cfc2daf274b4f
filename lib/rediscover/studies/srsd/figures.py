"""Figures of the SRSD study."""

import itertools
import re

import numpy as np

from ...problems import generator
from ...problems.srsd import SETS
from ...report.plots import colour, logarithmic, marker, order, style
from ...report.summaries import interval, summary
from .analysis import BOUNDS, CONTROLS, METRICS, as_printed, edits

LOOKS = {"keep": "#999999", "rename": "#e69f00", "delete": "#d55e00", "insert": "#0072b2"}


def look(law, answer: str):
    """One law: its data, and the trees of an answer and of the truth with the edit script between them."""
    import matplotlib.pyplot as plt

    details, script = edits(law, answer)
    X, y = law.data()["test"]
    with style():
        figure, (data, trees) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1, 2.4))
        shade = np.log10(np.abs(X[:, 1])) if X.shape[1] > 1 else None
        data.scatter(np.abs(X[:, 0]), np.abs(y), c=shade, s=6, lw=0, rasterized=True)
        for axis in (data.xaxis, data.yaxis):
            logarithmic(data, axis)
        (output,) = law.outputs
        data.set(xlabel=law.inputs[0], ylabel=output)
        data.set_title(
            f"{law.id.split('/')[1]}: {output}" + (f", lighter: larger {law.inputs[1]}" if X.shape[1] > 1 else "")
        )
        _draw_script(trees, details, script, law.inputs)
    return figure


def _draw_script(ax, details, script, inputs):
    left, right = _layout(details.prediction), _layout(details.truth)
    shift = max(x for _, x, _, _ in left) + 2.2
    right = [(label, x + shift, y, parent) for label, x, y, parent in right]
    for nodes in (left, right):
        for _, x, y, parent in nodes:
            if parent is not None:
                _, u, v, _ = nodes[parent]
                ax.plot([x, u], [y, v], color="#bbbbbb", lw=1, zorder=1)
    for edit in script:
        ends = [nodes[i] for nodes, i in ((left, edit.prediction), (right, edit.truth)) if i is not None]
        for label, x, y, _ in ends:
            _draw_node(ax, label, x, y, edit.operation, inputs)
        if edit.operation == "rename":
            (_, x, y, _), (_, u, v, _) = ends
            ax.plot([x, u], [y, v], ":", color=LOOKS["rename"], lw=1, zorder=0)
    ax.set_title(
        f"answer (left) to truth (right): {details.distance} edits, {len(right)} nodes, distance {details.value:.3f}"
    )
    handles = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))  # one for each operation
    ax.legend(handles.values(), handles, loc="lower left", bbox_to_anchor=(1.0, 0.0), markerscale=0.4)
    ax.set_axis_off()
    ax.margins(0.08)


def _draw_node(ax, label, x, y, operation, inputs):
    column = re.fullmatch(r"x(\d+)", label)
    text = inputs[int(column[1])] if column else {"Const": "C"}.get(label, label)
    ax.plot(x, y, "o", ms=19, mfc="white", mew=2, mec=LOOKS[operation], label=operation, zorder=2)
    ax.text(x, y, text, ha="center", va="center", size=7, zorder=3)


def _layout(tree):
    """(label, x, y, parent) of the nodes in postorder, leaves side by side."""
    nodes, leaves = [], itertools.count()

    def place(branch, depth):
        label, *children = branch
        below = [place(child, depth + 1) for child in children]
        x = float(np.mean([nodes[i][1] for i in below])) if below else float(next(leaves))
        nodes.append([label, x, -float(depth), None])
        for i in below:
            nodes[i][3] = len(nodes) - 1
        return len(nodes) - 1

    place(tree, 0)
    return [tuple(node) for node in nodes]


def by_set(scored):
    """Tables 2, 3 and 4 as lines over the sets, published methods in grey."""
    import matplotlib.pyplot as plt

    names = order(set(scored["method"]) - {"oracle"})
    with style():
        figure, ((*axes,), (third, rest)) = plt.subplots(2, 2, figsize=(7.6, 6.2))
        for ax, (name, (title, score, _)) in zip([*axes, third], METRICS.items(), strict=True):
            printed = as_printed(name).sort_values("hard")
            ax.plot(range(3), printed.T, ":", color="#555555", lw=1, zorder=1)
            for label, height in zip(printed.index, _apart(printed["hard"], 0.05), strict=True):
                ax.annotate(label, (2.15, height), size=7, color="#555555", va="center", annotation_clip=False)
            for i, kind in enumerate(names):
                part = scored[scored["method"] == kind].groupby("subset")[score]
                lines = [interval(part.get_group(s)) if s in part.groups else None for s in SETS]
                where = [k for k, line in enumerate(lines) if line]
                value, low, high = (np.array([lines[k][key] for k in where]) for key in ("value", "low", "high"))
                ax.errorbar(
                    np.array(where) + 0.025 * (i - len(names) / 2),
                    value,
                    np.abs([value - low, high - value]),
                    marker=marker(kind),
                    color=colour(kind),
                    ms=4,
                    lw=1,
                    label=kind,
                )
            ax.set_xticks(range(3), SETS)
            ax.set_xlim(-0.2, 2.6)
            ax.set_ylim(-0.03, 1.03)
            better = "lower" if "ned" in score else "higher"
            ax.set_title(f"Table {name[-1]}: {title}\n({better} is better)")
        rest.axis("off")
        rest.legend(*third.get_legend_handles_labels(), loc="center", title="ours (dotted: published)")
    return figure


def _apart(heights, gap: float, top: float = 1.0) -> np.ndarray:
    """Rising heights of labels moved as little as needed to be apart by a gap and not above the top.

    Examples
    --------
    >>> _apart([0.0, 0.0, 0.5, 0.99, 1.0], 0.1).round(2).tolist()
    [0.0, 0.1, 0.5, 0.9, 1.0]
    """
    steps = gap * np.arange(len(heights))
    up = np.maximum.accumulate(np.asarray(heights) - steps) + steps
    return np.minimum(up, top - steps[::-1])


def noise_figure(noise):
    """Mean edit distance and accuracy on Easy against the noise level."""
    import matplotlib.pyplot as plt

    titles = {
        "ned_published": "normalised edit distance\n(lower is better)",
        "r2_accuracy": "R2 > 0.999 on clean test data\n(higher is better)",
    }
    tidy = summary(noise, ["method", "noise"], list(titles))
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8))
        for ax, (score, title) in zip(axes, titles.items(), strict=True):
            part = tidy[tidy["metric"] == score]
            levels = sorted(part["noise"].unique())
            for i, name in enumerate(names := order(part["method"])):
                line = part[part["method"] == name].sort_values("noise")
                value = line["value"].to_numpy()
                ax.errorbar(
                    np.arange(len(line)) + 0.05 * (i - len(names) / 2),
                    value,
                    np.abs(line[["low", "high"]].to_numpy().T - value),
                    marker=marker(name),
                    color=colour(name),
                    ms=4,
                    label=name,
                )
            ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
            ax.set(xlabel="noise level", title=title, ylim=(-0.03, 1.03))
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def complexity_map(frame):
    """Figure 1 by eq. (1) and by the rule of the released code; misplaced laws are named."""
    import matplotlib.pyplot as plt

    colours = dict(zip(SETS, ("#009e73", "#e69f00", "#d55e00"), strict=True))
    titles = {"paper": "eq. (1), as printed", "code": "the rule of the released code"}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
        for ax, (rule, title) in zip(axes, titles.items(), strict=True):
            for most, widest in BOUNDS.values():
                ax.plot([0, most - 0.5, most - 0.5], [widest, widest, -1], ":", color="#555555", lw=1)
            for name, group in frame.groupby("set", sort=False):
                ax.plot(group["operations"], group[rule], "o", ms=4, alpha=0.6, color=colours[name], label=name)
            wrong = frame[frame["set"] != frame[f"set_{rule}"]]
            ax.plot(wrong["operations"], wrong[rule], "o", ms=9, mfc="none", mec="black")
            for place, laws in wrong.groupby(["operations", rule]):
                text = ", ".join(law.split("/")[1] for law in laws.index)
                left = place[0] == wrong["operations"].min()
                offset, align = ((-6, 8), "right") if left else ((5, -14), "left")  # beside the other laws
                ax.annotate(text, place, offset, textcoords="offset points", size=6, ha=align)
            ax.set_xticks(range(0, 20, 4))
            ax.set(xlabel="operations in the truth", title=f"{title}: {len(wrong)} misplaced")
        axes[0].set_ylabel("width of the ranges, decades")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def fit_against_distance(scored):
    """Each answer's error against its edit distance, a panel per set."""
    import matplotlib.pyplot as plt

    sets = [s for s in SETS if s in set(scored["subset"])]
    with style():
        figure, axes = plt.subplots(1, len(sets), figsize=(3.4 * len(sets) + 1.2, 3.2), sharey=True, squeeze=False)
        jitter = generator(0, "fit against distance")
        for ax, subset in zip(axes[0], sets, strict=True):
            for name in order(set(scored["method"]) - set(CONTROLS)):
                part = scored[(scored["method"] == name) & (scored["subset"] == subset)]
                error = np.clip(1 - part["r2"], 1e-16, 1e2)
                height = part["ned_published"] + jitter.uniform(-0.012, 0.012, len(part))
                ax.plot(error, height, marker(name), color=colour(name), ms=4, alpha=0.6, ls="", label=name)
            ax.axvline(1e-3, color="#555555", lw=1, ls=":")
            ax.set_xscale("log")
            ax.set_xticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
            ax.set(title=subset, xlabel="1 - R2 (clipped)")
        axes[0][0].set_ylabel("normalised edit distance")
        axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure

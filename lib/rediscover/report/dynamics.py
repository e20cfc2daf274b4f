"""The studies of ordinary and partial differential equations: their runs, tables, pictures and audits."""

import dataclasses

import numpy as np
import pandas as pd

from .. import runs, scores
from ..methods import catalogue, method
from ..metrics.agreement import paired_wilcoxon
from ..problems import problem
from .figures import colour, order, style
from .ledger import combine, compare, published


def solvers(params) -> list:
    """The methods of the study; the ensembles are cut to what the parameters allow."""
    return [method(name, **params.settings.get(name, {})) for name in params.methods]


def run(ids, solvers, params, **options):
    """Runs and scores at every noise level.

    Parameters
    ----------
    ids : problem ids
    solvers : list of Method
    params : Parameters with ``levels`` (dB, or "clean"), ``seeds``, ``budget`` and ``store``
    options : of the problems, such as ``split="space"``

    Returns
    -------
    DataFrame : scores with ``snr`` (inf for clean), ``solution`` and ``seconds``
    """
    frames = []
    for level in params.levels:
        at = [problem(id, snr=None if level == "clean" else level, **options) for id in ids]
        records = runs.grid(at, solvers, seeds=params.seeds, budget=params.budget, store=params.store)
        possible = ~records["status"].isin(["unsupported", "unavailable"])
        scored = scores.table(records[possible], at, store=params.store)
        extra = records.loc[scored.index, ["solution", "seconds"]]
        frames.append(scored.join(extra).assign(snr=np.inf if level == "clean" else float(level)))
    return pd.concat(frames, ignore_index=True)


def joined(*parts: pd.DataFrame) -> pd.DataFrame:
    """Scores of several runs as one table."""
    return pd.concat(parts, ignore_index=True)


def label(id: str) -> str:
    """A problem's name in the published tables.

    Examples
    --------
    >>> label("odes/24"), label("pdes/heat_1d")
    ('I24-D2', 'Heat (Solar) 1D')
    """
    loaded = problem(id)
    return f"I{loaded.number}-D{loaded.subset}" if loaded.study == "odes" else loaded.title


def beside(scored: pd.DataFrame, tables: tuple[str, ...]) -> pd.DataFrame:
    """Our clean cells beside the published ones.

    Two cells are the same if both are check marks, or both are numbers with the same power of ten and the same
    complexity (the paper rounds the error to a power of ten).

    Returns
    -------
    DataFrame : dataset, method, published, ours, same
    """
    printed = pd.concat([published(name) for name in tables]).set_index(["dataset", "method"])
    names = catalogue("mdbench").set_index("label")["ours"]
    rows = []
    clean = scored[np.isinf(scored["snr"])]
    for shown, ours in names.items():
        for row in clean[clean["method"] == ours].itertuples():
            key = label(row.problem), shown
            if key not in printed.index:
                continue
            cell = printed.loc[key]
            theirs = _cell(
                cell["status"] == "identified", cell["nmse_exponent"], cell["complexity"], cell["status"]
            )
            finite = np.isfinite(row.nmse_power) and row.nmse_power > 0
            power = str(round(np.log10(row.nmse_power))) if finite else ""
            mine = _cell(
                row.identified == 1, power, f"{row.complexity_mdbench:.0f}", "failed" if not finite else ""
            )
            rows.append((*key, theirs, mine, theirs == mine))
    return pd.DataFrame(rows, columns=["dataset", "method", "published", "ours", "same"])


def _cell(identified: bool, power: str, complexity: str, status: str) -> str:
    if identified:
        return "found"
    return "-" if status == "failed" else f"1e{power} ({complexity})"


def matches(table: pd.DataFrame) -> pd.DataFrame:
    """Per method: cells compared, cells that are the same, and check marks found again, lost and gained."""
    marks = table.assign(
        theirs=table["published"] == "found",
        again=(table["published"] == "found") & (table["ours"] == "found"),
        gained=(table["published"] != "found") & (table["ours"] == "found"),
    )
    found = marks.groupby("method", sort=False).agg(
        cells=("same", "size"),
        same=("same", "sum"),
        marks=("theirs", "sum"),
        again=("again", "sum"),
        gained=("gained", "sum"),
    )
    return found


def ledger(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Every cell of the published tables with a verdict; `names` maps printed table to file."""
    absent = catalogue("mdbench").set_index("label")["reason"].to_dict()
    ours = table.set_index(["dataset", "method"])
    parts = []
    for printed, file in names.items():
        rows = published(file)
        rows = rows.assign(
            value=[
                _cell(r.status == "identified", r.nmse_exponent, r.complexity, r.status)
                for r in rows.itertuples()
            ]
        )
        measured = {
            (m, d): {
                "value": cell["ours"],
                "low": np.nan,
                "high": np.nan,
                "verdict": "reproduced" if cell["same"] else "differs",
                "reason": "",
            }
            for (d, m), cell in ours.iterrows()
        }
        parts.append(
            compare(
                "MDBench",
                printed,
                rows,
                measured,
                keys=["method", "dataset"],
                row="{dataset}",
                column="{method}",
                absent={m: ("not run", reason or "not in this profile") for m, reason in absent.items()}
                | {"*": ("not run", "not in this profile")},
                definition="as released: nmse_power, complexity_mdbench, fidelity",
                tolerance="same power of ten and same complexity, or both check marks",
            )
        )
    return combine(parts)


def compared(scored: pd.DataFrame, first: str, second: str, score: str, levels) -> pd.Series:
    """A signed-rank test over (problem, noise) cells in which both methods have a finite value.

    Returns
    -------
    Series : n_pairs, n_zeros (dropped), W (sum of positive ranks), p that the first is lower, two-sided p, effect
    """
    wide = scored[scored["snr"].isin(levels)].pivot_table(
        index=["problem", "snr"], columns="method", values=score
    )
    pair = wide[[first, second]].replace([np.inf, -np.inf], np.nan).dropna()
    less = paired_wilcoxon(pair[first], pair[second], alternative="less")
    both = paired_wilcoxon(pair[first], pair[second])
    return pd.Series(
        {
            "n_pairs": less["n_pairs"],
            "n_zeros": less["n_zeros"],
            "W": less["statistic"],
            "p_less": less["p"],
            "p_two_sided": both["p"],
            "effect": both["effect"],
        },
        name=f"{first} < {second}, {score}",
    )


def signed_rank(scored: pd.DataFrame, comparisons, levels) -> pd.DataFrame:
    """`compared` for several (first, second, score)."""
    return pd.DataFrame([compared(scored, *comparison, levels) for comparison in comparisons])


def portraits(ids):
    """Phase portraits of ODE systems (state against time in one dimension), noisy points over the clean curve."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(2.6 * len(ids), 2.4))
        for ax, id in zip(np.atleast_1d(axes), ids, strict=True):
            clean, noisy = problem(id).trajectory(), problem(id, snr=20).trajectory()
            for data, look in (
                (noisy, {"marker": ".", "ls": "", "ms": 3, "color": "#999999"}),
                (clean, {"lw": 1.4}),
            ):
                x, y = (data.t, data.u[:, 0]) if data.u.shape[1] == 1 else data.u[:, :2].T
                ax.plot(x, y, **look)
            one = clean.u.shape[1] == 1
            ax.set(title=label(id), xlabel="t" if one else "x0", ylabel="x0" if one else "x1")
        plt.close(figure)
    return figure


def fields(ids):
    """Space-time pictures of the first state: x against t, through the middle of other axes."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(2.6 * len(ids), 2.4))
        for ax, id in zip(np.atleast_1d(axes), ids, strict=True):
            samples = problem(id).samples()
            u = samples.u[..., 0]
            while u.ndim > 2:
                u = u[:, u.shape[1] // 2]
            x = next(iter(samples.axes.values()))
            ax.pcolormesh(samples.t, x, u, shading="auto", rasterized=True)
            ax.set(title=label(id), xlabel="t", ylabel="x")
            ax.grid(False)
        plt.close(figure)
    return figure


def boxes(scored: pd.DataFrame):
    """Figure 2: error (log) and complexity (log) per method and noise level."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr"].unique(), reverse=True)
    names = [name for name in order(scored["method"]) if name not in ("oracle", "mean", "zero")]
    with style():
        figure, axes = plt.subplots(
            1, 2, figsize=(7, 0.5 + 0.18 * len(names) * (len(levels) + 1)), sharey=True
        )
        for ax, score, title in zip(
            axes, ("nmse_power", "complexity_mdbench"), ("NMSE", "complexity"), strict=True
        ):
            for i, name in enumerate(names):
                for j, level in enumerate(levels):
                    values = scored[(scored["method"] == name) & (scored["snr"] == level)][score]
                    values = values[np.isfinite(values) & (values > 0)]
                    at = i * (len(levels) + 1) + j
                    faces = {"facecolor": colour(name), "alpha": 1 - 0.75 * j / max(len(levels), 1)}
                    if len(values):
                        ax.boxplot(
                            values,
                            positions=[at],
                            orientation="horizontal",
                            widths=0.7,
                            patch_artist=True,
                            boxprops=faces,
                            medianprops={"color": "black"},
                            flierprops={"ms": 2},
                            manage_ticks=False,
                        )
            ax.set(xscale="log", xlabel=title)
        axes[0].set_yticks([i * (len(levels) + 1) + (len(levels) - 1) / 2 for i in range(len(names))], names)
        axes[0].invert_yaxis()
        plt.close(figure)
    return figure


def floors(names, views=(("time", "shared"), ("space", "direct"), ("space", "repeated"))) -> pd.DataFrame:
    """Error of the true equation under each test split and stencil: what no honest method gets below."""
    rows = {}
    for name in names:
        loaded = problem(name)
        truth = {**dict.fromkeys(loaded.states, "0"), **loaded.truth}
        rows[loaded.title] = {
            f"{split}, {stencil}": scores.score(
                dataclasses.replace(loaded, split=split, stencil=stencil), truth
            )["nmse_power"]
            for split, stencil in views
        }
    return pd.DataFrame(rows).T

"""The studies of ordinary and partial differential equations: their runs, tables, pictures and audits."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from .. import runs, scores
from ..methods import catalogue, method
from ..metrics.agreement import paired_wilcoxon
from ..params import read, root
from ..problems import problem, problems
from ..problems.pdes import coarser
from .figures import colour, order, style
from .ledger import claim_verdict, combine, compare, published

LINEAR = ("sindy", "esindy", "pdefind", "bayesian", "wsindy", "ewsindy")  # of the paper; sindy_cross is ours
GENETIC = ("gplearn", "operon", "pysr")
SIX = tuple(f"pdes/{name}" for name in ("advection", "burgers", "kdv", "ks", "ad", "heat_1d"))  # Figure 2 (b)


def solvers(params, narrow=None) -> list:
    """The methods of the study with its settings; `narrow` changes those of the linear methods."""
    changes = dict.fromkeys(LINEAR, narrow or {})
    return [method(name, **params.settings.get(name, {}) | changes.get(name, {})) for name in params.methods]


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
    DataFrame : scores with ``snr`` (inf for clean), ``solution`` and ``seconds``; methods that are not installed here
        have no rows, those that gave no answer have the worst scores
    """
    levels = [None if level == "clean" else level for level in params.levels]
    at = [problem(id, snr=level, **options) for level in levels for id in ids]
    records = runs.grid(at, solvers, seeds=params.seeds, budget=params.budget, store=params.store)
    scored = scores.table(records[records["status"] != "unavailable"], at, store=params.store)
    snr = {p.noise: np.inf if p.snr is None else float(p.snr) for p in at}
    extra = records.loc[scored.index, ["solution", "seconds"]]
    return scored.join(extra).assign(snr=scored["noise"].map(snr)).reset_index(drop=True)


def run_fields(params) -> pd.DataFrame:
    """`run` on partial differential equations, linear and generic methods each on their published test split.

    Systems in ``params.reduced`` are simulated on their coarser grid if they have one, and linear methods search
    less there (``params.narrow``).
    """
    space = {"split": "space", "stencil": "direct", "rows": params.rows}
    generic = [method(name) for name in params.generic]
    fine = params.systems or [id for id in problems("pdes") if id not in params.reduced]
    parts = []
    small = [id for id in params.reduced if id in coarser()]
    rest = [id for id in params.reduced if id not in small]
    kinds = (fine, {}, {}), (rest, params.narrow, {}), (small, params.narrow, {"reduced": True})
    for ids, narrow, options in kinds:
        if ids:
            parts.append(run(ids, solvers(params, narrow), params, **options))
            parts.append(run(ids, generic, params, **space, **options))
    return pd.concat(parts, ignore_index=True)


def sister(params, notebook: str) -> pd.DataFrame:
    """Scores of another study of this kind in the same profile, from its store as far as they are there."""
    other = read(root() / "params" / params.profile / f"{notebook}.yaml")
    return run(other.systems or problems(notebook.rpartition("_")[2]), solvers(other), other)


def draws(params, names, seeds) -> pd.DataFrame:
    """How many seeds let a method identify a system, on clean data.

    Returns
    -------
    DataFrame
        Index: title of the system; columns: methods; cells as "4 of 5".
    """
    once = params.model_copy(update={"levels": ["clean"], "seeds": list(seeds)})
    ids = [id for id in params.systems or problems("pdes") if id in SIX]
    scored = run(ids, [method(name, **params.settings.get(name, {})) for name in names], once)
    counts = scored.groupby(["problem", "method"])["identified"].agg(lambda v: f"{v.sum():.0f} of {len(v)}")
    return counts.unstack().reindex(ids).rename(index=label)


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


def ledger(table: pd.DataFrame, names: dict[str, str], coarse=()) -> pd.DataFrame:
    """Every cell of the published tables with a verdict.

    Parameters
    ----------
    table : from `beside`
    names : printed table -> file
    coarse : datasets that were simulated on a coarser grid, and cannot be compared
    """
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
                "verdict": "not comparable" if d in coarse else "reproduced" if cell["same"] else "differs",
                "reason": "on a coarser grid in this profile" if d in coarse else "",
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


def compared(
    scored: pd.DataFrame, lower: str, higher: str, score: str, levels, log: bool = False
) -> pd.Series:
    """A signed-rank test over (problem, noise) cells in which both methods have a finite value.

    Parameters
    ----------
    lower, higher : the method that is said to have the lower score, and the other
    log : rank differences of logarithms, as the paper does for errors on ODEs

    Returns
    -------
    Series : n_pairs, n_zeros (equal pairs, dropped), W_claim and W_against (sums of ranks of the pairs that go as
        claimed and of the others: a two-sided call reports the smaller, a one-sided call one of the two), p_one_sided
        that `lower` is lower, p_two_sided, effect (positive where `lower` is larger)
    """
    wide = scored[scored["snr"].isin(levels)].pivot_table(
        index=["problem", "snr"], columns="method", values=score
    )
    pair = wide.reindex(columns=[lower, higher]).astype(float)
    with np.errstate(divide="ignore"):
        pair = np.log10(pair) if log else pair
    pair = pair.replace([np.inf, -np.inf], np.nan).dropna()
    row = {"n_pairs": len(pair), "n_zeros": 0}
    if len(pair):
        less = paired_wilcoxon(pair[lower], pair[higher], alternative="less")
        n = less["n_pairs"] - less["n_zeros"]
        row = {
            "n_pairs": less["n_pairs"],
            "n_zeros": less["n_zeros"],
            "W_claim": n * (n + 1) / 2 - less["statistic"],
            "W_against": less["statistic"],
            "p_one_sided": less["p"],
            "p_two_sided": paired_wilcoxon(pair[lower], pair[higher])["p"],
            "effect": less["effect"],
        }
    return pd.Series(row, name=f"{lower} < {higher}, {score}", dtype=object)


def signed_rank(scored: pd.DataFrame, comparisons, levels) -> pd.DataFrame:
    """`compared` for several (lower, higher, score)."""
    return pd.DataFrame([compared(scored, *comparison, levels) for comparison in comparisons])


class Test(NamedTuple):
    """A published signed-rank test: who is said to be lower, in which score, at which noise, and its claim."""

    claim: str
    lower: str
    higher: str
    score: str
    levels: tuple[float, ...]

    __test__ = False  # not for pytest


NEARLY_CLEAN = (np.inf, 40.0, 30.0)
NOISY = (40.0, 30.0, 20.0, 10.0)
TESTS = {
    "SINDy vs EQL": Test("MD-06", "SINDy", "EQL", "complexity_mdbench", NOISY),
    "PySR vs ESINDy": Test("MD-05", "PySR", "ESINDy", "nmse_power", NEARLY_CLEAN),
    "End2end vs EQL": Test("MD-07", "EQL", "End2end", "nmse_power", (np.inf, *NOISY)),
    "WSINDy vs PySR": Test("MD-03", "WSINDy", "PySR", "nmse_power", NEARLY_CLEAN),
    "WSINDy vs Operon": Test("MD-04", "WSINDy", "Operon", "nmse_power", NEARLY_CLEAN),
}


def readings(w: float, p: float, maximum: int) -> tuple[str, str]:
    """Pair counts for which a published W and p go together (normal approximation).

    Parameters
    ----------
    w : the published statistic
    p : the bound that the p value is said to be below
    maximum : pairs that there can be

    Returns
    -------
    (one-sided, two-sided) : counts as "30-31", or "none"; one-sided W is the sum of the larger ranks, two-sided the
        smaller of both sums

    Examples
    --------
    >>> readings(455.0, 1e-4, 42), readings(9774.0, 1e-4, 189)
    (('30-31', 'none'), ('140-171', 'none'))
    """
    n = np.arange(1, maximum + 1)
    z = (w - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    one = n[(w <= n * (n + 1) / 2) & (norm.sf(z) <= p)]
    two = n[(z <= 0) & (2 * norm.cdf(z) <= p)]
    return tuple(f"{found[0]}-{found[-1]}" if len(found) else "none" for found in (one, two))


def published_tests(odes: pd.DataFrame, pdes: pd.DataFrame) -> pd.DataFrame:
    """The five published tests: the pair counts that their W allows, and the test on our scores.

    Returns
    -------
    DataFrame
        Index: comparison; columns: claim, W, p (published), maximum, one_sided, two_sided (from `readings`), those of
        `compared`, and the reason if a method does not run here.
    """
    known = catalogue("mdbench").drop_duplicates("label").set_index("label")
    rows = {}
    for line in published("mdbench_tests").itertuples():
        test = TESTS[line.comparison]
        scored, study = (odes, "odes") if line.systems == "ODE" else (pdes, "pdes")
        maximum = len(problems(study)) * len(test.levels)
        one, two = readings(float(line.w), float(line.p.split()[-1]), maximum)
        row = {"claim": test.claim, "W": line.w, "p": line.p, "maximum": maximum}
        row |= {"one_sided": one, "two_sided": two}
        names = [known.loc[label, "ours"] for label in (test.lower, test.higher)]
        if absent := _absent(scored, (test.lower, test.higher)):
            row["reason"] = absent
        else:
            row |= compared(scored, *names, test.score, test.levels, log="log" in line.quantity).to_dict()
        rows[line.comparison] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("comparison")


def _absent(scored: pd.DataFrame, labels) -> str:
    """Why methods have no scores, or nothing."""
    known = catalogue("mdbench").drop_duplicates("label").set_index("label")
    missing = [label for label in labels if known.loc[label, "ours"] not in set(scored["method"])]
    return "; ".join(f"{label}: {known.loc[label, 'reason'] or 'not in this profile'}" for label in missing)


def test_ledger(tests: pd.DataFrame) -> pd.DataFrame:
    """The published W and p beside ours: two cells for each test."""
    known, absent = {}, {}
    for name, row in tests.iterrows():
        if not pd.isna(row.get("reason", np.nan)):
            absent[name] = "not run", row["reason"]
            continue
        same = row["p_one_sided"] <= float(row["p"].split()[-1])
        known[name] = {
            "low": np.nan,
            "high": np.nan,
            "verdict": "reproduced" if same else "differs",
            "reason": f"{row['n_pairs']:.0f} pairs, {row['n_zeros']:.0f} equal, one-sided p {row['p_one_sided']:.1g}",
        }
    cells = {  # column of the published table -> what is in the ledger's column, ours, definition, tolerance
        "w": (
            "{quantity}",
            "W_claim",
            "sum of the ranks of the pairs that go as claimed",
            "one-sided p below the published bound; W itself depends on the number of pairs",
        ),
        "p": (
            "{quantity}, p",
            "p_one_sided",
            "one-sided p of the signed-rank test on our pairs",
            "at most the published bound",
        ),
    }
    return combine(
        compare(
            "MDBench",
            "Sections 4.1 and 4.2",
            published("mdbench_tests").rename(columns={printed: "value"}),
            {(name,): {"value": tests.loc[name, ours], **entry} for name, entry in known.items()},
            keys=["comparison"],
            row="{comparison}",
            column=column,
            absent=absent,
            definition=definition,
            tolerance=tolerance,
        )
        for printed, (column, ours, definition, tolerance) in cells.items()
    )


def runtimes(scored: pd.DataFrame) -> pd.DataFrame:
    """Table A7 without its machine: seconds of each method over those of PDEFIND on the same data.

    Returns
    -------
    DataFrame : dataset, method, published, ours (ratios to PDEFIND)
    """
    printed = published("mdbench_table_a7")
    seconds = pd.to_numeric(printed["runtime_seconds"]).set_axis(
        pd.MultiIndex.from_frame(printed[["dataset", "method"]])
    )
    mine = _seconds(scored)
    rows = []
    for dataset, name in seconds.dropna().index:
        both = [(source.get((dataset, name)), source.get((dataset, "PDEFIND"))) for source in (seconds, mine)]
        if name != "PDEFIND" and all(a and b for a, b in both):
            rows.append((dataset, name, *(a / b for a, b in both)))
    return pd.DataFrame(rows, columns=["dataset", "method", "published", "ours"])


def growth(scored: pd.DataFrame) -> pd.DataFrame:
    """Time on Heat (Solar) in 2 and 3 dimensions over that in 1, published and ours (NaN where it was not run, or with
    other settings).

    Returns
    -------
    DataFrame
        Index: method; columns: (published, ours) x (2D, 3D).
    """
    printed = published("mdbench_table_a7")
    theirs = dict(
        zip(
            zip(printed["dataset"], printed["method"], strict=True),
            pd.to_numeric(printed["runtime_seconds"]),
            strict=True,
        )
    )
    mine = _seconds(_alike(scored))
    rows = {}
    for name in printed["method"].unique():
        rows[name] = {
            f"{source} {d}": times.get((f"Heat (Solar) {d}", name), np.nan)
            / times.get(("Heat (Solar) 1D", name), np.nan)
            for source, times in (("published", theirs), ("ours", mine))
            for d in ("2D", "3D")
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method").dropna(how="all")


def _seconds(scored: pd.DataFrame) -> dict[tuple[str, str], float]:
    """(printed dataset, printed method) -> our seconds on clean data."""
    names = catalogue("mdbench").drop_duplicates("ours").set_index("ours")["label"]
    clean = scored[np.isinf(scored["snr"]) & scored["method"].isin(names.index)]
    return {(label(row.problem), names[row.method]): row.seconds for row in clean.itertuples()}


def runtime_ledger() -> pd.DataFrame:
    """Table A7 and the runtimes of Table 3: seconds of their machine, which ours cannot be compared with."""
    cells = published("mdbench_table_a7").rename(columns={"runtime_seconds": "value"})
    means = published("mdbench_table3_runtime")
    options = {
        "keys": ["method"],
        "column": "{method}",
        "absent": {"*": ("not comparable", "seconds of another machine; the notebook compares ratios")},
        "definition": "wall time of the search",
        "tolerance": "none",
    }
    return combine(
        [
            compare("MDBench", "Table A7", cells, {}, row="{dataset}", **options),
            compare("MDBench", "Table 3, run time", means, {}, row="{statistic}, {unit}", **options),
        ]
    )


def portraits(ids):
    """Phase portraits of ODE systems (state against time in one dimension), noisy points over the clean curve."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(3.0 * len(ids), 2.4))
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
    return figure


def fields(ids):
    """Space-time pictures of the first state: x against t, through the middle of other axes."""
    import matplotlib.pyplot as plt

    with style():
        figure, axes = plt.subplots(1, len(ids), figsize=(3.0 * len(ids), 2.4))
        for ax, id in zip(np.atleast_1d(axes), ids, strict=True):
            samples = problem(id).samples()
            u = samples.u[..., 0]
            while u.ndim > 2:
                u = u[:, u.shape[1] // 2]
            x = next(iter(samples.axes.values()))
            mesh = ax.pcolormesh(samples.t, x, u, shading="auto", rasterized=True)
            figure.colorbar(mesh, ax=ax, label="u")
            ax.set(title=label(id), xlabel="t", ylabel="x")
            ax.grid(False)
    return figure


def decibels(level: float) -> str:
    return "clean" if np.isinf(level) else f"{level:g} dB"


def boxes(scored: pd.DataFrame):
    """Figure 2: error (log) and complexity (log) per method and noise level."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr"].unique(), reverse=True)
    names = [name for name in order(scored["method"]) if name not in ("oracle", "mean", "zero")]
    shades = 1 - 0.75 * np.arange(len(levels)) / max(len(levels), 1)
    with style():
        figure, axes = plt.subplots(
            1, 2, figsize=(7, 0.8 + 0.18 * len(names) * (len(levels) + 1)), sharey=True
        )
        for ax, score, title in zip(
            axes, ("nmse_power", "complexity_mdbench"), ("NMSE", "complexity"), strict=True
        ):
            for i, name in enumerate(names):
                for j, level in enumerate(levels):
                    values = scored[(scored["method"] == name) & (scored["snr"] == level)][score]
                    values = values[np.isfinite(values) & (values > 0)]
                    at = i * (len(levels) + 1) + j
                    faces = {"facecolor": colour(name), "alpha": shades[j]}
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
        keys = [plt.Rectangle((0, 0), 1, 1, facecolor="black", alpha=shade) for shade in shades]
        figure.legend(
            keys, [decibels(level) for level in levels], loc="outside lower center", ncols=len(levels)
        )
    return figure


def strips(scored: pd.DataFrame):
    """Figures A12 to A15: error and complexity on every problem, a row per method, coloured by noise."""
    import matplotlib.pyplot as plt

    levels = sorted(scored["snr"].unique(), reverse=True)
    names = [name for name in order(scored["method"]) if name not in ("oracle", "mean", "zero")]
    ids = list(dict.fromkeys(scored["problem"]))
    place = {id: i + 1 for i, id in enumerate(ids)}
    with style():
        figure, axes = plt.subplots(
            len(names), 2, figsize=(9, 0.9 * len(names) + 1.2), sharex=True, sharey="col", squeeze=False
        )
        shades = plt.get_cmap("magma")(np.linspace(0.1, 0.85, len(levels)))
        for row, name in zip(axes, names, strict=True):
            for ax, score in zip(row, ("nmse_power", "complexity_mdbench"), strict=True):
                for level, shade in zip(levels, shades, strict=True):
                    part = scored[(scored["method"] == name) & (scored["snr"] == level)]
                    part = part[np.isfinite(part[score]) & (part[score] > 0)]
                    ax.plot(
                        part["problem"].map(place),
                        part[score].clip(1e-12, 1e12),
                        ".",
                        c=shade,
                        ms=4,
                        label=decibels(level),
                    )
                ax.set_yscale("log")
            row[0].set_ylabel(name)
        for ax, title in zip(axes[0], ("NMSE", "complexity"), strict=True):
            ax.set_title(title)
        for ax in axes[-1]:
            if len(ids) > 20:
                ax.set_xlabel("number of the system")
            else:
                ax.set_xticks(range(1, len(ids) + 1), [label(id) for id in ids], rotation=45, ha="right")
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=len(levels))
    return figure


def by_dimension(scored: pd.DataFrame) -> pd.DataFrame:
    """Figure A11 without its machine: median seconds of a search over those of the same method in one dimension."""
    searched = scored[~scored["method"].isin(("oracle", "mean", "zero"))]
    wide = searched.groupby(["method", "subset"])["seconds"].median().unstack()
    return wide.div(wide["1"], axis=0).loc[order(wide.index)]


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


# Claims


def claims(odes: pd.DataFrame, pdes: pd.DataFrame, tests: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Verdict and finding for each claim of MDBench.

    Parameters
    ----------
    odes, pdes : from `run`
    tests : from `published_tests`
    """
    results = {row["claim"]: _test_claim(row) for _, row in tests.iterrows()}
    results["MD-01"] = _lowest(odes, pdes)
    results["MD-02"] = _robust(odes, pdes)
    results["MD-08"] = "untestable here", _absent(odes, ["ODEFormer"])
    results["MD-09"] = _growing(odes, pdes)
    results["MD-10"] = _sensitive(odes, pdes)
    results["MD-11"] = _none_found(odes)
    results["MD-12"] = _variables(pdes)
    results["MD-13"] = _heat_error(pdes)
    results["MD-14"] = _heat_time(pdes)
    results["MD-15"] = _hidden(pdes)
    return results


def _kind(scored: pd.DataFrame) -> pd.Series:
    kinds = dict.fromkeys(LINEAR, "linear") | dict.fromkeys(GENETIC, "genetic")
    return scored["method"].map(kinds)


def _test_claim(row) -> tuple[str, str]:
    if not pd.isna(row.get("reason", np.nan)):
        counts = f"one-sided {row['one_sided']}, two-sided {row['two_sided']}, of {row['maximum']}"
        return "untestable here", f"{row['reason']}; pairs that the published W and p allow: {counts}"
    if not row["n_pairs"]:
        return "untestable here", "no pair of finite errors in this profile"
    finding = (
        f"{row['n_pairs']:.0f} pairs, {row['n_zeros']:.0f} equal: W {row['W_claim']:g} as claimed, "
        f"{row['W_against']:g} against, one-sided p {row['p_one_sided']:.1g}, effect {-row['effect']:+.2f}; "
        f"the published W allows {row['one_sided']} pairs"
    )
    verdict = "holds" if row["p_one_sided"] < 0.05 else "mixed" if row["effect"] < 0 else "fails"
    return verdict, finding


def _medians(scored: pd.DataFrame, score: str) -> dict[tuple[str, str], float]:
    """(kind, 'clean' or 'noisy') -> median score over cells; NaN where there is none."""
    level = np.where(np.isinf(scored["snr"]), "clean", "noisy")
    found = scored.groupby([_kind(scored), level])[score].median()
    return {(k, n): found.get((k, n), np.nan) for k in ("linear", "genetic") for n in ("clean", "noisy")}


def _lowest(odes, pdes):
    o, p = _medians(odes, "nmse_power"), _medians(pdes, "nmse_power")
    points = [p["linear", n] < p["genetic", n] for n in ("clean", "noisy")]
    points += [o["genetic", n] < o["linear", n] for n in ("clean", "noisy")]
    shown = [
        f"{title} {n}: {table['linear', n]:.2g} against {table['genetic', n]:.2g}"
        for title, table in (("PDEs", p), ("ODEs", o))
        for n in ("clean", "noisy")
    ]
    return claim_verdict(points), "median NMSE, linear against genetic programming. " + "; ".join(shown)


def _ratios(scored: pd.DataFrame, level: float | None = None) -> pd.DataFrame:
    """log10 of the error with noise over the clean one, per (problem, method, level)."""
    wide = scored.pivot_table(index=["problem", "method"], columns="snr", values="nmse_power")
    wide = wide.drop(columns=[c for c in wide if level not in (None, c) and np.isfinite(c)])
    if np.inf not in wide or wide.shape[1] < 2:
        return pd.DataFrame({"problem": [], "method": [], "ratio": []})
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(wide.drop(columns=np.inf).div(wide[np.inf], axis=0))
    tidy = logs.replace([np.inf, -np.inf], np.nan).stack().dropna().rename("ratio")
    return tidy.reset_index()


def _robust(odes, pdes):
    points, shown = [], []
    for title, scored in (("ODEs", odes), ("PDEs", pdes)):
        ratios = _ratios(scored)
        by = ratios.groupby(_kind(ratios))["ratio"].median().reindex(["linear", "genetic"])
        points.append(by["linear"] < by["genetic"])
        shown.append(f"{title} {by['linear']:+.2f} against {by['genetic']:+.2f}")
    text = "median log10 of the error with noise over the clean one, linear against genetic programming: "
    return claim_verdict(points), text + "; ".join(shown)


def _growing(odes, pdes):
    points, shown = [], []
    for title, scored in (("ODEs", odes), ("PDEs", pdes)):
        worst = scored["snr"].min()
        wide = scored.pivot_table(index=["problem", "method"], columns="snr", values="complexity_mdbench")
        change = (wide[worst] - wide[np.inf]).dropna().rename("change").reset_index()
        by = change.groupby(_kind(change))["change"].mean().reindex(["linear", "genetic"])
        points += [by["linear"] < 0, by["genetic"] > 0]
        shown.append(f"{title}, {worst:g} dB: linear {by['linear']:+.1f} nodes, genetic {by['genetic']:+.1f}")
    return claim_verdict(points), "mean change of complexity from clean. " + "; ".join(shown)


def _sensitive(odes, pdes):
    six = _ratios(pdes[pdes["problem"].isin(SIX)], 40.0)
    both = {"PDEs": six[_kind(six).notna()]["ratio"]}
    all_odes = _ratios(odes, 40.0)
    both["ODEs"] = all_odes[_kind(all_odes).notna()]["ratio"]
    if not all(len(ratio) for ratio in both.values()):
        return "untestable here", "needs 40 dB for both kinds of systems"
    shown = [
        f"{k} {r.mean():.2f} ± {r.std():.2f} ({np.log(10) * r.mean():.2f} in base e), {len(r)} pairs"
        for k, r in both.items()
    ]
    text = "log10 of the error at 40 dB over the clean one: "
    return claim_verdict([both["PDEs"].mean() > both["ODEs"].mean()]), text + "; ".join(shown)


def _none_found(odes):
    clean = odes[np.isinf(odes["snr"]) & _kind(odes).notna()]
    counts = clean.groupby("method")["identified"].agg(["sum", "size"])
    shown = ", ".join(f"{m} {row['sum']:.0f} of {row['size']:.0f}" for m, row in counts.iterrows())
    return "untestable here", f"others identify {shown}; {_absent(odes, ['EQL', 'End2end'])}"


def _variables(pdes):
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna()]
    single = clean["problem"].map(lambda id: len(problem(id).outputs) == 1)
    counts = clean.groupby(single)["identified"].agg(["sum", "size"]).reindex([True, False], fill_value=0)
    if not counts["size"].all():
        return "untestable here", "needs systems with one and with several variables"
    one, many = (f"{row['sum']:.0f} of {row['size']:.0f} cells" for _, row in counts.iterrows())
    rate = counts["sum"] / counts["size"]
    return claim_verdict([rate[True] > rate[False]]), f"one variable {one}, several variables {many}"


def _heats(pdes, value: str) -> pd.DataFrame:
    answered = np.isfinite(pdes["nmse_power"])
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna() & answered]
    wide = clean.pivot_table(index="method", columns="problem", values=value)
    wide = wide.reindex(columns=[f"pdes/heat_{d}d" for d in (1, 2, 3)]).set_axis(["1D", "2D", "3D"], axis=1)
    return wide[wide["1D"].notna() & wide[["2D", "3D"]].notna().any(axis=1)]


def _alike(pdes) -> pd.DataFrame:
    """Without the runs of a method whose settings are not those that it has on Heat (Solar) 1D."""
    line = pdes[pdes["problem"] == "pdes/heat_1d"].drop_duplicates("method").set_index("method")["settings"]
    return pdes[pdes["settings"] == pdes["method"].map(line)]


def _heat_error(pdes):
    wide = _heats(pdes, "nmse_power")
    if wide.empty:
        return "untestable here", "needs Heat (Solar) in 2D or 3D, which this profile leaves out"
    grows = [row.dropna().is_monotonic_increasing for _, row in wide.iterrows()]
    shown = "; ".join(
        f"{m} " + ", ".join(f"{d} {v:.1g}" for d, v in row.dropna().items()) for m, row in wide.iterrows()
    )
    return claim_verdict(grows), f"error grows for {sum(grows)} of {len(grows)} methods: {shown}"


def _heat_time(pdes):
    wide = _heats(_alike(pdes), "seconds")
    kinds = {
        k: wide[[m in names for m in wide.index]] for k, names in (("linear", LINEAR), ("genetic", GENETIC))
    }
    if any(part.empty for part in kinds.values()):
        return (
            "untestable here",
            "needs Heat (Solar) in 2D or 3D, with the library of 1D, for both kinds of methods",
        )
    ratio = {k: part[["2D", "3D"]].div(part["1D"], axis=0).median() for k, part in kinds.items()}
    dims = [d for d in ("2D", "3D") if all(np.isfinite(r[d]) for r in ratio.values())]
    shown = "; ".join(
        f"{d} linear {ratio['linear'][d]:.0f}x, genetic {ratio['genetic'][d]:.0f}x" for d in dims
    )
    return (
        claim_verdict(ratio["linear"][d] > ratio["genetic"][d] for d in dims),
        f"median time over that in 1D: {shown}; Operon sees a draw of the rows here, so its time cannot grow",
    )


def _hidden(pdes):
    clean = pdes[np.isinf(pdes["snr"]) & _kind(pdes).notna()]
    forced = clean[clean["problem"].isin(["pdes/laser", "pdes/rd_cylinder"])]
    low = clean[(clean["nmse_power"] <= 1e-2) & (clean["identified"] == 0)]
    channel = problem("pdes/ns_channel", split="space", stencil="direct")
    law, truth = (
        scores.score(channel, answer)["nmse_power"]
        for answer in ({"u0": "8 + u0_yy", "u1": "0"}, dict(channel.truth))
    )
    laser = forced.loc[forced["problem"] == "pdes/laser", "nmse_power"]
    text = (
        f"{len(low)} of {len(clean)} cells have NMSE up to 0.01 without the equations; none of {len(forced)} "
        f"forced cells is found, least error on Heat (Laser) {laser.min():.2g}; but 8 + u_yy on NS (Channel), "
        f"called wrong, scores {law:.1g} where the full equations score {truth:.1g}"
    )
    if forced.empty:
        return "untestable here", "needs Heat (Laser) or RD (Cylinder), which this profile leaves out"
    return claim_verdict([not forced["identified"].any(), len(low) > 0, law > truth]), text

"""The studies of ordinary and partial differential equations: their runs, tables and ledgers."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from ... import runs
from ...methods import method
from ...params import read, root
from ...problems import problem, problems
from ...problems.pdes import coarser
from ...report.ledger import combine, compare
from ...report.papers import catalogue, published
from ...report.plots import order
from ...report.statistics import paired_wilcoxon
from ...report.tables import CONTROLS
from ...runs import scoring as scores

LINEAR = ("sindy", "esindy", "pdefind", "bayesian", "wsindy", "ewsindy")  # of the paper; sindy_cross is ours
GENETIC = ("gplearn", "operon", "pysr")
EQUAL = 1e-9  # relative difference of two scores of the same answer, found by two ways
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
    DataFrame : scores with ``snr`` (inf for clean), ``solution``, ``seconds`` and ``complexity_own``, the size that the
        method itself states. Of a generic method's candidates that of highest fitness counts, as published. Methods
        that are not installed here have no rows, those that gave no answer have the worst scores
    """
    levels = [None if level == "clean" else level for level in params.levels]
    at = [problem(id, snr=level, choice="fitness", **options) for level in levels for id in ids]
    records = runs.grid(at, solvers, seeds=params.seeds, budget=params.budget, store=params.store)
    scored = scores.table(records[records["status"] != "unavailable"], at, store=params.store)
    snr = {p.noise: np.inf if p.snr is None else float(p.snr) for p in at}
    extra = records.loc[scored.index, ["solution", "seconds", "complexity"]]
    return (
        scored.join(extra.rename(columns={"complexity": "complexity_own"}))
        .assign(snr=scored["noise"].map(snr))
        .reset_index(drop=True)
    )


def run_fields(params) -> pd.DataFrame:
    """`run` on partial differential equations, linear and generic methods each on their published test split.

    Systems in ``params.reduced`` are simulated on their coarser grid if they have one, and linear methods search
    less there (``params.narrow``). The column ``reduced`` marks what was found on a coarser grid.
    """
    space = {"split": "space", "stencil": "direct", "rows": params.rows}
    generic = [method(name, **params.settings.get(name, {})) for name in params.generic]
    fine = params.systems or [id for id in problems("pdes") if id not in params.reduced]
    parts = []
    small = [id for id in params.reduced if id in coarser()]
    rest = [id for id in params.reduced if id not in small]
    kinds = (fine, {}, {}), (rest, params.narrow, {}), (small, params.narrow, {"reduced": True})
    for ids, narrow, options in kinds:
        if ids:
            both = (run(ids, solvers(params, narrow), params, **options), run(ids, generic, params, **space, **options))
            parts += [part.assign(reduced=bool(options)) for part in both]
    return pd.concat(parts, ignore_index=True)


def sister(params, notebook: str) -> pd.DataFrame:
    """Scores of another study of this kind in the same profile, from its store as far as they are there."""
    other = read(root() / "params" / f"{notebook}.yaml", params.profile)
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
    complexity (the paper rounds the error to a power of ten), counted by each method's published rule: nodes of the
    SymPy expression for linear methods, what the package itself states for genetic programming.

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
            theirs = _cell(cell["status"] == "identified", cell["nmse_exponent"], cell["complexity"], cell["status"])
            finite = np.isfinite(row.nmse_power) and row.nmse_power > 0
            power = str(round(np.log10(row.nmse_power))) if finite else ""
            size = row.complexity_own if ours in GENETIC else row.complexity_mdbench
            mine = _cell(row.identified == 1, power, f"{size:.0f}", "failed" if not finite else "")
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
    coarse : datasets with a small library or on a coarser grid, which cannot be compared
    """
    absent = catalogue("mdbench").set_index("label")["reason"].to_dict()
    ours = table.set_index(["dataset", "method"])
    parts = []
    for printed, file in names.items():
        rows = published(file)
        rows = rows.assign(
            value=[_cell(r.status == "identified", r.nmse_exponent, r.complexity, r.status) for r in rows.itertuples()]
        )
        measured = {
            (m, d): {
                "value": cell["ours"],
                "low": np.nan,
                "high": np.nan,
                "verdict": "not comparable" if d in coarse else "reproduced" if cell["same"] else "differs",
                "reason": "with a small library or on a coarser grid in this profile" if d in coarse else "",
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


def compared(scored: pd.DataFrame, lower: str, higher: str, score: str, levels, log: bool = False) -> pd.Series:
    """A signed-rank test over (problem, noise) cells in which both methods have a finite value.

    Parameters
    ----------
    lower, higher : the method that is said to have the lower score, and the other
    log : rank differences of logarithms, as the paper does for errors on ODEs

    Returns
    -------
    Series : n_pairs, n_zeros (pairs that are equal but for rounding, dropped), W_claim and W_against (sums of ranks of
        the pairs that go as claimed and of the others: a two-sided call reports the smaller, a one-sided call one of
        the two), p_one_sided that `lower` is lower, p_two_sided, effect (positive where `lower` is larger)
    """
    wide = scored[scored["snr"].isin(levels)].pivot_table(index=["problem", "snr"], columns="method", values=score)
    pair = wide.reindex(columns=[lower, higher]).astype(float)
    with np.errstate(divide="ignore"):
        pair = np.log10(pair) if log else pair
    pair = pair.replace([np.inf, -np.inf], np.nan).dropna()
    equal = np.isclose(pair[lower], pair[higher], rtol=EQUAL, atol=0)
    pair[higher] = pair[higher].where(~equal, pair[lower])
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
        if reason := missing(scored, (test.lower, test.higher)):
            row["reason"] = reason
        else:
            row |= compared(scored, *names, test.score, test.levels, log="log" in line.quantity).to_dict()
        rows[line.comparison] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("comparison")


def missing(scored: pd.DataFrame, labels) -> str:
    """Why methods have no scores, or nothing."""
    known = catalogue("mdbench").drop_duplicates("label").set_index("label")
    names = [label for label in labels if known.loc[label, "ours"] not in set(scored["method"])]
    return "; ".join(f"{label}: {known.loc[label, 'reason'] or 'not in this profile'}" for label in names)


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


def alike(pdes) -> pd.DataFrame:
    """Without the runs of a method whose settings are not those that it has on Heat (Solar) 1D."""
    line = pdes[pdes["problem"] == "pdes/heat_1d"].drop_duplicates("method").set_index("method")["settings"]
    return pdes[pdes["settings"] == pdes["method"].map(line)]


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
    mine = _seconds(alike(scored))
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


def searched(scored: pd.DataFrame) -> pd.DataFrame:
    """Without the controls, which search nothing."""
    return scored[~scored["method"].isin(CONTROLS)]


def by_dimension(scored: pd.DataFrame) -> pd.DataFrame:
    """Median seconds of a search over those of the same method on systems of one state."""
    wide = searched(scored).groupby(["method", "subset"])["seconds"].median().unstack()
    return wide.div(wide["1"], axis=0).loc[order(wide.index)]


def by_method(scored: pd.DataFrame, base: str = "sindy") -> pd.DataFrame:
    """Figure A11 without its machine: seconds of each method over those of `base`, geometric mean over systems.

    Returns
    -------
    DataFrame
        Index: method; columns: mean over the noise levels, as in the figure, with low and high of its 95 % interval
        (Student's t; NaN for one level).
    """
    wide = np.log(searched(scored).pivot_table(index=["snr", "problem"], columns="method", values="seconds"))
    levels = wide.sub(wide[base], axis=0).groupby("snr").mean()
    half = levels.std() / np.sqrt(levels.count()) * student.ppf(0.975, levels.count() - 1)
    found = {"mean": levels.mean(), "low": levels.mean() - half, "high": levels.mean() + half}
    return np.exp(pd.DataFrame(found)).loc[order(levels.columns)]


PANELS = {
    "2 (a), A10 (a)": ("SINDy", "ESINDy", "PySR", "Operon", "EQL", "uDSR", "ODEFormer", "End2end"),
    "A12": ("SINDy", "ESINDy", "PySR", "Operon"),
    "A13": ("EQL", "uDSR", "ODEFormer", "End2end"),
    "2 (b), A10 (b)": ("PDEFIND", "Bayesian", "WSINDy", "EWSINDy", "DeepMoD", "PySR", "Operon", "uDSR"),
    "A14": ("PDEFIND", "Bayesian", "WSINDy", "EWSINDy"),
    "A15": ("DeepMoD", "PySR", "Operon", "uDSR"),
}


def panels(scored: pd.DataFrame, figures) -> str:
    """Published figures, one line each: which of their methods are in ours, and why the others are missing."""
    ours = catalogue("mdbench").drop_duplicates("label").set_index("label")["ours"]
    here = set(scored["method"])
    lines = []
    for figure in figures:
        shown = [label for label in PANELS[figure] if ours[label] in here]
        gone = [label for label in PANELS[figure] if ours[label] not in here]
        lines.append(f"Figure {figure}: {', '.join(shown) or 'none'} | missing: {missing(scored, gone) or 'none'}")
    return "\n".join(lines)


def floors(names, views=(("time", "shared"), ("space", "direct"), ("space", "repeated"))) -> pd.DataFrame:
    """Error of the true equation under each test split and stencil: what no honest method gets below."""
    rows = {}
    for name in names:
        loaded = problem(name)
        truth = {**dict.fromkeys(loaded.states, "0"), **loaded.truth}
        rows[loaded.title] = {
            f"{split}, {stencil}": scores.score(dataclasses.replace(loaded, split=split, stencil=stencil), truth)[
                "nmse_power"
            ]
            for split, stencil in views
        }
    return pd.DataFrame(rows).T

"""How often 95 % intervals of constants hold the true ones: 504 simulated fits (``make intervals``).

Stated before the first run: three laws (chosen from four after a look at one draw of each, to see what a fit costs),
three levels of noise, 56 seeds of each, 100 rows, the default method with 30,000 evaluations. A form is *right* if its
constants, fitted to the law without noise, leave less than a millionth of the law's spread, and if it has as many
constants as the law; the constants found by that fit are then the true ones of this form, however it is written
(exp(a x + b) for c exp(a x)). Coverage is counted over constants of right forms that have an interval. It should be
between 90 and 99 % in all.

The first run was ended by the clock after 195 fits: 181 of 192 intervals, 94.3 %, held the constant, and the third law
never had a right form, as a x/(b x + c) has a constant too many (the column *can be the law* was added on seeing that,
after 149 fits). Then factors that rows do not determine were left out, and few rows decided by description length
(`rediscover.estimators.choice`, rule 7). The second run, by that code, was ended after 167 fits: 233 of 248, 94.0 %.
What is kept is the third, all 504 fits by one version; in between, classic curves were held to their budget. Neither
run before it changed what is counted or the bar.

As a check, the fits of the first `CHECKED` seeds that are right get percentile intervals from 200 resamples of their
rows with the form held: what is compared is coverage, and the width of one over that of the other.
"""

import csv
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from rediscover.estimators import EquationRegressor
from rediscover.expressions import Expression, parse, refit
from rediscover.problems import generator
from rediscover.report.pages import put

import numpy as np
import pandas as pd

# law -> range of each input; x0, x1, ... in order
LAWS = {
    "0.5*x0*x1**2 + 9.81*x0*x2": ((1, 5), (1, 5), (0, 3)),
    "3.2*exp(-0.7*x0)": ((0, 5),),
    "2.5*x0/(0.8 + x0)": ((0.1, 5),),
}
CONSTANTS = 2  # of each law; the exponent 2 is none
NOISE = (0.01, 0.03, 0.1)  # normal, relative to the spread of the law
SEEDS, ROWS, EVALUATIONS = 56, 100, 30_000
RIGHT = 1e-6
CHECKED, RESAMPLES = 3, 200
BAR = (0.90, 0.99)
FITS = Path(__file__).with_suffix(".csv")
PAGE, MARK = "docs/own-data.md", "<!--coverage of intervals-->"


def fits(done: set[tuple[str, float, int]]) -> Iterator[dict[str, Any]]:
    """What each fit gave, seed by seed, but for those that are done."""
    for seed, (law, noise) in product(range(SEEDS), product(LAWS, NOISE)):
        if (law, noise, seed) not in done:
            yield {"law": law, "noise": noise, "seed": seed, **one(law, noise, seed)}


def one(law: str, noise: float, seed: int) -> dict[str, Any]:
    """A fit: its form, whether it is right, and how many of its intervals hold the true constants."""
    rng = generator(seed, law, f"{noise:g}")
    columns = {f"x{i}": rng.uniform(*ends, ROWS) for i, ends in enumerate(LAWS[law])}
    exact = parse(law)(columns)
    y = exact + noise * exact.std() * rng.normal(size=ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no clear equation, or noise: counted as what they are
        found = EquationRegressor(max_evaluations=EVALUATIONS, random_state=seed).fit(
            np.column_stack(list(columns.values())), y
        )
    table = found.constants_
    letters = dict(zip(table["constant"], table["value"].map(float), strict=True))
    form = parse(found.skeleton_).substitute(letters)
    true = refit(form, columns, exact, starts=1)
    off = np.sqrt(np.mean((true(columns) - exact) ** 2)) / exact.std()
    holds = bool(off < RIGHT)
    row = {"form": found.skeleton_, "clear": found.clear_, "holds": holds, "right": holds and len(table) == CONSTANTS}
    row |= {"intervals": 0, "inside": 0, "resampled": 0, "inside_resampled": 0, "width": ""}
    if row["right"]:
        known = table["standard_error"].notna().to_numpy()
        values = np.array(true.constants)[known]
        low, high = table["low"].to_numpy()[known], table["high"].to_numpy()[known]
        row |= {"intervals": int(known.sum()), "inside": int(((low <= values) & (values <= high)).sum())}
        if seed < CHECKED:
            ends = resampled(form, columns, y, rng)[:, known]
            row |= {"resampled": len(values), "width": float(np.median((ends[1] - ends[0]) / (high - low)))}
            row["inside_resampled"] = int(((ends[0] <= values) & (values <= ends[1])).sum())
    return row


def resampled(form: Expression, columns: dict[str, np.ndarray], y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ends of percentile intervals of a form's constants, shape (2, n_constants)."""
    found = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(y), len(y))
        found.append(refit(form, {name: x[rows] for name, x in columns.items()}, y[rows], starts=1).constants)
    return np.percentile(found, [2.5, 97.5], axis=0)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage of each law and noise, and of all, as text."""
    rows = []
    groups = [*table.groupby(["law", "noise"], sort=False), (("all", ""), table)]
    for (law, noise), group in groups:
        counts = group[["intervals", "inside", "resampled", "inside_resampled"]].sum()
        widths = pd.to_numeric(group["width"]).dropna()
        rows.append(
            {
                "law": f"`{law}`" if noise else "**all**",
                "noise": f"{noise:.0%}" if noise else "",
                "fits": f"{len(group)}",
                **{
                    name: share(group[column].sum(), len(group))
                    for name, column in (("clear", "clear"), ("can be the law", "holds"), ("right form", "right"))
                },
                "clear ones that are right": share(group.loc[group["clear"], "right"].sum(), group["clear"].sum()),
                "intervals": f"{counts['intervals']}",
                "hold the constant": share(counts["inside"], counts["intervals"]),
                "by resampling": share(counts["inside_resampled"], counts["resampled"]),
                "its width over the other": f"{widths.median():.2f}" if len(widths) else "",
            }
        )
    return pd.DataFrame(rows)


def share(count: int, of: int) -> str:
    """A count and its share, such as 106 (94.6%)."""
    return f"{count} ({100 * count / of:.3g}%)" if of else ""


def main() -> None:
    """Do the fits that are missing, and write the table into the page."""
    done = (
        set(pd.read_csv(FITS)[["law", "noise", "seed"]].itertuples(index=False, name=None)) if FITS.exists() else set()
    )
    for row in fits(done):
        new = not FITS.exists()
        with FITS.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
    table = pd.read_csv(FITS)
    print(summary(table).to_string(index=False))
    put(summary(table), PAGE, MARK)
    covered = table["inside"].sum() / table["intervals"].sum()
    verdict = "within" if BAR[0] <= covered <= BAR[1] else "outside of"
    print(f"{covered:.1%} of intervals hold the constant; {verdict} {BAR[0]:.0%} to {BAR[1]:.0%}")


if __name__ == "__main__":
    main()

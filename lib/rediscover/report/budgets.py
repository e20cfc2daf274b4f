"""How much of a comparison is the budget: the same methods with a thousand to a million evaluations.

A study plans these runs beside its others, and writes what became of each as ``tables/*_budgets.csv``.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..problems import Problem
from ..runs import grid
from ..runs.recovery import recoveries
from .comparisons import build_methods
from .summaries import interval
from .tables import Output

if TYPE_CHECKING:
    from ..params import Budgeted

EVALUATIONS = " evaluations"  # how the names of these grids end
COLUMNS = "study method evaluations problems seeds recovered low high least most error".split()


def grids(problems: Iterable[Problem], p: "Budgeted") -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid` for each number of evaluations, by names such as ``1000 evaluations``.

    Methods have their own settings, whatever else a study gives them, so that studies can be compared.

    Parameters
    ----------
    problems : regression tables with expressions as truth
    p : Budgeted
    """
    planned, chosen = {}, list(problems)
    for n in sorted({n for counts in p.budgets.values() for n in counts}):
        names = [name for name, counts in p.budgets.items() if n in counts]
        work = p.work | {"seeds": p.budget_seeds, "evaluations": dict.fromkeys(names, n)}
        methods = build_methods(names, max_rows=p.max_rows)
        planned[f"{n}{EVALUATIONS}"] = {"problems": chosen, "methods": methods, **work}
    return planned


def reached(planned: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What every run of the `grids` among those of a study has reached.

    Parameters
    ----------
    planned : name -> arguments of `runs.grid`
        Others than those of `grids` are left out; so are methods that are not installed here.

    Returns
    -------
    DataFrame
        Columns of `recovery.recoveries`, and evaluations.
    """
    parts = []
    for arguments in (planned[name] for name in planned if name.endswith(EVALUATIONS)):
        ran = grid(**arguments)
        ran = ran[ran["status"] != "unavailable"]
        spent = ran["method"].map(arguments["evaluations"]).to_numpy()
        found = recoveries(ran, arguments["problems"], store=arguments["store"])
        parts.append(found.assign(evaluations=spent))
    return pd.concat(parts, ignore_index=True)


def effort(*planned: Mapping[str, Any]) -> pd.DataFrame:
    """Seeds and evaluations of methods, for `Output.table`.

    Parameters
    ----------
    planned : arguments of `runs.grid`

    Returns
    -------
    DataFrame
        Indexed by method: seeds, and the evaluations that a search may use for an output (missing for other methods).

    Raises
    ------
    ValueError
        If a method is planned with other seeds or evaluations a second time: no row could state both.
    """
    rows: dict[str, tuple] = {}
    for one in planned:
        for method in one["methods"]:
            allowed = one.get("evaluations", {}).get(method.name, one["budget"].evaluations)
            used = len(set(one["seeds"])), allowed if method.searches else None
            if rows.setdefault(method.name, used) != used:
                raise ValueError(
                    f"{method.name} is planned with {rows[method.name]} and with {used} seeds, evaluations"
                )
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["seeds", "evaluations"], dtype="Int64")
    return table.rename_axis("method")


def by_budget(runs: pd.DataFrame) -> pd.DataFrame:
    """What methods reach with their evaluations, on the problems of each study.

    Parameters
    ----------
    runs : DataFrame
        Of one study or several, from `reached`.

    Returns
    -------
    DataFrame
        A row for each study, method and number of evaluations: problems, seeds; recovered, low, high: the mean share,
        with a bootstrap interval over problems, whose seeds are averaged, and NaN where no rule says what is recovered;
        least, most: of the share, over seeds; error: the median over problems and seeds.
    """
    rows = []
    keys = COLUMNS[:3]
    for key, part in runs.groupby(keys):
        known = part.dropna(subset="recovered")
        share = interval(known.groupby("problem", sort=False)["recovered"].mean())
        of_seeds = known.groupby("seed")["recovered"].mean()
        row = dict(zip(keys, key, strict=True)) | {"problems": share["n"], "seeds": len(of_seeds)}
        row |= {"recovered": share["value"], "low": share["low"], "high": share["high"]}
        row |= {"least": of_seeds.min(), "most": of_seeds.max()}
        rows.append(row | {"error": interval(part["nmse_per_output"].fillna(np.inf), np.median)["value"]})
    return pd.DataFrame(rows, columns=COLUMNS)


def told(runs: pd.DataFrame, out: Output, name: str) -> pd.DataFrame:
    """Write the runs of one study as a table and print what they reach.

    Parameters
    ----------
    runs : DataFrame
        From `reached`.
    out : of the notebook
    name : of the table

    Returns
    -------
    DataFrame
        From `by_budget`, without rows if none of the methods is installed here.
    """
    out.runs(runs, name)
    budgets = by_budget(runs)
    if budgets.empty:
        print("none of the methods with several budgets is installed here: see `rediscover methods`")
    else:
        print(budgets[[COLUMNS[1], COLUMNS[2], *COLUMNS[5:]]].to_string(index=False, float_format="{:.2g}".format))
    return budgets

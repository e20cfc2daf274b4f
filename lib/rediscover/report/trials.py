"""Trials: what becomes of cells of the ledger when their runs are made again with other parameters.

Rules: trials.yaml in the folder of a study; results: trials.csv beside it, a row for each cell, with its value for
each seed. A trial that only adds seeds to the setting of the tables, or moves to the paper's own, decides the cell; of
another one the outcome stands in the reason.
"""

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

from ..problems import problem, problems
from ..system.cells import marked, unmarked
from ..system.paths import root
from ..system.studies import FOLDER, of_notebook, studies
from ..system.writing import write_text
from .comparable import caveat
from .ledger import neighbours
from .prediction import interval
from .rules import judge
from .scores import of_seeds

if TYPE_CHECKING:  # params reads this room
    from ..params import Profile

PROFILE = "reference"  # whose cells are tried again
CELL = ["table", "row", "column"]
COLUMNS = ["trial", *CELL, "values", "digits"]
COMPARED = ("reproduced", "differs", "undecided")
OUTCOMES = {"reproduced": "as printed", "differs": "not as printed"}


def rules(study: str) -> dict[str, dict]:
    """Name of a trial -> what it runs; the head of the file says what the keys mean.

    Raises
    ------
    KeyError
        If the study has no trials.
    """
    if not (FOLDER / study / "trials.yaml").exists():
        known = ", ".join(sorted(path.parent.name for path in FOLDER.glob("*/trials.yaml")))
        raise KeyError(f"no trials of {study} (studies that have some: {known})")
    return yaml.safe_load((FOLDER / study / "trials.yaml").read_text(encoding="utf-8"))


def results(study: str) -> Path:
    """Where a study's trials are kept."""
    return FOLDER / study / "trials.csv"


def run(study: str, rule: dict) -> pd.DataFrame:
    """The cells of a trial's methods, measured with its parameters, in the columns `COLUMNS` without trial.

    Executes the study's notebook, which writes to build/explore.

    Raises
    ------
    subprocess.CalledProcessError
        If the notebook fails.
    """
    (notebook,) = studies()[study]["notebooks"]
    given = dict(rule["parameters"])
    for name, subsets in rule.get("subsets", {}).items():
        ids = [id for prefix in studies()[study]["problems"] for id in problems(prefix)]
        given[name] = [id for id in ids if problem(id).subset in subsets]
    target = root() / "build" / "explore" / f"{notebook}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "papermill", f"notebooks/{notebook}.ipynb", str(target), "--cwd", "notebooks"]
    asked = ["-p", "profile", PROFILE, "-y", yaml.safe_dump(given), "--no-progress-bar", "--log-level", "ERROR"]
    subprocess.run([*command, *asked], cwd=root(), check=True)
    ledger = pd.read_csv(target.parent / "tables" / f"{study}_ledger.csv", dtype=str, keep_default_na=False)
    values = ledger["parameters"].map(lambda text: json.loads(text or "{}").get("values"))
    tried = ledger["row"].isin(rule["labels"]) & values.notna()
    tried &= ledger["table"].isin(rule.get("tables", ledger["table"]))
    found = ledger.loc[tried, CELL].assign(values=values[tried].map(json.dumps), digits="")
    return found.reset_index(drop=True)


def explain(ledger: pd.DataFrame, p: "Profile") -> pd.DataFrame:
    """A study's ledger with what the trials gave: verdicts of the cells that they decide, outcomes in the reasons.

    A cell with chance is decided by the trial with the most seeds of those that may decide, of equals by the first; the
    rule is that of the cell. It replaces what the cell's own seeds gave, whichever way that fell. Where a package
    answered the cell, trials of the package come before those of our own code.

    Parameters
    ----------
    ledger : of one notebook, as `ledger.combine` returns it
    p : parameters of that notebook; trials speak of the cells of `PROFILE` as it stands

    Returns
    -------
    DataFrame
        The same rows and columns.
    """
    path = results(of_notebook(p.notebook))
    if p.explored or p.profile != PROFILE or not path.exists():
        return ledger
    known = rules(path.parent.name)
    tried = {cell: part.to_dict("records") for cell, part in _text(path).groupby(CELL, sort=False)}
    rows = ledger.to_dict("records")
    for row, others in zip(rows, neighbours(ledger), strict=True):
        if row["parameters"] and "values" in (own := json.loads(row["parameters"])):
            found = [known[trial["trial"]] | trial for trial in tried.get(tuple(row[name] for name in CELL), [])]
            kept = [trial for trial in found if row["verdict"] in COMPARED or trial.get("whole")]
            row |= _with_trials(row, own, kept, others)
    return pd.DataFrame(rows, columns=ledger.columns).astype(ledger.dtypes)


def _with_trials(row: dict, own: dict, trials: list[dict], others: list[str]) -> dict:
    """What changes in a row of the ledger by its trials, each with its rule and its result."""
    told, deciding, other = [row["reason"]], dict[str, Any](), bool(caveat(row))
    packaged = "own" in own
    known = _counting(trials, packaged)
    by_package = any(trial["decides"] and trial["package"] for trial in known)
    for trial in known:
        values, package, whole = trial["values"], trial["package"], trial["whole"]
        parameters = own | {"values": values, "trial": trial["trial"]}
        found = judge(row["rule"], row["published"], {"parameters": parameters}, others, unlike=other)
        by = " by the package" if package else " by our own code" if packaged or by_package else ""
        asides = ["" if trial["decides"] else trial["why"], trial.get("notes", {}).get(row.get("table"))]
        asides = [f" ({aside})" for aside in asides if aside]
        outcome = OUTCOMES.get(found.verdict, found.verdict)
        told.append(f"with {trial['says']}{by}: {found.note or ', '.join(values)}, {outcome}" + "".join(asides))
        best = 0 if whole and not deciding else len(deciding.get("parameters", own)["values"])
        if trial["decides"] and package == by_package and len(values) > best:
            deciding = {"parameters": parameters, "verdict": found.verdict}
            deciding |= {"others": float(len(others)), "others_passing": float(found.passing)}
    if deciding:
        before = judge(row["rule"], row["published"], {"parameters": own}, others, unlike=other).note
        told[0] = told[0].removesuffix(before).removesuffix("; ")  # no longer what decides
        parameters = deciding["parameters"]
        if "scale" in own:
            deciding["measured"] = interval(parameters)["value"]
        if by_package:
            deciding["kind"] = "rerun"
            if not packaged:  # it was run in full, and the notebook has our own code alone
                parameters["own"], deciding["measured"] = own["values"][0], parameters["values"][0]
                told[0] = f"our own code {parameters['own']} {told[0]}".strip()
        elif packaged:
            deciding |= {"measured": own["own"], "kind": ""}
        deciding |= {"parameters": json.dumps(parameters)} | of_seeds(row["rule"], parameters)
    return deciding | {"reason": "; ".join(filter(None, told))}


def _counting(trials: list[dict], packaged: bool) -> list[dict]:
    """Trials of a cell with their values, without those whose seeds another one has, and more.

    Where the package refused a cell (not `packaged`), only what it ran in full counts.
    """
    defaults = {"package": False, "whole": False}
    known = [defaults | trial | {"values": json.loads(trial["values"])} for trial in trials]
    known = [trial for trial in known if packaged or trial["whole"] or not trial["package"]]
    kept = []
    for trial in known:
        alike = [more["values"] for more in known if more["decides"] and more["package"] == trial["package"]]
        n = len(trial["values"])
        if not (trial["decides"] and any(trial["values"] == more[:n] != more for more in alike)):
            kept.append(trial)
    return kept


def retest(study: str, names: Iterable[str] = (), missing: bool = False) -> Path:
    """Run a study's named trials, by default all, and put their rows in place of those in its trials.csv.

    A study whose trials are no changes of its notebook has a module ``trials`` with ``run(rule, kept)``. Only there
    can the seeds be told that are ``missing``, those that trials.csv lacks; its other values are kept.

    Raises
    ------
    KeyError
        If the study has no trials, or there is no such trial.
    ValueError
        If missing seeds are asked of a study whose trials are changes of its notebook.
    """
    known, path = rules(study), results(study)
    own = importlib.import_module(f"..studies.{study}.trials", __package__) if _has_own(study) else None
    if unknown := sorted(set(names := list(names)) - set(known)):
        raise KeyError(f"{study} has no trial {unknown[0]!r} (known: {', '.join(known)})")
    if missing and not own:
        raise ValueError(f"trials of {study} run its notebook as a whole: leave out --missing")
    for name in names or known:
        kept = _text(path).query("trial == @name") if missing and path.exists() else None
        found = own.run(known[name], kept) if own else run(study, known[name])
        _put(path, found.assign(trial=name), list(known))
    return path


def _has_own(study: str) -> bool:
    return (FOLDER / study / "trials.py").exists()


def _put(path: Path, found: pd.DataFrame, names: list[str]) -> None:
    """Write the rows of one trial in place of those that the file has of it, trials in the order of `names`."""
    found = found[["trial", *found.columns.drop("trial")]]
    parts = [_text(io.StringIO(marked(found).to_csv(index=False)))]
    if path.exists():
        parts.insert(0, _text(path).query("trial != @found['trial'].iloc[0]"))
    whole = pd.concat(parts)
    order = whole["trial"].map(names.index)
    whole = whole.assign(order=order).sort_values("order", kind="stable").drop(columns="order")
    write_text(path, marked(whole).to_csv(index=False))


def _text(source: Path | io.StringIO) -> pd.DataFrame:
    """A table as it is written, so that no digit changes."""
    return unmarked(pd.read_csv(source, dtype=str, keep_default_na=False))

"""A method of one's own: a file to begin with, runs scored by a study's rules, a comparison with what others answered.

Everything is kept in ``build/own/<study>/``: finished runs (``runs.sqlite``), and for each method a table of its
answers with their scores. What others answered is not run again: it comes from records/, or else from tables/.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .. import runs
from ..methods import Candidate, Method, give, method, registry
from ..problems import did_you_mean, problem_of, problems
from ..runs import predictions
from ..studies import asked
from ..system.committed import place
from ..system.studies import measures_of, owner
from ..system.writing import write_text
from . import opponents
from .answers import allowed, answers, class_name, folder, keep, profile_of, scored
from .head_to_head import Comparison, failures
from .sections import cell

__all__ = ["compare", "new", "run", "show"]

TEMPLATE = '''"""A method of my own: edit `search`, then

rediscover run --methods ./{stem}.py:{name} --study surfaces --subset explicit
"""

from dataclasses import dataclass
from typing import ClassVar

from rediscover.methods import Candidate
from rediscover.methods.tables import Tabular

import numpy as np


@dataclass(frozen=True)
class {name}(Tabular):
    """A plane by least squares. Fields of this class would be its settings."""

    name: ClassVar[str] = "{stem}"  # in tables

    def search(self, task, *, budget, rng):
        # One table: task.X has shape (rows, inputs), task.y (rows,); task.inputs and task.output name the columns.
        columns = np.column_stack([np.ones(len(task.y)), task.X])
        constant, *slopes = map(float, np.linalg.lstsq(columns, task.y, rcond=None)[0])
        text = " + ".join([repr(constant), *(f"{{a!r}}*{{x}}" for a, x in zip(slopes, task.inputs, strict=True))])
        # The answer is text in these names; the best of several comes first.
        return [Candidate({{task.output: text}})]
'''


def new(name: str, where: str | Path = ".") -> Path:
    """Write a file with a working method, to be edited.

    Parameters
    ----------
    name : of the method and of the file, such as ``mine``
    where : the folder; by default the current one

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the name cannot be one of a Python module, or a method has it.
    FileExistsError
        If the file is there.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"{name!r} cannot name a method: use small letters, digits and _, beginning with a letter")
    if name in registry():
        raise ValueError(f"a method called {name!r} is here already: choose another name")
    path = Path(where) / f"{name}.py"
    if path.exists():
        raise FileExistsError(f"{path} exists: delete it, or choose another name")
    write_text(path, TEMPLATE.format(stem=name, name=class_name(name)))
    return path


def run(
    methods: str | type | Method | Iterable[Any],
    study: str,
    *,
    subset: str | None = None,
    ids: Sequence[str] = (),
    seeds: Sequence[int] = (),
    profile: str | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Run methods on a study's problems and score their answers as the study does; finished runs are not done again.

    Budget, options of the problems and the choice among candidates are those of the study's notebook, on clean data.

    Parameters
    ----------
    methods : names, references such as ``./mine.py:Mine``, classes or instances, or one of these
    study : prefix of the problems' ids, such as ``surfaces``
    subset : of the problems
    ids : only these problems
    seeds : by default the profile's
    profile : whose budget; by default that of records/, if there are any of the study, or of tables/
    workers, progress : as for `runs.grid`

    Returns
    -------
    DataFrame
        One row for each method, problem and seed: status, solution, size (nodes of its expressions), reused (whether
        the run was on file), and all scores.

    Raises
    ------
    ValueError
        If there is nothing to run.
    """
    listed = [methods] if isinstance(methods, str | type | Method) else list(methods)
    names = list(dict.fromkeys(known(each) for each in listed))
    if not names:
        raise ValueError("no method given: name one such as ./mine.py:Mine")
    chosen = chosen_ids(study, subset, ids)
    folder(study).mkdir(parents=True, exist_ok=True)
    grid = asked(chosen, names, profile or profile_of(study), seeds) | {"store": folder(study) / "runs.sqlite"}
    options = {"store": grid["store"], "workers": workers, "progress": progress}
    predicting = [each for each in grid["methods"] if getattr(_inner(each), "only_predicts", False)]
    writing = [each for each in grid["methods"] if each not in predicting]
    parts = [_predicted(grid | {"methods": predicting}, options)] if predicting else []
    if writing:
        frame = runs.grid(**(grid | {"methods": writing}), workers=workers, progress=progress)
        parts.append(scored(frame, grid["problems"], options))
    frame = pd.concat(parts, ignore_index=True)
    if not (frame["status"] == "ok").any():
        raise RuntimeError(_why_nothing(frame, grid["methods"]))
    most = {name: allowed(grid, name) for name in frame["method"].unique()}
    for part in parts:
        for name, rows in part.groupby("method", sort=False):
            keep(rows.assign(allowed=most[name]), str(name), study)
    return frame


def compare(
    mine: str | type | Method,
    against: str | Iterable[str] = (),
    study: str = "",
    *,
    subset: str | None = None,
    ids: Sequence[str] = (),
    equal_seconds: bool = False,
    **options: Any,
) -> Comparison:
    """Compare a method with others on a study's problems, without running the others.

    Parameters
    ----------
    mine : a reference such as ``./mine.py:Mine``, a class or an instance, which is run where that is not done yet; or
        the name of a method that has been run
    against : names of methods with answers in records/ or tables/, or that were run with `run`; by default the five
        best that are recorded (`opponents.RULE`)
    study, subset, ids : as for `run`
    equal_seconds : whether others are taken at the recorded budget that took as long as mine (`opponents.EQUAL`)
    **options : as for `run`

    Returns
    -------
    Comparison

    Raises
    ------
    LookupError
        If there are no answers of a method, or none that took as long.
    ValueError
        If no study is named, or a method is compared with itself.
    """
    if not study:
        raise ValueError("name the study of the comparison: --study surfaces")
    chosen = chosen_ids(study, subset, ids)
    name = mine if isinstance(mine, str) and ":" not in mine else known(mine)
    others = [against] if isinstance(against, str) else list(dict.fromkeys(against))
    if name in others:
        raise ValueError(f"compare: {name} is compared with itself: name another method")
    if name is not mine:
        run(mine, study, ids=chosen, **options)
    rows = answers(name, study, chosen, own=True)
    last = {"mine": name, "against": others, "study": study, "ids": chosen, "equal_seconds": equal_seconds}
    remarks = [] if others else [opponents.RULE]
    others = others or opponents.best_recorded(study, chosen, name)
    if equal_seconds:
        found, said = opponents.at_equal_seconds(rows, others, study, chosen)
        remarks += [opponents.EQUAL, f"{'; '.join(said)}."]
        rows = rows[rows["problem"].isin(next(iter(found.values()))["problem"])]
    else:
        found = {other: answers(other, study, chosen) for other in others}
    write_text(_last(), json.dumps(last))
    frame = pd.concat([rows, *found.values()], ignore_index=True)
    return Comparison(study, name, frame, measures_of(study)["measures"], tuple(remarks), equal_seconds)


def last() -> Comparison:
    """The comparison that was made last.

    Raises
    ------
    LookupError
        If there was none.
    """
    if not _last().exists():
        raise LookupError("nothing was compared here: `rediscover compare mine operon --study surfaces` does it")
    return compare(**json.loads(_last().read_text()))


def show(what: Any) -> Any:
    """Show a problem or a candidate: in a notebook typeset with a picture, elsewhere as text.

    Parameters
    ----------
    what : Problem or its id, or Candidate
    """
    found = what if isinstance(what, Candidate) else problem_of(what)
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        from IPython.display import display

        display(found)
    else:
        from ..report.pictures import text

        print(text(found))


def chosen_ids(study: str, subset: str | None = None, ids: Sequence[str] = ()) -> list[str]:
    """Ids of a study's problems: all, a subset, or the given ones, which are checked."""
    owner(study)
    known = problems(study, subset)
    if not known:
        raise ValueError(f"{study} has no problems in the subset {subset!r}: leave it out")
    for id in ids:
        if id not in known:
            raise KeyError(f"{id!r} is not among the problems of {study}{did_you_mean(id, known)}")
    return list(ids) or known


def known(given: Any) -> str:
    """The name of a method that is given in whatever way; from now on it can be named."""
    return (method(given) if isinstance(given, str) else give(given)).name


def _inner(each: Any) -> Any:
    while isinstance(getattr(each, "method", None), Method):
        each = each.method
    return each


def overview(rows: pd.DataFrame) -> str:
    """What came out of `run`, in text: the measures of each method by subset, and how runs failed."""
    study = rows["study"].iloc[0]
    found = Comparison(study, rows["method"].iloc[0], rows, measures_of(study)["measures"])
    lines = [found.table.map(cell).reset_index().to_string(index=False)]
    lines += failures(rows)
    for name, part in rows[rows["scoring"].fillna("") != ""].query("status == 'ok'").groupby("method", sort=False):
        lines.append(
            f"{name}: {len(part)} answers could not be scored, such as {part['problem'].iloc[0]}: "
            f"{part['scoring'].iloc[0]}"
        )
    if on_file := int(rows["reused"].sum()):
        lines.append(f"{on_file} of {len(rows)} runs were on file and not done again; their seconds are of then")
    return "\n".join([*lines, f"answers and all scores: {folder(study)}"])


def _last() -> Path:
    return place() / "last.json"


def _why_nothing(rows: pd.DataFrame, methods: list) -> str:
    """Why no run gave an answer, in one sentence."""
    if reasons := [f"{each.name} is unavailable: {reason}" for each in methods if (reason := each.available())]:
        return reasons[0]
    return f"no run gave an answer; {'; '.join(failures(rows))}"


def _predicted(grid: dict, options: dict) -> pd.DataFrame:
    planned = runs.plan(**{name: value for name, value in grid.items() if name != "store"})
    works = [predictions.Predicted(each.problem, _inner(each.method), each.seed, each.budget) for each in planned]
    outcomes = runs.compute(works, works[0].budget, **options)
    about = ("status", "reason", "seconds", "reused")
    rows = [
        run.identity
        | {"solution": None, "size": float("nan"), **{name: outcome[name] for name in about}}
        | outcome.get("result", {})
        for run, outcome in zip(planned, outcomes, strict=True)
    ]
    return pd.DataFrame(rows).assign(scoring="")

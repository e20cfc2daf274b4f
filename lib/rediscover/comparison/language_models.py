"""Methods that ask a language model, on a study's problems: what it will cost, and the runs once that is confirmed.

Each reply is recorded when it comes (``records/<method>/<model>/``), each finished run is stored. So a run that was
stopped resumes, and asks nothing twice.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd

from .. import runs
from ..llm.spending import confirmed, dollars
from ..methods import Budget
from ..methods.endpoint import Endpoint
from ..methods.language_costs import Cost, cost
from ..problems import Problem
from ..runs.selection import Fittest
from ..studies import asked
from .answers import folder, keep, profile_of, scored

SECONDS = 7 * 86400.0  # of a run: it waits for a server, and its samples are what is limited
AGAIN = ("error", "timeout")  # runs that ended so are tried again: the server may have been down


@dataclass(frozen=True)
class Estimate:
    """What runs of one method are expected to take.

    Attributes
    ----------
    method : its name.
    runs : how many: problems and seeds.
    cost : of all of them, if nothing were recorded.
    measured : id of the problem whose prompts were built, with genetic operators in the model's place.
    recorded : replies on these problems that are there already.
    """

    method: str
    runs: int
    cost: Cost
    measured: str
    recorded: int

    def __str__(self) -> str:
        prompt, completion = self.cost.prompt_tokens / 1e6, self.cost.completion_tokens / 1e6
        return (
            f"{self.method}: {self.runs} runs, about {self.cost.requests:,} requests, {prompt:.3g} million prompt and "
            f"{completion:.3g} million completion tokens, {dollars(self.cost.usd, '.2f', 'about ')} "
            f"(by the prompts of {self.measured}); {self.recorded} replies are recorded already: "
            "the same requests cost nothing"
        )


def estimate(method: Endpoint, problems: Sequence[Problem], budget: Budget, seeds: Sequence[int]) -> Estimate:
    """Build the prompts of the first problem's run without a model, and multiply.

    Parameters
    ----------
    method : with its model
    problems, budget, seeds : of the runs

    Raises
    ------
    ValueError
        If the run without a model builds no prompt, as where a constant is the answer.
    """
    first = problems[0]
    front = replace(method, proposer="genetic").solve(first, budget=budget, seed=seeds[0])
    if not front or "requests" not in front[0].notes:
        raise ValueError(f"{method.name} builds no prompt for {first.id}: name another problem first")
    one = cost(method.name, front[0].notes, method.model)
    # Notes of a table's last output stand for all; a system of equations is asked for as a whole.
    outputs = len(first.outputs) if hasattr(method, "max_rows") else 1
    count = len(problems) * len(seeds)
    times = count * outputs
    total = Cost(times * one.requests, times * one.prompt_tokens, times * one.completion_tokens, times * one.usd)
    files = [method.file(problem.id) for problem in problems]
    recorded = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files if file.exists())
    return Estimate(method.name, count, total, first.id, recorded)


def run(
    names: Iterable[str],
    study: str,
    ids: Sequence[str],
    model: str,
    *,
    base_url: str | None = None,
    records: str = "records",
    seeds: Sequence[int] = (),
    profile: str | None = None,
    evaluations: int | None = None,
    workers: int | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    progress: bool = True,
    confirm: Callable[[], bool] = confirmed,
    say: Callable[[str], Any] = partial(print, flush=True),
) -> pd.DataFrame:
    """Run methods with a language model on a study's problems, after saying what it will cost, and score their answers.

    Parameters
    ----------
    names : of methods that ask a language model
    study, ids : problems
    model : name as the server knows it
    base_url : up to and including ``/v1``; by default OPENAI_BASE_URL, else that of OpenAI
    records : folder of the replies
    seeds, profile, workers, progress : as for `own.run`
    evaluations : proposals that a run may ask for (of LaSR, expressions that it may evaluate), not the profile's
    settings : more of the methods', such as max_tokens and timeout of a reply
    confirm : asked before anything is sent
    say : is told the estimates, and where requests go

    Returns
    -------
    DataFrame
        As `own.run` returns it, and keeps it; empty if nothing was confirmed.

    Raises
    ------
    ValueError
        If a method asks no language model.
    RuntimeError
        If a method cannot run, or no run gives an answer; what was recorded stays.
    """
    if base_url:
        os.environ["OPENAI_BASE_URL"] = base_url
    grid = asked(ids, list(names), profile or profile_of(study), seeds)
    if evaluations:
        grid["evaluations"] = {each.name: evaluations for each in grid["methods"]}
    methods = [_asking(each, model=model, records=records, **settings) for each in grid["methods"]]
    endpoints: list[Any] = [each.method if isinstance(each, Fittest) else each for each in methods]
    for each in endpoints:
        if reason := each.available():
            raise RuntimeError(f"{each.name} is unavailable: {reason}")
        budget = replace(grid["budget"], evaluations=grid["evaluations"].get(each.name, grid["budget"].evaluations))
        say(str(estimate(each, grid["problems"], budget, grid["seeds"])))
    for notice in dict.fromkeys(each.notice for each in endpoints):
        if notice:
            say(notice)
    if not confirm():
        say("nothing was sent; answer y, or set YES=1")
        return pd.DataFrame()
    place = folder(study)
    place.mkdir(parents=True, exist_ok=True)
    options = {"store": place / "runs.sqlite", "workers": workers, "progress": progress}
    limits = {"budget": replace(grid["budget"], seconds=SECONDS), "retry": AGAIN}
    frame = runs.grid(**(grid | limits | options | {"methods": methods}))
    if not (frame["status"] == "ok").any():
        row = frame.iloc[0]
        raise RuntimeError(f"{row['method']} on {row['problem']} ended with {row['status']}: {row['reason']}")
    rows = scored(frame, grid["problems"], {"store": options["store"], "workers": workers, "progress": progress})
    for name, part in rows.groupby("method", sort=False):
        keep(part, str(name), study)
    return rows


def _asking(method: Any, **settings: Any) -> Any:
    """A method with a model, also where a choice among its candidates stands around it."""
    if isinstance(method, Fittest):
        return replace(method, method=_asking(method.method, **settings))
    if not isinstance(method, Endpoint):
        raise ValueError(f"{method.name} asks no language model: leave out --model, or {method.name}")
    return replace(method, **settings)

"""What is run for the notebook that asks what a language model adds to its loop."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...methods import Method
from ...methods.endpoint import CONTROLS, Endpoint
from ...problems import Problem, problem, problems
from ...problems.textbook import SUFFIX
from ...report.comparisons import build_methods
from .params import DATA, WhatTheModelAdds, study_of


def grids(p: WhatTheModelAdds) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`: ``surfaces`` and ``systems``, both with more evaluations, ``priced``, ``dose``.

    Last comes ``memory``: laws with their names, which the prompts explain, and the same laws in disguise.
    """
    surfaces = [problem(id, sampler=p.sampler) for id in p.surfaces or problems("surfaces")]
    systems = [problem(id) for id in p.systems or problems("cde")]
    on_systems = {**p.work, "seeds": p.system_seeds, "budget": replace(p.budget, evaluations=p.system_evaluations)}
    more = {**p.work, "seeds": p.seeds[:1], "evaluations": p.more_evaluations}
    planned = {
        "surfaces": {"problems": surfaces, "methods": built(p.methods, p.proposers, p.max_rows), **p.work},
        "systems": {"problems": systems, "methods": built(p.system_methods, p.proposers), **on_systems},
    }
    for where, of, rows in (("surfaces", p.methods, p.max_rows), ("systems", p.system_methods, None)):
        if names := [name for name in of if name in p.more_evaluations]:
            methods = build_methods(names, max_rows=rows)
            planned[f"{where}, more"] = {"problems": planned[where]["problems"], "methods": methods, **more}

    def sampled(samples: int) -> dict[str, Any]:
        """One run with so many samples on each problem."""
        return {**more, "budget": replace(p.budget, evaluations=samples), "evaluations": {}}

    options = DATA | {"surfaces": {"sampler": p.sampler}}
    chosen = [problem(id, **DATA.get(study_of(id), {})) for id in p.priced_problems]
    for name, evaluations in p.priced.items():
        asking = control(name)
        accepted = [each for each in chosen if isinstance(each, asking.accepts)]
        planned[f"priced, {name}"] = {"problems": accepted, "methods": [asking], **sampled(evaluations)}
    for dose in p.dose:
        posed = [problem(id, **options.get(dose.study, {})) for id in dose.problems]
        methods = dosed(dose.method, p, posed, **dose.settings)
        planned[f"dose, {dose.method}, {dose.study}"] = {"problems": posed, "methods": methods, **sampled(dose.samples)}
    laws = [problem(id + end) for id in p.memory_laws for end in ("", SUFFIX)]
    for name, samples in p.memory.items():
        planned[f"memory, {name}"] = {
            "problems": laws,
            "methods": dosed(name, p, laws, describe=True),
            **sampled(samples),
        }
    return {name: grid for name, grid in planned.items() if grid["problems"]}


def dosed(name: str, p: WhatTheModelAdds, posed: Iterable[Problem], **settings: Any) -> list[Method]:
    """A loop without proposals, with each control, and with the replies of each model asked about all problems."""
    recorded = {"proposer": "recorded", "max_tokens": p.dose_tokens, **settings}
    models = [{name: recorded | {"model": model}} for model in p.dose_models]
    replayed = [build_methods([name], max_rows=p.max_rows, settings=each)[0] for each in models]
    asked = [each for each in replayed if all(each.file(problem.id).exists() for problem in posed)]
    return built([name], ("none", *p.proposers), p.max_rows, {name: settings}) + asked


def control(name: str) -> Method:
    """A method with the grammar in the model's place, or genetic operators where it has no grammar."""
    return built([name], CONTROLS)[0]


def built(
    names: Iterable[str], proposers: Sequence[str], max_rows: int | None = None, settings: Mapping | None = None
) -> list[Method]:
    """Methods by their names; those that ask a language model once with each proposer in its place that they take."""
    methods: list[Method] = []
    for method in build_methods(names, max_rows=max_rows, settings=settings):
        methods += with_controls(method, proposers) if isinstance(method, Endpoint) else [method]
    return methods


def with_controls(method: Endpoint, proposers: Sequence[str]) -> Iterable[Method]:
    """A method with each of some proposers; a judge has no grammar, and an opinion in any case."""
    for each in proposers:
        with contextlib.suppress(ValueError):
            yield replace(method, proposer=each)

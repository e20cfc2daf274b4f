"""What is run for the notebook of problems from outside; the cheapest blocks come first."""

from typing import Any

from ...problems import problems
from ...report.comparisons import build_methods
from . import flows, fresh
from .params import Outside

TABLES = ("empirical", "first_principles")
LATER = ("tables", "lsr", "phybench", "accepted")  # what later versions run on too, beside SRBench's problems


def grids(p: Outside) -> dict[str, dict[str, Any]]:
    """Arguments of `runs.grid`, by block.

    ``accepted`` has the laws of SRSD; ``tables`` has the real ones, for all methods. Our own method has ``lsr``,
    ``phybench`` and, at all levels of noise, ``srbench``; the opponents have ``sample`` and ``noisy_sample``; both
    have ``early_sample`` and ``early_noisy``, at a sixth of the time. Later versions have ``tables_later`` and alike,
    of SRBench all problems without noise and, as ``noisy_later``, the opponents' sample with noise. Fresh problems
    have the blocks of `fresh.grids`, flows those of `flows.grids`.
    """
    own, later, others = (build_methods(names, max_rows=p.max_rows) for names in (p.methods, p.later, p.opponents))
    tables = p.measured or [id for study in TABLES for id in problems(study)]
    early = {"methods": [m for m in (*own, *others) if m.name in p.early], **p.work, "evaluations": p.early}
    noisy = {"problems": p.noisy_sample, "noise": p.relative_noise}
    recorded = dict.fromkeys((*p.methods, *p.later), p.srsd_evaluations)
    blocks = {
        "accepted": {"problems": p.srsd or problems("srsd"), "methods": own, **p.work, "evaluations": recorded},
        "tables": {"problems": tables, "methods": [*own, *others], **p.work, "seeds": p.trials},
        "lsr": {"problems": p.lsr or problems("lsr"), "methods": own, **p.work},
        "phybench": {"problems": p.phybench or problems("phybench"), "methods": own, **p.work},
        "early_sample": {"problems": p.sample, **early},
        "sample": {"problems": p.sample, "methods": others, **p.work},
        "sample_added": {"problems": p.sample, **p.work, **fresh.added(p, "sample")},
        "early_noisy": {**noisy, **early},
        "srbench": {"problems": p.srbench or problems("srbench"), "methods": own, "noise": p.relative_noise, **p.work},
        "noisy_sample": {**noisy, "methods": others, **p.work},
    }
    again = {f"{name}_later": {**blocks[name], "methods": later} for name in LATER}
    exact, levels = ([level for level in p.relative_noise if (not level) == clean] for clean in (True, False))
    again["srbench_later"] = {**blocks["srbench"], "noise": exact, "methods": later if exact else []}
    again["noisy_later"] = {**blocks["noisy_sample"], "noise": levels, "methods": later if levels else []}
    return {**blocks, **again, **flows.grids(p), **fresh.grids(p)}

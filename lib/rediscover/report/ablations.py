"""The method of our own as first recorded, and without parts that were chosen after scores or truths had been read."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ..methods import Method
from ..methods.bidirectional import Bidirectional
from ..methods.bidirectional_first import BidirectionalFirst
from ..problems import Problem
from ..runs import grid

NOW, FIRST, WITHOUT = "as it is", "as first recorded", "without "


def variants(
    ablated: Mapping[str, Iterable[str]], problems: Sequence[Problem], methods: Iterable[Method]
) -> dict[str, dict[str, Any]]:
    """Problems and methods of `runs.grid` for the variants of `bidirectional`, by their names.

    Parameters
    ----------
    ablated : part, see `Bidirectional` -> subsets or ids of the problems without noise on which it is left out
    problems : list of Problem
        At all levels of noise.
    methods : list of Method
        Of the study. Without `bidirectional` among them there are no variants.

    Returns
    -------
    dict
        ``as first recorded`` and ``without PART`` -> problems and methods
    """
    whole = [method for method in methods if isinstance(method, Bidirectional)]
    grids: dict[str, tuple[Sequence[Problem], Sequence[Method]]] = {}
    grids[FIRST] = (problems, [BidirectionalFirst(method.max_rows) for method in whole])
    for part, where in ablated.items():
        chosen = [problem for problem in problems if {problem.id, problem.subset} & {*where} and not problem.noise]
        grids[WITHOUT + part] = (chosen, [dataclasses.replace(method, without=(part,)) for method in whole])
    full = {name: pair for name, pair in grids.items() if all(pair)}
    return {name: {"problems": chosen, "methods": changed} for name, (chosen, changed) in full.items()}


def scores(planned: Mapping[str, Mapping], now: pd.DataFrame, score: Callable) -> pd.DataFrame:
    """Scores of `bidirectional` and of its variants.

    Where a part is left out on some problems of a subset only, the others keep their scores, and ``again`` is False. A
    search ends with the first exact formula, so what was found before the part cannot hang on it.

    Parameters
    ----------
    planned : name -> arguments of `runs.grid`
        Those named by `variants` are run, or read from the records.
    now : DataFrame
        Scores of the study.
    score : function of the runs of a grid that have an answer, and of its problems -> scores

    Returns
    -------
    DataFrame
        With the columns of the scores; ``variant``: `NOW`, `FIRST` or ``without PART``; ``again``.
    """
    whole = now[now["method"] == Bidirectional.name]
    parts = [whole.assign(variant=NOW, again=True)]
    for name, arguments in planned.items():
        if name.startswith((FIRST, WITHOUT)):
            runs = grid(**arguments)
            answered = runs[runs["status"] != "unavailable"]
            if len(answered):
                scored = score(answered, arguments["problems"])
                like = whole["subset"].isin(scored["subset"]) & whole["noise"].isin(scored["noise"])
                kept = whole[like & ~whole["problem"].isin(scored["problem"])]
                parts += [scored.assign(variant=name, again=True), kept.assign(variant=name, again=False)]
    return pd.concat(parts, ignore_index=True)


def key(variant: str) -> str:
    """How the names of facts end that tell of a variant.

    Examples
    --------
    >>> key(FIRST), key("without pieces")
    ('first', 'without_pieces')
    """
    return "first" if variant == FIRST else variant.replace(" ", "_")

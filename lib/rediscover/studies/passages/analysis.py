"""What the notebook on text and equations needs twice, or what decides a verdict: released rows, groups, intervals."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...methods.llm_text import recorded
from ...metrics import latex
from ...problems import passages
from ...report.statistics import pair_by_position
from ...report.summaries import bootstrap
from ...system import upstream_files
from . import scores as scores

GROUPS = ("2-5", "6-10", "11+")  # entries of a paper
NOT_ASKED = "the profile uses the bundled corpus only; the released files are read by quick and paper"
NOT_HERE = (
    "the released files (no licence, so none are bundled) are neither on this machine nor can be downloaded: "
    f"connect to the internet once or set {upstream_files.MIRROR}"
)
FOUND = "released files, at the pinned commit: no licence stated, read here and not passed on"


@dataclass(frozen=True)
class Released:
    """What SciText2Eq released.

    Attributes
    ----------
    outputs : as `passages.released_outputs`, with lexicality and syntax.
    judged, human : as `passages.released_scores`, by the language model and by people.
    papers : paper_id, venue, and how many entries and strings (equations) it has.
    entries : paper_id, equation_id, position (from 0) and length (characters of the context).
    """

    outputs: pd.DataFrame
    judged: pd.DataFrame
    human: pd.DataFrame
    papers: pd.DataFrame
    entries: pd.DataFrame


def released_data(wanted: bool = True) -> tuple[Released | None, str]:
    """The released files, from mirror, cache or network, and where they are from; or None and why not.

    Parameters
    ----------
    wanted : False reads and downloads nothing: the study is of the bundled corpus alone.
    """
    if not wanted:
        return None, NOT_ASKED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", upstream_files.LicenceWarning)  # what is returned says it, once
            for repository in (latex.TOKENIZER, passages.REPOSITORY):
                upstream_files.fetch_all(repository)
    except upstream_files.ReleasedError:
        return None, NOT_HERE
    outputs = passages.released_outputs()
    outputs["lexicality"] = outputs[list(scores.LEXICAL)].mean(axis=1)
    outputs["syntax"] = 1 - outputs["ted"]
    papers, entries = [], []
    for paper in passages.released_papers():
        strings = sum(len(entry.equations) for entry in paper.equations)
        papers.append((paper.id, passages.venue(paper.id), len(paper.equations), strings))
        entries += [(paper.id, int(e.number), i, len(e.context)) for i, e in enumerate(paper.equations)]
    return Released(
        outputs,
        passages.released_scores("judge"),
        passages.released_scores("human"),
        pd.DataFrame(papers, columns=["paper_id", "venue", "entries", "strings"]),
        pd.DataFrame(entries, columns=["paper_id", "equation_id", "position", "length"]),
    ), FOUND


def density(counts) -> pd.Series:
    """Group of each count of equations: one of `GROUPS`."""
    return pd.cut(counts, [1, 5, 10, 99], labels=list(GROUPS)).astype(str)


def over_papers(samples: Mapping, statistic: Callable = np.mean) -> pd.DataFrame:
    """A statistic of each sample with its 95 % interval, papers drawn as clusters.

    Parameters
    ----------
    samples : name -> Series or DataFrame with an index level ``paper_id``
    statistic : of an array of drawn rows

    Returns
    -------
    DataFrame
        Index: the names. Columns: value, low, high; the last two are NaN where a draw has no such statistic.
    """
    found = {
        name: bootstrap(sample, statistic, clusters=sample.index.get_level_values("paper_id"), n=1000)
        for name, sample in samples.items()
    }
    return pd.DataFrame(found, index=["value", "low", "high"]).T


def by_paper(frame: pd.DataFrame, by: str, columns) -> pd.DataFrame:
    """`over_papers` of the mean of each column in each group; index: the group and the score."""
    groups = frame.set_index("paper_id").groupby(by, sort=False)
    means = {(name, score): group[score] for name, group in groups for score in columns}
    return over_papers(means).rename_axis([by, "score"])


def rated(data: Released) -> pd.DataFrame:
    """Scores by the judge and by people for the entries that both have scored, paired as published and properly.

    Returns
    -------
    DataFrame
        Columns: model, pairing ('position', the i-th row with the i-th, or 'keys', the same entry), rubric, judge,
        people, and the judge's paper_id and equation_id.
    """
    parts = []
    for model in passages.MODELS:
        people = data.human[data.human["model"] == model].drop(columns="model")
        judged = data.judged[data.judged["model"] == model].drop(columns="model")
        drawn = passages.judged_in_notebook_order(model, data.judged).drop(columns="model")
        by_position = pair_by_position(drawn, people, passages.KEYS)
        by_position = by_position.rename(columns=lambda name: name.replace("_id_a", "_id"))
        by_key = judged.merge(people, on=passages.KEYS, suffixes=("_a", "_b"), validate="one_to_one")
        for pairing, pairs in (("position", by_position), ("keys", by_key)):
            for rubric in passages.RUBRICS:
                part = pairs[[*passages.KEYS, f"{rubric}_a", f"{rubric}_b"]]
                part = part.set_axis([*passages.KEYS, "judge", "people"], axis=1)
                parts.append(part.assign(model=model, pairing=pairing, rubric=rubric))
    return pd.concat(parts, ignore_index=True)


def writers(names, folder="records") -> list:
    """Methods of these names; in the place of ``llm_text`` every model that `make generate` has recorded, if any."""
    models = recorded(folder)
    return [writer for name in names for writer in (models if name == "llm_text" and models else [name])]


def named(records: pd.DataFrame) -> pd.DataFrame:
    """Runs of a grid with the recorded language models under their own names."""
    models = records["settings"].str.get("model")
    answered = (records["method"] == "llm_text") & (records["status"] != "unavailable")
    return records.assign(method=records["method"].mask(answered, models))

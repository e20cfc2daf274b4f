"""What the notebook on text and equations needs twice, or what decides a verdict: released numbers and intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...methods.llm_text import recorded
from ...problems import passages
from ...report.statistics import pair_by_position
from ...report.summaries import bootstrap
from ...system import derived
from .scores import LEXICAL

GROUPS = ("2-5", "6-10", "11+")  # entries of a paper
DRAWN = "DeepSeek-R1"  # its ratings are in the order in which the rated entries were drawn


@dataclass(frozen=True)
class Released:
    """Numbers derived from what SciText2Eq released (`derive`); the files themselves are not read.

    Attributes
    ----------
    outputs : model, paper_id, equation_id, metrics of the formula, lexicality and syntax.
    judged, human : model, paper_id, equation_id, and the rubrics, by the language model and by people.
    papers : paper_id, venue, and how many entries and strings (equations) it has.
    entries : paper_id, equation_id, strings, length (characters of the context) and position (from 0).
    ratings : human, and the rule judge's scores of the same answers (``_rule``).
    """

    outputs: pd.DataFrame
    judged: pd.DataFrame
    papers: pd.DataFrame
    entries: pd.DataFrame
    ratings: pd.DataFrame

    @property
    def human(self) -> pd.DataFrame:
        return self.ratings[["model", *passages.KEYS, *passages.RUBRICS]]


def written(writers) -> pd.DataFrame:
    """What is derived of some models, or writers without one: a row for each entry, with lexicality and syntax."""
    frames = [derived.read("passages", name).assign(model=name) for name in writers]
    found = pd.concat(frames, ignore_index=True)
    return found.assign(lexicality=found[list(LEXICAL)].mean(axis=1), syntax=1 - found["ted"])


def released() -> Released:
    """The numbers of all models."""
    both, entries = written(passages.MODELS), derived.read("passages", "entries")
    by_paper = entries.groupby("paper_id", sort=False)["strings"].agg(entries="size", strings="sum").reset_index()
    by_paper.insert(1, "venue", by_paper["paper_id"].map(passages.venue))
    return Released(
        both[both["ted"].notna()].reset_index(drop=True),
        both[["model", *passages.KEYS, *passages.RUBRICS]].astype(dict.fromkeys(passages.RUBRICS, float)),
        by_paper,
        entries.assign(position=entries.groupby("paper_id").cumcount()),
        derived.read("passages", "ratings"),
    )


def drawn(data: Released, model: str) -> pd.DataFrame:
    """A model's judge scores of the rated entries in the order in which these were drawn.

    The authors' notebook sets them beside the human scores row by row; only those of `DRAWN` are in this order.
    """
    order = data.ratings.loc[data.ratings["model"] == DRAWN, passages.KEYS]
    return order.merge(data.judged[data.judged["model"] == model], how="left", validate="one_to_one")


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
        by_position = pair_by_position(drawn(data, model).drop(columns="model"), people, passages.KEYS)
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

"""The human study of SciText2Eq, for anybody with people and answers of a model: do a judge and people agree?

``make generate MODEL=...`` writes a model's answers with a judge's scores. With that file,
``python -m rediscover.studies.passages.ratings sheets --answers FILE --raters 3`` writes sheets into build/ratings, and
``... ratings read build/ratings/*.csv --answers FILE`` prints Pearson's correlation of people's ratings with the
judge's, rubric by rubric, intervals over papers. Rows are joined by the name of the answer, never by their place.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...problems import problem
from ...report import ratings
from ...runs.schema import read_csv
from .judge import RUBRICS

SHOWN = ["context", "true equation", "generated equation", "generated description"]


def items(answers: Path) -> pd.DataFrame:
    """Answers of a model, those without an equation left out.

    Returns
    -------
    DataFrame
        Index: item. Columns: paper, `SHOWN`, and the judge's score of each rubric.

    Raises
    ------
    ValueError
        If the file lacks a column.
    """
    rows = read_csv(answers)
    if lacking := [name for name in ("problem", "latex", "description", *RUBRICS) if name not in rows]:
        raise ValueError(f"{answers} has no column {lacking[0]!r}: it should come from `make generate`")
    rows = rows[rows["latex"].fillna("") != ""].fillna({"description": ""})
    passages: list[Any] = [problem(id) for id in rows["problem"]]
    about = {"paper": [p.paper for p in passages], "context": [p.context for p in passages]}
    about["true equation"] = [p.truth["latex"] for p in passages]
    named = {"latex": "generated equation", "description": "generated description"}
    return ratings.named(rows.assign(**about).rename(columns=named), ["problem", "generated equation"])


def told(rated: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Correlation of people with the judge for each rubric that somebody filled in."""
    parts = {rubric: part for rubric, part in rated.groupby("rubric")}
    found = [ratings.correlation(parts[name], answers, [name], "paper") for name in RUBRICS if name in parts]
    return pd.concat(found).rename_axis("rubric") if found else pd.DataFrame()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write sheets or read them."""

    def takes(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--answers", type=Path, required=True, help="table that `make generate` wrote")

    words = __doc__.splitlines()[0]
    return ratings.command(words, lambda options: items(options.answers), SHOWN, RUBRICS, told, takes, arguments)


if __name__ == "__main__":
    sys.exit(main())

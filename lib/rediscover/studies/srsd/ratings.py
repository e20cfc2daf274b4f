"""The user study of SRSD (Section G), for anybody with people: which measure do people agree with?

``python -m rediscover.studies.srsd.ratings sheets --raters 3`` writes sheets with pairs of a law and an estimate of it
into build/ratings; ``... ratings read build/ratings/*.csv`` reads them once they are filled in, and prints Pearson's
correlation of the ratings with R2 and with the normalised edit distance, which is what the claim SR-01 is about.

As in the paper, laws are those of which the estimate with the best R2 and the one with the least edit distance come
from different methods; the estimates are those of the paper's methods that run here. Raters answer how near an
estimate is to the law, from 1 (completely different) to 5 (equivalent).
"""

import argparse
import sys
from collections.abc import Sequence

import pandas as pd

from ...problems import problem
from ...report import ratings
from ...report.papers import of_paper
from ...runs.schema import read_csv
from ...system.committed import committed

SHOWN, RUBRIC, LAWS = ["law", "estimate"], "nearness", 24  # as many laws as in the paper
MEASURES = {"r2": "r2_score", "ned_published": "normalized_edit_distance"}


def items(laws: int = LAWS, seed: int = 0) -> pd.DataFrame:
    """Two estimates of each of some laws, drawn from all that fit.

    Returns
    -------
    DataFrame
        Index: item. Columns: problem, law and estimate (texts), r2_score, normalized_edit_distance.
    """
    keys = ["problem", "method", "seed"]
    scores = read_csv(committed("tables") / "srsd_scores.csv").query("status == 'ok' and noise == 0 and seed == 0")
    answers = read_csv(committed("tables") / "srsd_runs.csv").query("noise == 0")[[*keys, "solution"]]
    rows = scores[scores.index.isin(of_paper(scores, "srsd").index)].merge(answers, on=keys)
    best = rows.sort_values(["r2", "method"], ascending=[False, True]).groupby("problem").head(1)
    nearest = rows.sort_values(["ned_published", "method"]).groupby("problem").head(1)
    chosen = pd.concat([best, nearest]).drop_duplicates(keys)
    chosen = chosen[chosen.groupby("problem")["method"].transform("nunique") == 2].sort_values(keys)
    known = pd.Series(chosen["problem"].unique())
    chosen = chosen[chosen["problem"].isin(known.sample(min(laws, len(known)), random_state=seed))]
    texts = {"law": [" = ".join(*problem(id).truth.items()) for id in chosen["problem"]]}
    texts["estimate"] = [" = ".join(*solution.items()) for solution in chosen["solution"]]
    found = ratings.named(chosen.assign(**texts).rename(columns=MEASURES), keys)
    return found[["problem", *SHOWN, *MEASURES.values()]]


def told(rated: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Correlations with both measures, intervals over laws; as `claims.sr_01` takes them."""
    return ratings.correlation(rated, pairs, list(MEASURES.values()), "problem")


def _takes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--laws", type=int, default=LAWS, help=f"two estimates of so many laws ({LAWS})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write sheets or read them."""
    words = __doc__.splitlines()[0]
    return ratings.command(words, lambda options: items(options.laws), SHOWN, [RUBRIC], told, _takes, arguments)


if __name__ == "__main__":
    sys.exit(main())

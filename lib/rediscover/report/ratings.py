"""Sheets on which people rate items blindly, and how what they fill in goes with a measure.

A sheet is a CSV file for one rater: a row an item, in an order of its own, with what is to be read and an empty column
for each rubric. Nothing on it says which method an item is of.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..runs.schema import to_csv
from ..system.paths import root
from . import summaries

SCALE = (1, 2, 3, 4, 5)


def named(items: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Items with a name that tells nothing: eight hexadecimal digits of a hash of their keys, as the index ``item``.

    Raises
    ------
    ValueError
        If two items have the same keys.
    """
    texts = items[list(keys)].astype(str).agg("\n".join, axis=1)
    names = [hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts]
    if len(set(names)) < len(names):
        raise ValueError(f"two items have the same {', '.join(keys)}")
    return items.set_index(pd.Index(names, name="item"))


def write(items: pd.DataFrame, shown: Sequence[str], rubrics: Sequence[str], raters: int, folder: Path) -> list[Path]:
    """Write a sheet for each rater and return the paths; one that is there already is refused.

    Parameters
    ----------
    items : from `named`
    shown : columns that raters read
    rubrics : columns that raters fill in, with the whole numbers of `SCALE`

    Raises
    ------
    FileExistsError
        If a sheet is there, which may have been filled in.
    """
    paths = [Path(folder) / f"rater_{number + 1:02d}.csv" for number in range(raters)]
    if there := [path for path in paths if path.exists()]:
        raise FileExistsError(f"{there[0]} is there already: move it away, since it may have been filled in")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(paths):
        sheet = items[list(shown)].assign(**dict.fromkeys(rubrics, ""))
        to_csv(sheet.sample(frac=1, random_state=number).reset_index(), path)
    return paths


def read(paths: Iterable[Path], items: pd.DataFrame, rubrics: Sequence[str]) -> pd.DataFrame:
    """Ratings from sheets: rater (name of the file), item, rubric, rating; cells that were left empty have no row.

    Raises
    ------
    ValueError
        If a sheet lacks a column, or has an item that is none of `items`, an item twice or a rating off the scale.
    """
    parts = []
    for path in map(Path, paths):
        sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
        if lacking := [name for name in ("item", *rubrics) if name not in sheet]:
            raise ValueError(f"{path}: no column {lacking[0]!r}")
        if strange := sorted(set(sheet["item"]) - set(items.index)):
            raise ValueError(f"{path}: no item {strange[0]!r}; are these sheets of another version?")
        if sheet["item"].duplicated().any():
            raise ValueError(f"{path}: item {sheet.loc[sheet['item'].duplicated(), 'item'].iloc[0]!r} is there twice")
        long = sheet.melt("item", list(rubrics), "rubric", "rating")
        long["rating"] = long["rating"].str.strip()
        long = long[long["rating"] != ""]
        if len(wrong := long[~long["rating"].isin([str(step) for step in SCALE])]):
            said = ", ".join(map(str, SCALE))
            raise ValueError(f"{path}: {wrong['rating'].iloc[0]!r} for item {wrong['item'].iloc[0]} is none of {said}")
        parts.append(long.assign(rater=path.stem, rating=long["rating"].astype(int)))
    columns = ["rater", "item", "rubric", "rating"]
    return pd.concat([pd.DataFrame(columns=columns), *parts], ignore_index=True)[columns]


def correlation(ratings: pd.DataFrame, items: pd.DataFrame, measures: Sequence[str], group: str) -> pd.DataFrame:
    """Pearson's correlation of ratings with measures of the items, with an interval over groups of items.

    Ratings of one item, and of items of one group, depend on each other: groups are drawn, with all of their ratings.

    Parameters
    ----------
    ratings : from `read`, of one rubric
    items : from `named`; columns measures and group
    measures : columns with a number for each item; where it is not finite, the ratings are left out

    Returns
    -------
    DataFrame
        Index: metric. Columns: r, low, high, ratings, items, raters.

    Examples
    --------
    >>> items = named(pd.DataFrame({"law": ["a", "b", "c"], "distance": [0.0, 0.5, 1.0]}), ["law"])
    >>> ratings = pd.DataFrame({"rater": "one", "item": items.index, "rating": [5, 3, 1]})
    >>> correlation(ratings, items, ["distance"], "law").loc["distance", ["r", "ratings"]].round(9).tolist()
    [-1.0, 3.0]
    """
    rows = {}
    for measure in measures:
        both = ratings.join(items[[measure, group]], on="item")
        both = both[np.isfinite(both[measure].astype(float))]
        pairs = both[["rating", measure]].to_numpy(float)
        r, low, high = summaries.bootstrap(pairs, _pearson, both[group]) if len(pairs) > 1 else (np.nan,) * 3
        counts = {"ratings": len(both), "items": both["item"].nunique(), "raters": both["rater"].nunique()}
        rows[measure] = {"r": r, "low": low, "high": high, **counts}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def _pearson(pairs: np.ndarray) -> float:
    """Zero where one of the two does not vary, as in some draws of few groups."""
    varies = (np.ptp(pairs, axis=0) > 0).all()
    return float(np.corrcoef(pairs.T)[0, 1]) if varies else 0.0


def command(
    words: str,
    items: Callable[[argparse.Namespace], pd.DataFrame],
    shown: Sequence[str],
    rubrics: Sequence[str],
    told: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame],
    takes: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
    arguments: Sequence[str] | None = None,
) -> int:
    """A study's command line: ``sheets`` writes them, ``read`` reads filled ones and prints what they tell.

    Errors are one line on standard error and exit status 2.

    Parameters
    ----------
    words : what ``--help`` says
    items : options -> items, see `named`
    told : ratings and items -> what is printed
    takes : adds the study's own arguments to both parts
    """
    parser = argparse.ArgumentParser(description=words)
    parts = parser.add_subparsers(dest="part", required=True)
    sheets = parts.add_parser("sheets", help="write a sheet for each rater")
    sheets.add_argument("--raters", type=int, default=1)
    sheets.add_argument("--out", type=Path, default=root() / "build" / "ratings")
    reader = parts.add_parser("read", help="read filled sheets")
    reader.add_argument("sheets", nargs="+", type=Path)
    for part in (sheets, reader):
        takes(part)
    options = parser.parse_args(arguments)
    try:
        if options.part == "sheets":
            print(*write(items(options), shown, rubrics, options.raters, options.out), sep="\n")
        else:
            rated = items(options)
            print(told(read(options.sheets, rated, rubrics), rated).to_string(float_format="{:.3g}".format))
    except (OSError, ValueError) as error:
        print(f"ratings: {error}", file=sys.stderr)
        return 2
    return 0

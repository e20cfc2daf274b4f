"""The generated parts of README.md: results, methods, measured profiles (``make readme``).

Of each study the README shows the table that its study.yaml names as ``headline``: a CSV file of ready texts, which the
notebook writes.
"""

import re
from pathlib import Path

import pandas as pd

from ..report.papers import catalogue
from ..system.paths import root
from ..system.studies import studies


def results(tables: Path) -> str:
    """What came out, study by study."""
    return "\n\n".join([verdicts(tables), *headlines(tables)])


def verdicts(tables: Path) -> str:
    """How many published numbers and claims have which verdict."""
    cells, claims = (pd.read_csv(tables / f"{name}_papers.csv", index_col="paper") for name in ("ledger", "claims"))
    whole = pd.concat([cells, cells.sum().to_frame("all").T]).join(pd.concat([claims, claims.sum().to_frame("all").T]))
    whole.columns = [f"claims: {name}" if name in claims else name for name in whole]
    table = _markdown(whole.rename_axis("paper").reset_index())
    return f"**Verdicts** on published numbers and claims (notebook 90):\n\n{table}"


def headlines(tables: Path) -> list[str]:
    """Title and table of each study that has written its headline."""
    parts = []
    for study in studies().values():
        path = tables / f"{study.get('headline', {}).get('table')}.csv"
        if path.exists():
            table = _markdown(pd.read_csv(path, dtype=str, keep_default_na=False))
            parts.append(f"{study['headline']['title']}:\n\n{table}")
    return parts


def methods(tables: Path) -> str:
    """Every method of the papers, and whether it runs."""
    frame = catalogue().rename(columns={"ours": "name here"})
    return _markdown(frame[["method", "papers", "status", "name here", "reason"]])


def profiles(tables: Path) -> str:
    """What each profile costs, from tables/cost.csv."""
    rows = []
    for profile, part in pd.read_csv(tables / "cost.csv").groupby("profile", sort=False):
        longest = part.loc[part["minutes"].idxmax()]
        rows.append(
            {
                "profile": profile,
                "minutes in all": f"{part['minutes'].sum():.1f}",
                "longest notebook": f"{longest['notebook']}, {longest['minutes']:.1f} minutes",
                "peak memory, GB": f"{part['gigabytes'].max():.1f}",
            }
        )
    return _markdown(pd.DataFrame(rows))


SECTIONS = {"results": results, "methods": methods, "profiles": profiles}


def generated(text: str, tables: Path) -> str:
    """The README with all generated parts made anew.

    Raises
    ------
    ValueError
        If the marks of a part are not there once.
    """
    for name, section in SECTIONS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        body = section(tables)
        part = f"{begin}\n{body}\n{end}".replace("\\", r"\\")  # taken as it is
        text, n = re.subn(f"{begin}.*?{end}", part, text, flags=re.S)
        if n != 1:
            raise ValueError(f"README.md: expected one section between {begin} and {end}, found {n}")
    return text


def _markdown(frame: pd.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * frame.shape[1]]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines)


if __name__ == "__main__":
    path = root() / "README.md"
    path.write_text(generated(path.read_text(), root() / "tables"))

"""The generated parts of README.md: results, methods, measured profiles (``make readme``)."""

import re
from pathlib import Path

import pandas as pd

from ..report.papers import catalogue
from ..report.plots import order
from ..report.tables import number
from ..system.paths import root


def results(tables: Path) -> str:
    """What came out, study by study."""
    return "\n\n".join(part(tables) for part in (verdicts, surfaces, laws, dynamics, references, judges, everywhere))


def verdicts(tables: Path) -> str:
    """How many published numbers and claims have which verdict."""
    cells, claims = (pd.read_csv(tables / f"{name}_papers.csv", index_col="paper") for name in ("ledger", "claims"))
    whole = pd.concat([cells, cells.sum().to_frame("all").T]).join(pd.concat([claims, claims.sum().to_frame("all").T]))
    whole.columns = [f"claims: {name}" if name in claims else name for name in whole]
    table = _markdown(whole.rename_axis("paper").reset_index())
    return f"**Verdicts** on published numbers and claims (notebook 90):\n\n{table}"


def everywhere(tables: Path) -> str:
    """Generic methods on every study of equations."""
    frame = pd.read_csv(tables / "cross_everywhere.csv", dtype=str, keep_default_na=False)
    title = "**One wrapper, every study** (notebook 60): recovered, and median NMSE by the variance"
    notes = "`*`: on a few problems only; cde: by the trajectory from a second initial state, as SymbolBench counts"
    return f"{title} ({notes}):\n\n{_markdown(frame)}"


def surfaces(tables: Path) -> str:
    """What each method recovers and how near it comes."""
    scored = pd.read_csv(tables / "surfaces_scores.csv")
    rows = []
    for name in order(scored["method"]):
        part = scored[scored["method"] == name].groupby("subset")
        accuracy, error = part["symbolic_accuracy"].mean(), part["nmse_variance"].median()
        rows.append(
            {
                "method": name,
                **{f"recovered, {kind}": f"{accuracy[kind]:.0%}" for kind in accuracy.index},
                "median NMSE by the variance, explicit": number(float(error["explicit"])),
            }
        )
    counts = scored.groupby("subset")["problem"].nunique()
    title = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"**Surfaces** ({title}; notebook 10):\n\n{_markdown(pd.DataFrame(rows))}"


def laws(tables: Path) -> str:
    """A log-linear fit against the best published method."""
    measures = {"Table 2": "R² > 0.999", "Table 3": "solved", "Table 4": "normalised edit distance"}
    rows = []
    for line in pd.read_csv(tables / "srsd_yardstick.csv").itertuples():
        ours, low, high = (number(float(v), 2) for v in (line.value, line.low, line.high))
        best = f"{number(float(line.published), 3)} ({line.method})"
        rows.append({"measure": measures[line.table], "set": line.set, "power_law [95 %]": f"{ours} [{low}, {high}]"})
        rows[-1]["best published"] = best
    title = "**Physical laws** (120; notebook 20), a log-linear fit beside the best published method:"
    return f"{title}\n\n{_markdown(pd.DataFrame(rows))}"


def dynamics(tables: Path) -> str:
    """Clean cells and check marks of MDBench that came back."""
    parts = [
        pd.read_csv(tables / f"mdbench_{kind}_matches.csv").assign(table=table)
        for kind, table in (("odes", "A5 and A6"), ("pdes", "3"))
    ]
    frame = pd.concat(parts)
    frame = pd.DataFrame(
        {
            "method": frame["method"],
            "table": frame["table"],
            "same power of ten and complexity": [f"{r.same} of {r.cells}" for r in frame.itertuples()],
            "check marks found again": [f"{r.again} of {r.marks}" for r in frame.itertuples()],
        }
    )
    title = "**Differential equations** (notebooks 40 and 41), published cells on clean data that came back"
    return f"{title}:\n\n{_markdown(frame)}"


def judges(tables: Path) -> str:
    """Agreement of the language model's judge with people, by both ways of pairing."""
    frame = pd.read_csv(tables / "passages_alignment.csv")
    wide = frame.pivot_table(index="rubric", columns="pairing", values="spearman", aggfunc=["min", "max"], sort=False)
    table = pd.DataFrame(
        {
            "rubric": wide.index,
            **{
                name: [f"{low:.2f} to {high:.2f}" for low, high in zip(wide["min", key], wide["max", key], strict=True)]
                for name, key in (("paired by position, as published", "position"), ("joined on keys", "keys"))
            },
        }
    )
    title = "**Text to equation** (notebook 50), Spearman's correlation of the judge with people, over five models"
    return f"{title}:\n\n{_markdown(table)}"


def references(tables: Path) -> str:
    """References that learn little or nothing, beside the best printed language model."""
    affine, networks, graphs = (
        pd.read_csv(tables / f"{name}.csv") for name in ("cde_headline", "boolean_headline", "causal_trivial")
    )
    where = {"id": "in distribution", "ood": "out of distribution"}
    affine = affine.rename(columns={"SR2": "value"}).assign(reference="affine fit")
    states = affine["states"].map(lambda n: f"{n} state" if n == 1 else f"{n} states")
    parts = [affine.assign(task="coupled equations, " + states + ": SR2, " + affine["split"].map(where))]
    networks = networks.rename(columns={"method": "reference", "best model": "printed"})
    parts += [
        networks[networks["measure"] == f"BI {split}"].assign(task=f"Boolean networks: informedness, {name}")
        for split, name in where.items()
    ]
    printed = graphs["F1 pairs"][graphs["method"] == "best language model, printed"].item()
    graphs = graphs[graphs["low"].notna()].rename(columns={"method": "reference", "F1 pairs": "value"})
    parts += [graphs.assign(task="causal graphs: F1 by the rule for language models", printed=printed)]
    table = [
        {
            "task and measure, percent": line.task,
            "reference": line.reference,
            "here [95 %]": f"{line.value:.1f} [{line.low:.1f}, {line.high:.1f}]",
            "best language model, printed": f"{line.printed:.1f}",
        }
        for line in pd.concat(parts).itertuples()
    ]
    title = "**SymbolBench** (notebooks 30 to 32), references beside the best printed language model"
    return f"{title}:\n\n{_markdown(pd.DataFrame(table))}"


def methods(tables: Path) -> str:
    """Every method of the five papers, and whether it runs."""
    frame = catalogue().rename(columns={"ours": "name here"})
    return _markdown(frame[["method", "papers", "status", "name here", "reason"]])


def profiles(tables: Path) -> str:
    """What each profile costs, from tables/cost.csv."""
    cost = pd.read_csv(tables / "cost.csv")
    rows = []
    for profile, part in cost.groupby("profile", sort=False):
        rows.append(
            {
                "profile": profile,
                "minutes in all": f"{part['minutes'].sum():.1f}",
                "longest study": f"{part['study'][part['minutes'].idxmax()]}, {part['minutes'].max():.1f} minutes",
                "peak memory, GB": f"{part['gigabytes'].max():.1f}",
            }
        )
    return _markdown(pd.DataFrame(rows))


SECTIONS = {"results": results, "methods": methods, "profiles": profiles}


def generated(text: str, tables: Path) -> str:
    """The README with all generated parts made anew."""
    for name, section in SECTIONS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        body = section(tables)
        text, n = re.subn(f"{begin}.*?{end}", lambda _, b=body, s=begin, e=end: f"{s}\n{b}\n{e}", text, flags=re.S)
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

r"""What paper/main.tex states, as LaTeX macros (``make paper``).

``\fact{surfaces.count}`` is a fact of tables/facts.csv, ``\fact{SB-03.verdict}``, ``\fact{SB-03.as_printed}`` and
``\fact{SB-03.finding}`` are of a claim, and ``\fact{claims.failed}`` and ``\fact{audits.listed}`` are the rows of a
tabular.
"""

import re

import pandas as pd

from ..report.tables import escape
from ..system.paths import root
from . import facts

MARKS = {  # of prose and of numbers, as patterns
    "−": "$-$",
    "±": r"$\\pm$",
    ">=": r"$\\geq$",
    "<=": r"$\\leq$",
    r"\b(\d[.\d]*)e([-+]?)0*(\d+)\b": r"$\1\\times 10^{\2\3}$",
    r"(?<=\d),(?=\d{3}\b)": r"\\,",
    r"^([\d.]+)\\%$": r"\1\\,\\%",  # a share, alone
    r"(?<![\w{])-(?=\d)": "$-$",
    r"(?<=\d)-(?=\d)": "--",
    r"\bR2\b": "$R^2$",
    '"([^"]*)"': r"``\1''",
    "`([^`']+)`(?!`)": r"\\texttt{\1}",
    r"\*([^*]+)\*": r"\\emph{\1}",
}


def latex(text: str) -> str:
    """Prose with Markdown's marks as LaTeX; what stands between dollars is mathematics already."""
    parts = re.split(r"(\$[^$]+\$)", text)
    for i in range(0, len(parts), 2):
        parts[i] = escape(parts[i])
        for mark, written in MARKS.items():
            parts[i] = re.sub(mark, written, parts[i])
    return "".join(parts)


def rows(frame: pd.DataFrame) -> str:
    """The body of a tabular."""
    return r"\nextrow ".join(" & ".join(map(latex, row)) for row in frame.itertuples(index=False)) + r" \\"


def macros() -> str:
    r"""A definition for each ``\fact{...}`` that the paper can ask for."""
    tables = (root() / "tables" / f"{name}.csv" for name in ("claims", "audits"))
    claims, audits = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in tables)
    known = {name: latex(text) for name, text in facts.texts().items()}
    for claim in claims.itertuples():
        known |= {
            f"{claim.claim_id}.{name}": latex(getattr(claim, name)) for name in ("verdict", "as_printed", "finding")
        }
    known["claims.failed"] = rows(claims[claims["verdict"] == "fails"][["claim_id", "claim", "finding"]])
    known["audits.listed"] = rows(audits[["notebook", "number", "title"]])
    return "".join(rf"\expandafter\def\csname fact:{name}\endcsname{{{text}}}" + "\n" for name, text in known.items())


if __name__ == "__main__":
    target = root() / "build" / "paper" / "facts.tex"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(macros(), encoding="utf-8")

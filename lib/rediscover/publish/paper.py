r"""What paper/main.tex states, as LaTeX macros, which `make publish` writes into build/paper/facts.tex.

``\fact{surfaces.count}`` is a fact of tables/facts.csv, ``\fact{SB-03.verdict}``, ``\fact{SB-03.as_printed}`` and
``\fact{SB-03.finding}`` are of a claim. The rows of a tabular are ``\fact{claims.SRSD.listed}``, all claims of a paper,
``\fact{audits.listed}``, and ``\fact{rows:ledger_swaps:paper;table;share}``, columns of any table.
"""

import re

import pandas as pd

from ..report.facts import formatted
from ..report.names import readable
from ..report.tables import blocks, escape, number
from ..system.paths import root
from . import facts

MARKS = {  # of prose and of numbers, as patterns
    "−": "$-$",
    "±": r"$\\pm$",
    ">=": r"$\\geq$",
    "<=": r"$\\leq$",
    r"\b(\d[.\d]*)e\+?(-?)0*(\d+)\b": r"$\1\\times 10^{\2\3}$",
    r"(?<=\d),(?=\d{3}\b)": r"\\,",
    r"^([\d.]+)\\%$": r"\1\\,\\%",  # a share, alone
    r"(?<![\w{])-(?=\d)": "$-$",
    r"(?<=\d)-(?=\d)": "--",
    r"\bR2\b": "$R^2$",
    '"([^"]*)"': r"``\1''",
    "`([^`']+)`(?!`)": r"\\texttt{\1}",
    r"\*([^*]+)\*": r"\\emph{\1}",
    r"(?<=\w)/(?=\w{4})": r"/\\allowbreak{}",  # addresses
}
LONG = re.compile(r"(?<![\w.-])\d{4,}(?![\w.])")  # a whole number in a cell of a table
# A table of results says what is missing; how to install it is in docs/methods.md and tables/claims.csv.
INSTRUCTIONS = {
    r"needs weights and a package of its authors: .*?; then name weights and sha256": "needs its authors' weights and "
    "package, see the documentation",
    r"( is not installed): pip install [^;]*": r"\1",
}


def latex(text: str) -> str:
    """Prose with Markdown's marks as LaTeX; what stands between dollars is mathematics already."""
    parts = re.split(r"(\$[^$]+\$)", text)
    for i in range(0, len(parts), 2):
        parts[i] = escape(readable(parts[i]))
        for mark, written in MARKS.items():
            parts[i] = re.sub(mark, written, parts[i])
    return "".join(parts)


def rows(frame: pd.DataFrame) -> str:
    r"""The body of a tabular, with a space before each block of its first column.

    The first two rows stay on one page, and so do the last two: between them is ``\joinedrow``.
    """
    written = [" & ".join(map(latex, row)) for row in frame.itertuples(index=False)]
    for start in blocks(frame.iloc[:, 0]):
        written[start] = r"\addlinespace " + written[start]
    body = ""
    for k, row in enumerate(written):
        body += (r"\joinedrow " if k in (1, len(written) - 1) else r"\nextrow ") * (k > 0) + row
    return body + r" \\"


def columns(asked: str) -> str:
    """The rows that ``name:column;column`` asks for, of tables/name.csv."""
    name, _, wanted = asked.partition(":")
    frame = pd.read_csv(root() / "tables" / f"{name}.csv")[wanted.split(";")].convert_dtypes()  # counts beside gaps
    texts = frame.map(lambda cell: number(cell) if isinstance(cell, float) else formatted(cell), na_action="ignore")
    return rows(texts.fillna("").map(lambda text: LONG.sub(lambda digits: formatted(int(digits[0])), text)))


def macros(text: str = "") -> str:
    r"""A definition for each ``\fact{...}`` that the paper can ask for, and for the columns that its text asks for."""
    tables = (root() / "tables" / f"{name}.csv" for name in ("claims", "audits"))
    claims, audits = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in tables)
    known = {name: latex(text) for name, text in facts.texts().items()}
    for claim in claims.itertuples():
        known |= {
            f"{claim.claim_id}.{name}": latex(getattr(claim, name)) for name in ("verdict", "as_printed", "finding")
        }
    found = claims["finding"].replace(INSTRUCTIONS, regex=True)
    said = claims["claim"] + ". Printed: *" + claims["published"].str.replace("*", "") + "*"
    listed = claims.assign(claim=said, finding=found)[["claim_id", "claim", "finding", "as_printed", "verdict"]]
    known |= {f"claims.{paper}.listed": rows(part) for paper, part in listed.groupby(claims["paper"])}
    known["audits.listed"] = rows(audits[["notebook", "number", "title"]])
    known |= {f"rows:{asked}": columns(asked) for asked in re.findall(r"\\fact\{rows:([^{}]+)\}", text)}
    return "".join(rf"\expandafter\def\csname fact:{name}\endcsname{{{text}}}" + "\n" for name, text in known.items())

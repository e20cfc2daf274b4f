"""The paper: every number of it comes from tables/, and what LaTeX makes of it is fit to print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rediscover.publish import paper
from rediscover.runs.schema import COPIES

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper" / "main.tex").read_text()
TABLES = ROOT / "tables"
NOT_PROSE = (
    r"(?<!\\)%.*",  # comments
    r"\\(fact|claims?|emitted|label|ref|cite|includegraphics(\[.*?\])?|begin|end)\{[^{}]*\}",
    r"\\begin\{equation\}.*?\\end\{equation\}",  # definitions
    r"[\d.]+(\\linewidth|ex)",  # lengths
    r"\^\{?\d",  # exponents
    r"\bTables?[\s~]S?\d+(, S?\d+)*(\sand\sS?\d+)?",  # tables of the papers
    r"\\(multicolumn|cmidrule\(lr\)|setlength\{\\tabcolsep\})\{[\d-]+(pt)?\}",  # the layout of a table
    r"\b[cx]_\d",  # names of variables
    r"\b[A-Z]{2}-\d\d\b",  # claims
    r"(?<=[A-Za-z])\d",  # names such as SciText2Eq
)


def without(text, patterns=NOT_PROSE):
    for pattern in sorted(patterns, key=lambda p: "equation" not in p):  # whole environments before their ends
        text = re.sub(pattern, " ", text, flags=re.S if "equation" in pattern else 0)
    return text


def test_no_number_is_typed():
    prose = without(TEXT.partition(r"\begin{document}")[2])
    typed = re.findall(r".{0,40}\d.{0,20}", prose)
    assert not typed, "numbers in paper/main.tex that come from no table: " + "; ".join(typed)


@pytest.mark.parametrize("typed", ["in 17 cells", "a share of 0.3", "SINDy finds 5\\,\\% of them", "Table, 12"])
def test_a_typed_number_would_be_seen(typed):
    assert re.search(r"\d", without(typed))


def test_every_fact_is_known():
    known = set(re.findall(r"\\csname fact:(.*?)\\endcsname", paper.macros(TEXT)))
    body = TEXT.partition(r"\begin{document}")[2]
    asked = re.findall(r"\\fact\{([^{}]*)\}", body) + [f"{id}.verdict" for id in re.findall(r"\\claim\{(.+?)\}", body)]
    asked += [f"claims.{name}.listed" for name in re.findall(r"\\claims\{(.+?)\}", body)]
    assert len(asked) > 180
    assert set(asked) <= known, set(asked) - known


def test_tables_figures_and_references_exist():
    for name in re.findall(r"\\fact\{rows:(\w+):", TEXT):
        assert (TABLES / f"{name}.csv").exists(), name
    emitted = re.findall(r"\\emitted\{(\w+)\}", TEXT)
    assert len(emitted) > 15 and all((TABLES / f"{name}.tex").exists() for name in emitted)
    for name in re.findall(r"\\includegraphics\[.*?\]\{(\w+)\}", TEXT):
        assert (ROOT / "figures" / f"{name}.png").exists(), name
    known = re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / "references.bib").read_text())
    cited = {key for keys in re.findall(r"\\cite\{([\w,]+)\}", TEXT) for key in keys.split(",")}
    assert cited == set(known) and len(cited) >= 40 and len(known) == len(set(known))


def test_every_claim_is_listed():
    papers = set(re.findall(r"\\claims\{(\w+)\}", TEXT))
    assert papers == set(read("claims")["paper"])
    macros = dict(re.findall(r"\\csname fact:(.*?)\\endcsname\{(.*)\}\n", paper.macros()))
    listed = "".join(macros[f"claims.{name}.listed"] for name in papers)
    assert all(f"{claim} & " in listed for claim in read("claims")["claim_id"])


def test_orders_that_the_words_state(reference_tables):
    """Sentences without numbers say who is ahead of whom; if a new run turns one around, the text has to follow."""
    yardstick = read("srsd_yardstick")
    assert (yardstick["gain"] > 0).any()
    assert yardstick["printed"].between(yardstick["low"], yardstick["high"]).sum() >= 3
    nothing, graphs = read("boolean_table3").set_index("method"), read("causal_trivial").set_index("method")
    assert nothing["informedness_ood"]["identity"] > 0
    assert graphs["f1_pairs"][["self_edges", "complete_graph"]].gt(graphs["f1_pairs"].iloc[2]).all()
    pairing = (
        read("passages_alignment")
        .query("rubric == 'Equivalence'")
        .pivot(index="model", columns="pairing", values="spearman")
    )
    assert (pairing["keys"] > pairing["position"]).sum() == len(pairing) - 1
    held = read("claims").set_index("claim_id")["verdict"]
    assert held[["SB-03", "SB-14", "MD-01"]].ne("holds").all()
    assert held["ST-10"] == "not shown" and held["MD-14"] == "untestable here" and held["SR-10"] == "mixed"
    assert held[["MD-10", "MD-12", "SR-11", "SR-12", "ST-03", "ST-05"]].eq("holds").all()
    assert held[["MD-02", "MD-04", "MD-09", "ST-11"]].ne("untestable here").all()


def read(name):
    return pd.read_csv(TABLES / f"{name}.csv")


@pytest.mark.parametrize(
    "text, written",
    [
        ("2,477", r"2\,477"),
        ("120,000 and 2,000,000", r"120\,000 and 2\,000\,000"),
        ("67%", r"67\,\%"),
        ("55% of them", r"55\% of them"),
        ("1.50e-09", r"$1.50\times 10^{-9}$"),
        ("4.21e+20 and 3e05", r"$4.21\times 10^{20}$ and $3\times 10^{5}$"),
        ("power_law 2, `power_law`", r"power law 2, \texttt{power\_law}"),
        ("-0.20 [-0.60, 0.00]", "$-$0.20 [$-$0.60, 0.00]"),
        ('p 5e-55 & "so"', r"p $5\times 10^{-55}$ \& ``so''"),
        ("-0.3 to 2-4", "$-$0.3 to 2--4"),
        ("R2 *is* `x_1` $x_1$", r"$R^2$ \emph{is} \texttt{x\_1} $x_1$"),
    ],
)
def test_prose_becomes_latex(text, written):
    assert paper.latex(text) == written


def test_rows_of_a_tabular():
    frame = pd.DataFrame({"method": ["a", "b_c"], "share": ["1", "-2"]})
    assert paper.rows(frame) == r"a & 1\joinedrow b\_c & $-$2 \\"


def test_blocks_of_rows_are_apart_and_no_row_is_alone_on_a_page():
    frame = pd.DataFrame({"set": list("aabbb"), "n": list("12345")})
    body = r"a & 1\joinedrow a & 2\nextrow \addlinespace b & 3\nextrow b & 4\joinedrow b & 5 \\"
    assert paper.rows(frame) == body


def test_claims_say_what_is_missing_and_not_how_to_install_it():
    listed = [line for line in paper.macros().splitlines() if ".listed" in line]
    assert "pip install" in "".join(read("claims")["finding"])
    assert not re.search(r"pip install|https?:|\w\.com\b|sha256", "".join(listed))


def test_macros_are_of_the_facts_and_claims(tmp_path, monkeypatch):
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    (tmp_path / "tables").mkdir()
    claims = "claim_id,paper,claim,published,verdict,as_printed,finding\n"
    claims += "TO-01,Toys,Toys are 50% found,half,fails,holds,2 of 4\nTO-02,Toys,All,all,holds,mixed,4\n"
    (tmp_path / "tables" / "claims.csv").write_text(claims)
    (tmp_path / "tables" / "audits.csv").write_text("notebook,number,title\n70_toys,1,A *swing*\n")
    (tmp_path / "tables" / "facts.csv").write_text("fact,value,text,computed_in\ntoys.count,8,8,here\n")
    (tmp_path / "tables" / "toys.csv").write_text("method,n,share\na_b,2,0.25\nc,3,\n")
    asked = r"\fact{toys.count} \fact{rows:toys:method;share}"
    found = dict(re.findall(r"\\expandafter\\def\\csname fact:(.*?)\\endcsname\{(.*)\}\n", paper.macros(asked)))
    assert found["rows:toys:method;share"] == r"a\_b & 0.250\joinedrow c &  \\"
    assert found["toys.count"] == "8"
    assert found["TO-01.verdict"] == "fails" and found["TO-02.finding"] == "4"
    first = r"TO-01 & Toys are 50\% found. Printed: \emph{half} & 2 of 4 & holds & fails"
    assert found["claims.Toys.listed"].startswith(first)
    assert found["audits.listed"] == r"70\_toys & 1 & A \emph{swing} \\"


def make(**environment):
    command = ["make", "paper", f"PY={sys.executable}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})


def test_without_latex_make_paper_says_what_to_install(tmp_path):
    for tool in ("bash", "make", "cat", "env", "find", "grep", "tty"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = make(PATH=str(tmp_path))
    assert done.returncode == 2
    assert "make paper needs LaTeX" in done.stderr and "latexmk texlive-latex-recommended" in done.stderr


needs_latex = pytest.mark.skipif(
    not all(map(shutil.which, ("latexmk", "pdflatex", "bibtex", "pdffonts"))),
    reason="needs the Debian packages in paper/debian.txt",
)


@pytest.fixture(scope="module")
def log():
    done = make()
    assert done.returncode == 0, done.stderr
    return (ROOT / "build" / "paper" / "main.log").read_text(errors="replace")


@needs_latex
def test_nothing_runs_over_the_margin_and_references_resolve(log):
    assert not re.findall(r"Overfull \\hbox.*|Float too large.*", log)
    assert not re.findall(r".*(?:undefined|multiply.defined).*", log)
    assert "LaTeX Error" not in log


@needs_latex
def test_fonts_are_embedded(log):
    fonts = subprocess.run(["pdffonts", "paper/main.pdf"], cwd=ROOT, capture_output=True, text=True).stdout
    rows = [re.search(r"(yes|no) +(yes|no) +(yes|no) +\d+ +\d+$", line) for line in fonts.splitlines()[2:]]
    assert rows and all(row and row[1] == "yes" for row in rows)


@needs_latex
def test_the_printed_numbers_are_those_of_the_tables(log):
    shown = subprocess.run(["pdftotext", "-layout", "paper/main.pdf", "-"], cwd=ROOT, capture_output=True, text=True)
    words = "".join(shown.stdout.split())  # thousands are set off by a space
    verdicts = read("ledger")[lambda rows: ~rows["kind"].isin(COPIES)]["verdict"].value_counts()
    assert f"{verdicts['reproduced']}arereproducedand{verdicts['differs']}differ" in words


@needs_latex
def test_the_body_has_at_most_twelve_pages(log):
    (page,) = re.findall(r"\\newlabel\{body:end\}\{\{.*?\}\{(\d+)\}", (ROOT / "build/paper/main.aux").read_text())
    assert 8 <= int(page) <= 12
    body, _, appendix = TEXT.partition(r"\begin{document}")[2].partition(r"\label{body:end}")
    assert body.count(r"\begin{table}") <= 5 and body.count(r"\begin{figure}") <= 8
    assert not re.search(r"\\claims\{", body) and r"\claims{" in appendix

"""The whole ledger: no published cell without a verdict, none twice, none that the studies' files do not bear out."""

import json
from pathlib import Path

from rediscover.cli import main
from rediscover.report import compare, papers, published, verdicts
from rediscover.report.audits import SILENT, _printed, audits
from rediscover.runs.schema import KINDS

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "lib" / "rediscover" / "studies"
STUDIES = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))

CELLS = verdicts.cells()


def entry(folder, study, name, value, verdict=None, row=0):
    """A study's ledger of one cell: ours is `value`, or none with a reason."""
    line = published(name).iloc[row : row + 1]
    key = (line["method"].iloc[0],)
    ours = {key: {"value": value, "low": value, "high": value, "reason": ""}} if verdict is None else {}
    words = {"keys": ["method"], "row": "{method}", "column": "c", "definition": "d", "tolerance": "t"}
    made = compare("SRSD", "Table 3", line, ours, absent={"*": (verdict, f"said {study}")}, **words)
    made.to_csv(folder / f"{study}_ledger.csv", index=False)


def test_every_published_file_is_described_once():
    names = {path.stem for path in FOLDER.glob("*/published/*.csv")} - {"claims"}
    assert set(papers.tables().index) == names


@pytest.mark.parametrize("name", papers.tables().index)
def test_every_line_of_every_file_is_a_cell_and_the_source_names_it(name):
    (path,) = FOLDER.glob(f"*/published/{name}.csv")
    lines = path.read_text().splitlines()
    cells = CELLS[CELLS["source"].str.startswith(f"{name}.csv:")]
    assert set(cells["source"]) == {f"{name}.csv:{line}" for line in range(2, len(lines) + 1)}
    last = cells.iloc[-1]
    assert all(word in lines[-1] for word in last["published"].split())


def test_number_of_cells():
    lines = sum(len(path.read_text().splitlines()) - 1 for path in FOLDER.glob("*/published/*.csv")) - 73
    deviations = (published("scitext2eq_table3")["sd"] != "").sum()
    assert len(CELLS) == lines + deviations + len(published("mdbench_tests")) == 3590
    assert not CELLS.duplicated(["source", "published"]).any()


def test_without_any_study_every_cell_says_why(tmp_path):
    whole = verdicts.ledger(tmp_path, [])
    assert len(whole) == 3590 and set(whole["verdict"]) == {"not run", "not comparable"}
    assert (whole["reason"] != "").all()
    cell = whole.set_index("source").loc["srsd_table3.csv:2"]
    assert cell["reason"] == "the notebook 20_srsd_edit_distance is not part of this version"
    lost = whole[(whole["table"] == "Table 2") & (whole["paper"] == "SymbolBench") & (whole["published"] == "")]
    assert len(lost) == 15 and (lost["verdict"] == "not comparable").all()
    settings = whole[whole["source"].str.startswith("srsd_table_s12")]
    assert settings["reason"].str.contains("hyperparameters that the authors tried").all()


def test_a_study_decides_its_cells(tmp_path):
    entry(tmp_path, "a", "srsd_table3", 6.67)
    cells = verdicts.ledger(tmp_path, ["20_srsd_edit_distance"]).set_index("source")
    assert len(cells) == 3590
    first, second = cells.loc["srsd_table3.csv:2"], cells.loc["srsd_table3.csv:3"]
    assert (first["verdict"], first["measured"], first["method"]) == ("reproduced", "6.67", "gplearn")
    assert second["verdict"] == "not run" and second["reason"] == "20_srsd_edit_distance does not treat this cell"


def test_a_number_beats_an_excuse_and_two_numbers_are_refused(tmp_path):
    entry(tmp_path, "a", "srsd_table3", None, verdict="not run")
    assert verdicts.ledger(tmp_path, []).set_index("source").loc["srsd_table3.csv:2", "reason"] == "said a"
    entry(tmp_path, "b", "srsd_table3", 50.0)
    assert verdicts.ledger(tmp_path, []).set_index("source").loc["srsd_table3.csv:2", "verdict"] == "differs"
    entry(tmp_path, "a", "srsd_table3", 6.67)
    with pytest.raises(ValueError, match=r"srsd_table3\.csv:2: two studies"):
        verdicts.ledger(tmp_path, [])


def test_two_numbers_in_one_line_are_told_apart(tmp_path):
    tests = published("mdbench_tests").iloc[:1].assign(value=lambda t: t["p"])
    words = {"keys": ["comparison"], "row": "{comparison}", "column": "p", "definition": "d", "tolerance": "t"}
    made = compare("MDBench", "Section 4.1", tests, {}, absent={"*": ("not comparable", "no data")}, **words)
    made.to_csv(tmp_path / "a_ledger.csv", index=False)
    both = verdicts.ledger(tmp_path, []).query("source == 'mdbench_tests.csv:2'").set_index("published")
    assert both["verdict"].to_dict() == {"6951.5": "not run", "p < 1e-8": "not comparable"}


def test_cells_that_are_not_published_are_refused(tmp_path):
    entry(tmp_path, "a", "srsd_table3", 6.67)
    path = tmp_path / "a_ledger.csv"
    path.write_text(path.read_text().replace("srsd_table3.csv:2", "srsd_table3.csv:99"))
    with pytest.raises(ValueError, match=r"a_ledger\.csv: .* no line of a published table"):
        verdicts.ledger(tmp_path, [])


def test_claims_without_a_study_are_untestable_and_a_verdict_wins(tmp_path):
    frame = pd.DataFrame({"claim_id": ["MD-01", "MD-02"], "claim": "", "finding": "seen"})
    frame.assign(verdict=["holds", "untestable here"]).to_csv(tmp_path / "a_claims.csv", index=False)
    frame.assign(verdict=["untestable here", "fails"]).to_csv(tmp_path / "b_claims.csv", index=False)
    record = {"notebook": "40_mdbench_odes", "files": {"tables/a_claims.csv": ""}}
    (tmp_path / "40_mdbench_odes.provenance.json").write_text(json.dumps(record))
    found = verdicts.claims(tmp_path, ["40_mdbench_odes", "41_mdbench_pdes"]).set_index("claim_id")
    assert len(found) == 73 and (found["finding"] != "").all()
    assert found.loc[["MD-01", "MD-02", "MD-03"], "verdict"].tolist() == ["holds", "fails", "untestable here"]
    assert found.loc[["MD-01", "MD-02"], "notebook"].tolist() == ["40_mdbench_odes", ""]
    assert found.loc["SR-01", "finding"] == "20_srsd_edit_distance not part of this version"
    assert verdicts.claim_counts(found).loc["MDBench"].tolist() == [1, 1, 0, 0, 13]
    assert found.loc[["SB-02", "SB-03", "SB-13"], "as_printed"].tolist() == ["holds", "mixed", "not printed"]


def test_every_cell_has_a_kind_of_evidence_by_the_rules():
    kinds = CELLS.set_index("source")["kind"]
    assert set(kinds) <= set(KINDS)
    assert (kinds[CELLS["published"].eq("").to_numpy()] == "none").all()
    for source, kind in {
        "srsd_table3.csv:2": "recorded",  # gplearn, whose runs are kept
        "mdbench_table_a5.csv:2": "reimplementation",  # SINDy
        "symbolbench_table4.csv:2": "recorded",  # PCMCI
        "symbolbench_table4.csv:40": "reimplementation",  # our own loop, around a language model
        "surfacebench_table5.csv:2": "count",
        "srsd_table_s12.csv:2": "none",  # a description
    }.items():
        assert kinds[source] == kind, source
    means = CELLS[CELLS["source"].str.startswith("scitext2eq_table3.csv") & (CELLS["row"] == "Overall")]
    assert means["kind"].value_counts().to_dict() == {"recomputed": 7, "arithmetic": 7}


def test_answers_that_are_recorded_say_so(tmp_path, monkeypatch):
    (tmp_path / "srsd").mkdir()
    for name in ("gplearn", "dsr"):
        (tmp_path / "srsd" / f"{name}.jsonl.xz").touch()
    monkeypatch.setattr(verdicts.records, "folder", lambda: tmp_path)
    monkeypatch.setattr(verdicts, "_of_methods", verdicts._of_methods.__wrapped__)
    rows = verdicts.cells().query("paper == 'SRSD' and table == 'Table 3'").groupby("method")["kind"].first()
    assert rows[["gplearn", "DSR", "ST"]].tolist() == ["recorded", "reimplementation", "reimplementation"]


def test_a_kind_that_is_not_known_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(verdicts, "KINDS", {"rerun": ""})
    with pytest.raises(ValueError, match="no such kind of evidence: "):
        verdicts.ledger(tmp_path, [])


def test_rules_that_were_chosen_after_their_outcome_are_marked():
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    late = whole[(whole["rule_chosen"] == "after") & whole["verdict"].isin(("reproduced", "differs"))]
    rows = {"Table 3 LogicGep", "Table 7 LogicGep", "Table 6 GPLearn", "Table 4 LPCMCI"}
    assert set(late["table"] + " " + late["method"]) == rows
    assert (whole.loc[whole["tolerance"] == "", "rule_chosen"] == "none").all()


def test_swaps_count_what_else_would_have_passed():
    columns = ["paper", "table", "row", "column", "method", "published", "low", "high", "verdict"]
    rows = [
        ("A", "1", "x", "easy", "x", "0.5", "0.4", "0.7", "reproduced"),
        ("A", "1", "y", "easy", "y", "0.7", "", "", "not run"),  # would pass
        ("A", "1", "z", "easy", "z", "0.9", "", "", "not run"),
        ("A", "1", "y", "hard", "y", "0.5", "", "", "not run"),  # another place
        ("A", "2", "law", "x", "x", "found", "", "", "reproduced"),
        ("A", "2", "law", "y", "y", "found", "", "", "differs"),  # the same text
        ("A", "3", "ACL", "count", "", "9", "9", "9", "reproduced"),  # of no method
    ]
    found = verdicts.swaps(pd.DataFrame(rows, columns=columns))
    assert found.to_dict("index") == {
        ("A", "1"): {"reproduced": 1, "others": 2, "swaps": 1, "share": 0.5},
        ("A", "2"): {"reproduced": 1, "others": 1, "swaps": 1, "share": 1.0},
    }


def test_counts_and_tolerances():
    rows = [("A", "x", "reproduced", "", "exact"), ("A", "x", "differs", "budget", "exact")]
    rows += [("A", "y", "not run", "Julia", ""), ("B", "x", "not run", "Julia", ""), ("B", "z", "not run", "Julia", "")]
    whole = pd.DataFrame(rows, columns=["paper", "method", "verdict", "reason", "tolerance"])
    assert verdicts.counts(whole, ["paper"]).to_numpy().tolist() == [[1, 1, 0, 1, 3], [0, 0, 0, 2, 2]]
    assert verdicts.counts(whole, ["paper", "method"]).loc[("A", "x"), "cells"] == 2
    assert verdicts.tolerances(whole).loc[("A", "exact")].tolist()[:2] == [1, 1]


def test_the_ledger_in_tables_is_complete_and_not_stale():
    for name, fresh in (
        ("ledger", verdicts.ledger(ROOT / "tables", STUDIES)),
        ("claims", verdicts.claims(ROOT / "tables", STUDIES)),
        ("audits", audits(ROOT / "notebooks").astype(str)),
    ):
        kept = pd.read_csv(ROOT / "tables" / f"{name}.csv", dtype=str, keep_default_na=False)
        assert list(kept) == list(fresh) and len(kept) == len(fresh)
        stale = kept.index[(kept.to_numpy() != fresh.to_numpy()).any(axis=1)]
        assert stale.empty, f"tables/{name}.csv is stale in line {stale[0] + 2}: run `make all`"


def test_every_rule_that_was_applied_is_justified():
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    rules = verdicts.tolerances(whole)
    bare = rules.index[rules["because"] == ""]
    assert bare.empty, f"say in report/verdicts.yaml why this tolerance is right: {bare[0]}"


def test_every_audit_says_what_is_wrong_and_shows_it():
    found = audits(ROOT / "notebooks")
    cells = [
        cell
        for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        if "audit" in cell.metadata.get("tags", [])
    ]
    assert len(found) == len(cells) and not found.duplicated(["notebook", "number"]).any()
    assert (found["text"].str.split().str.len() >= 20).all(), "say what is published, and what the code or data do"
    silent = [cell.source for cell, shows in zip(cells, found["shows"], strict=True) if shows == SILENT]
    assert all(source.startswith("if data") for source in silent), "only what needs released files may print nothing"
    assert found["shows"].str.contains(r"\d").mean() > 0.9  # the number that it changes


def headings(notebook):
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    lines = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown").splitlines()
    return {line.removeprefix("## ") for line in lines if line.startswith("## ")}


def test_every_claim_of_a_study_names_a_section_that_exists():
    claims = verdicts.claims(ROOT / "tables", STUDIES)
    decided = claims[claims["verdict"] != "untestable here"]
    assert (decided["section"] != "").all(), decided.loc[decided["section"] == "", "claim_id"].tolist()
    for notebook, part in claims[claims["notebook"] != ""].groupby("notebook"):
        assert set(part["section"]) <= headings(notebook), f"report/verdicts.yaml: no such section in {notebook}"


def test_the_signed_rank_tests_have_two_cells_each():
    both = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    both = both[both["source"].str.startswith("mdbench_tests")]
    assert len(both) == 10 and not both["reason"].str.contains("does not treat").any()


def test_the_command_line_finds_rows_whatever_the_case(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    assert main(["ledger"]) == 2 and "run `make all` first" in capsys.readouterr().err
    (tmp_path / "tables").mkdir()
    entry(tmp_path, "a", "srsd_table3", 50.0)
    verdicts.ledger(tmp_path, []).to_csv(tmp_path / "tables" / "ledger.csv", index=False)
    assert main(["ledger", "--paper", "srsd", "--verdict", "differs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "Table 3" in lines[1] and "6.67" in lines[1] and "50.0" in lines[1]
    assert main(["ledger", "--verdict", "reproduced"]) == 0 and capsys.readouterr().out == "no such entries\n"
    assert main(["ledger", "--paper", "srds"]) == 2
    assert "no paper 'srds' in the ledger (known: SurfaceBench, SRSD" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["## Audits\n\n**1. A title.** What\nit is.", "**Another.** More."], None),
        (["**2. A title.** What it is."], "audit 1 has the number 2"),
        (["No title."], "no paragraph"),
    ],
)
def test_audits_are_found_by_their_marks(tmp_path, texts, message):
    cells = [new_code_cell("1", execution_count=1)]
    for number, text in enumerate(texts, 2):
        cells.append(new_markdown_cell(text))
        cells.append(new_code_cell("2", execution_count=number, metadata={"tags": ["audit"]}))
    nbformat.write(new_notebook(cells=cells), tmp_path / "10_a.ipynb")
    if message:
        with pytest.raises(ValueError, match=message):
            audits(tmp_path)
        return
    found = audits(tmp_path)
    assert found[["number", "title", "text", "cell"]].to_numpy().tolist() == [
        [1, "A title", "What it is.", 2],
        [2, "Another", "More.", 3],
    ]


def test_a_stream_that_was_cut_where_it_was_flushed_is_shown_whole():
    pieces = [new_output("stream", text=text) for text in ("I3-D1", " NMSE 0.00\n", "done\n")]
    assert _printed(new_code_cell(outputs=pieces)) == "I3-D1 NMSE 0.00\ndone"

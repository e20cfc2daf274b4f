"""The whole ledger: no published cell without a verdict, none twice, none that the studies' files do not bear out."""

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import rediscover as rd
from rediscover.cli import main
from rediscover.report import compare, papers, published, trials, verdicts
from rediscover.report.audits import SILENT, _printed, audits
from rediscover.report.rules import TESTS, rules
from rediscover.runs.schema import KINDS, LEDGER

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "lib" / "rediscover" / "studies"
STUDIES = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))

CELLS = verdicts.cells()


def printed(pattern):
    """Number of lines, without headers, of the files of printed numbers or claims."""
    return sum(len(path.read_text().splitlines()) - 1 for path in FOLDER.glob(f"*/published/{pattern}.csv"))


CLAIMS = printed("claims")
# Two files print two numbers in a line: a mean with its deviation, a statistic with its p value.
NUMBERS = printed("*") - CLAIMS + (published("scitext2eq_table3")["sd"] != "").sum() + len(published("mdbench_tests"))


def entry(folder, study, name, value, verdict=None, row=0):
    """A study's ledger of one cell: ours is `value`, or none with a reason."""
    line = published(name).iloc[row : row + 1]
    key = (line["method"].iloc[0],)
    ours = {key: {"value": value, "low": value, "high": value, "reason": ""}} if verdict is None else {}
    words = {"keys": ["method"], "row": "{method}", "column": "c", "definition": "d", "rule": "digits"}
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
    assert len(CELLS) == NUMBERS > 0
    assert not CELLS.duplicated(["source", "published"]).any()


def test_without_any_study_every_cell_says_why(tmp_path):
    whole = verdicts.ledger(tmp_path, [])
    assert len(whole) == NUMBERS and set(whole["verdict"]) == {"not run", "not comparable"}
    assert (whole["reason"] != "").all()
    cell = whole.set_index("source").loc["srsd_table3.csv:2"]
    assert cell["reason"] == "the notebook 20_srsd_edit_distance is not part of this version"
    lost = whole[(whole["table"] == "Table 2") & (whole["paper"] == "SymbolBench") & (whole["published"] == "")]
    empty = published("symbolbench_table2")["value"] == ""
    assert len(lost) == empty.sum() > 0 and (lost["verdict"] == "not comparable").all()
    described = whole[whole["source"].str.startswith("mdbench_table1.csv")]
    assert described["reason"].str.contains("what this and related benchmarks contain").all()


def test_what_was_not_run_says_what_it_takes():
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    rows = whole[(whole["verdict"] == "not run") & (whole["notebook"] != "80_outside")]
    assert len(rows) and rows["reason"].str.contains("; it takes ").all()


def test_a_study_decides_its_cells(tmp_path):
    entry(tmp_path, "a", "srsd_table3", 6.67)
    (tmp_path / "20_srsd_edit_distance.provenance.json").write_text("{}")
    cells = verdicts.ledger(tmp_path, ["20_srsd_edit_distance"]).set_index("source")
    assert len(cells) == NUMBERS
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
    words = {"keys": ["comparison"], "row": "{comparison}", "column": "p", "definition": "d"}
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
    assert len(found) == CLAIMS and (found["finding"] != "").all()
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
        "surfacebench_table5.csv:2": "transcribed",  # our table of surfaces was typed from the paper's
        "srsd_tables_s1_s11.csv:2": "transcribed",
        "mdbench_table_a4.csv:2": "count",  # states of systems from ODEBench's files
        "srsd_table_s12.csv:2": "released",  # a setting
        "srsd_table_s16.csv:2": "copied",  # from SRBench's results
        "srsd_table_s16.csv:7": "arithmetic",  # on Table 3
        "mdbench_table1.csv:2": "none",  # a description
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
    with pytest.raises(ValueError, match=r"kind '.*' is not known \(known: rerun\)"):
        verdicts.ledger(tmp_path, [])


def test_rules_and_configurations_that_were_chosen_after_their_outcome_are_marked():
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    stated = whole["rule"].map({"": "none"} | {key: about["chosen"] for key, about in rules().items()})
    other = whole[whole["rule_chosen"] != stated]
    known = {"SRSD DSR", "SymbolBench PCMCI", "SymbolBench j-PCMCI+"}
    assert set(other["paper"] + " " + other["method"]) == known and set(other["rule_chosen"]) == {"after"}
    assert set(whole.loc[(whole["method"] == "DSR") & (whole["paper"] == "SRSD"), "rule_chosen"]) <= {"after", "none"}


def test_tables_that_the_paper_does_not_print_say_where_they_are_printed():
    tables = CELLS[CELLS["printed_in"] != "paper"].groupby("table")["printed_in"].unique().map(list).to_dict()
    assert tables == {
        "Figure 3 (a)": ["released figure"],
        "Figure 3 (b)": ["released figure"],
        "Figure 3 (b), graphs": ["released figure"],
        **{f"Figure 4 ({panel})": ["released figure"] for panel in "abc"},
        "Figure 6": ["released figure"],
        "Figure 6, released notebook": ["released notebook"],
        "groundtruth.csv, mean rates": ["released table"],
        "pull request 223 of SRBench": ["released table"],
        "fronts judged by eye": ["released table"],
    }


def test_what_is_said_to_be_without_chance_gives_one_answer_with_two_seeds():
    known = papers.catalogue("mdbench")
    tried = {"sindy": "odes/24", "pdefind": "pdes/advection"}
    assert set(known.loc[~known["chance"], "ours"]) == set(tried)
    for name, id in tried.items():
        first, second = (rd.method(name).solve(rd.problem(id), seed=seed)[0].solution for seed in (0, 1))
        assert first == second, name


def test_nothing_that_differs_rests_on_one_seed():
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False)
    late = {key for key, about in rules().items() if about.get("chance") == "seeds"}
    tested = whole[whole["rule"].isin(late) & whole["verdict"].isin(("reproduced", "differs"))]
    seeds = tested["parameters"].map(lambda text: len(json.loads(text)["values"]))
    assert len(tested) > 100 and seeds.min() > 1


def test_swaps_count_what_else_would_have_passed():
    columns = ["paper", "table", "verdict", "others", "others_passing"]
    rows = [
        ("A", "1", "reproduced", "2", "1"),
        ("A", "1", "reproduced", "3", "0"),  # no other value passes
        ("A", "1", "differs", "2", "2"),
        ("A", "2", "reproduced", "1", "1"),
        ("A", "3", "reproduced", "0", "0"),  # of no method, or alone
        ("A", "3", "not run", "", ""),
    ]
    found = verdicts.swaps(pd.DataFrame(rows, columns=columns))
    assert found.to_dict("index") == {
        ("A", "1"): {"reproduced": 2, "others": 5, "swaps": 1, "share": 0.2, "excluding": 1},
        ("A", "2"): {"reproduced": 1, "others": 1, "swaps": 1, "share": 1.0, "excluding": 0},
    }


def test_counts_and_rules():
    rows = [("A", "x", "reproduced", "", "count"), ("A", "x", "differs", "budget", "count")]
    rows += [("A", "x", "undecided", "", "seeds"), ("A", "y", "not run", "Julia", "seeds")]
    rows += [("B", "x", "not run", "Julia", ""), ("B", "z", "not run", "Julia", "")]
    whole = pd.DataFrame(rows, columns=["paper", "method", "verdict", "reason", "rule"])
    assert verdicts.counts(whole, ["paper"]).to_numpy().tolist() == [[1, 1, 1, 0, 1, 4], [0, 0, 0, 0, 2, 2]]
    assert verdicts.counts(whole, ["paper", "method"]).loc[("A", "x"), "cells"] == 3
    applied = verdicts.applied(whole)
    assert applied.loc[("A", "count")].tolist()[:3] == [1, 1, 0]
    assert applied.loc[("A", "seeds")].tolist()[:4] == [0, 0, 1, "after"]


def test_a_cell_may_bring_its_verdict_its_rule_and_its_kind(tmp_path):
    line = published("srsd_table3").iloc[:2]
    ours = {
        ("gplearn",): {"value": 6.67, "verdict": "not comparable", "reason": "another set", "kind": "arithmetic"},
        ("AFP",): {"value": 20.0, "low": 20.0, "high": 20.0, "rule": "digits"},
    }
    words = {"keys": ["method"], "row": "{method}", "column": "easy", "definition": "d", "rule": "seeds"}
    line = line.assign(method=["gplearn", "AFP"], value=["6.67", "20.0"])
    made = compare("SRSD", "Table 3", line, ours, absent={}, **words)
    assert made["verdict"].tolist() == ["not comparable", "reproduced"]
    assert made["rule"].tolist() == ["seeds", "digits"] and made["kind"].tolist() == ["arithmetic", ""]
    made.iloc[:1].to_csv(tmp_path / "a_ledger.csv", index=False)
    assert verdicts.ledger(tmp_path, []).set_index("source").loc["srsd_table3.csv:2", "kind"] == "arithmetic"


def test_a_trial_with_the_most_seeds_decides_whichever_way_the_table_fell(tmp_path, monkeypatch):
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "trials.yaml").write_text(
        "two: {says: two seeds, decides: yes, why: more seeds}\n"
        "three: {says: three seeds, decides: yes, why: more seeds}\n"
        "fewer: {says: a tenth, decides: no, why: less budget}\n"
        "part: {says: the first of three, decides: yes, why: more seeds}\n"
    )
    cell = "T,a,easy"
    (tmp_path / "toys" / "trials.csv").write_text(
        "trial,table,row,column,values,digits\n"
        f'two,{cell},"[0.5, 0.5]",\nthree,{cell},"[0.7, 0.71, 0.72]",\nfewer,{cell},"[0.5, 0.5, 0.5, 0.5]",\n'
        f'part,{cell},"[0.7, 0.71]",\n'
    )
    monkeypatch.setattr(trials, "FOLDER", tmp_path)
    monkeypatch.setattr(trials, "of_notebook", {"70_toys": "toys"}.get)
    rows = pd.DataFrame({"method": ["a"], "set": ["easy"], "value": ["0.50"]}, index=["t.csv:2"])
    ours = {("a",): {"value": 0.5, "parameters": {"values": [0.5], "scale": "logit", "bounds": [0, 1], "n": 100}}}
    words = {"keys": ["method"], "row": "{method}", "column": "{set}", "definition": "d", "rule": "seeds"}
    made = compare("Toys", "T", rows, ours, absent={}, **words)
    assert made.loc[0, ["verdict", "reason"]].tolist() == ["undecided", "one seed; equals the printed digit"]
    p = SimpleNamespace(notebook="70_toys", profile="reference", explored=False)
    told = trials.explain(made, p).loc[0]
    assert told["verdict"] == "differs" and json.loads(told["parameters"])["trial"] == "three"
    assert told["measured"] == pytest.approx(0.71) and told["low"] < 0.7 < 0.72 < told["high"] < 0.77
    assert "with two seeds: two seeds; equals the printed digit, undecided; " in told["reason"]
    assert told["reason"].endswith("as printed (less budget)") and "the first of three" not in told["reason"]


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


def test_every_rule_has_a_test_words_and_a_reason_and_every_table_a_rule_that_is_known():
    for key, about in rules().items():
        assert about["test"] in TESTS and about["words"] and about["because"], key
        assert about["chosen"] in ("before", "after") and about.get("chance") in (None, "seeds", "sample", "clock"), key
    for name, stated in papers.tables()["ledger"].dropna().items():
        parts = [stated] if "keys" in stated else stated.values()
        assert all(part.get("rule", "digits") in rules() for part in parts), name


def test_a_number_that_is_printed_as_approximate_is_compared_by_its_printed_digit():
    """Each such number, whatever the word; what has chance or rounding of its own keeps that, and no more."""
    asked = {}
    for name in papers.tables().index:
        rows = published(name)
        words = rows["value"] + " " + rows.get("unit", "") if "value" in rows else pd.Series("", rows.index)
        asked |= dict.fromkeys(rows.index[words.str.contains(r"approximately|around|about|~|≈")], name)
    assert len(asked) == 11
    whole = pd.read_csv(ROOT / "tables" / "ledger.csv", dtype=str, keep_default_na=False).set_index("source")
    of_chance = {"sample_ends", "middle", "seconds_rounded"}  # the paper's sample, its cells, its rounded seconds
    assert set(whole.loc[list(asked), "rule"]) == {"approximately", *of_chance}
    plain = whole.loc[list(asked)].query("rule == 'approximately'")
    for text, given in plain[["published", "parameters"]].to_numpy():
        numbers = re.findall(r"\d+(?:\.\d+)?", text)
        ends = json.loads(given)["ends"]
        assert [number for number, *_ in ends] == numbers and all(low == high for _, low, high in ends)


def test_a_cell_of_two_numbers_states_both_intervals(tmp_path, monkeypatch):
    rows = pd.DataFrame({"method": ["a", "b", "c"], "value": ["value -3 9"] * 3}, index=["t:2", "t:3", "t:4"])
    seeds = {"a": ["1e-3 (9)"] * 3, "b": ["1e-3 (9)", "1e-2 (9)", "1e-4 (9)"], "c": ["1e-3 (9)", "found", "found"]}
    ours = {(name,): {"value": cells[0], "parameters": {"values": cells}} for name, cells in seeds.items()}
    words = {"keys": ["method"], "row": "{method}", "column": "x", "definition": "d", "rule": "cell_seeds"}
    made = compare("Toys", "T", rows, ours, absent={}, **words).set_index("method")
    # t(0.975, 2) = 4.3027, s = 1, root of 4/3
    assert made.loc["b", ["low", "high"]].tolist() == pytest.approx([-3 - 4.9683, -3 + 4.9683], abs=1e-4)
    given = made["parameters"].map(json.loads)
    assert made.loc["a", ["low", "high"]].tolist() == [-3, -3] and given["a"]["complexity"] == [9, 9]
    assert made.loc["c", ["low", "high"]].isna().all() and "complexity" not in given["c"]
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "trials.yaml").write_text("more: {says: more seeds, decides: yes, why: more seeds}\n")
    four = json.dumps([*seeds["b"], "found"]).replace('"', '""')
    (tmp_path / "toys" / "trials.csv").write_text(f'trial,table,row,column,values,digits\nmore,T,b,x,"{four}",\n')
    monkeypatch.setattr(trials, "FOLDER", tmp_path)
    monkeypatch.setattr(trials, "of_notebook", {"70_toys": "toys"}.get)
    p = SimpleNamespace(notebook="70_toys", profile="reference", explored=False)
    told = trials.explain(made.reset_index()[list(LEDGER)], p).set_index("method").loc["b"]
    assert np.isnan(told["low"]) and "complexity" not in json.loads(told["parameters"])


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
    assert len(both) == 2 * len(published("mdbench_tests")) and not both["reason"].str.contains("does not treat").any()


def test_the_command_line_finds_rows_whatever_the_case(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    assert main(["ledger"]) == 2 and "run `make all` first" in capsys.readouterr().err
    (tmp_path / "tables").mkdir()
    entry(tmp_path, "a", "srsd_table3", 50.0)
    verdicts.ledger(tmp_path, []).to_csv(tmp_path / "tables" / "ledger.csv", index=False)
    assert main(["ledger", "--paper", "srsd", "--verdict", "differs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "SRSD, Table 3" and "printed 6.67, here 50.0" in lines[1] and max(map(len, lines)) <= 80
    counts = r"1 of [\d,]+ printed numbers \([\d,]+ in the five papers, \d+ in other sources\); differs: 1"
    assert re.search(counts + "$", " ".join(lines))
    assert main(["ledger", "--verdict", "differs", "--csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (row["table"], row["published"], row["measured"]) == ("Table 3", "6.67", "50.0")
    assert f"[{row['id']}]" in " ".join(lines) and {"low", "rule", "parameters", "source"} <= {*row}
    assert main(["ledger", "--verdict", "reproduced"]) == 0 and capsys.readouterr().out == "no such numbers\n"
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

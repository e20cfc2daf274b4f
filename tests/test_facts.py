"""README, essays and paper say what the tables say: their numbers are facts, and the facts are of these tables."""

import json
import re
from pathlib import Path

from rediscover.publish import facts, readme, stories
from rediscover.report import facts as named

import nbformat
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
ESSAYS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
BRACKETS = re.compile(r"\[[-−]?[\d.,]*\d, [-−]?[\d.,]*\d\]")
NO_RESULTS = {  # brackets in the essays that come from no table
    "10_surface_benchmark": ["[-5, 5]"],  # where surfaces are sampled
    "20_srsd_edit_distance": ["[0.0, 0.5]"],  # a setting to try
    "40_mdbench_odes": ["[0, 10]"],  # the time of a trajectory
    "41_mdbench_pdes": ["[1, 2]"],  # a setting to try
    "80_outside": ["[0.0, 0.5]"],  # a setting to try
}
KNOWN = {"toys.count": "8", "toys.share": "0.5 [0.4, 0.6]", "toys.found": "three"}


def prose(path):
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module")
def computed(reference_tables):
    return named.computed()


def test_the_file_of_facts_is_what_the_tables_give(computed, tmp_path):
    computed.to_csv(tmp_path / "facts.csv", index=False)
    assert (tmp_path / "facts.csv").read_text() == (ROOT / "tables" / "facts.csv").read_text(), "run `make publish`"
    assert computed["fact"].is_unique


@pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)
def test_the_essay_says_what_the_tables_say(path, computed):
    known = dict(zip(computed["fact"], computed["text"], strict=True)) | readme.sections(path)
    now, stated = facts.essay(path, known).splitlines(), path.read_text().splitlines()
    assert stated == now, "run `make publish`, and read whether the words still fit"


def parts(path):
    """Paragraphs, and rows of tables, of a document."""
    text = path.read_text(encoding="utf-8") if path.suffix != ".ipynb" else prose(path)
    return re.split(r"\n\s*\n|\n(?=\|)", text)


def stated(part):
    """The facts that a part of a document states."""
    return {name for name, _ in facts.MARKED.findall(part)} | set(re.findall(r"\\fact\{([^}]+)\}", part))


def alone(part, known):
    """Facts of the method of our own that a part states without what they were as first recorded."""
    names = stated(part)
    return sorted(name for name in names if f"{name}.first" in known and f"{name}.first" not in names)


DOCUMENTS = [*ESSAYS, ROOT / readme.TEMPLATE, ROOT / "docs" / "results.md", ROOT / "paper" / "main.tex"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_our_own_method_is_shown_as_first_recorded_too(path, computed):
    known = set(computed["fact"])
    assert [name for part in parts(path) for name in alone(part, known)] == []


def test_a_number_without_its_twin_would_be_seen():
    known = {"toys.found.bidirectional", "toys.found.bidirectional.first", "toys.found.operon"}
    both = "<!--toys.found.bidirectional-->3<!--/--> (<!--toys.found.bidirectional.first-->2<!--/--> at first)"
    assert alone(both, known) == alone("<!--toys.found.operon-->1<!--/-->", known) == []
    assert alone(r"\fact{toys.found.bidirectional} here", known) == ["toys.found.bidirectional"]


def test_every_number_of_our_own_method_has_a_twin(computed):
    names = [name for name in computed["fact"] if "bidirectional" in name.split(".")]
    ends = ("first", "without_pieces", "without_following", "without_laws", "without_functions_beside_monomials")
    left = {name for name in names if f"{name}.first" not in set(names) and not name.endswith(ends)}
    # what others have stands beside it, and evaluations and numbers of states are no scores
    assert {name for name in left if not re.search(r"\.(evaluations|printed\w*|next_best|states)(\.|$)", name)} == set()


def named_alone(text):
    """Of the tables of a page, how often each names the method of our own more often than its first answers."""
    tables = re.findall(r"(?:^\|.*\n?)+", text, flags=re.M)
    cells = [[cell.strip() for cell in re.split(r"[|\n]", table)] for table in tables]
    now = [sum(bool(re.fullmatch(r"bidirectional( \[.*\])?", cell)) for cell in table) for table in cells]
    then = [sum(bool(re.match(r"bidirectional.*first", cell)) for cell in table) for table in cells]
    return [a - b for a, b in zip(now, then, strict=True) if a != b]


def test_generated_tables_have_rows_or_columns_as_first_recorded():
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert text.count("| bidirectional, as first recorded") == 2 and named_alone(text) == []  # of laws, of systems


def test_a_table_without_first_answers_would_be_seen():
    lone = "| set | bidirectional [95 %] | best |\n|---|---|---|\n| hard | 0.96 | 0.30 |\n"
    pair = lone.replace("| best |", "| bidirectional, as first recorded [95 %] |")
    assert named_alone(lone) == [1] and named_alone(pair) == []
    assert named_alone("| toys | bidirectional | 3 |\n| toys | bidirectional_first | 2 |\n") == []


SAID = {  # what a reader has to know of a score of the method of our own, where it stands
    "how many seeds": r"\bseeds?\b",
    "who judged": r"\brules?\b|\bSR2\b",
    "which data": r"\bexact\b|\bclean\b|\bnoise\b",
}


def unsaid(part, known):
    """What a part that states facts of the method of our own does not say of them."""
    scores = [name for name in stated(part) if f"{name}.first" in known]
    read = re.sub(r"\\fact\{[^}]*\}", "", facts.MARKED.sub(r"\2", part))
    return [what for what, words in SAID.items() if scores and not re.search(words, read)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_seeds_judge_and_data_stand_beside_our_own_numbers(path, computed):
    known = set(computed["fact"])
    assert [(part[:60], left) for part in parts(path) if (left := unsaid(part, known))] == []


def test_what_is_unsaid_would_be_seen():
    known = {"toys.found.bidirectional", "toys.found.bidirectional.first"}
    number = "<!--toys.found.bidirectional-->3<!--/-->"
    assert unsaid(number, known) == list(SAID) and unsaid("3", known) == []
    assert unsaid(f"From exact data, by our rule, with one seed: {number}", known) == []


def test_the_essays_state_facts():
    assert sum(len(facts.MARKED.findall(prose(path))) for path in ESSAYS) >= 242


@pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)
def test_every_interval_is_a_fact(path):
    left = BRACKETS.findall(facts.MARKED.sub("", prose(path)))
    assert sorted(left) == sorted(NO_RESULTS.get(path.stem, []))


@pytest.mark.parametrize("path", [*ESSAYS, *(ROOT / page for page in readme.PAGES[1:])], ids=lambda path: path.stem)
def test_no_line_begins_with_a_mark(path):
    """There, Markdown takes the whole line for HTML."""
    text = path.read_text() if path.suffix != ".ipynb" else prose(path)
    text = re.sub(r"^<!--.*?-->$", "", text, flags=re.M)  # around whole sections
    assert not re.findall(r"^[\s>*+-]*<!--.*", text, flags=re.M)


@pytest.mark.parametrize("path", ESSAYS, ids=lambda path: path.stem)
def test_no_reader_sees_a_mark(path):
    shown = stories.story(nbformat.read(path, as_version=4))
    assert len(facts.MARKED.findall(shown)) == len(facts.MARKED.findall(prose(path)))  # comments, whole
    assert "&lt;!--" not in shown and "--&gt;" not in shown


def test_a_fact_that_changes_changes_its_sentence():
    text = "<!--toys.count-->7<!--/--> toys, <!--toys.share-->0.5\n[0.4, 0.6]<!--/-->. <!--toys.found-->Three<!--/-->"
    assert facts.filled(text, KNOWN) == text.replace("7", "8")
    assert facts.filled(text, KNOWN | {"toys.found": "four"}).endswith("-->Four<!--/-->")


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("<!--toys.cuont-->8<!--/-->", "'toys.cuont'; did you mean 'toys.count'"),
        ("<!--toys.count-->8 toys", "<!--toys.count--> stands alone"),
        ("8<!--/--> toys", "<!--/--> stands alone"),
        ("<!--toys.count-->8<!--toys.found-->three<!--/-->", "<!--toys.count--> stands alone"),
    ],
)
def test_marks_that_mean_nothing_are_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        facts.filled(text, KNOWN)


@pytest.mark.parametrize("standing", ["eight", "8 or so", "", "8.0"])
def test_what_is_not_the_fact_is_replaced(standing):
    assert facts.filled(f"<!--toys.count-->{standing}<!--/-->", KNOWN) == "<!--toys.count-->8<!--/-->"


def test_an_essay_names_its_notebook(tmp_path):
    cell = {"cell_type": "markdown", "source": ["<!--toys.color-->8<!--/-->"]}
    (tmp_path / "70_toys.ipynb").write_text(json.dumps({"cells": [cell]}))
    with pytest.raises(ValueError, match=r"70_toys\.ipynb: no fact is called 'toys\.color'"):
        facts.essay(tmp_path / "70_toys.ipynb", KNOWN)


def test_values_have_six_digits_and_texts_their_forms(computed):
    values = pd.to_numeric(computed["value"].replace("", None))
    assert values.notna().sum() > 300
    whole = computed[values.notna() & computed["text"].str.fullmatch(r"-?[\d,]+")]
    assert (pd.to_numeric(whole["text"].str.replace(",", "")) - values[whole.index]).abs().max() <= 0.5

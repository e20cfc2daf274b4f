"""The essays say what the tables say: prose.yaml computes their sentences from tables/, and they stand there."""

import difflib
import functools
import json
import re
import string
from pathlib import Path

import prose_values

import pytest
import yaml

NOTEBOOKS = {path.name[:2]: path for path in (Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb")}
PROSE = yaml.safe_load((Path(__file__).parent / "prose.yaml").read_text())
SAID = [(number, sentence) for number, sentences in PROSE["said"].items() for sentence in sentences]
BRACKETS = re.compile(r"\[[-−]?[\d.,]*\d, [-−]?[\d.,]*\d\]")
VALUE = r"(?:\[[^\]]+\]|\S+(?: \[[^\]]+\]| (?:to|and|or) \S+)?)"  # [5, 7]; 6 [5, 7]; six; five to seven


class Answers(string.Formatter):
    """Expressions of prose_values in place of names; ``!w`` writes a number as a word."""

    def get_field(self, field_name, args, kwargs):
        return eval(field_name, vars(prose_values)), field_name

    def convert_field(self, value, conversion):
        return prose_values.word(value) if conversion == "w" else super().convert_field(value, conversion)


def plain(text: str) -> str:
    return " ".join(text.split())


@functools.cache
def essay(number: str) -> str:
    """The Markdown of a notebook with single blanks."""
    cells = json.loads(NOTEBOOKS[number].read_text())["cells"]
    return plain("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"))


@functools.cache
def answered(sentence: str) -> str:
    return plain(Answers().format(sentence))


def find(sentence: str, text: str) -> re.Match | None:
    """Where a sentence stands, not within longer words or numbers; its first letter may be a capital."""
    first, rest = re.escape(sentence[0]), re.escape(sentence[1:])
    return re.search(rf"(?<![\w.-])(?i:{first}){rest}(?!\w|[.,]\d)", text)


def shape(sentence: str) -> str:
    """A sentence as a pattern in which its values may be others."""
    parts = string.Formatter().parse(plain(sentence))
    return "(?i)" + "".join(re.escape(words) + (VALUE if field else "") for words, field, *_ in parts)


def nearest(sentence: str, text: str) -> str:
    """As many words of the text as the sentence has, those most like it."""
    words, length = text.split(), len(sentence.split())
    windows = [" ".join(words[i : i + length]) for i in range(max(1, len(words) - length + 1))]
    return difflib.get_close_matches(sentence, windows, n=1, cutoff=0)[0]


def of_the_quick_profile(number: str) -> None:
    if (profile := prose_values.provenance(number)["profile"]) != "quick":
        pytest.skip(f"the essays tell of the quick profile, and these tables are of {profile}")


@pytest.mark.parametrize("number, sentence", SAID, ids=lambda text: plain(re.sub(r"\{.*?\}+", "#", text))[:60])
def test_the_essay_says_what_the_tables_say(number, sentence, committed_tables):
    of_the_quick_profile(number)
    expected, text = answered(sentence), essay(number)
    if not find(expected, text):
        where = f"notebooks/{NOTEBOOKS[number].name}"
        pytest.fail(f"{where}\nshould read: {expected}\nbut has:     {nearest(expected, text)}", pytrace=False)


@pytest.mark.parametrize("number", sorted(NOTEBOOKS))
def test_every_interval_is_in_a_sentence(number):
    """Whatever its values are: whether they are right is the question of the test above."""
    text = essay(number)
    tied = [found for said in PROSE["said"].get(number, ()) if (found := re.search(shape(said), text))]
    left = [m[0] for m in BRACKETS.finditer(text) if not any(t.start() < m.start() < t.end() for t in tied)]
    missing = f"notebooks/{NOTEBOOKS[number].name}: intervals that no sentence of prose.yaml covers"
    assert sorted(left) == sorted(PROSE["untied"].get(number, ())), missing


def test_every_sentence_asks_a_table():
    """A fragment without a question would stand there for ever, whatever a run gives."""
    assert not [said for said in SAID if all(field is None for _, field, _, _ in string.Formatter().parse(said[1]))]


def test_the_nearest_words_are_found():
    text = "The map has a BI of 27.0 here and more elsewhere"
    assert nearest("a BI of 27.1 here", text) == "a BI of 27.0 here"


@pytest.mark.parametrize("text", ["19 proposals for 40 laws", "9 proposals for 40.5", "9 proposals for 405"])
def test_a_number_is_not_found_in_a_longer_one(text):
    assert find("9 proposals for 40", "Take 9 proposals for 40.") and not find("9 proposals for 40", text)

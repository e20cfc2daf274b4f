"""Recorded trees: found in place of computing, extended from the user's cache, made again and compared."""

import importlib.metadata
import json
import lzma
from pathlib import Path

from rediscover.metrics import compared_trees
from rediscover.metrics.edit_distance import ned_harmonised, ned_published
from rediscover.system import record_files
from rediscover.system.store import CACHE

import pytest

PAIR = ("3*x0", "x0*x1")
LOCK = (Path(__file__).parents[1] / "requirements.lock").read_text()
LOCKED = f"sympy=={importlib.metadata.version('sympy')} " in LOCK


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty repository and an empty cache."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "params").mkdir()
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    forget()
    yield tmp_path
    forget()


def forget():
    for kept in (compared_trees.published_tree, compared_trees.harmonised_tree, compared_trees._read):
        kept.cache_clear()


@pytest.fixture
def recorded(repository, monkeypatch):
    """Four trees in the records, none in the cache."""
    ned_published(*PAIR), ned_harmonised(*PAIR)
    assert compared_trees.extend() == 4 and compared_trees.extend() == 0
    monkeypatch.setenv(CACHE, str(repository / "another"))
    forget()
    return repository / "records" / compared_trees.FILE


def test_what_is_recorded_is_not_computed(recorded, monkeypatch):
    with monkeypatch.context() as without:
        without.setattr(compared_trees, "attempt", None)
        assert ned_published(*PAIR) == 2 / 3 and ned_harmonised(*PAIR) == 0.5
        forget()
        without.setenv("REDISCOVER_FRESH", "1")
        assert compared_trees.published_tree(compared_trees.parse("3*x0")) == ("error", None)  # None cannot be called


def test_another_version_of_the_code_takes_none_and_drops_them(recorded, monkeypatch):
    compared_trees._version.cache_clear()
    with monkeypatch.context() as other:
        other.setattr(compared_trees.importlib.metadata, "version", lambda name: "0")
        other.setattr(compared_trees, "attempt", lambda conversion, text: ("seen",))
        assert compared_trees.published_tree(compared_trees.parse("3*x0")) == ("ok", ("seen",))
        assert compared_trees.again() == []
        assert compared_trees.extend() == 1
        assert len(record_files.load(recorded)) == 1
    compared_trees._version.cache_clear()


def test_a_tree_edited_by_hand_is_found_twice(recorded):
    assert record_files.altered() == [] and all(same for _, same in compared_trees.again())
    lines = record_files.load(recorded)
    lines[0]["tree"] = ["Const"]
    with lzma.open(recorded, "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    assert record_files.altered() == [compared_trees.FILE]
    forget()
    with pytest.raises(record_files.RecordError, match="is not what SHA256SUMS says"):
        compared_trees.again()
    record_files.write(recorded.parent, {recorded: lines}, compared_trees._identity)  # whoever restates the digest
    assert [same for _, same in compared_trees.again()].count(False) == 1


@pytest.mark.skipif(not LOCKED, reason="the recorded trees are of the locked version of SymPy")
def test_the_recorded_trees_are_those_of_this_code_and_come_out_again():
    lines = record_files.load(record_files.folder() / compared_trees.FILE)
    versions = {(line["conversion"], line["version"]) for line in lines}
    assert versions == {(name, compared_trees._version(name)) for name, _ in versions}, (
        "use `make trees` after `make all`"
    )
    checked = compared_trees.again(seed=1, count=10)
    assert len(checked) == 10 and [text for text, same in checked if not same] == []


@pytest.mark.skipif(not LOCKED, reason="the recorded trees are of the locked version of SymPy")
def test_published_trees_are_to_the_last_node_what_they_were():
    lines = record_files.load(record_files.folder() / compared_trees.FILE)
    published = [line for line in lines if line["conversion"] == "convert_published" and len(line["text"]) < 200]
    for line in published[:: len(published) // 40]:
        assert compared_trees.convert_published(line["text"]) == compared_trees.tuples(line["tree"]), line["text"]

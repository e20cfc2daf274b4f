"""Prompts that authors released: fetched from a real server on loopback, whose files have words of ours."""

import hashlib
import re

import rediscover as rd
import test_language_loops as loops
import test_lasr
import test_released
from rediscover import methods
from rediscover.cli import main
from rediscover.llm import released_prompts
from rediscover.methods.endpoint import Endpoint
from rediscover.runs.run import Run
from rediscover.system import upstream_files
from rediscover.system.paths import root

import pytest

author, own_cache, web = loops.author, test_released.own_cache, test_released.server
WORDS = 'Kindly finish it, for $5.\n"""\nGive SOMETHING from WHATEVER.\n"""\n'
COMMIT, PATH = "0123456789" * 4, "prompts/words.txt"
MAPPED = {name: entry for name, entry in released_prompts.RELEASED.items() if "texts" in entry}
LOOPS = {name: known for name, known in methods.registry().items() if issubclass(known, Endpoint)}


@pytest.fixture
def entry(monkeypatch, own_cache):
    """Two texts of LLM-SR in a file of somebody."""
    place = {"path": PATH, "commit": COMMIT, "sha256": hashlib.sha256(WORDS.encode()).hexdigest()}
    texts = {
        "instruction": ["words#L1C1-L1C26"],
        "head": ["words#L2C1-L3C6", "$output", "words#L3C15-L3C21", "$inputs", "words#L3C29-L4C4"],
    }
    known = {"repository": "someone/loop", "licence": "MIT", "files": {"words": place}, "texts": texts}
    monkeypatch.setitem(released_prompts.RELEASED, "llm_sr", known)


def offer(folder, words=WORDS):
    file = folder / "someone" / "loop" / COMMIT / PATH
    file.parent.mkdir(parents=True)
    file.write_text(words)
    return file


def test_what_is_sent_has_the_words_of_the_file_and_its_blanks_filled(entry, web, author, tmp_path):
    offered = offer(web)
    (first, *_), _ = loops.messages("llm_sr", author, tmp_path / "a", samples=4, prompts="released")
    text = first[0]["content"]
    head = 'Kindly finish it, for $5.\n\n"""\nGive z from x, y.\n"""\n\ndef equation_v0('
    assert text.startswith(head) and "$" not in text.replace("$5", "")
    own = loops.messages("llm_sr", author, tmp_path / "b", samples=4)[0][0][0]["content"]
    assert text.partition("def equation_v0(")[2] == own.partition("def equation_v0(")[2]
    offered.unlink()  # from now on it is in the cache
    again = loops.messages("llm_sr", author, tmp_path / "c", samples=4, prompts="released")[0]
    assert again[0] == first


def test_a_run_with_them_is_another_run_and_says_so(entry):
    theirs, ours = (loops.played("llm_sr", "records", prompts=prompts) for prompts in ("released", ""))
    assert theirs.settings == {**ours.settings, "prompts": "released"} and theirs.version == ours.version
    keys = {Run(rd.problem(loops.PROBLEM), method, 0, methods.Budget(4)).key for method in (theirs, ours)}
    assert len(keys) == 2


def test_another_file_is_refused_and_not_kept(entry, web, own_cache):
    offer(web, WORDS + "\n")
    reason = loops.played("llm_sr", "records", prompts="released").available()
    assert "is not the released file any more" in reason and f"/someone/loop/{COMMIT}/{PATH}" in reason
    assert not list(own_cache.rglob("words.txt"))


def test_a_file_that_is_not_there_is_said(entry, web):
    reason = loops.played("llm_sr", "records", prompts="released").available()
    assert re.match(r"cannot download http://127.0.0.1:\d+/someone/loop/.*words.txt \(HTTPError\)", reason)


def test_without_a_network_the_file_can_be_put_where_the_sentence_says(entry, author, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(upstream_files, "RAW", "http://127.0.0.1:1")
    server = author()
    settings = {"prompts": "released", "model": loops.MODEL, "records": tmp_path, "max_rows": 50}
    words = ["solve", "llm_sr", loops.PROBLEM, "--evaluations", "2"]
    words += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    assert main(words) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"http://127.0.0.1:1/someone/loop/{COMMIT}/{PATH}" in said and not server.seen
    folder = upstream_files.Path(re.search("put the file into ([^,]+)", said)[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text(WORDS + "another")
    assert main(words) == 2 and not server.seen
    (folder / "words.txt").write_text(WORDS)
    assert main(words) == 0 and server.seen[0][2]["messages"][0]["content"].startswith("Kindly")


def test_the_command_run_refuses_before_anything_is_sent(own_cache, author, monkeypatch, capsys):
    monkeypatch.setattr(upstream_files, "RAW", "http://127.0.0.1:1")
    monkeypatch.setenv("YES", "1")
    server = author()
    words = ["run", "--study", "surfaces", "--problems", loops.PROBLEM, "--model", loops.MODEL, "--prompts", "released"]
    for name, said in (("llm_sr", "unavailable: cannot download http"), ("sga", "sga has no released prompts: the")):
        assert main([*words, "--methods", name]) == 2
        assert said in capsys.readouterr().err and not server.seen


def test_a_prior_of_ours_and_their_prompts_exclude_each_other():
    with pytest.raises(ValueError, match="a prior is a sentence of ours"):
        rd.method("icsr", prior="surface", prompts="released")


# ---- the file that says where they are


def test_every_loop_has_them_or_says_why_not():
    assert set(released_prompts.RELEASED) == set(LOOPS)
    for name in LOOPS.keys() - MAPPED.keys():
        why = released_prompts.RELEASED[name]["why"]
        assert rd.method(name, prompts="released").available() == f"{name} has no released prompts: {why}"


@pytest.mark.parametrize("name", MAPPED)
def test_texts_have_our_names_and_places_are_in_files_that_are_pinned(name):
    known = MAPPED[name]
    own = {key for key, text in LOOPS[name].texts.items() if isinstance(text, str)}
    assert set(known["texts"]) <= own and known["ours"]
    for file in known["files"].values():
        assert re.fullmatch("[0-9a-f]{40}", file["commit"]) and re.fullmatch("[0-9a-f]{64}", file["sha256"])
    pieces = [piece for text in known["texts"].values() for piece in text]
    places = [released_prompts.PLACE.fullmatch(piece) for piece in pieces if "#" in piece]
    assert all(places) and {place[1] for place in places} == set(known["files"])
    numbers = [[int(number) for number in place.groups()[1:]] for place in places]
    assert all(each[:2] < each[2:] for each in numbers)
    rest = "".join(piece for piece in pieces if "#" not in piece)
    assert not re.findall(r"[A-Za-z]{3,} [A-Za-z]{3,}", rest)  # no sentence of theirs


@pytest.mark.parametrize("name", MAPPED)
def test_every_blank_of_every_text_is_filled_in_a_run(name, author, web, own_cache, monkeypatch, tmp_path):
    """With the true places, in files of as many lines that say where they are."""
    known = MAPPED[name]
    words = "".join(f"line {number} " * 80 + "\n" for number in range(1, 300))
    digest = hashlib.sha256(words.encode()).hexdigest()
    files = {alias: {**file, "sha256": digest} for alias, file in known["files"].items()}
    monkeypatch.setitem(released_prompts.RELEASED, name, {**known, "files": files})
    for file in files.values():
        offered = web / known["repository"] / file["commit"] / file["path"]
        offered.parent.mkdir(parents=True, exist_ok=True)
        offered.write_text(words)
    if name == "lasr":
        monkeypatch.setattr(loops, "reply_to", lambda prompt: '["C*x + y", "x*C", "sin(y)", "y - C", "C"]')
        server = author()
        often = {**test_lasr.SIZES, "weight_randomize": 5.0}  # so that new expressions are asked for, too
        test_lasr.solved(tmp_path, prompts="released", evolution=often)
    else:
        monkeypatch.setattr(loops, "reply_to", lambda prompt: "f1 = c*x\nf2 = c*y")
        server = author()
        loops.played(name, tmp_path, samples=12, prompts="released").solve(loops.PROBLEM)
    sent = "\n".join(message["content"] for seen in server.seen for message in seen[2]["messages"])
    assert "$" not in sent
    for place in (released_prompts.PLACE.fullmatch(piece) for text in known["texts"].values() for piece in text):
        if place:
            line, column, to_line, to_column = (int(number) for number in place.groups()[1:])
            assert released_prompts.cut(words, (line, column), (to_line, to_column)).strip("\n") in sent


def test_the_table_of_the_documentation_is_of_this_file():
    section = (root() / "docs" / "llm.md").read_text().partition("## Prompts as released\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    assert rows == [
        [f"`{name}`", entry["repository"], entry["licence"] or "none stated", entry.get("why") or entry["ours"]]
        for name, entry in released_prompts.RELEASED.items()
    ]

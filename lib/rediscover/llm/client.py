"""Language models behind the OpenAI chat interface: asked once, recorded, replayed for ever.

A `Chat` talks to one model on any OpenAI-compatible server (`address` says where); the key is never written anywhere.
In mode ``replay`` (the default) nothing is sent: replies come from a file of records, keyed by the request. In mode
``record`` missing ones are asked for and recorded, so that an interrupted run resumes. `openai` sends and tries again.
"""

import hashlib
import json
import math
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from ..system.extras import extra
from ..system.progress import shown
from . import address, pictures
from .records import Recorded, Records
from .replies import Malformed, completion, strip_thought, text_of, token_counts, without_key
from .tokens import picture_tokens
from .transport import Bounded, refusal

with extra("llm"):
    import openai

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SCHEMA = 1
PAUSE = 0.5  # seconds after a reply that cannot be used
USUAL_COMPLETION = 1024  # tokens set aside in the budget where a request names no limit


class LlmError(RuntimeError):
    """One request has failed for good; others may still succeed."""


class Unusable(LlmError):
    """No request can succeed: wrong key, unknown model, wrong address."""


class BudgetSpent(LlmError):
    """The next request could exceed the budget, so it is not sent."""


class MissingRecord(LlmError):
    """Replay was asked for a request that has not been recorded."""


@dataclass(frozen=True)
class Reply:
    """One completion.

    Attributes
    ----------
    text : without a leading think block; None if the server withheld it (content filter) or sent none.
    thought : the think block or the server's ``reasoning_content``, if any; never to be sent back.
    estimated : the server sent no usage that makes sense; tokens are a quarter of the characters.
    cost : US dollars by the price table, NaN where the price is unknown.
    model : that has answered, as the server says.
    """

    text: str | None
    thought: str
    truncated: bool
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    estimated: bool
    cost: float
    model: str
    attempts: int
    replayed: bool
    key: str


def parameters(model: str, **sampling: Any) -> dict:
    """The sampling parameters to send: those given (not None), in the form that the model's family takes.

    Raises
    ------
    ValueError
        For ``n``: one request is one completion, and further ones are further draws.

    Examples
    --------
    >>> parameters("gpt-4o-mini", temperature=1.0, max_tokens=9, seed=None)
    {'max_tokens': 9, 'temperature': 1.0}
    >>> parameters("o4-mini", temperature=1.0, max_tokens=9)
    {'max_completion_tokens': 9}
    """
    if "n" in sampling:
        raise ValueError("n is not sent: ask for several completions as several draws")
    family: dict[str, Any] = next((f for f in _FACTS["families"] if re.match(f["match"], model)), {})
    dropped, renames = family.get("drops", ()), family.get("renames", {})
    kept = {name: value for name, value in sorted(sampling.items()) if value is not None and name not in dropped}
    return {renames.get(name, name): value for name, value in kept.items()}


def request_key(model: str, messages: Any, sent: Mapping, draw: int = 0) -> str:
    """SHA-256 of the canonical JSON of a request without address, key and time limits; pictures count by their own.

    Examples
    --------
    >>> request_key("m", [{"role": "user", "content": "2+2"}], {"temperature": 0.2})[:8]
    '61c57bea'
    """
    request = {"schema": SCHEMA, "model": model, "parameters": dict(sent), "draw": draw}
    request["messages"] = pictures.kept(messages)
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tokens_in(messages: Any, model: str = "") -> int:
    """Rough number of tokens of a prompt: a quarter of its characters, four for each message, and its pictures."""
    texts = map(pictures.words, messages)
    return picture_tokens(messages, model) + sum(4 + math.ceil(len(text) / 4) for text in texts)


def _messages(prompt) -> list[dict]:
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)


@dataclass(eq=False)
class Chat:
    """One model on one server.

    Parameters
    ----------
    model : name as the server knows it
    path : of the file of records (JSON lines), or None to keep none; then `mode` must be ``record``
    mode : 'replay' (nothing is sent) or 'record' (what is missing is asked for and recorded)
    base_url : of the server up to and including ``/v1``; else ``OPENAI_BASE_URL``, else OpenAI's
    max_usd, max_completions : hard limits on what this object may spend; None for no limit
    prices : model -> (prompt, completion) in US dollars per million tokens; goes before ``client.yaml``
    concurrency, requests_per_minute : requests at a time in `ask_all`, and their rate or None
    timeout, tries : seconds for one attempt, from sending to the last byte, and attempts per request
    max_bytes : a longer reply is refused

    Raises
    ------
    ValueError
        For an unknown mode, no records in replay, or ``max_usd`` for a model without a price.
    """

    model: str
    path: Path | None = None
    mode: str = "replay"
    base_url: str | None = None
    max_usd: float | None = None
    max_completions: int | None = None
    prices: Mapping = field(default_factory=dict)
    concurrency: int = 4
    requests_per_minute: float | None = None
    timeout: float = 60.0
    tries: int = 6
    max_bytes: int = 4_000_000

    def __post_init__(self) -> None:
        if self.mode not in ("replay", "record"):
            raise ValueError(f"mode must be 'replay' or 'record', got {self.mode!r}")
        if self.mode == "replay" and self.path is None:
            raise ValueError("replay needs a file of records")
        self.price = {**_FACTS["prices"], **self.prices}.get(self.model, (math.nan, math.nan))
        if self.max_usd is not None and math.isnan(self.price[0]):
            raise ValueError(
                f"no price is known for {self.model!r}: pass prices={{{self.model!r}: (prompt, completion)}}"
            )
        self.records: Any = {} if self.path is None else Records(self.path)
        # completions, prompt_tokens, completion_tokens, usd: this object's live requests
        self.spent: Counter = Counter()
        self._committed: Counter = Counter()  # what is spent, and at most will be by requests under way
        self._lock, self._pace, self._turn = threading.Lock(), threading.Lock(), -math.inf
        # Local servers ask for no key, but the header must not be empty.
        self._key = os.environ.get("OPENAI_API_KEY") or "none"
        if self.mode == "record":
            self.base_url = address.resolved(self.base_url)
            self._client = openai.OpenAI(
                api_key=self._key, base_url=self.base_url, timeout=self.timeout, http_client=Bounded(self.timeout)
            )

    def ask(self, messages: Any, *, draw: int = 0, **sampling: Any) -> Reply:
        """One completion.

        Parameters
        ----------
        messages : str, or list of ``{"role": ..., "content": ...}``
        draw : number of the sample among identical requests, so that repeated sampling replays as distinct draws
        sampling : temperature, max_tokens, seed, ... as `parameters` takes them

        Raises
        ------
        MissingRecord, BudgetSpent, Unusable, LlmError
        """
        messages, sent = _messages(messages), parameters(self.model, **sampling)
        key = request_key(self.model, messages, sent, draw)
        if key in self.records:
            return self._reply(self.records[key], replayed=True)
        if self.mode == "replay":
            raise MissingRecord(
                f"{self.path} has no reply of {self.model} to this request (key {key[:12]}); record it with "
                f"mode='record' (make generate MODEL={self.model} BASE_URL=...). "
                f"Nearest record:\n{self.records.nearest(messages)}"
            )
        worst: Counter = Counter({"completions": 1, "usd": self._worst(messages, sent)})
        actual: Counter = Counter()
        self._commit(worst)
        try:
            request = {"model": self.model, "messages": messages, "parameters": sent, "draw": draw}
            record, reply = self._send(key, request, worst["usd"])
            tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
            actual = Counter({"completions": 1, "usd": reply.cost, **tokens})
        finally:
            with self._lock:
                self.spent.update(actual)
                self._committed.update({name: actual[name] - most for name, most in worst.items()})
        if self.path is not None:
            try:
                self.records.add(record | {"recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
            except Recorded:  # by another process meanwhile: its reply counts, as it will be replayed
                return self._reply(self.records[key], replayed=True)
        return reply

    def ask_all(self, prompts: Iterable, *, progress: str | None = None, **sampling: Any) -> list[Reply | LlmError]:
        """Completions of many prompts, in their order, `concurrency` at a time; a failed one is its `LlmError`.

        The same prompt given k times yields k draws. What makes all requests fail (`Unusable`, `BudgetSpent`,
        `MissingRecord`) is raised; what was recorded until then stays.

        Parameters
        ----------
        prompts : iterable of messages as `ask` takes them
        progress : title of a progress bar, or None for no bar
        """
        prompts, draws = list(prompts), list[int]()
        seen: Counter[str] = Counter()
        for text in (json.dumps(prompt, sort_keys=True) for prompt in prompts):
            draws.append(seen[text])
            seen[text] += 1

        def one(prompt, draw):
            try:
                return self.ask(prompt, draw=draw, **sampling)
            except LlmError as error:
                if isinstance(error, Unusable | BudgetSpent | MissingRecord):
                    raise
                return error

        pool = ThreadPoolExecutor(self.concurrency)
        try:
            return list(
                tqdm(pool.map(one, prompts, draws), progress, len(prompts), disable=progress is None or not shown())
            )
        finally:
            pool.shutdown(cancel_futures=True)

    def estimate(self, prompts: Iterable, *, draw: int = 0, **sampling: Any) -> float:
        """US dollars that asking these prompts costs at most, NaN if the price is unknown; arguments as for `ask`.

        Tokens are estimated, a completion counts with its limit; what is recorded costs nothing.
        """
        sent, asked = parameters(self.model, **sampling), map(_messages, prompts)
        new = (one for one in asked if request_key(self.model, one, sent, draw) not in self.records)
        return sum((self._worst(messages, sent) for messages in new), 0.0)

    def _worst(self, messages: Any, sent) -> float:
        """US dollars for a completion as long as its limit."""
        limit = sent.get("max_tokens") or sent.get("max_completion_tokens") or USUAL_COMPLETION
        return (tokens_in(messages, self.model) * self.price[0] + limit * self.price[1]) / 1e6

    def _commit(self, worst: Counter) -> None:
        with self._lock:
            for name, most in (("completions", self.max_completions), ("usd", self.max_usd)):
                if most is not None and self._committed[name] + worst[name] > most:
                    raise BudgetSpent(
                        f"{self.model}: {self._committed[name]:.6g} of {most:.6g} {name} are spent or under way and "
                        f"the next request may take {worst[name]:.3g}; what was recorded stays"
                    )
            self._committed.update(worst)

    def _send(self, key: str, request: dict, usd: float) -> tuple[dict, Reply]:
        """Record and reply; openai repeats attempts, and here those that a broken reply answered.

        A broken reply may have been paid for, so that it counts for the most that it can have cost.
        """
        messages, sent, attempts, failure = request["messages"], request["parameters"], 0, ""
        while attempts < self.tries:
            time.sleep(PAUSE if failure else 0.0)
            self._wait_turn()
            taken, lost, broken = self.tries - attempts, None, None
            client = self._client.with_options(max_retries=taken - 1).chat.completions.with_streaming_response
            try:
                with client.create(model=self.model, messages=messages, extra_body=sent) as response:
                    taken = response.retries_taken + 1
                    return self._understood(key, request, self._body(response), attempts + taken)
            except openai.APIStatusError as error:
                lost = Unusable if error.status_code in (401, 403, 404) else LlmError
                failure = f"HTTP {error.status_code}: {self._without_key(refusal(error))[:300]}"
            except (openai.APIConnectionError, OSError) as error:
                taken = 1 if isinstance(error, OSError) else taken  # which openai does not try again
                failure = f"{type(error.__cause__ or error).__name__} at {address.shown(self.base_url)}"
            except Malformed as error:
                begins = self._without_key(error.data.decode(errors="replace"))[:80]
                failure, broken = f"{error}: {begins!r}", error.data
            except Exception as error:  # such as a key that no header can hold
                lost, failure = LlmError, f"{type(error).__name__}: {error}"
            attempts += taken
            if broken is not None:
                self._set_aside(key, failure, broken, usd, again=attempts < self.tries)
            if lost:
                break
        # Raised outside any handler: the exceptions of openai carry the request and so the key.
        gave_up = "" if lost else f"gave up after {attempts} attempts; the last: "
        raise (lost or LlmError)(f"{self.model}: {gave_up}{self._without_key(failure)}")

    def _understood(self, key: str, request: dict, data: bytes, attempts: int) -> tuple[dict, Reply]:
        """Record and reply of what a server has sent, else `Malformed`, whatever is wrong with it."""
        response = completion(data)
        try:
            record = {"key": key, "request": request, "response": response, "attempts": attempts}
            # Half of a surrogate pair, in an escape, is no text and could not be written.
            text = json.dumps(record, ensure_ascii=False).encode(errors="replace").decode()
            record = json.loads(self._without_key(text))
            return record, self._reply(record, replayed=False)
        except Exception as error:
            raise Malformed(f"the reply cannot be kept ({type(error).__name__})", data) from error

    def _set_aside(self, key: str, reason: str, data: bytes, usd: float, again: bool) -> None:
        """Keep a malformed reply, and count its cost; raises `BudgetSpent` if another attempt could exceed it."""
        if self.path is not None:
            text = self._without_key(data.decode(errors="surrogateescape"))
            self.records.set_aside(key, self._without_key(reason), text.encode(errors="surrogateescape"))
        with self._lock:
            self.spent["usd"] += usd  # type: ignore[assignment]
            self._committed["usd"] += usd  # type: ignore[assignment]
        if again:
            self._commit(Counter())

    def _wait_turn(self) -> None:
        """Space the requests of all threads evenly, where there is a rate to hold."""
        with self._pace:
            time.sleep(max(0.0, self._turn - time.monotonic()))
            self._turn = time.monotonic() + 60 / (self.requests_per_minute or math.inf)

    def _body(self, response) -> bytes:
        """All bytes of a reply, unless they are too many or too slow: the client's own limit is per read."""
        deadline, data, chunks = response.http_response.extensions["deadline"], b"", response.iter_bytes()
        while time.monotonic() < deadline and len(data) <= self.max_bytes:
            try:
                data += next(chunks)
            except StopIteration:
                return data
            except Exception as error:  # of the HTTP library below openai, which is no dependency of ours
                reason = f"{type(error).__name__} at {address.shown(self.base_url)}: the reply broke off"
                raise Malformed(reason, data) from error
        limit = f"{self.max_bytes} bytes" if len(data) > self.max_bytes else f"{self.timeout} s (Timeout)"
        raise Malformed(f"the reply is longer than {limit}", data)

    def _reply(self, record, *, replayed: bool) -> Reply:
        response = record["response"]
        choice = response["choices"][0]
        text, thought = choice["message"].get("content"), text_of(choice["message"], "reasoning_content")
        if text is not None:
            text, block = strip_thought(text)
            thought = thought or block
        tokens = token_counts(response)
        estimated = tokens is None
        if tokens is None:
            asked = record["request"]["messages"]
            tokens = tokens_in(asked, self.model), math.ceil(len((text or "") + thought) / 4), None
        prompt, completed, reasoning = tokens
        return Reply(
            text=None if choice.get("finish_reason") == "content_filter" else text,
            thought=thought,
            truncated=choice.get("finish_reason") == "length",
            prompt_tokens=prompt,
            completion_tokens=completed,
            reasoning_tokens=math.ceil(len(thought) / 4) if reasoning is None else reasoning,
            estimated=estimated,
            cost=(prompt * self.price[0] + completed * self.price[1]) / 1e6,
            model=text_of(response, "model"),
            attempts=record["attempts"],
            replayed=replayed,
            key=record["key"],
        )

    def _without_key(self, text: str) -> str:
        return without_key(pictures.named(text), self._key)

"""Language models behind the OpenAI chat interface: asked once, recorded, replayed for ever.

A `Chat` talks to one model on any OpenAI-compatible server. ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` say
where; the key is never written anywhere. In mode ``replay`` (the default) nothing is sent: replies come from
a file of records, keyed by the request. In mode ``record`` recorded replies are used and missing ones are
asked for and recorded, so that an interrupted run goes on where it stopped. The file is in `llm_records`, what is
read out of replies in `llm_replies`; both are here under their public names.
"""

import contextlib
import email.utils
import hashlib
import json
import math
import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pydantic
import yaml
from tqdm import tqdm

from .records import Records
from .replies import json_value, strip_thought, tag

__all__ = [
    "BudgetSpent",
    "Chat",
    "LlmError",
    "MissingRecord",
    "Records",
    "Reply",
    "TokenBucket",
    "Unusable",
    "json_value",
    "parameters",
    "request_key",
    "strip_thought",
    "tag",
    "tokens_in",
]

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SCHEMA = 1
RETRIED = {408, 409, 429, 500, 502, 503, 504}
LONGEST_PAUSE = 60.0
SHORTEST_SECRET = 8  # characters of a key; a shorter one is none and would be struck out of words
USUAL_COMPLETION = 1024  # tokens set aside in the budget where a request names no limit


class LlmError(RuntimeError):
    """One request has failed for good; others may still succeed."""


class Unusable(LlmError):
    """No request can succeed: wrong key, unknown model, wrong address."""


class BudgetSpent(LlmError):
    """The next request could exceed the budget, so it is not sent."""


class MissingRecord(LlmError):
    """Replay was asked for a request that has not been recorded."""


class _Malformed(Exception):
    """A reply came that is no chat completion."""


@dataclass(frozen=True)
class Reply:
    """One completion.

    Attributes
    ----------
    text : without a leading think block; None if the server withheld it (content filter) or sent none.
    thought : the think block or the server's ``reasoning_content``, if any; never to be sent back.
    finish_reason : as the server says; ``length`` means cut off.
    prompt_tokens, completion_tokens, reasoning_tokens : int
        Reasoning tokens are among the completion tokens.
    estimated : bool
        The server sent no usage, tokens are a quarter of the characters.
    cost : US dollars by the price table, NaN where the price is unknown.
    model : the model that the server says has answered.
    attempts, seconds : what the live request took.
    replayed : bool
    key : of the record.
    """

    text: str | None
    thought: str
    finish_reason: str | None
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    estimated: bool
    cost: float
    model: str
    attempts: int
    seconds: float
    replayed: bool
    key: str

    @property
    def truncated(self) -> bool:
        return self.finish_reason == "length"


# ---- what a server sends, as far as it is read


class _Message(pydantic.BaseModel):
    content: str | None = None
    reasoning_content: str | None = None


class _Choice(pydantic.BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Details(pydantic.BaseModel):
    reasoning_tokens: int | None = None


class _Usage(pydantic.BaseModel):
    prompt_tokens: pydantic.NonNegativeInt
    completion_tokens: pydantic.NonNegativeInt
    completion_tokens_details: _Details | None = None


class _Completion(pydantic.BaseModel):
    choices: list[_Choice] = pydantic.Field(min_length=1)
    model: str | None = None
    usage: _Usage | None = None

    @pydantic.field_validator("usage", mode="wrap")
    @classmethod
    def _or_none(cls, usage, validated):
        """A count that makes no sense is no reason to throw away the answer: it is estimated as a missing one is."""
        try:
            return validated(usage)
        except pydantic.ValidationError:
            return None


# ---- requests and their keys


def parameters(model: str, **sampling) -> dict:
    """The sampling parameters to send: only those given, in the form that the model's family takes.

    Parameters
    ----------
    model : name as the server knows it
    sampling : temperature, top_p, max_tokens, seed, stop, ...; None means not sent

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
    family = next((f for f in _FACTS["families"] if re.match(f["match"], model)), {})
    if "n" in sampling:
        raise ValueError("n is not sent: ask for several completions as several draws")
    renames = family.get("renames", {})
    sent = {name: value for name, value in sampling.items() if value is not None}
    return {renames.get(name, name): sent[name] for name in sorted(sent) if name not in family.get("drops", ())}


def request_key(model: str, messages, sent: Mapping, draw: int = 0) -> str:
    """SHA-256 of the canonical JSON of a request; address, key and time limits are no part of it.

    Examples
    --------
    >>> request_key("m", [{"role": "user", "content": "2+2"}], {"temperature": 0.2})[:8]
    '61c57bea'
    """
    request = {"schema": SCHEMA, "model": model, "messages": messages, "parameters": dict(sent), "draw": draw}
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _messages(prompt) -> list[dict]:
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)


def tokens_in(messages) -> int:
    """Rough number of tokens of a prompt: a quarter of its characters, and four for each message."""
    return sum(4 + math.ceil(len(str(message["content"])) / 4) for message in messages)


# ---- limits


class TokenBucket:
    """A rate limit shared by threads: so many per minute, in bursts of at most `burst`.

    Parameters
    ----------
    per_minute : float or None
        None: no limit.
    burst : float, optional
        What a fresh or long idle bucket lets through at once; a second's worth by default, at least 1.
    """

    def __init__(self, per_minute: float | None, burst: float | None = None):
        self._rate = per_minute and per_minute / 60
        self._burst = burst or max(1.0, self._rate or 0)
        self._level, self._then = self._burst, time.monotonic()
        self._lock = threading.Lock()

    def take(self, amount: float = 1.0):
        """Wait until `amount` is there. More than a burst may be taken; the next one then waits the
        longer."""
        if self._rate is None:
            return
        with self._lock:  # those who come later queue here
            now = time.monotonic()
            self._level = min(self._burst, self._level + (now - self._then) * self._rate)
            self._then = now
            missing = min(amount, self._burst) - self._level
            if missing > 0:
                time.sleep(missing / self._rate)
            self._level -= amount


class Chat:
    """One model on one server.

    Parameters
    ----------
    model : name as the server knows it
    records : path of the file of records (JSON lines), or None to keep none; then `mode` must be ``record``
    mode : 'replay' (nothing is sent) or 'record' (what is missing is asked for and recorded)
    base_url : address of the server up to and including ``/v1``; from ``OPENAI_BASE_URL`` by default
    max_usd, max_completions : hard limits on what this object may spend; None for no limit
    prices : model -> (prompt, completion) in US dollars per million tokens; goes before ``llm.yaml``
    concurrency : requests at a time in `ask_all`
    requests_per_minute, tokens_per_minute : rate limits, or None
    timeout : seconds for one attempt, from sending to the last byte
    tries : attempts per request; after the k-th the pause is `pause` 2^(k-1) seconds with jitter, or what the
        server's Retry-After says, at most 60
    max_bytes : a longer reply is refused

    Raises
    ------
    ValueError
        For an unknown mode, no records in replay, or ``max_usd`` for a model without a price.
    """

    def __init__(
        self,
        model: str,
        records=None,
        *,
        mode: str = "replay",
        base_url: str | None = None,
        max_usd: float | None = None,
        max_completions: int | None = None,
        prices: Mapping | None = None,
        concurrency: int = 4,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        timeout: float = 60.0,
        tries: int = 6,
        pause: float = 1.0,
        max_bytes: int = 4_000_000,
    ):
        if mode not in ("replay", "record"):
            raise ValueError(f"mode must be 'replay' or 'record', got {mode!r}")
        if mode == "replay" and records is None:
            raise ValueError("replay needs a file of records")
        self.model, self.mode, self.concurrency = model, mode, concurrency
        self.price = {**_FACTS["prices"], **(prices or {})}.get(model, (math.nan, math.nan))
        if max_usd is not None and math.isnan(self.price[0]):
            raise ValueError(f"no price is known for {model!r}: pass prices={{{model!r}: (prompt, completion)}}")
        self.records = Records(records) if records is not None else None
        self.spent = Counter()  # completions, prompt_tokens, completion_tokens, usd: this object's live requests
        self._max_usd, self._max_completions = max_usd, max_completions
        self._reserved = Counter()
        self._lock = threading.Lock()
        self._requests = TokenBucket(requests_per_minute)
        self._tokens = TokenBucket(tokens_per_minute)
        self._timeout, self._tries, self._pause, self._max_bytes = timeout, tries, pause, max_bytes
        self._base_url = base_url
        self._client = self._open() if mode == "record" else None

    def _open(self):
        import openai

        # Local servers ask for no key, but the header must not be empty.
        self._key = os.environ.get("OPENAI_API_KEY") or "none"
        return openai.OpenAI(
            api_key=self._key, base_url=self._base_url, timeout=self._timeout, max_retries=0
        ).chat.completions.with_streaming_response

    def ask(self, messages, *, draw: int = 0, **sampling) -> Reply:
        """One completion.

        Parameters
        ----------
        messages : str, or list of ``{"role": ..., "content": ...}``
        draw : int
            Number of the sample among identical requests, so that repeated sampling replays as distinct
            draws.
        sampling : temperature, max_tokens, seed, ... as `parameters` takes them

        Raises
        ------
        MissingRecord, BudgetSpent, Unusable, LlmError
        """
        messages = _messages(messages)
        sent = parameters(self.model, **sampling)
        key = request_key(self.model, messages, sent, draw)
        if self.records is not None and key in self.records:
            return self._reply(self.records[key], replayed=True)
        if self.mode == "replay":
            raise MissingRecord(
                f"{self.records.path} has no reply of {self.model} to this request (key {key[:12]}); "
                f"record it with mode='record' (make generate MODEL={self.model} BASE_URL=...). "
                f"Nearest record:\n{self.records.nearest(messages)}"
            )
        request = {"model": self.model, "messages": messages, "parameters": sent, "draw": draw}
        reservation = self._reserve(request)
        reply = None
        try:
            response, attempts, seconds = self._send(request)
            record = {
                "key": key,
                "request": request,
                "response": response,
                "attempts": attempts,
                "seconds": round(seconds, 3),
                "recorded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
            # What is no text (half of a surrogate pair, in an escape) could not be written.
            text = json.dumps(record, ensure_ascii=False).encode(errors="replace").decode()
            record = json.loads(self._without_key(text))
            reply = self._reply(record, replayed=False)
        finally:
            self._settle(reservation, reply)
        if self.records is not None:
            self.records.add(record)
        return reply

    def ask_all(self, prompts: Iterable, *, progress: str | None = None, **sampling) -> list[Reply | LlmError]:
        """Completions of many prompts, in their order, `concurrency` at a time; a failed one is its
        `LlmError`.

        The same prompt given k times yields k draws. What makes all requests fail (`Unusable`, `BudgetSpent`,
        `MissingRecord`) is raised; what was recorded until then stays.

        Parameters
        ----------
        prompts : iterable of messages as `ask` takes them
        progress : title of a progress bar, or None for no bar
        """
        prompts, seen = list(prompts), Counter()
        draws = []
        for prompt in prompts:
            text = json.dumps(prompt, sort_keys=True)
            draws.append(seen[text])
            seen[text] += 1

        def one(prompt, draw):
            try:
                return self.ask(prompt, draw=draw, **sampling)
            except (Unusable, BudgetSpent, MissingRecord):
                raise
            except LlmError as error:
                return error

        pool = ThreadPoolExecutor(self.concurrency)
        try:
            replies = pool.map(one, prompts, draws)
            return list(tqdm(replies, progress, len(prompts), disable=progress is None))
        finally:
            pool.shutdown(cancel_futures=True)

    def estimate(self, prompts: Iterable, *, draw: int = 0, **sampling) -> float:
        """US dollars that asking these prompts costs at most, NaN if the price is unknown.

        Tokens are estimated, a completion counts with its limit; what is recorded costs nothing.

        Parameters
        ----------
        prompts, draw, sampling : as `ask` takes them
        """
        sent, usd = parameters(self.model, **sampling), 0.0
        for messages in map(_messages, prompts):
            known = self.records is not None and request_key(self.model, messages, sent, draw) in self.records
            usd += 0.0 if known else self._worst(messages, sent)
        return usd

    def _worst(self, messages, sent) -> float:
        """US dollars for a completion as long as its limit."""
        limit = sent.get("max_tokens") or sent.get("max_completion_tokens") or USUAL_COMPLETION
        return (tokens_in(messages) * self.price[0] + limit * self.price[1]) / 1e6

    def _reserve(self, request) -> Counter:
        reservation = Counter(completions=1, usd=self._worst(request["messages"], request["parameters"]))
        with self._lock:
            for name, most in (("completions", self._max_completions), ("usd", self._max_usd)):
                committed = self.spent[name] + self._reserved[name]
                if most is not None and committed + reservation[name] > most:
                    raise BudgetSpent(
                        f"{self.model}: {committed:.6g} of {most:.6g} {name} are spent or under way "
                        f"and the next request may take {reservation[name]:.3g}; what was recorded stays"
                    )
            self._reserved.update(reservation)
        return reservation

    def _settle(self, reservation, reply: Reply | None):
        with self._lock:
            self._reserved.subtract(reservation)
            if reply is not None:
                self.spent["completions"] += 1
                self.spent["prompt_tokens"] += reply.prompt_tokens
                self.spent["completion_tokens"] += reply.completion_tokens
                self.spent["usd"] += reply.cost

    def _send(self, request) -> tuple[dict, int, float]:
        """The server's JSON, the number of attempts and their seconds."""
        begin = time.monotonic()
        for attempt in range(1, self._tries + 1):
            self._requests.take()
            self._tokens.take(tokens_in(request["messages"]))
            response, failure, again, wait = self._attempt(request)
            if failure is None:
                return response, attempt, time.monotonic() - begin
            if not again:
                raise failure
            if attempt < self._tries:
                backoff = min(LONGEST_PAUSE, self._pause * 2 ** (attempt - 1)) * random.uniform(0.5, 1)
                time.sleep(min(LONGEST_PAUSE, wait) if wait is not None else backoff)
        # Raised here, outside any handler: the openai package's exceptions carry the request and so the key.
        raise LlmError(f"{self.model}: gave up after {self._tries} attempts; the last: {failure}")

    def _attempt(self, request):
        """(response, None, ...) or (None, exception, worth another attempt, seconds that the server asks to
        wait)."""
        import openai

        try:
            return self._call(request), None, False, None
        except openai.APIStatusError as error:
            text = f"{self.model}: HTTP {error.status_code}: {self._without_key(str(error.message))[:300]}"
            kind = Unusable if error.status_code in (401, 403, 404) else LlmError
            return None, kind(text), error.status_code in RETRIED, _retry_after(error.response)
        except (openai.APIConnectionError, ConnectionError, TimeoutError) as error:
            cause = error.__cause__ or error
            return None, LlmError(f"{type(cause).__name__} at {self._where()}"), True, None
        except _Malformed as error:
            return None, LlmError(self._without_key(str(error))), True, None

    def _call(self, request) -> dict:
        with self._client.create(
            model=request["model"], messages=request["messages"], extra_body=request["parameters"]
        ) as response:
            data = self._body(response)
        try:
            payload = json.loads(data)
            _Completion.model_validate(payload)
        except (ValueError, RecursionError) as error:  # of JSON and of pydantic
            what = str(error).splitlines()[0]
            raise _Malformed(f"the reply is no chat completion ({what}): {bytes(data[:80])!r}") from None
        return payload

    def _body(self, response) -> bytes:
        """All bytes of a reply, unless they are too many or too slow: the client's own limit is per read."""
        deadline, data = time.monotonic() + self._timeout, bytearray()
        try:
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > self._max_bytes:
                    raise _Malformed(f"the reply is longer than {self._max_bytes} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no complete reply within {self._timeout} s")
        except (_Malformed, TimeoutError):
            raise
        except Exception as error:  # of the HTTP library below openai, which is no dependency of ours
            raise ConnectionError("the reply broke off") from error
        return bytes(data)

    def _reply(self, record, *, replayed: bool) -> Reply:
        completion = _Completion.model_validate(record["response"])
        choice = completion.choices[0]
        text, thought = choice.message.content, choice.message.reasoning_content or ""
        if text is not None:
            text, block = strip_thought(text)
            thought = thought or block
        if choice.finish_reason == "content_filter":
            text = None
        usage = completion.usage or _Usage(
            prompt_tokens=tokens_in(record["request"]["messages"]),
            completion_tokens=math.ceil(len((text or "") + thought) / 4),
        )
        details = usage.completion_tokens_details
        reasoning = details and details.reasoning_tokens
        return Reply(
            text=text,
            thought=thought,
            finish_reason=choice.finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            reasoning_tokens=math.ceil(len(thought) / 4) if reasoning is None else reasoning,
            estimated=completion.usage is None,
            cost=(usage.prompt_tokens * self.price[0] + usage.completion_tokens * self.price[1]) / 1e6,
            model=completion.model or "",
            attempts=record["attempts"],
            seconds=record["seconds"],
            replayed=replayed,
            key=record["key"],
        )

    def _without_key(self, text: str) -> str:
        """A text without the key. Keys of local servers are words such as "x" or "EMPTY" and hide nothing."""
        return text if len(self._key) < SHORTEST_SECRET else text.replace(self._key, "[key]")

    def _where(self) -> str:
        return self._base_url or os.environ.get("OPENAI_BASE_URL") or "the OpenAI address"


def _retry_after(response) -> float | None:
    """Seconds that the server asks to wait; None if it does not say."""
    text = response.headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(text))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    return None

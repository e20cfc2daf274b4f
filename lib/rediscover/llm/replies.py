"""What is in a reply of a language model: thought, tagged text; a reply may be malformed in any way."""

import json
import re

SHORTEST_SECRET = 8  # characters of a key; a shorter one is a word of a local server and hides nothing
MOST_TOKENS = 10**9  # that a server may say that it has used


class Malformed(Exception):
    """A reply came that is no chat completion.

    Attributes
    ----------
    data : what came of it.
    """

    def __init__(self, reason: str, data: bytes = b"") -> None:
        super().__init__(reason)
        self.data = data


def completion(data: bytes) -> dict:
    """The JSON of a chat completion, as far as it is read here, else `Malformed`."""
    try:
        response = json.loads(data)
        message = response["choices"][0]["message"]
        if isinstance(message.get("content"), str | None):
            return response
        failure = "content is no text"
    except Exception as error:  # whatever a server sends, it ends no run
        failure = str(error) or type(error).__name__
    raise Malformed(f"the reply is no chat completion ({failure})", data)


def without_key(text: str, key: str) -> str:
    """Text without a key, be it as it is, or as JSON writes it once or twice.

    >>> without_key("Bearer sk-012345", "sk-012345")
    'Bearer [key]'
    """
    if len(key) < SHORTEST_SECRET:
        return text
    once = json.dumps(key)[1:-1]
    for form in (json.dumps(once)[1:-1], once, key):
        text = text.replace(form, "[key]")
    return text


def text_of(values: dict, name: str) -> str:
    """A text that may be missing, or be no text.

    >>> text_of({"model": 7}, "model"), text_of({"model": "m"}, "model")
    ('', 'm')
    """
    value = values.get(name)
    return value if isinstance(value, str) else ""


def token_counts(response: dict) -> tuple[int, int, int | None] | None:
    """Tokens of prompt, completion and reasoning as the server says; None if it says nothing that makes sense."""
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = (_count(usage, f"{part}_tokens") for part in ("prompt", "completion"))
    details = usage.get("completion_tokens_details")
    if prompt is None or completion is None:
        return None
    return prompt, completion, _count(details, "reasoning_tokens") if isinstance(details, dict) else None


def _count(values: dict, name: str) -> int | None:
    value = values.get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def strip_thought(text: str) -> tuple[str, str]:
    """A reply without its leading think block, and the block. One that never closes is all thought.

    The opening bracket may be missing: some servers put it into the prompt.

    Examples
    --------
    >>> strip_thought("<think>hm</think> 4")
    ('4', 'hm')
    """
    opened = re.match(r"\s*<think>", text)
    thought, closed, rest = text[opened.end() if opened else 0 :].partition("</think>")
    if not opened and (not closed or "<think>" in thought):
        return text, ""
    return rest.strip(), thought.strip()


def tag(text: str, name: str) -> str:
    """What stands in the first ``<name>...</name>``; ``""`` if there is none.

    The first bracket may be missing (``name>...``), and so may the end.

    Examples
    --------
    >>> tag("<latex> a=b </latex> <latex>c</latex>", "latex")
    'a=b'
    >>> tag("latex>a=b</", "latex")
    'a=b'
    """
    _, found, rest = text.partition(f"<{name}>")
    if not found:
        _, found, rest = text.partition(f"{name}>")
    body, _, _ = rest.partition(f"</{name}>")
    return body.strip().removesuffix("</").strip() if found else ""

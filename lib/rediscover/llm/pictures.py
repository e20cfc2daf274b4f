"""Pictures in messages: sent as data URLs, and named by size and SHA-256 wherever they are kept, keyed or shown."""

import base64
import hashlib
import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any

DATA = re.compile(r"data:image\\?/\w+;base64,((?:[A-Za-z0-9+/=]|\\/)+)")  # JSON may have a backslash before a slash


def part(png: bytes) -> dict[str, Any]:
    """A picture as a part of a message's content, beside its texts.

    Parameters
    ----------
    png : bytes
        A file in the format PNG.

    Returns
    -------
    dict
    """
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def named(text: str) -> str:
    """A text with the name of each picture in the place of its data.

    >>> named("data:image/png;base64,AAAA")[:38]
    '[picture, 3 bytes, sha256 709e80c88487'
    """
    return DATA.sub(_name, text)


def _name(match: re.Match) -> str:
    digits = match[1].replace("\\", "").replace("=", "")
    if len(digits) % 4 == 1:  # which no data has: it was cut off
        digits = digits[:-1]
    data = base64.b64decode(digits + "=" * (-len(digits) % 4))
    return f"[picture, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}]"


def kept(messages: Any) -> Any:
    """Messages as records and keys have them: pictures by their names. Those without one are left as they are.

    >>> kept([{"role": "user", "content": [part(bytes(3))]}])[0]["content"][0]["image_url"]["url"][:18]
    '[picture, 3 bytes,'
    """
    if all(isinstance(message["content"], str) for message in messages):
        return messages
    return [{**message, "content": _kept(message["content"])} for message in messages]


def _kept(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_without_data(each) if _is_picture(each) else each for each in content]


def _without_data(picture: Mapping) -> dict:
    address = picture["image_url"]
    return {**picture, "image_url": {**address, "url": named(address["url"])}}


def _is_picture(each: Mapping) -> bool:
    return each.get("type") == "image_url"


def words(message: Mapping) -> str:
    """The text of a message, without its pictures."""
    content = message["content"]
    if not isinstance(content, list):
        return str(content)
    return "\n".join(each["text"] for each in content if "text" in each)


def readable(message: Mapping) -> str:
    """The text of a message, with the names of its pictures behind it."""
    return "\n".join([words(message), *(named(each["image_url"]["url"]) for each in _pictures([message]))])


def count(messages: Iterable[Mapping]) -> int:
    """How many pictures messages have."""
    return len(_pictures(messages))


def _pictures(messages: Iterable[Mapping]) -> list[Mapping]:
    contents = (message["content"] for message in messages if isinstance(message["content"], list))
    return [each for content in contents for each in content if _is_picture(each)]


class Named(logging.Filter):
    """Takes the data of pictures out of what a logger writes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the record has its text without the data."""
        text = record.getMessage()
        if DATA.search(text):
            record.msg, record.args = named(text), ()
        return True

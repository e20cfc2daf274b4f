"""Where requests go: one place says it, to the client that sends them and to the user before anything is sent."""

import os
from urllib.parse import urlsplit

USUAL = "https://api.openai.com/v1"  # of the client, where nothing else is given
UNREAD = "an address that cannot be read"


def resolved(base_url: str | None = None) -> str:
    """The address that is asked, as it was given: `base_url`, else ``OPENAI_BASE_URL``, else that of OpenAI."""
    return base_url or os.environ.get("OPENAI_BASE_URL") or USUAL


def shown(base_url: str | None = None) -> str:
    """The same without user, password and query, which may hold a key, to be printed.

    Examples
    --------
    >>> shown("https://me:secret@host:8000/v1?key=secret"), shown("http://[::1]:8000/v1")
    ('https://host:8000/v1', 'http://[::1]:8000/v1')
    >>> shown("https://me:sec?ret@host/v1")
    'an address that cannot be read'
    """
    try:
        parts = urlsplit(resolved(base_url))
        host, port = parts.hostname, f":{parts.port}" if parts.port else ""
    except ValueError:
        return UNREAD
    named = f"[{host}]" if host and ":" in host else host
    return f"{parts.scheme}://{named}{port}{parts.path}" if host else UNREAD


def told(base_url: str | None = None) -> str:
    """What a user is told before anything is sent."""
    return f"requests go to {shown(base_url)}"

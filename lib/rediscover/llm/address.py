"""Where requests go: one place says it, to the client that sends them and to the user before anything is sent."""

import os
import re

USUAL = "https://api.openai.com/v1"  # of the client, where nothing else is given
SECRET = re.compile(r"^([^/?#]*//)?[^/?#]*@|[?#].*", re.DOTALL)  # user and password; a query, which may hold a key


def resolved(base_url: str | None = None) -> str:
    """The address that is asked, as it was given: `base_url`, else ``OPENAI_BASE_URL``, else that of OpenAI."""
    return base_url or os.environ.get("OPENAI_BASE_URL") or USUAL


def shown(base_url: str | None = None) -> str:
    """The same without user, password and query, to be printed.

    Examples
    --------
    >>> shown("https://me:secret@host:8000/v1?key=secret"), shown("http://[::1]:8000/v1")
    ('https://host:8000/v1', 'http://[::1]:8000/v1')
    """
    return SECRET.sub(lambda found: found[1] or "", resolved(base_url))


def told(base_url: str | None = None) -> str:
    """What a user is told before anything is sent."""
    return f"requests go to {shown(base_url)}"

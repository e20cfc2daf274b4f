"""The way to a server: one attempt takes no longer than it may, and what a server says of an error is short.

The client's own limit of time is for each read, and it reads the whole body of an error. A server that sends a byte now
and then, in its head or in an error, would be waited for without end, and a large error would fill the memory.
"""

import logging
import threading
import time
from typing import Any
from urllib.parse import urljoin

from ..system.extras import extra
from . import address, pictures

with extra("llm"):
    import openai

ERROR_BYTES = 65_536  # of an error's body that are kept
BODY = 0.8  # share of the time in which the body of an error is read; what has come then is kept
OF_BODY = ("content-encoding", "content-length", "transfer-encoding")  # headers that a shortened body no longer has

# Some versions of openai write whole requests into their log, where somebody has asked for all that it says.
logging.getLogger("openai._base_client").addFilter(pictures.Named())


class Bounded(openai.DefaultHttpxClient):
    """The HTTP client of `openai`, whose `send` ends in time on every path.

    Attributes
    ----------
    seconds : from sending to the end of the head, the body of an error included.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(timeout=seconds, follow_redirects=False)
        self.seconds = seconds

    def send(self, request: Any, **options: Any) -> Any:
        """As of the base; raises TimeoutError if the head of the reply is late."""
        begun, outcome, lock, late = time.monotonic(), list[Any](), threading.Lock(), False

        def work() -> None:
            try:
                response = super(Bounded, self).send(request, **options)
                answer = response if response.is_success else shortened(response, begun + BODY * self.seconds)
            except Exception as error:
                answer = error
            with lock:
                outcome.append(answer)
            if late and not isinstance(answer, Exception):
                answer.close()

        # Nothing interrupts a read, so a server that never comes to an end keeps this thread, and nobody waits for it.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(self.seconds)
        with lock:
            late = not outcome
        if late:
            raise TimeoutError(f"no reply has begun within {self.seconds} s")
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        outcome[0].extensions["deadline"] = begun + self.seconds
        return outcome[0]


def refusal(error: Any) -> str:
    """What a server says with the status of an error; of one that has moved, where to: requests do not follow it."""
    place = error.response.headers.get("location") if error.response.is_redirect else None
    return f"the server is at {address.shown(urljoin(str(error.request.url), place))}" if place else str(error.message)


def shortened(response: Any, deadline: float) -> Any:
    """A response with the beginning of its body, as far as it comes in time."""
    data = b""
    try:
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > ERROR_BYTES or time.monotonic() > deadline:
                break
    except Exception:  # a body that breaks off says what it has said
        pass
    finally:
        response.close()
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in OF_BODY]
    kind = type(response)
    return kind(response.status_code, headers=headers, content=data[:ERROR_BYTES], request=response.request)

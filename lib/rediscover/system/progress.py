"""Whether a bar of progress is shown: to people, and into no file."""

import os
import sys


def shown() -> bool:
    """Whether standard error is a terminal or a notebook's, or REDISCOVER_PROGRESS names another place.

    With ``REDISCOVER_PROGRESS=off`` nothing is shown anywhere.

    Returns
    -------
    bool
    """
    place = os.environ.get("REDISCOVER_PROGRESS", "")
    if place:
        return place != "off"
    return sys.stderr.isatty() or "ipykernel" in sys.modules

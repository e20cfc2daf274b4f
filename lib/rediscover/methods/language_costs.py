"""What a loop would cost with a language model, from a run of the same loop with a control.

The prompts are really built in the control's run. Its programs are shorter than a model's, which writes comments, so
this is a lower bound; where public runs say how long prompts become (LLM-SR: 2.5 times as long), theirs counts.
Lengths of completions are in the YAML file, prices in that of the client.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


class Cost(NamedTuple):
    """Requests, tokens and US dollars of a run."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float


def cost(name: str, notes: Mapping[str, Any], model: str) -> Cost:
    """Cost of a run with a model, from the notes of a candidate that a control has found.

    Parameters
    ----------
    name : of the method, such as ``llm_sr``.
    notes : with ``requests`` and ``request_tokens``; ``criteria`` where a judge scores several.
    model : with a price in ``client.yaml``; where there is none, dollars are NaN.

    Raises
    ------
    KeyError
        If the notes are of no control's run, or nothing is known of the completions of the method.

    Examples
    --------
    >>> cost("llm_sr", {"requests": 1000, "request_tokens": 392_160}, "gpt-4o-mini")
    Cost(requests=1000, prompt_tokens=1000000, completion_tokens=670000, usd=0.552)
    """
    from ..llm.client import Chat

    requests, known = int(notes["requests"]), FACTS[name]
    prompt = max(int(notes["request_tokens"]), requests * known.get("prompt", 0))
    completion = requests * known["criteria" if notes.get("criteria") else "completion"]
    dear, dearer = Chat(model, Path("none")).price
    return Cost(requests, prompt, completion, round((prompt * dear + completion * dearer) / 1e6, 6))

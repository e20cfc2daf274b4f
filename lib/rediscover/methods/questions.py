"""Questions to a language model in a run: numbered, so that a rerun asks the same, counted and limited."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..llm.tokens import tokens_in


@dataclass
class Questions:
    """Asks a model, or in the run of a control counts what a model would have been asked.

    Identical questions of a run are draws of their own.

    Attributes
    ----------
    ask : messages, number of the draw -> `rediscover.llm.client.Reply`; None where nobody is asked.
    first_draw : as many requests apart for each run as no run makes.
    most : questions after which no more are asked.
    spent : ``completions``, ``prompt_tokens`` and ``completion_tokens``; without a model ``requests`` and
        ``request_tokens``.
    """

    ask: Callable[[list[dict], int], Any] | None
    first_draw: int = 0
    most: float = math.inf
    spent: Counter = field(default_factory=Counter)
    _asked: Counter = field(default_factory=Counter)

    @property
    def over(self) -> bool:
        return self.spent["completions"] + self.spent["requests"] >= self.most

    def __call__(self, messages: list[dict]) -> str:
        """Text of the reply; an empty one where nobody answers."""
        if self.over:
            return ""
        if self.ask is None:
            self.spent.update(requests=1, request_tokens=tokens_in(messages))
            return ""
        key = json.dumps(messages, sort_keys=True)
        reply = self.ask(messages, self.first_draw + self._asked[key])
        self._asked[key] += 1
        self.spent.update(completions=1, prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens)
        return reply.text or ""

"""Ask a model what it thinks of recorded answers, beside a rule.

The cost is shown first, every reply recorded, and a run that was stopped resumes.
"""

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..llm import address
from ..llm.client import Chat, LlmError
from ..llm.spending import confirmed, dollars, one_line
from ..methods import llm_text
from ..runs.schema import to_csv


@dataclass(frozen=True)
class Judging:
    """What a model is asked about, how, and what is read from its replies.

    Attributes
    ----------
    doc : its first line is the help of the command.
    column : of the answer in the table that is written.
    sample : rows to judge, from the size and the seed of the draw.
    question : messages about a row.
    read : what a reply says; None where it says nothing.
    summary : how the judged rows go with our rule.
    sampling : temperature and max_tokens of a request.
    out : file of the table.
    size : of the sample, if no other is asked for.
    """

    doc: str
    column: str
    sample: Callable[[int, int], pd.DataFrame]
    question: Callable[[Any], list[dict[str, str]]]
    read: Callable[[str], Any]
    summary: Callable[[pd.DataFrame], pd.Series | pd.DataFrame]
    sampling: Mapping[str, float]
    out: str
    size: int = 30

    def judged(self, chat: Chat, rows: pd.DataFrame, **sampling: float) -> tuple[pd.Series, int]:
        """What a model says of each row, and how many questions failed.

        Nothing is said (None) where a question failed, and after two replies from which nothing is read. `sampling`
        goes before that of the attributes; the second reply is drawn at temperature 1. A question that failed is not
        asked in that way: asking again is for the next call.

        Raises
        ------
        LlmError
            If no question was answered.
        """
        questions = [self.question(row) for row in rows.itertuples()]
        sampling = {**self.sampling, **sampling}
        replies = chat.ask_all(questions, progress="replies", **sampling)
        if all(isinstance(reply, LlmError) for reply in replies):
            raise replies[0]  # type: ignore[misc]
        found = [None if isinstance(reply, LlmError) else self.read(reply.text or "") for reply in replies]
        again = sampling | {"temperature": 1.0}
        for i, reply in enumerate(replies):
            if found[i] is None and not isinstance(reply, LlmError):
                with contextlib.suppress(LlmError):
                    found[i] = self.read(chat.ask(questions[i], draw=1, **again).text or "")
        return pd.Series(found, rows.index, dtype=object), sum(isinstance(reply, LlmError) for reply in replies)

    def run(self, options: argparse.Namespace) -> int:
        """Ask about the sample, write what was said and print how it goes with the rule."""
        rows = self.sample(options.size, options.seed)
        path = llm_text.records_of(options.records, options.model)
        limits = {name: getattr(options, name) for name in ("base_url", "timeout", "tries", "concurrency")}
        chat = Chat(options.model, path, mode="record", **limits)
        sampling = {**self.sampling, "max_tokens": options.max_tokens}
        cost = chat.estimate([self.question(row) for row in rows.itertuples()], **sampling)
        print(f"{len(rows)} verdicts by {chat.model}: {dollars(cost, '.2f', 'at most about ')}, and as much for those")
        print(f"that are asked for twice; {len(chat.records)} replies are recorded already and cost nothing")
        print(address.told(options.base_url), flush=True)  # before, in a pipe too
        if not confirmed():
            print("judge: nothing was sent; answer y, or set YES=1", file=sys.stderr)
            return 1
        said, failed = self.judged(chat, rows, **sampling)
        rows = rows.assign(model=options.model, **{self.column: said})
        to_csv(rows, options.out)
        print(self.summary(rows).to_string())
        print(f"{options.out}; spent: {dollars(chat.spent['usd'], '.4f')}")
        if failed:
            print(f"judge: {failed} of {len(rows)} questions failed; the same command asks them again", file=sys.stderr)
        return int(failed > 0)

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run it; errors are one line on standard error and exit status 2."""
        parser = argparse.ArgumentParser(description=self.doc.splitlines()[0])
        parser.add_argument("--model", required=True, help="the judge; name as the server knows it")
        parser.add_argument("--base-url", help="server, up to and including /v1 (OPENAI_BASE_URL, else OpenAI's)")
        help = f"answers of each kind that the rule accepts, and refuses ({self.size})"
        parser.add_argument("--size", type=int, default=self.size, help=help)
        parser.add_argument("--seed", type=int, default=0, help="of the draw (0)")
        limit = self.sampling["max_tokens"]
        parser.add_argument("--max-tokens", type=int, default=limit, help=f"of a reply ({limit})")
        parser.add_argument("--timeout", type=float, default=300.0, help="seconds for a reply (300)")
        parser.add_argument("--tries", type=int, default=6, help="attempts per request (6)")
        parser.add_argument("--concurrency", type=int, default=2, help="requests at a time (2)")
        parser.add_argument(
            "--records", type=Path, default=Path("records/judge"), help="folder of the recorded replies"
        )
        parser.add_argument("--out", type=Path, default=Path(self.out), help="file of the table")
        options = parser.parse_args(arguments)
        return one_line("judge", lambda: self.run(options))

"""Symbolic accuracy by a language model, as SurfaceBench has it judged (Appendix A.1), beside the rule of this study.

``python -m rediscover.studies.surfaces.judge --model M --base-url URL`` asks any OpenAI-compatible server about a
sample of recorded answers, half of which the rule takes for the true surface. Every reply is recorded at once, so that
a run which was stopped resumes; the cost is shown first and has to be confirmed, unless ``YES=1`` is set.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import yaml

from ...llm import address
from ...llm.client import Chat, LlmError
from ...llm.spending import confirmed, dollars, one_line
from ...methods import CONTROLS, llm_text
from ...problems import problem
from ...report.statistics import agreement
from ...report.summaries import wilson
from ...runs.schema import read_csv, to_csv
from ...system.committed import committed

_FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SAMPLING = {name: _FACTS[name] for name in ("temperature", "max_tokens")}


def sample(size: int = 30, seed: int = 0) -> pd.DataFrame:
    """Recorded answers to explicit surfaces: `size` that the rule accepts, and as many that it refuses, one a surface.

    Returns
    -------
    DataFrame
        Columns problem, method, truth, answer (texts) and rule (bool), in the order in which they are asked about.
    """
    keys = ["problem", "method", "seed"]
    scores = read_csv(committed("tables") / "surfaces_scores.csv").query("subset == 'explicit' and status == 'ok'")
    answers = read_csv(committed("tables") / "surfaces_runs.csv")[[*keys, "solution"]]
    rows = scores[~scores["method"].isin(CONTROLS)].merge(answers, on=keys)
    rows["rule"] = rows["symbolic_accuracy"] == 1
    shuffled = rows.sample(frac=1, random_state=seed).drop_duplicates(["problem", "rule"])
    chosen = shuffled.groupby("rule").head(size).sort_values(keys)
    texts = {"truth": chosen["problem"].map(lambda id: dict(problem(id).truth)["z"])}
    texts["answer"] = chosen["solution"].map(lambda solution: solution["z"])
    return chosen.assign(**texts)[["problem", "method", "truth", "answer", "rule"]].reset_index(drop=True)


def question(truth: str, answer: str) -> list[dict[str, str]]:
    """What the judge is asked: whether some choice of constants makes both formulas one function."""
    return [{"role": "user", "content": _FACTS["prompt"].format(truth=truth, answer=answer)}]


def verdict(reply: str) -> bool | None:
    """The last answer of a reply; None without one.

    Examples
    --------
    >>> verdict("Both are x*y. Answer: Yes"), verdict("**Answer:** no."), verdict("I cannot say")
    (True, False, None)
    """
    found = re.findall(_FACTS["verdict"], reply)
    return found[-1].lower() == "yes" if found else None


def judged(chat: Chat, pairs: pd.DataFrame, **sampling: float) -> pd.Series:
    """Verdicts of a model on the rows of `sample`: True, False, or None after two replies without one.

    `sampling` goes before `SAMPLING`.

    Raises
    ------
    LlmError
        If no question was answered.
    """
    questions = [question(row.truth, row.answer) for row in pairs.itertuples()]
    sampling = SAMPLING | sampling
    replies = chat.ask_all(questions, progress="verdicts", **sampling)
    if all(isinstance(reply, LlmError) for reply in replies):
        raise replies[0]  # type: ignore[misc]
    found = list(map(_of, replies))
    for i, said in enumerate(found):
        if said is None:
            try:
                found[i] = _of(chat.ask(questions[i], draw=1, **sampling | {"temperature": 1.0}))
            except LlmError:
                continue
    return pd.Series(found, pairs.index, dtype=object)


def _of(reply) -> bool | None:
    return None if isinstance(reply, LlmError) else verdict(reply.text or "")


def summary(rows: pd.DataFrame) -> pd.Series:
    """How a model's verdicts go with the rule's: columns rule and verdict (None: without one).

    Returns
    -------
    Series
        n, answered; accepted and refused, the shares of yes among answers that the rule accepts and refuses, with the
        ends of Wilson's intervals; kappa (Cohen's).

    Examples
    --------
    >>> told = summary(pd.DataFrame({"rule": [True, True, False, False], "verdict": [True, False, False, None]}))
    >>> [round(float(told[name]), 2) for name in ("answered", "accepted", "refused", "kappa")]  # 2/3, by chance 4/9
    [3.0, 0.5, 0.0, 0.4]
    """
    known = rows[rows["verdict"].notna()].astype({"rule": float, "verdict": float})
    told: dict[str, float] = {"n": len(rows), "answered": len(known)}
    for name, value in (("accepted", 1), ("refused", 0)):
        part = known.loc[known["rule"] == value, "verdict"]
        low, high = wilson(part.sum(), len(part)) if len(part) else (float("nan"),) * 2
        told |= {name: part.mean(), f"{name}_low": low, f"{name}_high": high}
    return pd.Series(told | {"kappa": agreement(known["rule"], known["verdict"])["kappa"]}, dtype=object)


def run(options: argparse.Namespace) -> int:
    """Ask about the sample, write the verdicts and print how they go with the rule's."""
    pairs = sample(options.size, options.seed)
    path = llm_text.records_of(options.records, options.model)
    limits = {name: getattr(options, name) for name in ("base_url", "timeout", "tries", "concurrency")}
    chat = Chat(options.model, path, mode="record", **limits)
    sampling = SAMPLING | {"max_tokens": options.max_tokens}
    cost = chat.estimate([question(row.truth, row.answer) for row in pairs.itertuples()], **sampling)
    print(f"{len(pairs)} verdicts by {chat.model}: {dollars(cost, '.2f', 'at most about ')}, and as much for those")
    print(f"that are asked for twice; {len(chat.records)} replies are recorded already and cost nothing")
    print(address.told(options.base_url), flush=True)  # before, in a pipe too
    if not confirmed():
        print("judge: nothing was sent; answer y, or set YES=1", file=sys.stderr)
        return 1
    rows = pairs.assign(model=options.model, verdict=judged(chat, pairs, **sampling))
    to_csv(rows, options.out)
    print(summary(rows).to_string())
    print(f"{options.out}; spent: {dollars(chat.spent['usd'], '.4f')}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; errors are one line on standard error and exit status 2."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="the judge; name as the server knows it")
    parser.add_argument("--base-url", help="server, up to and including /v1 (OPENAI_BASE_URL, else OpenAI's)")
    parser.add_argument("--size", type=int, default=30, help="answers that the rule accepts, and refuses (30)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (0)")
    limit = SAMPLING["max_tokens"]
    parser.add_argument("--max-tokens", type=int, default=limit, help=f"of a reply ({limit})")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for a reply (300)")
    parser.add_argument("--tries", type=int, default=6, help="attempts per request (6)")
    parser.add_argument("--concurrency", type=int, default=2, help="requests at a time (2)")
    parser.add_argument("--records", type=Path, default=Path("records/judge"), help="folder of the recorded replies")
    parser.add_argument("--out", type=Path, default=Path("build/judge.csv"), help="file of the verdicts")
    options = parser.parse_args(arguments)
    return one_line("judge", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())

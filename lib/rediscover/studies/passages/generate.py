"""Ask a language model for the formulas of the bundled corpus, and another to judge them.

``python -m rediscover.studies.passages.generate --model M --base-url URL`` (``make generate
MODEL=M BASE_URL=URL``) works with any OpenAI-compatible server. Every reply is recorded at once, so that a run which was stopped goes on where
it was. Before anything is sent the cost is shown and has to be confirmed, unless ``YES=1`` is in the
environment.
"""

import argparse
import math
import os
import sys
from pathlib import Path

import pandas as pd

from ... import problem, problems
from ...llm.client import Chat, LlmError
from ...methods import llm_text
from . import judge
from . import scores as scores


def main(arguments=None) -> int:
    """Run it; errors are one line on standard error and exit status 2."""
    options = _parser().parse_args(arguments)
    try:
        return run(options)
    except KeyboardInterrupt:
        print("generate: interrupted; what was recorded stays", file=sys.stderr)
        return 130
    except (LlmError, ValueError, KeyError, OSError) as error:
        print(f"generate: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def run(options) -> int:
    passages = [problem(id) for id in problems("passages")][: options.limit]
    judge_model = options.judge or llm_text.FACTS["profiles"][options.profile]["judge"]
    writer, judging = (_chat(options, model) for model in (options.model, judge_model))
    prompts = [llm_text.prompt(passage) for passage in passages]
    if not _confirmed(options, writer, judging, prompts, passages):
        print("generate: nothing was sent; answer y, or set YES=1", file=sys.stderr)
        return 1
    sampling = llm_text.sampling(options.model, options.profile)
    replies = writer.ask_all(prompts, progress="formulas", **sampling)
    rows = [_answer(passage, reply) for passage, reply in zip(passages, replies, strict=True)]
    answers = pd.DataFrame(rows)
    answers = answers.join(_judged(judging, passages, answers))
    truths = [passage.truth["latex"] for passage in passages]
    answers = answers.join(scores.table(answers["latex"], truths))
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{llm_text.records_of('', options.model).stem}.csv"
    answers.to_csv(file, index=False)
    shown = [*judge.RUBRICS, *scores.TABLE3]
    print(answers[shown].mean().round(3).to_string())
    print(f"{len(answers)} formulas, {(answers['failure'] != '').sum()} failed; {file}")
    print("spent:", _dollars(writer.spent["usd"] + judging.spent["usd"], ".4f"))
    return 0


def _chat(options, model: str) -> Chat:
    return Chat(
        model,
        llm_text.records_of(options.records, model),
        mode="record",
        base_url=options.base_url,
        max_usd=options.max_usd,
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tries=options.tries,
    )


def _confirmed(options, writer, judging, prompts, passages) -> bool:
    """Show what the run may cost at most and ask."""
    questions = [
        judge.judge_prompt(rubric, passage, passage.truth["latex"], "")
        for passage in passages
        for rubric in judge.RUBRICS
    ]
    cost = writer.estimate(prompts, **llm_text.sampling(options.model, options.profile))
    cost += judging.estimate(questions, **_limits())
    print(
        f"{len(prompts)} formulas by {writer.model} and {len(questions)} scores by {judging.model}: "
        f"{_dollars(cost, '.2f', 'at most about ')}; "
        f"{len(writer.records)} and {len(judging.records)} replies are recorded already and cost nothing"
    )
    if os.environ.get("YES") == "1":
        return True
    return sys.stdin.isatty() and input("go on? [y/N] ").strip().lower() in ("y", "yes")


def _dollars(amount: float, digits: str, before: str = "") -> str:
    return "an unknown price" if math.isnan(amount) else f"{before}{amount:{digits}} US dollars"


def _limits() -> dict:
    """Sampling of the judge."""
    return {name: llm_text.FACTS[f"judge_{name}"] for name in ("temperature", "max_tokens")}


def _answer(passage, reply) -> dict:
    if isinstance(reply, LlmError):
        return {"problem": passage.id, "latex": "", "description": "", "failure": str(reply)}
    found = llm_text.candidate(reply)
    failure = "" if found.solution["latex"] else "no formula in the reply" + (", cut off" * reply.truncated)
    row = {"problem": passage.id, "latex": found.solution["latex"], "description": found.notes["description"]}
    return {**row, "failure": failure}


def _judged(judging: Chat, passages, answers: pd.DataFrame) -> pd.DataFrame:
    """Scores per rubric, NaN where the judge failed or gave none."""
    pairs = [(passage, row) for passage, row in zip(passages, answers.itertuples(), strict=True)]
    prompts = [
        judge.judge_prompt(rubric, passage, row.latex, row.description)
        for passage, row in pairs
        for rubric in judge.RUBRICS
    ]
    replies = judging.ask_all(prompts, progress="scores", **_limits())
    found = [None if isinstance(r, LlmError) else judge.parse_score(r.text or "")[0] for r in replies]
    n = len(judge.RUBRICS)
    table = [found[i : i + n] for i in range(0, len(found), n)]
    return pd.DataFrame(table, columns=list(judge.RUBRICS), dtype=float)


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m rediscover.studies.passages.generate", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--model", required=True, help="writes the formulas; name as the server knows it")
    parser.add_argument("--judge", help="scores them; by default the profile's judge")
    parser.add_argument("--base-url", help="server, up to and including /v1 (default: OPENAI_BASE_URL)")
    parser.add_argument("--profile", choices=["paper", "code"], default="paper", help="whose temperatures")
    parser.add_argument("--records", type=Path, default=Path("records"), help="folder of the recorded replies")
    parser.add_argument("--out", type=Path, default=Path("build/generate"), help="folder of the table of answers")
    parser.add_argument("--limit", type=int, help="only the first so many passages")
    parser.add_argument("--max-usd", type=float, help="hard limit for each of both models")
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--requests-per-minute", type=float)
    parser.add_argument("--tries", type=int, default=6)
    return parser


if __name__ == "__main__":
    sys.exit(main())

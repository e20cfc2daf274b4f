"""Ask a language model for the formulas of the bundled corpus, and another to judge them.

``python -m rediscover.studies.passages.generate --model M --base-url URL`` (``make generate MODEL=M BASE_URL=URL``)
works with any OpenAI-compatible server. Every reply is recorded at once, so that a run which was stopped resumes where
it was. Before anything is sent the cost is shown and has to be confirmed, unless ``YES=1`` is in the environment.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from ... import problem, problems
from ...llm import address
from ...llm.client import Chat, LlmError
from ...llm.spending import confirmed, dollars, one_line
from ...methods import llm_text
from ...metrics import latex
from ...runs.schema import to_csv
from . import judge
from . import scores as scores

NOBODY = "none"  # in place of a judge's name


def main(arguments=None) -> int:
    """Run it; errors are one line on standard error and exit status 2."""
    options = _parser().parse_args(arguments)
    return one_line("generate", lambda: run(options))


def run(options) -> int:
    """Formulas and scores of the bundled passages into a table; `options` are the command line's."""
    passages = [problem(id) for id in problems("passages")][: options.limit]
    judge_model = options.judge or llm_text.FACTS["profiles"][options.profile]["judge"]
    writer = _chat(options, options.model)
    judging = _chat(options, judge_model) if judge_model != NOBODY else None
    prompts, sampling = [llm_text.prompt(p) for p in passages], llm_text.sampling(options.model, options.profile)
    if options.max_tokens:
        sampling["max_tokens"] = options.max_tokens
    questions = [q for p in passages for q in judge.judge_prompts(p, p.truth["latex"], "")]
    cost, asked, known = writer.estimate(prompts, **sampling), f"{len(prompts)} formulas by {writer.model}", ""
    if judging:
        cost += judging.estimate(questions, **judge.SAMPLING)
        asked, known = f"{asked} and {len(questions)} scores by {judging.model}", f" and {len(judging.records)}"
    print(f"{asked}: {dollars(cost, '.2f', 'at most about ')}; ", end="")
    print(f"{len(writer.records)}{known} replies are recorded already and cost nothing")
    print(address.told(options.base_url), flush=True)  # before, in a pipe too
    if not confirmed():
        print("generate: nothing was sent; answer y, or set YES=1", file=sys.stderr)
        return 1
    replies = writer.ask_all(prompts, progress="formulas", **sampling)
    answers = pd.DataFrame(_answer(*pair) for pair in zip(passages, replies, strict=True))
    truths = [latex.clean(passage.truth["latex"]) for passage in passages]
    answers = answers.join(scores.scores_of(answers["latex"].map(latex.clean).tolist(), truths))
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{llm_text.records_of('', options.model).stem}.csv"
    to_csv(answers, file)  # also where the judge cannot be asked
    if judging:
        answers = answers.join(judge.judged(judging, passages, answers))
        to_csv(answers, file)
    print(answers[[name for name in (*judge.RUBRICS, *scores.TABLE3) if name in answers]].mean().round(3).to_string())
    print(f"{len(answers)} formulas, {(answers['failure'] != '').sum()} failed; {file}")
    print("spent:", dollars(sum(chat.spent["usd"] for chat in (writer, judging) if chat), ".4f"))
    return 0


def _chat(options, model: str) -> Chat:
    names = ("max_usd", "concurrency", "requests_per_minute", "timeout", "tries")
    limits = {name: getattr(options, name) for name in names}
    path = llm_text.records_of(options.records, model)
    return Chat(model, path, mode="record", base_url=options.base_url, **limits)


def _answer(passage, reply) -> dict:
    if isinstance(reply, LlmError):
        return {"problem": passage.id, "latex": "", "description": "", "failure": str(reply)}
    found = llm_text.candidate(reply)
    failure = "" if found.solution["latex"] else "no formula in the reply" + (", cut off" * reply.truncated)
    return {"problem": passage.id, **found.solution, "description": found.notes["description"], "failure": failure}


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="writes the formulas; name as the server knows it")
    parser.add_argument("--judge", help=f"scores them; {NOBODY!r} for no judge; by default the profile's")
    parser.add_argument("--base-url", help="server, up to and including /v1 (OPENAI_BASE_URL, else OpenAI's)")
    parser.add_argument("--profile", choices=["paper", "code"], default="paper", help="whose temperatures")
    parser.add_argument("--records", type=Path, default=Path("records"), help="folder of the recorded replies")
    parser.add_argument("--out", type=Path, default=Path("build/generate"), help="folder of the table of answers")
    parser.add_argument("--limit", type=int, help="only the first so many passages")
    parser.add_argument("--max-usd", type=float, help="hard limit for each of both models")
    parser.add_argument("--max-tokens", type=int, help="of a formula's reply, in place of the profile's")
    parser.add_argument("--concurrency", type=int, default=4, help="requests at a time (4)")
    parser.add_argument("--requests-per-minute", type=float)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a reply (60)")
    parser.add_argument("--tries", type=int, default=6, help="attempts per request (6)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""A prompted language model that writes the formula of a passage: the generator of SciText2Eq."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml

from ..problems import Passage, problem, problems
from ..system.file_digest import file_digest
from ..system.paths import root
from . import Budget, Candidate, Method

FACTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def prompt(passage: Any) -> list[dict]:
    """Messages that ask for the formula of a passage.

    They hold every context up to it and the true formulas and descriptions before it; what a model wrote for
    earlier entries is never fed back.

    Examples
    --------
    >>> from ..problems import problem
    >>> print(prompt(problem("passages/kalman-2"))[1]["content"].splitlines()[5])
    Description: where \\(w_t\\) has covariance \\(Q\\) and \\(v_t\\) has covariance \\(R\\)
    """
    lines = [f"Paper {passage.paper}, equation {passage.number}"]
    for i, entry in enumerate(passage.earlier, 1):
        lines += ["", f"Context for Equation {i}:", entry.context]
        if entry.description:
            lines.append(f"Description: {entry.description}")
        lines += [f"<latex>{equation}</latex>" for equation in entry.equations]
    lines += ["", f"Context for Equation {passage.number}:", passage.context]
    text = FACTS["prompt"].format(context="\n".join(lines), n=passage.number)
    return [{"role": "system", "content": FACTS["system"]}, {"role": "user", "content": text}]


def sampling(model: str, profile: str = "paper") -> dict:
    """Temperature and token limit for a model, by what the paper says or what its code does.

    Examples
    --------
    >>> sampling("gpt-4.1"), sampling("gpt-4.1", "code")
    ({'temperature': 1.0, 'max_tokens': 1024}, {'temperature': 0.2, 'max_tokens': 1024})
    """
    chosen = FACTS["profiles"][profile]
    named = (t for pattern, t in chosen["temperature"].items() if re.search(pattern, model, re.IGNORECASE))
    # The released code sets no limit for DeepSeek, whose thinking would use it up.
    limit = None if re.search("deepseek", model, re.IGNORECASE) else FACTS["max_tokens"]
    return {"temperature": next(named, chosen["other"]), "max_tokens": limit}


def records_of(folder: str | Path, model: str) -> Path:
    """The file of records of a model within a folder."""
    return Path(folder) / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', model)}.jsonl"


@dataclass(frozen=True)
class LanguageModel(Method):
    """One completion per passage, replayed from records; ``make generate`` records them.

    Attributes
    ----------
    model : name as the server knows it.
    records : folder of the records; if relative, in the repository.
    profile : 'paper' or 'code', whose temperatures.
    """

    name: ClassVar[str] = "llm_text"
    reference: ClassVar[str] = "Mo et al., SciText2Eq (2026)"
    accepts: ClassVar[tuple[type, ...]] = (Passage,)

    model: str = "gpt-4o-mini"
    records: str = "records"
    profile: Literal["paper", "code"] = "paper"

    @property
    def version(self) -> str:
        """With the records, so that a run that missed one is done again when there are more."""
        file = self._file()
        recorded = file_digest(file)[:12] if file.is_file() else "none"
        return f"{super().version}-{recorded}"

    def available(self) -> str | None:
        if self._file().is_file():
            return None
        shown = records_of(self.records, self.model)
        return f"no records of {self.model} at {shown}: make generate MODEL={self.model} BASE_URL=..."

    def _file(self) -> Path:
        return records_of(_folder(self.records), self.model)

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        from ..llm.client import Chat

        chat = Chat(self.model, self._file())
        return [candidate(chat.ask(prompt(problem), draw=seed, **sampling(self.model, self.profile)))]


def recorded(folder: str | Path = "records", profile: Literal["paper", "code"] = "paper") -> list[LanguageModel]:
    """The models with a recorded formula for at least one bundled passage; a model that has only judged is none."""
    from ..llm.client import Records, parameters, request_key

    prompts, found = [prompt(problem(id)) for id in problems("passages")], []
    for file in sorted(_folder(folder).glob("*.jsonl")):
        records = Records(file)
        for model in sorted({record["request"]["model"] for record in records.values()}):
            sent = parameters(model, **sampling(model, profile))
            if any(request_key(model, messages, sent) in records for messages in prompts):
                found.append(LanguageModel(model=model, records=str(folder), profile=profile))
    return found


def _folder(records) -> Path:
    """A folder of records; a relative one is in the repository, or in the working folder outside of one."""
    with contextlib.suppress(FileNotFoundError):
        return root() / records
    return Path(records)


def candidate(reply: Any) -> Candidate:
    """Formula and description of a reply; an unreadable reply is an empty formula, so that its row stays."""
    from ..llm.replies import tag

    text = reply.text or ""
    notes = {"description": tag(text, "description"), "truncated": reply.truncated, "model": reply.model}
    return Candidate({"latex": tag(text, "latex")}, evaluations=1, notes=notes)

"""How a method reaches a language model: an endpoint whose replies are recorded, or the records alone."""

import functools
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, ClassVar

import yaml

from ..llm import address
from ..system import plain_yaml
from ..system.paths import root
from . import Method, added

CONTROLS = ("grammar", "genetic")
WITHOUT = ("none", *CONTROLS)  # a model
PROPOSERS = ("model", *WITHOUT, "recorded")
RUN = 1_000_000  # draws set aside for a seed
PLACES = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
RELEASED = "released"  # in place of a file of prompts


@dataclass(frozen=True)
class Endpoint(Method):
    """Base of the methods in which a language model proposes, and can be exchanged.

    Attributes
    ----------
    proposer : 'model' asks an endpoint, and records every reply, so that a run resumes;
        'recorded' replays such a run without an endpoint; 'grammar' and 'genetic' are the same loop without a
        model; with 'none' every reply is empty, which leaves what the loop does by itself, or begins with.
    model : name as the endpoint knows it.
    records : folder of the replies; if relative, in the repository.
    profile : 'paper' or 'code', whose sampling parameters.
    max_tokens : of a reply, in place of the profile's; 0 leaves it as it is.
    timeout : seconds for a reply.
    tries : attempts per request, each of which has that time.
    prompts : 'released', the texts of a framework's authors, which are fetched and no part of this project; or a YAML
        file with texts in place of our own, under the same names.
    """

    proposer: str = "model"
    model: str = ""
    records: str = "records"
    profile: str = "paper"
    max_tokens: int = added(0)
    timeout: float = added(60.0)
    tries: int = added(6)
    prompts: str = added("")
    searches: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("numba",)
    texts: ClassVar[dict] = {}

    def check(self, **known: tuple) -> None:
        """Raise ValueError where a setting is none of its values."""
        for name, values in {"proposer": PROPOSERS, "profile": ("paper", "code"), **known}.items():
            if getattr(self, name) not in values:
                shown = ", ".join(map(repr, values))
                raise ValueError(f"{self.name}: {name} is one of {shown}, got {getattr(self, name)!r}")
        if self.max_tokens < 0 or not self.timeout > 0 or self.tries < 1:
            raise ValueError(f"{self.name}: max_tokens must be at least 0, timeout above 0 and tries at least 1")

    @property
    def notice(self) -> str:
        """What a user is told before anything is sent: where requests will go; empty where none will."""
        return address.told() if self.proposer == "model" and not self.available() else ""

    def text(self, key: str, /, **values: Any) -> str:
        """A text of the YAML file with its blanks filled in; what is filled in is not read for blanks.

        Raises
        ------
        ValueError
            If a text of `prompts` has a blank that is not filled here.
        """
        template = Template(self.wording[key])
        try:
            return template.substitute(values).rstrip("\n")
        except KeyError as error:
            raise ValueError(f"{self.prompts}, {key}: {error} is none of {', '.join(values)}") from error
        except ValueError as error:
            raise ValueError(f"{self.prompts}, {key}: {error}; write $$ for a dollar sign") from error

    @functools.cached_property
    def wording(self) -> dict:
        """The texts, with those of `prompts` in place of our own."""
        if not self.prompts:
            return self.texts
        if self.prompts == RELEASED:
            from ..llm import released_prompts  # and pandas, which nothing else here loads

            return self.texts | released_prompts.texts(self.name)
        given = plain_yaml.load(Path(self.prompts).read_text(encoding="utf-8"))
        own = {key for key, text in self.texts.items() if isinstance(text, str)}
        if not isinstance(given, dict) or not set(given) <= own or not all(isinstance(t, str) for t in given.values()):
            raise ValueError(f"{self.prompts}: texts of {self.name} are named {', '.join(sorted(own))}")
        return self.texts | given

    def available(self) -> str | None:
        """None without a model; else what is missing: a model's name, an endpoint, or records. Fetches `prompts`."""
        missing = super().available()
        if not missing and self.prompts == RELEASED:
            from ..llm import released_prompts

            missing = released_prompts.missing(self.name)
        elif not missing and self.file_of_prompts and not Path(self.prompts).is_file():
            return f"no file of prompts: {self.prompts}"
        if missing or self.proposer in WITHOUT:
            return missing
        without = "proposer='grammar' and proposer='genetic' need none"
        if not self.model:
            needed = "an OpenAI-compatible endpoint" if self.proposer == "model" else "records"
            return f"needs a language model: set model='...' and provide {needed} ({without})"
        if self.proposer == "recorded":
            missing = f"no replies of {self.model} are recorded: run it with proposer='model' ({without})"
            return None if any(self.folder().glob("*.jsonl")) else missing
        if not any(map(os.environ.get, PLACES)):
            return f"no endpoint: set OPENAI_BASE_URL, and OPENAI_API_KEY where it asks for a key ({without})"
        return None

    @property
    def file_of_prompts(self) -> str:
        """The user's own; empty where there is none. What is released is part of the code's version."""
        return "" if self.prompts == RELEASED else self.prompts

    @property
    def version(self) -> str:
        """With the records that are replayed and other prompts, so that a run is done again when they have changed."""
        if self.proposer != "recorded" and not self.file_of_prompts:
            return super().version
        digest = hashlib.sha256(Path(self.prompts).read_bytes() if self.file_of_prompts else b"")
        for file in sorted(self.folder().glob("*.jsonl")) if self.proposer == "recorded" else ():
            digest.update(file.name.encode() + file.read_bytes())
        return f"{super().version}-{digest.hexdigest()[:12]}"

    def folder(self) -> Path:
        """Where the replies of the model are; one file a problem."""
        given = Path(self.records) / self.name / plain(self.model)
        try:
            return root() / given
        except FileNotFoundError:  # outside of a repository: the working folder
            return given

    def file(self, problem: str) -> Path:
        """Where the replies of the model on a problem are, by its id."""
        return self.folder() / f"{plain(problem)}.jsonl"

    def asking(self, problem: str) -> Callable[[list[dict], int], Any]:
        """A function of messages and the number of a draw that gives the reply for a problem."""
        from ..llm.client import Chat, Reply

        if self.proposer == "none":
            return lambda messages, draw: Reply("", "", False, 0, 0, 0, False, 0.0, "", 0, False, "")
        mode = "record" if self.proposer == "model" else "replay"
        chat = Chat(self.model, self.file(problem), mode=mode, timeout=self.timeout, tries=self.tries)
        capped = {"max_tokens": self.max_tokens} if self.max_tokens else {}
        return lambda messages, draw: chat.ask(messages, draw=draw, **{**self.parameters(draw), **capped})

    def parameters(self, draw: int) -> Mapping[str, Any]:
        """Sampling parameters of a request."""
        return self.texts["profiles"][self.profile]


def plain(name: str) -> str:
    """A name as part of a path.

    >>> plain("srbench/easy-1")
    'srbench_easy-1'
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name)


def texts(file: str) -> dict:
    """The YAML file beside a module, from its ``__file__``."""
    return yaml.safe_load(Path(file).with_suffix(".yaml").read_text(encoding="utf-8"))

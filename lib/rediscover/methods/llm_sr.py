"""LLM-SR: a language model completes functions, shown two earlier ones from an island."""

import keyword
from dataclasses import dataclass
from typing import Any, ClassVar

from ..expressions.edits import read_completion, read_rewrite
from ..search.loops.pools import Islands
from ..search.loops.proposers import COUNT, Function, numbered_sum
from ..search.loops.slot_fits import Fit
from .endpoint import texts
from .language_loops import Described, LanguageLoop, Parts

TAKEN = {"params", "np", "math", "equation"}


@dataclass(frozen=True)
class LlmSr(LanguageLoop):
    """Islands of functions in Python, constants by BFGS from ones, the score minus the mean squared error.

    A model's reply is read, never executed. Other than in the released code, fits are bounded by steps, not by 30
    seconds; scores are rounded to 12 digits before they make clusters; islands are not emptied after hours. With
    proposer 'grammar' or 'genetic' everything but the model is the same.

    Attributes
    ----------
    islands : their number; 1, with ``samples=5``, is the direct prompting of LLM-SRBench.

    References
    ----------
    P. Shojaee et al., LLM-SR: Scientific equation discovery via programming with large language models,
    arXiv:2404.18400
    """

    islands: int = 10
    name: ClassVar[str] = "llm_sr"
    reference: ClassVar[str] = "after Shojaee et al., LLM-SR (2024), arXiv:2404.18400"
    texts: ClassVar[dict] = texts(__file__)
    EACH: ClassVar[int] = 4  # samples for one prompt

    def parts(self, task: Described, data: Any, rng: Any) -> Parts:
        arguments = {argument(name): name for name in task.inputs}
        count = max(COUNT, len(task.inputs) + 1)
        header = self.header("equation", arguments, self.first(task, arguments))
        notation = Function(header, "equation", arguments, count)
        listed = ", ".join(self.about(task, name) for name in task.inputs)
        sentence = self.sentence or "Nothing else is known of it."
        head = self.text("head", output=self.about(task, task.output), inputs=listed, sentence=sentence, count=count)

        def prompt(shown):
            parts = [self.text("instruction"), "", head, ""]
            for version, program in enumerate([*shown.programs, None]):
                doc = self.text("improved", before=version - 1) if version else self.first(task, arguments)
                body = program.text.removeprefix(header) if program else ""
                parts += [self.header(f"equation_v{version}", arguments, doc) + body, ""]
            return [{"role": "user", "content": "\n".join(parts)}]

        return Parts(
            Islands(self.islands),
            notation,
            Fit(),
            lambda mse, reading: -mse,
            prompt,
            lambda reply, shown: [read_completion(header, unfenced(reply))],
            each=self.EACH,
            seed=notation.write(numbered_sum(task.inputs)),
            enough=0.0,
        )

    def first(self, task: Described, arguments: dict[str, str]) -> str:
        lines = (self.text("argument", name=key, about=self.about(task, name)) for key, name in arguments.items())
        return self.text("first", output=self.about(task, task.output), arguments="\n".join(lines)) + "\n    "

    @staticmethod
    def header(name: str, arguments, doc: str) -> str:
        listed = ", ".join(f"{key}: np.ndarray" for key in [*arguments, "params"])
        return f'def {name}({listed}) -> np.ndarray:\n    """{doc}"""'


def argument(name: str) -> str:
    """A column's name as that of an argument.

    >>> argument("x"), argument("lambda")
    ('x', 'lambda_')
    """
    return name + "_" if keyword.iskeyword(name) or name in TAKEN else name


def unfenced(reply: str) -> str:
    """The first fenced block of a reply, with the indentation of a body's first line; a reply without one as it is.

    >>> unfenced("Here: ```python\\n    return x\\n```")
    '    return x'
    """
    if "```" not in reply:
        return reply
    text = read_rewrite(reply)
    return text if any(line.startswith("def") for line in text.split("\n")) else f"    {text}"

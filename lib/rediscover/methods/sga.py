"""SGA: a language model writes modules with trainable constants, shown how those before them were trained."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..expressions.edits import plain_lines, read_rewrite
from ..expressions.numerics import UFUNCS
from ..expressions.programs import ProgramError, Reading, read_module
from ..expressions.syntax import write
from ..expressions.trees import UNARY, fold
from ..search.loops.adam import Adam
from ..search.loops.pools import Top
from ..search.loops.proposals import Scored, Shown
from ..search.loops.proposers import numbered, numbered_sum, of_columns
from .endpoint import RUN, texts
from .language_loops import Described, LanguageLoop, Parts
from .llm_sr import argument

SHOWN = 5  # individuals in a prompt
SECTIONS = ("Analysis", "Plan", "Code")
HEADING = re.compile(r"^#+[ \t]*(analysis|plan|code)\b[^\n]*$", re.IGNORECASE | re.MULTILINE)
REFUSED = re.compile(r"[{}]|\bfor [ibf] in\b")  # what the released code stumbles over or refuses


@dataclass(frozen=True)
class Sga(LanguageLoop):
    """Modules in the manner of PyTorch, read and never executed; constants by Adam, 1,000 epochs from their defaults.

    Each round asks for some replies at a low temperature and some at a high one, and shows the five best modules, the
    worst of them first, with their constants and curves of the loss; while there are fewer, also modules that cannot
    be read. Other than in the released code, PyTorch is not needed, numbers are double precision and shown with three
    digits, the history is sent whole, the last message is the user's, and a skeleton that comes again is not trained
    again. The releases of the benchmarks stop after 40 or 80 replies.

    Attributes
    ----------
    exploit, explore : replies of a round at a low and at a high temperature; SurfaceBench has 4 and 4, the paper 4
        and 12.

    References
    ----------
    P. Ma et al., LLM and simulation as bilevel optimizers: a new paradigm to advance physical scientific discovery,
    arXiv:2405.09783
    """

    exploit: int = 4
    explore: int = 4
    name: ClassVar[str] = "sga"
    reference: ClassVar[str] = "after Ma et al., SGA (2024), arXiv:2405.09783"
    texts: ClassVar[dict] = texts(__file__)

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.exploit, self.explore) < 0 or not self.each:
            raise ValueError(f"{self.name}: exploit and explore must be at least 0, and one of them 1")

    @property
    def each(self) -> int:
        return self.exploit + self.explore

    def parameters(self, draw: int) -> Mapping[str, Any]:
        """Sampling parameters of a request: the first draws of a round exploit."""
        profile = self.texts["profiles"][self.profile]
        exploits = draw % RUN % self.each < self.exploit
        return {**profile["other"], **profile["exploit" if exploits else "explore"]}

    def parts(self, task: Described, data: Any, rng: np.random.Generator) -> Parts:
        notation, fit = Module({argument(name): name for name in task.inputs}), Adam()
        plans: dict[str, str] = {}
        listed = ", ".join(self.about(task, name) for name in task.inputs)
        system = self.text("system", output=self.about(task, task.output), inputs=listed, sentence=self.sentence)
        form = self.text("form", example=notation.write(numbered_sum(task.inputs)))

        def messages_of(number: int, text: str, result: str) -> list[dict]:
            own = self.text("individual", number=number, plan=plans.get(text, "None."), program=text)
            return [{"role": "assistant", "content": own}, {"role": "user", "content": result}]

        def prompt(shown: Shown) -> list[dict]:
            count = max(0, SHOWN - len(shown.programs))
            failed = list(notation.failed.items())[-count:] if count else []
            tried = [(text, self.text("failed", reason=reason)) for text, reason in failed]
            tried += [(program.text, self.trained(program, fit)) for program in shown.programs]
            history = [m for number, pair in enumerate(tried, 1) for m in messages_of(number, *pair)]
            return [{"role": "system", "content": system}, *history, {"role": "user", "content": form}]

        def programs(reply: str, shown: Shown) -> list[str]:
            plan, code = sections(reply)
            plans.setdefault(code, plan)
            return [code]

        return Parts(
            Top(shown=SHOWN),
            notation,
            fit,
            lambda mse, reading: -mse,
            prompt,
            programs,
            each=self.each,
            seed=notation.write(numbered_sum(task.inputs)),
            enough=0.0,
        )

    def trained(self, program: Scored, fit: Adam) -> str:
        """What is said of a module's training: constants, curve, and least loss."""
        names = [slot.origin for slot in program.reading.slots]
        values = ", ".join(f"{name} = {value:.3g}" for name, value in zip(names, program.constants, strict=True))
        curve = ", ".join(f"{error:.3g}" for error in fit.curves[str(program.reading.expression)])
        return self.text("trained", constants=values or "none", curve=curve, least=f"{program.mse:.3g}")


@dataclass(frozen=True)
class Module:
    """Programs are classes with constants in ``__init__`` and the formula in ``forward``.

    Attributes
    ----------
    columns : argument of ``forward`` -> name of the column.
    failed : text of a module that could not be read -> the reason.
    """

    columns: Mapping[str, str]
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.columns.values())

    def read(self, text: str) -> Reading:
        try:
            return of_columns(read_module(text, columns=self.columns), self.inputs)
        except ProgramError as error:
            self.failed[text] = str(error)
            raise

    def write(self, tree: tuple) -> str:
        arguments = {column: key for key, column in self.columns.items()}

        def rename(label: Any, children: list) -> tuple:
            if not children:
                return (arguments.get(label, label),)
            return (f"torch.{UFUNCS[label].__name__}" if label in UNARY else label, *children)

        count = len({leaf for leaf in re.findall(r"#\d+", str(tree))})
        lines = [f"        self.c{i} = nn.Parameter(torch.tensor(1.0))" for i in range(count)]
        head = ["class Formula(nn.Module):", "    def __init__(self):", "        super().__init__()", *lines, ""]
        formula = write(fold(numbered(tree, "self.c{}".format), rename))
        return "\n".join([*head, f"    def forward(self, {', '.join(self.columns)}):", f"        return {formula}"])


def sections(reply: str) -> tuple[str, str]:
    """Plan and code of a reply, its last fenced block.

    Raises
    ------
    ProgramError
        If one of the three sections is missing, or the code has what the released code refuses.
    """
    reply = plain_lines(reply)
    found = list(HEADING.finditer(reply))
    present = {match[1].title() for match in found}
    for name in SECTIONS:
        if name not in present:
            raise ProgramError(0, f"the reply has no section {name!r}")
    last = {match[1].title(): i for i, match in enumerate(found)}
    plan, code = found[last["Plan"]], found[last["Code"]]
    following = [match.start() for match in found if match.start() > plan.end()]
    text = read_rewrite(reply[code.end() :], last=True)
    if match := REFUSED.search(text):
        raise ProgramError(0, f"the code has {match[0]!r}")
    return reply[plan.end() : min(following, default=len(reply))].strip(), text

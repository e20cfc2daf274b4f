"""OpenEvolve: a language model edits one program of a grid of features, shown others."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from ..expressions.edits import apply_edits, read_edits
from ..expressions.programs import ProgramError
from ..search.loops.pools import Grid
from ..search.loops.proposals import Scored
from ..search.loops.proposers import COUNT, Function, numbered_sum
from ..search.loops.slot_fits import Fit
from .endpoint import texts
from .language_loops import Described, LanguageLoop, Parts, seed_of

LONGEST, LONG = 10_000, 500  # characters of a program; from which on shorter ones are asked for
START = "import numpy as np\n\n# EVOLVE-BLOCK-START\n"
END = "\n# EVOLVE-BLOCK-END"


@dataclass(frozen=True)
class OpenEvolve(LanguageLoop):
    """MAP-Elites on islands by edits, with SurfaceBench's settings and score, -log10(mean squared error + 1e-9).

    A model's edits are applied to text and the program is read, never executed; one that cannot be read counts as
    a failed sample. Other than in the released code, the start of a fit, uniform in [0, 1), is seeded with the
    formula, so that an unchanged child does not win by luck; one program is asked for at a time; distances between
    surfaces are not in the prompt. Answers have the best constants of ten more starts, as there.

    Attributes
    ----------
    sampling : how parents are drawn: 'score', as the released code does, or 'mixed', with the shares of its settings
        (0.2 anywhere on the island, 0.6 from the archive, the rest by score).

    References
    ----------
    github.com/algorithmicsuperintelligence/openevolve; A. Novikov et al., AlphaEvolve, arXiv:2506.13131
    """

    sampling: str = "score"
    name: ClassVar[str] = "openevolve"
    reference: ClassVar[str] = "after OpenEvolve (github.com/algorithmicsuperintelligence/openevolve)"
    texts: ClassVar[dict] = texts(__file__)
    SHARES: ClassVar[dict] = {"score": {}, "mixed": {"exploration": 0.2, "exploitation": 0.6}}

    def __post_init__(self):
        super().__post_init__()
        if self.sampling not in self.SHARES:
            raise ValueError(f"openevolve: sampling is 'score' or 'mixed', got {self.sampling!r}")

    def parts(self, task: Described, data: Any, rng: Any) -> Parts:
        count = max(COUNT, len(task.inputs) + 1)
        columns = {f"x[:, {i}]": name for i, name in enumerate(task.inputs)}
        output, listed = self.about(task, task.output), ", ".join(self.about(task, name) for name in task.inputs)
        header = f'{START}def func(x, params):\n    """{self.text("doc", output=output)}"""'
        notation = Function(header, "func", columns, count, END)
        sentence = self.sentence or "Nothing else is known of it."
        known = {"output": output, "inputs": listed, "columns": ", ".join(columns), "count": count}
        system = {"role": "system", "content": self.text("system", **known, sentence=sentence)}
        pool, start, dropped = Grid(**self.SHARES[self.sampling]), seed_of(task), Counter[str]()

        def prompt(shown):
            parent = shown.parent
            best = [program for program in shown.programs if program is not parent]
            user = self.text(
                "user",
                **figures(parent),
                complexity=len(parent.text),
                cell=pool.cells[parent.text],
                hint=self.texts["hints"]["long" if len(parent.text) > LONG else "short"],
                attempts=self.listing("attempt", best[:3]),
                top=self.listing("shown", best),
                inspirations=self.listing("shown", shown.inspirations),
                program=parent.text,
            )
            return [system, {"role": "user", "content": user}]

        return Parts(
            pool,
            notation,
            Fit(1, 0.0, 1.0, seed=start),
            lambda mse, reading: -math.log10(mse + 1e-9),
            prompt,
            lambda reply, shown: [edited(reply, shown.parent, dropped)],
            seed=notation.write(numbered_sum(task.inputs)),
            final=Fit(10, 0.0, 1.0, seed=start + 1),
            dropped=dropped,
        )

    def listing(self, text: str, programs) -> str:
        blocks = (self.text(text, number=i, program=p.text, **figures(p)) for i, p in enumerate(programs, 1))
        return "\n\n".join(blocks) or self.wording["nothing"]


def figures(program: Scored) -> dict[str, str]:
    """Score and error as prompts show them: with few digits, so that machines agree on them."""
    return {"score": f"{program.score:.4g}", "negative": f"{-program.mse:.4g}"}


def edited(reply: str, parent: Scored | None, dropped: Counter) -> str:
    """The parent's text after the edits of a reply; those that find nothing to replace are counted as ``missed``."""
    if parent is None:
        raise ProgramError(0, "there is no program to be edited")
    text, missed = apply_edits(parent.text, read_edits(reply))
    dropped.update(missed=len(missed))
    if len(text) > LONGEST:
        raise ProgramError(0, f"longer than {LONGEST} characters")
    return text

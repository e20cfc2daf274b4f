"""DSR as SRSD's configuration files run it."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from .dsr import FUNCTIONS
from .nggp import Nggp


@dataclass(frozen=True)
class DsrReleased(Nggp):
    """`rediscover.methods.nggp` on SRSD's files, without constants and with them: the row beside SRSD's DSR.

    Both readings of the files were run on the laws. Read as what they name, the policy gradient alone, they give what
    the paper prints; "merged", with what that release fills in, solves more. So the first is the default.

    The release has five seeds for each of the two function sets and keeps the best answer on the validation rows. Here
    either set has half the evaluations and one seed, and the answers of both are offered together.
    """

    function_set: str = FUNCTIONS
    reading: str = "named"
    name: ClassVar[str] = "dsr_released"
    reference: ClassVar[str] = "Petersen et al. (2021), Mundhenk et al. (2021), as released with SRSD 2023"

    def search(self, task, *, budget, rng):
        half = dataclasses.replace(budget, evaluations=max(1, int(budget.evaluations) // 2))
        searches = [
            Nggp(**{**self.settings, "function_set": functions})
            for functions in (self.function_set, f"{self.function_set},const")
        ]
        found = [each.search(task, budget=half, rng=rng) for each in searches]
        spent = sum(front[0].evaluations for front in found if front)
        answers = [dataclasses.replace(candidate, evaluations=spent) for front in found for candidate in front]
        return sorted(answers, key=lambda candidate: candidate.loss)

"""The answers of `bidirectional` as they were first recorded; their code is gone."""

from dataclasses import dataclass
from typing import ClassVar

from .tables import Tabular


@dataclass(frozen=True)
class BidirectionalFirst(Tabular):
    """What `bidirectional` answered when it was first recorded on a study.

    Stages were added to it after these answers had been scored, and truths read. So its score now is no forecast, and
    this one stands beside it. The answers are in ``records/``, each with the commit that first had it; no code makes
    them again. A method that is not available here is drawn for no spot check, which is why none is made of these.

    References
    ----------
    docs/records.md, "Answers as first recorded"
    """

    name: ClassVar[str] = "bidirectional_first"
    reference: ClassVar[str] = "answers of bidirectional as first recorded; own method"
    searches: ClassVar[bool] = True

    def available(self) -> str:
        return "its code is gone, so it cannot run again: use the recorded answers, or bidirectional"

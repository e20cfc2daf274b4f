"""PHYBench as ERBench has it (arXiv:2606.09276): 90 formulas from problems of physics, with anonymous inputs.

Of ERBench's protocol only the boxes and the 100 points an input are followed: values are uniform in the whole box,
there is no noise, and the test rows come from the same box. ERBench draws from mixtures in half of the box, scores
where they extrapolate, and adds noise to one problem in five.
"""

from . import facts
from .srbench import Drawn

ROWS, TEST_ROWS = 100, 1000  # for training, for each input; and for the scores


def ids(subset: str | None = None) -> list[str]:
    """Numbers of the formulas, optionally of those with so many inputs (``"3"``)."""
    counts = {str(number): str(len(about["box"])) for number, about in facts("phybench").items()}
    if subset is not None and subset not in counts.values():
        known = sorted(set(counts.values()), key=int)
        raise KeyError(f"phybench has no subset {subset!r} (subsets: {', '.join(known)})")
    return [number for number, count in counts.items() if subset in (None, count)]


def load(name: str) -> Drawn:
    about = facts("phybench")[int(name)]
    inputs = tuple(f"x{i}" for i in range(len(about["box"])))
    return Drawn(
        id=f"phybench/{name}",
        truth={"y": about["formula"]},
        inputs=inputs,
        samplers={x: ["uniform", *ends] for x, ends in zip(inputs, about["box"], strict=True)},
        rows=(ROWS * len(inputs), TEST_ROWS),
        subset=str(len(inputs)),
        source="ERBench (arXiv:2606.09276), PHYBench",
    )

"""Which cells of notebooks are compared where: Operon's arithmetic follows the processor, all other outputs do not."""

import functools
import re
from pathlib import Path

from rediscover.methods import method, registry
from rediscover.problems import problem
from rediscover.runs.run import digest

# Of the answers of Operon where the outputs of tests/notebooks were made; `make refresh` writes it.
FILE = Path(__file__).with_name("notebooks") / "operon.txt"
# Cells, notebook and id, whose outputs count Operon's answers and do not name it: what another seed of Operon changes.
COUNTING = Path(__file__).with_name("notebooks") / "counting_operon.txt"


@functools.cache
def answers() -> str:
    """Digest of a small fit of Operon with all digits, a second; of no other method.

    Names of processors do not do: virtual machines call several kinds by one.
    """
    operon = method("operon")
    if operon.available():
        return "none"
    found = operon.solve(problem("surfaces/NCGS2"), budget={"evaluations": 2000})
    return digest([candidate.solution for candidate in found])


def made_here() -> bool:
    """Whether Operon answers here as it did where the outputs were made that nbval compares with."""
    return FILE.read_text(encoding="utf-8").strip() == answers()


def follows_the_processor(notebook: str, cell) -> bool:
    """Whether the outputs of a cell name a method whose answers are of one kind of processor, or count them."""
    if f"{notebook} {cell.id}" in COUNTING.read_text(encoding="utf-8").splitlines():
        return True
    names = [name for name, method in registry().items() if not method.portable and not method().available()]
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
    return bool(re.search("|".join(names), "\n".join(texts), flags=re.IGNORECASE))


def leave_uncompared(items) -> None:
    """Of nbval's cells those that follow the processor are run everywhere, and compared where they were made."""
    for item in items:
        if hasattr(item, "cell_num") and follows_the_processor(item.path.stem, item.cell) and not made_here():
            item.options["check"] = False


if __name__ == "__main__":
    FILE.write_text(answers() + "\n", encoding="utf-8")

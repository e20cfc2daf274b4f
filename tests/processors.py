"""Which cells of notebooks are compared where: Operon's arithmetic follows the processor, all other outputs do not."""

import re
from pathlib import Path

from rediscover.methods import registry
from rediscover.runs.records import processor

# The processor that the outputs of tests/notebooks are of; `make refresh` writes it.
FILE = Path(__file__).with_name("notebooks") / "processor.txt"


def made_here() -> bool:
    """Whether a processor like this one made the outputs that nbval compares with."""
    return FILE.read_text(encoding="utf-8").strip() == processor()


def follows_the_processor(cell) -> bool:
    """Whether the outputs of a cell name a method whose answers are of one kind of processor."""
    names = [name for name, method in registry().items() if not method.portable and not method().available()]
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
    return bool(re.search("|".join(names), "\n".join(texts), flags=re.IGNORECASE))


def leave_uncompared(items) -> None:
    """Of nbval's cells those that follow the processor are run everywhere, and compared where they were made."""
    for item in items:
        if hasattr(item, "cell_num") and not made_here() and follows_the_processor(item.cell):
            item.options["check"] = False


if __name__ == "__main__":
    FILE.write_text(processor() + "\n", encoding="utf-8")

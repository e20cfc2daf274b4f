"""The last step of make: what is committed of notebooks and pages, from what was run (``make publish``).

``python -m rediscover.publish BUILD/publish.done`` puts the outputs of the notebooks that were executed in BUILD into
those of notebooks/, facts and generated parts into their text, into `readme.PAGES` and README.md, and writes
tables/facts.csv, tables/audits.csv and build/paper/facts.tex. The names of all these files are what it writes into
publish.done.
"""

import argparse
import sys
from pathlib import Path

from ..report.audits import audits
from ..report.facts import computed
from ..system.cells import marked
from ..system.paths import root
from ..system.writing import write_text
from . import facts, outputs, paper, readme, stories


def publish(executed: Path) -> list[Path]:
    """Write all that is committed beside what the notebooks emit.

    Parameters
    ----------
    executed : folder of executed notebooks; the committed outputs of one that is not there stay.

    Returns
    -------
    list of Path
        What was written, also where it was so before.
    """
    essays = stories.notebooks()
    for path in essays:
        try:
            if (executed / path.name).exists() and outputs.keep(executed / path.name, path):
                print(f"{path.stem}: its outputs are new")
        except ValueError as edited:
            print(edited, file=sys.stderr)
    tables, pages = root() / "tables", [root() / page for page in readme.PAGES]
    written = [_write(tables / "facts.csv", marked(computed()).to_csv(index=False))]
    texts = facts.texts()
    for path in essays:
        old, new = path.read_text(encoding="utf-8"), facts.essay(path, texts | readme.sections(path))
        if new != old:
            print(f"{path.stem}: new numbers in the text; read whether the words still fit")
        written.append(_write(path, new))
    written.append(_write(tables / "audits.csv", marked(audits(root() / "notebooks")).to_csv(index=False)))
    written += [_write(path, readme.generated(path)) for path in pages]
    written.append(_write(root() / "README.md", readme.front()))
    asked = (root() / "paper" / "main.tex").read_text(encoding="utf-8")
    return [*written, _write(root() / "build" / "paper" / "facts.tex", paper.macros(asked))]


def _write(path: Path, text: str) -> Path:
    """Write a text where it is another than the one there is."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return path.relative_to(root())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("done", type=Path, help="publish.done in the folder of executed notebooks")
    done = parser.parse_args().done
    listed = publish(done.parent)
    done.parent.mkdir(parents=True, exist_ok=True)
    write_text(done, "".join(f"{path}\n" for path in listed))

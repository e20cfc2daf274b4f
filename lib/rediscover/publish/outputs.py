"""The outputs of the committed notebooks: of the profile whose tables are committed, and of *smoke* for the tests.

``make publish`` puts the outputs of notebooks that papermill executed into the committed ones. This module, run
(``make refresh``), executes the code of every notebook with the profile that its parameters cell names, *smoke*, into
tests/notebooks, where nbval compares it.
"""

from pathlib import Path

import nbformat

from ..system import arguments
from ..system.paths import root
from ..system.writing import write_text
from .stories import notebooks


def keep(executed: Path, committed: Path) -> bool:
    """Put the outputs of an executed notebook into the committed one; whether this changed it.

    A cell tagged *times* keeps what it shows, so that only another result is a difference; clear it for new times.

    Parameters
    ----------
    executed, committed : paths of notebooks; the first may have a cell of parameters that papermill put in.

    Raises
    ------
    ValueError
        If the code of both is not the same: the committed one was edited since.
    """
    ran, kept = nbformat.read(executed, as_version=4), nbformat.read(committed, as_version=4)
    done = [cell for cell in code(ran) if "injected-parameters" not in cell.metadata.get("tags", [])]
    if [cell.source for cell in done] != [cell.source for cell in code(kept)]:
        raise ValueError(f"{committed.name} was edited since it ran: use `make all` for new outputs")
    for number, (cell, other) in enumerate(zip(code(kept), done, strict=True), 1):
        timed = "times" in cell.metadata.get("tags", [])
        cell.outputs, cell.execution_count = (timed and cell.outputs) or other.outputs, number
    return _write(kept, committed)


def smoke(source: Path, target: Path) -> bool:
    """Execute the code cells of a notebook as they stand and write them, without text and pictures, if changed.

    Cells tagged *times* keep what they show, as in `keep`.
    """
    from nbclient import NotebookClient

    notebook = nbformat.read(source, as_version=4)
    before = nbformat.read(target, as_version=4).cells if target.exists() else []
    times = {cell.source: cell.outputs for cell in before if "times" in cell.metadata.get("tags", [])}
    notebook.cells = code(notebook)
    for cell in notebook.cells:
        cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=None,
        record_timing=False,
        resources={"metadata": {"path": target.parent}},
    ).execute()
    for cell in notebook.cells:
        cell.outputs = times.get(cell.source) or cell.outputs
    for output in (output for cell in notebook.cells for output in cell.outputs if "data" in output):
        output.data.pop("image/png", None)  # nbval does not compare it
    return _write(notebook, target)


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _write(notebook: nbformat.NotebookNode, path: Path) -> bool:
    """Write a notebook without what follows the moment (how prints were cut, which Python ran); whether it changed."""
    from nbconvert.preprocessors import CoalesceStreamsPreprocessor

    notebook, _ = CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for cell in code(notebook):
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = cell.execution_count
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    text = nbformat.writes(notebook) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def main() -> None:
    """Run as a program."""
    folder = root() / "tests" / "notebooks"
    folder.mkdir(exist_ok=True)
    for path in notebooks():
        print(f"{path.stem}: {'new outputs' if smoke(path, folder / path.name) else 'as before'}", flush=True)


if __name__ == "__main__":
    arguments.none(__doc__)
    main()

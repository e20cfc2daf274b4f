"""The outputs of the committed notebooks: whose they are, and what of them is left out."""

from rediscover.publish import outputs

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


def committed(folder, source="print(2)"):
    cells = [new_code_cell("profile = 'smoke'"), new_markdown_cell("Text."), new_code_cell(source)]
    path = folder / "10_a.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def executed(folder):
    """As papermill leaves it: a cell put in, times, the number of a cell, prints cut in two."""
    printed = [new_output("stream", text=text) for text in ("1", "2\n")]
    printed.append(new_output("execute_result", {"text/plain": "7"}, execution_count=3))
    parameters = new_code_cell("profile = 'reference'", metadata={"tags": ["injected-parameters"]}, execution_count=2)
    last = new_code_cell("print(2)", outputs=printed, execution_count=3, metadata={"papermill": {"duration": 1.5}})
    cells = [new_code_cell("profile = 'smoke'", execution_count=1), parameters, new_markdown_cell("Older."), last]
    nbformat.write(new_notebook(cells=cells, metadata={"papermill": {"duration": 2.5}}), folder / "ran.ipynb")
    return folder / "ran.ipynb"


def test_outputs_are_put_beside_the_code_and_nothing_else_is(tmp_path):
    path, ran = committed(tmp_path), executed(tmp_path)
    assert outputs.keep(ran, path)
    first, text, second = nbformat.read(path, as_version=4).cells
    assert (first.execution_count, first.source, text.source) == (1, "profile = 'smoke'", "Text.")
    assert (second.execution_count, dict(second.metadata)) == (2, {})
    stream, result = second.outputs
    assert stream.text == "12\n" and result.execution_count == 2
    assert "papermill" not in path.read_text()
    before = path.stat().st_mtime_ns
    assert not outputs.keep(ran, path) and path.stat().st_mtime_ns == before


def test_times_stay_those_of_one_machine_until_they_are_cleared(tmp_path):
    path, ran = committed(tmp_path), executed(tmp_path)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].metadata["tags"] = ["times"]
    nbformat.write(notebook, path)
    assert outputs.keep(ran, path)  # had none
    older = nbformat.read(path, as_version=4)
    older.cells[2].outputs[0]["text"] = "of another machine\n"
    nbformat.write(older, path)
    outputs.keep(ran, path)
    assert nbformat.read(path, as_version=4).cells[2].outputs[0]["text"] == "of another machine\n"


def test_outputs_of_other_code_are_refused(tmp_path):
    path = committed(tmp_path, "print(3)")
    kept = path.read_bytes()
    with pytest.raises(ValueError, match=r"10_a\.ipynb was edited since it ran: use `make all`"):
        outputs.keep(executed(tmp_path), path)
    assert path.read_bytes() == kept


def test_the_smoke_profile_is_executed_without_the_text(tmp_path, monkeypatch):
    folder = tmp_path / "tests" / "notebooks"
    for name in ("notebooks", "params"):
        (tmp_path / name).mkdir()
    committed(tmp_path / "notebooks", "import os\nprint(profile, os.path.basename(os.getcwd()))\n3")
    monkeypatch.setenv("REDISCOVER_ROOT", str(tmp_path))
    folder.mkdir(parents=True)
    outputs.main()
    _, second = nbformat.read(folder / "10_a.ipynb", as_version=4).cells
    assert [output.get("text") for output in second.outputs] == ["smoke notebooks\n", None]
    assert second.outputs[1]["execution_count"] == second.execution_count == 2
    assert not outputs.smoke(tmp_path / "notebooks" / "10_a.ipynb", folder / "10_a.ipynb")


def test_times_stay_in_the_smoke_profile_too(tmp_path):
    source, target = committed(tmp_path, "print(2)"), tmp_path / "smoke.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells[2].metadata["tags"] = ["times"]
    nbformat.write(notebook, source)
    assert outputs.smoke(source, target)
    older = nbformat.read(target, as_version=4)
    older.cells[1].outputs[0]["text"] = "of another machine\n"
    nbformat.write(older, target)
    assert not outputs.smoke(source, target)

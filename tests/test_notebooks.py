"""What nbval does not see: outputs that were stripped, unstable text, cells too long to read."""

import ast
import hashlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import processors
from rediscover.params import models

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))
UNSTABLE = {
    "a memory address": r"0x[0-9a-f]{8,}",
    "a path of a machine": r"(^|[\s'\"(])(/home/|/root/|/Users/|/tmp/|/work/|[A-Z]:\\)",
    "a time of day": r"\b\d{1,2}:\d{2}:\d{2}\b",
    "a date": r"\b20\d\d-\d\d-\d\d\b",
}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def cells(request):
    return nbformat.read(request.param, as_version=4).cells


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def outputs(cell):
    for output in cell.outputs:
        data = output.get("data", {})
        yield output.get("text") or data.get("text/plain") or ""


def test_cells_were_executed_in_order_and_kept_their_outputs(cells):
    assert [cell.execution_count for cell in code(cells)] == list(range(1, len(code(cells)) + 1))
    for cell in code(cells):
        shows = re.search(r"^(print|display)\(|^\w[\w.]*$", cell.source.splitlines()[-1])
        assert cell.outputs or not shows, f"no output under: {cell.source}"
        assert not any(output.output_type == "error" for output in cell.outputs)
    assert sum(bool(cell.outputs) for cell in code(cells)) >= len(code(cells)) / 2


def test_no_import_hides_a_parameter(request, cells):
    """Papermill sets a parameter before the imports: a module of its name would be taken for its value."""
    parameters = models().get(request.node.callspec.id)
    bound = [
        alias.asname or alias.name.partition(".")[0]
        for cell in code(cells)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    assert bound and not set(bound) & set(parameters.model_fields if parameters else ())


def test_outputs_are_stable(cells):
    for cell in code(cells):
        assert "execution" not in cell.metadata, "execution times are in the notebook: use `make all`"
        assert not any(output.get("name") == "stderr" for output in cell.outputs), cell.source
        for text in outputs(cell):
            for what, pattern in UNSTABLE.items():
                assert not re.search(pattern, text, flags=re.M), f"{what} in the output of: {cell.source}"


def test_nbval_compares_the_same_code_with_the_smoke_profile(request, cells):
    copy = Path(__file__).parent / "notebooks" / f"{request.node.callspec.id}.ipynb"
    copied = [(cell.source, cell.metadata) for cell in nbformat.read(copy, as_version=4).cells]
    assert copied == [(cell.source, cell.metadata) for cell in code(cells)], "the code has changed: use `make refresh`"
    assert 'profile = "smoke"' in code(cells)[0].source


def test_few_outputs_are_not_compared_and_each_says_why():
    left = [
        (path.stem, cell.execution_count, cell.metadata.get("rediscover", {}).get("reason", ""))
        for path in NOTEBOOKS
        for cell in code(nbformat.read(path, as_version=4).cells)
        if {"nbval-ignore-output", "nbval-skip"} & set(cell.metadata.get("tags", [])) or "NBVAL_" in cell.source
    ]
    assert len(left) <= 10
    assert [cell for cell in left if len(cell[-1].split()) < 3] == [], "say why, in the cell's metadata"


def test_what_follows_the_processor_is_compared_where_it_was_made_only(monkeypatch):
    def cell(text):
        return new_code_cell("1", outputs=[new_output("display_data", {"text/plain": text})])

    shown = {
        text: processors.follows_the_processor("", cell(text)) for text in ("Operon 0.5", "gplearn 0.5", "operon_x")
    }
    assert shown == {"Operon 0.5": True, "gplearn 0.5": False, "operon_x": True}
    made = processors.FILE.read_text().strip()
    for here, text, compared in ((made, "Operon", True), ("another", "Operon", False), ("another", "gplearn", True)):
        monkeypatch.setattr(processors, "answers", lambda here=here: here)
        item = SimpleNamespace(path=Path("80.ipynb"), cell_num=0, cell=cell(text), options={"check": True})
        processors.leave_uncompared([item])
        assert item.options["check"] is compared


def test_cells_that_count_answers_of_operon_are_there():
    for line in processors.COUNTING.read_text().splitlines():
        notebook, id = line.split()
        cells = nbformat.read(processors.COUNTING.with_name(f"{notebook}.ipynb"), as_version=4).cells
        assert [processors.follows_the_processor(notebook, cell) for cell in cells if cell.id == id] == [True]


def test_rediscover_is_imported_before_the_libraries_whose_kernels_it_chooses(cells):
    imports = re.findall(r"^(?:from|import) (\w+)", "\n".join(cell.source for cell in code(cells)), flags=re.M)
    assert next(name for name in imports if name not in sys.stdlib_module_names) == "rediscover"


def test_cells_are_short(cells):
    for cell in code(cells):
        lines = cell.source.splitlines()
        assert len(lines) <= 25 and max(map(len, lines)) <= 100, cell.source


def test_little_code_is_seen_at_first(cells):
    """Code that draws, typesets or only writes tables is folded; of the rest 250 lines are read, audits among them.

    What a notebook starts with (profile, methods, problems) and what an audit rests on is never folded.
    """
    folded = [cell for cell in code(cells) if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert not [cell.source for cell in folded if {"audit", "parameters"} & set(cell.metadata.get("tags", []))]
    assert not [cell.source for cell in folded if "params.load(" in cell.source]
    seen = sum(len(cell.source.splitlines()) for cell in code(cells) if cell not in folded)
    assert seen <= 250, f"{seen} lines: fold what draws (View, Collapse Selected Code in JupyterLab)"


def test_cells_have_the_ids_of_their_places(cells):
    """So that a cell that is put in changes no other line of the file than its own and the ids behind it."""
    expected = [hashlib.sha1(str(i).encode()).hexdigest()[:8] for i in range(len(cells))]
    assert [cell.id for cell in cells] == expected


def test_it_opens_with_a_question_and_says_its_profile(cells):
    assert cells[0].cell_type == "markdown"
    title = cells[0].source.splitlines()[0]
    assert title.startswith("# ") and title.endswith("?")
    assert "smoke" in cells[0].source and "make all" in cells[0].source


def test_prose_outweighs_code(cells):
    prose = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    assert prose >= 300

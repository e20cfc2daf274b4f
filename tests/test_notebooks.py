"""What nbval does not see: outputs that were stripped, unstable text, cells too long to read."""

import re
from pathlib import Path

import nbformat
import pytest

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


def test_outputs_are_stable(cells):
    for cell in code(cells):
        assert "execution" not in cell.metadata, "execution times are in the notebook: use `make refresh`"
        assert not any(output.get("name") == "stderr" for output in cell.outputs), cell.source
        for text in outputs(cell):
            for what, pattern in UNSTABLE.items():
                assert not re.search(pattern, text, flags=re.M), f"{what} in the output of: {cell.source}"


def test_rediscover_is_imported_before_the_libraries_whose_kernels_it_chooses(cells):
    imports = re.findall(r"^(?:from|import) (\w+)", "\n".join(cell.source for cell in code(cells)), flags=re.M)
    assert imports[0] == "rediscover"


def test_cells_are_short_and_the_story_comes_before_the_audits(cells):
    audits = [i for i, cell in enumerate(cells) if cell.source.startswith("## Audits")]
    story = code(cells[: audits[0]] if audits else cells)
    assert len(story) <= 12
    assert max(len(cell.source.splitlines()) for cell in code(cells)) <= 15


def test_it_opens_with_a_question_and_says_its_profile(cells):
    assert cells[0].cell_type == "markdown"
    title = cells[0].source.splitlines()[0]
    assert title.startswith("# ") and title.endswith("?")
    assert "smoke" in cells[0].source and "make all" in cells[0].source


def test_prose_outweighs_code(cells):
    prose = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    assert prose >= 300

"""The tutorials run as they are, in a kernel of their own, and every cell that ends in a value shows one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.ipynb"))


QUICKSTART = TUTORIALS[0].parents[1] / "quickstart.md"


def shown(cell: Any) -> set[str]:
    """The kinds of output of a cell."""
    return {kind for output in cell.outputs for kind in output.get("data", {})}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_and_shows_tables_and_pictures(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the build of the guide makes outputs"
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    kinds = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert any("text/html" in kind for kind in kinds)
    assert any(kind & {"image/png", "image/svg+xml"} for kind in kinds)
    last_lines = [cell.source.splitlines()[-1] for cell in notebook.cells if cell.cell_type == "code"]
    for line, kind in zip(last_lines, kinds, strict=True):
        assert kind & {"text/html", "image/png", "image/svg+xml"} or "print" in line or "=" in line, line


def test_the_cell_of_the_quick_start_shows_a_ladder_and_windows_in_ten_lines(tmp_path: Path) -> None:
    part = QUICKSTART.read_text(encoding="utf-8").partition("## In a notebook")[2]
    source = part.partition("```python\n")[2].partition("```")[0]
    assert sum(bool(line.strip()) for line in source.splitlines()) <= 10
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [set(output.get("data", {})) for output in notebook.cells[0].outputs]
    assert any("image/svg+xml" in kinds or "text/html" in kinds for kinds in outputs)
    assert any("image/png" in kinds for kinds in outputs)

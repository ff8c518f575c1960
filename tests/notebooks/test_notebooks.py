"""Every notebook of the course runs from top to bottom, and is kept as a text without results."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from mlnlab.cli.page.execute import execute
from mlnlab.cli.page.read import read_notebook
from mlnlab.cli.page.render import render

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
EACH = pytest.mark.parametrize(
    "path", NOTEBOOKS or [None], ids=lambda path: str(path.relative_to(FOLDER)) if path else "none yet"
)


@EACH
def test_it_runs_and_makes_a_page(path):
    if path is None:
        pytest.skip("there are no notebooks yet")
    notebook = read_notebook(path)
    said = []
    failure = execute(notebook, path.parent, timeout=300, say=said.append)
    assert failure is None, f"{failure}\n" + "\n".join(said)
    page = render(notebook, path)
    assert "<!DOCTYPE html>" in page


@EACH
def test_it_is_kept_without_results(path):
    if path is None:
        pytest.skip("there are no notebooks yet")
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    # Without a kernelspec Lab stops at a dialog; with widget state it shows errors.
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None

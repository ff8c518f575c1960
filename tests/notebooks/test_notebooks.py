"""Every notebook of the course runs from top to bottom, and is kept as a text without results."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import mlnlab as ml
from mlnlab.cli.page.execute import execute
from mlnlab.cli.page.execute import read_notebook
from mlnlab.cli.page.render import render
from tests.support.patience import PATIENCE

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(FOLDER)))


def test_the_course_is_there():
    """Without notebooks the tests below would have nothing to look at, and pass."""
    assert {"00_tour.ipynb", "01_language.ipynb"} <= {path.name for path in NOTEBOOKS}


@EACH
def test_it_runs_and_makes_a_page(path):
    notebook = read_notebook(path)
    said = []
    failure = execute(notebook, path.parent, timeout=5 * PATIENCE, say=said.append)
    assert failure is None, f"{failure}\n" + "\n".join(said)
    page = render(notebook, path)
    assert "<!DOCTYPE html>" in page


@EACH
def test_it_is_kept_without_results(path):
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    # Without a kernelspec Lab stops at a dialog; with widget state it shows errors.
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_a_failed_model_cell_stops_the_run(tmp_path):
    cells = ["import mlnlab", "%%mln\n1 Smoke(x)", "print('after')"]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    failure = execute(notebook, tmp_path, timeout=5 * PATIENCE, say=print)
    assert failure == "code cell 2 failed with CellError: This cell has problems; mln was not created."
    shown = notebook.cells[1].outputs
    assert "there is no predicate Smoke" in shown[0]["data"]["text/html"]
    assert shown[1]["traceback"] == ["CellError: This cell has problems; mln was not created."]
    assert notebook.cells[2].outputs == []


def _rows(markdown):
    section = markdown.split("## What has no meaning here", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\|.*\|$", section, re.MULTILINE)


def test_what_has_no_meaning_is_one_list(repository):
    language = _rows((repository / "mlnlab" / "LANGUAGE.md").read_text(encoding="utf-8"))
    notebook = read_notebook(FOLDER / "01_language.ipynb")
    (place,) = [n for n, cell in enumerate(notebook.cells) if "## What has no meaning here" in cell.source]
    assert _rows(notebook.cells[place].source) == language
    # Each row but the endless text is shown in the cell below.
    source = notebook.cells[place + 1].source
    scope = {"ml": ml}
    exec(source.replace("ml.check(refused)", "found = ml.check(refused)"), scope)
    codes = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", "".join(row.split("|")[2] for row in language)))
    assert {diagnostic.code for diagnostic in scope["found"]} == codes - {"too-long"}

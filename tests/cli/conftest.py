"""Small notebooks to run."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


@pytest.fixture
def write_notebook(tmp_path):
    """A function that writes a notebook: texts starting with ``#md`` are Markdown, the others are code."""

    def write(*texts, name="lesson.ipynb", **metadata):
        cells = [
            new_markdown_cell(text.removeprefix("#md").strip())
            if text.startswith("#md")
            else new_code_cell(text)
            for text in texts
        ]
        path = tmp_path / name
        nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
        return path

    return write

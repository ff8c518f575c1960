"""Reads a notebook file, and says in one sentence why a file is none."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode


def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook of a file in today's format; older formats are converted."""
    import nbformat

    text = _read_text(path)
    if '"nbformat"' not in text:
        raise InputError(f"{path}: is not a notebook ({_what_it_is(text)}).")
    try:
        # Only older formats lack cell ids; giving them some is what is wanted here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise InputError(f"{path}: is not a valid notebook: {_first_line(error.message)}.") from None
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise InputError(f"{path}: is not a notebook ({_what_it_is(text)}).") from None
    language = notebook.metadata.get("language_info", {}).get("name", "python")
    language = notebook.metadata.get("kernelspec", {}).get("language", language)
    if str(language).lower() not in {"python", "ipython"}:
        raise InputError(f"{path}: is a notebook in {language}; mlnlab runs notebooks in Python.")
    return notebook


def _read_text(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a notebook in it.")
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a notebook (byte {error.start} is not UTF-8 text).") from None


def _what_it_is(text: str) -> str:
    """Say what the text is instead of a notebook."""
    if not text.strip():
        return "the file is empty"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"not JSON: line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "nested too deeply"
    return "JSON, but without a notebook's cells"


def _first_line(message: object) -> str:
    line = str(message).partition("\n")[0]
    return line if len(line) <= 200 else line[:200] + " ..."

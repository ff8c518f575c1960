"""Where the real data sets and the reference files are; they do not ship with the project.

Tests use the fixtures ``data_folder`` and ``reference_folder``, or, to have one test a file, ::

    @pytest.mark.parametrize("path", files("data", "**/*.mln"))
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

Kind = Literal["data", "reference"]

_SHARED = Path(__file__).resolve().parents[3] / "shared"


def find_folder(kind: Kind) -> Path | None:
    """Return `$MLNLAB_DATA` (reference: beside it), else the folder beside the project, else `None`."""
    chosen = os.environ.get("MLNLAB_DATA")
    data = Path(chosen) if chosen else _SHARED / "data"
    folder = data if kind == "data" else data.parent / "reference"
    return folder if folder.is_dir() else None


def is_required() -> bool:
    """Tell whether a missing folder is a failure instead of a reason to skip."""
    return os.environ.get("MLNLAB_REQUIRE_DATA") == "1"


def what_is_missing(kind: Kind) -> str:
    """Return the sentence for a missing folder."""
    return f"the {kind} folder is not here: set MLNLAB_DATA to the folder with the real data sets"


def folder_or_skip(kind: Kind) -> Path:
    """Return the folder; without it skip the test, or fail it where the data are required."""
    folder = find_folder(kind)
    if folder is not None:
        return folder
    if is_required():
        pytest.fail(what_is_missing(kind))
    pytest.skip(what_is_missing(kind))


def files(kind: Kind, pattern: str) -> list[object]:
    """Return the matching files as a test's parameters; without the folder one that skips, or fails."""
    folder = find_folder(kind)
    if folder is None:
        if is_required():
            pytest.fail(what_is_missing(kind), pytrace=False)
        marks = [pytest.mark.data, pytest.mark.skip(reason=what_is_missing(kind))]
        return [pytest.param(None, marks=marks, id="missing")]
    found = sorted(path for path in folder.glob(pattern) if path.is_file())
    assert found, f"no file in {folder} matches {pattern}"
    return [pytest.param(path, id=str(path.relative_to(folder)), marks=pytest.mark.data) for path in found]

"""A stranger finds the room: few entries in a folder, each name once, first lines that say something.

The budgets only fall: who mends a place lowers its number.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import mlnlab

PACKAGE = Path(mlnlab.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_ENTRIES = 15  # beside __init__.py; a folder of records may grow: each file is one more of a kind
MORE_ENTRIES = {".": 29, "display/static": 41}
MORE_TEST_ENTRIES = {".": 30}
SHARED_NAMES = {"building", "model", "sizes"}
RIDDLES = 0  # docstrings whose first line leans on "what", "that of which" or "so many"


def test_a_folder_has_few_entries():
    folders = {path.parent for path in PACKAGE.rglob("*") if is_ours(path)}
    folders -= {PACKAGE / folder for folder, _ in _RECORDS}
    crowded = {
        name: entries
        for folder in folders
        if (entries := number_of_entries(folder))
        > MORE_ENTRIES.get(name := folder.relative_to(PACKAGE).as_posix(), MOST_ENTRIES)
    }
    assert not crowded


def is_ours(path):
    """Tell whether a path is source: neither compiled by Python nor built for JupyterLab."""
    return path.is_file() and not {"__pycache__", "labextension"} & set(path.relative_to(PACKAGE).parts)


def number_of_entries(folder):
    return sum(path.name not in {"__pycache__", "__init__.py"} for path in folder.iterdir())


def test_tests_mirror_the_rooms_of_the_package():
    """So whoever knows where a thing is knows where its tests are."""
    folders = [path for path in TESTS.rglob("*") if path.is_dir() and any(path.glob("*.py"))]
    crowded = {
        name: entries
        for folder in folders
        if (entries := number_of_test_entries(folder))
        > MORE_TEST_ENTRIES.get(name := folder.relative_to(TESTS).as_posix(), MOST_ENTRIES)
    }
    assert not crowded
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    for folder in folders:
        below = folder.relative_to(TESTS)
        if below.parts and below.parts[0] in packages:
            assert (PACKAGE / below).is_dir(), f"tests/{below} mirrors no room of the package"


def number_of_test_entries(folder):
    return sum(path.name not in {"__pycache__", "__init__.py", "conftest.py"} for path in folder.iterdir())


def test_a_file_name_stands_once():
    names = Counter(path.stem for path in FILES if not path.stem.startswith("__"))
    assert {name for name, times in names.items() if times > 1} == SHARED_NAMES


_RECORDS = (
    ("inference/methods", "METHOD"),
    ("learning/optimizers", "OPTIMIZER"),
    ("structure/learners", "LEARNER"),
)


def test_folders_of_records_hold_nothing_else():
    for folder, record in _RECORDS:
        files = [path for path in (PACKAGE / folder).glob("*.py") if path.name != "__init__.py"]
        assert files
        assert all(f"\n{record} = " in path.read_text(encoding="utf-8") for path in files)


def test_every_package_says_what_it_holds():
    """In a sentence of its own, and a file that exists is named to start with."""
    for init in PACKAGE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
        assert len(text.split("\n")[0]) > 20, init
        for start in re.findall(r"Start with\s+``([\w/]+\.py)``", text):
            assert (init.parent / start).exists(), (init, start)


def test_every_package_says_where_to_start_what_it_imports_and_what_holds():
    """In about ten lines; the files and rooms that are named there exist."""
    for init in PACKAGE.glob("*/__init__.py"):
        text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
        joined = " ".join(text.split())
        assert "Start with" in joined, init
        assert re.search(r"may import|may be imported", joined), init
        assert "What always holds" in joined, init
        assert 4 <= len(text.split("\n")) <= 24, init
        for path in re.findall(r"``([\w/]+\.(?:py|md))``", text):
            homes = (init.parent, init.parent.parent)
            assert any((home / path).exists() for home in homes), (init, path)


def test_riddles_become_fewer():
    assert sum(map(riddles_in, FILES)) <= RIDDLES


def riddles_in(path):
    """Count the docstrings of a file whose first line names nothing."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    nodes = (
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)
    )
    firsts = ((ast.get_docstring(node) or "").split("\n")[0] for node in nodes)
    return sum(bool(re.search(r"\b(what|that of which|so many)\b", first, re.IGNORECASE)) for first in firsts)

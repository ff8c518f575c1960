"""Test files near a module: those that import it first, then its room's, then those of its package."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

_WHOLE = {"browser", "benchmarks", "notebooks", "architecture", "docs", "environment", "extension", "mutants"}


def nearest(root, module):
    """Return groups of test files for a file of the package, the nearest group first; none stands twice."""
    parts = module.with_suffix("").parts  # ("mlnlab", "model", "mln", "expansion")
    name = ".".join(parts)
    every = _tests(root)
    own = [path for path, names in every.items() if name in names or path.stem == f"test_{parts[-1]}"]
    own.sort(key=lambda path: (parts[1] not in path.parts, path))
    room = [path for path in every if path.is_relative_to(root.joinpath("tests", *parts[1:-1]))]
    users = _users(root, name)
    around = [path for path, names in every.items() if parts[1] in path.parts and names & users]
    package = [path for path in every if path.is_relative_to(root / "tests" / parts[1])]
    groups, known = [], set()
    for group in (own, room, around, package):
        fresh = [path for path in group if path not in known]
        known.update(fresh)
        if fresh:
            groups.append(fresh)
    return groups


@cache
def _tests(root):
    folders = [
        path for path in sorted((root / "tests").iterdir()) if path.is_dir() and path.name not in _WHOLE
    ]
    return {path: _imports(path) for folder in folders for path in sorted(folder.rglob("test_*.py"))}


@cache
def _users(root, name):
    """Return the modules of the package that import a module."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in Path(root / "mlnlab").rglob("*.py")
        if name in _imports(path)
    }


@cache
def _imports(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found

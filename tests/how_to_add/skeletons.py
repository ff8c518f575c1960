"""Follow the pages on how to add something: copy a skeleton into a package of one's own, and register it."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

import mlnlab

PAGES = Path(mlnlab.__file__).parent / "how_to_add"


@contextmanager
def copied(folder, registry, skeleton, name):
    """Copy a skeleton to a file of a new package in a folder, and let a registry look there, too."""
    package = f"own_{name}_package"
    own = folder / package
    own.mkdir()
    (own / "__init__.py").write_text("")
    text = (PAGES / f"{skeleton}.py").read_text(encoding="utf-8")
    (own / f"{name}.py").write_text(text.replace('"skeleton.', f'"{name}.'), encoding="utf-8")
    sys.path.insert(0, str(folder))
    registry.packages.append(package)
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(f"{package}.{name}")
    finally:
        registry.packages.remove(package)
        sys.path.remove(str(folder))
        for module in [known for known in sys.modules if known.split(".")[0] == package]:
            del sys.modules[module]

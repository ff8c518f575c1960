"""Find the module that registers a class for files, so that a fresh process reads files of another one."""

from __future__ import annotations

import importlib
import re
from pathlib import Path


def import_registering_module(name: str, package: str) -> None:
    """Import the module of a package whose source registers a class under a name, where there is one."""
    (folder,) = importlib.import_module(package).__path__
    registering = re.compile(rf'^@?storable\("{re.escape(name)}"\)', re.MULTILINE)
    for path in sorted(Path(folder).rglob("*.py")):
        if registering.search(path.read_text("utf-8")):
            importlib.import_module(".".join((package, *path.relative_to(folder).with_suffix("").parts)))

"""Writes a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mlnlab.errors import InputError


def write_whole(path: Path, text: str) -> None:
    """Write beside the target and rename, so that no reader and no crash ever sees half a page."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o644 if not path.exists() else path.stat().st_mode & 0o777)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise

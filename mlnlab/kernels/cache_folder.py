"""The folder of compiled kernels: one for each version of their source, in the user's cache.

It does not lie in the package: that may not be writable, and would not be empty when it is uninstalled.
Checkouts and installations with the same source share a folder. ``NUMBA_CACHE_DIR`` names another place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

_MOST_VERSIONS = 6
_UNUSED = 60 * 24 * 60 * 60.0  # seconds after which a version is removed


def cache_folder() -> Path:
    """Return the folder for the kernels as they are now; it may not exist yet."""
    return versions_folder() / _own_version()


@cache
def _own_version() -> str:
    """Name the version of compiled kernels by their source, Python, and the compiler."""
    digest = source_digest(Path(__file__).parent)[:16]
    return f"{digest}-{sys.implementation.cache_tag}-numba-{version('numba')}"


def versions_folder() -> Path:
    """Return the folder that holds the compiled kernels of all versions."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(chosen) if chosen else _user_caches() / "mlnlab") / "kernels"


def _user_caches() -> Path:
    """Return where the system keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


@cache
def is_usable(folder: Path) -> bool:
    """Make a version's folder, and say whether it can be written; old versions go when a new one comes."""
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)  # when it was used last
        if is_new:
            _remove_old(folder)
    except OSError:
        return False
    return True


def remove_all() -> Path | None:
    """Remove the compiled kernels of all versions; return where they were, nothing where there were none."""
    folder = versions_folder()
    if not folder.is_dir():
        return None
    shutil.rmtree(folder)
    with suppress(OSError):  # it holds something else
        folder.parent.rmdir()
    return folder


@cache
def source_digest(folder: Path) -> str:
    """Return the SHA-256 of all Python files under a folder, with their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _remove_old(folder: Path) -> None:
    """Remove versions that nobody has used for long, and all but the newest few."""
    versions = [(path.stat().st_mtime, path) for path in folder.parent.iterdir() if path.is_dir()]
    for place, (used, path) in enumerate(sorted(versions, reverse=True)):
        if path != folder and (place >= _MOST_VERSIONS or time.time() - used > _UNUSED):
            shutil.rmtree(path, ignore_errors=True)
    # Where earlier versions of mlnlab kept them.
    for path in Path(__file__).parent.rglob("__pycache__/*.nb[ic]"):
        path.unlink(missing_ok=True)

"""Files that are either the old one or the new one, whenever the machine or the process stops."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


@contextmanager
def replacing(path: str | PathLike[str], previous: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for writing; when all is written, it takes the place of ``path``.

    Where ``previous`` is given, the old file goes there. One process at a time may write to a path.
    """
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(target.name + ".part")
    try:
        with unfinished.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if previous is not None and target.exists():
            _keep_as(target, previous)
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(target.parent)


def _keep_as(target: Path, previous: Path) -> None:
    """Give a file a second name, so that there is no moment without a file of the first."""
    link = previous.with_name(previous.name + ".part")
    with suppress(FileNotFoundError):
        link.unlink()
    try:
        os.link(target, link)
    except OSError:  # a file system without links: then there is such a moment, but never without both
        target.replace(previous)
    else:
        link.replace(previous)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself lasting; not every system can open a folder, and then it is left to it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

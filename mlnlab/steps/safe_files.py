"""Files that are either the old one or the new one, whenever the disk, the machine or the process gives up.

All files that the package writes are written here: into a temporary neighbour, which is synced and then takes
the place of the old file. Neighbours have unique names, so that two processes that share a path never write
into one another's file; the last one that is ready wins, with a whole file. What cannot be written is said in
an :class:`~mlnlab.errors.OutputError`.

A path may also lead to a pipe, a terminal or a device, such as ``/dev/stdout``. These are written to when
everything is ready, and never replaced. A pipe that nobody reads is refused: writing to it would never end.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from mlnlab.errors import OutputError

_BLOCK = 4096  # a full disk may still make an empty file
_ABANDONED = 60 * 60.0  # seconds after which an unfinished file belongs to a process that was killed
_STANDARD_STREAMS = (1, 2)
_READER_COMES = 2.0  # seconds for a reader that is started at the same time
# Pipes that were tried and not yet written to, by device and inode: closing one would end its reader.
_open_pipes: dict[tuple[int, int], int] = {}


@contextmanager
def replacing(path: str | PathLike[str], previous: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for writing; when all is written, it takes the place of ``path``.

    Where ``previous`` is given, the old file goes there.
    """
    with replacing_file(path, previous) as unfinished, unfinished.open("w+b") as file:
        yield file


@contextmanager
def replacing_file(path: str | PathLike[str], previous: Path | None = None) -> Iterator[Path]:
    """Give the path of a new file, for whoever writes files by name; it then takes the place of ``path``."""
    with _in_sentences(path):
        target = _target(path)
        if is_special(target):
            with tempfile.TemporaryDirectory(prefix="mlnlab-") as folder:
                whole = Path(folder, target.name)
                yield whole
                _pour(whole, target)
            return
        unfinished = _neighbour(target)
        try:
            yield unfinished
            _sync(unfinished, os.O_RDWR)
            _take_rights(unfinished, target)
            if previous is not None and target.exists():
                _keep_as(target, previous)
            unfinished.replace(target)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise
        with suppress(OSError):  # the renaming itself; not every system can open a folder
            _sync(target.parent, os.O_RDONLY)
    _remove_abandoned(target)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text whole or not at all, with lines ended as they are."""
    content = encode_text(text, str(path))
    with replacing(path) as file:
        file.write(content)


def encode_text(text: str, name: str) -> bytes:
    """Return a text in UTF-8; ``name`` names the file in an error."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        message = f"{name} cannot be written: the text holds a lone surrogate, which no encoding knows."
        raise OutputError(message) from None


def try_to_write(path: str | PathLike[str]) -> None:
    """Raise a sentence if a file cannot be written: before the work whose result it is to hold.

    Nothing of the file that is there changes. A pipe with a name stays open until it is written to.
    """
    with _in_sentences(path):
        target = _target(path)
        if is_special(target):
            if _is_named_pipe(target) and _identity(target) not in _open_pipes:
                _open_pipes[_identity(target)] = _open_pipe(target)
            return
        _try_neighbour(_neighbour(target))


def make_folder(folder: str | PathLike[str]) -> Path:
    """Make a folder with those above it, unless it is there; see that files can be written in it."""
    require_path(folder, "folder")
    place = _own_folder(folder)
    done = "made"
    try:
        place.mkdir(parents=True, exist_ok=True)
        done = "written to"
        _try_neighbour(_neighbour(place / "file"))
    except OSError as problem:
        lost = next(
            (link for link in (place, *place.parents) if link.is_symlink() and not link.exists()), None
        )
        trouble = _reason(problem)
        if lost is not None:
            trouble = f"{lost} is a link to {os.path.realpath(lost)}, which does not exist"
        raise OutputError(f"The folder {folder} cannot be {done}: {trouble}.") from None
    return place


# --- where it goes ----------------------------------------------------------------------------------


@contextmanager
def _in_sentences(path: str | PathLike[str]) -> Iterator[None]:
    """Turn an error of the system into a sentence that names the file."""
    try:
        yield
    except OutputError:
        raise
    except OSError as problem:
        raise OutputError(f"{path!s} cannot be written: {_reason(problem)}.") from None


def _reason(problem: OSError) -> str:
    return (problem.strerror or str(problem)).rstrip(".")


def _target(path: str | PathLike[str]) -> Path:
    """Return the file that a path leads to, behind all links; refuse paths that cannot be written."""
    require_path(path, "file")
    written = _own_folder(path)
    if is_special(written):
        return written  # behind the links of /dev/stdout there is no path
    target = Path(os.path.realpath(written))
    if target.is_dir():
        raise OutputError(f"{path!s} cannot be written: it is a folder; name a file in it.")
    if target.is_symlink():
        raise OutputError(f"{path!s} cannot be written: it is a link that leads to itself.")
    if not target.parent.is_dir():
        is_link = written.is_symlink() or written.parent.is_symlink()
        folder, led = (target.parent, f"it is a link to {target}, and ") if is_link else (written.parent, "")
        trouble = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        raise OutputError(f"{path!s} cannot be written: {led}{trouble}.")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{path!s} cannot be written: it is write-protected.")
    return target


def require_path(path: object, kind: str) -> None:
    """Refuse a value that is not a path."""
    if not (isinstance(path, str | os.PathLike) and str(path) and "\0" not in str(path)):
        shown = "None" if path is None else f"{path!r:.60}"
        raise OutputError(f"The path of a {kind} is needed, not {shown}.")


def _own_folder(path: str | PathLike[str]) -> Path:
    """Return a path in which ``~`` is the user's own folder, where there is one."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def is_special(path: Path) -> bool:
    """Return whether a path leads to an irreplaceable file: a pipe, a device, or our own output."""
    try:
        kind = path.stat()
    except OSError:
        return False
    ordinary = stat.S_ISREG(kind.st_mode) or stat.S_ISDIR(kind.st_mode)
    return not ordinary or _standard_stream(kind) is not None


def _standard_stream(kind: os.stat_result) -> int | None:
    """Return the standard stream that writes to a file, as after ``mlnlab ... > FILE``."""
    for stream in _STANDARD_STREAMS:
        with suppress(OSError):
            if os.path.samestat(kind, os.fstat(stream)):
                return stream
    return None


def _pour(whole: Path, target: Path) -> None:
    """Write the content of a file to a pipe, a device or a standard stream."""
    with whole.open("rb") as source, os.fdopen(_drain(target), "wb") as drain:
        shutil.copyfileobj(source, drain)


def _drain(target: Path) -> int:
    """Return an open file descriptor that leads to a pipe, a device or a standard stream."""
    stream = _standard_stream(target.stat())
    if stream is not None:  # opened anew, a file would be written from its beginning, over what was printed
        return os.dup(stream)
    if _is_named_pipe(target):
        kept = _open_pipes.pop(_identity(target), None)
        return _open_pipe(target) if kept is None else kept
    return os.open(target, os.O_WRONLY)


def _is_named_pipe(path: Path) -> bool:
    """Return whether a path leads to a pipe, other than those that are our own output."""
    kind = path.stat()
    return stat.S_ISFIFO(kind.st_mode) and _standard_stream(kind) is None


def _identity(path: Path) -> tuple[int, int]:
    kind = path.stat()
    return kind.st_dev, kind.st_ino


def _open_pipe(pipe: Path) -> int:
    """Open a pipe for writing; refuse one that has no reader, as opening it in the usual way would wait."""
    end = time.monotonic() + _READER_COMES
    while True:
        try:
            handle = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as problem:
            if problem.errno != errno.ENXIO:
                raise
            if time.monotonic() >= end:
                message = (
                    f"{pipe} cannot be written: it is a pipe that no program reads; start the reader first."
                )
                raise OutputError(message) from None
            time.sleep(0.02)
        else:
            os.set_blocking(handle, True)
            return handle


# --- how it gets there ------------------------------------------------------------------------------


def _neighbour(target: Path) -> Path:
    """Return a name in the same folder that nobody else uses."""
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.part")


def _try_neighbour(neighbour: Path) -> None:
    """Write a file and remove it."""
    try:
        neighbour.write_bytes(bytes(_BLOCK))
        _sync(neighbour, os.O_RDWR)
    finally:
        neighbour.unlink(missing_ok=True)


def _sync(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _take_rights(unfinished: Path, target: Path) -> None:
    """Give a new file the owner and the rights of the one that it replaces."""
    with suppress(OSError, AttributeError):
        before = target.stat()
        unfinished.chmod(stat.S_IMODE(before.st_mode))
        os.chown(unfinished, before.st_uid, before.st_gid)


def _keep_as(target: Path, previous: Path) -> None:
    """Give a file a second name, so that there is no moment without a file of the first."""
    link = _neighbour(previous)
    try:
        os.link(target, link)
    except OSError:  # a file system without links: then there is such a moment, but never without both
        target.replace(previous)
    else:
        link.replace(previous)
        link.unlink(missing_ok=True)  # renaming does nothing where both are names of one file already


def _remove_abandoned(target: Path) -> None:
    """Remove unfinished parts of this file, left by processes that were killed while they wrote it."""
    with suppress(OSError):
        for part in target.parent.glob(f".{glob.escape(target.name[:40])}.*.part"):
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()

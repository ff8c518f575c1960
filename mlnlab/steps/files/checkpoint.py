"""Checkpoints: the state of a long run in a file from which it can go on, bit for bit.

A checkpoint is an ``.npz`` file: ``header.json`` holds the state as JSON, its arrays are members of their
own, and the archive's comment is the SHA-256 of everything before it. It is written beside its place, synced
and renamed, so that there is a whole file at every moment; the one before it stays as ``….previous`` and is
used, with a warning, where the newest turns out to be damaged. Nothing is unpickled, and only registered
classes are made (see :mod:`mlnlab.steps.values.encoding`).
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from mlnlab.errors import ArgumentError, InputError, OutputError
from mlnlab.steps.safe_files import replacing, require_path, try_to_write
from mlnlab.steps.values.array_text import known_dtype
from mlnlab.steps.values.encoding import REGISTRY, Registry, clip_problem
from mlnlab.steps.values.parts import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from mlnlab.steps.step import State, Step
    from mlnlab.steps.values.parts import Array


_FORMAT, _VERSION = "mlnlab-checkpoint", 1


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, is shared with another run, or the one before it had to be used."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A state that was read from a file, with its notes."""

    state: object
    meta: Mapping[str, object]
    path: Path

    @property
    def first(self) -> int:
        """The index of the step that comes next, where a :class:`Checkpointer` wrote this."""
        index = self.meta.get("index")
        if type(index) is not int:
            raise InputError(f"{self.path.name} does not say which step of a run it holds.")
        return index + 1

    @property
    def seconds(self) -> float:
        """How long the run had taken, where a :class:`Checkpointer` wrote this."""
        seconds = self.meta.get("seconds")
        return float(seconds) if isinstance(seconds, int | float) else 0.0


def save_checkpoint(
    path: str | PathLike[str],
    state: object,
    meta: Mapping[str, object] | None = None,
    *,
    registry: Registry = REGISTRY,
) -> None:
    """Write a state and notes on it to a file; the file that was there becomes the previous one."""
    require_path(path, "file")
    arrays: list[Array] = []
    places: dict[int, int] = {}

    def put_aside(array: Array) -> dict[str, object]:
        # An array that stands in several places is stored once.
        if id(array) not in places:
            places[id(array)] = len(arrays)
            arrays.append(array)
        return {"member": places[id(array)]}

    header: dict[str, object] = {"format": _FORMAT, "version": _VERSION}
    header["state"] = registry.encode_value(state, put_aside)
    header["meta"] = registry.encode_value(dict(meta or {}), put_aside)
    # A damaged file must not push out a sound previous one.
    keep = previous_path(path) if is_whole(Path(path)) else None
    with replacing(path, previous=keep) as file:
        write_archive(file, header, arrays)


def load_checkpoint(path: str | PathLike[str], *, registry: Registry = REGISTRY) -> Checkpoint:
    """Read a checkpoint; where it is damaged or missing, the previous one with a warning."""
    require_path(path, "file")
    newest, previous = Path(path), previous_path(path)
    try:
        return _load_checkpoint(newest, registry)
    except Damaged as problem:
        trouble = f"{newest.name} {problem}"
    try:
        found = _load_checkpoint(previous, registry)
    except Damaged as problem:
        raise InputError(
            f"There is no checkpoint to load: {trouble}, and {previous.name} {problem}."
        ) from None
    warnings.warn(f"{trouble}; the previous checkpoint is used.", CheckpointWarning, stacklevel=2)
    return found


def previous_path(path: str | PathLike[str]) -> Path:
    """Return where the checkpoint before the newest is kept."""
    target = Path(realpath(path))
    return target.with_name(target.name + ".previous")


def _load_checkpoint(path: Path, registry: Registry) -> Checkpoint:
    try:
        header, arrays = read_archive(path)
        return _from_header(header, arrays, path, registry)
    except InputError as problem:
        # Not damaged, but not for us: an older file would be no better.
        raise InputError(f"{path.name} cannot be used: {clip_problem(problem)}.") from problem


def _from_header(
    header: Mapping[str, object], arrays: Sequence[Array], path: Path, registry: Registry
) -> Checkpoint:
    if header.get("format") != _FORMAT:
        raise InputError("it is not a checkpoint.")
    if header.get("version") != _VERSION:
        raise InputError(
            f"it has version {clip_problem(header.get('version'))}; version {_VERSION} can be read."
        )

    def take(tree: dict[str, object]) -> Array:
        place = tree.get("member")
        if type(place) is not int or not 0 <= place < len(arrays):
            raise InputError("an array is missing.")
        return arrays[place]

    meta = registry.decode_tree(header.get("meta"), take)
    if not isinstance(meta, dict):
        raise InputError("its notes are not a mapping.")
    return Checkpoint(registry.decode_tree(header.get("state"), take), meta, path)


class Checkpointer:
    """An observer that writes a checkpoint after some steps or seconds, and at the end of the run.

    Whether the file can be written is tried before the run. Where a writing fails later, as on a full disk, a
    warning says so once, the checkpoint before it stays, and the next one is tried when it is due. Where two
    runs share a path, the file is always a whole one, of whichever wrote last; a warning says that, too.

    The notes of each hold ``index`` and ``seconds``, where :func:`~mlnlab.steps.step.run` goes on counting:

        found = load_checkpoint("run.npz")
        run(steps(params, start=found.state), first=found.first, seconds=found.seconds)
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        steps: int | None = None,
        seconds: float | None = 60.0,
        meta: Mapping[str, object] | None = None,
        registry: Registry = REGISTRY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (steps is None and seconds is None) or (steps is not None and steps < 1):
            raise ArgumentError(
                "A checkpointer needs a positive number of steps, or seconds, between two writes."
            )
        self._path, self._steps, self._interval = Path(path), steps, seconds
        self._meta, self._registry, self._clock = dict(meta or {}), registry, clock
        try_to_write(self._path)
        self._written: int | None = None  # the index of the last step that was written
        self._left: tuple[int, int] | None = None  # the file as it was after that
        self._is_failing = self._is_shared = False
        self._unwritten = 0
        self._next_time = clock() + seconds if seconds is not None else float("inf")

    def on_step(self, step: Step[State]) -> None:
        """Write the step if it is time."""
        self._unwritten += 1
        due = self._steps is not None and self._unwritten >= self._steps
        if due or self._clock() >= self._next_time:
            self.write(step)

    def on_end(self, last: Step[State]) -> None:
        """Write the last step, unless it is written already."""
        if self._written != last.index and (trouble := self._trouble_writing(last)):
            newest = "none" if self._written is None else f"that of step {self._written}"
            _warn(f"No checkpoint of the last step, {last.index}: {trouble} The newest one is {newest}.")

    def write(self, step: Step[State]) -> None:
        """Write a step now; where that fails for the first time in a row, warn."""
        was_failing = self._is_failing
        if (trouble := self._trouble_writing(step)) and not was_failing:
            _warn(f"No checkpoint of step {step.index}: {trouble} The run goes on and tries again.")

    def _trouble_writing(self, step: Step[State]) -> str:
        """Write a step; return why that failed, or nothing."""
        self._say_if_shared()
        notes = {**self._meta, "index": step.index, "seconds": step.seconds}
        trouble = ""
        try:
            save_checkpoint(self._path, step.state, notes, registry=self._registry)
        except (OutputError, MemoryError) as problem:
            trouble = str(problem) or "Memory is full."
        else:
            self._written, self._left = step.index, _identity(self._path)
        self._is_failing, self._unwritten = bool(trouble), 0
        if self._interval is not None:
            # From after the write, so that a slow disk cannot take all the time.
            self._next_time = self._clock() + self._interval
        return trouble

    def _say_if_shared(self) -> None:
        """Warn once where somebody else has written the file since this run did."""
        now = _identity(self._path)
        if self._left is not None and now not in (None, self._left) and not self._is_shared:
            self._is_shared = True
            _warn(f"Another run writes to {self._path}, too; the file keeps what was written last.")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return a file's inode and time of change, to notice a file that replaced it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _warn(sentence: str) -> None:
    warnings.warn(sentence, CheckpointWarning, stacklevel=3)


# --- a JSON text and arrays in one ``.npz`` file, sealed with a checksum ------------------------

# Any program that reads ``.npz`` can read it. Members are stored uncompressed; the archive's comment, its
# last bytes, says ``sha256=`` and the checksum of all bytes before the digits.

_HEADER = "header.json"
_MARK = b"sha256="
_DIGITS = 64
_CHUNK = 2**20


class Damaged(Exception):  # noqa: N818 - a finding, never shown as it is
    """A file is missing or damaged; the message continues a sentence begun by the file's name."""


def write_archive(file: BinaryIO, header: dict[str, object], arrays: Iterable[Array]) -> None:
    """Write a header and arrays, in this order, to a file that is open for reading and writing."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER), json.dumps(header, allow_nan=False))
        for number, array in enumerate(arrays):
            # The same state gives the same bytes: no member bears the time of writing.
            with archive.open(zipfile.ZipInfo(_member(number)), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        archive.comment = _MARK + b"0" * _DIGITS
    size = file.seek(0, 2)
    digest = _digest(file, size - _DIGITS)
    file.seek(size - _DIGITS)
    file.write(digest)


def _member(number: int) -> str:
    return f"array_{number}.npy"


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the checksum of the first bytes of a file."""
    checksum = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        checksum.update(chunk)
        size -= len(chunk)
    return checksum.hexdigest().encode("ascii")


def is_whole(path: Path) -> bool:
    """Say whether there is a file here with the right checksum."""
    if not path.is_file():
        return False  # a device may be read without end
    try:
        with path.open("rb") as file:
            _check_sum(file)
    except (Damaged, OSError):
        return False
    return True


def _check_sum(file: BinaryIO) -> int:
    """Return the size of a file whose checksum is right."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _DIGITS - len(_MARK)))
    mark, digits = file.read(len(_MARK)), file.read()
    if mark != _MARK:
        raise Damaged("is damaged or not a checkpoint: its end is not there")
    if _digest(file, size - _DIGITS) != digits:
        raise Damaged("is damaged: its checksum is wrong")
    return size


def read_archive(path: Path) -> tuple[dict[str, object], list[Array]]:
    """Return the header and the read-only arrays of a file."""
    try:
        with path.open("rb") as file:
            size = _check_sum(file)
            with zipfile.ZipFile(file) as archive:
                return _read_members(archive, size)
    except FileNotFoundError:
        raise Damaged("does not exist") from None
    except OSError as problem:
        raise Damaged(f"cannot be read: {problem.strerror or problem}") from None
    except (InputError, Damaged):
        raise
    except RecursionError:
        raise InputError("the values are nested too deeply.") from None
    except Exception as problem:
        # The checksum is right, so it was made like this: zip, JSON and numpy each have errors of their own.
        raise InputError(f"it is not a checkpoint ({problem}).") from problem


def _read_members(archive: zipfile.ZipFile, size: int) -> tuple[dict[str, object], list[Array]]:
    members = archive.infolist()
    # So nothing is compressed, and no two members share their bytes.
    if sum(member.file_size for member in members) > size:
        raise InputError("its members unpack to more than the file itself has.")
    header = json.loads(archive.read(_HEADER))
    if not isinstance(header, dict):
        raise InputError("its header is not a JSON object.")
    return header, [_read_array(archive, _member(number)) for number in range(len(members) - 1)]


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in {(1, 0), (2, 0)}:
            raise InputError(f"{name} has a newer format.")
        old = version == (1, 0)
        read_header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = cast(
            "tuple[tuple[int, ...], bool, np.dtype[np.generic]]", read_header(member)
        )
        data = member.read()
    known_dtype(dtype.str if dtype.names is None and dtype.subdtype is None else None)
    if len(data) != prod(shape) * dtype.itemsize:
        raise InputError(f"{name} has {len(data):,} bytes, which is not what its shape needs.")
    flat = np.frombuffer(data, dtype) if data else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran else "C").copy(order="K")
    array.setflags(write=False)
    return array

"""Checkpoints: the state of a long run in a file from which it can go on, bit for bit.

A checkpoint is an ``.npz`` file: ``header.json`` holds the state as JSON, its arrays are members of their
own, and the archive's comment is the SHA-256 of everything before it. It is written beside its place, synced
and renamed, so that there is a whole file at every moment; the one before it stays as ``….previous`` and is
used, with a warning, where the newest turns out to be damaged. Nothing is unpickled, and only registered
classes are made (see :mod:`mlnlab.steps.encoding`).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, InputError
from mlnlab.steps.archive import Damaged, is_whole, read_archive, write_archive
from mlnlab.steps.encoding import REGISTRY, Registry, clipped
from mlnlab.steps.safe_files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from mlnlab.steps.parts import Array
    from mlnlab.steps.step import State, Step

_FORMAT, _VERSION = "mlnlab-checkpoint", 1


class CheckpointWarning(UserWarning):
    """The newest checkpoint is damaged or missing, and the one before it was used."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A state that was read from a file, with what was noted beside it."""

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
    arrays: list[Array] = []
    places: dict[int, int] = {}

    def put_aside(array: Array) -> dict[str, object]:
        # An array that stands in several places is stored once.
        if id(array) not in places:
            places[id(array)] = len(arrays)
            arrays.append(array)
        return {"member": places[id(array)]}

    header: dict[str, object] = {"format": _FORMAT, "version": _VERSION}
    header["state"] = registry.encoded(state, put_aside)
    header["meta"] = registry.encoded(dict(meta or {}), put_aside)
    # A damaged file must not push out a sound previous one.
    keep = previous_path(path) if is_whole(Path(path)) else None
    with replacing(path, previous=keep) as file:
        write_archive(file, header, arrays)


def load_checkpoint(path: str | PathLike[str], *, registry: Registry = REGISTRY) -> Checkpoint:
    """Read a checkpoint; where it is damaged or missing, the previous one with a warning."""
    newest, previous = Path(path), previous_path(path)
    try:
        return _loaded(newest, registry)
    except Damaged as problem:
        trouble = f"{newest.name} {problem}"
    try:
        found = _loaded(previous, registry)
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


def _loaded(path: Path, registry: Registry) -> Checkpoint:
    try:
        header, arrays = read_archive(path)
        return _from_header(header, arrays, path, registry)
    except InputError as problem:
        # Not damaged, but not for us: an older file would be no better.
        raise InputError(f"{path.name} cannot be used: {clipped(problem)}.") from problem


def _from_header(
    header: Mapping[str, object], arrays: Sequence[Array], path: Path, registry: Registry
) -> Checkpoint:
    if header.get("format") != _FORMAT:
        raise InputError("it is no checkpoint.")
    if header.get("version") != _VERSION:
        raise InputError(f"it has version {clipped(header.get('version'))}; version {_VERSION} can be read.")

    def take(tree: dict[str, object]) -> Array:
        place = tree.get("member")
        if type(place) is not int or not 0 <= place < len(arrays):
            raise InputError("an array is missing.")
        return arrays[place]

    meta = registry.decoded(header.get("meta"), take)
    if not isinstance(meta, dict):
        raise InputError("its notes are no mapping.")
    return Checkpoint(registry.decoded(header.get("state"), take), meta, path)


class Checkpointer:
    """An observer that writes a checkpoint every so many steps or seconds, and at the end of the run.

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
        self._written: int | None = None  # the index of the last step that was written
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
        if self._written != last.index:
            self.write(last)

    def write(self, step: Step[State]) -> None:
        """Write a step now."""
        notes = {**self._meta, "index": step.index, "seconds": step.seconds}
        save_checkpoint(self._path, step.state, notes, registry=self._registry)
        self._written, self._unwritten = step.index, 0
        if self._interval is not None:
            # From after the write, so that a slow disk cannot take all the time.
            self._next_time = self._clock() + self._interval

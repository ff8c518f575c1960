"""Store traces as files of JSON lines: the first state in full, then each step's changes.

{"format": "mlnlab-trace", "version": 1}
{"step": 0, "seconds": 0.0, "metrics": {"objective": -3.5}, "state": ...}
{"step": 1, "seconds": 0.1, "metrics": {"objective": -3.4}, "change": ["fields", ...]}
{"step": 2, "seconds": 0.2, "metrics": {"objective": -3.3}}            (only its metrics were kept)
{"end": 3}                                                             (the number of lines between)
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, assert_never, cast

import numpy as np

from mlnlab.errors import InputError
from mlnlab.steps.recordings.state_deltas import (
    ChangedEntries,
    ChangedFields,
    ChangedItems,
    ChangedKeys,
    Delta,
    Replaced,
    apply_delta,
    difference,
)
from mlnlab.steps.safe_files import replacing
from mlnlab.steps.values.encoding import REGISTRY, Registry, clip_problem
from mlnlab.steps.values.parts import field_names, is_mapping, is_plain_array

if TYPE_CHECKING:
    from mlnlab.steps.values.encoding import Registry


_FORMAT, _VERSION = "mlnlab-trace", 1


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A step as a file holds it; ``state`` is ``None`` where only the metrics were kept."""

    index: int
    seconds: float
    readings: Mapping[str, float]
    state: object = None


def write_records(
    records: Iterable[Record], path: str | PathLike[str], registry: Registry = REGISTRY
) -> None:
    """Write records, in the order of their steps, to a file that is replaced only when all is written."""
    with replacing(path) as file:
        _write_line(file, {"format": _FORMAT, "version": _VERSION})
        lines, before = 0, None
        for record in records:
            line: dict[str, object] = {"step": record.index, "seconds": record.seconds}
            line["metrics"] = _metrics_tree(record.readings)
            if before is None and record.state is not None:
                line["state"] = registry.encode_value(record.state)
            elif record.state is not None:
                delta = difference(before, record.state)
                line["change"] = None if delta is None else delta_tree(delta, registry)
            _write_line(file, line)
            lines += 1
            before = before if record.state is None else record.state
        _write_line(file, {"end": lines})


def _write_line(file: BinaryIO, tree: object) -> None:
    # Without NaN, which is no JSON: other programs shall read these files, too.
    file.write(json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n")


def _metrics_tree(readings: Mapping[str, float]) -> dict[str, object]:
    # JSON knows neither NaN nor infinity.
    return {name: value if isfinite(value) else str(value) for name, value in readings.items()}


def read_records(path: str | PathLike[str], registry: Registry = REGISTRY) -> Iterator[Record]:
    """Yield the records of a file; raise errors that name the line."""
    name, number = Path(path).name, 0
    reader = _Reader(registry)
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 - the error names it
                if (record := reader.read(line)) is not None:
                    yield record
        reader.finish()
    except OSError as problem:
        raise InputError(f"{name} cannot be read: {problem.strerror}.") from None
    except RecursionError:
        raise InputError(f"{name}, line {number}: the values are nested too deeply.") from None
    except InputError as problem:
        raise InputError(f"{name}, line {number}: {clip_problem(problem)}.") from problem
    except Exception as problem:
        # Whatever a damaged line leads to: a missing key, a text for a number, a key that cannot be hashed.
        raise InputError(
            f"{name}, line {number}: this is not a step of a trace ({clip_problem(problem)})."
        ) from problem


class _Reader:
    """Takes the lines of a file one after the other."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._state: object = None
        self._last_index: int | None = None
        self._lines = -1  # behind the header
        self._ended = False

    def read(self, line: bytes) -> Record | None:
        """Return the record in the next line, `None` for the first and the last."""
        tree = json.loads(line, parse_constant=_refuse_constant)
        if not isinstance(tree, dict):
            raise InputError("A line has to hold a JSON object.")
        if self._ended:
            raise InputError("There is something after the end of the trace.")
        if self._lines < 0:
            _check_header(tree)
            self._lines = 0
            return None
        if "end" in tree:
            if tree["end"] != self._lines:
                raise InputError(f"The trace had {clip_problem(tree['end'])} steps when it was written.")
            self._ended = True
            return None
        self._lines += 1
        return self._step(tree)

    def _step(self, tree: dict[str, object]) -> Record:
        index, seconds = tree["step"], tree["seconds"]
        if type(index) is not int or not isinstance(seconds, int | float) or abs(index) >= 2**63:
            raise InputError("A step needs a whole number `step` and a number `seconds`.")
        if self._last_index is not None and index <= self._last_index:
            raise InputError(f"Step {index} comes after step {self._last_index}.")
        self._last_index = index
        metrics = cast("dict[str, float]", tree["metrics"])
        readings = {name: float(value) for name, value in metrics.items()}
        if "state" in tree:
            self._state = self._registry.decode_tree(tree["state"])
        elif "change" not in tree:
            return Record(index, float(seconds), readings)
        elif self._state is None:
            raise InputError("The first step has to hold its whole state.")
        else:
            self._state = changed_by_tree(tree["change"], self._state, self._registry)
        return Record(index, float(seconds), readings, self._state)

    def finish(self) -> None:
        """Make sure that the end was there."""
        if not self._ended:
            raise InputError("The file ends before the trace does.")


def _check_header(tree: dict[str, object]) -> None:
    if tree.get("format") != _FORMAT:
        raise InputError("This is not a trace: the first line has to say so, as Trace.save writes it.")
    if tree.get("version") != _VERSION:
        raise InputError(
            f"The trace has version {clip_problem(tree.get('version'))}; version {_VERSION} can be read."
        )


def _refuse_constant(text: str) -> float:
    raise InputError(f"{text} is not a number in JSON.")


# --- deltas as JSON, and back, checked against the value that they change -----------------------


def delta_tree(delta: Delta, registry: Registry) -> list[object]:
    """Return a delta as a list for ``json``; its first item names the kind of delta."""
    match delta:
        case Replaced(value):
            return ["value", registry.encode_value(value)]
        case ChangedFields(fields):
            return ["fields", {name: delta_tree(inner, registry) for name, inner in fields}]
        case ChangedItems(length, items):
            return ["items", length, [[index, delta_tree(inner, registry)] for index, inner in items]]
        case ChangedKeys(removed, entries):
            keys = [registry.encode_value(key) for key in removed]
            changed = [[registry.encode_value(key), delta_tree(inner, registry)] for key, inner in entries]
            return ["keys", keys, changed]
        case ChangedEntries(positions, values):
            return ["entries", *(base64.b64encode(data).decode("ascii") for data in (positions, values))]
        case _:
            assert_never(delta)


def delta_from_tree(tree: object, old: object, registry: Registry) -> Delta:
    """Return the delta of a tree, after making sure that it fits the old value."""
    match tree:
        case ["value", value]:
            return Replaced(registry.decode_tree(value))
        case ["fields", dict() as fields] if set(fields) <= set(field_names(old)):
            changes = ((name, delta_from_tree(t, getattr(old, name), registry)) for name, t in fields.items())
            return ChangedFields(tuple(changes))
        case ["items", int() as length, list() as items] if isinstance(old, tuple):
            return _items_from_tree(length, items, old, registry)
        case ["keys", list() as removed, list() as entries] if is_mapping(old):
            keys = tuple(registry.decode_tree(key) for key in removed)
            return ChangedKeys(keys, tuple(_entry_from_tree(entry, old, registry) for entry in entries))
        case ["entries", str() as positions, str() as values] if is_plain_array(old):
            changed = ChangedEntries(*(base64.b64decode(text, validate=True) for text in (positions, values)))
            where = np.frombuffer(changed.positions, "<u4")
            if len(where) * old.itemsize == len(changed.values) and (where < old.size).all():
                return changed
    raise InputError("A change does not fit the state before it.")


def _items_from_tree(
    length: int, trees: list[object], old: tuple[object, ...], registry: Registry
) -> ChangedItems:
    changes: list[tuple[int, Delta]] = []
    for tree in trees:
        match tree:
            case [int() as index, inner] if 0 <= index < length:
                before = old[index] if index < len(old) else None
                changes.append((index, delta_from_tree(inner, before, registry)))
            case _:
                raise InputError("A changed item needs its place and its change.")
    added = {index for index, _ in changes if index >= len(old)}
    # Also keeps a file from asking for a tuple of any length.
    if length < 0 or length - len(old) > len(added):
        raise InputError("A tuple grew, but not all of its new items are there.")
    return ChangedItems(length, tuple(changes))


def _entry_from_tree(tree: object, old: object, registry: Registry) -> tuple[object, Delta]:
    if not isinstance(tree, list) or len(tree) != 2:
        raise InputError("A changed entry of a mapping needs its key and its change.")
    key = registry.decode_tree(tree[0])
    return key, delta_from_tree(tree[1], cast("dict[object, object]", old).get(key), registry)


def changed_by_tree(tree: object, old: object, registry: Registry) -> object:
    """Return the value that the old one became by the change in a tree; ``None`` is no change."""
    return old if tree is None else apply_delta(old, delta_from_tree(tree, old, registry))

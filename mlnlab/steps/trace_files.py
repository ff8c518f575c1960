"""Traces as files of JSON lines: a first state in full, then a line for each step with what changed.

{"format": "mlnlab-trace", "version": 1}
{"step": 0, "seconds": 0.0, "metrics": {"objective": -3.5}, "state": ...}
{"step": 1, "seconds": 0.1, "metrics": {"objective": -3.4}, "change": ["fields", ...]}
{"step": 2, "seconds": 0.2, "metrics": {"objective": -3.3}}            (only its metrics were kept)
{"end": 3}                                                             (the number of lines between)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from mlnlab.errors import InputError
from mlnlab.steps.delta_tree import changed_by_tree, delta_tree
from mlnlab.steps.deltas import difference
from mlnlab.steps.encoding import REGISTRY, Registry, clipped
from mlnlab.steps.safe_files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike

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
                line["state"] = registry.encoded(record.state)
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
    """Yield the records of a file; what is wrong with it is said with the line."""
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
        raise InputError(f"{name}, line {number}: {clipped(problem)}.") from problem
    except Exception as problem:
        # Whatever a damaged line leads to: a missing key, a text for a number, a key that cannot be hashed.
        raise InputError(
            f"{name}, line {number}: this is no step of a trace ({clipped(problem)})."
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
        """Return what the next line holds, nothing for the first and the last."""
        tree = json.loads(line, parse_constant=_refuse_constant)
        if not isinstance(tree, dict):
            raise InputError("A line has to hold a JSON object.")
        if self._ended:
            raise InputError("There is something behind the end of the trace.")
        if self._lines < 0:
            _check_header(tree)
            self._lines = 0
            return None
        if "end" in tree:
            if tree["end"] != self._lines:
                raise InputError(f"The trace had {clipped(tree['end'])} steps when it was written.")
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
            self._state = self._registry.decoded(tree["state"])
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
        raise InputError("This is no trace: the first line has to say so, as Trace.save writes it.")
    if tree.get("version") != _VERSION:
        raise InputError(
            f"The trace has version {clipped(tree.get('version'))}; version {_VERSION} can be read."
        )


def _refuse_constant(text: str) -> float:
    raise InputError(f"{text} is no number in JSON.")

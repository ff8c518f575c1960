"""Records of an experiment in files: sealed by a checksum, and never a reason to lose the rest.

A file is JSON: ``{"sha256": ..., "record": ...}``, the checksum being that of all that follows it. A file
that is damaged counts as absent, with a warning; a record that cannot be written, as on a full disk, stays in
memory, and is tried again with each later one.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from mlnlab.errors import MlnlabError, OutputError, count_of
from mlnlab.steps.safe_files import make_folder, write_text
from mlnlab.steps.values.encoding import REGISTRY, clip_problem

_BEGIN, _DIGITS = '{"sha256": "', 64
_Types = type | tuple[type, ...]
_PLAIN_TYPES: dict[str, _Types] = {"str": str, "int": int, "float": (int, float), "bool": bool}


class KeepingWarning(UserWarning):
    """Warns that a result could not be saved in its folder, or that a saved one is damaged."""


class Shelf:
    """Saves records in files as they come; a failed save is tried again with each later record."""

    def __init__(self) -> None:
        self._waiting: dict[Path, object] = {}
        self._has_warned = False

    def put(self, file: Path, record: object) -> None:
        """Write a record, and those that are still waiting; warn where that fails for the first time."""
        self._waiting[file] = record
        trouble = self._trouble_writing()
        if trouble and not self._has_warned:
            self._has_warned = True
            _warn(f"{trouble} The result stays in memory; the next write tries again.")

    def close(self) -> None:
        """Try the last time; say how many records are in no file."""
        if trouble := self._trouble_writing():
            results = count_of(len(self._waiting), "result")
            _warn(f"{trouble} A second start will compute {results} again.")

    def _trouble_writing(self) -> str:
        for file, record in list(self._waiting.items()):
            try:
                write_record(file, record)
            except OutputError as problem:
                return str(problem)
            del self._waiting[file]
        return ""


@contextmanager
def keeping() -> Iterator[None]:
    """Turn an error of writing a file into a warning: the result stays in memory."""
    try:
        yield
    except OutputError as problem:
        _warn(f"{problem} The result stays in memory; a second start computes it again.")


def keep(file: Path, record: object) -> None:
    """Write a record with its checksum, or warn that this failed."""
    with keeping():
        write_record(file, record)


def write_record(file: Path, record: object) -> None:
    """Write a record with its checksum, in a folder that is made if it is missing."""
    text = f'", "record": {json.dumps(REGISTRY.encode_value(record), allow_nan=False)}}}'
    make_folder(file.parent)
    write_text(file, f"{_BEGIN}{_checksum(text)}{text}")


def read_record(file: Path) -> Any:  # noqa: ANN401 - whatever was written
    """Return the record of a file; ``None`` where there is none, with a warning where it is damaged."""
    try:
        content = file.read_text(encoding="utf-8")
        text = content[len(_BEGIN) + _DIGITS :]
        if content != f"{_BEGIN}{_checksum(text)}{text}":
            return _warn_of_damage(file, "its checksum is wrong")
        return REGISTRY.decode_tree(json.loads(content)["record"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, MlnlabError) as problem:
        return _warn_of_damage(file, clip_problem(problem))


def has_declared_types(record: Any) -> bool:  # noqa: ANN401 - any dataclass
    """Return whether the plain fields of a dataclass have their declared types."""
    pairs = ((getattr(record, field.name), _PLAIN_TYPES.get(str(field.type))) for field in fields(record))
    return all(
        kind is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool)))
        for value, kind in pairs
    )


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _warn_of_damage(file: Path, reason: str) -> None:
    _warn(f"{file} is damaged or of another version, so its result is computed again: {reason}.")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, KeepingWarning, stacklevel=3)

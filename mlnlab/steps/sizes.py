"""How many bytes of memory a recorded value takes: what a trace's budget is counted in."""

from __future__ import annotations

from enum import Enum
from sys import getsizeof

import numpy as np

from mlnlab.steps.deltas import ChangedEntries, ChangedFields, ChangedItems, ChangedKeys, Delta, Replaced
from mlnlab.steps.parts import field_names, is_mapping

_COLLECTED = 16  # what the garbage collector puts before each object that may hold others
_ARRAY_HEADER = 128
_PAIR = 56 + _COLLECTED
_INTERPRETERS_OWN = range(-5, 257)  # integers of which there is one object each


def value_size(value: object, seen: set[int]) -> int:
    """Return the bytes of a value without the parts whose identities are in ``seen``; add its parts there."""
    if value is None or isinstance(value, bool | Enum | type):
        return 0
    if id(value) in seen or (type(value) is int and value in _INTERPRETERS_OWN):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return _ARRAY_HEADER + value.nbytes
    size = getsizeof(value)
    if names := field_names(value):
        inside = sum(value_size(getattr(value, name), seen) for name in names)
        holder = getattr(value, "__dict__", None)
        return size + _COLLECTED + inside + (0 if holder is None else getsizeof(holder))
    if isinstance(value, tuple | list | frozenset | set):
        return size + _COLLECTED + sum(value_size(item, seen) for item in value)
    if is_mapping(value):
        entries = sum(value_size(key, seen) + value_size(item, seen) for key, item in value.items())
        return size + _COLLECTED + getsizeof(dict(value)) + entries
    return size


def delta_size(delta: Delta | None, seen: set[int]) -> int:
    """Return the bytes of a delta without the parts in ``seen``; names of fields belong to the class."""
    if delta is None:
        return 0
    size = getsizeof(delta) + _COLLECTED
    match delta:
        case Replaced(value):
            return size + value_size(value, seen)
        case ChangedEntries(positions, values):
            return size + getsizeof(positions) + getsizeof(values)
        case ChangedFields(fields):
            inside = sum(_PAIR + delta_size(inner, seen) for _, inner in fields)
            return size + getsizeof(fields) + _COLLECTED + inside
        case ChangedItems(_, items):
            inside = sum(_PAIR + 32 + delta_size(inner, seen) for _, inner in items)
            return size + getsizeof(items) + _COLLECTED + inside
        case ChangedKeys(removed, entries):
            keys = value_size(removed, seen)
            inside = sum(_PAIR + value_size(key, seen) + delta_size(inner, seen) for key, inner in entries)
            return size + keys + getsizeof(entries) + _COLLECTED + inside

"""Compute the difference of two states, so that a recorded step stores only the changes.

``difference(old, new)`` is ``None`` where nothing changed, else a :data:`Delta`; ``apply_delta(old, delta)``
is the new value; ``compose_deltas(first, second)`` does what both would do, without the state in between.
Deltas are values: what they hold is never changed afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.values.parts import (
    Array,
    field_names,
    is_mapping,
    is_plain_array,
    with_entries,
    with_fields,
    with_items,
)
from mlnlab.steps.values.sameness import changed_positions, same_atom

_INDEX = np.dtype("<u4")
_MOST_ENTRIES = 2**32 - 1
_TIDY_FROM = 16  # fewer changes than this are not worth a search for those that were changed twice


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """Another value stands here."""

    value: object


@dataclass(frozen=True, slots=True, eq=False)
class ChangedFields:
    """Some fields of a dataclass changed."""

    changes: tuple[tuple[str, Delta], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedItems:
    """A tuple has this length now, and some items changed or were added at its end."""

    length: int
    changes: tuple[tuple[int, Delta], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedKeys:
    """Keys of a mapping were removed, then some values changed or were added at its end."""

    removed: tuple[object, ...]
    changes: tuple[tuple[object, Delta], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedEntries:
    """Few entries of an array changed: their flat positions (32 bits each) and their new values, as bytes.

    Bytes rather than arrays: an array's header alone is bigger than a handful of entries.
    """

    positions: bytes
    values: bytes


Delta: TypeAlias = Replaced | ChangedFields | ChangedItems | ChangedKeys | ChangedEntries


def difference(old: object, new: object) -> Delta | None:
    """Return the delta that turns the old value into the new one, or ``None`` if they are the same."""
    if old is new:
        return None
    if type(old) is not type(new):
        return Replaced(new)
    if is_plain_array(old) and is_plain_array(new):
        return _array_difference(old, new)
    if names := field_names(new):
        return _field_difference(old, new, names)
    if isinstance(old, tuple) and isinstance(new, tuple):
        return _item_difference(old, new)
    if is_mapping(old) and is_mapping(new):
        return _key_difference(old, new)
    return None if same_atom(old, new) else Replaced(new)


def _array_difference(old: Array, new: Array) -> Delta | None:
    if old.dtype != new.dtype or old.shape != new.shape or new.size > _MOST_ENTRIES:
        return Replaced(new)
    positions = changed_positions(np.ascontiguousarray(old), np.ascontiguousarray(new))
    if not positions.size:
        return None  # also where only the order in memory differs, which is no part of the value
    in_order = old.flags.c_contiguous and new.flags.c_contiguous
    if not in_order or 2 * positions.size * (_INDEX.itemsize + new.dtype.itemsize) >= new.nbytes:
        return Replaced(new)
    return ChangedEntries(positions.astype(_INDEX).tobytes(), new.reshape(-1)[positions].tobytes())


def _field_difference(old: object, new: object, names: tuple[str, ...]) -> Delta | None:
    changes = []
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if before is not after and (delta := difference(before, after)) is not None:
            changes.append((name, delta))
    return ChangedFields(tuple(changes)) if changes else None


def _item_difference(old: tuple[object, ...], new: tuple[object, ...]) -> Delta | None:
    changes: list[tuple[int, Delta]] = []
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before is not after and (delta := difference(before, after)) is not None:
            changes.append((index, delta))
    changes += [(index, Replaced(new[index])) for index in range(len(old), len(new))]
    if not changes and len(old) == len(new):
        return None
    replaced = sum(isinstance(delta, Replaced) for _, delta in changes)  # others share what did not change
    return Replaced(new) if 2 * replaced > len(new) else ChangedItems(len(new), tuple(changes))


def _key_difference(old: dict[object, object] | object, new: dict[object, object] | object) -> Delta | None:
    before, after = cast("dict[object, object]", old), cast("dict[object, object]", new)
    kept = [key for key in before if key in after]
    # The order of the keys is part of the value: whoever iterates over them sees it.
    if list(after) != kept + [key for key in after if key not in before]:
        return Replaced(new)
    removed = tuple(key for key in before if key not in after)
    changes: list[tuple[object, Delta]] = []
    for key, value in after.items():
        delta = difference(before[key], value) if key in before else Replaced(value)
        if delta is not None:
            changes.append((key, delta))
    return ChangedKeys(removed, tuple(changes)) if removed or changes else None


def apply_delta(old: object, delta: Delta | None) -> object:
    """Return the value that the old one became; arrays in it are read-only."""
    match delta:
        case None:
            return old
        case Replaced(value):
            return value
        case ChangedFields(changes):
            return with_fields(old, {name: apply_delta(getattr(old, name), inner) for name, inner in changes})
        case ChangedEntries():
            return _with_changed_entries(cast("Array", old), delta)
        case ChangedItems(length, item_changes):
            before = cast("tuple[object, ...]", old)
            items = [*before[:length], *([None] * (length - len(before)))]
            for index, inner in item_changes:
                items[index] = apply_delta(items[index], inner)
            return with_items(before, items)
        case ChangedKeys(removed, key_changes):
            mapping = cast("dict[object, object]", old)
            gone = set(removed)
            entries = {key: value for key, value in mapping.items() if key not in gone}
            for key, inner in key_changes:
                entries[key] = apply_delta(entries.get(key), inner)
            return with_entries(mapping, entries)
        case _:
            assert_never(delta)


def _with_changed_entries(old: Array, delta: ChangedEntries) -> Array:
    new = old.copy()
    # Where a position is named twice, numpy keeps the last value, which is the later one.
    new.reshape(-1)[np.frombuffer(delta.positions, _INDEX)] = np.frombuffer(delta.values, old.dtype)
    new.setflags(write=False)
    return new


def compose_deltas(first: Delta | None, second: Delta | None) -> Delta | None:
    """Return one delta that does the same as the first and then the second."""
    if first is None or second is None:
        return second if first is None else first
    match first, second:
        case _, Replaced():
            return second
        case Replaced(value), _:
            return Replaced(apply_delta(value, second))
        case ChangedFields(one), ChangedFields(two):
            fields = dict(one)
            for name, delta in two:
                fields[name] = _both(fields.get(name), delta)
            return ChangedFields(tuple(fields.items()))
        case ChangedItems(_, one_items), ChangedItems(length, two_items):
            items = {index: delta for index, delta in one_items if index < length}
            for index, delta in two_items:
                items[index] = _both(items.get(index), delta)
            return ChangedItems(length, tuple(sorted(items.items())))
        case ChangedKeys(), ChangedKeys():
            return _composed_keys(first, second)
        case ChangedEntries(), ChangedEntries():
            return _composed_entries(first, second)
        case _:
            raise ArgumentError("These two changes do not follow each other: they are of different kinds.")


def _both(first: Delta | None, second: Delta) -> Delta:
    return cast("Delta", compose_deltas(first, second))


def _composed_keys(first: ChangedKeys, second: ChangedKeys) -> ChangedKeys:
    changes = dict(first.changes)
    for key in second.removed:
        changes.pop(key, None)
    for key, delta in second.changes:
        changes[key] = _both(changes.get(key), delta)
    removed = tuple(dict.fromkeys((*first.removed, *second.removed)))
    return ChangedKeys(removed, tuple(changes.items()))


def _composed_entries(first: ChangedEntries, second: ChangedEntries) -> ChangedEntries:
    positions, values = first.positions + second.positions, first.values + second.values
    count = len(positions) // _INDEX.itemsize
    if count < _TIDY_FROM:
        return ChangedEntries(positions, values)
    # Backwards, because of several changes of one entry the last one counts.
    unique, where = np.unique(np.frombuffer(positions, _INDEX)[::-1], return_index=True)
    rows = np.frombuffer(values, f"V{len(values) // count}")[::-1]
    return ChangedEntries(unique.tobytes(), rows[where].tobytes())


def sharing(old: object, delta: Delta | None, new: object) -> object:
    """Return the new value with every part that did not change taken from the old one, to store it once."""
    match delta:
        case None:
            return old
        case Replaced() | ChangedEntries():
            return new
        case ChangedFields(changes):
            inner = dict(changes)
            fields: dict[str, object] = {}
            for name in field_names(new):
                before, after = getattr(old, name), getattr(new, name)
                if before is not after:
                    shared = sharing(before, inner.get(name), after)
                    if shared is not after:
                        fields[name] = shared
            return with_fields(new, fields) if fields else new
        case ChangedItems(_, item_changes):
            olds, news = cast("tuple[object, ...]", old), cast("tuple[object, ...]", new)
            by_index = dict(item_changes)
            common = min(len(olds), len(news))
            items = [sharing(olds[i], by_index.get(i), news[i]) for i in range(common)]
            if all(item is after for item, after in zip(items, news, strict=False)):
                return new  # so that the next state, which has the same tuple, is known by its identity
            return with_items(news, [*items, *news[common:]])
        case ChangedKeys(_, key_changes):
            before_by_key = cast("dict[object, object]", old)
            after_by_key = cast("dict[object, object]", new)
            by_key = dict(key_changes)
            entries = {
                key: sharing(before_by_key[key], by_key.get(key), value) if key in before_by_key else value
                for key, value in after_by_key.items()
            }
            return with_entries(after_by_key, entries)
        case _:
            assert_never(delta)

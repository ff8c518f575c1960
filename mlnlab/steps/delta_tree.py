"""Deltas as JSON, and back, checked against the value that they change."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, assert_never, cast

import numpy as np

from mlnlab.errors import InputError
from mlnlab.steps.deltas import (
    ChangedEntries,
    ChangedFields,
    ChangedItems,
    ChangedKeys,
    Delta,
    Replaced,
    applied,
)
from mlnlab.steps.parts import field_names, is_mapping, is_plain_array

if TYPE_CHECKING:
    from mlnlab.steps.encoding import Registry


def delta_tree(delta: Delta, registry: Registry) -> list[object]:
    """Return a delta as what ``json`` can write: a list whose first item says which kind it is."""
    match delta:
        case Replaced(value):
            return ["value", registry.encoded(value)]
        case ChangedFields(fields):
            return ["fields", {name: delta_tree(inner, registry) for name, inner in fields}]
        case ChangedItems(length, items):
            return ["items", length, [[index, delta_tree(inner, registry)] for index, inner in items]]
        case ChangedKeys(removed, entries):
            keys = [registry.encoded(key) for key in removed]
            changed = [[registry.encoded(key), delta_tree(inner, registry)] for key, inner in entries]
            return ["keys", keys, changed]
        case ChangedEntries(positions, values):
            return ["entries", *(base64.b64encode(data).decode("ascii") for data in (positions, values))]
        case _:
            assert_never(delta)


def delta_from_tree(tree: object, old: object, registry: Registry) -> Delta:
    """Return the delta of a tree, after making sure that it fits the old value."""
    match tree:
        case ["value", value]:
            return Replaced(registry.decoded(value))
        case ["fields", dict() as fields] if set(fields) <= set(field_names(old)):
            changes = ((name, delta_from_tree(t, getattr(old, name), registry)) for name, t in fields.items())
            return ChangedFields(tuple(changes))
        case ["items", int() as length, list() as items] if isinstance(old, tuple):
            return _items_from_tree(length, items, old, registry)
        case ["keys", list() as removed, list() as entries] if is_mapping(old):
            keys = tuple(registry.decoded(key) for key in removed)
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
    key = registry.decoded(tree[0])
    return key, delta_from_tree(tree[1], cast("dict[object, object]", old).get(key), registry)


def changed_by_tree(tree: object, old: object, registry: Registry) -> object:
    """Return the value that the old one became by the change in a tree; ``None`` is no change."""
    return old if tree is None else applied(old, delta_from_tree(tree, old, registry))

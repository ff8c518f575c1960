"""Split values into parts: fields of a dataclass, items of a tuple, entries of a mapping.

Comparing, recording and storing states all take values apart in the same way; this file knows how.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Array = NDArray[np.generic]

_FIELD_NAMES: dict[type, tuple[str, ...]] = {}  # asked for each part of each step
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None), frozenset})


def field_names(value: object) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass's instance; nothing for any other value."""
    kind = type(value)
    names = _FIELD_NAMES.get(kind)
    if names is None:
        fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
        names = _FIELD_NAMES[kind] = tuple(field.name for field in fields)
    return names


def is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    """Say whether a value is a mapping that can be taken apart and made again."""
    return type(value) is dict or type(value) is MappingProxyType


def is_plain_array(value: object) -> TypeGuard[Array]:
    """Say whether a value is an array of numbers, texts or times: no subclass, no Python objects inside."""
    return type(value) is np.ndarray and not value.dtype.hasobject


def with_fields(value: T, changes: Mapping[str, object]) -> T:
    """Return a copy of a dataclass's instance with other values in some fields.

    The constructor is left out: the values have been through it once, and it may do more than store them.
    """
    copy = object.__new__(type(value))
    for name in field_names(value):
        object.__setattr__(copy, name, changes[name] if name in changes else getattr(value, name))
    return copy


def with_items(like: tuple[object, ...], items: Iterable[object]) -> tuple[object, ...]:
    """Return the items as a tuple, or as a named tuple where the old one was named."""
    make = getattr(type(like), "_make", tuple)
    return cast("tuple[object, ...]", make(items))


def with_entries(like: Mapping[object, object], entries: dict[object, object]) -> Mapping[object, object]:
    """Return the entries as a mapping of the same kind."""
    return MappingProxyType(entries) if type(like) is MappingProxyType else entries


def seal_value(value: object, known: object = None) -> object:
    """Return the value, with copies of whatever in it could still be changed by somebody else.

    States should hold read-only arrays; then this costs a look at each field. ``known`` is an earlier sealed
    value, of which the same tuple or dataclass need not be looked at again.
    """
    kind = type(value)
    if kind in _ATOMS or value is known:
        return value
    if isinstance(value, np.ndarray):
        return value if _is_settled(value) else _settled_copy(value)
    if names := field_names(value):
        return _sealed_fields(value, names, known if type(known) is kind else None)
    if isinstance(value, tuple):
        olds = known if type(known) is kind and isinstance(known, tuple) else ()
        items = [seal_value(item, olds[i] if i < len(olds) else None) for i, item in enumerate(value)]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else with_items(value, items)
    if type(value) is dict:
        olds_by_key = known if type(known) is dict else {}
        return {key: seal_value(item, olds_by_key.get(key)) for key, item in value.items()}
    if type(value) is list:
        return [seal_value(item) for item in value]
    return value


def _sealed_fields(value: object, names: tuple[str, ...], known: object) -> object:
    changes = {}
    for name in names:
        old = getattr(value, name)
        new = seal_value(old, getattr(known, name, None))
        if new is not old:
            changes[name] = new
    settled = cast("Any", type(value)).__dataclass_params__.frozen
    return value if settled and not changes else with_fields(value, changes)


def _is_settled(array: Array) -> bool:
    """Say whether nobody can write to an array, not even through the array it is a view of."""
    base = array.base
    return not array.flags.writeable and not (isinstance(base, np.ndarray) and base.flags.writeable)


def _settled_copy(array: Array) -> Array:
    # numpy flattens chains of views, so the base that was looked at is the owner of the memory.
    copy = array.copy(order="K")
    copy.setflags(write=False)
    return copy

"""When two states are the same: part by part, numbers by their bits.

Dataclasses that hold arrays have no useful ``==``, not-a-number differs from itself, and minus zero equals
zero; a replayed or resumed run has to agree with the first one in all of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from struct import pack

import numpy as np

from mlnlab.steps.values.parts import Array, field_names, is_mapping

_SHOWN_LENGTH = 60  # characters of a value in a sentence


def same_state(left: object, right: object) -> bool:
    """Say whether two values agree in type and in every part, bit for bit.

    >>> same_state((1.0, float("nan")), (1.0, float("nan")))
    True
    >>> same_state(0.0, -0.0), same_state(1, 1.0)
    (False, False)
    """
    return left is right or next(_differing(left, right, ""), None) is None


def differing_parts(left: object, right: object, most: int = 10) -> tuple[str, ...]:
    """Return sentences on the parts in which two values differ, at most ``most``.

    >>> differing_parts({"weights": (1, 2)}, {"weights": (1, 3)})
    ("['weights'][1]: 2 and 3",)
    """
    return tuple(islice(_differing(left, right, ""), most))


def _differing(left: object, right: object, place: str) -> Iterator[str]:
    if left is right:
        return
    if type(left) is not type(right):
        yield f"{_at(place)}{_show_value(left)} and {_show_value(right)}"
    elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        yield from _differing_entries(left, right, place)
    elif names := field_names(left):
        for name in names:
            inner = f"{place}.{name}" if place else name
            yield from _differing(getattr(left, name), getattr(right, name), inner)
    elif isinstance(left, tuple | list) and isinstance(right, tuple | list):
        if len(left) != len(right):
            yield f"{_at(place)}{len(left)} and {len(right)} items"
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            yield from _differing(one, other, f"{place}[{index}]")
    elif is_mapping(left) and is_mapping(right):
        if left.keys() != right.keys():
            keys = list(left.keys() ^ right.keys())
            yield f"{_at(place)}only one has the key {_show_value(keys[0])}"
        elif list(left) != list(right):  # whoever iterates over them sees it
            yield f"{_at(place)}the keys come in different orders"
        for key in left:
            if key in right:
                yield from _differing(left[key], right[key], f"{place}[{key!r}]")
    elif not same_atom(left, right):
        yield f"{_at(place)}{_show_value(left)} and {_show_value(right)}"


def same_atom(left: object, right: object) -> bool:
    """Say whether two values of one type that are not taken apart are the same."""
    if isinstance(left, np.generic) and isinstance(right, np.generic):
        return left.dtype == right.dtype and left.tobytes() == right.tobytes()
    if isinstance(left, float) and isinstance(right, float):
        return pack("<d", left) == pack("<d", right)
    if isinstance(left, complex) and isinstance(right, complex):
        return pack("<dd", left.real, left.imag) == pack("<dd", right.real, right.imag)
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - any type may refuse to be compared, and is then not known to be the same
        return False


def _differing_entries(left: Array, right: Array, place: str) -> Iterator[str]:
    if left.dtype != right.dtype or left.shape != right.shape:
        yield f"{_at(place)}{left.dtype} array of shape {left.shape} and {right.dtype} of {right.shape}"
    elif left.dtype.hasobject:
        for index in np.ndindex(left.shape):
            yield from _differing(left[index], right[index], f"{place}[{', '.join(map(str, index))}]")
    else:
        changed = changed_positions(np.ascontiguousarray(left), np.ascontiguousarray(right))
        for position in changed.tolist():
            index = tuple(int(i) for i in np.unravel_index(position, left.shape))
            where = f"{place}[{', '.join(map(str, index))}]" if index else place
            yield f"{_at(where)}{_show_value(left[index])} and {_show_value(right[index])}"


def changed_positions(old: Array, new: Array) -> Array:
    """Return where two arrays of one dtype and shape, contiguous both, differ in any bit, counted flat."""
    size = old.dtype.itemsize
    if size in {1, 2, 4, 8}:
        bits = f"u{size}"
        return np.flatnonzero(old.reshape(-1).view(bits) != new.reshape(-1).view(bits))
    if not old.size or not size:
        return np.zeros(0, np.intp)
    rows = (old.size, size)
    before, after = old.reshape(-1).view(np.uint8).reshape(rows), new.reshape(-1).view(np.uint8).reshape(rows)
    return np.flatnonzero((before != after).any(axis=1))


def _at(place: str) -> str:
    return f"{place.removeprefix('.')}: " if place else ""


def _show_value(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    text = f"{value:.17g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"

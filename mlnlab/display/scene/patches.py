"""Compute the changes from one scene to the next in a few bytes, to be sent many times a second.

Both sides number the items of the last scene in document order. A patch holds the numbers that changed as
three arrays (which item, which field, what value) and the few texts beside them. Where anything else changed
(an item came or went, something can now be selected) there is no patch, and the whole scene is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.errors import visible as fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The order is part of the message: patches.js has the same list.
NUMBERS = ("x", "y", "radius", "width", "height", "corner")
_PLACES: dict[type, tuple[str, ...]] = {
    Group: ("x", "y"),
    Path: (),
    Circle: ("x", "y", "radius"),
    Rectangle: ("x", "y", "width", "height", "corner"),
    Text: ("x", "y"),
    Picture: ("x", "y", "width", "height"),
}
_TEXTS: dict[type, tuple[str, ...]] = {Path: ("path",), Text: ("text",), Picture: ("source",)}
_JSON_NAMES = {"look": "class"}


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """The changes of numbers as parallel arrays, and those of texts by item."""

    items: NDArray[np.uint32]
    fields: NDArray[np.uint8]
    values: NDArray[np.float32]
    texts: tuple[tuple[int, dict[str, str]], ...]

    def __len__(self) -> int:
        return len(self.items) + len(self.texts)

    def buffers(self) -> list[bytes]:
        """Return the arrays as a message carries them, little-endian."""
        kinds = ((self.items, "<u4"), (self.fields, "u1"), (self.values, "<f4"))
        return [array.astype(kind, copy=False).tobytes() for array, kind in kinds]


class _StructureChangedError(Exception):
    """Two scenes differ in more than values."""


def patch_between(old: Scene, new: Scene) -> Patch | None:
    """Return the patch from one scene to another, ``None`` where the whole scene must be sent."""
    same_frame = (old.width, old.height, len(old.layers)) == (new.width, new.height, len(new.layers))
    if not same_frame or not all(map(_same_layer, old.layers, new.layers)):
        return None
    numbers: list[tuple[int, int, float]] = []
    texts: list[tuple[int, dict[str, str]]] = []
    try:
        place = 0
        for before, after in zip(old.layers, new.layers, strict=True):
            place = _compare_all(before.children, after.children, place, numbers, texts)
    except _StructureChangedError:
        return None
    items, fields, values = zip(*numbers, strict=True) if numbers else ((), (), ())
    return Patch(
        np.array(items, np.uint32), np.array(fields, np.uint8), np.array(values, np.float32), tuple(texts)
    )


def _same_layer(old: Layer, new: Layer) -> bool:
    return old.id == new.id and old.zooms == new.zooms


def _compare_all(
    old: tuple[Item, ...],
    new: tuple[Item, ...],
    place: int,
    numbers: list[tuple[int, int, float]],
    texts: list[tuple[int, dict[str, str]]],
) -> int:
    """Note the changes of items and those inside of them; return the number of the item that follows."""
    if len(old) != len(new):
        raise _StructureChangedError
    for before, after in zip(old, new, strict=True):
        # Parts that did not change are often the same objects.
        if before is not after:
            _compare(before, after, place, numbers, texts)
        place += 1
        if isinstance(before, Group) and isinstance(after, Group):
            place = _compare_all(before.children, after.children, place, numbers, texts)
    return place


def _compare(
    old: Item,
    new: Item,
    place: int,
    numbers: list[tuple[int, int, float]],
    texts: list[tuple[int, dict[str, str]]],
) -> None:
    kind = type(old)
    if type(new) is not kind or _settled_fields(old) != _settled_fields(new):
        raise _StructureChangedError
    for name in _PLACES[kind]:
        value = getattr(new, name)
        if value != getattr(old, name):
            numbers.append((place, NUMBERS.index(name), value))
    changed = {
        _JSON_NAMES.get(name, name): fit(getattr(new, name))
        if name in {"text", "tooltip"}
        else getattr(new, name)
        for name in ("look", "tooltip", *_TEXTS.get(kind, ()))
        if getattr(old, name) != getattr(new, name)
    }
    if changed:
        texts.append((place, changed))


def _settled_fields(item: Item) -> tuple[object, ...]:
    """Return the fields that no patch can change."""
    common = (item.id, item.pick, item.press, item.expands)
    if isinstance(item, Text):
        return (*common, item.anchor)
    return (*common, item.rows, item.columns) if isinstance(item, Picture) else common

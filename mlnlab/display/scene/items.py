"""Define the parts of a drawing: frozen items with coordinates, in layers that zoom or stay.

Coordinates are pixels, rounded to a tenth when an item is made, so that everything that reads a scene reads
the same numbers. Ids and classes are words of our own source and are checked to be; only texts, tooltips and
the names on a matrix come from data, and all of them are drawn as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import isfinite
from typing import Literal, TypeAlias

from mlnlab.display.scene.look import WORDS
from mlnlab.errors import visible as fit

FORMAT = "mlnlab-scene"
VERSION = 1
MIME_TYPE = "application/vnd.mlnlab.scene+json"
MOST_ITEMS = 20_000  # more would keep a browser busy for seconds: the summary is a sentence then

Anchor = Literal["start", "middle", "end"]
Expands = Literal["", "closed", "open"]

_ID = re.compile(r"[a-z][a-z0-9]*(?:[-./][a-z0-9]+)*")
_LONGEST_ID = 60
_PATH = re.compile(r"[MLHVCSQTAZmlhvcsqtaz0-9 .,+-]*")
_PIXELS = "data:image/png;base64,"


def round_coordinate(value: float) -> float:
    """Return a coordinate rounded to a tenth; whole ones are whole numbers, which are shorter to write."""
    if not isfinite(value):
        raise ValueError(f"{value} cannot be a coordinate.")
    tenth = round(float(value), 1)
    return int(tenth) if tenth == int(tenth) else tenth


def _round(item: Item | Scene, *names: str) -> None:
    for name in names:
        object.__setattr__(item, name, round_coordinate(getattr(item, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """The attributes common to all items.

    ``look`` holds words of :data:`mlnlab.display.scene.look.LOOKS`; ``pick`` says that the item can be
    selected, ``press`` that it is a button, which two clicks press twice, ``expands`` that it shows its
    children or can be asked for them; ``tooltip`` is text whose first line names the item.
    """

    id: str = ""
    look: str = ""
    tooltip: str = ""
    pick: bool = False
    press: bool = False
    expands: Expands = ""

    def __post_init__(self) -> None:
        """Refuse ids and classes that could have come from data."""
        check_id(self.id)
        unknown = set(self.look.split()) - WORDS
        if unknown:
            raise ValueError(f"{sorted(unknown)} are not words of the look; add them to LOOKS.")
        if (self.pick or self.press or self.expands) and not self.id:
            raise ValueError("An item that can be selected, pressed or expanded needs an id.")
        if self.press and (self.pick or self.expands):
            raise ValueError("A button is pressed; it is neither selected nor expanded.")


def check_id(text: str) -> None:
    """Refuse an id that is not words of small letters and digits, joined by ``-``, ``.`` or ``/``."""
    if text and (len(text) > _LONGEST_ID or not _ID.fullmatch(text)):
        raise ValueError(f"{text[:_LONGEST_ID]!r} is not an id: ids are numbered words of ours, never data.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(_Common):
    """Items that move together; they inherit the group's look."""

    children: tuple[Item, ...] = ()
    x: float = 0
    y: float = 0

    def __post_init__(self) -> None:
        """Round."""
        _Common.__post_init__(self)
        _round(self, "x", "y")


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(_Common):
    """Lines and curves in SVG's notation; :mod:`mlnlab.display.scene.paths` writes it from points."""

    path: str

    def __post_init__(self) -> None:
        """Refuse a text that is not a path."""
        _Common.__post_init__(self)
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"{self.path[:40]!r} is not a path.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle(_Common):
    """A circle around a point."""

    x: float
    y: float
    radius: float

    def __post_init__(self) -> None:
        """Round."""
        _Common.__post_init__(self)
        _round(self, "x", "y", "radius")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle(_Common):
    """A rectangle by its upper left point, perhaps with round corners."""

    x: float
    y: float
    width: float
    height: float
    corner: float = 0

    def __post_init__(self) -> None:
        """Round."""
        _Common.__post_init__(self)
        _round(self, "x", "y", "width", "height", "corner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(_Common):
    """One line of text on a baseline."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"

    def __post_init__(self) -> None:
        """Round."""
        _Common.__post_init__(self)
        _round(self, "x", "y")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture(_Common):
    """Pixels as a PNG data address, such as a matrix; the names of its rows and columns are hovered text."""

    x: float
    y: float
    width: float
    height: float
    source: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Round, and refuse anything that a browser would have to fetch."""
        _Common.__post_init__(self)
        _round(self, "x", "y", "width", "height")
        if not self.source.startswith(_PIXELS) or not re.fullmatch(
            r"[A-Za-z0-9+/]*=*", self.source[len(_PIXELS) :]
        ):
            raise ValueError("A picture's source is a PNG data address.")


Item: TypeAlias = Group | Path | Circle | Rectangle | Text | Picture


@dataclass(frozen=True, slots=True)
class Layer:
    """Items in one plane; axes and legends stand in layers that do not zoom."""

    id: str
    children: tuple[Item, ...]
    zooms: bool = True


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole drawing; ``title`` names it, ``description`` describes its content in words."""

    width: float
    height: float
    layers: tuple[Layer, ...]
    title: str
    description: str = ""

    def __post_init__(self) -> None:
        """Refuse an id that occurs twice, and more than a browser can draw."""
        _round(self, "width", "height")
        seen: set[str] = set()
        for number, name in enumerate(_ids(self)):
            if number >= MOST_ITEMS:
                raise ValueError(f"A scene of more than {MOST_ITEMS:,} items; draw a summary instead.")
            check_id(name)
            if name and name in seen:
                raise ValueError(f"The id {name!r} occurs twice.")
            seen.add(name)

    def items(self) -> Iterator[Item]:
        """Yield all items, those of a group after it."""
        for layer in self.layers:
            yield from _walk(layer.children)

    def to_json(self) -> dict[str, object]:
        """Return the scene as JSON according to ``scene.schema.json``."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "width": self.width,
            "height": self.height,
            "title": fit(self.title),
            "description": fit(self.description),
            "layers": [_layer_json(layer) for layer in self.layers],
        }


def _walk(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, Group):
            yield from _walk(item.children)


def _layer_json(layer: Layer) -> dict[str, object]:
    return {"id": layer.id, "zooms": layer.zooms, "children": [item_json(item) for item in layer.children]}


def item_json(item: Item) -> dict[str, object]:
    """Return an item as JSON; a field with its usual value is left out."""
    found: dict[str, object] = {"kind": type(item).__name__.lower()}
    for field in fields(item):
        value = getattr(item, field.name)
        if value == field.default and field.name != "children":
            continue
        match field.name, value:
            case "children", children:
                found["children"] = [item_json(child) for child in children]
            case (("tooltip" | "text"), text):
                found[field.name] = fit(text)
            case (("rows" | "columns"), names):
                found[field.name] = [fit(name) for name in names]
            case "look", look:
                found["class"] = look
            case name, plain:
                found[name] = plain
    return found


def _ids(scene: Scene) -> Iterator[str]:
    for layer in scene.layers:
        yield layer.id
    for item in scene.items():
        yield item.id

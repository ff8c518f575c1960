"""A scene as SVG text that needs nothing else: fonts of the system, both themes, all styles inside."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from mlnlab.display.scene.items import Circle, Group, Item, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.look import ROOT, hue_of, plain_attributes, sheet
from mlnlab.errors import visible as fit

_NO_HUE = "grey"


def svg_text(scene: Scene, *, tooltips: bool = True, ids: bool = True) -> str:
    """Return a scene as SVG.

    ``tooltips`` become titles, which browsers show where the drawing is a part of a page (in an ``<img>``
    they are only weight); ids are kept as ``data-id``, because an ``id`` could meet another one in a page.
    """
    parts = [
        _opening(scene),
        _element("title", {}, escape(fit(scene.title))),
        _element("desc", {}, escape(fit(scene.description))) if scene.description else "",
        f"<style>{sheet()}</style>",
    ]
    for layer in scene.layers:
        children = "".join(_item(item, _NO_HUE, tooltips, ids) for item in layer.children)
        parts.append(_element("g", {"data-id": layer.id} if ids else {}, children))
    return "".join([*parts, "</svg>"])


def _opening(scene: Scene) -> str:
    size = f'width="{scene.width}" height="{scene.height}" viewBox="0 0 {scene.width} {scene.height}"'
    space = 'xmlns="http://www.w3.org/2000/svg"'
    return f'<svg {space} {size} class="{ROOT}" role="img" font-family="sans-serif" font-size="12.5">'


def _element(tag: str, attributes: Mapping[str, object], content: str = "") -> str:
    written = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _item(item: Item, hue: str, tooltips: bool, ids: bool) -> str:
    hue = hue_of(item.look, hue)
    tag, own, content = _shape(item)
    common = {"data-id": item.id} if ids and item.id else {}
    if item.look:
        common["class"] = " ".join(f"mlnlab-{word}" for word in item.look.split())
    tip = f"<title>{escape(fit(item.tooltip))}</title>" if tooltips and item.tooltip else ""
    if isinstance(item, Group):
        content = "".join(_item(child, hue, tooltips, ids) for child in item.children)
    return _element(tag, common | own | plain_attributes(item.look, hue), tip + content)


def _shape(item: Item) -> tuple[str, dict[str, object], str]:
    """Return an item's tag, its attributes and its text."""
    match item:
        case Group():
            return "g", {"transform": f"translate({item.x} {item.y})"} if item.x or item.y else {}, ""
        case Path():
            return "path", {"d": item.path}, ""
        case Circle():
            return "circle", {"cx": item.x, "cy": item.y, "r": item.radius}, ""
        case Rectangle():
            corner = {"rx": item.corner} if item.corner else {}
            return "rect", {**_box(item), **corner}, ""
        case Text():
            anchor = {} if item.anchor == "start" else {"text-anchor": item.anchor}
            return "text", {"x": item.x, "y": item.y, **anchor}, escape(fit(item.text))
        case Picture():
            return "image", {**_box(item), "href": item.source, "preserveAspectRatio": "none"}, ""


def _box(item: Rectangle | Picture) -> dict[str, object]:
    return {"x": item.x, "y": item.y, "width": item.width, "height": item.height}

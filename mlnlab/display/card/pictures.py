"""A scene in a static display: a picture that survives Lab's sanitiser, with a table that says the same."""

from __future__ import annotations

from mlnlab.display.card.markup import Element, Node, element, image
from mlnlab.display.card.style import fold_away
from mlnlab.display.scene.items import Scene
from mlnlab.display.scene.svg import svg_text


def scene_image(scene: Scene, alternative: str) -> Element:
    """Return a scene as an ``<img>``; the alternative text must not quote data."""
    return image(svg_text(scene, tooltips=False, ids=False), alternative, round(scene.width))


def scene_picture(scene: Scene, alternative: str, table: Node | None = None) -> Element:
    """Return a scene as an ``<img>`` with the table that says the same, folded."""
    return element(
        "div", scene_image(scene, alternative), fold_away("as a table", table) if table is not None else None
    )

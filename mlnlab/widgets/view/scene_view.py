"""Show one drawing: a click opens a folded item or selects an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from traitlets import Dict, Unicode

from mlnlab.display.card.cards import scene_picture
from mlnlab.display.card.style import card, title
from mlnlab.display.scene.items import Scene
from mlnlab.widgets.view.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.display.card.markup import Element

# Of the ids of what stands open; the picture of the whole.
Draw = Callable[[frozenset[str]], Scene]
# Of the id of an item that was selected; what there is to say of it.
Describe = Callable[[str], str]


NO_ROOM = "There is no room to open this beside the parts that are open already: close one first."


class SceneView(View):
    """A drawing whose parts are opened, closed and asked for."""

    _esm = script_of("scene_view.js")
    scene = Dict().tag(sync=True)
    details = Unicode().tag(sync=True)

    def __init__(self, draw: Draw, describe: Describe | None = None) -> None:
        super().__init__()
        self._draw_with, self._describe = draw, describe
        self._open: frozenset[str] = frozenset()
        self._drawn = draw(self._open)
        self.scene = self._drawn.to_json()
        self.selected: str | None = None

    @property
    def unfolded(self) -> frozenset[str]:
        """The ids of the unfolded items."""
        return self._open

    def expand(self, *ids: str) -> None:
        """Unfold these items."""
        self._show(self._open | set(ids))

    def collapse(self, *ids: str) -> None:
        """Fold these items; without ids, fold everything."""
        self._show(self._open - set(ids) if ids else frozenset())

    def _show(self, ids: frozenset[str]) -> None:
        with self._lock:
            drawn = self._draw_with(ids)  # raises before anything is changed
            still_folded = {item.id for item in drawn.items() if item.expands == "closed"} & ids
            self._open, self._drawn = ids - still_folded, drawn
            self.scene = drawn.to_json()
            self.details = NO_ROOM if still_folded else ""

    def select(self, id: str | None) -> None:  # noqa: A002 - what an item's id is called everywhere
        """Take an item as selected, and tell of it."""
        self.selected = id
        item = next((item for item in self._drawn.items() if id and item.id == id), None)
        if item is None:
            self.details = ""
        else:
            self.details = item.tooltip if self._describe is None else self._describe(item.id)

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Unfold, fold or select an item for a page."""
        match kind, content:
            case "expand", {"id": str(name), "open": bool(is_open)} if self._can_fold(name):
                (self.expand if is_open else self.collapse)(name)
            case "select", {"id": (str() | None) as name}:
                self.select(name)

    def _can_fold(self, name: str) -> bool:
        return any(item.id == name and item.expands for item in self._drawn.items())

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the drawing as a picture."""
        drawn = self._drawn
        return card(
            title(drawn.title), scene_picture(drawn, "A drawing; its text form is the object itself.")
        )

    def __repr__(self) -> str:
        return f"<{self._drawn.title}, {len(self._open)} parts opened>"

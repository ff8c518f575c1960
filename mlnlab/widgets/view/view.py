"""The base of our widgets: one door for messages, a static picture in the saved notebook, an orderly end."""

from __future__ import annotations

import asyncio
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import anywidget

from mlnlab.display.card.markup import Element, render
from mlnlab.display.scene.items import MIME_TYPE, Scene
from mlnlab.display.scene.scripts import STATIC, join_modules

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle

Message = Mapping[str, Any]
_MOST_JSON = 250_000  # characters of a scene in a saved notebook; beyond, the picture in the HTML remains

# How long a view may be away: a cell that is moved comes back at once, a page that is loaded anew in a while.
_MOVING_SECONDS = 1.0
_RELOADING_SECONDS = 90.0


def script_of(module: str) -> str:
    """Return one of our modules with its imports, as the text that a widget needs."""
    text = join_modules(Path(STATIC) / module)
    return text.replace("export { render };", "export default { render };")


class View(anywidget.AnyWidget):
    """A widget of ours. Every message from a page arrives in :meth:`answer`, whatever it holds.

    The pages that show it tell when they come and go; when the last one is gone for good, :meth:`stop_work`
    is called, which ends whatever runs for the view.
    """

    _ended = True  # until it begins: what was refused before has nothing to end

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401 - traits can be anything
        self._lock = RLock()  # the page's messages and a run's thread both draw
        self._pages: set[str] = set()
        self._farewell: TimerHandle | None = None
        self._ended = False
        super().__init__(**traits)
        self.on_msg(View._receive_message)
        note_view(self)

    # --- messages -----------------------------------------------------------------------------

    def _receive_message(self, content: Message, buffers: Sequence[memoryview]) -> None:
        kind = content.get("type")
        match kind:
            case "opened":
                self._pages.add(str(content.get("view")))
                self._stay()
                self.notice_page()
            case "closed":
                self._leave(str(content.get("view")), _MOVING_SECONDS)
            case "leaving":
                self._leave(str(content.get("view")), _RELOADING_SECONDS)
            case str():
                self.answer(kind, content, buffers)

    def notice_page(self) -> None:
        """Take notice of a page that shows the view from now on."""

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:
        """Answer a message of a page; one that makes no sense is left alone."""

    def stop_work(self) -> None:
        """Stop the background work of the view: no page shows it any more."""

    def _stay(self) -> None:
        if self._farewell is not None:
            self._farewell.cancel()
            self._farewell = None

    def _leave(self, page: str, seconds: float) -> None:
        self._pages.discard(page)
        if self._pages:
            return
        self._stay()
        loop = _running_loop()
        if loop is None:
            self.stop_work()
        else:
            self._farewell = loop.call_later(seconds, self._end_farewell)

    def _end_farewell(self) -> None:
        self._farewell = None
        if not self._pages:
            self.stop_work()

    # --- the saved notebook -------------------------------------------------------------------

    def static_scene(self) -> Scene | None:
        """Return the drawing that a saved notebook shows."""
        return None

    def static_markup(self) -> Element | None:
        """Return the markup for a front end without our views."""
        return None

    def _repr_mimebundle_(self, **_options: object) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget together with its static neighbours, from which a front end takes its pick."""
        found = super()._repr_mimebundle_()
        if found is None:
            return None
        data, metadata = found
        data = {**data, "text/plain": repr(self)}
        with suppress(Exception):  # a broken picture must not cost the widget
            markup = self.static_markup()
            if markup is not None:
                data["text/html"] = render(markup)
            scene = self.static_scene()
            if scene is not None:
                drawn = scene.to_json()
                if len(str(drawn)) <= _MOST_JSON:
                    data[MIME_TYPE] = drawn
        return data, metadata

    # --- the end ------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the background work of the view, and remove the view from every page."""
        if not self._ended:
            self._ended = True
            self._stay()
            self.stop_work()
            layout = self.layout
            super().close()
            layout.close()  # a widget of its own, which would stay behind


def _running_loop() -> AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# --- remember which cell made which view: a cell that runs again closes its former views --------


class Closable(Protocol):
    """An object that a cell can leave behind."""

    def close(self) -> None:
        """End it."""
        ...


_MADE_IN: dict[str, weakref.WeakSet[Any]] = {}
_WATCHED: weakref.WeakSet[Any] = weakref.WeakSet()  # shells that tell when a cell begins


def note_view(view: Closable) -> None:
    """Remember the cell that is running as the view's own."""
    shell = _shell()
    cell = None if shell is None else _running_cell(shell)
    if shell is None or cell is None:
        return
    if shell not in _WATCHED:
        _WATCHED.add(shell)
        shell.events.register("pre_run_cell", _close_views)
    _MADE_IN.setdefault(cell, weakref.WeakSet()).add(view)


def _close_views(info: Any) -> None:  # noqa: ANN401 - IPython's own type
    """Close the views that the cell made when it last ran."""
    for view in tuple(_MADE_IN.pop(getattr(info, "cell_id", None) or "", ())):
        view.close()


def _shell() -> Any:  # noqa: ANN401 - IPython may not even be there
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _running_cell(shell: Any) -> str | None:  # noqa: ANN401
    """Return the id of the cell that is being run; front ends that send none close nothing."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell if isinstance(cell, str) else None

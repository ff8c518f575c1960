"""Share the behaviour of views with sliders over a compiled model: the newest slider position wins.

Where a page has a program, it draws its own numbers in the frame in which a slider moves, marked as without a
bound of their error, until Python's answer to the newest position takes their place.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traitlets import Dict, List, Unicode

from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.display.scene.patches import patch_between
from mlnlab.errors import MlnlabError
from mlnlab.widgets.view.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.widgets.circuit.circuit_sliders import Sliders, Weights

_LONGEST = 500
_MOST_CHANGES = 1_000  # of one message


class SlidingView(View):
    """A drawing with sliders; while one moves, "frame" messages follow it, and traits are written at rest."""

    _esm = script_of("circuit_view.js")
    scene = Dict().tag(sync=True)
    controls = Dict().tag(sync=True)
    values = Dict().tag(sync=True)
    program = Dict().tag(sync=True)  # with which a page evaluates by itself; empty where it cannot
    details: List[Any] = List().tag(sync=True)
    said = Unicode().tag(sync=True)

    _sliders: Sliders
    _drawn: Scene

    # --- what each view has of its own --------------------------------------------------------

    @abstractmethod
    def _move(self, sliders: Sliders) -> None:
        """Evaluate and draw for sliders that stand elsewhere, or raise before anything changes."""

    @abstractmethod
    def _values(self) -> dict[str, Any]:
        """Return the numbers beside the sliders."""

    def _details(self) -> Iterable[tuple[str, str]]:
        """Return the details shown for the selected item."""
        return ()

    @abstractmethod
    def _shown_sizes(self) -> str:
        """Return for which sizes numbers are shown, in words."""

    # --- what they share ------------------------------------------------------------------------

    @property
    def weights(self) -> tuple[float, ...]:
        """Where the sliders of the formulas stand."""
        return self._sliders.weights

    def set(self, weights: Weights | None = None, sizes: Mapping[str, int] | None = None) -> None:
        """Move sliders: ``weights`` by formulas' numbers or all in order, ``sizes`` by types.

        What cannot be evaluated within a moment is refused, and nothing moves.
        """
        with self._lock:
            moved = self._sliders.move_sliders(weights, sizes)
            self._move(moved)
            self._sliders, self.said = moved, ""
            self._settle()

    def _settle(self) -> None:
        """Write the shown state to the traits, for all pages and for the saved notebook."""
        with self.hold_sync():
            self.scene = self._drawn.to_json()
            self.controls = self._sliders.to_json() | self._switches()
            self.values = self._values()
            self.details = self._list_details()

    def _switches(self) -> dict[str, Any]:
        return {}

    def _list_details(self) -> list[list[str]]:
        return [[kind, fit(text)] for kind, text in self._details()]

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a slider or a click; an error becomes a sentence on the page."""
        match kind, content:
            case "set", {"turn": int(turn), "view": str(page)}:
                self._slide(content, turn, page)
            case "settle", _:
                with self._lock:
                    self._settle()
            case _:
                try:
                    self._handle_click(kind, content)
                except MlnlabError as problem:
                    self.said = sentence(problem)

    def _handle_click(self, kind: str, content: Message) -> None:
        """Answer a click."""

    def _slide(self, content: Message, turn: int, page: str) -> None:
        """Follow a slider: evaluate, and send the changes to all pages; a trait would be saved each time."""
        with self._lock:
            problem, before = "", self._drawn
            try:
                asked = self._sliders.move_sliders(_weights_in(content), _sizes_in(content))
                self._sliders = asked  # also where it cannot be evaluated: the slider stands there
                self._move(asked)
            except MlnlabError as error:
                problem = f"{sentence(error)} The numbers shown are still those for {self._shown_sizes()}."
            self._send_frame(before, turn, page, problem)

    def _send_frame(self, before: Scene, turn: int, page: str, problem: str) -> None:
        message: dict[str, Any] = {
            "type": "frame", "turn": turn, "view": page, "said": fit(problem),
            "values": self._values(), "details": self._list_details(), "at": self._sliders.places(),
        }  # fmt: skip
        patch = patch_between(before, self._drawn)
        buffers: list[bytes] = []
        if patch is None:
            message["scene"] = self._drawn.to_json()
        else:
            message["texts"] = [list(pair) for pair in patch.texts]
            buffers = patch.buffers()
        self.send(message, buffers)

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn


def sentence(problem: MlnlabError) -> str:
    """Return a refusal in one sentence."""
    return shorten_text(getattr(problem, "summary", "") or str(problem), _LONGEST)


def _weights_in(content: Message) -> dict[int, float]:
    """Return the weights of a message, as far as they are numbers of formulas and numbers."""
    return {place: weight for place, weight in _pairs(content.get("weights")) if isinstance(place, int)}


def _sizes_in(content: Message) -> dict[str, int]:
    return {type_: size for type_, size in _pairs(content.get("sizes")) if isinstance(type_, str)}


def _pairs(given: object) -> Iterable[tuple[Any, Any]]:
    if not isinstance(given, list):
        return ()
    return (tuple(pair) for pair in given[:_MOST_CHANGES] if isinstance(pair, list) and len(pair) == 2)

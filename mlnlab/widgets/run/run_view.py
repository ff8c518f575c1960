"""The view of a run: its picture, a bar that steers it, its numbers; the kernel stays free meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from traitlets import Dict

from mlnlab.display.card.cards import bounded_table, scene_image
from mlnlab.display.card.markup import Element, element, fit
from mlnlab.display.card.style import card, fold_away, quiet, title
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.runs.runs import RunPicture
from mlnlab.display.scene.items import Layer, Scene, Text
from mlnlab.display.scene.patches import patch_between
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.errors import ArgumentError
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view.view import Message, View, script_of
from mlnlab.widgets.view.view_arguments import conditions

if TYPE_CHECKING:
    from mlnlab.display.runs.runs import Table
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.runs.live import Live
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Step

BETWEEN_FRAMES = 0.05  # seconds: 20 frames a second
WITHOUT_ANSWER = 0.5  # where the page does not keep up, or cannot be heard while a cell runs
_MOST_UNANSWERED = 12  # a page answers each fifth frame
_TABLE_SECONDS = 0.5
_REST_BETWEEN = 3.0  # times as long as a drawing took: a run has most of the time also where drawing is slow
STEP_SECONDS = 60.0

_Json: TypeAlias = dict[str, Any]
# The step that is drawn, its picture, the status and the table that belong to it.
_Drawn: TypeAlias = "tuple[Step[Any] | None, Scene | None, _Json, _Json]"


class RunView(View):
    """A run that is stepped, played, paused, scrubbed and stopped, from its buttons or by its methods."""

    _esm = script_of("run_view.js")
    scene = Dict().tag(sync=True)
    status = Dict().tag(sync=True)
    table = Dict().tag(sync=True)

    def __init__(self, session: Session, picture: RunPicture | None = None) -> None:
        found = picture or picture_of(session.source)  # raises before there is anything to be closed
        super().__init__()
        self._session, self._picture = session, found
        self._part = next(iter(self._picture.parts))
        self._sent: Scene | None = None  # what the pages show
        self._sent_step: Step[Any] | None = None  # the step of which that is
        self._frame = self._answered = self._rests = 0
        self._last_frame = self._last_table = 0.0
        self._between, self._table_open = BETWEEN_FRAMES, False
        self._pages_table: _Json = {}  # what the pages show
        session.changed = self._draw_frames
        try:
            session.begin()
            self._draw(resting=True)
        except BaseException:  # also when someone loses patience with the first step
            self.close()
            raise

    # --- steering -----------------------------------------------------------------------------

    def play(self) -> None:
        """Go on from the newest step; return at once."""
        self._session.play()
        self._draw(resting=False)

    def pause(self) -> None:
        """Rest behind the step that is being made."""
        self._session.pause()

    def step(self, n: int = 1) -> None:
        """Move ``n`` steps forward: through the recorded steps, then by new ones."""
        if self._session.step(n):
            self.wait(STEP_SECONDS)
        self._draw(resting=True)

    def back(self, n: int = 1) -> None:
        """Look at the step ``n`` places earlier."""
        self._session.back(n)
        self._draw(resting=True)

    def seek(self, index: int) -> None:
        """Look at the step with this index."""
        self._session.seek(index)
        self._draw(resting=True)

    def stop(self) -> None:
        """End the run; the recorded steps stay."""
        self._session.stop()

    def wait(self, timeout: float | None = None) -> None:
        """Block until the run rests or ends; clicks are not answered meanwhile, unlike with ``run``."""
        if self._session.live is not None:
            self._session.live.wait(timeout)
            if self._session.phase != "running" and getattr(self.shown, "index", 0) != self.status["index"]:
                self._redraw()  # the run's own thread may be late, and a cell shows what was waited for

    async def run(self) -> Step[Any] | None:
        """Play, and wait for the run to rest or end while clicks are answered: ``await view.run()``."""
        self.play()
        return await self.live.run() if self.live is not None else self.shown

    def show(self, part: str) -> None:
        """Show another part of the picture."""
        if part not in self._picture.parts:
            names = ", ".join(self._picture.parts)
            raise ArgumentError(f"This run has no part {part!r}; it has {names}.")
        self._part = part
        self._redraw()

    def choose(self, name: str) -> None:
        """Select an item of the picture by its id; the picture decides how to show it."""
        picture = self._picture.choose(name)
        if picture is not None:
            self._picture = picture
            self._redraw()

    # --- looking ------------------------------------------------------------------------------

    @property
    def trace(self) -> Trace[Any]:
        """The recorded steps."""
        return self._session.trace

    @property
    def live(self) -> Live[Any] | None:
        """The run itself; ``None`` where a recorded one is looked at."""
        return self._session.live

    @property
    def shown(self) -> Step[Any] | None:
        """The step that is drawn."""
        return self._session.shown

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that :meth:`show` knows."""
        return tuple(self._picture.parts)

    @property
    def breaks(self) -> tuple[Predicate, ...]:
        """The conditions that pause the run; they may be replaced at any time."""
        return self._session.breaks

    @breaks.setter
    def breaks(self, breaks: Iterable[Predicate] | None) -> None:
        self._session.breaks = conditions(breaks)

    @property
    def speed(self) -> float:
        """Seconds from one step to the next, at least."""
        return self._session.delay

    @speed.setter
    def speed(self, seconds: float) -> None:
        self._session.set_delay(seconds)
        self._redraw()

    # --- what a page says ---------------------------------------------------------------------

    def notice_page(self) -> None:
        """Begin with the whole picture: a page that came late knows no frames."""
        with self._lock:  # else the run's thread may send what changed before the whole
            self._sent = None
            self._redraw()

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a message of a page."""
        match kind, content:
            case "drawn", {"frame": int(frame)}:
                self._answered = max(self._answered, min(frame, self._frame))
            case "step", _:
                if not self._session.step():
                    self._draw(resting=True)
            case (("play" | "pause" | "back" | "stop"), _):
                getattr(self, kind)()
            case "seek", {"position": int(position)}:
                self._session.look_at(position)
                self._draw(resting=True)
            case "speed", {"delay": (int() | float()) as delay} if 0 <= delay <= 60:
                self.speed = float(delay)
            case "part", {"part": str(part)} if part in self._picture.parts:
                self.show(part)
            case (("select" | "press"), {"id": str(name)}):
                self.choose(name)
            case "table", {"open": bool(is_open)}:
                self._table_open = is_open
                self._redraw()

    def stop_work(self) -> None:
        """End the run: no page shows it any more. Play, in another cell, goes on where it was."""
        self._session.close()

    # --- drawing ------------------------------------------------------------------------------

    def _draw_frames(self, resting: bool) -> None:
        """Draw, in the run's thread: each rest, and of the steps as many as a page can follow."""
        if not resting:
            behind = self._frame - self._answered > _MOST_UNANSWERED
            if time.perf_counter() - self._last_frame < (WITHOUT_ANSWER if behind else self._between):
                return
        self._draw(resting=resting)

    def _redraw(self) -> None:
        self._draw(resting=self._session.phase != "running")

    def _draw(self, *, resting: bool) -> None:
        with self._lock:
            if self._ended:
                return
            began = time.perf_counter()
            drawn = self._draw_step(self._session.shown, with_table=resting or self._table_open)
            (self._settle if resting else self._send_frame)(drawn)
            self._sent_step, self._sent = drawn[:2]
            self._last_frame = time.perf_counter()
            self._between = max(BETWEEN_FRAMES, _REST_BETWEEN * (self._last_frame - began))

    def _draw_step(self, step: Step[Any] | None, *, with_table: bool) -> _Drawn:
        """Return the drawing of a step; where drawing fails, the picture from before, and a sentence."""
        if step is None:
            return None, None, self._status(step), {}
        try:
            scene = self._picture.parts[self._part](step, self.trace)
            table = self._picture.table(step) if with_table else None
            caption, remarks = self._picture.caption(step), self._picture.remarks(step)
        except Exception as problem:  # noqa: BLE001 - whatever a drawing does, the run goes on
            sentence = f"Step {step.index} could not be drawn: {problem!r}"
            return self._sent_step, self._sent, self._status(step, remarks=[sentence]), {}
        return step, scene, self._status(step, caption, remarks), {} if table is None else table.to_json()

    def _settle(self, drawn: _Drawn) -> None:
        """Write down where the run rests, for the pages and for the saved notebook."""
        step, scene, status, table = drawn
        if step is not None and scene is not None:
            status["signature"] = signature(step, status["caption"], scene).to_json()
        self._rests += 1  # a page draws the scene anew, even the one it had before the frames
        with self.hold_sync():
            if scene is not None:
                self.scene = scene.to_json()
            self.table = self._pages_table = table
            self.status = status  # last: whoever watches it here finds the others there

    def _send_frame(self, drawn: _Drawn) -> None:
        """Send the changes in as few bytes as possible, and nothing that would be saved."""
        _, scene, status, table = drawn
        self._frame += 1
        message: _Json = {"type": "frame", "frame": self._frame, "status": status}
        buffers: list[bytes] = []
        patch = patch_between(self._sent, scene) if self._sent is not None and scene is not None else None
        if patch is not None:
            message["texts"] = [list(pair) for pair in patch.texts]
            buffers = patch.buffers()
        elif scene is not None:
            message["scene"] = scene.to_json()
        if self._table_open and self._last_frame - self._last_table >= _TABLE_SECONDS:
            self._last_table = self._last_frame
            message["table"] = self._pages_table = table
        self.send(message, buffers)

    def _status(self, step: Step[Any] | None, caption: str = "", remarks: Iterable[str] = ()) -> _Json:
        session = self._session
        return {
            "title": self._picture.title, "rests": self._rests, "phase": session.phase,
            "replays": session.replays, "resumes": session.resumes,
            "position": session.position, "length": len(self.trace),
            "index": 0 if step is None else step.index,
            "last": self.trace.indices[-1] if len(self.trace) else 0,
            "caption": fit(caption), "reason": "" if session.failed else fit(session.reason),
            "remarks": [fit(remark) for remark in (*session.complaints, *remarks)],
            "parts": list(self._picture.parts), "part": self._part, "delay": session.delay,
        }  # fmt: skip

    # --- the saved notebook -------------------------------------------------------------------

    def static_scene(self) -> Scene | None:
        """Return the drawing of the step that was drawn last, with a line that names it."""
        with self._lock:
            step, scene = self._sent_step, self._sent
            if step is None or scene is None:
                return None
            return add_line(scene, signature(step, self._picture.caption(step), scene))

    def static_markup(self) -> Element | None:
        """Return the picture and the table of the step that was drawn last."""
        with self._lock:
            step, scene = self._sent_step, self.static_scene()
            return None if step is None or scene is None else still_markup(self._picture, step, scene)

    def __repr__(self) -> str:
        step = self._session.shown
        where = "" if step is None else f" at step {step.index:,}"
        return f"<{self._picture.title}: {self._session.phase}{where}>"


# --- keep a run in a saved notebook -------------------------------------------------------------

# There are its picture of one step, signed with the step's name, and its numbers.

# The picture may be that of a later step than the text around it: a page lets the notebook save what is seen
# last, while the HTML is that of the moment when the cell ran. So each part says of which step it is.

_MOST_ROWS = 200
_LINE, _BASE, _MARGIN = 22.0, 14.0, 8.0
_LOOK = "quiet small"


def signature(step: Step[Any], caption: str, scene: Scene) -> Scene:
    """Return the line under a picture that says which step it shows, with the height of both."""
    place = f"step {step.index:,}"
    words = caption if caption.startswith(place) else " · ".join(filter(None, (place, caption)))
    line = Text(
        x=_MARGIN,
        y=scene.height + _BASE,
        text=fit_text(words, scene.width - 2 * _MARGIN, _LOOK),
        look=_LOOK,
    )
    return Scene(scene.width, scene.height + _LINE, (Layer("signature", (line,), zooms=False),), "")


def add_line(scene: Scene, line: Scene) -> Scene:
    """Return a picture with the line under it; run_view.js does the same."""
    return replace(scene, height=line.height, layers=(*scene.layers, *line.layers))


def still_markup(picture: RunPicture, step: Step[Any], scene: Scene) -> Element:
    """Return a signed picture with the table and the remarks of its step."""
    table = picture.table(step)
    named = f"step {step.index:,}"
    return card(
        title(picture.title),
        scene_image(scene, "The picture of one step; the table below says the same."),
        None if table is None else fold_away(f"{named} as a table", _rows(table)),
        *(quiet(f"At {named}: {remark}") for remark in picture.remarks(step)),
    )


def _rows(table: Table) -> Element:
    headings = tuple(column.name for column in table.columns)
    numbers = tuple(place for place, column in enumerate(table.columns) if column.number)
    rows = (tuple(_cell(value) for value in row) for row in table.rows[: _MOST_ROWS + 1])
    return element("div", bounded_table(headings, rows, len(table.rows), "rows", numbers=numbers))


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"

"""What a run is told to tell its session: each step, each rest, and that recording has failed.

None of these holds the session, so that a run which nobody looks at can end.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mlnlab.steps.step import State, Step
    from mlnlab.steps.trace import Trace


class Watcher(Protocol):
    """What a session offers here."""

    changed: Callable[[bool], None]

    def note_unrecorded(self, sentence: str) -> None:
        """Remember why steps are not recorded any more."""
        ...


class Recorder:
    """Records steps; where that fails, the session hears of it before the run drops this observer."""

    def __init__(self, trace: Trace[Any], session: Watcher) -> None:
        self._trace, self._session = trace, weakref.ref(session)

    def on_step(self, step: Step[State]) -> None:
        """Record a step."""
        try:
            self._trace.on_step(step)
        except Exception as problem:
            session = self._session()
            if session is not None:
                session.note_unrecorded(f"From step {step.index:,} on nothing is recorded: {problem!r}")
            raise

    def on_end(self, last: Step[State]) -> None:
        """End the recording."""
        self._trace.on_end(last)


class Pulse:
    """Tells a session of steps and of rests."""

    def __init__(self, session: Watcher) -> None:
        self._session = weakref.ref(session)

    def on_step(self, _step: Step[State]) -> None:
        """Tell of a step."""
        session = self._session()
        if session is not None:
            session.changed(False)

    def on_end(self, _last: Step[State]) -> None:
        """Do nothing: the rest that follows is told by the run."""

    def at_rest(self) -> None:
        """Tell that the run rests, or has ended."""
        session = self._session()
        if session is not None:
            session.changed(True)

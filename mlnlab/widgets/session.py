"""A run under observation: an algorithm, the trace of its steps, and the step that one looks at.

    session = Session(sampler)
    session.step(); session.play(); session.pause(); session.back(); session.seek(0)

The step that is shown is the newest one, and then moves on with the run, or an earlier one of the trace.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from mlnlab.errors import ArgumentError
from mlnlab.steps.live import Live
from mlnlab.steps.step import Observer, State, Step
from mlnlab.steps.stopping import Predicate
from mlnlab.steps.trace import Trace

FIRST_STEP_SECONDS = 10.0


@runtime_checkable
class Resumable(Protocol):
    """An algorithm that can go on from one of its states."""

    def resume(self, state: Any) -> Iterator[State]:  # noqa: ANN401 - its own type of state
        """Yield the states that follow."""
        ...


class Session:
    """Steers a run, or moves through a recorded one.

    ``source``: a trace, an algorithm's states as an iterable, or a function that makes them. ``changed`` is
    called behind each step, in the run's thread, with whether the run rests there.
    """

    def __init__(
        self,
        source: object,
        *,
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] = (),
        observers: Iterable[Observer] = (),
        delay: float = 0.0,
    ) -> None:
        self.source = source
        self.replays = isinstance(source, Trace)
        self.trace: Trace[Any] = source if isinstance(source, Trace) else Trace()
        self.changed: Callable[[bool], None] = _nothing
        self.live: Live[Any] | None = None
        self.delay = delay
        self._stop, self._breaks = stop, tuple(breaks)
        self._observers = tuple(observers)
        self._looking_at: int | None = None  # the index of an earlier step
        if self.replays:
            if not len(self.trace):
                raise ArgumentError("This trace holds no step yet, so there is nothing to look at.")
            self._looking_at = self.trace[0].index
        else:
            self._begin(_factory(source), 0)

    def _begin(self, states: Callable[[], Iterable[Any]], first: int, seconds: float = 0.0) -> None:
        watch = _Pulse(self)
        observers: Sequence[Any] = (self.trace, watch, *self._observers)
        self.live = Live(states, observers, self._stop, breaks=self._breaks, first=first, seconds=seconds)
        self.live.delay = 0.0 if self.replays else self.delay
        self.live.when_at_rest(watch.at_rest)

    def begin(self) -> None:
        """Make the first step, and raise what goes wrong there."""
        if self.live is not None:
            self.live.step()
            self.live.wait(FIRST_STEP_SECONDS)

    # --- where it is --------------------------------------------------------------------------

    @property
    def shown(self) -> Step[Any] | None:
        """The step that is looked at."""
        if self._looking_at is None:
            return self.live.last if self.live is not None and self.live.last is not None else self._newest()
        return self.trace.seek(self._looking_at)

    def _newest(self) -> Step[Any] | None:
        return self.trace[-1] if len(self.trace) else None

    @property
    def position(self) -> int:
        """The place of the step that is looked at among those of the trace."""
        if self._looking_at is None:
            return max(0, len(self.trace) - 1)
        return self.trace.indices.index(self.trace.seek(self._looking_at).index)

    @property
    def phase(self) -> str:
        """One of ``new``, ``running``, ``paused`` and ``ended``."""
        live = self.live
        if live is None or live.paused:
            return "paused"
        return "running" if live.running else "ended" if live.ended else "new"

    @property
    def reason(self) -> str:
        """Why the run rests or has ended."""
        return "" if self.live is None else self.live.reason

    @property
    def resumes(self) -> bool:
        """Whether a run that was stopped can go on."""
        return isinstance(self.source, Resumable) and not self._is_complete

    @property
    def _is_complete(self) -> bool:
        """Whether the algorithm itself came to its end, or failed."""
        live = self.live
        return (
            live is not None and live.ended and (live.error is not None or "came to its end" in live.reason)
        )

    # --- steering -----------------------------------------------------------------------------

    def play(self) -> None:
        """Go on from the newest step; a run that was stopped begins again there, where it can."""
        if self.live is None:
            return
        self._looking_at = None
        if self.live.ended and self.resumes:
            self._resume()
        self.live.start()

    def _resume(self) -> None:
        last = self._newest()
        source = self.source
        if last is None or not isinstance(source, Resumable):
            return
        state = last.state
        self._begin(lambda: source.resume(state), last.index + 1, last.seconds)

    def pause(self) -> None:
        """Rest behind the step that is being made."""
        if self.live is not None:
            self.live.pause()

    def step(self, n: int = 1) -> bool:
        """Move so many steps forward: through the trace, and beyond its end by new ones.

        Return whether new ones were asked for; they are made in the run's thread.
        """
        if n < 1:
            raise ArgumentError(f"step takes 1 or more, not {n}; back() goes the other way.")
        left = n - self._move(n)
        if not left or self.live is None:
            return False
        if self.live.ended and self.resumes:
            self._resume()
        self.live.step(left)
        return True

    def back(self, n: int = 1) -> None:
        """Look at the step so many places earlier; a running one pauses."""
        if n < 1:
            raise ArgumentError(f"back takes 1 or more, not {n}; step() goes the other way.")
        self.pause()
        self._move(-n)

    def look_at(self, position: int) -> None:
        """Look at a step by its place in the trace; a running one pauses."""
        self.pause()
        self._move(max(0, min(position, len(self.trace) - 1)) - self.position)

    def seek(self, index: int) -> None:
        """Look at the step with this index, or at the last one kept before it; a running one pauses."""
        self.pause()
        found = self.trace.seek(index)
        self._look(self.trace.indices.index(found.index))

    def _move(self, places: int) -> int:
        """Move within the trace, and return by how many places."""
        before = self.position
        after = max(0, min(before + places, len(self.trace) - 1))
        if after != before:
            self._look(after)
        return after - before

    def _look(self, position: int) -> None:
        indices = self.trace.indices
        newest = position == len(indices) - 1
        self._looking_at = None if newest and not self.replays else indices[position]

    def stop(self) -> None:
        """End the run."""
        if self.live is not None:
            self.live.stop()

    def close(self, seconds: float = 1.0) -> None:
        """End the run, and wait a moment for its thread to be gone."""
        if self.live is not None:
            self.live.stop()
            self.live.join(seconds)

    def set_delay(self, seconds: float) -> None:
        """Take so many seconds at least from step to step."""
        self.delay = seconds
        if self.live is not None:
            self.live.delay = seconds

    @property
    def breaks(self) -> tuple[Predicate, ...]:
        """The conditions that pause the run."""
        return self._breaks

    @breaks.setter
    def breaks(self, breaks: Iterable[Predicate]) -> None:
        self._breaks = tuple(breaks)
        if self.live is not None:
            self.live.breaks = self._breaks


class _Pulse:
    """Tells a session of steps without holding it, so that a run which nobody looks at can end."""

    def __init__(self, session: Session) -> None:
        self._session = weakref.ref(session)

    def on_step(self, _step: Step[State]) -> None:
        session = self._session()
        if session is not None:
            session.changed(False)

    def on_end(self, _last: Step[State]) -> None:
        """Do nothing: the rest that follows is told by the run."""

    def at_rest(self) -> None:
        session = self._session()
        if session is not None:
            session.changed(True)


def _nothing(_resting: bool) -> None:
    """Tell nobody."""


def _factory(source: object) -> Callable[[], Iterable[Any]]:
    """Return a function that makes the states."""
    if isinstance(source, Live):
        raise ArgumentError(
            "A live run has its observers already; hand over the algorithm itself, or look at its trace."
        )
    if isinstance(source, Iterable):
        return lambda: source
    if callable(source):
        return source
    name = type(source).__name__
    raise ArgumentError(
        f"A {name} does not go step by step: give a sampler, a trace, or an iterable of states."
    )

"""A run under observation: an algorithm, the trace of its steps, and the step that one looks at.

    session = Session(sampler)
    session.step(); session.play(); session.pause(); session.back(); session.seek(0)

The step that is shown is the newest one, and then moves on with the run, or an earlier one of the trace.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.live import Live
from mlnlab.steps.runs.stopping import Predicate
from mlnlab.steps.step import Observer, State, Step
from mlnlab.widgets.view.view_arguments import condition, conditions, observers_of, read_number, read_steps

if TYPE_CHECKING:
    from mlnlab.steps.step import State, Step

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
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
    ) -> None:
        self.source = source
        self.replays = isinstance(source, Trace)
        self.trace: Trace[Any] = source if isinstance(source, Trace) else Trace()
        self.changed: Callable[[bool], None] = _nothing
        self.live: Live[Any] | None = None
        self.delay = _check_delay(delay)
        self.remark = ""  # why the last thing that was asked for could not be done
        self._unrecorded = ""  # why steps are not recorded any more
        self._stop, self._breaks = condition(stop), conditions(breaks)
        self._observers = observers_of(observers)
        self._looking_at: int | None = None  # the index of an earlier step
        if self.replays:
            if not len(self.trace):
                raise ArgumentError("This trace holds no step yet, so there is nothing to look at.")
            self._looking_at = self.trace[0].index
        else:
            states = _factory(source)
            self._begin(lambda: _with_metrics(states()), 0)

    def _begin(self, states: Callable[[], Iterable[Any]], first: int, seconds: float = 0.0) -> None:
        watch = Pulse(self)
        observers: Sequence[Any] = (Recorder(self.trace, self), watch, *self._observers)
        self.live = Live(states, observers, self._stop, breaks=self._breaks, first=first, seconds=seconds)
        self.live.delay = 0.0 if self.replays else self.delay
        self.live.when_at_rest(watch.at_rest)

    def begin(self) -> None:
        """Make the first step, and raise its error if it fails."""
        if self.live is not None:
            self.live.step()
            self.live.wait(FIRST_STEP_SECONDS)

    # --- where it is --------------------------------------------------------------------------

    @property
    def shown(self) -> Step[Any] | None:
        """The step that is looked at."""
        earlier = self._looking_at  # asked for once: another thread may go on meanwhile
        if earlier is not None:
            return self.trace.seek(earlier)
        return self.live.last if self.live is not None and self.live.last is not None else self._newest()

    def _newest(self) -> Step[Any] | None:
        return self.trace[-1] if len(self.trace) else None

    @property
    def position(self) -> int:
        """The place of the step that is looked at among those of the trace."""
        return self._place_in(self.trace.indices)

    def _place_in(self, indices: Sequence[int]) -> int:
        """Return the place of the step that is looked at; the run may drop steps meanwhile."""
        earlier = self._looking_at
        place = len(indices) if earlier is None else bisect_right(indices, earlier)
        return max(0, place - 1)

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
    def complaints(self) -> tuple[str, ...]:
        """The complaints: the algorithm failed, steps are no longer recorded, the last request failed."""
        failure = self.reason if self.failed else ""
        return tuple(filter(None, (failure, self._unrecorded, self.remark)))

    def note_unrecorded(self, sentence: str) -> None:
        """Remember why steps are not recorded any more."""
        self._unrecorded = sentence

    @property
    def failed(self) -> bool:
        """Whether the algorithm raised an error."""
        return self.live is not None and self.live.ended and self.live.error is not None

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
        """Move ``n`` steps forward: through the trace, and beyond its end by new steps.

        Return whether new ones were asked for; they are made in the run's thread.
        """
        n = read_steps(n, "step", "back")
        left = n - self._move(n)
        if not left or self.live is None or (self.live.ended and not self.resumes):
            return False
        if self.live.ended and self.resumes:
            self._resume()
        self.live.step(left)
        return True

    def back(self, n: int = 1) -> None:
        """Look at the step ``n`` places earlier; a running session pauses."""
        n = read_steps(n, "back", "step")
        self.pause()
        self._move(-n)

    def look_at(self, position: int) -> None:
        """Look at a step by its place in the trace; a running one pauses."""
        self.pause()
        indices = self.trace.indices
        self._look(indices, max(0, min(position, len(indices) - 1)))

    def seek(self, index: int) -> None:
        """Look at the step with this index, or at the last one kept before it; a running one pauses."""
        index = read_number(index, "A step")
        self.pause()
        found = self.trace.seek(index)
        indices = self.trace.indices
        self._look(indices, bisect_right(indices, found.index) - 1)

    def _move(self, places: int) -> int:
        """Move within the trace, and return by how many places."""
        indices = self.trace.indices
        before = self._place_in(indices)
        after = max(0, min(before + places, len(indices) - 1))
        if after != before:
            self._look(indices, after)
        return after - before

    def _look(self, indices: Sequence[int], position: int) -> None:
        newest = position >= len(indices) - 1
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
        """Take at least this many seconds from step to step."""
        self.delay = _check_delay(seconds)
        if self.live is not None:
            self.live.delay = seconds

    @property
    def breaks(self) -> tuple[Predicate, ...]:
        """The conditions that pause the run."""
        return self._breaks

    @breaks.setter
    def breaks(self, breaks: Iterable[Predicate] | None) -> None:
        self._breaks = conditions(breaks)
        if self.live is not None:
            self.live.breaks = self._breaks


def _nothing(_resting: bool) -> None:
    """Tell nobody."""


def _with_metrics(states: Iterable[Any]) -> Iterator[Any]:
    """Yield states, after a look at the first one."""
    remaining = iter(states)
    for first in remaining:
        if not callable(getattr(first, "metrics", None)):
            raise ArgumentError(
                "A step-by-step algorithm yields states with a method metrics() that returns their numbers"
                f" by name; here the first state, of type {type(first).__name__}, has none."
            )
        yield first
        yield from remaining


def _check_delay(delay: object) -> float:
    if not isinstance(delay, Real) or not 0 <= float(delay) < inf:
        raise ArgumentError(f"A delay must be a number of seconds, not {delay!r}.")
    return float(delay)


def _factory(source: object) -> Callable[[], Iterable[Any]]:
    """Return a function that makes the states."""
    if isinstance(source, Live):
        raise ArgumentError(
            "A live run has its observers already; give the algorithm itself, or look at its trace."
        )
    if isinstance(source, Iterable):
        return lambda: source
    if callable(source):
        return source
    name = type(source).__name__
    raise ArgumentError(
        f"Something of type {name} cannot be run step by step: "
        "give a sampler, a trace, or an iterable of states."
    )


# --- notify a session of each step and rest of its run, and of a failure to record --------------

# None of these holds the session, so that a run which nobody looks at can end.


class Watcher(Protocol):
    """The part of a session that its observers need."""

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

"""The thread behind a live run: it asks an algorithm for steps, as far as it is allowed to.

The thread holds a :class:`Driver` and no :class:`~mlnlab.steps.live.Live`, so that a live run which nobody
holds any more can be noticed and ended.
"""

from __future__ import annotations

import threading
import time
from enum import Enum
from typing import TYPE_CHECKING, Generic

from mlnlab.steps.breakpoints import pause_reason
from mlnlab.steps.step import Observer, S, Step, no_states, numbered, watched
from mlnlab.steps.stopping import Predicate, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

UNLIMITED = float("inf")


class Phase(Enum):
    """What a run is doing."""

    NEW = "not started"
    RUNNING = "running"
    RESTING = "paused"
    ENDED = "ended"


class Driver(Generic[S]):
    """What the thread and those who steer it share; all of it is guarded by ``condition``."""

    def __init__(
        self,
        states: Callable[[], Iterable[S]],
        observers: Iterable[Observer],
        stop: Predicate | None,
        breaks: tuple[Predicate, ...],
        first: int,
        seconds: float,
    ) -> None:
        self.condition = threading.Condition()  # its lock may be taken twice: a finalizer can run anywhere
        self.phase = Phase.NEW
        self.last: Step[S] | None = None
        self.error: BaseException | None = None
        self.reason = ""
        self.delay = 0.0
        self.breaks = breaks
        self.thread: threading.Thread | None = None
        self.at_rest: list[Callable[[], None]] = []  # called once, when the run next rests or ends
        self.at_every_rest: list[Callable[[], None]] = []
        self._states, self._observers, self._stop = states, tuple(observers), stop
        self._first, self._seconds = first, seconds
        self._allowed = 0.0  # steps that may still be taken
        self._stopping = threading.Event()
        self._why = ""  # why it is about to rest or end
        self._rested = 0.0  # seconds spent at rest, which are not the algorithm's
        self._began = float("-inf")  # when the last step was begun; before the first, nothing waits

    # --- from outside -------------------------------------------------------------------------

    def allow(self, steps: float) -> None:
        """Let so many more steps be taken; begin the thread if there is none yet."""
        with self.condition:
            if self.phase is Phase.ENDED or self._stopping.is_set():
                return
            single = 0 < self._allowed < UNLIMITED
            self._allowed = self._allowed + steps if single else steps
            self._why = f"Paused after {steps:g} steps." if steps != 1 else "Paused after one step."
            self.reason = ""
            if self.phase is Phase.NEW:
                self.thread = threading.Thread(target=self._work, name="mlnlab-live", daemon=True)
                self.thread.start()
            self.phase = Phase.RUNNING
            self.condition.notify_all()

    def rest(self, why: str) -> None:
        """Take no step beyond the one that is being made."""
        with self.condition:
            if self.phase is Phase.RUNNING and not self._stopping.is_set():
                self._allowed, self._why = 0.0, why
                self.condition.notify_all()

    def stop(self, why: str) -> None:
        """End the run behind the step that is being made."""
        with self.condition:
            if self.phase is Phase.ENDED or self._stopping.is_set():
                return
            self._why = why
            self._stopping.set()
            if self.phase is Phase.NEW:
                self._settle(Phase.ENDED)
            else:
                # A run at rest has its end to make yet, and whoever waits now waits for that.
                self.phase = Phase.RUNNING
            self.condition.notify_all()

    def join(self, timeout: float | None) -> bool:
        """Wait for the thread to be gone; say whether it is."""
        with self.condition:  # which is held until a thread that is there has started
            thread = self.thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def settled(self) -> bool:
        """Say whether the run rests or has ended."""
        return self.phase is not Phase.RUNNING

    # --- in the thread ------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            stream = watched(self._numbered(), self._observers)
            try:
                while self._may_go_on():
                    step = next(stream, None)
                    if step is None:
                        self._why = "The algorithm came to its end."
                        break
                    self._take(step)
            finally:
                stream.close()
            if self.last is None and not self._stopping.is_set():
                raise no_states()  # noqa: TRY301 - kept like any error of the algorithm
        except BaseException as problem:  # noqa: BLE001 - whoever waits for the run gets it
            self.error = problem
            self._why = f"The run failed: {problem!r}"
        with self.condition:
            self._settle(Phase.ENDED)
            # What nobody needs any more may be big.
            self._states, self._observers, self._stop, self.breaks = list, (), None, ()
        self._tell()

    def _numbered(self) -> Iterable[Step[S]]:
        return numbered(self._states(), self._first, self._seconds, self._clock)

    def _clock(self) -> float:
        return time.perf_counter() - self._rested

    def _may_go_on(self) -> bool:
        """Wait until another step may be taken; say no when the run is to end."""
        while True:
            with self.condition:
                if self._stopping.is_set():
                    return False
                if self._allowed > 0:
                    left = self._began + self.delay - time.perf_counter()
                    # Who asks for single steps sets the pace.
                    if self._allowed < UNLIMITED or self.delay <= 0 or left <= 0:
                        self._allowed -= 1
                        self._began = time.perf_counter()
                        return True
                    self.condition.wait(left)
                    continue
                self._settle(Phase.RESTING)
            self._tell()
            self._wait_for_permission()

    def _wait_for_permission(self) -> None:
        began = time.perf_counter()
        with self.condition:
            # Not for the steps themselves: these may be taken back before this thread wakes up.
            self.condition.wait_for(lambda: self.phase is Phase.RUNNING or self._stopping.is_set())
        self._rested += time.perf_counter() - began

    def _take(self, step: Step[S]) -> None:
        """Note a step that was made, and whether the run shall stop or pause there."""
        self.last = step
        if self._stop is not None and self._stop(step):
            self.stop(reason_of(self._stop))
        # All are asked, because each remembers the step before.
        reached = [pause_reason(condition, step) for condition in self.breaks]
        if any(reached):
            self.rest(" ".join(filter(None, reached)))

    def _settle(self, phase: Phase) -> None:
        self.phase, self.reason = phase, self._why
        self.condition.notify_all()

    def _tell(self) -> None:
        """Call those who asked for it, outside the lock."""
        with self.condition:
            waiting, self.at_rest = [*self.at_rest, *self.at_every_rest], []
        for call in waiting:
            call()

"""A run in a thread of its own, to be steered from a notebook.

    live = Live(lambda: steps(...), observers=[trace], stop=AfterSteps(10_000), breaks=[not_finite()])
    live.start()                # returns at once; `await live.run()` waits without blocking the kernel
    live.pause(); live.step(5); live.resume(); live.stop()

Nothing but ``wait`` and ``close`` ever blocks. Stopping and pausing take effect behind the step that is being
made. A live run that nobody holds any more, or that is left when Python ends, ends by itself.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from threading import current_thread
from types import TracebackType
from typing import Any, Generic, Self

from mlnlab.errors import ArgumentError
from mlnlab.steps.runs.breakpoints import pause_reason
from mlnlab.steps.runs.stopping import Predicate, reason_of
from mlnlab.steps.step import Observer, S, Step, no_states, notify_observers, number_states

_LEAVING_SECONDS = 2.0  # for observers to write what they have when Python ends

_LIVES: weakref.WeakSet[Live[Any]] = weakref.WeakSet()


class LiveWarning(UserWarning):
    """A thread did not end when it was asked to."""


class Live(Generic[S]):
    """A run that can be started, paused, stepped, resumed and stopped while one looks at it.

    ``states``: the algorithm, as an iterator or as a function that makes one (called in the thread).
    ``stop``: a rule that ends the run; ``breaks``: conditions that pause it; ``reason`` says which and why.
    ``first``, ``seconds``: where a resumed run goes on counting.

    Observers are told in the thread. One that holds the live run itself keeps it from ending unheld.
    """

    def __init__(
        self,
        states: Iterable[S] | Callable[[], Iterable[S]],
        observers: Iterable[Observer] = (),
        stop: Predicate | None = None,
        *,
        breaks: Iterable[Predicate] = (),
        first: int = 0,
        seconds: float = 0.0,
    ) -> None:
        given = states
        factory = given if callable(given) else lambda: given
        self._driver: Driver[S] = Driver(factory, observers, stop, tuple(breaks), first, seconds)
        # The thread must not outlive the last one who could steer it.
        ending = weakref.finalize(self, self._driver.stop, "Nothing held the run any more.")
        ending.atexit = False
        _LIVES.add(self)

    # --- steering -----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin, or go on after a pause; nothing happens to a run that has ended."""
        self._driver.allow(UNLIMITED)

    def resume(self) -> None:
        """Go on after a pause."""
        self._driver.allow(UNLIMITED)

    def pause(self) -> None:
        """Rest behind the step that is being made."""
        self._driver.rest("Paused on request.")

    def step(self, n: int = 1) -> None:
        """Take ``n`` steps and rest; a further call meanwhile adds its steps."""
        if n < 1:
            raise ArgumentError(f"A run can take 1 step or more, not {n}; going back is what a Trace is for.")
        self._driver.allow(n)

    def stop(self) -> None:
        """End the run behind the step that is being made; its last step and its observers' records stay."""
        self._driver.stop("Stopped on request.")

    def close(self, timeout: float = 10.0) -> None:
        """Stop and wait until the thread is gone; a single step that takes longer gets a warning."""
        self.stop()
        if not self.join(timeout):
            sentence = (
                f"The algorithm is still busy with one step after {timeout:g} seconds; it ends after it."
            )
            warnings.warn(sentence, LiveWarning, stacklevel=2)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the thread is gone, and say whether it is."""
        return self._driver.join(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # --- waiting ------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> Step[S] | None:
        """Block until the run pauses or ends, and return its last step; raise the algorithm's error.

        An interruption from the keyboard leaves the run paused, and usable.
        """
        driver = self._driver
        if driver.thread is current_thread():
            raise ArgumentError("An observer cannot wait for the run that it observes.")
        if driver.phase is Phase.NEW:
            raise ArgumentError("This run has not begun: call start() first.")
        try:
            with driver.condition:
                driver.condition.wait_for(driver.is_settled, timeout)
        except KeyboardInterrupt:
            self.pause()
            raise
        return self._result()

    async def run(self) -> Step[S] | None:
        """Start or go on, and wait until the run pauses or ends while the event loop stays free.

        Where the waiting is cancelled, the run is left paused.
        """
        loop = asyncio.get_running_loop()
        rested = asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop may be closed by then
                loop.call_soon_threadsafe(rested.set)

        with self._driver.condition:
            self.start()
            if self._driver.phase is not Phase.ENDED:
                self._driver.at_rest.append(tell)
            else:
                rested.set()
        try:
            await rested.wait()
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.pause()
            raise
        return self._result()

    def when_at_rest(self, call: Callable[[], None]) -> None:
        """Have a function called, in the run's thread, each time that the run rests, and when it ends.

        The thread holds the function: one that holds this live run keeps it from ending unheld.
        """
        with self._driver.condition:
            self._driver.at_every_rest.append(call)

    def _result(self) -> Step[S] | None:
        if self._driver.error is not None:
            raise self._driver.error
        return self._driver.last

    # --- looking ------------------------------------------------------------------------------

    @property
    def last(self) -> Step[S] | None:
        """The last step that was made."""
        return self._driver.last

    @property
    def state(self) -> S | None:
        """The state of the last step."""
        last = self._driver.last
        return None if last is None else last.state

    @property
    def running(self) -> bool:
        """Whether steps are being made."""
        return self._driver.phase is Phase.RUNNING

    @property
    def paused(self) -> bool:
        """Whether the run rests and can go on."""
        return self._driver.phase is Phase.RESTING

    @property
    def ended(self) -> bool:
        """Whether no further step will be made."""
        return self._driver.phase is Phase.ENDED

    @property
    def error(self) -> BaseException | None:
        """The algorithm's error, if it raised one."""
        return self._driver.error

    @property
    def reason(self) -> str:
        """Why the run rests or has ended, as a sentence; empty while it runs."""
        return self._driver.reason

    @property
    def delay(self) -> float:
        """Seconds from the beginning of a step to that of the next, to watch a fast algorithm slowly."""
        return self._driver.delay

    @delay.setter
    def delay(self, seconds: float) -> None:
        if not 0 <= seconds < UNLIMITED:
            raise ArgumentError(f"A delay must be a number of seconds, not {seconds}.")
        with self._driver.condition:
            self._driver.delay = seconds
            self._driver.condition.notify_all()

    @property
    def breaks(self) -> tuple[Predicate, ...]:
        """The conditions that pause the run; they may be replaced at any time."""
        return self._driver.breaks

    @breaks.setter
    def breaks(self, breaks: Iterable[Predicate]) -> None:
        self._driver.breaks = tuple(breaks)

    def __repr__(self) -> str:
        last, phase = self._driver.last, self._driver.phase.value
        where = "" if last is None else f" at step {last.index:,}"
        return f"<Live run, {phase}{where}{'. ' + self.reason if self.reason else ''}>"


def stop_all(timeout: float = 0.0) -> int:
    """Stop every run that has begun and not ended, and return how many there were.

    With a timeout, wait so many seconds at most for all of them to be gone.
    """
    busy = [live for live in tuple(_LIVES) if live.running or live.paused]
    for live in busy:
        live.stop()
    until = time.monotonic() + timeout
    for live in busy if timeout > 0 else ():
        live.join(max(0.0, until - time.monotonic()))
    return len(busy)


# When Python ends, observers still get to write what they have.
atexit.register(stop_all, _LEAVING_SECONDS)


# --- the thread behind a live run ---------------------------------------------------------------

# The thread holds a :class:`Driver` and no :class:`~mlnlab.steps.runs.live.Live`, so that a live run which
# nobody holds any more can be noticed and ended.

UNLIMITED = float("inf")


class Phase(Enum):
    """The phase of a run."""

    NEW = "not started"
    RUNNING = "running"
    RESTING = "paused"
    ENDED = "ended"


class Driver(Generic[S]):
    """The state that the thread shares with its controllers, guarded by ``condition``."""

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
        """Allow a number of further steps; begin the thread if there is none yet."""
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

    def is_settled(self) -> bool:
        """Say whether the run rests or has ended."""
        return self.phase is not Phase.RUNNING

    # --- in the thread ------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            stream = notify_observers(self._number_steps(), self._observers)
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

    def _number_steps(self) -> Iterable[Step[S]]:
        return number_states(self._states(), self._first, self._seconds, self._clock)

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

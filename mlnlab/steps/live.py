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
import time
import warnings
import weakref
from contextlib import suppress
from threading import current_thread
from typing import TYPE_CHECKING, Generic

from mlnlab.errors import ArgumentError
from mlnlab.steps.driving import UNLIMITED, Driver, Phase
from mlnlab.steps.step import Observer, S, Step
from mlnlab.steps.stopping import Predicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any, Self

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
        ending = weakref.finalize(self, self._driver.stop, "Nobody held the run any more.")
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
        """Take so many steps and rest; asked for again meanwhile, take so many more."""
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
                f"The algorithm is still busy with one step after {timeout:g} seconds; it ends behind it."
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
        """Block until the run pauses or ends, and return its last step; raise what the algorithm raised.

        An interruption from the keyboard leaves the run paused, and usable.
        """
        driver = self._driver
        if driver.thread is current_thread():
            raise ArgumentError("An observer cannot wait for the run that it observes.")
        if driver.phase is Phase.NEW:
            raise ArgumentError("This run has not begun: call start() first.")
        try:
            with driver.condition:
                driver.condition.wait_for(driver.settled, timeout)
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
        """What the algorithm raised, if it did."""
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
            raise ArgumentError(f"A delay is a number of seconds, not {seconds}.")
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

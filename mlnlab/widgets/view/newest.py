"""Work on the newest question in a thread, and end the work on older ones; there is one thread at most."""

from __future__ import annotations

import time
import weakref
from threading import RLock
from typing import TYPE_CHECKING, Any

from mlnlab.errors import MlnlabError
from mlnlab.steps.runs.live import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mlnlab.steps.step import State, Step

    States = Callable[[], Iterator[State]]

_BETWEEN_TELLINGS = 0.1
_JOINING_SECONDS = 2.0


class Newest:
    """Answer the newest question: ``told(state, number, last)`` hears of it, at most ten times a second.

    ``failed(sentence, number)`` hears why there is no answer. Both are called in a thread.
    """

    def __init__(self, told: Callable[[Any, int, bool], None], failed: Callable[[str, int], None]) -> None:
        self._told, self._failed = told, failed
        self._lock = RLock()
        self._live: Live[Any] | None = None
        self._waiting: tuple[States, int] | None = None
        self._number = 0

    def ask(self, states: States, number: int) -> None:
        """Work on this instead of all that was asked before."""
        with self._lock:
            self._waiting, self._number = (states, number), number
            live = self._live
        if live is not None:
            live.stop()
        self._begin()

    def stop(self, number: int | None = None) -> None:
        """End the work, whose last state is still told; with a ``number``, only if it is that question's."""
        with self._lock:
            self._waiting, live = None, self._live
            self._number = self._number if number is None else number
        if live is not None:
            live.stop()

    def close(self) -> None:
        """End the work, tell nothing more, and wait a moment for the thread to be gone."""
        self.stop(self._number + 1)
        self.wait(_JOINING_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether there is something to be told yet."""
        with self._lock:
            return self._waiting is not None or (self._live is not None and not self._live.ended)

    def wait(self, seconds: float) -> bool:
        """Wait until all is told, and say whether it is."""
        until = time.monotonic() + seconds
        while self.busy:
            with self._lock:
                live = self._live
            left = until - time.monotonic()
            if left <= 0:
                return False
            if live is not None:
                live.join(left)
        return True

    def _begin(self) -> None:
        """Start the waiting work, unless a thread is still at work; that thread calls this when it ends."""
        with self._lock:
            if self._waiting is None or (self._live is not None and not self._live.ended):
                return
            (states, number), self._waiting = self._waiting, None
            ear = _Ear(self, number)
            self._live = live = Live(states, [ear])
            live.when_at_rest(ear.at_rest)
        live.start()

    def _tell(self, state: State, number: int, last: bool) -> None:
        if number == self._number:
            self._told(state, number, last)

    def _finish_work(self, number: int) -> None:
        with self._lock:
            error = None if self._live is None else self._live.error
        if error is not None and number == self._number:
            sentence = str(error) or type(error).__name__
            known = isinstance(error, MlnlabError)
            self._failed(sentence if known else f"This could not be computed: {sentence}", number)
        self._begin()


class _Ear:
    """Hears the states of a run without holding the one who asked, so that an orphan run can end."""

    def __init__(self, newest: Newest, number: int) -> None:
        self._newest, self._number = weakref.ref(newest), number
        self._before = 0.0
        self._untold: State | None = None

    def on_step(self, step: Step[Any]) -> None:
        self._untold = step.state
        if time.monotonic() - self._before >= _BETWEEN_TELLINGS:
            self._tell(last=False)
            self._before = time.monotonic()

    def on_end(self, last: Step[Any]) -> None:
        self._untold = last.state
        self._tell(last=True)

    def at_rest(self) -> None:
        newest = self._newest()
        if newest is not None:
            newest._finish_work(self._number)  # noqa: SLF001 - two halves of one class

    def _tell(self, *, last: bool) -> None:
        state, self._untold = self._untold, None
        newest = self._newest()
        if newest is not None and state is not None:
            newest._tell(state, self._number, last)  # noqa: SLF001

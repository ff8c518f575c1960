"""Ctrl-C that waits for a place where it may come: a few moments later, never between two writes."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import FrameType, TracebackType


class InterruptsHeldBack:
    """While it is entered, an interrupt is heard only where ``listen`` is called, and at the end.

    >>> with InterruptsHeldBack() as interrupts:
    ...     interrupts.listen()  # nobody has pressed Ctrl-C
    """

    def __init__(self) -> None:
        """Nothing is held back yet."""
        self._before: Any = None
        self._waiting: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> Self:
        """Hold interrupts back; they reach the main thread only, and only there can that be asked for."""
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append((number, frame))

    def listen(self) -> None:
        """Let an interrupt through that came meanwhile: as a rule it raises."""
        if self._waiting:
            heard = self._waiting.pop()
            self._waiting.clear()
            self._before(*heard)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let interrupts come when they come again."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if problem is None:
            self.listen()

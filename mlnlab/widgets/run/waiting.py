"""A line in a plain terminal while somebody waits there for a run; a notebook has the view for that."""

from __future__ import annotations

import sys
import time
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

from mlnlab.steps.runs.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import Step

_PATIENCE = 0.5  # seconds


class WaitingLine(StatusLine):
    """Writes a line of ``words`` for each step, between ``with line:`` and its end, and to terminals only."""

    def __init__(
        self,
        words: Callable[[Step[Any]], str],
        stream: TextIO | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        chosen = sys.stderr if stream is None else stream
        super().__init__(chosen, clock=clock)
        self._words, self._patience = words, patience
        self._seen = chosen is not None and chosen.isatty()
        self._waited_for = 0
        self._lock = Lock()  # the run's thread writes, the waiting one clears

    def line(self, step: Step[Any]) -> str:
        """Return the line of a step."""
        return self._words(step)

    def on_step(self, step: Step[Any]) -> None:
        """Write, if somebody waits."""
        if self._seen and self._waited_for:
            with self._lock:
                if self._waited_for:
                    super().on_step(step)

    def on_end(self, last: Step[Any]) -> None:
        """Leave an empty line."""
        with self._lock:
            super().on_end(last)

    def __enter__(self) -> None:
        with self._lock:
            self._waited_for += 1
            self._not_before = self._clock() + self._patience

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._waited_for -= 1
            self.clear()

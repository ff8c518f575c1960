"""The progress of a compilation in a plain terminal: definitions made, and those that wait."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.errors import count_of
from mlnlab.lifted.compiling import CompileState
from mlnlab.steps.status_line import StatusLine, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no line


class CompilingLine(StatusLine):
    """Writes how far a compilation is; how much is left is known only at its end."""

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, patience: float | None = None
    ) -> None:
        super().__init__(stream, clock=clock, patience=_PATIENCE if patience is None else patience)

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        state = step.state
        if not isinstance(state, CompileState):
            return super().line(step)
        waiting = f"{state.named - state.done:,} waiting"
        return "  ".join(["compiling", count_of(state.done, "definition"), waiting, f"{step.seconds:.0f} s"])


def compiling_lines(progress: bool | None = None, stream: TextIO | None = None) -> tuple[CompilingLine, ...]:
    """Return a line on stderr: always, never, or, where nothing is said, if that is a terminal."""
    chosen = sys.stderr if stream is None else stream
    wanted = progress if progress is not None else is_terminal(chosen)
    return (CompilingLine(chosen),) if wanted else ()

"""The progress of a structure learner in a terminal: candidates done, rate, time left, best so far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.errors import count_of
from mlnlab.steps.status_line import StatusLine, bar_of
from mlnlab.structure.lhl import ASSEMBLING, CREATING, FINDING, LhlState

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no line


class StructureLine(StatusLine):
    """Writes how far structure learning is; the rate is that since clauses began to be judged."""

    def __init__(
        self, name: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:  # fmt: skip
        super().__init__(stream, clock=clock, patience=patience)
        self._name = name
        self._began: tuple[float, int, int] | None = None  # seconds, paths and candidates when creating began

    def on_step(self, step: Step[State]) -> None:
        """Note when clauses began to be judged."""
        state = step.state
        if self._began is None and isinstance(state, LhlState) and state.create is not None:
            self._began = step.seconds, state.create.done, state.create.candidates
        super().on_step(step)

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        if not isinstance(step.state, LhlState):
            return super().line(step)
        return structure_line(self._name, step.seconds, step.state, self._began or (0.0, 0, 0))


def structure_line(name: str, seconds: float, state: LhlState, began: tuple[float, int, int]) -> str:
    """Return the line of a state; ``began`` is when judging began, with the paths and candidates by then."""
    parts = [name, state.phase]
    if state.phase == CREATING and state.create is not None:
        create, since = state.create, max(1e-9, seconds - began[0])
        rate = (create.candidates - began[2]) / since
        left = since * (create.paths - create.done) / max(1, create.done - began[1])
        parts += [
            bar_of(create.done / max(1, create.paths)), count_of(create.candidates, "candidate"),
            f"{rate:,.0f}/s", f"{left:.0f} s left", f"{create.retained:,} retained",
            f"best {create.metrics()['best score']:.5g}",
        ]  # fmt: skip
    elif state.phase == ASSEMBLING and state.assembly is not None:
        assembly = state.assembly
        parts += [
            bar_of(assembly.tried / max(1, assembly.clauses)), f"{len(assembly.kept):,} clauses kept",
            f"WPLL {assembly.value:.6g}",
        ]  # fmt: skip
    elif state.phase == FINDING:
        parts.append(count_of(state.paths, "path"))
    else:
        parts.append(f"{count_of(len(state.labels), 'database')} lifted")
    return "  ".join([*parts, f"{seconds:.0f} s"])

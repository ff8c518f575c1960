"""The progress of a structure learner in a terminal: candidates, their rate, the model, the best score."""

from __future__ import annotations

import time
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TextIO

from mlnlab.errors import count_of
from mlnlab.steps.runs.status_line import StatusLine
from mlnlab.structure.clauses.judged_paths import count_judged_paths, judged_paths
from mlnlab.structure.watching.structure_state import StructureState

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no line


class PhaseBegun(NamedTuple):
    """When the present phase began, in seconds, and the paths and candidates that were judged by then."""

    seconds: float
    paths: int
    candidates: int


class Line(Protocol):
    """A function that writes the line of a state."""

    def __call__(self, name: str, seconds: float, state: Any, began: PhaseBegun, /) -> str:  # noqa: ANN401 - the learner's own
        """Return the line."""
        ...


class StructureLine(StatusLine):
    """Writes how far structure learning is; rates are those since the present phase began."""

    def __init__(
        self, name: str, line: Line, stream: TextIO, *, clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:  # fmt: skip
        super().__init__(stream, clock=clock, patience=patience)
        self._name, self._written, self._phase = name, line, ""
        self._began = PhaseBegun(0.0, 0, 0)

    def on_step(self, step: Step[State]) -> None:
        """Note when a phase begins."""
        state = step.state
        if isinstance(state, StructureState) and state.phase != self._phase:
            self._phase, blocks = state.phase, state.candidates
            self._began = PhaseBegun(step.seconds, count_judged_paths(blocks), number_of_clauses(state))
        super().on_step(step)

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        if not isinstance(step.state, StructureState):
            return super().line(step)
        return self._written(self._name, step.seconds, step.state, self._began)


def number_of_clauses(state: StructureState) -> int:
    """Return how many clauses were judged."""
    return sum(len(judged.verdicts) for judged in judged_paths(state.candidates))


def structure_line(name: str, seconds: float, state: StructureState, began: PhaseBegun) -> str:
    """Return the line of a state, as it is of any learner."""
    clauses, since = number_of_clauses(state), seconds - began.seconds
    parts = [name, state.phase, count_of(clauses, "candidate")]
    if since > 0 and clauses > began.candidates:
        parts.append(f"{(clauses - began.candidates) / since:,.0f}/s")
    parts.append(f"{count_of(len(state.model), 'clause')} in the model")
    if not isnan(state.score):
        parts.append(f"score {state.score:.6g}")
    return "  ".join([*parts, f"{seconds:.0f} s"])

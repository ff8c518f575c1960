"""LiftGraph under observation: merges by hand, and returns to earlier steps; the trace goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.widgets.resuming import states_from
from mlnlab.widgets.session import FIRST_STEP_SECONDS, Session

if TYPE_CHECKING:
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift_graph import LiftGraph, LiftState

_RESTING_SECONDS = 30.0


class LiftSession(Session):
    """Steers a run of LiftGraph: what is done by hand holds from the step that one looks at."""

    source: LiftGraph

    def __init__(self, source: LiftGraph, **options: Any) -> None:  # noqa: ANN401 - those of a session
        super().__init__(source, **options)
        self.returns: dict[int, int] = {}  # of each step that is an earlier one again, which

    def merge(self, first: int, second: int) -> None:
        """Merge two clusters of the step that is looked at; the newest step is then the merged one."""
        state = self.looked_at().state
        self.source.gain(state, first, second)  # raises before the run is given up
        self._branch(lambda: self.source.merged_by_hand(state, first, second))

    def go_on_from(self, step: Step[LiftState]) -> None:
        """Let the run continue with a step as its newest."""
        newest = self._newest()
        self._branch(lambda: states_from(self.source, step.state))
        if newest is not None:
            self.returns[newest.index + 1] = step.index

    def looked_at(self) -> Step[LiftState]:
        """Return the step that is looked at."""
        step = self.shown
        if step is None:
            raise ArgumentError("LiftGraph has made no step yet.")
        return step

    @property
    def is_newest(self) -> bool:
        """Whether the newest step is looked at."""
        newest = self._newest()
        return newest is None or self.looked_at().index == newest.index

    def _branch(self, states: Callable[[], Iterator[Any]]) -> None:
        """Let other states follow the newest step, and make the first of them."""
        newest = self._newest()
        if newest is None or self.replays:
            raise ArgumentError(
                "A recording is only looked at; ml.stepper(ml.lift_graph(...)) can be changed."
            )
        self.close(_RESTING_SECONDS)
        self._looking_at = None
        self._begin(states, newest.index + 1, newest.seconds)
        if self.live is not None:
            self.live.step()
            self.live.wait(FIRST_STEP_SECONDS)

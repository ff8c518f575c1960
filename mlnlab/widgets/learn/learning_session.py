"""A learner under observation that can be changed on its way; the trace goes on, and names each change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.steering import Change, Kind, SteeredLearner
from mlnlab.widgets.run.resuming import states_from
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view.view_arguments import read_number, read_real

if TYPE_CHECKING:
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.files.checkpoint import Checkpoint
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer, Step

RESTING_SECONDS = 30.0


class LearningSession(Session):
    """Steers a learner: a change holds from the shown step on, and is a step of its own."""

    def __init__(
        self,
        source: SteeredLearner,
        *,
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
        resumed: Checkpoint | None = None,
    ) -> None:
        super().__init__(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
        self.steered = source
        if resumed is not None:
            state = resumed.state
            self._begin(lambda: states_from(source, state), resumed.first - 1, resumed.seconds)

    def change(self, kind: Kind, formula: int = -1, value: float = 0.0) -> None:
        """Change something at the step that is looked at; the newest step is then the changed one."""
        if kind in {"weight", "freeze", "free"}:
            formula = read_number(formula, "A formula")
        value = read_real(value, "A rate" if kind == "rate" else "A weight")
        live = self.live
        goes_on = live is not None and live.running
        if goes_on:
            self.pause()
            self._wait()
        looked_at, newest = self.shown, self._newest()
        if looked_at is None or newest is None:
            raise ArgumentError("The learner has made no step yet.")
        first = newest.index + 1
        change = Change(kind, formula, value, looked_at.index, first)
        change = self.steered.check_change(looked_at.state, change)
        states = self.steered.apply_change(looked_at.state, change)
        self._go_on(states, newest, first)
        if goes_on and self.live is not None:
            self.live.start()

    def _go_on(self, states: Iterator[LearningState], newest: Step[Any], first: int) -> None:
        """Let another run take the place of the one before, and make its first step."""
        self.close(RESTING_SECONDS)
        self._looking_at = None
        self._begin(lambda: states, first, newest.seconds)
        self.begin()

    def _wait(self) -> None:
        if self.live is not None:
            self.live.wait(RESTING_SECONDS)

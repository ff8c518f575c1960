"""The view of a learner that can be changed on its way: what steers it, as methods."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.widgets.asked import number_asked, real_asked
from mlnlab.widgets.pauses import pause_condition
from mlnlab.widgets.remarking_view import RemarkingView

if TYPE_CHECKING:
    from mlnlab.display.runs import RunPicture
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.steering import Kind, SteeredLearner
    from mlnlab.steps.step import Step
    from mlnlab.steps.stopping import Predicate
    from mlnlab.widgets.learning_session import LearningSession
    from mlnlab.widgets.waiting import WaitingLine


class SteeredView(RemarkingView):
    """A run whose weights, rate and pauses are changed from the step that is looked at on."""

    def __init__(
        self, steered: SteeredLearner, session: LearningSession, picture: RunPicture, line: WaitingLine
    ) -> None:
        self._steered, self._learning, self._line = steered, session, line
        self._pauses: dict[str, Predicate] = {}
        super().__init__(session, picture)

    @property
    def formula(self) -> int | None:
        """The formula that is looked at closely."""
        return None

    def wait(self, timeout: float | None = None) -> None:
        """Block until the run rests or ends; in a plain terminal a line says how far it is meanwhile."""
        with self._line:
            super().wait(timeout)

    # --- steering -----------------------------------------------------------------------------

    def set_weight(self, formula: int, weight: float) -> None:
        """Give a formula a weight, and go on from there; one that is frozen stays at the new weight."""
        self._change("weight", formula, weight)

    def freeze(self, formula: int, weight: float | None = None) -> None:
        """Keep a formula's weight, as it is or as given, out of learning."""
        self._change("freeze", formula, self.weight_of(formula) if weight is None else weight)

    def free(self, formula: int) -> None:
        """Learn a frozen formula's weight again."""
        self._change("free", formula)

    @property
    def rate(self) -> float:
        """The learning rate of the step that is looked at; λ of learners that are damped instead."""
        return self._steered.rate_at(self._state())

    @rate.setter
    def rate(self, rate: float) -> None:
        self._change("rate", value=rate)

    def scale_rate(self, factor: float) -> None:
        """Step more boldly, or less: multiply the rate, or divide λ."""
        factor = real_asked(factor, "What multiplies a rate")
        if not 0 < factor < inf:
            raise ArgumentError(f"A rate is multiplied by a number above 0, not by {factor:g}.")
        damped = self._steered.rate_name() == "damping"
        self.rate = self.rate / factor if damped else self.rate * factor

    def go_on_from(self, index: int | None = None) -> None:
        """Let the run continue from an earlier step, without index from the one that is looked at."""
        if index is not None:
            self.seek(index)
        self._change("return")

    def pause_where(self, name: str) -> None:
        """Pause where a step is taken back ("back"), the objective falls, or the weight changes its "sign".

        Asked for once more, it does not. ``breaks`` takes any other conditions.
        """
        key = f"{name} {self.formula}" if name == "sign" else name
        condition = self._pauses.pop(key, None)
        if condition is None:
            condition = pause_condition(name, self.formula)
            if condition is None:
                raise ArgumentError('A run pauses where "back", "fall" or, of a chosen formula, "sign" says.')
            self._pauses[key] = condition
            self.breaks = (*self.breaks, condition)
        else:
            self.breaks = tuple(one for one in self.breaks if one is not condition)
        self._redraw()

    def weight_of(self, formula: int) -> float:
        """Return a formula's weight at the step that is looked at."""
        weights = self._state().weights
        if not 0 <= number_asked(formula, "A formula") < len(weights):
            raise ArgumentError(
                f"Formulas have numbers from 0 to {len(weights) - 1}; there is none of number {formula}."
            )
        return float(weights[formula])

    def _change(self, kind: Kind, formula: int = -1, value: float = 0.0) -> None:
        self._learning.remark = ""
        self._learning.change(kind, formula, value)
        self._redraw()

    def _state(self) -> LearningState:
        return self._step_shown().state

    def _step_shown(self) -> Step[LearningState]:
        step = self.shown
        if step is None:
            raise ArgumentError("The learner has made no step yet.")
        return step

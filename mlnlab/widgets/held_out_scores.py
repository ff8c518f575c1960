"""What a dashboard reads of an observer with held-out scores, and how it tells it of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlnlab.display.learning_plots import Score
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from mlnlab.learning.learner import WeightLearner
    from mlnlab.steps.step import Step


class ByStep:
    """Tells an observer of the dashboard's own steps, which go on counting where a change begins anew."""

    def __init__(self, observer: Any) -> None:  # noqa: ANN401 - any observer
        self._observer = observer

    def on_step(self, step: Step[Any]) -> None:
        """Pass a step on."""
        self._observer.on_step(_by_index(step))

    def on_end(self, last: Step[Any]) -> None:
        """Pass the end on."""
        self._observer.on_end(_by_index(last))


def told_by_step(observer: Any, learner: WeightLearner) -> ByStep:  # noqa: ANN401 - any observer
    """Return what tells an observer with held-out scores of a dashboard's steps."""
    if not callable(getattr(observer, "on_step", None)):
        raise ArgumentError(
            f"held_out is an observer with scores, ml.HeldOut(databases), not {observer!r:.60}."
        )
    if hasattr(observer, "on_begin"):
        observer.on_begin(learner)
    return ByStep(observer)


def _by_index(step: Step[Any]) -> Step[Any]:
    return replace(step, state=replace(step.state, iteration=step.index))


def scores_of(held_out: Any) -> Callable[[], Sequence[Score]] | None:  # noqa: ANN401 - any observer
    """Return what reads the held-out scores of an observer, if there is one."""
    if held_out is None:
        return None

    def read() -> Sequence[Score]:
        found = getattr(held_out, "scores", ())
        return [Score(int(one.iteration), float(one.cll), float(one.auc)) for one in tuple(found)]

    return read

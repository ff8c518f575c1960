"""Which step of a recorded run to keep: the best one so far, and the recording up to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.recordings.trace import Trace

if TYPE_CHECKING:
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.step import Step


def best_step(trace: Trace[LearningState], since: int = 0) -> Step[LearningState]:
    """Return the step with the greatest objective, the newest where that is not known.

    A learner that answers with an average, or with the best weights that it had, has its best answer at the
    newest step. Steps before ``since`` belong to another problem, and do not count.
    """
    newest = trace[-1]
    found = trace.metrics()
    if newest.state.answer_is_average or "objective" not in found.columns:
        return newest
    values = np.where(found.indices >= since, found["objective"], -np.inf)
    values = np.where(np.isfinite(values), values, -np.inf)
    if not len(values) or values.max() == -np.inf:
        return newest
    step = trace.seek(int(found.indices[int(values.argmax())]))
    # A step may have been dropped from the trace, and the one before it be worse.
    return step if step.index >= since and step.state.value >= newest.state.value else newest


def recorded_until(trace: Trace[LearningState], step: Step[LearningState]) -> Trace[LearningState]:
    """Return the recording up to a step, with that step as its last one."""
    if trace[-1].index <= step.index:
        return trace
    upto: Trace[LearningState] = Trace()
    for one in trace.replay(stop=step.index):
        upto.on_step(one)
    upto.on_step(step)
    return upto

"""What learning returns: the model with its weights, how it got there, and how far to believe it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from mlnlab.errors import count_of
from mlnlab.learning.learning_state import state_at
from mlnlab.learning.moments import plain
from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.conditioning import Condition
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import TrainingData
    from mlnlab.learning.uncertainty import StandardErrors
    from mlnlab.model.mln import MLN
    from mlnlab.steps.trace import Trace


class Trials(Protocol):
    """Learning rates that were tried on validation databases: :class:`mlnlab.learning.tuning.TunedRate`."""

    def rate(self, by: Literal["cll", "auc"] = "cll") -> float:
        """Return the rate that was best."""
        ...

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rate."""
        ...


def at_answer(problem: Problem, state: LearningState) -> LearningState:
    """Return a state's counts, gaps and value at the weights that it answers with, of all databases.

    Averages of weights are none of a learner's steps, and a batch is not the data. What is only estimated
    stays that of the step.
    """
    objective = plain(problem.objective)
    if not objective.has_value or (problem.objective.has_value and not state.answer_is_average):
        return state
    point = replace(problem, objective=objective).at(problem.free.parameters_of(state.answer))
    return state_at(point, None, state.move, state.inner, ended=state.ended)


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """A learned model: ``.mln``, ``.weights``, ``.gap`` (zero at the optimum), ``.objective``, ``.trace``."""

    data: TrainingData
    problem: Problem
    method: str  # what learned the weights, in words
    state: LearningState  # the last one
    at_weights: LearningState  # what holds at the learned weights (:func:`at_answer`)
    trace: Trace[LearningState]
    diagnostics: tuple[str, ...]
    seconds: float
    tuned: Trials | None = None  # which rates were tried, where the rate was tuned
    learn_again: Callable[[Problem], LearningState] | None = None  # from other data (the bootstrap)

    @cached_property
    def mln(self) -> MLN:
        """The model with the learned weights; marks are written out."""
        return self.data.with_weights(self.state.answer)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The learned weight of each formula, 0 where it is hard."""
        return self.state.answer

    @property
    def gap(self) -> NDArray[np.float64]:
        """How far each formula is from its optimum: zero there."""
        return self.at_weights.gap

    @property
    def objective(self) -> float:
        """The value of what was maximised, with the prior; nan where it is not known."""
        return self.at_weights.value

    @property
    def observed(self) -> NDArray[np.float64]:
        """The counts in the data, as the objective has them."""
        return self.at_weights.observed

    @property
    def expected(self) -> NDArray[np.float64]:
        """The counts that the model expects."""
        return self.at_weights.expected

    def standard_errors(self, *, bootstrap: int = 0, samples: int = 200, seed: int = 0) -> StandardErrors:
        """Return the standard error of each weight, by the formula that is right for the objective.

        Likelihoods: the inverse of the observed information. Pseudo-likelihoods: a sandwich around the
        spread of the gradients of many databases, or of ``samples`` worlds drawn from the model.
        ``bootstrap=100`` learns again from databases drawn with replacement, whatever the objective.
        """
        from mlnlab.learning.uncertainty import standard_errors

        return standard_errors(self, bootstrap=bootstrap, samples=samples, seed=seed)

    @property
    def has_quick_errors(self) -> bool:
        """Whether standard errors need no worlds to be drawn."""
        return not self.problem.objective.name.endswith("pseudo-log-likelihood")

    def condition(self, weights: NDArray[np.float64] | None = None, *, with_prior: bool = False) -> Condition:
        """Return how ill-conditioned the problem is at some weights, the learned ones if none are given."""
        from mlnlab.learning.conditioning import condition

        return condition(self.problem, self.weights if weights is None else weights, with_prior=with_prior)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each formula: weight, observed and expected count, and gap."""
        import pandas as pd

        columns: dict[str, Any] = {
            "formula": [to_text(weighted.formula) for weighted in self.data.formulas],
            "weight": self.weights,
            "observed": self.observed,
            "expected": self.expected,
            "gap": self.gap,
            "learned": self.problem.free.parameter >= 0,
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        number = self.problem.free.number
        value = "" if np.isnan(self.objective) else f", objective {self.objective:.6g}"
        return (
            f"<LearnedWeights: {count_of(number, 'weight')} by {self.method}, "
            f"{count_of(self.state.iteration, 'step')}{value}, "
            f"largest gap {np.abs(self.gap).max(initial=0.0):.2g}>"
        )

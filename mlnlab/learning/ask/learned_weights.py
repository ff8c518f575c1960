"""Hold the result of learning: the model with its weights, its course, and its reliability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.learning.problems.learning_state import LearningState, state_at
from mlnlab.learning.problems.moments import plain
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.diagnosis.conditioning import Condition
    from mlnlab.learning.diagnosis.uncertainty import StandardErrors
    from mlnlab.learning.problems.problem import Problem
    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.recordings.trace import Trace


_MOST_ESTIMATES = 20  # of the counts at an average


class Trials(Protocol):
    """Learning rates that were tried on validation databases, each a ``TunedRate``."""

    def rate(self, by: Literal["cll", "auc"] = "cll") -> float:
        """Return the rate that was best."""
        ...

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rate."""
        ...


def at_answer(problem: Problem, state: LearningState) -> LearningState:
    """Return a state's counts, gaps and value at the weights that it answers with, of all databases.

    Averages of weights are none of a learner's steps, and a batch is not the data. What is only estimated
    stays that of the step; at an average it is estimated as in a tenth as many steps more.
    """
    objective = plain(problem.objective)
    if not state.answer_is_average and (problem.objective.has_value or not objective.has_value):
        return state
    parameters = problem.free.parameters_of(state.answer)
    if objective.has_value:
        point = replace(problem, objective=objective).at(parameters)
    else:
        times = min(max(1, state.iteration // 10), _MOST_ESTIMATES)
        point = problem.at_several_times(parameters, state.memory, times)
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
    averaged: str = ""  # what the weights are an average of, in words; nothing where they are the last step's
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
        """The maximised objective, with the prior; nan where it is not known."""
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
        from mlnlab.learning.diagnosis.uncertainty import standard_errors

        return standard_errors(self, bootstrap=bootstrap, samples=samples, seed=seed)

    @property
    def has_quick_errors(self) -> bool:
        """Whether standard errors need no worlds to be drawn."""
        return not self.problem.objective.name.endswith("pseudo-log-likelihood")

    def condition(self, weights: NDArray[np.float64] | None = None, *, with_prior: bool = False) -> Condition:
        """Return how ill-conditioned the problem is at some weights, the learned ones if none are given."""
        from mlnlab.learning.diagnosis.conditioning import condition

        at = self.weights if weights is None else weights
        if np.shape(at) != self.weights.shape or not np.issubdtype(np.asarray(at).dtype, np.number):
            raise ArgumentError(f"{count_of(len(self.weights), 'weight')} are needed, not {at!r:.60}.")
        return condition(self.problem, np.asarray(at, np.float64), with_prior=with_prior)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each formula: weight, observed and expected count, and gap.

        Counts and gaps are those at the weights of the table, also where these are an average of the steps,
        which ``.attrs["weight"]`` then says.
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "formula": [to_text(weighted.formula) for weighted in self.data.formulas],
            "weight": self.weights,
            "observed": self.observed,
            "expected": self.expected,
            "gap": self.gap,
            "learned": self.problem.free.parameter >= 0,
        }
        frame = pd.DataFrame(columns)
        if self.averaged:
            frame.attrs["weight"] = self.averaged
        return frame

    def __repr__(self) -> str:
        number = self.problem.free.number
        value = "" if np.isnan(self.objective) else f", objective {self.objective:.6g}"
        averaged = f", {self.averaged}" if self.averaged else ""
        return (
            f"<LearnedWeights: {count_of(number, 'weight')} by {self.method}, "
            f"{count_of(self.state.iteration, 'step')}{averaged}{value}, "
            f"largest gap {np.abs(self.gap).max(initial=0.0):.2g}>"
        )

"""What to know before weights are learned, and about learned ones before one believes them, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.mini_batches import BatchMemory
from mlnlab.learning.moments import plain
from mlnlab.learning.pseudo_log_likelihood import PseudoLogLikelihood
from mlnlab.learning.runaways import WithGroundings, all_open, names_of, runaways_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.moments import Objective
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import TrainingData

    Numbers = NDArray[np.float64]

_LARGE = 12.0  # a weight whose odds are 160,000 to 1
_SHOWN = 3
_SOME_STEPS = 5
_MATCHED = 1e-3  # of the counts: a gap that is left
_ROUNDING = 1e-9
_ERRORS = 3.0  # standard errors within which gaps are the same
_LEAST_ERROR = 0.15  # of a count: five samples that agree leave a variance of 0.107 (trust_region.py)
_STILL = 1e-6  # of the largest weight: a step that is none
_BY_CURVATURE = ("diagonal-newton", "scaled-conjugate-gradient")
_BY_VALUE = ("l-bfgs", "newton")


def foreseen(data: TrainingData, problem: Problem) -> Iterator[str]:
    """Yield what is wrong with what one asks for, before a step is taken."""
    yield from _never_seen(data)
    yield from _decided(data, problem)
    yield from runaways_in_words(data, problem)


def diagnosed(
    problem: Problem, first: LearningState, state: LearningState, optimizer: str, *, rate_given: bool = True
) -> Iterator[str]:
    """Yield what is worth knowing about the end of a run that began in another state.

    A rate that was not given may grow until it is too large, which is nothing to tell.
    """
    if not state.ended:
        yield "Learning was stopped before its end; the weights are those of its last step."
    if rate_given and optimizer in {"gradient-descent", "stochastic-meta-descent"} and state.move.rejected:
        times = "once" if state.move.rejected == 1 else f"{state.move.rejected:,} times"
        yield (
            f"The rate was too large: {times} a step led away, was taken back and the rate halved, to "
            f"{state.move.rate:.3g} in the end, which may still be too large. Begin with "
            f"rate={state.move.rate / 4:.2g}, or leave rate= out: one that suits the data is then found."
        )
    yield from [*_gone_astray(first, state, optimizer)] or _unfinished(problem, state, optimizer)
    if optimizer in _BY_CURVATURE:
        yield from _stood_still(state)
    flat = (problem.priors.precision == 0) & (problem.priors.pull == 0)
    largest = float(np.abs(state.answer[problem.free.free]).max(initial=0.0)) if flat.any() else 0.0
    if largest > _LARGE:
        yield (
            f"The largest weight is {largest:.3g}, which is as good as hard; without a prior such a weight "
            "tells when learning stopped rather than what the data say."
        )


def _gone_astray(first: LearningState, state: LearningState, optimizer: str) -> Iterator[str]:
    """Say that the weights are worse than those that learning began with."""
    remedy = f"the weights swing or run away. Take {_remedies(optimizer)}."
    lengths = [float(np.linalg.norm(one.gap)) for one in (first, state)]
    # Sampled gaps differ by chance: their lengths by no more than the gaps do.
    noise = _ERRORS * float(np.hypot(_noise(first), _noise(state)))
    if noise == 0 and state.errors is not None:  # counts of a single world jump
        noise = lengths[0]
    alike = not isinstance(state.memory, BatchMemory)  # the gaps of two batches are not to be compared
    if state.value < first.value - _ROUNDING * max(1.0, abs(first.value)):  # not where they are not known
        values = f"{state.value:.6g} against {first.value:.6g}"
        yield f"The objective is less than at the start ({values}): {remedy}"
    elif (
        alike
        and state.iteration >= _SOME_STEPS
        and lengths[1] > max(lengths[0] + noise, 1e-6 * _scale(state))
    ):
        yield f"The gaps are larger than at the start ({lengths[1]:.3g} against {lengths[0]:.3g}): {remedy}"


def _remedies(optimizer: str) -> str:
    """Return what helps, by what an optimiser has."""
    if optimizer in _BY_CURVATURE:
        return "shorter steps, largest_step=0.2, a prior, or more samples="
    if optimizer in _BY_VALUE:
        return "a prior"
    return 'a smaller rate=, a prior, or a method that knows the curvature, such as "pscg"'


def _noise(state: LearningState) -> float:
    """Return the standard error of the gaps together; 0 where they are exact.

    A count that a few samples all agree about has an error too, of which they tell nothing.
    """
    if state.errors is None:
        return 0.0
    sampled = bool(state.errors.any())  # a single world has no errors that are known
    return float(np.linalg.norm(np.maximum(state.errors, _LEAST_ERROR))) if sampled else 0.0


def _stood_still(state: LearningState) -> Iterator[str]:
    """Say that the last step of samples was too short to change anything, so that more would not either."""
    largest = max(1.0, float(np.abs(state.weights).max(initial=0.0)))
    sampled = state.errors is not None
    if not np.any(state.gap):
        return  # there is nowhere to go
    if sampled and state.iteration >= _SOME_STEPS and state.move.size < _STILL * largest:
        why = "was refused" if not state.move.accepted else f"moved the weights by {state.move.size:.1g}"
        yield (
            f"Steps came to nothing: the last one {why}, with λ = {state.move.damping:.2g}. The weights "
            "are where learning stood still, which need not be an optimum: begin with a smaller damping=, or "
            "take more samples=."
        )


def _unfinished(problem: Problem, state: LearningState, optimizer: str) -> Iterator[str]:
    """Say that the steps did not suffice, or that such steps never do."""
    if isinstance(state.memory, BatchMemory):
        if optimizer in _BY_CURVATURE:
            yield (
                f"Steps of {optimizer} lead to the optimum of each batch of databases, and so to and fro: "
                'take optimizer="gradient-descent", whose averages settle, or all databases at once.'
            )
        return
    largest = float(np.abs(state.gap).max(initial=0.0))
    exact = state.errors is None
    if exact and state.ended.endswith("steps were taken") and largest > _MATCHED * _scale(state):
        better = "" if optimizer in _BY_VALUE else ', or optimizer="l-bfgs"'
        known = better if problem.objective.has_value else ""
        yield (
            f"Moments do not match yet: after {state.iteration:,} steps a gap of {largest:.3g} is left. Take "
            f"more iterations={known}."
        )


def _scale(state: LearningState) -> float:
    return max(1.0, float(np.abs(state.observed).max(initial=0.0)))


def _never_seen(data: TrainingData) -> Iterator[str]:
    """Yield the predicted predicates of which no database says anything true."""
    unseen = [
        name
        for name in data.mentioned
        if not any(len(example.database.relation(name).true) for example in data.examples)
        and any(example.number_of_atoms(name) for example in data.examples)
    ]
    if unseen:
        names = ", ".join(unseen[:_SHOWN])
        more = f" and {len(unseen) - _SHOWN:,} more" if len(unseen) > _SHOWN else ""
        yield (
            f"No database has a true atom of {names}{more}, so that learning takes all of them to be false. "
            "If these were not observed, predict other predicates: query=[...]."
        )


def _decided(data: TrainingData, problem: Problem) -> Iterator[str]:
    """Yield the formulas that evidence, or a lack of constants, decides: data teach nothing about these."""
    free = problem.free
    idle = np.flatnonzero(free.gathered(_left_open(plain(problem.objective))) == 0)
    if len(idle):
        names = names_of(data, problem, idle.tolist())
        weights = "weights" if len(idle) > 1 else "weight"
        yield (
            f"The data say nothing about the {weights} of {names}: evidence decides every grounding, or "
            "there is none. What stands there afterwards is where learning began, or the prior's mean."
        )


def _left_open(objective: Objective) -> Numbers:
    """Return a number for each formula that is 0 where no predicted atom bears on it."""
    if isinstance(objective, PseudoLogLikelihood):
        return objective.counts
    if isinstance(objective, WithGroundings):
        return all_open(objective)
    return np.ones(len(objective.counts))

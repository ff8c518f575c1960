"""Whether a state, perhaps from a file, is one of a learner's problem; where it is none, a sentence says why.

What a state holds goes into kernels that trust it, so that sizes and options are looked at before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.learning.conditional_log_likelihood import Drawn, EstimatedLogLikelihood
from mlnlab.learning.mini_batches import BatchMemory, MiniBatches

if TYPE_CHECKING:
    from mlnlab.learning.ground_example import GroundExample
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.moments import Objective
    from mlnlab.learning.optimizer import Optimizer
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.sampled_counts import Chains

_ROUNDING = 1e-9  # sums in another order


def refuse_other_size(formulas: int, state: LearningState) -> None:
    """Raise a sentence where a state has weights of other formulas."""
    if len(state.weights) != formulas:
        raise ArgumentError(
            f"This state is of another problem: it has {count_of(len(state.weights), 'weight')}, and here"
            f" there are {count_of(formulas, 'formula')}."
        )


def refuse_other_problem(problem: Problem, optimizer: Optimizer, state: LearningState) -> None:
    """Raise a sentence where a state is none of a problem, or none of an optimiser."""
    free = problem.free
    refuse_other_size(len(free.base), state)
    if len(state.parameters) != free.number or not np.array_equal(
        state.weights, free.weights(state.parameters)
    ):
        raise ArgumentError(
            "This state is of another problem: other weights are tied or fixed there than here."
        )
    if not isinstance(state.inner, optimizer.keeps):
        raise ArgumentError(f"This state was not made by {optimizer.name}, which cannot go on from it.")
    if not _remembers(problem.objective, state.memory):
        raise ArgumentError(
            "This state is of another problem: what it remembers was not drawn for the"
            f" {problem.objective.name} here."
        )
    observed = problem.objective.recalled(state.weights, state.memory).observed
    if not np.allclose(observed, state.observed, rtol=_ROUNDING, atol=_ROUNDING):
        raise ArgumentError("This state is of another problem: the counts in its data are others than here.")


def _remembers(objective: Objective, memory: object) -> bool:
    """Say whether a memory is one that an objective could have left behind."""
    if isinstance(objective, MiniBatches):
        return isinstance(memory, BatchMemory) and _remembers_batches(objective, memory)
    if isinstance(objective, EstimatedLogLikelihood):
        return isinstance(memory, Drawn) and _remembers_worlds(objective, memory)
    return True


def _remembers_batches(objective: MiniBatches, memory: BatchMemory) -> bool:
    if len(memory.memories) != len(objective.parts) or memory.turn < 1:
        return False
    seen = set(objective.batch(memory.turn - 1))
    pairs = enumerate(zip(objective.parts, memory.memories, strict=True))
    return all((known is None and n not in seen) or _remembers(part, known) for n, (part, known) in pairs)


def _remembers_worlds(objective: EstimatedLogLikelihood, memory: Drawn) -> bool:
    formulas = len(objective.counts)
    return (
        len(memory.chains) == len(memory.counts) == len(objective.examples)
        and all(rows.ndim == 2 and rows.shape[1] == formulas and len(rows) for rows in memory.counts)
        and all(map(_are_worlds_of, objective.examples, memory.chains))
    )


def _are_worlds_of(example: GroundExample, chains: Chains) -> bool:
    """Say whether chains are in worlds of a database: an option that there is, for each choice."""
    options, chosen = example.ground.network.options, chains.chosen
    return (
        chosen.ndim == 2
        and chosen.shape[1] == len(options)
        and chains.random.shape == (len(chosen), 4)
        and bool((chosen < options).all())
    )

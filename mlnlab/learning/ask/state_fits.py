"""Whether the parts of a learner's state, perhaps from a file, can have been left behind by its problem.

What a state holds goes into kernels that trust it, so that sizes and options are looked at before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.sampling.chains import sizes_of_worlds
from mlnlab.learning.counts.sampled_counts import Chains, SampledCounts
from mlnlab.learning.objectives.conditional_log_likelihood import Drawn, EstimatedLogLikelihood
from mlnlab.learning.problems.mini_batches import BatchMemory, MiniBatches
from mlnlab.steps.state_layout import Sizes, misshapen

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.learning.descent.optimizer import Optimizer
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.moments import Objective
    from mlnlab.learning.problems.problem import Problem

_ROUNDING = 1e-9  # sums in another order


def sizes_of(problem: Problem) -> Sizes:
    """Return the sizes that a state of a problem must fit."""
    return {"formulas": len(problem.free.base), "parameters": problem.free.number}


def flaw_of(problem: Problem, optimizer: Optimizer, state: LearningState) -> str:
    """Say how a state does not fit a problem or an optimiser; return "" where it fits."""
    if not np.array_equal(state.weights, problem.free.weights(state.parameters)):
        return "its weights are not those of its parameters"
    if type(state.inner) is not optimizer.keeps:
        return f"its memory of steps is not that of {optimizer.name}"
    found = misshapen(state.inner, sizes_of(problem))
    if found:
        return f"in its memory of steps, {found}"
    found = _flaw_of_memory(problem.objective, state.memory)
    if found:
        return f"in its memory of the {problem.objective.name}, {found}"
    observed = problem.objective.recall_moments(state.weights, state.memory).observed
    if not np.allclose(observed, state.observed, rtol=_ROUNDING, atol=_ROUNDING):
        return "its counts in the data differ from those here"
    return ""


def _flaw_of_memory(objective: Objective, memory: object) -> str:
    """Say how a memory does not fit an objective; return "" where it fits."""
    if isinstance(objective, MiniBatches):
        return _flaw_of_batches(objective, memory)
    if isinstance(objective, EstimatedLogLikelihood):
        return _find_sample_flaw(objective, memory)
    own: Callable[[object], str] | None = getattr(objective, "flaw", None)
    if own is not None:
        return own(memory)
    return "" if memory is None else "it holds something, and its objective remembers nothing"


def _flaw_of_batches(objective: MiniBatches, memory: object) -> str:
    if type(memory) is not BatchMemory:
        return "there are no batches"
    found = misshapen(memory, {"databases": len(objective.parts)})
    if found:
        return found
    seen = set(objective.batch(memory.turn - 1))
    for number, (part, known) in enumerate(zip(objective.parts, memory.memories, strict=True)):
        # Nobody has looked at a database yet whose turn is still to come.
        found = _flaw_of_memory(part, known) if known is not None or number in seen else ""
        if found:
            return found
    return ""


def _find_sample_flaw(objective: EstimatedLogLikelihood, memory: object) -> str:
    if type(memory) is not Drawn:
        return "there are no samples"
    sizes = {"databases": len(objective.examples), "formulas": len(objective.counts)}
    found = misshapen(memory, sizes)
    if found or any(not len(rows) for rows in memory.counts):
        return found or "there are no samples"
    number = objective.expecting.chains if isinstance(objective.expecting, SampledCounts) else 1
    for example, chains in zip(objective.examples, memory.chains, strict=True):
        if type(chains) is not Chains:
            return "there are no chains"
        found = misshapen(chains, sizes_of_worlds(example.ground.network, number))
        if found:
            return found
    return ""

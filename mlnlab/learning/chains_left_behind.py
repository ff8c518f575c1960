"""Whether the chains of samples followed the weights, seen by chains that begin afresh where learning ended.

Chains that go on from step to step stay where they are, near the data, when formulas that reinforce each
other part the worlds into two kinds; growing weights may then come to prefer the other kind, without a sample
that tells. A chain that begins in a random world finds what the weights prefer. Where it is farther from the
data than learning believed, by more than its own counts vary,

    max_i  (|n_i - E_fresh[n_i]| - |n_i - E_learning[n_i]|) / sqrt(1 + Var_fresh[n_i])  >  6,

the small gaps of learning were an error. On UW-CSE's ``advisedBy`` that is below 2.5 with every learner. On
120 linked pages it is 17 and 24 where held-out predictions are spoilt (a CLL of -0.42 and -0.48, diagonal
Newton and preconditioned conjugate gradient after 100 steps), 1 and 6 where ``burn_in=20`` keeps them (-0.36
and -0.38). Both kinds of chain may also be right in part, each about worlds of its own; predictions then hang
on where chains begin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.chains import NoStartError
from mlnlab.learning.conditional_log_likelihood import Drawn, EstimatedLogLikelihood
from mlnlab.learning.mini_batches import BatchMemory
from mlnlab.learning.moments import plain
from mlnlab.learning.sampled_counts import SampledCounts
from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import TrainingData

    Numbers = NDArray[np.float64]

_STEPS = 20  # before the first sample of a fresh chain, and as many samples
_MOST_COST = 5  # looked at where learning has drawn so many times as much, which costs a fifth at most
_ERRORS = 6.0
_STREAM = 104_729  # of random numbers, which no chain of learning has
_BY_CURVATURE = ("diagonal-newton", "scaled-conjugate-gradient")


def chains_left_behind(
    data: TrainingData, problem: Problem, state: LearningState, optimizer: str
) -> Iterator[str]:
    """Yield a sentence if fresh chains find other worlds than those that learning went by."""
    objective = plain(problem.objective)
    if not isinstance(objective, EstimatedLogLikelihood) or not isinstance(
        objective.expecting, SampledCounts
    ):
        return
    expecting = objective.expecting
    drawn = state.iteration * expecting.chains * (expecting.burn_in + expecting.samples)
    known = _drawn_last(state.memory)
    if known is None or drawn < _MOST_COST * 2 * _STEPS:
        return
    learning = objective.recalled(state.weights, known)
    try:
        expected, variances = _afresh(objective, expecting, state.answer)
    except NoStartError:  # then nothing can be said
        return
    observed, believed = learning.observed, learning.expected
    farther = np.abs(observed - expected) - np.abs(observed - believed)
    errors = np.where(problem.free.parameter >= 0, farther / np.sqrt(1.0 + variances), 0.0)
    worst = int(errors.argmax())
    if errors[worst] <= _ERRORS:
        return
    others = int((errors > _ERRORS).sum()) - 1
    more = f" (so it is with {count_of(others, 'more formula')})" if others else ""
    yield (
        f"Chains that begin afresh in a random world disagree with those that learned: they find "
        f"{to_text(data.formulas[worst].formula):.200} true {expected[worst]:,.0f} times, the others "
        f"{believed[worst]:,.0f} times, the data {observed[worst]:,.0f} times{more}. The weights have come "
        f"to prefer worlds unlike the data, or samples hang on where chains begin: do not trust them. "
        f"{_ways_out(expecting, optimizer)}"
    )


def _drawn_last(memory: object) -> Drawn | None:
    """Return what learning drew last from each database, if it drew from all."""
    if isinstance(memory, BatchMemory):
        parts = [one for one in memory.memories if isinstance(one, Drawn)]
        if len(parts) < len(memory.memories):
            return None
        chains = tuple(chain for part in parts for chain in part.chains)
        return Drawn(chains, tuple(rows for part in parts for rows in part.counts))
    return memory if isinstance(memory, Drawn) else None


def _afresh(
    objective: EstimatedLogLikelihood, expecting: SampledCounts, weights: Numbers
) -> tuple[Numbers, Numbers]:
    """Return expected counts and their variances by chains that begin in random worlds."""
    sampling = replace(
        expecting, samples=_STEPS, burn_in=_STEPS, chains=1, begin="random", seed=expecting.seed + _STREAM
    )
    moments, _ = replace(objective, expecting=sampling).moments(weights)
    return moments.expected, np.maximum(moments.curvature.diagonal(), 0.0)


def _ways_out(expecting: SampledCounts, optimizer: str) -> str:
    shorter = "largest_step=0.2" if optimizer in _BY_CURVATURE else "a smaller rate="
    samples = max(20, 4 * expecting.samples)
    burn_in = max(20, 4 * expecting.burn_in)
    return (
        f"Give chains time to follow, burn_in={burn_in}; take shorter steps, {shorter};"
        f" hold the weights back by a prior of smaller deviation, prior=ml.Gaussian(0, 1); or take "
        f"samples={samples}."
    )

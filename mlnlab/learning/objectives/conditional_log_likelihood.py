r"""Conditional log-likelihood of the predicted atoms given all others: log P(y|x) (thesis, section 4.2).

    ∂ log P(Y=y | X=x) / ∂w_i = n_i - E_w[n_i],     Hessian of -log P = Cov_w(n_i, n_j)

with all predicates predicted it is the log-likelihood itself (lecture notes, eq. 17-35). The expected counts
are exact, sampled (contrastive divergence) or those of a most probable world (voted perceptron); only with
exact ones is the value known. Groundings that evidence decides count on both sides and cancel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.problems.curvature import CurvatureSum, SampledCovariance
from mlnlab.learning.problems.ground_example import GroundExample, ground_example
from mlnlab.learning.problems.learning_state import frozen
from mlnlab.learning.problems.moments import Moments
from mlnlab.steps.state_layout import ArrayOf, Elsewhere, Several, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
    from mlnlab.learning.counts.exact_counts import ByJunctionTree, ByTables
    from mlnlab.learning.counts.sampled_counts import Chains, SampledCounts
    from mlnlab.learning.problems.training_data import Example, TrainingData

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExactLogLikelihood:
    """The (conditional) log-likelihood with exact expected counts."""

    name: str
    examples: tuple[GroundExample, ...]
    exact: tuple[ByTables | ByJunctionTree, ...]
    coins: tuple[float, ...]  # of each database: log Z of the atoms that no formula mentions

    has_value = True

    @property
    def has_quick_curvature(self) -> bool:
        """Whether the Hessian costs little more than an evaluation."""
        return all(exact.has_quick_curvature for exact in self.exact)

    @cached_property
    def counts(self) -> Numbers:
        """n_i of the open groundings in the data."""
        return np.asarray(sum(example.observed for example in self.examples))

    @cached_property
    def _decided(self) -> Numbers:
        """The groundings that evidence alone makes true: on both sides, so that n_i is as in ml.count."""
        return np.asarray(sum(example.decided for example in self.examples))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights."""
        found = [exact.at(weights) for exact in self.exact]
        expected = np.asarray(sum(one.expected for one in found))
        value = (
            float(self.counts @ weights) - sum(one.log_z for one in found) - sum(self.coins)
        )  # lecture notes, eq. 23
        curvature = CurvatureSum([one.curvature for one in found])
        decided = self._decided
        return Moments(self.counts + decided, expected + decided, curvature, value), memory

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments again."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> ExactLogLikelihood:
        """Return the same of some of the databases."""
        examples = tuple(self.examples[number] for number in databases)
        exact = tuple(self.exact[number] for number in databases)
        return replace(self, examples=examples, exact=exact, coins=tuple(self.coins[n] for n in databases))


@storable("learning.Drawn")
@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Samples drawn at some weights: the chains of each database, and a row of counts a sample."""

    chains: tuple[Chains, ...] = field(metadata=holds(Several(Elsewhere(), "databases")))
    counts: tuple[Numbers, ...] = field(
        metadata=holds(Several(ArrayOf(np.float64, (None, "formulas")), "databases"))
    )


@dataclass(frozen=True, eq=False)
class EstimatedLogLikelihood:
    """The conditional log-likelihood by its derivatives alone, from samples or most probable worlds."""

    name: str
    examples: tuple[GroundExample, ...]
    expecting: SampledCounts | BestWorldCounts
    numbers: tuple[int, ...]  # of the databases, for their streams of random numbers

    has_value = False

    @cached_property
    def counts(self) -> Numbers:
        """n_i of the open groundings in the data."""
        return np.asarray(sum(example.observed for example in self.examples))

    @cached_property
    def _decided(self) -> Numbers:
        """The groundings that evidence alone makes true: on both sides, so that n_i is as in ml.count."""
        return np.asarray(sum(example.decided for example in self.examples))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights, and the samples drawn."""
        began = time.perf_counter()
        before = memory.chains if isinstance(memory, Drawn) else self._first()
        pairs = zip(self.examples, before, strict=True)
        found = [self.expecting.draw_counts(example, weights, chains) for example, chains in pairs]
        drawn = Drawn(tuple(chains for _, chains in found), tuple(frozen(rows) for rows, _ in found))
        return replace(self._of(drawn), sampling_seconds=time.perf_counter() - began), drawn

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments of the samples drawn."""
        return self._of(memory) if isinstance(memory, Drawn) else self.moments(weights)[0]

    def _of(self, drawn: Drawn) -> Moments:
        expected, variances = np.zeros(len(self.counts)), np.zeros(len(self.counts))
        parts = []
        for rows in drawn.counts:
            expected += rows.mean(axis=0)
            parts.append(SampledCovariance(rows, np.full(len(rows), 1 / len(rows))))
            variances += rows.var(axis=0, ddof=1) / len(rows) if len(rows) > 1 else 0.0
        decided = self._decided
        curvature, errors = CurvatureSum(parts), np.sqrt(variances)
        number = len(drawn.counts[0])
        return Moments(self.counts + decided, expected + decided, curvature, None, errors, samples=number)

    def _first(self) -> tuple[Chains, ...]:
        pairs = zip(self.examples, self.numbers, strict=True)
        return tuple(self.expecting.first(example, number) for example, number in pairs)

    def part(self, databases: Sequence[int]) -> EstimatedLogLikelihood:
        """Return the same of some of the databases."""
        examples = tuple(self.examples[number] for number in databases)
        return replace(self, examples=examples, numbers=tuple(self.numbers[number] for number in databases))


def estimated_log_likelihood(
    data: TrainingData, expecting: SampledCounts | BestWorldCounts
) -> EstimatedLogLikelihood:
    """Ground every database; expected counts will be estimated."""
    examples = tuple(ground_example(data, example) for example in data.examples)
    return EstimatedLogLikelihood(data.likelihood, examples, expecting, tuple(range(len(examples))))


def exact_log_likelihood(data: TrainingData) -> ExactLogLikelihood:
    """Ground every database, and list its worlds or build its junction tree."""
    from mlnlab.learning.counts.exact_counts import exact_counts

    examples = tuple(ground_example(data, example) for example in data.examples)
    coins = tuple(count_coins(data, example) for example in data.examples)
    return ExactLogLikelihood(data.likelihood, examples, tuple(map(exact_counts, examples)), coins)


def count_coins(data: TrainingData, example: Example) -> float:
    """Return the logarithm of how many worlds the predicted atoms have that no formula mentions."""
    total = 0.0
    for name in set(data.predicted) - set(data.mentioned):
        predicate = example.vocabulary[name]
        sizes = [len(example.vocabulary.domain(type_)) for type_ in predicate.types]
        known = data.known_false(example, name).astype(np.int64)
        if predicate.exclusive:
            keys = [sizes[place] for place in predicate.block_keys]
            options = prod(sizes[place] for place in predicate.exclusive) + predicate.at_most_one
            block = np.zeros(len(known), np.int64)
            for place, size in zip(predicate.block_keys, keys, strict=True):
                block = block * size + known[:, place]
            left = options - np.bincount(block, minlength=prod(keys))
            total += float(np.log(left).sum())
        else:
            total += (prod(sizes) - len(known)) * log(2)
    return total

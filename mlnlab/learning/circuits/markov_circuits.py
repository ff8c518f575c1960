"""Weights of a Markov network on a learned circuit, by exact gradients (Lowd and Rooshenas, 2013).

Each parameter of the circuit stands for a feature: the conjunction of the values on the way to its leaf and
the value of the leaf's variable. As e^w of a free weight w it need not be a probability; then the circuit's
value with all indicators at 1 is Z, and one pass up and one down give log Z and all expected counts. The
likelihood is concave, and the network's own parameters are where learning begins, so that without a prior
the result fits the data at least as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import PARAMETER
from mlnlab.errors import ArgumentError
from mlnlab.learning.circuits.leaf_rows import Leaves
from mlnlab.learning.circuits.split_ac import SplitCircuit
from mlnlab.learning.networks.split_gains import SplitGains
from mlnlab.learning.optimizers import l_bfgs
from mlnlab.learning.problems.free_weights import FreeWeights
from mlnlab.learning.problems.moments import Moments
from mlnlab.learning.problems.priors import Gaussian, PriorLike, priors_of
from mlnlab.learning.problems.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
    from mlnlab.learning.circuits.learned_circuit import LearnedCircuit

    Numbers = NDArray[np.float64]

USUAL_PRIOR = Gaussian(0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVariances:
    """The variances of feature counts: a rough scale for the steps of an optimiser."""

    variances: Numbers

    def diagonal(self) -> Numbers:
        """Return the variances."""
        return self.variances

    def rough_diagonal(self) -> Numbers:
        """Return the variances, at little cost."""
        return self.variances

    def times(self, direction: Numbers) -> Numbers:
        """Return the product with the diagonal alone."""
        return self.variances * direction

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd of the diagonal alone."""
        return float(direction @ (self.variances * direction))

    def matrix(self) -> Numbers:
        """Return the diagonal as a matrix."""
        return np.diag(self.variances)


@dataclass(frozen=True, slots=True, eq=False)
class CircuitLikelihood:
    """The log-likelihood of rows by the weights of a circuit's features."""

    circuit: ArithmeticCircuit
    feature: NDArray[np.int64]  # of each node, -1 where it is not a parameter
    counts: Numbers  # of each feature in the rows
    rows: int
    name: str = "log-likelihood"
    has_value: bool = True

    def with_weights(self, weights: Numbers) -> ArithmeticCircuit:
        """Return the circuit with e^w as parameters."""
        return self.circuit.with_parameters(np.where(self.feature >= 0, np.exp(weights)[self.feature], 0.0))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return observed and expected counts of the features, and the value w'n - N log Z."""
        found = self.with_weights(weights).evaluate({})
        chosen = self.feature >= 0
        shares = np.bincount(self.feature[chosen], found.flows[chosen], len(weights)).astype(np.float64)
        value = float(weights @ self.counts) - self.rows * found.log_value
        variances = FeatureVariances(self.rows * shares * (1 - np.minimum(shares, 1.0)))
        return Moments(self.counts, self.rows * shares, variances, value), memory

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments at some weights: they are exact, so nothing is remembered."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> CircuitLikelihood:
        """Refuse: rows of a table are not databases."""
        raise ArgumentError(f"The rows of a table have no part {databases!r:.40}.")


def likelihood_of(found: LearnedCircuit) -> tuple[CircuitLikelihood, Numbers]:
    """Return the likelihood of a learned circuit's own rows, and the weights of its network."""
    gains = SplitGains(found.table, found.params.score, found.params.prior)
    work, leaves = SplitCircuit(found.variables, collapses=True), Leaves(gains)
    for pair in found.splits:
        work.split(*pair)
        leaves.split(*pair)
    ends = np.cumsum([len(leaf.totals) for leaf in leaves.leaves])
    numbered = work.freeze([row.tolist() for row in np.split(np.arange(ends[-1]), ends[:-1])])
    feature = np.where(numbered.kinds == PARAMETER, numbered.parameters, -1).astype(np.int64)
    counts = np.concatenate([leaf.totals for leaf in leaves.leaves]).astype(np.float64)
    weights = np.log(np.concatenate(leaves.distributions()))
    return CircuitLikelihood(numbered, feature, counts, len(found.table)), weights


def make_problem(found: LearnedCircuit, prior: PriorLike) -> Problem:
    """Return the problem of learning the weights, from those of the network on."""
    objective, start = likelihood_of(found)
    number = len(start)
    ends = np.full(number, inf)
    free = FreeWeights(np.zeros(number), np.arange(number), start, -ends, ends)
    return Problem(objective, free, priors_of(prior, free.parameter, number))


def learn_weights_of(found: LearnedCircuit, prior: PriorLike = USUAL_PRIOR) -> ArithmeticCircuit:
    """Return a learned circuit with the weights of a Markov network, its parameters scaled so that Z is 1."""
    problem = make_problem(found, prior)
    *_, last = l_bfgs.steps(l_bfgs.Params(iterations=200), problem)
    objective = problem.objective
    assert isinstance(objective, CircuitLikelihood)  # noqa: S101 - made above
    log_z = objective.with_weights(last.weights).log_z
    # Each world has one leaf of the first variable, so that its weights take the constant.
    first = objective.circuit.variable[objective.feature >= 0] == 0
    weights = last.weights.copy()
    weights[np.unique(objective.feature[objective.feature >= 0][first])] -= log_z
    return objective.with_weights(weights)

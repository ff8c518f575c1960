"""How good a clustering of constants is: the log-posterior of LiftGraph in closed form.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), section 3.1.
The likelihood is that of an MLN with one *atom prediction rule* for each predicate r and each cluster
combination (γ1, ..., γn) that holds a true atom of r,

    x1 ∈ γ1 ∧ ... ∧ xn ∈ γn ⇒ r(x1, ..., xn),

and one *default rule* for each predicate, for all its atoms in combinations without a true one. Clusters are
given, so a rule says the same of each of its atoms: where t of n atoms are true, its best weight is
log(t / (n - t)), and its atoms have the log-likelihood t log(t/n) + (n - t) log((n - t)/n). The atoms of a
default rule are all false; its best weight is minus infinity and its log-likelihood 0. The prior takes λ for
each combination that holds a true atom.

*Smoothing* (α, β) predicts an atom with probability (t + α) / (n + α + β) instead, as if α true and β false
atoms had been seen in each combination before; then default rules have finite weights and count, too. Without
smoothing, (0, 0), everything is as the paper has it.

What a combination adds is rounded to a multiple of 2^-36. Sums of such numbers are exact in any order, so
that a gain depends on the clustering alone and not on the merges that led to it, and a run that is resumed
makes the same merges bit for bit. Gains that are equal as real numbers may differ by some of these multiples
(3 of 6 atoms are not quite three times 1 of 2), so they are compared as multiples of 2^-24.
"""

from __future__ import annotations

from math import inf, log, log1p
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mlnlab.steps.state_layout import Several, Whole, tuple_holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

Smoothing = tuple[float, float]
Units = TypeVar("Units", int, "NDArray[np.int64]")

UNITS = 2.0**36  # to one: what is added is a whole number of these
_TOO_FINE = 12  # binary digits of these in which rounding has a share
_HALF = 1 << (_TOO_FINE - 1)


@storable("lift_graph.Combination")
class Combination(NamedTuple):
    """A cluster combination: its clusters in the order of arguments, how many atoms are true, of how many."""

    clusters: tuple[int, ...]
    true: int
    atoms: int


tuple_holds(Combination, clusters=Several(Whole()), true=Whole(), atoms=Whole())


class PredictionRule(NamedTuple):
    """The rule of a combination with its best weight; without clusters it is the predicate's default rule."""

    predicate: str
    combination: Combination
    weight: float
    log_likelihood: float


class ClusteringPosterior(NamedTuple):
    """The two parts of a log-posterior, up to the constant that all clusterings share."""

    log_likelihood: float
    log_prior: float

    @property
    def log_posterior(self) -> float:
        """The sum of both."""
        return self.log_likelihood + self.log_prior


def log_likelihood(true: int, atoms: int, smoothing: Smoothing = (0.0, 0.0)) -> float:
    """Return the log-likelihood of a rule's atoms at its best weight.

    >>> log_likelihood(4, 4), round(log_likelihood(1, 2), 6)
    (0.0, -1.386294)
    """
    alpha, beta = smoothing
    seen = atoms + alpha + beta
    positive = true * log((true + alpha) / seen) if true else 0.0
    # Few true atoms of many: log1p keeps the digits of the false ones, of which there are millions.
    return positive + ((atoms - true) * log1p(-(true + alpha) / seen) if atoms > true else 0.0)


def best_weight(true: int, atoms: int, smoothing: Smoothing = (0.0, 0.0)) -> float:
    """Return the weight of a rule: infinite where all its atoms are true or all false, unless smoothed."""
    positive, negative = true + smoothing[0], atoms - true + smoothing[1]
    if not positive or not negative:
        return inf if positive else -inf
    return log(positive / negative)


def in_units(value: float) -> int:
    """Return a number as the nearest whole number of units."""
    return round(value * UNITS)


def from_units(units: int) -> float:
    """Convert units to a number."""
    return units / UNITS


def make_comparison_key(units: Units) -> Units:
    """Return the key by which gains in units are compared: equal for gains that differ only by rounding.

    >>> one, three = in_units(log_likelihood(1, 2)), in_units(log_likelihood(3, 6))
    >>> 3 * one == three, make_comparison_key(3 * one - three) == make_comparison_key(0)
    (False, True)
    """
    return (units + _HALF) >> _TOO_FINE


def default_atoms(graph: LiftedHypergraph) -> dict[str, int]:
    """Return for each predicate with true atoms how many atoms are in no combination that holds one."""
    found: dict[str, int] = {}
    for predicate, rows in graph.hypergraph.members.items():
        if rows.shape[1]:
            found[predicate] = 1
            for type_ in graph.hypergraph.vocabulary.predicates[predicate].types:
                found[predicate] *= len(graph.hypergraph.constants[type_])
    for edge in graph.edges:
        found[edge.predicate] -= edge.atoms
    return found


def prediction_rules(graph: LiftedHypergraph, smoothing: Smoothing = (0.0, 0.0)) -> Iterator[PredictionRule]:
    """Yield the atom prediction rules of all hyperedges, and then the default rules."""
    for edge in graph.edges:
        combination = Combination(edge.clusters, edge.true, edge.atoms)
        yield _rule(edge.predicate, combination, smoothing)
    for predicate, atoms in default_atoms(graph).items():
        yield _rule(predicate, Combination((), 0, atoms), smoothing)


def _rule(predicate: str, combination: Combination, smoothing: Smoothing) -> PredictionRule:
    numbers = combination.true, combination.atoms
    weight, score = best_weight(*numbers, smoothing), log_likelihood(*numbers, smoothing)
    return PredictionRule(predicate, combination, weight, score)


def posterior_of(rules: Iterable[PredictionRule], penalty: float = 1.0) -> ClusteringPosterior:
    """Return the log-posterior of a clustering from its rules."""
    likelihood = combinations = 0
    for rule in rules:
        likelihood += in_units(rule.log_likelihood)
        combinations += bool(rule.combination.clusters)
    return ClusteringPosterior(from_units(likelihood), -from_units(combinations * in_units(penalty)))


def clustering_posterior(
    graph: LiftedHypergraph, penalty: float = 1.0, smoothing: Smoothing = (0.0, 0.0)
) -> ClusteringPosterior:
    """Return the log-posterior of a lifted hypergraph from scratch."""
    return posterior_of(prediction_rules(graph, smoothing), penalty)

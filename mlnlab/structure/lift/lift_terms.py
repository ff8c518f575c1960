"""List the gain of a merge, combination by combination: the terms that a person can check by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlnlab.steps.state_layout import REPORTED, TEXT, Part, Several, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.lift.clustering_posterior import Combination, from_units, in_units, log_likelihood

if TYPE_CHECKING:
    from mlnlab.structure.lift.lift_search import Edge, LiftSearch, Pair


@storable("lift_graph.GainTerm")
@dataclass(frozen=True, slots=True)
class GainTerm:
    """The combinations that become one, the resulting one, and its gain in log-likelihood and log-prior.

    A term without clusters in its combinations is of a default rule, which has a part where smoothing is on.
    """

    predicate: str = field(metadata=holds(TEXT))
    before: tuple[Combination, ...] = field(metadata=holds(Several(Part(Combination))))
    after: Combination = field(metadata=holds(Part(Combination)))
    likelihood: float = field(metadata=holds(REPORTED))
    prior: float = field(metadata=holds(REPORTED))


def gain_terms(search: LiftSearch, pair: Pair) -> tuple[GainTerm, ...]:
    """Return the terms of a gain, which add up to it exactly."""
    found = []
    for new, old in search.groups(pair.first, pair.second).items():
        before = [_combination(search, edge) for edge in old]
        atoms = search.atoms(new, pair.first, pair.second)
        after = Combination(new[2:], sum(combination.true for combination in before), atoms)
        found.append(_term(search, _predicates(search, old), before, after, len(before) - 1))
    for sizes, size, name in search.default_changes(pair.first, pair.second):
        unused = [Combination((), 0, atoms) for atoms in sizes]
        found.append(_term(search, name, unused, Combination((), 0, size), 0))
    return tuple(found)


def _combination(search: LiftSearch, edge: Edge) -> Combination:
    return Combination(edge[2:], search.true[edge], search.atoms(edge))


def _predicates(search: LiftSearch, edges: list[Edge]) -> str:
    clusters = sorted({edge[1] for edge in edges})
    return ", ".join(search.predicates_of(cluster) for cluster in clusters)


def _term(
    search: LiftSearch, predicate: str, before: list[Combination], after: Combination, saved: int
) -> GainTerm:
    units = -sum(_units(search, combination) for combination in before) + _units(search, after)
    prior = from_units(saved * search.penalty)
    return GainTerm(predicate, tuple(before), after, from_units(units), prior)


def _units(search: LiftSearch, combination: Combination) -> int:
    return in_units(log_likelihood(combination.true, combination.atoms, search.smoothing))

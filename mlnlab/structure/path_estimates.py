"""How many paths there are, estimated before anybody lists them.

Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29, 1975: go down the
tree of the search at random; the product of the numbers of branches on the way to a level is an unbiased
estimate of how many nodes that level has. Averages of many ways down are told with their standard error.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.structure.paths import check_longest, following

if TYPE_CHECKING:
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph


class PathsEstimate(NamedTuple):
    """About how many connected sets of 2 or more hyperedges there are, and how far that may be off."""

    number: float
    error: float


def estimated_paths(
    graph: LiftedHypergraph, longest: int, *, samples: int = 400, seed: int = 0
) -> PathsEstimate:
    """Return about how many paths of 2 to ``longest`` hyperedges a hypergraph has, and the standard error.

    The larger numbers are, the rarer the ways to most of them: an estimate of 10^8 may be off by as much.
    """
    check_longest(longest)
    if samples < 2:
        raise ArgumentError(f"An estimate needs 2 ways down or more, not {samples}.")
    if not len(graph.edges):
        return PathsEstimate(0.0, 0.0)
    chance = np.random.default_rng(seed)
    found = np.array([_way_down(graph, longest, chance) for _ in range(samples)])
    return PathsEstimate(float(found.mean()), float(found.std(ddof=1)) / sqrt(samples))


def _way_down(graph: LiftedHypergraph, longest: int, chance: np.random.Generator) -> float:
    """Return the sum of the products of branches on one way down, from the second level on."""
    product, total = float(len(graph.edges)), 0.0
    path = [int(chance.integers(len(graph.edges)))]
    additions = following(graph, path)
    while len(path) < longest and additions:
        product *= len(additions)
        total += product
        place = int(chance.integers(len(additions)))
        path.append(additions[place])
        additions = following(graph, path, additions[place + 1 :])
    return total

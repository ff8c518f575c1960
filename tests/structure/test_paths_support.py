"""Variabilised paths with their support: grown ones equal those of all connected sets."""

from __future__ import annotations

from collections import defaultdict

import pytest

from mlnlab.structure.path_support import supported_paths
from mlnlab.structure.paths import connected_paths
from mlnlab.structure.variabilized import variabilize
from tests.structure.small_hypergraphs import random_lifted


def listed(graphs, longest, singles):
    """Return the hyperedges of all paths that look alike, per database, by listing all connected sets."""
    found = defaultdict(lambda: [set() for _ in graphs])
    for number, graph in enumerate(graphs):
        for edges in connected_paths(graph, longest, singles):
            found[variabilize(graph, edges)][number].update(edges)
    return {path: tuple(tuple(sorted(edges)) for edges in sets) for path, sets in found.items()}


def true_atoms(graphs, edges):
    return sum(graph.edges[n].true for graph, numbers in zip(graphs, edges, strict=True) for n in numbers)


@pytest.mark.parametrize("seed", range(8))
def test_grown_paths_are_those_of_all_connected_sets(seed):
    graphs = [random_lifted(seed), random_lifted(seed + 100, facts=6, clusters=2)]
    singles = seed % 2 == 0
    grown = list(supported_paths(graphs, 4, singles=singles))
    expected = listed(graphs, 4, singles)
    assert {one.path: tuple(tuple(numbers.tolist()) for numbers in one.edges) for one in grown} == expected
    assert len(grown) == len(expected)
    assert [one.length for one in grown] == sorted(one.length for one in grown)
    for one in grown:
        assert one.true_atoms == true_atoms(graphs, expected[one.path])
    enough = {one.path for one in grown if one.true_atoms >= 2.5 * one.length}
    assert {one.path for one in supported_paths(graphs, 4, singles=singles, fewest=2.5)} == enough

"""Variabilised paths with their support: grown ones equal those of all connected sets."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from math import ceil

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.lift import path_growing, path_patterns
from mlnlab.kernels.lift import supported_paths as path_support
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths import path_support as growing
from mlnlab.structure.paths.hyperedge_paths import connected_paths
from mlnlab.structure.paths.path_places import Places
from mlnlab.structure.paths.path_support import supported_paths
from mlnlab.structure.paths.remembered_paths import remembered_paths
from mlnlab.structure.paths.variabilized import canonical_path, variabilize
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


def test_compiled_and_plain_kernels_say_the_same(monkeypatch):
    graphs = [random_lifted(3), random_lifted(11, facts=7)]
    compiled = as_values(supported_paths(graphs, 4, fewest=2))
    for module, name in ((path_growing, "grow"), (path_support, "support"), (path_patterns, "fill_slots")):
        monkeypatch.setattr(module, name, plain_twin(getattr(module, name)))
    with np.errstate(over="ignore"):  # hashes wrap around
        assert as_values(supported_paths(graphs, 4, fewest=2)) == compiled
    assert compiled


def test_what_takes_too_much_memory_is_done_without(monkeypatch):
    graphs = [random_lifted(5), random_lifted(12, facts=7)]
    expected = as_values(supported_paths(graphs, 4, fewest=2))
    monkeypatch.setattr(growing, "_MOST_BYTES", 0)
    assert as_values(supported_paths(graphs, 4, fewest=2)) == expected


def as_values(paths):
    return [(one.path, [numbers.tolist() for numbers in one.edges], one.true_atoms) for one in paths]


def test_the_search_tells_how_far_it_is_and_can_be_left():
    graphs = [random_lifted(6, facts=12)]
    told = []
    found = list(supported_paths(graphs, 4, fewest=2, progress=told.append))
    last = {one.length: one for one in told}
    assert sorted(last) == [1, 2, 3, 4]
    for length, one in last.items():
        assert one.grown == one.shorter
        assert one.expected == one.found <= one.tried
        assert one.kept == sum(path.length == length for path in found)
        assert one.kept <= one.found
        assert length == 1 or one.shorter == last[length - 1].found
    left = supported_paths(graphs, 4)
    assert next(left).length == 2
    left.close()


def test_a_search_that_is_stopped_goes_on_with_the_length_it_was_at(monkeypatch):
    graphs = [random_lifted(6, facts=12)]
    expected = as_values(supported_paths(graphs, 4, fewest=2))
    search = growing.PathSearch(graphs, 4, fewest=2)
    for path in search.paths():
        if path.length == 4:
            break
    assert search.lengths_done == 3
    lengths, begun = [], growing._Level.__init__

    def beginning(level, places, length, *rest):
        lengths.append(length)
        begun(level, places, length, *rest)

    monkeypatch.setattr(growing._Level, "__init__", beginning)
    assert as_values(search.paths()) == expected
    assert as_values(search.paths()) == expected
    assert lengths == [4]


def test_a_search_that_another_thread_overtakes_goes_on_from_its_own_length(monkeypatch):
    graphs = [random_lifted(3)]
    expected = [path.path for path in supported_paths(graphs, 3)]
    search, overtaken = growing.PathSearch(graphs, 3), []

    def overtake(number):  # as if another thread came between, when the second length begins
        if search.lengths_done == 1 and not overtaken:
            overtaken.append(None)
            overtaken.extend(path.path for path in search.paths())
        return ceil(number)

    monkeypatch.setattr(growing, "ceil", overtake)
    assert [path.path for path in search.paths()] == expected
    assert overtaken[1:] == expected
    assert [path.path for path in deepcopy(search).paths()] == expected


def test_a_search_is_remembered_by_what_was_searched():
    def graphs(seed):
        return [random_lifted(seed, facts=12)]

    first = list(remembered_paths(graphs(6), 3))
    again = list(remembered_paths(graphs(6), 3))
    assert all(one is other for one, other in zip(first, again, strict=True))
    for others in (remembered_paths(graphs(6), 2), remembered_paths(graphs(7), 3)):
        assert next(others) is not first[0]
    fewer = as_values(remembered_paths(graphs(6), 3, fewest=3))
    assert fewer == as_values(supported_paths(graphs(6), 3, fewest=3))
    assert len(fewer) < len(first)


def test_databases_without_hyperedges_or_of_other_predicates():
    empty = random_lifted(1, facts=0)
    assert list(supported_paths([empty], 3, singles=True)) == []
    assert list(supported_paths([], 3)) == []
    graph = random_lifted(2)
    (one, *_) = supported_paths([empty, graph], 2)
    assert len(one.edges[0]) == 0
    assert len(one.edges[1])
    other = ml.MLN.from_text("Likes(b, a)")
    swapped = separate_constants(ml.Hypergraph.from_database(ml.Database.from_text("Likes(B, A)", other)))
    with pytest.raises(
        ArgumentError, match=r"Likes is declared in two ways, Likes\(a, a\) and Likes\(b, a\)"
    ):
        list(supported_paths([random_lifted(2), swapped], 2))


def test_where_a_path_lies_alone():
    graph = random_lifted(4, facts=14)
    places = Places([graph])
    for one in supported_paths([graph], 3, singles=True):
        (edges,) = places.union(one.path)
        assert edges.tolist() == one.edges[0].tolist()
        assert places.true_atoms(one.path) == one.true_atoms
    assert places.true_atoms(canonical_path([("Unknown", (0, 1))])) == 0

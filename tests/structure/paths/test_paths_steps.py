"""FindPaths step by step: the sets of ``connected_paths``, and every state a place to go on from."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.steps.values.encoding import REGISTRY
from mlnlab.structure.paths.hyperedge_paths import connected_paths
from mlnlab.structure.paths.path_support import supported_paths
from mlnlab.structure.paths.variabilized import variabilize
from tests.structure.small_hypergraphs import random_lifted


@pytest.mark.parametrize("seed", range(4))
def test_the_steps_find_what_connected_paths_finds(seed):
    graph = random_lifted(seed)
    singles = seed % 2 == 0
    states = list(ml.find_paths(graph, 3, singles=singles))
    found = [tuple(sorted(state.path)) for state in states if state.verdict]
    assert found == list(connected_paths(graph, 3, singles))
    assert states[-1].ended
    assert states[-1].found == len(found)
    assert Counter(state.did for state in states)["added"] == Counter(s.did for s in states)["backed up"]
    for before, after in pairwise(states):
        if after.did == "added":
            assert after.path == (*before.path, after.edge)
        elif after.did == "backed up":
            assert before.path == (*after.path, after.edge)


def test_support_is_that_of_all_paths_which_look_alike():
    graph = random_lifted(5, facts=40)
    support = {one.path: one.true_atoms for one in supported_paths([graph], 3)}
    kept = set()
    for state in ml.find_paths(graph, 3, fewest=3):
        if state.verdict:
            path = variabilize(graph, state.path)
            assert state.support == support[path]
            assert (state.verdict == "kept") == (support[path] >= 3 * len(state.path))
            assert ("fewer than 3 for each" in state.reason) == (state.verdict == "dropped")
            kept.update([path] * (state.verdict == "kept"))
        elif state.did == "backed up" and len(state.path) > 1:
            assert state.support == support[variabilize(graph, state.path)]
        elif not state.path:
            assert (state.support, state.true_atoms) == (0, 0)
    assert kept == {one.path for one in supported_paths([graph], 3, fewest=3)}
    assert 0 < len(kept) < len(support)


def test_a_run_goes_on_from_any_state():
    search = ml.find_paths(random_lifted(2), 3)
    states = list(search)
    for place in range(0, len(states), 7):
        assert (
            list(search.resume(REGISTRY.decode_tree(REGISTRY.encode_value(states[place]))))
            == states[place + 1 :]
        )
    with pytest.raises(ArgumentError, match="from other data"):
        next(ml.find_paths(random_lifted(2, facts=2), 2).resume(states[-3]))


def test_hyperedges_that_are_known_are_those_left_aside():
    graph = random_lifted(4)
    search = ml.find_paths(graph, 3)
    seen = set()
    for state in search:
        if state.did == "added":
            seen.add(frozenset(state.path))
            if len(state.path) < 3:
                assert all(
                    frozenset((*state.path, edge)) in seen for edge in search.list_known_edges(state.path)
                )
    assert repr(search).startswith("<FindPaths: up to 3 hyperedges of <LiftedHypergraph")


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(ArgumentError, match="a hypergraph or a database, not in 'x'"):
        ml.find_paths("x")
    with pytest.raises(ArgumentError, match="at least 0, not -1"):
        ml.find_paths(random_lifted(1), fewest=-1)

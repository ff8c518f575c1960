"""The two search structures of LiftGraph, the readable and the compiled one: the same in every number."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.errors import TooLargeError
from mlnlab.structure.lift import fast_lift_search
from mlnlab.structure.lift.fast_lift_search import FastLiftSearch
from mlnlab.structure.lift.lift_graph import SMALL
from mlnlab.structure.lift.lift_problem import lift_problem
from mlnlab.structure.lift.lift_search import LiftSearch
from tests.structure.lift.lift_oracle import databases, planted
from tests.support.thoroughness import examples


def both(problem, penalty=1.0):
    labels = np.arange(len(problem.type_of))
    return (kind(problem, labels, penalty, (0.0, 0.0)) for kind in (LiftSearch, FastLiftSearch))


def combinations(problem, labels):
    """The combinations of a clustering with their true atoms, read off the rows."""
    counts = defaultdict(int)
    for signature, rows in enumerate(problem.rows):
        for row in labels[rows].tolist():
            counts[signature, *row] += 1
    return counts


def check(problem, search):
    """Index H and E hold what the clustering says, at every node of every hyperedge."""
    expected = combinations(problem, search.labels)
    assert search.hyperedges == len(expected)
    for node in range(len(search.labels)):
        at_node = {edge for edge in expected if node in edge[1:]}
        listed = list(search.edges_at(node))
        assert len(listed) == len(set(listed))
        assert set(listed) == at_node
        assert all(search.true[edge] == expected[edge] for edge in listed)


@given(databases(least=3, most=24), st.booleans(), st.data())
@settings(max_examples=examples(60))
def test_both_know_the_same_after_any_merges(db, predicates, data):
    """Merges need not gain here: every pair of a type may come, whether it shares a context or not."""
    problem = lift_problem(db, cluster_predicates=predicates)
    slow, fast = both(problem)
    while True:
        for number in map(problem.types.index, problem.clustered_types):
            expected = slow.best_pairs(number, -1)
            assert fast.best_pairs(number, -1) == expected
            assert fast.best(number) == (expected[0] if expected else None)
        assert fast.likelihood() == slow.likelihood()
        check(problem, slow)
        check(problem, fast)
        clusters = [
            node
            for node in np.unique(slow.labels).tolist()
            if problem.types[problem.type_of[node]] in problem.clustered_types
        ]
        kinds = problem.type_of
        pairs = [(a, b) for a in clusters for b in clusters if a < b and kinds[a] == kinds[b]]
        if not pairs:
            return
        pair = data.draw(st.sampled_from(pairs))
        slow.merge(*pair)
        fast.merge(*pair)
        assert np.array_equal(slow.labels, fast.labels)


def test_a_whole_search_is_the_same():
    problem = lift_problem(planted(0.1, seed=1, members=9)[0])
    assert problem.hypergraph.number_of_edges > SMALL
    slow, fast = both(problem)
    merges = 0
    for number in (0, 1) * 40:
        best = slow.best(number)
        assert fast.best(number) == best
        if best is not None and best.gain > 0:
            slow.merge(best.first, best.second)
            fast.merge(best.first, best.second)
            merges += 1
    assert merges > 20
    assert (fast.hyperedges, fast.likelihood()) == (slow.hyperedges, slow.likelihood())


def test_a_table_that_is_too_small_grows_and_one_too_large_is_refused(monkeypatch):
    problem = lift_problem(planted(0.1, seed=1, members=9)[0])
    expected = next(both(problem)).best_pairs(0, -1)
    monkeypatch.setattr(fast_lift_search, "FIRST_PLACES", 4)
    search = FastLiftSearch(problem, np.arange(len(problem.type_of)), 1.0, (0.0, 0.0))
    assert search.best_pairs(0, -1) == expected
    monkeypatch.setattr(fast_lift_search, "MOST_PAIRS", 1 << 4)
    with pytest.raises(TooLargeError, match="pairs of clusters share a context"):
        FastLiftSearch(problem, np.arange(len(problem.type_of)), 1.0, (0.0, 0.0))

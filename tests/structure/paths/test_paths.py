"""Paths: every connected set of hyperedges once, and what paths look like once clusters are variables."""

from __future__ import annotations

from itertools import combinations, permutations
from tracemalloc import get_traced_memory, start, stop

import networkx as nx
import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.find_paths import estimated_paths
from mlnlab.structure.paths.hyperedge_paths import Path, connected_paths
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath, canonical_path, variabilize
from tests.structure.small_hypergraphs import MODEL, random_lifted

DEPARTMENT = "Advises(prof, stud)\nTeaches(prof, course)\nTAs(stud, course)"
FACTS = "Advises(P, S)\nAdvises(P, T)\nTeaches(P, C)\nTAs(S, C)\nTAs(T, C)"


def department():
    mln = ml.MLN.from_text(DEPARTMENT)
    return separate_constants(ml.Hypergraph.from_database(ml.Database.from_text(FACTS, mln)))


def brute_force(graph, longest):
    """Return all connected sets of 2 or more hyperedges, by trying all sets."""
    links = nx.Graph()
    for edge in graph.edges:
        links.add_node(edge.number)
        for other in graph.edges[: edge.number]:
            if set(edge.clusters) & set(other.clusters):
                links.add_edge(edge.number, other.number)
    sizes = range(2, longest + 1)
    sets = (chosen for size in sizes for chosen in combinations(range(len(graph.edges)), size))
    return {chosen for chosen in sets if nx.is_connected(links.subgraph(chosen))}


@pytest.mark.parametrize("seed", range(12))
def test_each_connected_set_comes_once(seed):
    graph = random_lifted(seed, facts=10)
    found = list(connected_paths(graph, 4))
    assert len(found) == len(set(found))
    assert set(found) == brute_force(graph, 4)
    alone = list(connected_paths(graph, 4, singles=True))
    assert sorted(alone) == sorted([*found, *((edge.number,) for edge in graph.edges)])
    assert list(connected_paths(graph, 4)) == found


def test_the_paths_come_lazily_and_only_the_way_to_one_is_kept():
    mln = ml.MLN.from_text("Likes(a, a)")
    facts = "\n".join(f"Likes(A{i}, A{j})" for i in range(20) for j in range(20))
    graph = separate_constants(ml.Hypergraph.from_database(ml.Database.from_text(facts, mln)))
    paths = connected_paths(graph, 6)
    next(paths)
    start()
    for _ in range(20_000):
        next(paths)
    assert get_traced_memory()[1] < 500_000
    stop()


def test_a_path_knows_what_it_holds():
    path = Path(department(), (3, 0, 2))
    assert path.edges == (0, 2, 3)
    assert path.true_atoms == 3
    assert str(path.variabilize()) == "Advises(x0, x1) ^ TAs(x1, x2) ^ Teaches(x0, x2)"
    assert repr(path) == f"<Path of 3 hyperedges: {path.variabilize()}>"
    assert path == Path(path.graph, (0, 2, 3))
    drawn = path.to_networkx()
    assert nx.is_connected(drawn)
    assert sorted(data["positions"] for _, _, data in drawn.edges(data=True)) == [(1,)] * 3 + [(2,)] * 3
    with pytest.raises(ArgumentError, match=r"\[0, 4\] are not a path"):
        Path(path.graph, (0, 4))
    with pytest.raises(ArgumentError, match="0 to 4, not of"):
        Path(path.graph, (5,))
    with pytest.raises(ArgumentError, match="1 hyperedge or more, not 0"):
        next(connected_paths(path.graph, 0))


@pytest.mark.parametrize("seed", range(6))
def test_paths_that_look_alike_are_one_value(seed):
    chance = np.random.default_rng(seed)
    graph = random_lifted(seed, facts=12)
    for edges in list(connected_paths(graph, 5))[::7]:
        atoms = [(graph.edges[edge].predicate, graph.edges[edge].clusters) for edge in edges]
        renamed = dict(enumerate(chance.permutation(len(graph.labels)).tolist()))
        chance.shuffle(atoms)
        again = [(predicate, tuple(renamed[v] for v in variables)) for predicate, variables in atoms]
        path = variabilize(graph, edges)
        assert canonical_path(again) == path
        assert canonical_path(path.atoms) == path


def smallest(atoms):
    """Return the smallest way to write atoms down, by trying all orders."""
    ways = []
    for order in permutations(atoms):
        numbers = {}
        ways.append(
            tuple(PathAtom(p, tuple(numbers.setdefault(v, len(numbers)) for v in vs)) for p, vs in order)
        )
    return VariabilizedPath(min(ways))


def test_paths_are_one_value_only_if_they_look_alike():
    graph = random_lifted(3, facts=14)
    for edges in connected_paths(graph, 4):
        atoms = [(graph.edges[edge].predicate, graph.edges[edge].clusters) for edge in edges]
        assert canonical_path(atoms) == smallest(atoms)
    cycle = [("Likes", (i, (i + 1) % 6)) for i in range(6)]
    triangles = [("Likes", (3 * (i // 3) + i % 3, 3 * (i // 3) + (i + 1) % 3)) for i in range(6)]
    assert canonical_path(cycle) != canonical_path(triangles)


def test_a_variabilised_path_in_logic():
    path = variabilize(department(), (0, 1, 2, 3))
    vocabulary = ml.MLN.from_text(DEPARTMENT).vocabulary
    assert [str(atom) for atom in path.formulas(vocabulary)] == [
        "Advises(p, s1)", "Advises(p, s2)", "TAs(s1, c)", "Teaches(p, c)",
    ]  # fmt: skip
    assert {v.type for atom in path.formulas(vocabulary) for v in atom.arguments} == {
        "prof",
        "stud",
        "course",
    }
    assert path.dangling == (2,)
    assert [str(sub) for sub in path.sub_paths()] == [
        "Advises(x0, x1) ^ Advises(x0, x2) ^ TAs(x1, x3)",
        "Advises(x0, x1) ^ Advises(x0, x2) ^ Teaches(x0, x3)",
        "Advises(x0, x1) ^ TAs(x1, x2) ^ Teaches(x0, x2)",
        "Advises(x0, x1) ^ TAs(x2, x3) ^ Teaches(x0, x3)",
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match="no predicate Advises"):
        path.formulas(ml.MLN.from_text(MODEL).vocabulary)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_paths_is_estimated_without_bias(seed):
    graph = random_lifted(seed, facts=14)
    number = sum(1 for _ in connected_paths(graph, 4))
    found = estimated_paths(graph, 4, samples=3_000, seed=seed)
    assert abs(found.number - number) < 4 * found.error
    assert found.error < number / 8
    assert estimated_paths(random_lifted(seed, facts=0), 4) == (0, 0)
    with pytest.raises(ArgumentError, match="at least 2 random descents, not 1"):
        estimated_paths(graph, 4, samples=1)

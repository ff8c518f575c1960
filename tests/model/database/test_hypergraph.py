"""A database as a hypergraph: what its nodes and hyperedges are, and that size is no burden."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest

import mlnlab as ml
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import SizedDomain
from mlnlab.model.database.hypergraph import Node
from tests.support.pace import slower


def hypergraph(facts, model="Smokes(person)\nFriends(person, person)\nMeet(person, person, place)\nRain()"):
    return ml.Hypergraph.from_database(ml.Database.from_text(facts, ml.MLN.from_text(model)))


def test_nodes_hyperedges_and_who_is_in_what():
    graph = hypergraph(
        "Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Bob)\nMeet(Bob, Anna, Rome)\n!Smokes(Cleo)"
    )
    assert list(graph.nodes()) == [
        Node("person", "Anna"), Node("person", "Bob"), Node("person", "Cleo"), Node("place", "Rome"),
    ]  # fmt: skip
    assert [str(atom) for atom in graph.edges()] == [
        "Smokes(Anna)", "Friends(Anna, Bob)", "Friends(Bob, Bob)", "Meet(Bob, Anna, Rome)",
    ]  # fmt: skip
    assert (graph.number_of_nodes, graph.number_of_edges) == (4, 4)
    assert graph.degrees().tolist() == [3, 3, 0, 1]
    nodes, edges = graph.incidence()
    assert list(zip(edges.tolist(), nodes.tolist(), strict=True)) == [
        (0, 0), (1, 0), (1, 1), (2, 1), (3, 0), (3, 1), (3, 3),
    ]  # fmt: skip
    assert graph.node(3) == Node("place", "Rome")
    assert repr(graph) == "<Hypergraph: 4 nodes, 4 hyperedges>"
    with pytest.raises(IndexError):
        graph.node(4)


def test_it_is_a_frozen_view():
    graph = hypergraph("Friends(Anna, Bob)")
    with pytest.raises(AttributeError):
        graph.members = {}
    with pytest.raises(ValueError, match="read-only"):
        graph.members["Friends"][0, 0] = 1


def test_as_a_bipartite_graph_of_networkx():
    graph = hypergraph("Friends(Anna, Anna)\nMeet(Anna, Bob, Rome)\nSmokes(Bob)\nRain()").to_networkx()
    atoms = {node for node, part in graph.nodes(data="bipartite") if part == 1}
    assert nx.is_bipartite(graph)
    assert GroundAtom("Meet", ("Anna", "Bob", "Rome")) in atoms
    own = GroundAtom("Friends", ("Anna", "Anna"))
    assert graph.edges[Node("person", "Anna"), own]["positions"] == (1, 2)
    assert graph.nodes[Node("place", "Rome")] == {"bipartite": 0, "type": "place", "constant": "Rome"}
    assert graph.degree(GroundAtom("Rain", ())) == 0


def test_two_types_may_share_a_name_and_ranges_hold_only_what_is_used():
    graph = hypergraph(
        "At(Rome, 3)\nAt(Paris, 900000)\nNamed(Rome)",
        "time = {1, ..., 1000000}\nAt(place, time)\nNamed(title)",
    )
    assert [node for node in graph.nodes() if node.constant == "Rome"] == [
        Node("place", "Rome"),
        Node("title", "Rome"),
    ]
    assert [node.constant for node in graph.nodes() if node.type == "time"] == ["3", "900000"]
    assert [str(atom) for atom in graph.edges()][:1] == ["At(Rome, 3)"]


def test_of_sized_domains_only_what_is_used():
    vocabulary = ml.MLN.from_text("Smokes(person)").vocabulary.with_domain(
        "person", SizedDomain(10**9, "Person")
    )
    graph = ml.Hypergraph.from_database(ml.Database(vocabulary))
    assert (graph.number_of_nodes, graph.number_of_edges) == (0, 0)
    assert graph.degrees().tolist() == []
    assert list(graph.edges()) == []


def test_a_million_facts_are_no_burden():
    rng = np.random.default_rng(1)
    names = np.array([f"P{n}" for n in range(10_000)], object)
    frame = {"a": names[rng.integers(0, 10_000, 1_000_000)], "b": names[rng.integers(0, 10_000, 1_000_000)]}
    db = ml.Database.from_frames({"Friends": frame}, ml.MLN.from_text("Friends(person, person)"))
    began = time.process_time()
    graph = ml.Hypergraph.from_database(db)
    assert graph.number_of_edges == db.number_of_facts()
    assert graph.degrees().sum() > 1_900_000
    seconds = time.process_time() - began
    print(f"\nhypergraph of {graph.number_of_edges:,} atoms with degrees: {seconds:.2f} s")
    assert seconds < 20 * slower()

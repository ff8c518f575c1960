"""Databases as graphs of networkx and back."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given, settings

from mlnlab.errors import ArgumentError, InputError
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, RangeDomain
from mlnlab.model.database.database import Database, same_database
from mlnlab.model.mln.mln import MLN
from tests.model.database.table_strategies import databases, vocabulary_of

VOCABULARY = vocabulary_of(
    Predicate("Friends", ("person", "person")),
    Predicate("Smokes", ("person",)),
    Predicate("Lives", ("person", "city")),
    Predicate("Met", ("person", "person", "time")),
    Predicate("Rains", ()),
    time=RangeDomain(1, 9),
)


def read(graph, predicate="Friends", **options):
    return Database.from_networkx(graph, VOCABULARY, predicate, **options)


def problem(graph, predicate="Friends", kind=InputError, **options):
    with pytest.raises(kind) as caught:
        read(graph, predicate, **options)
    return str(caught.value)


def test_an_edge_without_direction_is_two_atoms():
    graph = nx.Graph([("Anna", "Bob")])
    graph.add_node("Carl")
    database = read(graph)
    assert list(database.rows("Friends")) == [("Anna", "Bob"), ("Bob", "Anna")]
    assert database.domain("person") == ("Anna", "Bob", "Carl")


def test_a_loop_and_parallel_edges_are_one_atom():
    assert list(read(nx.MultiDiGraph([("A", "A"), ("A", "A")])).rows("Friends")) == [("A", "A")]
    assert list(read(nx.Graph([("A", "A")])).rows("Friends")) == [("A", "A")]


def test_directed_edges_keep_their_direction():
    assert list(read(nx.DiGraph([("Anna", "Bob")])).rows("Friends")) == [("Anna", "Bob")]


def test_nodes_of_any_kind_become_names():
    assert read(nx.path_graph(3)).domain("person") == ("0", "1", "2")
    assert "(0, 1)" in read(nx.grid_2d_graph(2, 2)).domain("person")
    assert "would both become the constant 1" in problem(nx.Graph([(1, "1")]))
    assert "a frozenset, which cannot name" in problem(nx.Graph([(frozenset({1}), "b")]))


def test_attributes_of_nodes_and_edges_are_atoms():
    graph = nx.DiGraph()
    graph.add_node("Anna", smoker=True, home="Ulm")
    graph.add_node("Bob", smoker=False, home=["Ulm", "Bonn"])
    graph.add_edge("Anna", "Bob", when=3)
    database = read(
        graph, "Met", edge_attributes=["when"], node_predicates={"Smokes": "smoker", "Lives": "home"}
    )
    assert list(database.rows("Met")) == [("Anna", "Bob", "3")]
    assert list(database.rows("Smokes")) == [("Anna",)]
    assert set(database.rows("Lives")) == {("Anna", "Ulm"), ("Bob", "Ulm"), ("Bob", "Bonn")}
    assert list(read(nx.DiGraph(graph), node_predicates=()).rows("Smokes")) == []
    graph.nodes["Anna"]["home"] = {"Ulm", "Bonn"}
    graph.nodes["Bob"]["home"] = ["Paris", "Lyon"]
    assert read(graph, node_predicates={"Lives": "home"}).domain("city") == ("Bonn", "Ulm", "Lyon", "Paris")


def test_bipartite_graphs():
    graph = nx.Graph([("Ulm", "Anna"), ("Bob", "Ulm")])
    expected = {("Anna", "Ulm"), ("Bob", "Ulm")}
    assert set(read(graph, "Lives", bipartite=["Anna", "Bob"]).rows("Lives")) == expected
    nx.set_node_attributes(graph, {"Anna": 0, "Bob": 0, "Ulm": 1}, "bipartite")
    assert set(read(graph, "Lives").rows("Lives")) == expected


def test_bipartite_problems_get_sentences():
    graph = nx.Graph([("Ulm", "Anna")])
    assert "node Ulm does not say which it is: give bipartite=" in problem(graph, "Lives")
    assert "bipartite= names Zoe" in problem(graph, "Lives", bipartite=["Zoe"])
    assert "joins two nodes of type person" in problem(graph, "Lives", bipartite=["Ulm", "Anna"])
    assert "for predicates over two types" in problem(graph, kind=ArgumentError, bipartite=["Ulm"])


def test_problems_get_sentences():
    graph = nx.Graph([("Anna", "Bob")])
    assert "There is no predicate Freinds" in problem(graph, "Freinds", kind=ArgumentError)
    assert "An edge gives 2 arguments" in problem(graph, "Smokes", kind=ArgumentError)
    assert "An edge gives 3 arguments (its two nodes and when)" in problem(
        graph, kind=ArgumentError, edge_attributes=["when"]
    )
    assert "no value in column time" in problem(graph, "Met", edge_attributes=["when"])
    assert "No node of the graph has an attribute smoker" in problem(
        graph, node_predicates={"Smokes": "smoker"}
    )
    graph.nodes["Anna"]["smoker"] = "perhaps"
    assert "smoker = perhaps" in problem(graph, node_predicates={"Smokes": "smoker"})
    assert "A graph of networkx is needed" in problem([("Anna", "Bob")], kind=ArgumentError)
    assert "has no attribute type: say which predicate" in problem(graph, None)


def test_the_graph_of_a_predicate():
    database = Database.from_frames({"Friends": [("Anna", "Bob")], "Smokes": ["Zoe", "Anna"]}, VOCABULARY)
    graph = database.to_networkx("Friends")
    assert list(graph.nodes) == ["Anna", "Bob", "Zoe"]
    assert list(graph.edges(data="predicate")) == [("Anna", "Bob", "Friends")]
    assert graph.nodes["Anna"]["Smokes"] is True
    assert "Smokes" not in graph.nodes["Bob"]
    assert same_database(read(graph, node_predicates=["Smokes"]), database)
    with pytest.raises(
        ArgumentError, match=r"Met\(person, person, time\) takes 3 arguments; to_networkx\(\)"
    ):
        database.to_networkx("Met")


def test_types_that_share_a_name_stay_apart():
    database = Database.from_frames({"Lives": [("Paris", "Paris"), ("Anna", "Ulm")]}, VOCABULARY)
    graph = database.to_networkx("Lives")
    assert set(graph.edges) == {
        (("person", "Paris"), ("city", "Paris")),
        (("person", "Anna"), ("city", "Ulm")),
    }
    assert nx.is_bipartite(graph)
    assert same_database(read(graph, "Lives"), database)


def test_only_true_atoms_are_drawn():
    columns = ["a", "b", "probability"]
    rows = [("Anna", "Bob", 0), ("Anna", "Carl", 0.5), ("Bob", "Carl", None), ("Carl", "Anna", 1)]
    database = Database.from_frames({"Friends": pd.DataFrame(rows, columns=columns)}, VOCABULARY)
    assert list(database.to_networkx("Friends").edges) == [("Carl", "Anna")]


def only_true(database):
    relations = {name: Relation(r.arity, r.true) for name, r in database.relations.items()}
    return Database(database.vocabulary, FrozenMapping(relations))


@given(databases())
@settings(deadline=None)
def test_round_trip_of_whole_databases(drawn):
    vocabulary, database = drawn
    again = Database.from_networkx(database.to_networkx(), vocabulary)
    assert same_database(again, only_true(database))


def test_reserved_names_do_not_clash():
    vocabulary = vocabulary_of(Predicate("type", ("person",)), Predicate("constant", ("person",)))
    database = Database.from_frames({"type": ["Anna"], "constant": ["Bob"]}, vocabulary)
    assert same_database(Database.from_networkx(database.to_networkx(), vocabulary), database)


def test_hostile_graphs_get_sentences():
    graph = nx.MultiDiGraph()
    graph.add_node("Anna", type="person")
    graph.add_node("atom", atom=["unhashable"])
    assert "no attribute atom that names a predicate" in problem(graph, None)
    graph.nodes["atom"]["atom"] = "Met"
    assert "cannot be an atom of Met" in problem(graph, None)
    graph.remove_node("atom")
    graph.add_edge("Anna", "Anna")
    assert "no attribute predicate" in problem(graph, None)
    graph.remove_edge("Anna", "Anna")
    graph.nodes["Anna"]["type"] = "persn"
    assert "persn, which the model does not have; did you mean person?" in problem(graph, None)


# --- models and vocabularies ----------------------------------------------------------------------


def test_a_model_is_a_graph_of_formulas_and_predicates():
    mln = MLN.from_text(
        "Smokes(person)\nCancer(person)\nFriends(person, person)\nRain()\n"
        "1.5 Smokes(x) => Cancer(x)\nFriends(x, y) => (Smokes(x) <=> Smokes(y)).\n|Friends| > 2"
    )
    graph = mln.to_networkx()
    assert nx.is_bipartite(graph)
    assert {name for word, name in graph if word == "predicate"} == {"Smokes", "Cancer", "Friends", "Rain"}
    assert graph.nodes["formula", 0] == {
        "bipartite": 1, "text": "1.5 Smokes(x) => Cancer(x)", "weight": 1.5, "hard": False,
    }  # fmt: skip
    assert graph.nodes["formula", 1]["weight"] is None
    assert graph.nodes["formula", 1]["hard"]
    assert graph.edges[("predicate", "Smokes"), ("formula", 1)]["occurrences"] == 2
    assert list(graph["formula", 2]) == [("predicate", "Friends")]
    assert nx.number_connected_components(graph) == 2


def test_a_vocabulary_is_a_graph_of_predicates_and_types():
    graph = VOCABULARY.to_networkx()
    assert graph.nodes["type", "time"] == {"bipartite": 0, "constants": 9}
    assert graph.edges[("predicate", "Met"), ("type", "person")]["positions"] == (1, 2)
    assert graph.edges[("predicate", "Met"), ("type", "time")]["positions"] == (3,)
    assert graph.degree[("predicate", "Rains")] == 0

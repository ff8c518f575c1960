"""A database as a graph of networkx: constants are nodes, true atoms are edges.

One binary predicate gives a directed graph (bipartite where its types differ). The whole database gives a
directed multigraph in which unary atoms are attributes of nodes, binary atoms are edges whose key is the
predicate, and any other atom is a node of its own, joined to its arguments: the hypergraph that LiftGraph
and relational pathfinding work on. Only true atoms are drawn, so that degrees and paths mean what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import Domain, Predicate, RangeDomain
from mlnlab.model.tables.fact_tables import Facts, argument_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import networkx as nx

    Node = str | tuple[str, str]

ATOM = "atom"  # the attribute of a node that stands for an atom, naming its predicate
# Attributes with a meaning of their own: a unary predicate of such a name is drawn by nodes.
RESERVED = frozenset({ATOM, "type", "constant", "bipartite"})


def predicate_graph(facts: Facts, predicate: str) -> nx.DiGraph[Any]:
    """Return the graph of one binary predicate, with all constants of its types as nodes.

    A node is named after its constant, or is the pair (type, constant) where two types share a name. Where
    the types differ, networkx's attribute ``bipartite`` is 0 for the first argument's and 1 for the second's.
    """
    import networkx as nx

    declared = facts.vocabulary[predicate]
    if declared.arity != 2:
        raise ArgumentError(
            f"A graph's edges are the atoms of a binary predicate, but {declared} takes {declared.arity}"
            f" argument{'' if declared.arity == 1 else 's'}; to_networkx() draws the whole database."
        )
    graph: nx.DiGraph[Any] = nx.DiGraph(name=predicate)
    types = list(dict.fromkeys(declared.types))
    paired = _share_names(facts, types)
    for part, type_ in enumerate(types):
        attributes = {"bipartite": part} if len(types) == 2 else {}
        graph.add_nodes_from(_constant_nodes(facts, type_, paired), type=type_, **attributes)
        _add_unary_atoms(graph, facts, type_, paired)
    graph.add_edges_from(_edges(facts, declared, paired), predicate=predicate)
    return graph


def database_graph(facts: Facts) -> nx.MultiDiGraph[Any]:
    """Return the graph of the whole database."""
    import networkx as nx

    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    types = list(facts.vocabulary.types)
    paired = _share_names(facts, types)
    for type_ in types:
        graph.add_nodes_from(_constant_nodes(facts, type_, paired), type=type_)
        _add_unary_atoms(graph, facts, type_, paired)
    for declared in facts.vocabulary.predicates.values():
        if declared.arity == 2:
            for source, target in _edges(facts, declared, paired):
                graph.add_edge(source, target, key=declared.name, predicate=declared.name)
        elif declared.arity != 1 or declared.name in RESERVED:
            _add_atom_nodes(graph, facts, declared, paired)
    return graph


def _share_names(facts: Facts, types: Iterable[str]) -> bool:
    """Return whether two of the types have a constant of one name, so that names alone would mix them up."""
    seen: set[str] = set()
    for type_ in types:
        names = set(_drawn_constants(facts, type_))
        if seen & names:
            return True
        seen |= names
    return False


def _drawn_constants(facts: Facts, type_: str) -> Iterable[str]:
    """Return the constants of a type; of a range only those in use where it is long."""
    domain: Domain = facts.vocabulary.domain(type_)
    if not isinstance(domain, RangeDomain) or len(domain) <= 1000:
        return domain
    used: dict[str, None] = {}
    for declared in facts.vocabulary.predicates.values():
        if type_ in declared.types:
            columns = argument_names(facts, declared, facts.relation(declared.name).true)
            for column, argument in zip(columns, declared.types, strict=True):
                used.update(dict.fromkeys(column.tolist() if argument == type_ else ()))
    return sorted(used, key=domain.number)


def _node(type_: str, constant: str, paired: bool) -> Node:
    return (type_, constant) if paired else constant


def _constant_nodes(facts: Facts, type_: str, paired: bool) -> Iterator[tuple[Node, dict[str, str]]]:
    for constant in _drawn_constants(facts, type_):
        yield _node(type_, constant, paired), {"constant": constant}


def _add_unary_atoms(graph: nx.Graph[Any], facts: Facts, type_: str, paired: bool) -> None:
    """Say on each node which unary predicates hold of its constant."""
    for declared in facts.vocabulary.predicates.values():
        if declared.types == (type_,) and declared.name not in RESERVED:
            (names,) = argument_names(facts, declared, facts.relation(declared.name).true)
            for constant in names.tolist():
                graph.nodes[_node(type_, constant, paired)][declared.name] = True


def _edges(facts: Facts, declared: Predicate, paired: bool) -> Iterator[tuple[Node, Node]]:
    first, second = argument_names(facts, declared, facts.relation(declared.name).true)
    sources, targets = declared.types
    for source, target in zip(first.tolist(), second.tolist(), strict=True):
        yield _node(sources, source, paired), _node(targets, target, paired)


def _add_atom_nodes(graph: nx.MultiDiGraph[Any], facts: Facts, declared: Predicate, paired: bool) -> None:
    """Draw each atom as a node with an edge to each argument, which says its position (from 1)."""
    relation = facts.relation(declared.name)
    columns = argument_names(facts, declared, relation.true)
    rows = zip(*(c.tolist() for c in columns), strict=True) if columns else iter([()] * len(relation.true))
    for constants in rows:
        atom = GroundAtom(declared.name, constants)
        graph.add_node(atom, **{ATOM: declared.name})
        for position, (type_, constant) in enumerate(zip(declared.types, constants, strict=True), 1):
            graph.add_edge(atom, _node(type_, constant, paired), key=position, position=position)

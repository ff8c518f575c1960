"""A graph of networkx as a database: nodes are constants, edges are atoms, attributes are atoms too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, InputError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.graphs import ATOM, RESERVED
from mlnlab.model.tables.table_columns import (
    CONSTANTS,
    CONSTANTS_COLUMNS,
    PROBABILITY,
    Table,
    argument_columns,
    stored_names,
)
from mlnlab.model.tables.table_reading import Parts, read_tables
from mlnlab.model.tables.table_values import a_kind, constant_name, is_missing, show_value

if TYPE_CHECKING:
    import networkx as nx

    from mlnlab.logic.vocabulary import Predicate, Vocabulary

Rows = dict[str, list[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The graph's nodes: the constant each stands for, and its type (none where the graph does not say)."""

    constants: dict[Any, str]
    types: dict[Any, str]


def read_graph(
    graph: nx.Graph[Any],
    vocabulary: Vocabulary,
    predicate: str | None,
    node_predicates: Mapping[str, str] | Iterable[str],
    edge_attributes: Sequence[str],
    bipartite: Collection[Any] | None,
) -> Parts:
    """Return the parts of a database with a graph's nodes as constants and its edges as facts."""
    _require_graph(graph)
    rows: Rows
    if predicate is None:
        nodes = _typed_nodes(graph)
        rows = _labelled_rows(graph, vocabulary, nodes)
        chosen = _unary_attributes(graph, vocabulary)
    else:
        declared = _edge_predicate(vocabulary, predicate, edge_attributes)
        nodes = _sided_nodes(graph, declared, bipartite)
        rows = {predicate: list(_edge_rows(graph, declared, nodes, edge_attributes))}
        given = node_predicates if isinstance(node_predicates, Mapping) else {p: p for p in node_predicates}
        chosen = dict(given)
    for name, attribute in chosen.items():
        rows.setdefault(name, []).extend(_attribute_rows(graph, vocabulary[name], attribute, nodes))
    stored = stored_names(rows)  # a predicate may be called `constants`, too
    tables = {stored[name]: _table(vocabulary[name], found) for name, found in rows.items()}
    listed = [
        (nodes.types[node], constant) for node, constant in nodes.constants.items() if node in nodes.types
    ]
    constants = _columns("constants", CONSTANTS_COLUMNS, listed)
    return read_tables({CONSTANTS: constants, **tables}, vocabulary, name=str(graph.name or ""))


def _require_graph(graph: object) -> None:
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise ArgumentError(f"A graph of networkx is needed here, not {a_kind(graph)}.")


def _edge_predicate(vocabulary: Vocabulary, predicate: str, edge_attributes: Sequence[str]) -> Predicate:
    """Return the predicate of the edges, after checking that an edge has as many arguments."""
    declared = vocabulary[predicate]
    if isinstance(edge_attributes, str):
        raise ArgumentError(f'edge_attributes is a list of names: ["{edge_attributes}"].')
    if declared.arity != 2 + len(edge_attributes):
        raise ArgumentError(
            f"An edge gives {2 + len(edge_attributes)} arguments (its two nodes"
            f"{' and ' + ', '.join(edge_attributes) if edge_attributes else ''}), but {declared} takes"
            f" {declared.arity}; edge_attributes names the edges' attributes that are further arguments."
        )
    return declared


def _named_nodes(graph: nx.Graph[Any]) -> dict[Any, str]:
    """Return the constant of each node: its attribute ``constant``, else the node itself."""
    named: dict[Any, str] = {}
    for node, attributes in graph.nodes(data=True):
        if ATOM in attributes:
            continue
        name = constant_name(attributes.get("constant", node))
        if name is None:
            raise InputError(
                f"The node {show_value(node)} is {a_kind(node)}, which cannot name a constant; rename the "
                f"nodes"
                " with networkx.relabel_nodes."
            )
        named[node] = name
    return named


def _sided_nodes(graph: nx.Graph[Any], declared: Predicate, bipartite: Collection[Any] | None) -> _Nodes:
    """Give each node the type of the argument it fills."""
    constants = _named_nodes(graph)
    first, second = declared.types[:2]
    if first == second:
        if bipartite is not None:
            raise ArgumentError(f"bipartite= is for predicates over two types; {declared} has one.")
        return _distinct(_Nodes(constants, dict.fromkeys(constants, first)))
    sides = _sides(graph, constants, declared, bipartite)
    return _distinct(_Nodes(constants, {node: declared.types[sides[node]] for node in constants}))


def _sides(
    graph: nx.Graph[Any], constants: Mapping[Any, str], declared: Predicate, bipartite: Collection[Any] | None
) -> dict[Any, int]:
    """Return 0 for the nodes that fill the first argument and 1 for the others."""
    if bipartite is not None:
        firsts = set(bipartite)
        absent = [node for node in firsts if node not in constants]
        if absent:
            raise InputError(f"bipartite= names {show_value(absent[0])}, which is not a node of the graph.")
        return {node: int(node not in firsts) for node in constants}
    given = {node: graph.nodes[node].get("bipartite") for node in constants}
    unsaid = [node for node, side in given.items() if not (isinstance(side, int) and side in {0, 1})]
    if unsaid:
        raise InputError(
            f"{declared} has two types, but node {show_value(unsaid[0])} does not say which it is: give "
            f"bipartite="
            f" the nodes of type {declared.types[0]}, or every node the attribute bipartite (0 or 1)."
        )
    return {node: int(side) for node, side in given.items() if isinstance(side, int)}


def _distinct(nodes: _Nodes) -> _Nodes:
    """Return the nodes after checking that no two of one type become one constant."""
    seen: dict[tuple[str, str], Any] = {}
    for node, constant in nodes.constants.items():
        other = seen.setdefault((nodes.types.get(node, ""), constant), node)
        if other is not node:
            raise InputError(
                f"The nodes {other!r} and {node!r} would both become the constant {show_value(constant)};"
                " rename one."
            )
    return nodes


def _edge_rows(
    graph: nx.Graph[Any], declared: Predicate, nodes: _Nodes, edge_attributes: Sequence[str]
) -> Iterable[tuple[object, ...]]:
    """Yield an atom for each edge; an edge without direction is two atoms where the types agree."""
    first, second = declared.types[:2]
    for source, target, attributes in graph.edges(data=True):
        ends = (source, target)
        if first != second:
            if nodes.types[source] == nodes.types[target]:
                raise InputError(
                    f"The edge from {show_value(source)} to {show_value(target)} joins two nodes of type"
                    f" {nodes.types[source]}, but {declared} joins {first} and {second}."
                )
            ends = (source, target) if nodes.types[source] == first else (target, source)
        further = tuple(attributes.get(name) for name in edge_attributes)
        yield nodes.constants[ends[0]], nodes.constants[ends[1]], *further
        if first == second and not graph.is_directed():
            yield nodes.constants[ends[1]], nodes.constants[ends[0]], *further


def _attribute_rows(
    graph: nx.Graph[Any], declared: Predicate, attribute: str, nodes: _Nodes
) -> Iterable[tuple[object, ...]]:
    """Yield the atoms that an attribute says: yes or no (unary predicate), or a value or values (binary)."""
    if declared.arity not in {1, 2}:
        raise ArgumentError(
            f"An attribute of nodes gives one or two arguments; {declared} takes {declared.arity}."
        )
    if not any(attribute in data for _, data in graph.nodes(data=True)):
        known = {str(key) for _, data in graph.nodes(data=True) for key in data}
        raise InputError(
            f"No node of the graph has an attribute {attribute}{did_you_mean(attribute, known) or '.'}"
        )
    for node, constant in nodes.constants.items():
        value = graph.nodes[node].get(attribute)
        if nodes.types.get(node) != declared.types[0] or is_missing(value):
            continue
        if declared.arity == 2:
            values = value if isinstance(value, list | set | frozenset) else [value]
            yield from (
                (constant, item) for item in (sorted(values, key=repr) if len(values) > 1 else values)
            )
        elif _truth(value, node, attribute):
            yield (constant,)


def _truth(value: object, node: object, attribute: str) -> bool:
    """Return the truth value of an attribute; refuse values that are neither true nor false."""
    if isinstance(value, bool | np.bool_ | int | np.integer) and value in {0, 1}:
        return bool(value)
    raise InputError(
        f"Node {show_value(node)} has {attribute} = {show_value(value)}; the attribute of a unary predicate "
        f"is"
        " True or False."
    )


def _typed_nodes(graph: nx.Graph[Any]) -> _Nodes:
    """Return the nodes of a whole database's graph, whose attribute ``type`` names their types."""
    constants = _named_nodes(graph)
    types: dict[Any, str] = {}
    for node in constants:
        type_ = graph.nodes[node].get("type")
        if not isinstance(type_, str):
            raise InputError(
                f"Node {show_value(node)} has no attribute type: say which predicate the edges are, as in"
                ' Database.from_networkx(graph, mln, "Friends"), or give every node its type.'
            )
        types[node] = type_
    return _distinct(_Nodes(constants, types))


def _labelled_rows(graph: nx.Graph[Any], vocabulary: Vocabulary, nodes: _Nodes) -> Rows:
    """Return the atoms of the edges that name a predicate, and those of the nodes that stand for atoms."""
    rows: Rows = {}
    for source, target, attributes in graph.edges(data=True):
        if source in nodes.constants:
            where = f"The edge from {show_value(source)} to {show_value(target)}"
            ends = (nodes.constants[source], nodes.constants.get(target))
            rows.setdefault(_label(attributes, "predicate", where, vocabulary, 2), []).append(ends)
    for node, attributes in graph.nodes(data=True):
        if ATOM in attributes:
            edges = sorted(graph.edges(node, data="position", default=0), key=lambda edge: edge[2])
            arguments = tuple(nodes.constants.get(target) for _, target, _ in edges)
            where = f"The node {show_value(node)} with {len(arguments)} edges"
            rows.setdefault(_label(attributes, ATOM, where, vocabulary, len(arguments)), []).append(arguments)
    return rows


def _label(attributes: Mapping[str, Any], key: str, where: str, vocabulary: Vocabulary, arity: int) -> str:
    """Return the predicate that an edge or a node names; refuse it if its arity differs."""
    name = attributes.get(key)
    if not isinstance(name, str):
        raise InputError(f"{where} has no attribute {key} that names a predicate.")
    if vocabulary[name].arity != arity:
        raise InputError(f"{where} cannot be an atom of {vocabulary[name]}.")
    return name


def _unary_attributes(graph: nx.Graph[Any], vocabulary: Vocabulary) -> dict[str, str]:
    keys = {key for _, data in graph.nodes(data=True) for key in data}
    return {
        name: name for name, p in vocabulary.predicates.items() if p.arity == 1 and name in keys - RESERVED
    }


def _table(declared: Predicate, rows: list[tuple[object, ...]]) -> Table:
    if declared.arity == 0:
        return _columns(declared.name, (PROBABILITY,), [(1,) for _ in rows])
    return _columns(declared.name, argument_columns(declared), rows)


def _columns(title: str, names: tuple[str, ...], rows: list[Any]) -> Table:
    values = []
    for position in range(len(names)):
        column = np.empty(len(rows), object)
        column[:] = [row[position] for row in rows]
        values.append(column)
    return Table(title, names, tuple(values), len(rows))

"""A ground network as graphs of networkx: over atoms alone, or with a node for each link."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx as nx

    from mlnlab.grounding.clauses import Source
    from mlnlab.grounding.ground_network import GroundNetwork


def plain_graph(network: GroundNetwork) -> nx.Graph[Any]:
    """Return the ground Markov network: an edge between atoms that share a link."""
    graph = _atoms(network, {})
    for name in network.atoms:
        graph.nodes[name].update(formulas=(), weights=())
    network.refuse_many_pairs()
    for link, source in _links(network):
        atoms = [network.atoms[atom] for atom in network.members(link).tolist()]
        if len(atoms) == 1:
            _note(graph.nodes[atoms[0]], source)
        for one, other in combinations(atoms, 2):
            if not graph.has_edge(one, other):
                graph.add_edge(one, other, formulas=(), weights=())
            _note(graph.edges[one, other], source)
    return graph


def factor_graph(network: GroundNetwork) -> nx.Graph[Any]:
    """Return the factor graph: atoms have ``bipartite=0``, links, called ``("link", k)``, ``bipartite=1``."""
    graph = _atoms(network, {"bipartite": 0})
    for link, source in _links(network):
        node = ("link", link)
        weight = None if source.hard else source.weight
        graph.add_node(node, bipartite=1, formula=source.text, weight=weight, literals=network.text(link))
        graph.add_edges_from((network.atoms[atom], node) for atom in network.members(link).tolist())
    return graph


def _atoms(network: GroundNetwork, attributes: dict[str, int]) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    for atom in network.atoms:
        graph.add_node(atom, predicate=atom.predicate, **attributes)
    return graph


def _links(network: GroundNetwork) -> Iterator[tuple[int, Source]]:
    return ((link, network.sources[number]) for link, number in enumerate(network.links.sources.tolist()))


def _note(attributes: dict[str, Any], source: Source) -> None:
    attributes["formulas"] += (source.text,)
    attributes["weights"] += (None if source.hard else source.weight,)

"""A ground network as graphs of networkx: over atoms alone, or with a node for each link."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import networkx as nx

    from mlnlab.grounding.clauses import Source
    from mlnlab.grounding.links import Links
    from mlnlab.logic.ground_atoms import GroundAtom


def plain_graph(atoms: Sequence[GroundAtom], links: Links, sources: Sequence[Source]) -> nx.Graph[Any]:
    """Return the ground Markov network: an edge between atoms that share a link."""
    graph = _graph(atoms, {"formulas": (), "weights": ()})
    for link, source in _numbered(links, sources):
        members = [atoms[atom] for atom in links.atoms_of(link).tolist()]
        if len(members) == 1:
            _note(graph.nodes[members[0]], source)
        for one, other in combinations(members, 2):
            if not graph.has_edge(one, other):
                graph.add_edge(one, other, formulas=(), weights=())
            _note(graph.edges[one, other], source)
    return graph


def factor_graph(
    atoms: Sequence[GroundAtom], links: Links, sources: Sequence[Source], texts: Iterable[str]
) -> nx.Graph[Any]:
    """Return the factor graph: atoms have ``bipartite=0``, links, called ``("link", k)``, ``bipartite=1``."""
    graph = _graph(atoms, {"bipartite": 0})
    for (link, source), text in zip(_numbered(links, sources), texts, strict=True):
        node = ("link", link)
        weight = None if source.hard else source.weight
        graph.add_node(node, bipartite=1, formula=source.text, weight=weight, literals=text)
        graph.add_edges_from((atoms[atom], node) for atom in links.atoms_of(link).tolist())
    return graph


def _graph(atoms: Sequence[GroundAtom], attributes: dict[str, Any]) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    for atom in atoms:
        graph.add_node(atom, predicate=atom.predicate, **attributes)
    return graph


def _numbered(links: Links, sources: Sequence[Source]) -> Iterator[tuple[int, Source]]:
    return ((link, sources[number]) for link, number in enumerate(links.sources.tolist()))


def _note(attributes: dict[str, Any], source: Source) -> None:
    attributes["formulas"] += (source.text,)
    attributes["weights"] += (None if source.hard else source.weight,)

"""Template networks (Mihalkova and Mooney 2007, sections 3.2 and 3.3): blankets, cliques, paths of clauses.

Two nodes are linked where one of them is in the blanket of the other, or, as an option, both are: blankets
found from data do not always agree. Clauses come from cliques that contain the head; so where both have to
agree, no blankets are asked for but those of the head and of its own blanket's nodes. A clause has the atoms
of the head and of other nodes of a clique; different nodes share the head's variables and no others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from mlnlab.steps.state_layout import TEXT, Part, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath, canonical_path
from mlnlab.structure.templates.grow_shrink import BlanketChange, Tests, blanket_changes
from mlnlab.structure.templates.template_nodes import TemplateNode

EITHER, BOTH = AGREEMENTS = "either", "both"  # of two nodes has the other in its blanket
HEAD = 0  # the number of the head among the nodes


@storable("template_networks.Clique")
@dataclass(frozen=True, slots=True)
class Clique:
    """A largest set of linked nodes with the head among them, and the new paths that it gives."""

    nodes: tuple[int, ...] = field(metadata=holds(Several(Whole())))
    paths: tuple[VariabilizedPath, ...] = field(metadata=holds(Several(Part(VariabilizedPath))))


@storable("template_networks.TemplateNetwork")
@dataclass(frozen=True, slots=True)
class TemplateNetwork:
    """The template of one head: its nodes, the changes of their blankets so far, and its cliques."""

    head: str = field(metadata=holds(TEXT))
    nodes: tuple[TemplateNode, ...] = field(metadata=holds(Several(Part(TemplateNode))))  # the head first
    rows: int = field(metadata=holds(Whole()))  # of the table: groundings of the head
    remark: str = field(default="", metadata=holds(TEXT))  # why there is nothing to be linked
    changes: tuple[BlanketChange, ...] = field(default=(), metadata=holds(Several(Part(BlanketChange))))
    cliques: tuple[Clique, ...] = field(default=(), metadata=holds(Several(Part(Clique))))

    @property
    def kept(self) -> tuple[int, ...]:
        """The nodes that were not dropped."""
        return tuple(number for number, node in enumerate(self.nodes) if not node.dropped)

    @property
    def blankets(self) -> dict[int, tuple[int, ...]]:
        """The Markov blankets as far as they are known, in the order in which nodes were added."""
        return blankets_after(self.changes)

    def links(self, agreement: str) -> tuple[tuple[int, int], ...]:
        """Return the pairs of nodes that are linked by the blankets so far."""
        return links_of(self.blankets, agreement)

    def flaw(self) -> str:
        """Return the contradiction within a network from outside; empty if there is none."""
        numbers = [(one.node, one.other, *one.given) for one in self.changes]
        numbers += [clique.nodes for clique in self.cliques]
        if any(number >= len(self.nodes) for own in numbers for number in own):
            return "nodes do not exist"
        blankets: dict[int, list[int]] = {}
        for change in self.changes:
            blanket = blankets.setdefault(change.node, [])
            if change.added == (change.other in blanket):
                return "blankets have a node twice, or lose one that they do not have"
            (blanket.append if change.added else blanket.remove)(change.other)
        return ""


def blankets_after(changes: Sequence[BlanketChange]) -> dict[int, tuple[int, ...]]:
    """Return the blankets after some changes."""
    found: dict[int, list[int]] = {}
    for change in changes:
        blanket = found.setdefault(change.node, [])
        (blanket.append if change.added else blanket.remove)(change.other)
    return {node: tuple(blanket) for node, blanket in found.items()}


def links_of(blankets: Mapping[int, Collection[int]], agreement: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of nodes of which one is, or both are, in the other's blanket."""
    pairs = {(node, other) for node, blanket in blankets.items() for other in blanket}
    agreed = {pair for pair in pairs if agreement == EITHER or pair[::-1] in pairs}
    return tuple(sorted({(min(pair), max(pair)) for pair in agreed}))


def network_changes(
    kept: Sequence[int], tests: Tests, significance: float, agreement: str
) -> Iterator[BlanketChange]:
    """Yield the changes of the head's blanket, then those of the blankets that decide about cliques."""
    blanket: list[int] = []
    for change in blanket_changes(HEAD, [node for node in kept if node != HEAD], tests, significance):
        (blanket.append if change.added else blanket.remove)(change.other)
        yield change
    for node in blanket if agreement == BOTH else kept[1:]:
        yield from blanket_changes(node, [other for other in kept if other != node], tests, significance)


# --- cliques and the paths of their clauses -------------------------------------------------------


def head_cliques(links: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Return the largest cliques that contain the head, in order."""
    import networkx as nx

    graph = nx.Graph(links)
    if HEAD not in graph:
        return ()
    near = graph.subgraph([HEAD, *graph[HEAD]])
    return tuple(sorted(tuple(sorted(clique)) for clique in nx.find_cliques(near)))


def clique_paths(
    nodes: Sequence[TemplateNode], clique: Sequence[int], longest: int, variables: int, *, dangling: bool
) -> Iterator[VariabilizedPath]:
    """Yield the paths of the head and some nodes of a clique that have few literals and variables."""
    others = [number for number in clique if number != HEAD]
    for size in range(1, min(len(others), longest - 1) + 1):
        for chosen in combinations(others, size):
            path = join_nodes([nodes[HEAD], *(nodes[number] for number in chosen)])
            fits = len(path.atoms) <= longest and path.number_of_variables <= variables
            if fits and (dangling or not path.dangling):
                yield path


def join_nodes(nodes: Sequence[TemplateNode]) -> VariabilizedPath:
    """Return the path of the atoms of nodes, the head first: other variables of each node are its own.

    >>> head = TemplateNode((PathAtom("Smokes", (0,)),), 3)
    >>> friends = TemplateNode((PathAtom("Friends", (0, 1)), PathAtom("Smokes", (1,))), 2)
    >>> print(join_nodes([head, friends]))
    Friends(x0, x1) ^ Smokes(x0) ^ Smokes(x1)
    """
    ((_, own),) = nodes[0].atoms
    last, atoms = len(own), list(nodes[0].atoms)
    for node in nodes[1:]:
        free = {v for _, variables in node.atoms for v in variables if v >= len(own)}
        names = {variable: last + place for place, variable in enumerate(sorted(free))}
        last += len(free)
        atoms += [PathAtom(name, tuple(names.get(v, v) for v in variables)) for name, variables in node.atoms]
    return canonical_path(dict.fromkeys(atoms))

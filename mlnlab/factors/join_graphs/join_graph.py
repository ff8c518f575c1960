"""Join graphs: clusters of at most i variables in which every table has a home, connected by separators.

Mateescu, Kask, Gogate and Dechter, "Join-graph propagation algorithms" (2010), section 4.3: tables stand
in the bucket of the first of their variables to be eliminated; each bucket is split into mini-buckets of at
most i variables, which are the clusters; each sends its scope without the bucket's variable to a bucket
further on. A cluster is linked with the one that takes its scope (the label is that scope), and the clusters
of one bucket are linked in a chain (the label is the bucket's variable).

So the links whose labels have a variable form a tree over the clusters that have it: the running intersection
property, without which beliefs would count what they know twice. With i above the width of the order no
bucket is split, and the join graph is a junction tree. A table of more than i variables is a cluster of its
own, since it must be somewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mlnlab.errors import count_of

Scope = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Two clusters that pass messages, and the variables that these are over."""

    one: int
    other: int
    label: Scope


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """Clusters of variables, the links between them, and the cluster in which each table is at home."""

    clusters: tuple[Scope, ...]
    links: tuple[Link, ...]
    homes: tuple[int, ...]
    sizes: Mapping[int, int]  # how many values each variable has
    i: int

    @property
    def widest(self) -> int:
        """The number of variables of the widest cluster."""
        return max(map(len, self.clusters), default=0)

    @property
    def is_tree(self) -> bool:
        """Whether no message can come back to where it came from, so that the answer is exact."""
        return not _has_cycle(len(self.clusters), self.links)

    def cells(self) -> tuple[int, ...]:
        """Return the number of cells of each cluster's table."""
        return tuple(prod(self.sizes[variable] for variable in scope) for scope in self.clusters)

    def __repr__(self) -> str:
        shape = "tree" if self.is_tree else "graph"
        return (
            f"<JoinGraph of {count_of(len(self.clusters), 'cluster')} of up to"
            f" {count_of(self.widest, 'variable')}, {count_of(len(self.links), 'link')}: a {shape}>"
        )


@dataclass(frozen=True, slots=True)
class _Item:
    """A scope that stands in a bucket: that of a table, or the one that a cluster sends on."""

    scope: Scope
    table: int = -1
    sender: int = -1


def join_graph(scopes: Sequence[Scope], order: Sequence[int], sizes: Mapping[int, int], i: int) -> JoinGraph:
    r"""Return the join graph of some tables' scopes, made along an elimination order.

    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> sizes = {0: 9, 1: 9, 2: 9}
    >>> join_graph(triangle, [0, 1, 2], sizes, i=3)
    <JoinGraph of 3 clusters of up to 3 variables, 2 links: a tree>
    >>> graph = join_graph(triangle, [0, 1, 2], sizes, i=2)
    >>> graph.clusters, [link.label for link in graph.links]
    (((0, 1), (0, 2), (1, 2), (2,)), [(0,), (1,), (2,), (2,)])
    """
    places = {variable: place for place, variable in enumerate(order)}
    buckets: list[list[_Item]] = [[] for _ in order]
    homes = [0] * len(scopes)  # where tables without variables stay
    for number, scope in enumerate(scopes):
        if scope:
            buckets[min(places[variable] for variable in scope)].append(_Item(scope, number))
    clusters: list[Scope] = []
    links: list[Link] = []
    for variable, items in zip(order, buckets, strict=True):
        chain: list[int] = []
        for mini_bucket in _split_bucket(items or [_Item((variable,))], i):
            number = len(clusters)
            clusters.append(_union(item.scope for item in mini_bucket))
            for item in mini_bucket:
                if item.table >= 0:
                    homes[item.table] = number
                elif item.sender >= 0:
                    links.append(Link(item.sender, number, item.scope))
            if chain:
                links.append(Link(chain[-1], number, (variable,)))
            chain.append(number)
            rest = tuple(one for one in clusters[number] if one != variable)
            if rest:
                buckets[min(places[one] for one in rest)].append(_Item(rest, sender=number))
    return JoinGraph(tuple(clusters or [()]), tuple(links), tuple(homes), sizes, i)


def _split_bucket(items: Sequence[_Item], i: int) -> list[list[_Item]]:
    """Split a bucket: the widest scopes first, each into the first mini-bucket that it leaves within i."""
    found: list[list[_Item]] = []
    for item in sorted(items, key=lambda one: -len(one.scope)):
        for mini_bucket in found:
            held = _union(one.scope for one in mini_bucket)
            if len(_union([held, item.scope])) <= max(i, len(held)):
                mini_bucket.append(item)
                break
        else:
            found.append([item])
    return found


def _union(scopes: Iterable[Scope]) -> Scope:
    return tuple(sorted(set().union(*scopes)))


def _has_cycle(number: int, links: Iterable[Link]) -> bool:
    """Tell whether links between a number of clusters close a cycle."""
    parent = list(range(number))

    def root_of(cluster: int) -> int:
        while parent[cluster] != cluster:
            parent[cluster] = cluster = parent[parent[cluster]]
        return cluster

    for link in links:
        one, other = root_of(link.one), root_of(link.other)
        if one == other:
            return True
        parent[one] = other
    return False

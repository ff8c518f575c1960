"""How far a graph is from a tree: bounds of the treewidth from below and above, and the treewidth itself.

Below: the degeneracy, and minor-min-width, which merges vertices instead of removing them (Gogate and
Dechter, 2004; Bodlaender and Koster, 2011). Above: min-fill. Between the two, the dynamic programme over the
sets of vertices that are eliminated first (Bodlaender, Fomin, Koster, Kratsch and Thilikos, 2012), in which
no set stays whose width is not below the upper bound, after vertices that some best order eliminates first
are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.factor_graph import FactorGraph, Neighbours
from mlnlab.factors.trees.elimination_order import as_factor_graph
from mlnlab.factors.trees.elimination_rules import eliminated_by_rule, eliminated_in_order

MOST_SETS = 50_000  # that the dynamic programme may look at: some seconds
_Graph = dict[int, set[int]]


@dataclass(frozen=True, slots=True)
class Treewidth:
    """The treewidth between two bounds, with an order that has the upper one as its width.

    >>> import mlnlab as ml
    >>> ml.treewidth(ml.sample_network("greenhouse"))
    <Treewidth 3>
    """

    lower: int
    upper: int
    order: tuple[int, ...]

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are the same."""
        return self.lower == self.upper

    def __repr__(self) -> str:
        return (
            f"<Treewidth {self.upper}>" if self.is_exact else f"<Treewidth from {self.lower} to {self.upper}>"
        )


def treewidth(model: FactorGraph | BayesianNetwork, *, most_sets: int = MOST_SETS) -> Treewidth:
    """Return the treewidth of a model's interaction graph: exactly where that is quick, else its bounds.

    >>> import mlnlab as ml
    >>> ml.treewidth(ml.sample_network("greenhouse")).is_exact
    True
    """
    return treewidth_of(as_factor_graph(model).neighbours(), most_sets)


def treewidth_of(neighbours: Neighbours, most_sets: int = MOST_SETS) -> Treewidth:
    """Return the treewidth of a graph, or bounds where more sets than allowed would have to be looked at."""
    graph = {number: set(others) for number, others in enumerate(neighbours)}
    first, lower = _reduce_graph(graph, minor_min_width(graph))
    upper_order = first + _min_fill(graph)
    order, upper = upper_order, width_of(neighbours, upper_order)
    if lower < upper and graph:
        found = _best_order(graph, lower, upper, most_sets)
        if found is None:
            return Treewidth(lower, upper, tuple(order))
        order = first + found
        upper = width_of(neighbours, order)
    return Treewidth(upper, upper, tuple(order))


def width_of(neighbours: Sequence[frozenset[int]], order: Sequence[int]) -> int:
    """Return the most neighbours that a variable has when an order eliminates it."""
    near = [set(others) for others in neighbours]
    return max((len(gone.others) for gone in eliminated_in_order(near, order)), default=0)


def degeneracy(neighbours: Mapping[int, set[int]]) -> int:
    """Return the most neighbours that a vertex has when always one with the fewest is removed."""
    return _lower_bound(neighbours, merging=False)


def minor_min_width(neighbours: Mapping[int, set[int]]) -> int:
    """Return the same where a vertex is merged into the neighbour with which it shares the fewest."""
    return _lower_bound(neighbours, merging=True)


def _lower_bound(neighbours: Mapping[int, set[int]], *, merging: bool) -> int:
    near = {vertex: set(others) for vertex, others in neighbours.items()}
    bound = 0
    buckets: list[set[int]] = [set() for _ in range(len(near) + 1)]
    for vertex, others in near.items():
        buckets[len(others)].add(vertex)
    lowest = 0
    while near:
        lowest = next(d for d in range(max(lowest - 1, 0) if not merging else 0, len(buckets)) if buckets[d])
        vertex = min(buckets[lowest])
        bound = max(bound, lowest)
        others = near[vertex]
        touched = others | {vertex}
        into = min(others, key=lambda v: (len(near[v] & others), v)) if merging and others else None
        touched |= near[into] if into is not None else set()
        for one in touched:
            buckets[len(near[one])].discard(one)
        _remove(near, vertex, into)
        for one in touched - {vertex}:
            buckets[len(near[one])].add(one)
    return bound


def _remove(near: _Graph, vertex: int, into: int | None) -> None:
    """Remove a vertex, or merge it into a neighbour."""
    others = near.pop(vertex)
    for other in others:
        near[other].discard(vertex)
    if into is not None:
        for other in others - {into}:
            near[other].add(into)
            near[into].add(other)


# --- vertices that some best order eliminates first ----------------------------------------------


def _reduce_graph(graph: _Graph, lower: int) -> tuple[list[int], int]:
    """Take out vertices that can go first, and return them with the lower bound that they give.

    A simplicial vertex has only neighbours that know each other; in an almost simplicial one all but one do,
    and it can go first where the lower bound is at least its degree.
    """
    first: list[int] = []
    waiting = set(graph)
    while waiting:
        vertex = min(waiting)
        waiting.discard(vertex)
        others = graph[vertex]
        kind = _simpliciality(graph, others)
        if kind == 0 or (kind == 1 and len(others) <= lower):
            lower = max(lower, len(others)) if kind == 0 else lower
            first.append(vertex)
            waiting |= others.union(*(graph[other] for other in others)) - {vertex}
            _eliminate_vertex(graph, vertex)
    return first, lower


def _simpliciality(graph: _Graph, others: set[int]) -> int:
    """Return 0 where all of some vertices know each other, 1 where all but one do, else 2."""
    missing = [(a, b) for a in others for b in others - graph[a] if a < b]
    if not missing:
        return 0
    return 1 if any(all(one in pair for pair in missing) for one in missing[0]) else 2


def _eliminate_vertex(graph: _Graph, vertex: int) -> None:
    others = graph.pop(vertex)
    for other in others:
        graph[other] |= others
        graph[other] -= {other, vertex}


def _min_fill(graph: _Graph) -> list[int]:
    """Return the order of the rule of the least fill."""
    vertices = sorted(graph)
    place = {vertex: number for number, vertex in enumerate(vertices)}
    near = [{place[other] for other in graph[vertex]} for vertex in vertices]
    everyone = range(len(vertices))
    gone = eliminated_by_rule(near, [2] * len(vertices), "min-fill", [everyone])
    return [vertices[one.variable] for one in gone]


# --- the dynamic programme -----------------------------------------------------------------------


def _best_order(graph: _Graph, lower: int, upper: int, most_sets: int) -> list[int] | None:
    """Return an order of the least width, ``None`` where too many sets would have to be looked at."""
    vertices = sorted(graph)
    place = {vertex: number for number, vertex in enumerate(vertices)}
    near = [sum(1 << place[other] for other in graph[vertex]) for vertex in vertices]
    looked_at = 0
    for width in range(lower, upper):
        order, looked = _order_within(near, width, most_sets - looked_at)
        looked_at += looked
        if order is not None:
            return [vertices[number] for number in order]
        if looked_at >= most_sets:
            return None
    return _min_fill(graph)


def _order_within(near: Sequence[int], width: int, most_sets: int) -> tuple[list[int] | None, int]:
    """Return an order of at most a width, if there is one, and how many sets were looked at.

    A set S of vertices can be eliminated first within the width where some v in it can go last: S without v
    can, and at most ``width`` vertices outside S are reached from v through S.
    """
    everything = (1 << len(near)) - 1
    layers: list[dict[int, int]] = [{0: -1}]  # set -> the vertex that went last
    looked = 0
    for _ in near:
        layer: dict[int, int] = {}
        for done in layers[-1]:
            # What is left has width at most its size less one, however it is ordered.
            if (everything & ~done).bit_count() <= width + 1:
                return _trace_order(layers, done) + _bits(everything & ~done), looked
            for vertex in _bits(everything & ~done):
                more = done | 1 << vertex
                if more not in layer and _reach_vertices(near, vertex, done).bit_count() <= width:
                    layer[more] = vertex
            looked += 1
            if looked >= most_sets:
                return None, looked
        if not layer:
            return None, looked
        layers.append(layer)
    return _trace_order(layers, everything), looked


def _reach_vertices(near: Sequence[int], start: int, through: int) -> int:
    """Return the vertices outside a set that paths through it reach, as bits."""
    seen = 1 << start
    border = near[start]
    while inside := border & through & ~seen:
        seen |= inside
        for vertex in _bits(inside):
            border |= near[vertex]
    return border & ~through & ~seen


def _bits(number: int) -> list[int]:
    found = []
    while number:
        lowest = number & -number
        found.append(lowest.bit_length() - 1)
        number ^= lowest
    return found


def _trace_order(layers: Sequence[Mapping[int, int]], done: int) -> list[int]:
    """Return the vertices of a set in the order that led to it."""
    order = []
    for layer in reversed(layers[1 : done.bit_count() + 1]):
        order.append(layer[done])
        done ^= 1 << layer[done]
    return order[::-1]

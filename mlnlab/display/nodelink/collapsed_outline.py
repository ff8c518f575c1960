"""Outline a graph of thousands of nodes: groups in groups by kind and neighbours, degrees as histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import names_axis, value_axis
from mlnlab.display.chart.curves import Chart
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.nodelink.ground_network_layout import id_of_atoms
from mlnlab.display.nodelink.layouts.communities import communities
from mlnlab.display.scene.building import kind_number, numbered_id
from mlnlab.grounding.networks.ground_network import GroundNetwork
from mlnlab.model.database.hypergraph import Hypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Numbers = NDArray[np.int64]

MOST_MEMBERS = 80  # of a group that opens into single nodes
MOST_GROUPS = 24  # in a group
_USUAL_MEMBERS = 60
ROOT: tuple[int, ...] = ()
MOST_KINDS = 6


class Cluster(NamedTuple):
    """A group: its place in the tree, its name in words, its nodes.

    ``around`` holds these and the nodes of other kinds that belong with them: who belongs together is
    decided by all links, also those that lead through other kinds.
    """

    path: tuple[int, ...]
    words: str
    members: Numbers
    around: Numbers

    @property
    def id(self) -> str:
        """The id of its drawing."""
        return numbered_id("group", *self.path)


@dataclass(frozen=True, eq=False)
class Outline:
    """A graph as collapsed drawings need it; its groups are found where somebody looks at them.

    ``incidence`` says which nodes (columns) are in which links (rows), ``kinds`` of what kind each node is.
    """

    title: str
    node_word: str
    link_word: str
    kind_names: tuple[str, ...]
    kinds: Numbers
    incidence: csr_array
    name: Callable[[int], str]
    node_id: Callable[[int], str]
    cluster: Callable[[tuple[int, ...]], Cluster] = field(init=False)
    children: Callable[[tuple[int, ...]], tuple[Cluster, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Remember the groups that were found."""
        object.__setattr__(self, "cluster", cache(self._cluster))
        object.__setattr__(self, "children", cache(self._children))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.kinds)

    @property
    def number_of_links(self) -> int:
        """The number of links."""
        return int(self.incidence.shape[0])

    @cached_property
    def degrees(self) -> Numbers:
        """In how many links each node is."""
        return np.bincount(self.incidence.indices, minlength=self.size)

    @cached_property
    def chains(self) -> Numbers:
        """Pairs of nodes that follow each other in a link: enough to tell who belongs together."""
        starts = np.zeros(len(self.incidence.indices) + 1, bool)
        starts[self.incidence.indptr] = True
        nodes = self.incidence.indices.astype(np.int64)
        inside = ~starts[1 : len(nodes)]
        return np.column_stack([nodes[:-1][inside], nodes[1:][inside]])

    def _cluster(self, path: tuple[int, ...]) -> Cluster:
        if not path:
            return Cluster(path, self.title, np.arange(self.size), np.arange(self.size))
        return self.children(path[:-1])[path[-1]]

    def _children(self, path: tuple[int, ...]) -> tuple[Cluster, ...]:
        """Return the groups inside a group; none where it is small enough to show its nodes."""
        whole = self.cluster(path)
        if len(whole.members) <= (MOST_MEMBERS if path else 0):
            return ()
        used = np.unique(self.kinds[whole.members]).tolist()
        if len(used) > 1:
            of_kinds = [whole.members[self.kinds[whole.members] == kind] for kind in used]
            named = zip(used, of_kinds, strict=True)
            found = [(self.kind_names[kind], members, whole.around) for kind, members in named]
        else:
            found = [(self._name_group(members), members, around) for members, around in self._parts(whole)]
        return tuple(Cluster((*path, place), *parts) for place, parts in enumerate(found))

    def _parts(self, whole: Cluster) -> list[tuple[Numbers, Numbers]]:
        """Return the communities in a group of one kind, at least two: nodes, and the nodes around them."""
        most = min(MOST_GROUPS, max(2, ceil(len(whole.members) / _USUAL_MEMBERS)))
        around = whole.around
        inside = np.zeros(self.size, np.bool_)
        inside[whole.members] = True
        while True:
            places = np.full(self.size, -1)
            places[around] = np.arange(len(around))
            pairs = places[self.chains]
            labels = communities(len(around), pairs[(pairs >= 0).all(axis=1)], most)
            groups = [around[labels == label] for label in range(int(labels.max()) + 1)]
            found = [(members, group) for group in groups if len(members := group[inside[group]])]
            if len(found) > 1:
                return sorted(found, key=lambda pair: (-len(pair[0]), int(pair[0][0])))
            around = found[0][1]

    def _name_group(self, members: Numbers) -> str:
        """Name a group without a name after its best connected node."""
        return f"{self.name(int(members[self.degrees[members].argmax()]))} …"


def outline_of(graph: Hypergraph | GroundNetwork) -> Outline:
    """Return a hypergraph or a ground network as groups in groups."""
    return _of_hypergraph(graph) if isinstance(graph, Hypergraph) else _of_network(graph)


def _of_hypergraph(graph: Hypergraph) -> Outline:
    from scipy.sparse import csr_array

    nodes, edges = graph.incidence()
    shape = (graph.number_of_edges, graph.number_of_nodes)
    sizes = [len(constants) for constants in graph.constants.values()]
    numbers = np.concatenate([np.zeros(0, np.uint32), *graph.constants.values()]).tolist()
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    return Outline(
        "Hypergraph",
        "constant",
        "atom",
        tuple(graph.constants),
        kinds,
        csr_array((np.ones(len(nodes)), (edges, nodes)), shape=shape),
        lambda node: graph.node(node).constant,
        lambda node: numbered_id("constant", int(kinds[node]), numbers[node]),
    )


def _of_network(network: GroundNetwork) -> Outline:
    predicates = tuple(network.clauses.question.vocabulary.predicates)
    places = {name: place for place, name in enumerate(predicates)}
    return Outline(
        "Ground network",
        "open atom",
        "link",
        predicates,
        np.array([places[atom.predicate] for atom in network.atoms], np.int64),
        network.incidence,
        lambda node: str(network.atoms[node]),
        id_of_atoms(network),
    )


# --- summary --------------------------------------------------------------------------------------


class Histogram(NamedTuple):
    """How many nodes of a kind are in no link, in one, in 2 to 3, in 4 to 7, and so on."""

    kind: int
    counts: tuple[int, ...]
    mean: float
    most: int

    @property
    def total(self) -> int:
        """The number of nodes of the kind."""
        return sum(self.counts)


def histograms(outline: Outline) -> list[Histogram]:
    """Return the histogram of each kind that has nodes, the most common kind first."""
    found = []
    for kind in np.unique(outline.kinds).tolist():
        degrees = outline.degrees[outline.kinds == kind]
        # 0 stays apart; k >= 1 falls into the bin of its highest bit.
        bins = np.where(degrees > 0, np.log2(np.maximum(degrees, 1)).astype(np.int64) + 1, 0)
        counts = tuple(np.bincount(bins).tolist())
        found.append(Histogram(kind, counts, float(degrees.mean()), int(degrees.max())))
    return sorted(found, key=lambda histogram: -histogram.total)


def bin_words(number: int) -> str:
    """Return which degrees a bin holds."""
    low = 1 << max(number - 1, 0)
    return str(min(number, low)) if number < 2 else f"{low:,}–{2 * low - 1:,}"


def summary_chart(outline: Outline) -> Chart:
    """Return small histograms of degrees, one for each kind."""
    shown = histograms(outline)
    drawn = shown[:MOST_KINDS]
    nodes = count_of(outline.size, outline.node_word)
    links = count_of(outline.number_of_links, outline.link_word)
    rest = f" Of {len(shown)} kinds, the {MOST_KINDS} largest are shown." if len(shown) > len(drawn) else ""
    words = f"{nodes}, {links}: in how many {outline.link_word}s each {outline.node_word} is.{rest}"
    return Chart(outline.title, tuple(_plot(outline, histogram) for histogram in drawn), words)


def _plot(outline: Outline, histogram: Histogram) -> Plot:
    link, counts = outline.link_word, histogram.counts
    tips = [
        f"{count_of(count, outline.node_word)} in {bin_words(number)} {link}s"
        for number, count in enumerate(counts)
    ]
    values = np.array(counts, np.float64)
    line = Line(
        outline.node_word, np.arange(len(counts), dtype=np.float64), values, kind="bars",
        words=tuple(map(compact, counts)), look=kind_number(histogram.kind).hue,
        tips=lambda chosen: [tips[place] for place in chosen.tolist()],
    )  # fmt: skip
    lows = [compact(1 << (number - 1) if number else 0) for number in range(len(counts))]
    title = f"{shorten_text(outline.kind_names[histogram.kind], 30)} · {histogram.total:,}"
    said = f"in {histogram.mean:,.1f} {link}s on average, in at most {histogram.most:,}"
    up = value_axis(0.0, 1.15 * max(counts))
    return Plot(title, (line,), names_axis(lows), up, "", said=said)


def compact(number: int) -> str:
    """Return a number in few letters: ``950``, ``9.5k``, ``12k``, ``3.4M``."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            share = number / size
            return f"{share:.1f}{letter}" if share < 10 and round(share, 1) % 1 else f"{share:.0f}{letter}"
    return str(number)

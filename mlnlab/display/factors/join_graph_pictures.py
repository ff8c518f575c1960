"""Draw a join graph: clusters as boxes, and links between them, lit where messages still change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.curves import LEAST
from mlnlab.display.factors.elimination_scenes import list_box_lines
from mlnlab.display.nodelink.node_links import Layout, Link, Node, NodeLink, box_size, lay_out_rows
from mlnlab.display.scene.building import Entry, mark, numbered_id, tooltip
from mlnlab.factors.trees.table_limits import cells_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.join_graphs.join_graph import JoinGraph, Scope


def _say_change(change: float) -> str:
    return f"a message changes by {change:.2g}" if change > LEAST else ""


NEWS = 0.05  # a link is lit where a message changes by such a share of the largest change
MOST_CLUSTERS = 120
_SHORT = 16  # letters of names that stand in one line


class Arrow(NamedTuple):
    """A message that is drawn as an arrow, -1 for none: its id, hue and words."""

    message: int
    id: str
    hue: str
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class JoinGraphDrawing:
    """The places of clusters; only the looks of links change from step to step."""

    graph: JoinGraph
    names: Sequence[str]  # of the variables
    layout: Layout

    def scene(
        self, changes: NDArray[np.float64] | None = None, *, arrows: Sequence[Arrow] = (),
        changed: Sequence[int] = (), say: Callable[[float], str] = _say_change,
        entries: Sequence[Entry] | None = None,
    ) -> Scene:  # fmt: skip
        """Return a step, given by how much each message changes; without, no link is lit.

        Single messages can be drawn as ``arrows`` and clusters as ``changed``; ``say`` puts a link's change
        into words.
        """
        most = 0.0 if changes is None else float(changes.max(initial=0.0))
        shape = "in a tree" if self.graph.is_tree else "with cycles"
        links = count_of(len(self.graph.links), "link")
        return NodeLink(
            title="Join graph",
            layout=self.layout,
            nodes=[
                self._draw_cluster(number, changed=number in changed)
                for number in range(len(self.graph.clusters))
            ],
            links=(
                *(self._draw_link(number, changes, most, say) for number in range(len(self.graph.links))),
                *(self._draw_arrow(arrow) for arrow in arrows if self.graph.links),
            ),
            legend=_ENTRIES if entries is None else (*_ENTRIES[:2], *entries),
            words=f"{count_of(len(self.graph.clusters), 'cluster')} and {links} {shape}, i = {self.graph.i}.",
        ).scene()

    def _draw_cluster(self, number: int, *, changed: bool) -> Node:
        tables = sum(home == number for home in self.graph.homes)
        return Node(
            id=numbered_id("cluster", number),
            lines=_box_lines(number, [self.names[v] for v in self.graph.clusters[number]]),
            look="wash orange thick" if changed else "wash blue" if tables else "ring grey",
            dot="disc orange" if changed else "disc blue" if tables else "disc grey",
            tooltip=tooltip(
                f"cluster {number}: {self._list_names(self.graph.clusters[number])}",
                f"{cells_in_words(self.graph.cells()[number])}, {count_of(tables, 'factor')} at home",
            ),
        )

    def _draw_link(
        self, number: int, changes: NDArray[np.float64] | None, most: float, say: Callable[[float], str]
    ) -> Link:
        link = self.graph.links[number]
        change = 0.0 if changes is None else float(changes[2 * number : 2 * number + 2].max())
        is_lit = most > LEAST and change >= NEWS * most
        return Link(
            ends=((link.one, link.other),),
            id=numbered_id("link", number),
            look="curve orange thick" if is_lit else "link",
            tooltip=tooltip(
                f"over {self._list_names(link.label)}",
                f"between clusters {link.one} and {link.other}",
                say(change),
            ),
        )

    def _draw_arrow(self, arrow: Arrow) -> Link:
        """Return a message as an arrow; where there is none to draw, it cannot be seen."""
        link = self.graph.links[max(arrow.message, 0) // 2]
        ends = (link.other, link.one) if arrow.message & 1 else (link.one, link.other)
        shown = arrow.message >= 0
        return Link(
            ends=(ends,),
            id=arrow.id,
            look=f"curve {arrow.hue} thick" if shown else "clear",
            head=f"bar {arrow.hue}" if shown else "",
            over=True,
            tooltip=tooltip(arrow.words, f"from cluster {ends[0]} to cluster {ends[1]}") if shown else "",
        )

    def _list_names(self, scope: Scope) -> str:
        return ", ".join(self.names[variable] for variable in scope) or "nothing open"


_ENTRIES = (
    Entry(mark("square", 5, "wash blue"), "cluster"),
    Entry(mark("square", 5, "ring grey"), "cluster without a factor"),
    Entry(mark("square", 5, "bar orange"), "messages change here"),
)


def _box_lines(number: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the number of a cluster and its variables, in one line where they are short."""
    line = f"{number}: {', '.join(names)}"
    if sum(map(len, names)) <= _SHORT and line.isprintable():
        return (line,)
    first, *others = list_box_lines(names)
    return (f"{number}: {first}", *others)


def join_graph_drawing(graph: JoinGraph, names: Sequence[str]) -> JoinGraphDrawing | None:
    """Return the drawing of a join graph; none where there is nothing, or too much."""
    if not 0 < len(graph.clusters) <= MOST_CLUSTERS:
        return None
    rows = [0] * len(graph.clusters)
    for link in sorted(graph.links, key=lambda one: one.one):  # they lead to clusters further on
        rows[link.other] = max(rows[link.other], rows[link.one] + 1)
    boxes = [_box_lines(number, [names[v] for v in scope]) for number, scope in enumerate(graph.clusters)]
    sizes = [box_size(lines) for lines in boxes]
    ends = [(link.one, link.other) for link in graph.links]
    return JoinGraphDrawing(graph, names, lay_out_rows(sizes, rows, ends))

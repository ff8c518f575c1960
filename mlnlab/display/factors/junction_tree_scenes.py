"""Junction trees: cliques as boxes, separators between them, and the messages that were sent so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of
from mlnlab.display.nodelink.node_links import Layout, Link, Node, NodeLink, box_size, lay_out_rows
from mlnlab.display.scene.building import Entry, numbered_id, tooltip
from mlnlab.display.scene.items import Path, Rectangle
from mlnlab.display.scene.paths import arrow_head
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.factors.trees.table_limits import cells_in_words
from mlnlab.factors.trees.tree_messages import inward_schedule

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.trees.clique_tree import CliqueTree
    from mlnlab.factors.trees.tree_messages import MessagePassing

MOST_CLIQUES = 60
_LINES = 4  # of names in a box; more are counted
_WIDEST_NAME = 110.0
_SEPARATOR = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """The parts of a junction tree's drawing that no message changes."""

    tree: CliqueTree
    names: tuple[tuple[str, ...], ...]  # the open variables of each clique
    known: Mapping[str, str]
    layout: Layout  # of the cliques, then the separators
    edges: tuple[tuple[int, int], ...]  # child and parent, in the order of inward messages
    roots: tuple[int, ...]

    def scene(self, sent: int | None = None) -> Scene:
        """Return the drawing after ``sent`` messages; with ``None`` no messages are drawn."""
        current = self.current(sent)
        return NodeLink(
            title="Junction tree",
            layout=self.layout,
            nodes=(
                *(self._clique(n, current) for n in range(len(self.names))),
                *(self._separator(n) for n in range(len(self.edges))),
            ),
            links=[link for n in range(len(self.edges)) for link in self._messages(n, sent or 0, current)],
            legend=_entries(messages=sent is not None),
            words=tree_words(self.tree),
        ).scene()

    def current(self, sent: int | None) -> tuple[int, int] | None:
        """Return source and target of the last message."""
        if not sent:
            return None
        if sent <= len(self.edges):
            return self.edges[sent - 1]
        child, parent = self.edges[2 * len(self.edges) - sent]
        return parent, child

    def _clique(self, number: int, current: tuple[int, int] | None) -> Node:
        at_work = current is not None and number == current[0]
        known = [f"{name} = {self.known[name]}" for name in self.tree.names(number) if name in self.known]
        return Node(
            id=numbered_id("clique", number),
            lines=_lines(self.names[number]),
            look="wash orange thick" if at_work else "wash blue",
            tooltip=tooltip(
                f"clique {number}: {', '.join(self.names[number]) or 'nothing open'}",
                cells_in_words(self.tree.cells_of(number)),
                f"known: {', '.join(known)}" if known else "",
                "a root" if number in self.roots else "",
            ),
        )

    def _separator(self, number: int) -> Node:
        child, parent = self.edges[number]
        words = _name_shared_variables(self.names, self.edges[number])
        tip = tooltip(f"separator: {words}", f"between cliques {child} and {parent}")
        return Node(id=numbered_id("separator", number), lines=(words,), tooltip=tip)

    def _messages(self, number: int, sent: int, current: tuple[int, int] | None) -> list[Link]:
        """Return the lines to the parent and to the child; each is an arrow as soon as it was sent."""
        child, parent = self.edges[number]
        links = []
        for word, source, target, is_sent in (
            ("inward", child, parent, sent > number),
            ("outward", parent, child, sent > 2 * len(self.edges) - 1 - number),
        ):
            hue, thick = ("orange", " thick") if (source, target) == current else ("blue", "")
            look, head = (f"curve {hue}{thick}", f"bar {hue}") if is_sent else ("link", "")
            ends = ((len(self.names) + number, target),)
            links.append(Link(ends=ends, id=numbered_id(word, number), look=look, head=head))
        return links


def tree_words(tree: CliqueTree) -> str:
    """Return the sizes of a junction tree in words."""
    cliques = count_of(len(tree.cliques), "clique")
    return f"{cliques}, width {tree.width}, largest table {cells_in_words(tree.largest)}."


def _entries(*, messages: bool) -> list[Entry]:
    found = [
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, corner=3, look="wash blue"), "clique"),
        Entry(
            Rectangle(x=-6, y=-4, width=12, height=8, corner=2, look="ring grey"), "separator: what two share"
        ),
    ]
    if messages:
        found += [
            Entry(Path(path=arrow_head((6, 0), (-6, 0), 11), look="bar blue"), "message sent"),
            Entry(
                Path(path=arrow_head((6, 0), (-6, 0), 11), look="bar orange"), "the last one, and its sender"
            ),
        ]
    return found


def _lines(names: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of text in a box."""
    if len(names) <= _LINES:
        return tuple(names) or ("(known)",)
    return *names[: _LINES - 1], f"and {len(names) - _LINES + 1} more"


def tree_drawing(tree: CliqueTree, passing: MessagePassing | None = None) -> TreeDrawing | None:
    """Return the drawing of a tree, roots on top; none where there are too many cliques."""
    count = len(tree.cliques)
    if not 0 < count <= MOST_CLIQUES:
        return None
    roots, schedule = inward_schedule(tree.neighbours())
    known = dict(passing.graph.evidence) if passing else {}
    names = tuple(tuple(n for n in tree.names(clique) if n not in known) for clique in range(count))
    shared = [_name_shared_variables(names, edge) for edge in schedule]
    sizes = [box_size(_lines(own), _WIDEST_NAME) for own in names]
    sizes += [(min(text_width(words, "small") + 12, 130.0), _SEPARATOR) for words in shared]
    depth = [0] * len(sizes)
    links: list[tuple[int, int]] = []
    for place, (child, parent) in reversed(list(enumerate(schedule, count))):
        depth[place], depth[child] = depth[parent] + 1, depth[parent] + 2
        links += [(parent, place), (place, child)]
    return TreeDrawing(tree, names, known, lay_out_rows(sizes, depth, links), schedule, roots)


def _name_shared_variables(names: Sequence[Sequence[str]], edge: tuple[int, int]) -> str:
    """Return the names of a separator's open variables."""
    above = set(names[edge[1]])
    return ", ".join(name for name in names[edge[0]] if name in above) or "∅"


def junction_tree_scene(tree: CliqueTree, passing: MessagePassing | None = None) -> Scene | None:
    """Return a junction tree without messages; ``passing`` leaves out variables fixed by evidence."""
    drawing = tree_drawing(tree, passing)
    return None if drawing is None else drawing.scene()

"""Junction trees: cliques as boxes, separators between them, and the messages that were sent so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.bars import WIDTH
from mlnlab.display.factor_graph_scenes import points, titled, with_legend
from mlnlab.display.layouts.layered import layered_layout
from mlnlab.display.markup import count_of
from mlnlab.display.scene.building import Entry, label, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene
from mlnlab.display.scene.paths import Point, arrow_head, polyline, toward
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.factors.elimination_order import cells_in_words
from mlnlab.factors.message_passing import inward_schedule

if TYPE_CHECKING:
    from mlnlab.factors.clique_tree import CliqueTree
    from mlnlab.factors.message_passing import MessagePassing

MOST_CLIQUES = 60
_LINES = 4  # of names in a box; more are counted
_LINE = 16.0
_WIDEST_NAME = 110.0
_GAP = 20.0  # between a row of cliques and a row of separators
_SEPARATOR = 20.0


class _Box(NamedTuple):
    """A clique or a separator with its place and size; the place is the middle."""

    at: Point
    width: float
    height: float


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """What of a junction tree's drawing no message changes."""

    tree: CliqueTree
    names: tuple[tuple[str, ...], ...]  # of each clique: what is open
    known: Mapping[str, str]
    boxes: tuple[_Box, ...]
    plates: tuple[_Box, ...]  # of the separators, an edge each
    edges: tuple[tuple[int, int], ...]  # child and parent, in the order of inward messages
    roots: tuple[int, ...]
    size: tuple[float, float]

    def scene(self, sent: int | None = None) -> Scene:
        """Return the drawing after so many messages; without a number no messages are drawn."""
        count = len(self.edges)
        current = self.current(sent)
        links = tuple(self._link(n, sent, current) for n in range(count))
        boxes = tuple(self._clique(n, current) for n in range(len(self.boxes)))
        layers = (Layer("separators", links), Layer("cliques", boxes))
        scene = with_legend(_entries(messages=sent is not None), layers, self.size)
        return titled(scene, "Junction tree", tree_words(self.tree))

    def current(self, sent: int | None) -> tuple[int, int] | None:
        """Return source and target of the last message."""
        if not sent:
            return None
        if sent <= len(self.edges):
            return self.edges[sent - 1]
        child, parent = self.edges[2 * len(self.edges) - sent]
        return parent, child

    def _clique(self, number: int, current: tuple[int, int] | None) -> Group:
        box = self.boxes[number]
        at_work = current is not None and number == current[0]
        look = "wash orange thick" if at_work else "wash blue"
        lines = _lines(self.names[number])
        top = -box.height / 2
        words = [
            label(0, top + 16 + _LINE * place, line, box.width - 12, "words")
            for place, line in enumerate(lines)
        ]
        known = [f"{name} = {self.known[name]}" for name in self.tree.names(number) if name in self.known]
        role = "a root" if number in self.roots else ""
        return Group(
            id=numbered_id("clique", number),
            x=box.at[0],
            y=box.at[1],
            pick=True,
            tooltip=tooltip(
                f"clique {number}: {', '.join(self.names[number]) or 'nothing open'}",
                cells_in_words(self.tree.cells_of(number)),
                f"known: {', '.join(known)}" if known else "",
                role,
            ),
            children=(
                *(
                    Rectangle(
                        x=-box.width / 2, y=top, width=box.width, height=box.height, corner=8, look=word
                    )
                    for word in ("plate", look)  # a wash lets through what is behind it
                ),
                *words,
            ),
        )

    def _link(self, number: int, sent: int | None, current: tuple[int, int] | None) -> Group:
        child, parent = self.edges[number]
        plate = self.plates[number]
        low, high = (
            _border(self.boxes[child], plate.at, up=True),
            _border(self.boxes[parent], plate.at, up=False),
        )
        words = _shared(self.names, self.edges[number])
        return Group(
            id=numbered_id("separator", number),
            pick=True,
            tooltip=tooltip(f"separator: {words}", f"between cliques {child} and {parent}"),
            children=(
                Path(path=polyline([low, plate.at, high]), look="link"),
                *self._heads(number, low, high, sent, current),
                Rectangle(
                    x=plate.at[0] - plate.width / 2,
                    y=plate.at[1] - plate.height / 2,
                    width=plate.width,
                    height=plate.height,
                    corner=3,
                    look="ring grey",
                ),
                label(plate.at[0], plate.at[1] + 4, words, plate.width - 6, "words small"),
            ),
        )

    def _heads(
        self, number: int, low: Point, high: Point, sent: int | None, current: tuple[int, int] | None
    ) -> Iterator[Item]:
        """Yield the arrow to the parent and the one to the child; what was not sent has no shape yet."""
        child, parent = self.edges[number]
        inward = sent is not None and sent > number
        outward = sent is not None and sent > 2 * len(self.edges) - 1 - number
        for gone, ends, pair in (
            (inward, (low, high), (child, parent)),
            (outward, (high, low), (parent, child)),
        ):
            last = pair == current
            tip, middle = ends[1], self.plates[number].at
            line = polyline([middle, tip]) if gone else ""
            hue = "orange" if last else "blue"
            yield Path(path=line, look=f"curve {hue} {'thick' if last else ''}".strip())
            yield Path(path=arrow_head(tip, toward(tip, middle, 10), 9) if gone else "", look=f"bar {hue}")


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


def _lines(names: Sequence[str]) -> list[str]:
    """Return what stands in a box, line by line."""
    if len(names) <= _LINES:
        return list(names) or ["(known)"]
    return [*names[: _LINES - 1], f"and {len(names) - _LINES + 1} more"]


def _border(box: _Box, target: Point, *, up: bool) -> Point:
    """Return where a line from a box toward another one leaves it, at its upper or lower side."""
    x, y = box.at
    reach = max(-box.width / 2 + 10, min(box.width / 2 - 10, (target[0] - x) * 0.25))
    return x + reach, y - box.height / 2 if up else y + box.height / 2


def tree_drawing(tree: CliqueTree, passing: MessagePassing | None = None) -> TreeDrawing | None:
    """Return the drawing of a tree, roots on top; none where there are too many cliques."""
    count = len(tree.cliques)
    if not 0 < count <= MOST_CLIQUES:
        return None
    roots, schedule = inward_schedule(tree.neighbours())
    known = dict(passing.graph.evidence) if passing else {}
    names = tuple(tuple(n for n in tree.names(clique) if n not in known) for clique in range(count))
    sizes = [_box_size(lines) for lines in map(_lines, names)]
    sizes += [(min(text_width(_shared(names, edge), "small") + 12, 130.0), _SEPARATOR) for edge in schedule]
    depth = [0] * len(sizes)
    links: list[tuple[int, int]] = []
    for place, (child, parent) in reversed(list(enumerate(schedule, count))):
        depth[place], depth[child] = depth[parent] + 1, depth[parent] + 2
        links += [(parent, place), (place, child)]
    boxes, size = _placed(sizes, depth, links)
    return TreeDrawing(tree, names, known, boxes[:count], boxes[count:], schedule, roots, size)


def _placed(
    sizes: Sequence[tuple[float, float]], depth: Sequence[int], links: Sequence[tuple[int, int]]
) -> tuple[tuple[_Box, ...], tuple[float, float]]:
    """Return boxes in rows, as high as the highest in them, in a drawing of a size."""
    heights = [0.0] * (max(depth) + 1)
    for row, (_, height) in zip(depth, sizes, strict=True):
        heights[row] = max(heights[row], height)
    laid = layered_layout(
        depth, np.array(links, np.int64), across=np.array([width + 16 for width, _ in sizes])
    )
    tops = np.concatenate([[0.0], np.cumsum(np.array(heights) + _GAP)])
    y = np.array([tops[row] + heights[row] / 2 + 8 for row in depth])
    half = np.array([width / 2 for width, _ in sizes])
    low = float((laid.places[:, 0] - half).min()) - 12
    right = float((laid.places[:, 0] + half).max()) - low + 12
    x = laid.places[:, 0] - low + max(0.0, (WIDTH - right) / 2)
    at = points(np.column_stack([x, y]))
    boxes = tuple(_Box(point, *size) for point, size in zip(at, sizes, strict=True))
    return boxes, (max(right, float(WIDTH)), float(tops[-1]) - _GAP + 16)


def _shared(names: Sequence[Sequence[str]], edge: tuple[int, int]) -> str:
    """Return what of a separator is open, in words."""
    above = set(names[edge[1]])
    return ", ".join(name for name in names[edge[0]] if name in above) or "∅"


def _box_size(lines: Sequence[str]) -> tuple[float, float]:
    width = max(min(text_width(line[:200]), _WIDEST_NAME) for line in lines)
    return width + 18, _LINE * len(lines) + 12


def junction_tree_scene(tree: CliqueTree, passing: MessagePassing | None = None) -> Scene | None:
    """Return a junction tree without messages; where evidence is passed, without what it fixes."""
    drawing = tree_drawing(tree, passing)
    return None if drawing is None else drawing.scene()


def passing_scene(passing: MessagePassing) -> Scene | None:
    """Return the tree in which messages will be passed."""
    return junction_tree_scene(passing.tree, passing)

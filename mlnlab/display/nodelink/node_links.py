"""Build pictures of nodes and links at the places of a layout: boxes with names, marks, lines, arrows.

A layout is made once; a run draws it in each step with other looks, so that only values change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.layouts.boxes import Earlier, Spacing, boxes_layout, known_places, names_apart
from mlnlab.display.nodelink.layouts.communities import communities
from mlnlab.display.nodelink.layouts.layered import layered_layout
from mlnlab.display.scene.building import WIDTH, Entry, Kind, label, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, arrow_head, band, bow_curve, segments, smooth_downward
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Size = tuple[float, float]
    Ends = tuple[int, int]

MOST_NODES = 250  # of one picture
NAMED = 60  # up to so many boxes have their names in them; more are dots
MOST_GROUPS = 24  # of a picture that is collapsed
MOST_COLLAPSED = 20_000  # nodes; beyond, the tables tell more
MOST_STRETCHES = 12  # of one bar
HEIGHT = 26.0  # of a box with one line; a lower one has small text
_LINE, _BAR, _DOT = 16.0, 5.0, 14.0
_NAMED_OF_MANY = 40  # dots
_SMALL_GAP = 15.0  # between dots
_HEAD = 8.0
SMALL_LINE = 15.0
_STRAIGHT = 6.0  # pixels that a link may lean
_ASIDE, _WIDEST_WORDS = 44.0, 130.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A box with lines of text, or a ``mark`` instead of it.

    ``dot`` is the look of the dot that stands for the box where there are too many for names; ``shares``
    are stretches of a bar below the box, ``fill`` says how far it is filled, ``parts`` are drawn over it.
    Lines with ``looks`` of their own begin at the top. It can be selected, or it is a button to ``press``.
    """

    id: str
    lines: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    corner: float = 8.0
    parts: tuple[Item, ...] = ()
    look: str = "ring grey"
    dot: str = ""
    shape: str = "circle"
    radius: float = _DOT / 2
    fill: float | None = None
    mark: Item | None = None
    shares: Sequence[float] = ()
    tooltip: str = ""
    pick: bool = True
    press: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A line from a node to another one, by their numbers, or many lines of one look as one path.

    ``head`` is the look of an arrow head at its end, empty where a later step has one, ``words`` stand beside
    it, and ``half`` is half the width of a band. Links with the same ends ``bow`` apart by that share; one
    ``over`` others lies on these.
    """

    ends: Sequence[Ends]
    look: str = "link"
    id: str = ""
    head: str | None = None
    words: str = ""
    half: float = 0.0
    bow: float = 0.0
    pick: bool = False
    over: bool = False
    tooltip: str = ""


class Layout(NamedTuple):
    """Where nodes stand and how large they are; links bend along ``routes`` where these are known.

    Where columns of boxes stand ``sideways``, links lead from the right side of one to the left of another.
    """

    places: tuple[Point, ...]
    sizes: tuple[Size, ...]
    size: Size
    named: bool
    routes: Mapping[Ends, tuple[Point, ...]] = {}
    sideways: bool = False


def box_size(lines: Sequence[str], widest: float = 170.0, *, named: bool = True) -> Size:
    """Return the size of a box with lines of text, or of its dot."""
    if not named:
        return _DOT, _DOT
    return min(max(text_width(line[:200]) for line in lines), widest) + 18, _LINE * len(lines) + 10


def lay_out_springs(
    names: Sequence[str], marks: int, edges: Sequence[Ends], length: float = 78.0, *,
    bars: bool = False, badges: Sequence[Sized] = (), widest: float = 170.0, most_named: int = NAMED,
    dots: float = 34.0, ids: Sequence[str] = (), previous: Earlier | None = None,
) -> Layout:  # fmt: skip
    """Lay out boxes, and behind them marks, with linked ones near each other.

    ``length`` is that of links between boxes, ``dots`` that where names have no room. ``bars`` take room
    below boxes, ``badges`` above them. Places of ``previous`` ids are kept as far as possible.
    """
    named = len(names) <= most_named
    boxes = [box_size([name], widest, named=named) for name in names]
    room = [(width, height * (2 if bars and named else 1) + 4 * named) for width, height in boxes]
    if named and badges:
        room = [
            (width, height + 8 * bool(len(own))) for (width, height), own in zip(room, badges, strict=True)
        ]
    spacing = Spacing(length if named else dots, 26.0 if named else _SMALL_GAP, WIDTH)
    places = [(_DOT, _DOT)] * marks
    known = known_places(ids, previous) if previous else None
    placed = boxes_layout(np.array([*room, *places], np.float64).reshape(-1, 2), edges, spacing, known)
    return Layout(tuple((x, y) for x, y in placed.places.tolist()), (*boxes, *places), placed.size, named)


def lay_out_rows(
    sizes: Sequence[Size], rows: Sequence[int], edges: Sequence[Ends], gap: float = 20.0, *,
    straight: float | None = None, across: float = 16.0, words: Sequence[str] = (), least: float = WIDTH,
) -> Layout:  # fmt: skip
    """Lay out boxes in rows that are as high as the highest box; links lead from a row to lower ones.

    ``straight`` is the gap below a row of which no link leans; ``words`` of links need room at their ends.
    """
    heights = [0.0] * (max(rows, default=-1) + 1)
    for row, (_, height) in zip(rows, sizes, strict=True):
        heights[row] = max(heights[row], height)
    width = np.array([width for width, _ in sizes])
    laid = layered_layout(rows, np.array(edges, np.int64), across=width + across, down=1.0)
    leaning = {
        int(route[n, 1])
        for route in laid.routes
        for n in np.flatnonzero(np.abs(np.diff(route[:, 0])) > _STRAIGHT).tolist()
    }
    gaps = [gap if straight is None or row in leaning else straight for row in range(len(heights))]
    tops = np.cumsum([8.0, *(high + below for high, below in zip(heights, gaps, strict=True))])
    middles = tops[:-1] + np.array(heights) / 2
    edge = [*(laid.places[:, 0] - width / 2), *(laid.places[:, 0] + width / 2)]
    for text, route in zip(words, laid.routes, strict=False):
        room = min(_WIDEST_WORDS, text_width(text, "small")) + 10
        edge.append(route[-1, 0] + (-room if _comes_from_right(route[-2, 0], route[-1, 0]) else room))
    low = min(edge, default=0.0) - 12
    right = max(edge, default=0.0) - low + 12
    spare = max(0.0, (least - right) / 2)

    def move(places: NDArray[np.float64]) -> tuple[Point, ...]:
        y = np.interp(places[:, 1], range(len(middles)), middles)
        return tuple(zip((places[:, 0] - low + spare).tolist(), y.tolist(), strict=True))

    routes = {ends: move(route)[1:-1] for ends, route in zip(edges, laid.routes, strict=True)}
    size = max(float(right), least), float(tops[-1]) - (gaps[-1] if gaps else 0.0) + 8
    return Layout(move(laid.places), tuple(sizes), size, bool(width.min(initial=WIDTH) > _DOT), routes)


def _comes_from_right(before: float, end: float) -> bool:
    """Tell whether a link comes in from the right, where its words would stand."""
    return before > end + _STRAIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLink:
    """A picture of nodes and links; ``left_out`` is a sentence about those that are not drawn.

    Among the links stand items of other kinds, too; ``names`` are drawn above everything.
    """

    title: str
    layout: Layout
    nodes: Sequence[Node]
    links: Sequence[Link | Item] = ()
    names: Sequence[Item] = ()
    legend: Sequence[Entry] = ()
    words: str = ""
    left_out: str = ""

    def scene(self) -> Scene:
        """Return the drawing: lines below marks, marks below boxes, and the legend."""
        bottom = self.layout.size[1] + (_BAR + 4 if any(len(node.shares) for node in self.nodes) else 0)
        explained, height = legend(self.legend, 8, bottom + 8, WIDTH - 16)
        total = bottom + (height + 12 if height else 4)
        note = (Text(x=8, y=total + 12, text=self.left_out, look="quiet"),) if self.left_out else ()
        layers = (
            Layer("links", self.link_items()),
            Layer("nodes", self.node_items()),
            *((Layer("names", tuple(self.names)),) if self.names else ()),
            Layer("explained", (explained, *note), zooms=False),
        )
        words = " ".join(filter(None, (self.words, self.left_out)))
        return Scene(self.layout.size[0], total + 20 * len(note), layers, self.title, words)

    def node_items(self) -> tuple[Item, ...]:
        """Return the marks, and above them the boxes on plates, as links would be seen through a wash."""
        drawn = [(node, self.draw_node(number, node)) for number, node in enumerate(self.nodes)]
        marks = (item for node, item in drawn if node.mark)
        plates = (self._plate(number, node) for number, node in enumerate(self.nodes) if not node.mark)
        return *marks, *plates, *(item for node, item in drawn if not node.mark)

    def _plate(self, number: int, node: Node) -> Item:
        (x, y), (width, height) = self.layout.places[number], self.layout.sizes[number]
        if not self.layout.named:
            return mark(node.shape, node.radius, "plate", x=x, y=y)
        left, top, corner = x - width / 2, y - height / 2, _corner(node, height)
        return Rectangle(x=left, y=top, width=width, height=height, corner=corner, look="plate")

    def link_items(self) -> tuple[Item, ...]:
        """Return the links; those with the same ends arrive side by side."""
        links = [link for link in self.links if isinstance(link, Link)]
        alike = Counter(tuple(link.ends) for link in links if not link.over)
        seen: Counter[tuple[Ends, ...]] = Counter()
        found: list[Item] = []
        for link in self.links:
            if not isinstance(link, Link):
                found.append(link)
                continue
            ends = tuple(link.ends)
            found.append(self._link(link, 0.0 if link.over else seen[ends] - (alike[ends] - 1) / 2))
            seen[ends] += not link.over
        return tuple(found)

    def draw_node(self, number: int, node: Node) -> Group:
        """Return the node with a number at its place."""
        x, y = self.layout.places[number]
        children = (node.mark,) if node.mark else self._box(node, self.layout.sizes[number])
        pick = node.pick and not node.press
        return Group(
            id=node.id, x=x, y=y, pick=pick, press=node.press, tooltip=node.tooltip, children=children
        )

    def _box(self, node: Node, size: Size) -> tuple[Item, ...]:
        """Return a box with its lines."""
        width, height = size
        if not self.layout.named:
            return *_dot(node), *node.parts
        small = height < HEIGHT and not node.looks
        first = -height / 2 + 14 if node.looks else 4.5 - _LINE * (len(node.lines) - 1) / 2
        looks = node.looks or ("words small" if small else "words",) * len(node.lines)
        filled = () if node.fill is None else (_fill(node.fill, size),)
        left, top, corner = -width / 2, -height / 2, _corner(node, height)
        return (
            Rectangle(x=left, y=top, width=width, height=height, corner=corner, look=node.look),
            *filled,
            *(
                label(0, first + (SMALL_LINE if node.looks else _LINE) * n, line, width - 10, look)
                for n, (line, look) in enumerate(zip(node.lines, looks, strict=True))
            ),
            *node.parts,
            *_stretches(node.shares, width, height / 2 + 2),
        )

    def _link(self, link: Link, twin: float) -> Item:
        if link.half:
            (one, other), *_ = link.ends
            path = band(self.layout.places[one], self.layout.places[other], link.half)
        elif self.layout.sideways:
            path = segments((self._side(one, 1), self._side(other, -1)) for one, other in link.ends)
        elif self.layout.routes:
            path = "".join(smooth_downward(self._way(*ends, twin)) for ends in link.ends)
        elif link.bow:
            (one, other), *_ = link.ends
            path = bow_curve(self.layout.places[one], self.layout.places[other], link.bow * twin)
        else:
            places = self.layout.places
            path = segments((places[one], places[other]) for one, other in link.ends)
        if link.pick:
            line = Path(path=path, look=link.look)
            return Group(id=link.id, pick=True, tooltip=link.tooltip, children=(line,))
        if link.head is None:
            return Path(id=link.id, path=path, look=link.look, tooltip=link.tooltip)
        *_, before, tip = self._way(*link.ends[0], twin)
        tip_path = arrow_head(tip, (tip[0], before[1]), _HEAD) if link.head else ""
        line, head = Path(path=path, look=link.look), Path(path=tip_path, look=link.head or "bar")
        words = (_write_beside(link.words, before, tip),) if link.words else ()
        return Group(id=link.id, tooltip=link.tooltip, children=(line, head, *words))

    def _way(self, one: int, other: int, twin: float = 0.0) -> tuple[Point, ...]:
        """Return the points of a link from the border of a box to that of another one."""
        routes, places = self.layout.routes, self.layout.places
        between = routes[one, other] if (one, other) in routes else routes[other, one][::-1]
        first, last = (*between, places[other])[0], (places[one], *between)[-1]
        x, y = self._border(other, last)
        aside = twin * min(_ASIDE, self.layout.sizes[other][0] / 3)
        return self._border(one, first), *between, (x + aside, y)

    def _side(self, number: int, way: int) -> Point:
        """Return the middle of a box's right side, or of its left one."""
        (x, y), (width, _) = self.layout.places[number], self.layout.sizes[number]
        return x + way * width / 2, y

    def _border(self, number: int, target: Point) -> Point:
        """Return where a line to a target leaves a box, at its upper or lower side."""
        (x, y), (width, height) = self.layout.places[number], self.layout.sizes[number]
        most = max(0.0, width / 2 - 10)
        reach = max(-most, min(most, (target[0] - x) * 0.25))
        return x + reach, y - height / 2 if target[1] < y else y + height / 2


def _write_beside(words: str, before: Point, tip: Point) -> Text:
    """Return the words of a link beside its tip, on the side from which it does not come."""
    side = -1 if _comes_from_right(before[0], tip[0]) else 1
    shown = fit_text(words, _WIDEST_WORDS, "small")
    anchor: Literal["start", "end"] = "start" if side > 0 else "end"
    return Text(x=tip[0] + 6 * side, y=tip[1] - 9, text=shown, look="quiet small", anchor=anchor)


def collapse_nodes(names: Sequence[str], edges: Sequence[Ends], title: str, words: str) -> NodeLink:
    """Return a picture of groups, for graphs too large to draw each node; many links are a wide band."""
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    groups = communities(len(names), pairs, MOST_GROUPS)
    members = [np.flatnonzero(groups == group).tolist() for group in range(int(groups.max()) + 1)]
    ends, counts = np.unique(np.sort(groups[pairs], axis=1), axis=0, return_counts=True)
    between = {(a, b): n for (a, b), n in zip(ends.tolist(), counts.tolist(), strict=True) if a != b}
    labels = [
        f"{shorten_text(names[own[0]], 24)} + {len(own) - 1:,}" if len(own) > 1 else names[own[0]]
        for own in members
    ]
    return NodeLink(
        title=title,
        layout=lay_out_springs(labels, 0, list(between)),
        nodes=[
            Node(
                id=numbered_id("group", n),
                lines=(name,),
                look="wash blue",
                tooltip=tooltip(f"group of {len(own):,}", ", ".join(names[node] for node in own[:20])),
            )
            for n, (name, own) in enumerate(zip(labels, members, strict=True))
        ],
        links=[
            Link(
                ends=(pair,),
                id=numbered_id("band", *pair),
                look="bar grey faint",
                half=min(0.8 + 0.6 * log2(number), 6.0),
                tooltip=tooltip(count_of(number, "link")),
            )
            for pair, number in between.items()
        ],
        legend=(
            Entry(mark("square", 5, "wash blue"), "group: a node + others"),
            Entry(mark("square", 5, "bar grey faint"), "links between groups"),
        ),
        words=words,
        left_out=f"Too many to draw each: {len(names):,} nodes are in {count_of(len(members), 'group')}.",
    )


def badge_row(kinds: Sequence[Kind], radius: float = HEIGHT / 2) -> tuple[Item, ...]:
    """Return a small mark for each kind, in a row on the upper edge of a node that they speak of alone."""
    middle = (len(kinds) - 1) / 2
    return tuple(
        mark(shape, 4.5, f"disc {hue}", x=(place - middle) * 11, y=-radius)
        for place, (hue, shape) in enumerate(kinds)
    )


def name_dots(layout: Layout, names: Sequence[str], degrees: NDArray[np.int64], widest: float) -> list[Text]:
    """Return the names of the best connected dots, as many as do not cover each other."""
    if layout.named:
        return []
    places = np.array(layout.places[: len(names)]).reshape(-1, 2)
    widths = [min(text_width(name[:200], "small"), widest) + 4 for name in names]
    order = np.argsort(-degrees, kind="stable")[:_NAMED_OF_MANY]
    chosen = names_apart(places, np.column_stack([widths, np.full(len(widths), 15.0)]), order)
    return [
        label(x, y - 9, names[number], widest, "label small")
        for number in sorted(chosen)
        for x, y in (layout.places[number],)
    ]


def _dot(node: Node) -> Iterator[Item]:
    """Yield the dot that stands for a box, filled as far as the box would be."""
    yield mark(node.shape, node.radius, node.dot or node.look)
    if node.fill is not None:
        yield mark(node.shape, node.radius * node.fill**0.5, "bar grey")


def _corner(node: Node, height: float) -> float:
    return 3.0 if height < HEIGHT and not node.looks else node.corner


def _fill(share: float, size: Size) -> Rectangle:
    width, height = size[0] - 6, size[1] - 6
    return Rectangle(
        x=-width / 2, y=-height / 2, width=width * share, height=height, corner=2, look="bar grey faint"
    )


def fold_handle(name: str, y: float, words: str, *, folded: bool) -> Group:
    """Return the button that folds and unfolds a box: a small circle at its lower edge."""
    return Group(
        id=name, expands="closed" if folded else "open", tooltip=words,
        children=(
            Circle(x=0, y=y, radius=7.5, look="ring grey"),
            Text(x=0, y=y + 4, text="+" if folded else "−", anchor="middle", look="words small strong"),
        ),
    )  # fmt: skip


def write_note(title: str, words: str) -> Scene:
    """Return a scene that says why nothing is drawn."""
    note = label(WIDTH / 2, 24, words, WIDTH - 20, "quiet")
    return Scene(WIDTH, 40, (Layer("nothing", (note,)),), title, words)


def _stretches(shares: Sequence[float], width: float, y: float) -> tuple[Item, ...]:
    """Return a bar below a box: a stretch for each value."""
    ends = np.cumsum([0.0, *shares[:MOST_STRETCHES]]).tolist() if len(shares) else []
    return tuple(
        Rectangle(
            x=-width / 2 + begin * width,
            y=y,
            width=(end - begin) * width,
            height=_BAR,
            look=f"bar {HUES[place % len(HUES)]}",
        )
        for place, (begin, end) in enumerate(pairwise(ends))
    )

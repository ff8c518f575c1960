"""Drawings of hypergraphs of some hundred constants and atoms: bipartite, or as hulls where atoms are few."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlnlab.display.card.markup import count_of
from mlnlab.display.nodelink.node_links import (
    HEIGHT,
    Layout,
    Link,
    Node,
    NodeLink,
    badge_row,
    lay_out_springs,
    name_dots,
)
from mlnlab.display.scene.building import Entry, kind_number, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Scene
from mlnlab.display.scene.look import DASHES
from mlnlab.display.scene.paths import Point, arrow_head, bow_curve, polyline, round_hull, toward
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from mlnlab.display.nodelink.layouts.boxes import Earlier
    from mlnlab.model.database.hypergraph import Hypergraph
    from mlnlab.model.database.hypergraph import Node as Constant

Style = Literal["auto", "bipartite", "hulls"]

MOST_DRAWN = 500
MOST_HULLS = 30
MOST_MARKS = 60  # more atoms of two constants are drawn as lines, or marks would hide everything
_BOW = 0.14
WIDEST_NAME = 96.0  # pixels
NAMED = 120  # up to so many constants all have their names in boxes
_LENGTH, _DOTS = 52.0, 30.0  # of a line between boxes, and between dots


def hypergraph_scene(
    graph: Hypergraph,
    style: Style = "auto",
    previous: Earlier | None = None,
) -> Scene:
    """Return a hypergraph of up to 500 constants and atoms as a drawing.

    ``previous`` holds places of an earlier drawing (:func:`places_in`), which are kept.
    """
    parts = parts_of(graph)
    few = len(parts.atoms) < MOST_HULLS and parts.named
    style = ("hulls" if few else "bipartite") if style == "auto" else style
    if style == "hulls" or len(parts.atoms) > MOST_MARKS:
        parts = parts_of(graph, lines=True)
    layout = place_parts(parts, previous)
    marks = () if style == "hulls" else map(partial(_draw_mark, graph, parts), parts.atoms)
    between = _hulls(graph, parts, layout) if style == "hulls" else _spokes(parts, layout)
    sizes = f"{count_of(len(parts.nodes), 'constant')} and {count_of(graph.number_of_edges, 'atom')}"
    names = [node.constant for node in parts.nodes]
    return NodeLink(
        title="Hypergraph",
        layout=layout,
        nodes=(*_nodes(graph, parts), *marks),
        links=(*_lines(graph, parts, layout), *between),
        names=name_dots(layout, names, graph.degrees(), WIDEST_NAME),
        legend=_entries(graph, parts),
        words=f"{sizes}.",
    ).scene()


def _atom_text(graph: Hypergraph, parts: Parts, atom: Atom) -> str:
    name = list(graph.vocabulary.predicates)[atom.predicate]
    return str(GroundAtom(name, tuple(parts.nodes[node].constant for node in atom.members)))


def _nodes(graph: Hypergraph, parts: Parts) -> Iterator[Node]:
    """Yield the constants: boxes with names, or where there are many dots as large as they are connected."""
    degrees = graph.degrees().tolist()
    types, predicates = list(graph.constants), list(graph.vocabulary.predicates)
    for node, name, own, degree in zip(parts.nodes, parts.node_ids, parts.properties, degrees, strict=True):
        unary, radius = ", ".join(predicates[place] for place in own), min(3.5 + degree**0.5 * 0.6, 9)
        badges = badge_row(list(map(kind_number, own)), HEIGHT / 2 if parts.named else radius + 2.5)
        yield Node(
            id=name, lines=(node.constant,), look=f"ring grey {_dash(types.index(node.type))}".strip(),
            corner=13.0, radius=radius, parts=badges,
            tooltip=tooltip(node.constant, node.type, f"in {count_of(degree, 'atom')}", unary),
        )  # fmt: skip


def _draw_mark(graph: Hypergraph, parts: Parts, atom: Atom) -> Node:
    hue, shape = kind_number(atom.predicate)
    shown = mark(shape, 6.0 if parts.named else 4.0, f"disc {hue}")
    return Node(id=atom.id, mark=shown, tooltip=tooltip(_atom_text(graph, parts, atom)))


def _spokes(parts: Parts, layout: Layout) -> Iterator[Link | Item]:
    """Yield lines from marks to their arguments, those of a predicate as one path, and their arrow heads."""
    ends: dict[int, list[tuple[int, int]]] = {}
    heads: dict[int, list[str]] = {}
    for number, atom in enumerate(parts.atoms, len(parts.nodes)):
        ends.setdefault(atom.predicate, []).extend((number, node) for node in atom.members)
        if len(atom.members) == 2:
            head = _head(parts, layout.places[number], layout.places[atom.members[1]])
            heads.setdefault(atom.predicate, []).append(head)
    for kind, pairs in ends.items():
        hue = kind_number(kind).hue
        yield Link(ends=pairs, look=f"curve {hue} faint")
        if kind in heads:
            yield Path(path="".join(heads[kind]), look=f"bar {hue}")


def _head(parts: Parts, start: tuple[float, ...], end: tuple[float, ...]) -> str:
    """Return an arrow head on the line to the second argument, half of the way."""
    (x1, y1), (x2, y2) = start, end
    tip = (x1 + x2) / 2, (y1 + y2) / 2
    return arrow_head(tip, (x1, y1), 6.5 if parts.named else 4.5)


def _hulls(graph: Hypergraph, parts: Parts, layout: Layout) -> Iterator[Item]:
    """Yield hulls around the arguments of atoms, the largest first, so that none is hidden."""
    seen: dict[tuple[int, ...], int] = {}
    for atom in sorted(parts.atoms, key=lambda atom: -len(set(atom.members))):
        members = tuple(sorted(set(atom.members)))
        twin = seen[members] = seen.get(members, -1) + 1  # hulls of the same constants lie around each other
        corners = [corner for node in members for corner in _corners(layout, node)]
        look = f"wash {kind_number(atom.predicate).hue}"
        shape = Path(path=round_hull(corners, 14 + 5 * twin), look=look)
        tip = tooltip(_atom_text(graph, parts, atom))
        yield Group(id=atom.id, pick=True, tooltip=tip, children=(shape,))


def _corners(layout: Layout, node: int) -> list[Point]:
    """Return two points in a constant's box, so that a hull holds the whole box."""
    x, y = layout.places[node]
    half = max(0.0, layout.sizes[node][0] / 2 - 11)
    return [(x - half, y), (x + half, y)]


def _lines(graph: Hypergraph, parts: Parts, layout: Layout) -> Iterator[Item]:
    """Yield a bow with an arrow head for each atom of two constants; opposite ones bow to opposite sides."""
    few = len(parts.lines) < MOST_HULLS
    for atom in parts.lines:
        (x1, y1), (x2, y2) = (layout.places[node] for node in atom.members)
        hue, shape = kind_number(atom.predicate)
        middle = (x1 + x2) / 2 + (y2 - y1) * _BOW / 2, (y1 + y2) / 2 - (x2 - x1) * _BOW / 2
        tip = toward(middle, (middle[0] + x2 - x1, middle[1] + y2 - y1), 9 if few else 4)
        children: list[Item] = [
            Path(
                path=bow_curve((x1, y1), (x2, y2), _BOW),
                look=f"curve {hue}" if few else f"curve {hue} thin {_dash(atom.predicate)}".strip(),
            ),
            Path(path=arrow_head(tip, middle, 9 if few else 6.5), look=f"bar {hue}"),
        ]
        if few:
            back = toward(middle, (middle[0] + x1 - x2, middle[1] + y1 - y2), 6)
            children.append(mark(shape, 5, f"disc {hue}", x=back[0], y=back[1]))
        words = tooltip(_atom_text(graph, parts, atom))
        yield Group(id=atom.id, pick=True, tooltip=words, children=tuple(children))


def _entries(graph: Hypergraph, parts: Parts) -> list[Entry]:
    """Return the legend: predicates in use, and types where there are several."""
    predicates = list(graph.vocabulary.predicates)
    marked = {atom.predicate for atom in parts.atoms} | {kind for own in parts.properties for kind in own}
    lines = {atom.predicate for atom in parts.lines}
    few = len(parts.lines) < MOST_HULLS
    entries = []
    for kind in sorted(marked | lines):
        hue, shape = kind_number(kind)
        sample = mark(shape, 5.5, f"disc {hue}") if few or kind in marked else _line_sample(kind)
        entries.append(Entry(sample, predicates[kind]))
    types = [(place, name) for place, name in enumerate(graph.constants) if len(graph.constants[name])]
    if len(types) > 1:
        entries += [Entry(_box_sample(place), name) for place, name in types]
    return entries


def _line_sample(kind: int) -> Item:
    return Path(
        path=polyline([(-10, 0), (10, 0)]), look=f"curve {kind_number(kind).hue} {_dash(kind)}".strip()
    )


def _box_sample(place: int) -> Item:
    return Rectangle(x=-8, y=-5, width=16, height=10, corner=5, look=f"ring grey {_dash(place)}".strip())


def _dash(number: int) -> str:
    return DASHES[number % len(DASHES)]


# --- places ---------------------------------------------------------------------------------------


class Atom(NamedTuple):
    """A hyperedge to be drawn: its id, the number of its predicate, its nodes in the order of arguments."""

    id: str
    predicate: int
    members: tuple[int, ...]


class Parts(NamedTuple):
    """The parts to draw: constants with ids, atoms of two or more arguments, properties of single constants.

    ``lines`` are atoms of two constants that are drawn as a line between them, ``atoms`` those with a place.
    """

    nodes: tuple[Constant, ...]
    node_ids: tuple[str, ...]
    atoms: tuple[Atom, ...]
    lines: tuple[Atom, ...]
    properties: tuple[tuple[int, ...], ...]  # of each node, the numbers of the unary predicates

    @property
    def named(self) -> bool:
        """Whether every constant's name is drawn."""
        return len(self.nodes) <= NAMED


def parts_of(graph: Hypergraph, *, lines: bool = False) -> Parts:
    """Return the parts to draw; ids are made of numbers that stay when facts are added.

    ``lines`` says whether atoms of two constants become lines, which takes less room.
    """
    numbers = [
        (kind, number)
        for kind, constants in enumerate(graph.constants.values())
        for number in constants.tolist()
    ]
    atoms: list[Atom] = []
    properties: list[list[int]] = [[] for _ in numbers]
    for place, name in enumerate(graph.vocabulary.predicates):
        rows = graph.members[name].tolist() if name in graph.members else []
        for row in rows:
            if len(row) == 1:
                properties[row[0]].append(place)
            elif row:
                atom_id = numbered_id("atom", place, *(numbers[node][1] for node in row))
                atoms.append(Atom(atom_id, place, tuple(row)))
    ids = tuple(numbered_id("constant", *pair) for pair in numbers)
    drawn_as_lines = tuple(atom for atom in atoms if lines and _joins_two(atom))
    placed = tuple(atom for atom in atoms if not (lines and _joins_two(atom)))
    return Parts(tuple(graph.nodes()), ids, placed, drawn_as_lines, tuple(map(tuple, properties)))


def _joins_two(atom: Atom) -> bool:
    return len(atom.members) == 2 and atom.members[0] != atom.members[1]


def places_in(scene: Scene) -> dict[str, tuple[float, float]]:
    """Return where the groups of a drawing stand, by their ids: the beginning of the next drawing."""
    return {item.id: (item.x, item.y) for item in scene.items() if isinstance(item, Group) and item.id}


def place_parts(parts: Parts, previous: Earlier | None = None) -> Layout:
    """Return places for constants, then for atoms; ``previous`` ones are kept as far as possible."""
    count = len(parts.nodes)
    edges = [(count + place, node) for place, atom in enumerate(parts.atoms) for node in set(atom.members)]
    edges += [(atom.members[0], atom.members[1]) for atom in parts.lines]
    longer = 2.2 if parts.lines else 1.0
    return lay_out_springs(
        [node.constant for node in parts.nodes], len(parts.atoms), edges, _LENGTH * longer,
        dots=_DOTS * longer, badges=parts.properties, widest=WIDEST_NAME, most_named=NAMED,
        ids=(*parts.node_ids, *(atom.id for atom in parts.atoms)), previous=previous,
    )  # fmt: skip

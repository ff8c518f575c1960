"""Drawings of hypergraphs of some hundred constants and atoms: bipartite, or as hulls where atoms are few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.nodelink.layouts.boxes import Earlier, Spacing, boxes_layout, known_places
from mlnlab.display.nodelink.node_links import badge_row, choose_named_dots
from mlnlab.display.scene.building import (
    WIDTH,
    Entry,
    explained_scene,
    kind_number,
    label,
    mark,
    numbered_id,
    tooltip,
)
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene
from mlnlab.display.scene.look import DASHES
from mlnlab.display.scene.paths import arrow_head, bow_curve, polyline, round_hull, segments, toward
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.database.hypergraph import Hypergraph, Node

    Reals = NDArray[np.float64]

Style = Literal["auto", "bipartite", "hulls"]

MOST_DRAWN = 500
MOST_HULLS = 30
MOST_MARKS = 60  # more atoms of two constants are drawn as lines, or marks would hide everything
_BOW = 0.14
WIDEST_NAME = 96.0  # pixels
NAMED = 120  # up to so many constants all have their names in boxes
_LENGTH, _GAP = 52.0, 30.0


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
    places = place_parts(parts, previous)
    draw = _hulls if style == "hulls" else _marks
    atoms = (*_lines(graph, parts, places), *draw(graph, parts, places))
    nodes = list(_nodes(graph, parts, places))
    layers = Layer("atoms", tuple(atoms)), Layer("constants", tuple(nodes))
    sizes = f"{count_of(len(parts.nodes), 'constant')} and {count_of(graph.number_of_edges, 'atom')}"
    entries = _entries(graph, parts)
    return explained_scene(layers, entries, places.size, "Hypergraph", f"{sizes}.", gap=10, foot=4)


def _atom_text(graph: Hypergraph, parts: Parts, atom: Atom) -> str:
    name = list(graph.vocabulary.predicates)[atom.predicate]
    return str(GroundAtom(name, tuple(parts.nodes[node].constant for node in atom.members)))


def _nodes(graph: Hypergraph, parts: Parts, places: Places) -> Iterator[Group]:
    """Yield the constants: boxes with names, or where there are many dots, the best connected ones named."""
    degrees = graph.degrees()
    sizes = box_sizes(parts)
    names = [node.constant for node in parts.nodes]
    named = choose_named_dots(names, places.nodes, degrees, WIDEST_NAME)
    types = list(graph.constants)
    predicates = list(graph.vocabulary.predicates)
    for number, node in enumerate(parts.nodes):
        dash = _dash(types.index(node.type))
        x, y = places.nodes[number].tolist()
        children = (
            _box(node.constant, float(sizes[number, 0]), dash)
            if parts.named
            else _dot(node.constant, dash, number in named, int(degrees[number]))
        )
        own = ", ".join(predicates[place] for place in parts.properties[number])
        tip = tooltip(node.constant, node.type, f"in {count_of(int(degrees[number]), 'atom')}", own)
        badges = badge_row(list(map(kind_number, parts.properties[number])), -11.0 if parts.named else -7.0)
        yield Group(
            id=parts.node_ids[number], x=x, y=y, pick=True, tooltip=tip, children=(*children, *badges)
        )


def _box(name: str, width: float, dash: str) -> tuple[Item, ...]:
    frame = Rectangle(
        x=-width / 2, y=-11, width=width, height=22, corner=11, look=f"ring grey {dash}".strip()
    )
    return frame, label(0, 4.5, name, WIDEST_NAME, "words")


def _dot(name: str, dash: str, named: bool, degree: int) -> tuple[Item, ...]:
    dot = Circle(x=0, y=0, radius=min(3.5 + degree**0.5 * 0.6, 9), look=f"ring grey {dash}".strip())
    return (dot, label(0, -10, name, WIDEST_NAME, "label small")) if named else (dot,)


def _marks(graph: Hypergraph, parts: Parts, places: Places) -> Iterator[Item]:
    """Yield a mark for each atom and lines to its arguments, the lines of a predicate as one path."""
    lines: dict[int, list[tuple[tuple[float, float], tuple[float, float]]]] = {}
    heads: dict[int, list[str]] = {}
    for number, atom in enumerate(parts.atoms):
        at = tuple(places.atoms[number].tolist())
        for place, node in enumerate(atom.members):
            end = tuple(places.nodes[node].tolist())
            lines.setdefault(atom.predicate, []).append((at, end))
            if len(atom.members) == 2 and place == 1:
                heads.setdefault(atom.predicate, []).append(_head(parts, at, end))
    for kind, pairs in lines.items():
        hue = kind_number(kind).hue
        yield Path(path=segments(pairs), look=f"curve {hue} faint")
        if kind in heads:
            yield Path(path="".join(heads[kind]), look=f"bar {hue}")
    for number, atom in enumerate(parts.atoms):
        hue, shape = kind_number(atom.predicate)
        x, y = places.atoms[number].tolist()
        tip = tooltip(_atom_text(graph, parts, atom))
        size = 6.0 if parts.named else 4.0
        yield Group(
            id=atom.id, x=x, y=y, pick=True, tooltip=tip, children=(mark(shape, size, f"disc {hue}"),)
        )


def _head(parts: Parts, start: tuple[float, ...], end: tuple[float, ...]) -> str:
    """Return an arrow head on the line to the second argument, half of the way."""
    (x1, y1), (x2, y2) = start, end
    tip = (x1 + x2) / 2, (y1 + y2) / 2
    return arrow_head(tip, (x1, y1), 6.5 if parts.named else 4.5)


def _hulls(graph: Hypergraph, parts: Parts, places: Places) -> Iterator[Item]:
    """Yield hulls around the arguments of atoms, the largest first, so that none is hidden."""
    seen: dict[tuple[int, ...], int] = {}
    for atom in sorted(parts.atoms, key=lambda atom: -len(set(atom.members))):
        members = tuple(sorted(set(atom.members)))
        twin = seen[members] = seen.get(members, -1) + 1  # hulls of the same constants lie around each other
        corners = [corner for node in members for corner in _corners(parts, places, node)]
        look = f"wash {kind_number(atom.predicate).hue}"
        shape = Path(path=round_hull(corners, 14 + 5 * twin), look=look)
        tip = tooltip(_atom_text(graph, parts, atom))
        yield Group(id=atom.id, pick=True, tooltip=tip, children=(shape,))


def _corners(parts: Parts, places: Places, node: int) -> list[tuple[float, float]]:
    """Return two points in a constant's box, so that a hull holds the whole box."""
    x, y = places.nodes[node].tolist()
    half = max(0.0, float(box_sizes(parts)[node, 0]) / 2 - 11)
    return [(x - half, y), (x + half, y)]


def _lines(graph: Hypergraph, parts: Parts, places: Places) -> Iterator[Item]:
    """Yield a bow with an arrow head for each atom of two constants; opposite ones bow to opposite sides."""
    few = len(parts.lines) < MOST_HULLS
    for atom in parts.lines:
        (x1, y1), (x2, y2) = (places.nodes[node].tolist() for node in atom.members)
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

    nodes: tuple[Node, ...]
    node_ids: tuple[str, ...]
    atoms: tuple[Atom, ...]
    lines: tuple[Atom, ...]
    properties: tuple[tuple[int, ...], ...]  # of each node, the numbers of the unary predicates

    @property
    def named(self) -> bool:
        """Whether every constant's name is drawn."""
        return len(self.nodes) <= NAMED


class Places(NamedTuple):
    """Where nodes and atoms stand, in a drawing of a size."""

    nodes: Reals
    atoms: Reals
    size: tuple[float, float]


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


def box_sizes(parts: Parts) -> Reals:
    """Return the room of each node and atom."""
    if parts.named:
        widths = [min(text_width(node.constant), WIDEST_NAME) + 18 for node in parts.nodes]
        boxes = [
            (width, 34.0 if kinds else 24.0) for width, kinds in zip(widths, parts.properties, strict=True)
        ]
    else:
        boxes = [(12.0, 12.0)] * len(parts.nodes)
    return np.array([*boxes, *[(14.0, 14.0)] * len(parts.atoms)]).reshape(-1, 2)


def place_parts(parts: Parts, previous: Earlier | None = None) -> Places:
    """Return places for everything; ``previous`` ones are kept as far as possible."""
    count = len(parts.nodes)
    edges = [(count + place, node) for place, atom in enumerate(parts.atoms) for node in set(atom.members)]
    edges += [(atom.members[0], atom.members[1]) for atom in parts.lines]
    ids = (*parts.node_ids, *(atom.id for atom in parts.atoms))
    length = (_LENGTH if parts.named else 30.0) * (2.2 if parts.lines else 1.0)
    spacing = Spacing(length, _GAP if parts.named else 14.0, WIDTH)
    found = boxes_layout(box_sizes(parts), edges, spacing, known_places(ids, previous))
    return Places(found.places[:count], found.places[count:], found.size)

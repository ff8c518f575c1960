"""Where the constants and atoms of a hypergraph stand: constants as boxes with names, atoms between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.nodelink.layouts.boxes import Spacing, boxes_layout
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.items import Group, Scene
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.database.hypergraph import Hypergraph, Node

    Reals = NDArray[np.float64]

WIDEST_NAME = 96.0  # pixels
NAMED = 120  # up to so many constants all have their names in boxes
_LENGTH, _GAP = 52.0, 30.0


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


def known_places(ids: Sequence[str], previous: Mapping[str, tuple[float, float]]) -> Reals:
    """Return earlier places in the order of the ids, not-a-number where there was none."""
    return np.array([previous.get(name, (np.nan, np.nan)) for name in ids]).reshape(-1, 2)


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


def place_parts(parts: Parts, previous: Mapping[str, tuple[float, float]] | None = None) -> Places:
    """Return places for everything; ``previous`` ones are kept as far as possible."""
    count = len(parts.nodes)
    edges = [(count + place, node) for place, atom in enumerate(parts.atoms) for node in set(atom.members)]
    edges += [(atom.members[0], atom.members[1]) for atom in parts.lines]
    ids = (*parts.node_ids, *(atom.id for atom in parts.atoms))
    length = (_LENGTH if parts.named else 30.0) * (2.2 if parts.lines else 1.0)
    spacing = Spacing(length, _GAP if parts.named else 14.0, WIDTH)
    known = None if previous is None else known_places(ids, previous)
    found = boxes_layout(box_sizes(parts), edges, spacing, known)
    return Places(found.places[:count], found.places[count:], found.size)

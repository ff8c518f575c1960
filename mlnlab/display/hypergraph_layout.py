"""Where the constants and atoms of a hypergraph stand: constants as boxes with names, atoms between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.bars import WIDTH
from mlnlab.display.layouts.packing import boxes_apart
from mlnlab.display.layouts.stress import stress_layout
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.items import Group, Scene
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.hypergraph import Hypergraph, Node

    Reals = NDArray[np.float64]

WIDEST_NAME = 96.0  # pixels
NAMED = 120  # up to so many constants all have their names in boxes
_STRETCH = 1.6  # names are wider than high, so the picture is laid out narrow and then stretched
_EDGE = 18.0  # as far as a hull reaches beyond what it holds
_MARGIN = 2 * _EDGE
_HIGHEST = 560.0
_HIGHER = 1.9
_LENGTH, _GAP = 52.0, 30.0
_MOST_BOXES = 260


class Atom(NamedTuple):
    """A hyperedge to be drawn: its id, the number of its predicate, its nodes in the order of arguments."""

    id: str
    predicate: int
    members: tuple[int, ...]


class Parts(NamedTuple):
    """What is drawn: constants with ids, atoms of two or more arguments, properties of single constants.

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
    """Return what is to be drawn; ids are made of numbers that stay when facts are added.

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


def place_parts(parts: Parts, previous: Mapping[str, tuple[float, float]] | None = None) -> Places:
    """Return places for everything; ``previous`` ones are kept as far as possible."""
    count = len(parts.nodes)
    edges = [(count + place, node) for place, atom in enumerate(parts.atoms) for node in set(atom.members)]
    edges += [(atom.members[0], atom.members[1]) for atom in parts.lines]
    ids = (*parts.node_ids, *(atom.id for atom in parts.atoms))
    sizes = box_sizes(parts)
    known = np.array([(previous or {}).get(name, (np.nan, np.nan)) for name in ids]).reshape(-1, 2)
    squeeze = np.array([_STRETCH, 1.0])
    if previous and np.isfinite(known).any():
        length = _mean_length(known / squeeze, edges)
        found = (
            stress_layout(len(ids), edges, length=length, gap=_GAP / 2, previous=known / squeeze) * squeeze
        )
        found = _apart(found, sizes)
        low = np.minimum((found - sizes / 2).min(0) - _EDGE, 0)
    else:
        gap = _GAP if parts.named else 14.0
        length = (_LENGTH if parts.named else 30.0) * (2.2 if parts.lines else 1.0)
        found = _shrunk(stress_layout(len(ids), edges, length=length, gap=gap) * squeeze, sizes)
        found = _apart(found, sizes)
        low = (found - sizes / 2).min(0) - _EDGE
        spare = max(0.0, WIDTH - float(((found + sizes / 2).max(0) - low)[0]) - _EDGE)
        low = low - np.array([spare / 2, 0.0])
    found -= low
    right, bottom = (found + sizes / 2).max(0) + _EDGE
    return Places(found[:count], found[count:], (max(float(right), WIDTH), float(bottom)))


def _apart(places: Reals, sizes: Reals) -> Reals:
    """Return places without overlaps; where there are many small marks, that was seen to already."""
    return boxes_apart(places, sizes) if len(places) <= _MOST_BOXES else places


def _mean_length(places: Reals, edges: list[tuple[int, int]]) -> float:
    """Return how long edges are in an earlier drawing."""
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    ways = np.hypot(*(places[pairs[:, 0]] - places[pairs[:, 1]]).T)
    ways = ways[np.isfinite(ways)]
    return float(np.median(ways)) if len(ways) else _LENGTH


def _shrunk(places: Reals, sizes: Reals) -> Reals:
    """Return places that fit the page; small pictures keep their size."""
    room = np.array([WIDTH, _HIGHEST]) - sizes.max(0) - _MARGIN
    across, down = (room / np.maximum(np.ptp(places, axis=0), 1e-9)).tolist()
    # What is made narrower may stay higher: names need the height, and the page has it.
    scale = min(1.0, across)
    return np.asarray(places * (scale, min(1.0, down, scale * _HIGHER)))

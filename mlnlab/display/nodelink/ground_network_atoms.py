"""The atoms of a ground network: boxes or dots that are filled as far as an atom is probable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.nodelink.ground_network_layout import (
    NAMED,
    WIDEST_NAME,
    Places,
    Tie,
    Ties,
    atom_ids,
    box_sizes,
)
from mlnlab.display.nodelink.ground_network_links import first_lines, link_kind, source_words
from mlnlab.display.nodelink.layouts.boxes import names_apart
from mlnlab.display.scene.building import Entry, kind_number, label, mark, tooltip
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from mlnlab.grounding.networks.ground_network import GroundNetwork

    # Of an atom's number, its truth in a world, and the level of its probability; -1 where nothing is known.
    NodeOf = Callable[[int, bool | None, int | None], Group]

LEVELS = 1_000  # so many probabilities are told apart
_HEIGHT = 22.0
_DOT = 5.5
_NAMED_OF_MANY = 40
_LONGEST = 200  # letters that are measured
_WORDS = {True: "true", False: "false"}
_FRAMES = {None: "", True: "thick", False: "dashed"}
_SMALL_FRAMES = {None: "", True: "thick", False: "thin"}  # dashes would not be seen as such


def node_of(network: GroundNetwork, ties: Ties, places: Places) -> NodeOf:
    """Return a function that draws an atom by its number, its truth in a world and its probability level."""
    ids = atom_ids(network)
    widths = box_sizes(network, ties)[:, 0].tolist()
    at = places.atoms.tolist()
    degrees = network.degrees().tolist()
    tips = [_lines(network, ties, atom, degree) for atom, degree in enumerate(degrees)]
    badges = [tuple(_badges(network, own)) for own in ties.own]
    shapes = [_shape(network, atom.predicate) for atom in network.atoms]
    named = len(ids) <= NAMED

    def node(atom: int, truth: bool | None, level: int | None) -> Group:
        name = str(network.atoms[atom])
        share = float(truth or 0) if level is None else max(level, 0) / LEVELS
        frame = (_FRAMES if named else _SMALL_FRAMES)[truth]
        look = f"ring grey {frame}".strip()
        parts = _box(name, widths[atom], share, look) if named else _dot(shapes[atom], share, look)
        said = [] if truth is None else [f"{'true' if truth else 'false'} in this world"]
        said += [] if level is None or level < 0 else [f"probability {share:.3f}"]
        tip = tooltip(name, *said, *tips[atom])
        x, y = at[atom]
        return Group(id=ids[atom], x=x, y=y, pick=True, tooltip=tip, children=(*parts, *badges[atom]))

    return node


def level_of(probability: float) -> int:
    """Return how far a box is filled; -1 where nothing is known yet."""
    return round(probability * LEVELS) if isfinite(probability) else -1


def names_above(network: GroundNetwork, places: Places) -> tuple[Text, ...]:
    """Return the names of the best connected dots, as many as do not cover each other."""
    if network.number_of_atoms <= NAMED:
        return ()
    names = [str(atom)[:_LONGEST] for atom in network.atoms]
    widths = [min(text_width(name, "small"), WIDEST_NAME) + 4 for name in names]
    sizes = np.column_stack([widths, np.full(len(widths), 15.0)])
    order = np.argsort(-network.degrees(), kind="stable")[:_NAMED_OF_MANY]
    points = {atom: places.of(atom) for atom in sorted(names_apart(places.atoms, sizes, order))}
    return tuple(label(x, y - 9, names[atom], WIDEST_NAME, "label small") for atom, (x, y) in points.items())


def atom_entries(network: GroundNetwork, *, worlds: bool, probabilities: bool) -> list[Entry]:
    """Return the legend: predicates where shapes distinguish them, and the meanings of frames and fills."""
    named = network.number_of_atoms <= NAMED
    frames = _FRAMES if named else _SMALL_FRAMES
    predicates = list(dict.fromkeys(atom.predicate for atom in network.atoms))
    entries = []
    if not named and len(predicates) > 1:
        entries += [Entry(mark(_shape(network, name), _DOT, "ring grey"), name) for name in predicates]
    if worlds:
        entries += [Entry(_sample(f"ring grey {frames[truth]}"), word) for truth, word in _WORDS.items()]
    if probabilities:
        filling = Rectangle(x=-6, y=-3, width=7, height=6, look="bar grey faint")
        entries.append(Entry(Group(children=(_sample("ring grey"), filling)), "probability"))
    return entries


def _sample(look: str) -> Rectangle:
    return Rectangle(x=-8, y=-5.5, width=16, height=11, corner=3, look=look)


def _shape(network: GroundNetwork, predicate: str) -> str:
    return kind_number(list(network.clauses.question.vocabulary.predicates).index(predicate)).shape


def _box(name: str, width: float, share: float, look: str) -> tuple[Item, ...]:
    """Return a frame, its filling, and the name."""
    left, top, inner = 3 - width / 2, 3 - _HEIGHT / 2, width - 6
    frame = Rectangle(x=-width / 2, y=-_HEIGHT / 2, width=width, height=_HEIGHT, corner=5, look=look)
    filling = Rectangle(
        x=left, y=top, width=inner * share, height=_HEIGHT - 6, corner=2, look="bar grey faint"
    )
    return frame, filling, label(0, 4.5, name, WIDEST_NAME, "words")


def _dot(shape: str, share: float, look: str) -> tuple[Item, ...]:
    """Return a small frame whose filling grows with the probability; the shape tells the predicate."""
    return mark(shape, _DOT, look), mark(shape, _DOT * share**0.5, "bar grey")


def _badges(network: GroundNetwork, own: Sequence[Tie]) -> Iterator[Item]:
    """Yield a small mark for each formula that speaks of this atom alone, in a row on the upper edge."""
    y = -_HEIGHT / 2 if network.number_of_atoms <= NAMED else -8.0
    for place, tie in enumerate(own):
        hue, shape = link_kind(network, tie.source)
        yield mark(shape, 4.5, f"disc {hue}", x=(place - (len(own) - 1) / 2) * 11, y=y)


def _lines(network: GroundNetwork, ties: Ties, atom: int, degree: int) -> list[str]:
    """Return the lines of an atom's tooltip: how it is connected, its own formulas with their weights."""
    links = count_of(len(network.links_of(atom)), "link")
    own = [f"{source_words(network.sources[tie.source])}{_times(tie)}" for tie in ties.own[atom]]
    return [f"in {links}, {count_of(degree, 'neighbour')}", *first_lines(own)]


def _times(tie: Tie) -> str:
    return f", {len(tie.links)} times" if len(tie.links) > 1 else ""

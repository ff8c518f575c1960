"""Draw ground networks: fixed parts are drawn once, a world or probabilities are filled in.

An atom's box is filled as far as it is probable. In a world, true atoms have thick frames and false ones
dashed frames; without probabilities they are full or empty as well. So nothing is said by colour alone, and a
sampler's next state changes widths and looks, never ids or items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.nodelink.ground_network_layout import (
    WIDEST_NAME,
    Tie,
    Ties,
    View,
    atom_ids,
    mark_id,
    places_of,
    ties_of,
)
from mlnlab.display.nodelink.node_links import (
    HEIGHT,
    NAMED,
    Layout,
    Link,
    Node,
    NodeLink,
    badge_row,
    name_dots,
)
from mlnlab.display.scene.building import Entry, Kind, kind_number, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import DASHES
from mlnlab.display.scene.paths import band, polyline
from mlnlab.grounding.networks.ground_network import GroundNetwork

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlnlab.display.nodelink.layouts.boxes import Earlier
    from mlnlab.display.runs.runs import Draw
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    # Of an atom's number, its truth in a world, and the level of its probability; -1 where nothing is known.
    NodeOf = Callable[[int, bool | None, int | None], Group]

_LEGEND_GAP = 10.0
_REMEMBERED = 20_000  # drawn atoms
LEVELS = 1_000  # so many probabilities are told apart
_DOT = 5.5
_WORDS = {True: "true", False: "false"}
_FRAMES = {None: "", True: "thick", False: "dashed"}
_SMALL_FRAMES = {None: "", True: "thick", False: "thin"}  # dashes would not be seen as such
_BOW = 0.16
_MOST_LISTED = 4  # lines of a tooltip
_MOST_PICKED = 200  # lines that can be selected; beyond, the lines of a formula are one path
MOST_LIT = 150  # atoms: a picture that changes at every step is drawn many times a second


@dataclass(frozen=True, eq=False)
class NetworkDrawing:
    """A ground network with all parts that no state changes; ``legend`` depends on the fillings."""

    network: GroundNetwork
    links: Layer
    names: Layer
    node: NodeOf
    legend: Callable[[bool, bool], tuple[Group, float]]
    ties: Ties
    layout: Layout  # of the atoms, then of the marks

    def scene(self, truths: ArrayLike | None = None, probabilities: ArrayLike | None = None) -> Scene:
        """Return the drawing; of each atom, in the order of their numbers, truth and probability."""
        count = self.network.number_of_atoms
        worlds: list[bool | None] = [None] * count if truths is None else np.asarray(truths, bool).tolist()
        levels: list[int | None] = [None] * count
        if probabilities is not None:
            levels = [level_of(share) for share in np.asarray(probabilities, float).tolist()]
        atoms = Layer("atoms", tuple(map(self.node, range(count), worlds, levels)))
        explained, height = self.legend(truths is not None, probabilities is not None)
        legend_layer = Layer("explained", (explained,) if height else (), zooms=False)
        width, bottom = self.layout.size
        total = bottom + (height + _LEGEND_GAP if height else 0) + 4
        layers = (self.links, atoms, self.names, legend_layer)
        words = in_words(self.network)
        rest = f" {count_of(self.ties.hidden, 'link')} of these are too many to be drawn." * bool(
            self.ties.hidden
        )
        return Scene(width, total, layers, "Ground network", words + rest)


def ground_network_scene(
    network: GroundNetwork,
    truths: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    *,
    view: View = "auto",
    previous: Earlier | None = None,
) -> Scene:
    """Return a ground network of up to 500 atoms as a drawing, with truth values or probabilities filled in.

    ``view`` is "pairs" (a line between any two atoms that share a link) or "factors" (a mark for each link);
    ``previous`` holds places of an earlier drawing, which are kept.
    """
    return network_drawing(network, view, previous).scene(truths, probabilities)


def network_part(reader: ChainsReader, chain: int = 0) -> Draw:
    """Return a function that draws a sampler's state: the world of one chain, and present probabilities."""
    drawing = network_drawing(GroundNetwork(reader.ground.clauses))
    count = drawing.network.number_of_atoms

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        batches = step.state.batches
        found = batches.means()[:count] if batches.samples else np.full(count, np.nan)
        return drawing.scene(reader.truths(step.state)[chain], found)

    return draw


def network_drawing(
    network: GroundNetwork, view: View = "auto", previous: Earlier | None = None
) -> NetworkDrawing:
    """Return the parts of the drawing that no state changes."""
    ties = ties_of(network, view)
    layout = places_of(network, ties, previous)
    picture = NodeLink(title="", layout=layout, nodes=(), links=list(tie_links(network, ties)))
    marks = (
        picture.draw_node(number, _draw_mark(network, tie))
        for number, tie in enumerate(ties.marks, network.number_of_atoms)
    )
    node = lru_cache(maxsize=_REMEMBERED)(node_of(network, ties, picture))
    links = link_entries(network, ties)

    @cache
    def draw_legend(worlds: bool, probabilities: bool) -> tuple[Group, float]:
        entries = [*links, *atom_entries(network, worlds=worlds, probabilities=probabilities)]
        return legend(entries, 8, layout.size[1] + _LEGEND_GAP, WIDTH - 16)

    names = name_dots(layout, list(map(str, network.atoms)), network.degrees(), WIDEST_NAME)
    linked = Layer("links", (*picture.link_items(), *marks))
    return NetworkDrawing(network, linked, Layer("names", tuple(names)), node, draw_legend, ties, layout)


def in_words(network: GroundNetwork) -> str:
    """Return the sizes, and how much is not drawn because evidence decides it."""
    atoms, links = count_of(network.number_of_atoms, "open atom"), count_of(network.number_of_links, "link")
    tallies = [tally for _, tally in network.tallies]
    decided = sum(tally.true + tally.false for tally in tallies)
    if not decided:
        return f"{atoms} and {links}."
    groundings = count_of(sum(tally.groundings for tally in tallies), "grounding")
    return f"{atoms} and {links}; evidence decides {decided:,} of {groundings}."


# --- atoms ----------------------------------------------------------------------------------------


def node_of(network: GroundNetwork, ties: Ties, picture: NodeLink) -> NodeOf:
    """Return a function that draws an atom by its number, its truth in a world and its probability level."""
    ids = atom_ids(network)
    degrees = network.degrees().tolist()
    tips = [_lines(network, ties, atom, degree) for atom, degree in enumerate(degrees)]
    edge = HEIGHT / 2 if picture.layout.named else _DOT + 2.5
    badges = [badge_row([link_kind(network, tie.source) for tie in own], edge) for own in ties.own]
    shapes = [_shape(network, atom.predicate) for atom in network.atoms]
    frames = _FRAMES if picture.layout.named else _SMALL_FRAMES

    def node(atom: int, truth: bool | None, level: int | None) -> Group:
        name = str(network.atoms[atom])
        share = float(truth or 0) if level is None else max(level, 0) / LEVELS
        said = [] if truth is None else [f"{'true' if truth else 'false'} in this world"]
        said += [] if level is None or level < 0 else [f"probability {share:.3f}"]
        shown = Node(
            id=ids[atom], lines=(name,), look=f"ring grey {frames[truth]}".strip(), corner=5.0, fill=share,
            shape=shapes[atom], radius=_DOT, parts=badges[atom],
            tooltip=tooltip(name, *said, *tips[atom]),
        )  # fmt: skip
        return picture.draw_node(atom, shown)

    return node


def level_of(probability: float) -> int:
    """Return how far a box is filled; -1 where nothing is known yet."""
    return round(probability * LEVELS) if isfinite(probability) else -1


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


def _lines(network: GroundNetwork, ties: Ties, atom: int, degree: int) -> list[str]:
    """Return the lines of an atom's tooltip: how it is connected, its own formulas with their weights."""
    links = count_of(len(network.links_of(atom)), "link")
    own = [f"{source_words(network.sources[tie.source])}{_times(tie)}" for tie in ties.own[atom]]
    return [f"in {links}, {count_of(degree, 'neighbour')}", *first_lines(own)]


def _times(tie: Tie) -> str:
    return f", {len(tie.links)} times" if len(tie.links) > 1 else ""


# --- links ----------------------------------------------------------------------------------------


def source_words(source: Source) -> str:
    """Return a formula with its weight, in symbols."""
    text = shorten_text(source.text, 160)
    match source.kind:
        case "block":
            return f"{text}: one of a block"
        case "soft evidence":
            return f"soft evidence {text}"
        case "given":
            return f"given {in_symbols(text)}"
        case _:
            return in_symbols(text)


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a tooltip, and how many more there are."""
    rest = len(lines) - _MOST_LISTED
    return [*lines[:_MOST_LISTED], *([f"and {rest:,} more"] if rest > 0 else [])]


def tie_links(network: GroundNetwork, ties: Ties) -> Iterator[Link]:
    """Yield lines between two atoms, and then those from marks to their atoms.

    Each pair has a line for each formula, and several bow apart; of very many pairs, and of marks, all lines
    of a formula are one path, which is far smaller than as many.
    """
    together: dict[int, list[tuple[int, int]]] = {}
    if len(ties.pairs) > _MOST_PICKED:
        for tie in ties.pairs:
            together.setdefault(tie.source, []).append((tie.atoms[0], tie.atoms[1]))
        yield from _link_together(network, together)
        together = {}
    else:
        for tie in ties.pairs:
            ends, look = ((tie.atoms[0], tie.atoms[1]),), _line_look(network, tie.source)
            yield Link(ends=ends, id=mark_id(tie), look=look, bow=_BOW, pick=True, tooltip=_tip(network, tie))
    for number, tie in enumerate(ties.marks, network.number_of_atoms):
        together.setdefault(tie.source, []).extend((number, atom) for atom in tie.atoms)
    yield from _link_together(network, together)


def _link_together(network: GroundNetwork, lines: Mapping[int, Sequence[tuple[int, int]]]) -> Iterator[Link]:
    for source, ends in lines.items():
        yield Link(ends=ends, look=f"{_line_look(network, source)} faint")


def _draw_mark(network: GroundNetwork, tie: Tie) -> Node:
    hue, shape = link_kind(network, tie.source)
    shown = mark(shape, 5.5 if network.number_of_atoms <= NAMED else 4.0, f"disc {hue}")
    return Node(id=mark_id(tie), mark=shown, tooltip=_tip(network, tie))


def _tip(network: GroundNetwork, tie: Tie) -> str:
    """Return a link's tooltip: the formula with its weight, and its ground formulas here."""
    source = network.sources[tie.source]
    here = first_lines([in_symbols(network.text(link)) for link in tie.links])
    return tooltip(source_words(source), *("hard",) * source.hard, *here)


def _line_look(network: GroundNetwork, source: int) -> str:
    hue = link_kind(network, source).hue
    dash = "dotted" if network.sources[source].kind == "block" else DASHES[source % len(DASHES)]
    return " ".join(filter(None, ("curve", hue, dash, "thick" if network.sources[source].hard else "")))


def link_kind(network: GroundNetwork, source: int) -> Kind:
    """Return the hue and shape of a source of links."""
    kind = kind_number(source)
    return kind._replace(hue="grey") if network.sources[source].kind == "block" else kind


def link_entries(network: GroundNetwork, ties: Ties) -> list[Entry]:
    """Return the legend: a line or a mark for each formula that is drawn."""
    lines = {tie.source for tie in ties.pairs}
    marks = {tie.source for tie in (*ties.marks, *(tie for own in ties.own for tie in own))}
    entries = []
    for source in sorted(lines | marks):
        hue, shape = link_kind(network, source)
        sample = (
            Path(path=polyline([(-10, 0), (10, 0)]), look=_line_look(network, source))
            if source in lines
            else mark(shape, 5.5, f"disc {hue}")
        )
        entries.append(Entry(sample, source_words(network.sources[source])))
    return entries


# --- lit ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LitNetwork:
    """A drawing of a ground network, and where its links are."""

    drawing: NetworkDrawing
    corners: tuple[tuple[float, float], ...]  # of each atom, where its colour stands

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return self.drawing.network.number_of_atoms

    def light_links(self, links: NDArray[np.bool_], look: str = "wash yellow") -> Layer:
        """Return a layer with the links that are in use: behind lines, around marks, over an atom's own."""
        ties, places = self.drawing.ties, self.drawing.layout.places
        found: list[Item] = []
        for number, tie in enumerate(ties.pairs):
            one, other = (places[atom] for atom in tie.atoms)
            found.append(_light(numbered_id("lit", 0, number), band(one, other, 6.0), tie, links, look))
        for number, (tie, (x, y)) in enumerate(zip(ties.marks, places[self.atoms :], strict=True)):
            found.append(_light(numbered_id("lit", 1, number), _around(x, y, 9.0), tie, links, look))
        for atom, own in enumerate(ties.own):
            x, y = places[atom]
            top = y - 13.0 if self.atoms <= NAMED else y - 8.0
            for place, tie in enumerate(own):
                middle = x + (place - (len(own) - 1) / 2) * 11
                name = numbered_id("lit", 2, atom, place)
                found.append(_light(name, _around(middle, top, 7.0), tie, links, look))
        return Layer("lit", tuple(found))

    def colour_atoms(self, colours: Sequence[int]) -> Layer:
        """Return a layer with a small mark and a number beside each atom, alike where colours are."""
        found = []
        for atom, (colour, (x, y)) in enumerate(zip(colours, self.corners, strict=True)):
            hue, shape = kind_number(colour)
            number = Text(x=8, y=4, text=str(colour + 1), look="words small")
            found.append(
                Group(id=numbered_id("colour", atom), x=x, y=y, children=(_disc(shape, hue), number))
            )
        return Layer("colours", tuple(found))

    def scene(
        self, behind: Sequence[Layer], before: Sequence[Layer], title: str, words: str,
        probabilities: NDArray[np.float64] | None = None, truths: NDArray[np.bool_] | None = None,
    ) -> Scene:  # fmt: skip
        """Return the drawing with more layers behind and in front of it."""
        plain = self.drawing.scene(truths, probabilities)
        return Scene(plain.width, plain.height, (*behind, *plain.layers, *before), title, words)


def lit_network(clauses: GroundClauses) -> LitNetwork | None:
    """Return the drawing of a question's ground network; none where it is too large to follow."""
    network = GroundNetwork(clauses)
    if not 0 < network.number_of_atoms <= MOST_LIT:
        return None
    drawing = network_drawing(network)
    layout, count = drawing.layout, network.number_of_atoms
    half = [width / 2 if layout.named else 6.0 for width, _ in layout.sizes[:count]]
    places = zip(layout.places[:count], half, strict=True)
    return LitNetwork(drawing, tuple((x + right - 4, y + 15.0) for (x, y), right in places))


def _light(name: str, path: str, tie: Tie, links: NDArray[np.bool_], look: str) -> Path:
    return Path(id=name, path=path if links[list(tie.links)].any() else "", look=look)


def _disc(shape: str, hue: str) -> Path:
    """Return a mark as a path, whatever its shape, so that a change of colour changes no item."""
    outlines = {
        "circle": _around(0, 0, 5.0),
        "square": "M-5 -5h10v10h-10Z",
        "diamond": "M0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5Z",
    }
    return Path(path=outlines.get(shape, "M0 -6.5l6 10.5l-12 0Z"), look=f"disc {hue}")


def _around(x: float, y: float, radius: float) -> str:
    left, right = x - radius, x + radius
    arc = f"A{radius:.1f} {radius:.1f} 0 0 1"
    return f"M{left:.1f} {y:.1f}{arc} {right:.1f} {y:.1f}{arc} {left:.1f} {y:.1f}Z"

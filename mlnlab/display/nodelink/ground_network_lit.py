"""Light up parts of a ground network from step to step: links in use, and colours beside the atoms."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING

from mlnlab.display.nodelink.ground_network_layout import NAMED, Tie, box_sizes, places_of, ties_of
from mlnlab.display.nodelink.ground_network_scenes import NetworkDrawing, network_drawing
from mlnlab.display.scene.building import kind_number, numbered_id
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import polyline
from mlnlab.grounding.networks.ground_network import GroundNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.display.nodelink.ground_network_layout import Places, Ties
    from mlnlab.display.scene.paths import Point
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

MOST_LIT = 150  # atoms: a picture that changes at every step is drawn many times a second


@dataclass(frozen=True, eq=False)
class LitNetwork:
    """A drawing of a ground network, and where its links are."""

    drawing: NetworkDrawing
    ties: Ties
    places: Places
    corners: tuple[tuple[float, float], ...]  # of each atom, where its colour stands

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return self.drawing.network.number_of_atoms

    def light_links(self, links: NDArray[np.bool_], look: str = "wash yellow") -> Layer:
        """Return a layer with the links that are in use: behind lines, around marks, over an atom's own."""
        found: list[Item] = []
        for number, tie in enumerate(self.ties.pairs):
            one, other = (self.places.of(atom) for atom in tie.atoms)
            found.append(_light(numbered_id("lit", 0, number), _band(one, other, 6.0), tie, links, look))
        for number, (tie, (x, y)) in enumerate(zip(self.ties.marks, self.places.marks.tolist(), strict=True)):
            found.append(_light(numbered_id("lit", 1, number), _around(x, y, 9.0), tie, links, look))
        for atom, own in enumerate(self.ties.own):
            x, y = self.places.of(atom)
            top = y - 11.0 if self.atoms <= NAMED else y - 8.0
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
    ties = ties_of(network)
    places = places_of(network, ties)
    half = box_sizes(network, ties)[:, 0] / 2 if network.number_of_atoms <= NAMED else [6.0] * len(ties.own)
    corners = tuple((x + half[atom] - 4, y + 13.0) for atom, (x, y) in enumerate(places.atoms.tolist()))
    return LitNetwork(network_drawing(network), ties, places, corners)


def _light(name: str, path: str, tie: Tie, links: NDArray[np.bool_], look: str) -> Path:
    return Path(id=name, path=path if links[list(tie.links)].any() else "", look=look)


def _band(one: Point, other: Point, half: float) -> str:
    """Return the outline of a band around a line, so that the line itself stays as it is."""
    across, down = other[0] - one[0], other[1] - one[1]
    length = hypot(across, down) or 1.0
    x, y = -down / length * half, across / length * half
    corners = ((one, 1), (other, 1), (other, -1), (one, -1))
    return polyline([(point[0] + side * x, point[1] + side * y) for point, side in corners]) + "Z"


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

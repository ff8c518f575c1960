"""Draw ground networks: fixed parts are drawn once, a world or probabilities are filled in.

An atom's box is filled as far as it is probable. In a world, true atoms have thick frames and false ones
dashed frames; without probabilities they are full or empty as well. So nothing is said by colour alone, and a
sampler's next state changes widths and looks, never ids or items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.nodelink.ground_network_atoms import atom_entries, level_of, names_above, node_of
from mlnlab.display.nodelink.ground_network_layout import Earlier, View, places_of, ties_of
from mlnlab.display.nodelink.ground_network_links import link_entries, link_items
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.items import Group, Layer, Scene
from mlnlab.grounding.networks.ground_network import GroundNetwork

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mlnlab.display.nodelink.ground_network_atoms import NodeOf
    from mlnlab.display.runs.runs import Draw
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_LEGEND_GAP = 10.0
_REMEMBERED = 20_000  # drawn atoms


@dataclass(frozen=True, eq=False)
class NetworkDrawing:
    """A ground network with all parts that no state changes; ``legend`` depends on the fillings."""

    network: GroundNetwork
    links: Layer
    names: Layer
    node: NodeOf
    legend: Callable[[bool, bool], tuple[Group, float]]
    size: tuple[float, float]
    hidden: int  # links that are not drawn

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
        total = self.size[1] + (height + _LEGEND_GAP if height else 0) + 4
        layers = (self.links, atoms, self.names, legend_layer)
        words = in_words(self.network)
        rest = f" {count_of(self.hidden, 'link')} of these are too many to be drawn." if self.hidden else ""
        return Scene(self.size[0], total, layers, "Ground network", words + rest)


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
    places = places_of(network, ties, previous)
    node = lru_cache(maxsize=_REMEMBERED)(node_of(network, ties, places))
    links = link_entries(network, ties)

    @cache
    def draw_legend(worlds: bool, probabilities: bool) -> tuple[Group, float]:
        entries = [*links, *atom_entries(network, worlds=worlds, probabilities=probabilities)]
        return legend(entries, 8, places.size[1] + _LEGEND_GAP, WIDTH - 16)

    return NetworkDrawing(
        network,
        Layer("links", tuple(link_items(network, ties, places))),
        Layer("names", names_above(network, places)),
        node,
        draw_legend,
        places.size,
        ties.hidden,
    )


def in_words(network: GroundNetwork) -> str:
    """Return the sizes, and how much is not drawn because evidence decides it."""
    atoms, links = count_of(network.number_of_atoms, "open atom"), count_of(network.number_of_links, "link")
    tallies = [tally for _, tally in network.tallies]
    decided = sum(tally.true + tally.false for tally in tallies)
    if not decided:
        return f"{atoms} and {links}."
    groundings = count_of(sum(tally.groundings for tally in tallies), "grounding")
    return f"{atoms} and {links}; evidence decides {decided:,} of {groundings}."

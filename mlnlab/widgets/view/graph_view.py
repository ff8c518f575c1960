"""The view of a graph: a small one as it is, a large one as groups that open on a click."""

from __future__ import annotations

from mlnlab.display.model import hypergraphs
from mlnlab.display.model.hypergraph_scenes import MOST_DRAWN
from mlnlab.display.nodelink import ground_networks
from mlnlab.display.nodelink.collapsed import collapse_graph
from mlnlab.display.nodelink.ground_network_layout import can_be_drawn
from mlnlab.display.scene.items import Scene
from mlnlab.display.structure.lift import lifted_hypergraphs
from mlnlab.errors import ArgumentError
from mlnlab.grounding.networks.ground_network import GroundNetwork
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.widgets.view.scene_view import Draw, SceneView

MOST_IN_GROUPS = 200_000  # nodes; beyond, the groups themselves take seconds to find


def graph_view(graph: Hypergraph | LiftedHypergraph | GroundNetwork) -> SceneView:
    """Return a hypergraph, a lifted one or a ground network as a drawing that answers."""
    if isinstance(graph, LiftedHypergraph):
        return _lifted_view(graph)
    if isinstance(graph, GroundNetwork):
        nodes, is_small = graph.number_of_atoms, can_be_drawn(graph)
    else:
        nodes = graph.number_of_nodes
        is_small = nodes + graph.number_of_edges <= MOST_DRAWN
    if not nodes:
        raise ArgumentError("There is nothing to draw: this graph has no nodes.")
    if is_small or nodes > MOST_IN_GROUPS:
        return SceneView(_always(graph))
    groups = collapse_graph(graph)
    return SceneView(groups.scene, groups.describe)


def _lifted_view(lifted: LiftedHypergraph) -> SceneView:
    """Return a lifted hypergraph whose groups of clusters open, where not all are drawn at once."""
    if lifted_hypergraphs.scene_of(lifted) is None:
        raise ArgumentError("There is nothing to draw: this graph has no nodes.")

    def draw(opened: frozenset[str]) -> Scene:
        found = lifted_hypergraphs.scene_of(lifted, opened, folds=True)
        return found if found is not None else Scene(0, 0, (), "")

    return SceneView(draw)


def _always(graph: Hypergraph | GroundNetwork) -> Draw:
    """Return a drawing function that ignores which items are unfolded."""
    module = ground_networks if isinstance(graph, GroundNetwork) else hypergraphs
    found: Scene | None = module.scene_of(graph)
    if found is None:
        raise ArgumentError(f"{graph!r} is too large to be drawn; to_networkx() has all of it.")
    scene = found
    return lambda _opened: scene

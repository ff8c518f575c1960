"""A lifted hypergraph: its clusters with what joins them as a drawing, and both as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.lifted_boxes import cluster_name
from mlnlab.display.lifted_edges import edge_name, edges_in_words
from mlnlab.display.lifted_groups import group_id, grouped
from mlnlab.display.lifted_places import MOST_INSIDE
from mlnlab.display.lifted_scenes import clusters_scene, opened_of
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.structure.lifted_hypergraph import LiftedEdge, LiftedHypergraph

MOST_DRAWN = 500  # clusters and hyperedges
MOST_COUNTED = 20_000  # constants and atoms; of more, hyperedges are not listed one by one
_MOST_MEMBERS = 40
_LINES = 40  # of text


def scene_of(lifted: LiftedHypergraph, opened: Collection[str] = (), *, folds: bool = False) -> Scene | None:
    """Return the drawing that fits the size, none of nothing; where it ``folds``, groups ask for a click."""
    if not len(lifted.labels):
        return None
    if is_small(lifted):
        return clusters_scene(lifted, opened=opened_of(lifted, opened), folds=folds)
    coarse = grouped(lifted, opened)
    handles = {}
    for type_, first in lifted.hypergraph.offsets.items():
        if folds and len(lifted.hypergraph.constants[type_]):
            name = group_id(lifted, first)
            if name in opened and name not in {group_id(lifted, cluster) for cluster in coarse.groups}:
                handles[name] = type_
    wide = opened_of(coarse.lifted, opened) - coarse.groups.keys()
    return clusters_scene(coarse.lifted, coarse.groups, of=lifted, opened=wide, folds=folds, handles=handles)


def is_small(lifted: LiftedHypergraph) -> bool:
    """Tell whether all clusters and hyperedges are drawn."""
    return not _is_huge(lifted) and len(lifted.clusters) + len(lifted.edges) <= MOST_DRAWN


def _is_huge(lifted: LiftedHypergraph) -> bool:
    graph = lifted.hypergraph
    return graph.number_of_nodes + graph.number_of_edges > MOST_COUNTED


def lifted_display(lifted: LiftedHypergraph) -> Element:
    """Return the display of a lifted hypergraph."""
    scene = scene_of(lifted)
    small = scene is None or is_small(lifted)
    counts = bool((lifted.sizes > MOST_INSIDE).any())
    return card(
        title("Lifted hypergraph", _sizes(lifted)),
        quiet("There are no constants to draw.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        None if small else quiet("The largest clusters are drawn; ml.live(...) opens the others on a click."),
        quiet("Large clusters are counts; ml.live(...) opens them on a click.") if counts and small else None,
        folded("clusters, the largest first", _clusters_table(lifted)),
        folded("hyperedges, those with the most true atoms first", _edges_table(lifted)),
    )


def _sizes(lifted: LiftedHypergraph) -> str:
    clusters, constants = count_of(len(lifted.clusters), "cluster"), count_of(len(lifted.labels), "constant")
    return f"{clusters} of {constants}, {count_of(lifted.hypergraph.number_of_edges, 'true atom')}"


def _clusters_table(lifted: LiftedHypergraph) -> Element:
    def rows() -> Iterator[tuple[str, str, str]]:
        order = np.lexsort((lifted.clusters, -lifted.sizes[lifted.clusters]))
        for cluster in lifted.clusters[order][: MOST_ROWS + 1].tolist():
            members = lifted.members(cluster)
            names = ", ".join(
                shortened(lifted.hypergraph.node(node).constant) for node in members[:_MOST_MEMBERS].tolist()
            )
            more = f", and {len(members) - _MOST_MEMBERS:,} more" if len(members) > _MOST_MEMBERS else ""
            yield shortened(lifted.type_of(cluster)), f"{len(members):,}", names + more

    headings = ("type", "constants", "which")
    return bounded_table(headings, rows(), len(lifted.clusters), "clusters", numbers=(1,))


def _edges_table(lifted: LiftedHypergraph) -> Element:
    shown = grouped(lifted, most=0).lifted if _is_huge(lifted) else lifted

    def rows() -> Iterator[tuple[str, str, str, str]]:
        order = sorted(shown.edges, key=lambda edge: (-edge.true, edge.number))
        for edge in order[: MOST_ROWS + 1]:
            yield edge_name(shown, edge), f"{edge.true:,}", f"{edge.atoms:,}", _share(edge)

    headings = ("hyperedge", "true atoms", "of", "share")
    return bounded_table(headings, rows(), len(shown.edges), "hyperedges", numbers=(1, 2, 3))


def _share(edge: LiftedEdge) -> str:
    return f"{edge.true / edge.atoms:.3g}"


def lifted_text(lifted: LiftedHypergraph) -> str:
    """Return a lifted hypergraph as text."""
    if _is_huge(lifted):
        return repr(grouped(lifted).lifted)
    clusters = [
        f"  {shortened(lifted.type_of(cluster))} {{{cluster_name(lifted, cluster)}}}"
        for cluster in lifted.clusters[:_LINES].tolist()
        if lifted.sizes[cluster] > 1
    ]
    edges = [f"  {line}" for line in edges_in_words(lifted, _LINES)]
    return "\n".join([repr(lifted), *clusters, *edges])

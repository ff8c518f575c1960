"""Show a lifted hypergraph: its clusters and hyperedges as a drawing, and both as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.structure.lift.lifted_edges import edge_name
from mlnlab.display.structure.lift.lifted_groups import group_clusters, group_id
from mlnlab.display.structure.lift.lifted_places import MOST_INSIDE
from mlnlab.display.structure.lift.lifted_scenes import clusters_scene, opened_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph

MOST_DRAWN = 500  # clusters and hyperedges
MOST_COUNTED = 20_000  # constants and atoms; of more, hyperedges are not listed one by one
_MOST_MEMBERS = 40


def scene_of(lifted: LiftedHypergraph, opened: Collection[str] = (), *, folds: bool = False) -> Scene | None:
    """Return the drawing that fits the size, none of nothing; where it ``folds``, groups ask for a click."""
    if not len(lifted.labels):
        return None
    if is_small(lifted):
        return clusters_scene(lifted, opened=opened_of(lifted, opened), folds=folds)
    coarse = group_clusters(lifted, opened)
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


def lifted_card(lifted: LiftedHypergraph) -> Card:
    """Return the card of a lifted hypergraph."""
    scene = scene_of(lifted)
    small = scene is None or is_small(lifted)
    counts = bool((lifted.sizes > MOST_INSIDE).any())
    return Card(
        "Lifted hypergraph",
        _sizes(lifted),
        picture=scene,
        undrawn="There are no constants to draw.",
        table=_clusters_table(lifted),
        remarks=(
            "" if small else "The largest clusters are drawn; ml.live(...) opens the others on a click.",
            "Large clusters are counts; ml.live(...) opens them on a click." if counts and small else "",
        ),
        folds=(("hyperedges, those with the most true atoms first", _edges_table(lifted)),),
    )


def _sizes(lifted: LiftedHypergraph) -> str:
    clusters, constants = count_of(len(lifted.clusters), "cluster"), count_of(len(lifted.labels), "constant")
    return f"{clusters} of {constants}, {count_of(lifted.hypergraph.number_of_edges, 'true atom')}"


def _clusters_table(lifted: LiftedHypergraph) -> Table:
    def rows() -> Iterator[tuple[str, str, str]]:
        order = np.lexsort((lifted.clusters, -lifted.sizes[lifted.clusters]))
        for cluster in lifted.clusters[order][:MOST_ROWS].tolist():
            members = lifted.members(cluster)
            names = ", ".join(
                shorten_text(lifted.hypergraph.node(node).constant)
                for node in members[:_MOST_MEMBERS].tolist()
            )
            more = f", and {len(members) - _MOST_MEMBERS:,} more" if len(members) > _MOST_MEMBERS else ""
            yield shorten_text(lifted.type_of(cluster)), f"{len(members):,}", names + more

    headings, name = ("type", "constants", "which"), "clusters, the largest first"
    return table_of(headings, rows(), len(lifted.clusters), "clusters", numbers=(1,), name=name)


def _edges_table(lifted: LiftedHypergraph) -> Table:
    shown = group_clusters(lifted, most=0).lifted if _is_huge(lifted) else lifted

    def rows() -> Iterator[tuple[str, str, str, str]]:
        order = sorted(shown.edges, key=lambda edge: (-edge.true, edge.number))
        for edge in order[:MOST_ROWS]:
            yield edge_name(shown, edge), f"{edge.true:,}", f"{edge.atoms:,}", _share(edge)

    headings = ("hyperedge", "true atoms", "of", "share")
    return table_of(headings, rows(), len(shown.edges), "hyperedges", numbers=(1, 2, 3))


def _share(edge: LiftedEdge) -> str:
    return f"{edge.true / edge.atoms:.3g}"

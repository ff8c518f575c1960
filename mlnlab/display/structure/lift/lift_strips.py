"""Clusterings of very many constants: a strip for each type, a piece for each large cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_boxes import cluster_tip, hue_of_cluster

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lift_run_view import Before, LiftView
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

_LEFT, _HIGH, _ROW = 130.0, 22.0, 44.0
_MOST_PIECES = 40


def strips(
    view: LiftView,
    lifted: LiftedHypergraph,
    before: Before | None,
    chosen: Sequence[int],
    y: float,
    width: float,
) -> tuple[list[Item], float]:
    """Return the clusters of each type, the largest first, those of one constant together; where they end."""
    merged = () if before is None else (int(lifted.labels[before.first[0]]),)
    lit = frozenset(chosen or merged)
    items: list[Item] = []
    for number, (type_, constants) in enumerate(lifted.hypergraph.constants.items()):
        if not len(constants):
            continue
        clusters = _clusters_of(lifted, type_)
        words = f"{count_of(len(clusters), 'cluster')} of {len(constants):,}"
        items += [
            Text(
                x=8, y=y + 10, text=fit_text(shorten_text(type_), _LEFT - 16, "strong"), look="words strong"
            ),
            Text(id=numbered_id("sizes", number), x=8, y=y + 24, text=words, look="quiet small"),
            *_pieces(view, lifted, clusters, lit, before, number, y, width - _LEFT - 8),
        ]
        y += _ROW
    return items, y


def _clusters_of(lifted: LiftedHypergraph, type_: str) -> np.ndarray:
    first = lifted.hypergraph.offsets[type_]
    last = first + len(lifted.hypergraph.constants[type_])
    clusters = lifted.clusters[(lifted.clusters >= first) & (lifted.clusters < last)]
    return clusters[np.lexsort((clusters, -lifted.sizes[clusters]))]


def _pieces(
    view: LiftView, lifted: LiftedHypergraph, clusters: np.ndarray, lit: frozenset[int],
    before: Before | None, strip: int, y: float, width: float,
) -> Iterator[Item]:  # fmt: skip
    """Yield the pieces of a strip; a piece is as wide as its share of the constants.

    One that was merged has a line where the two clusters meet.
    """
    total = int(lifted.sizes[clusters].sum())
    x = _LEFT
    drawn = [cluster for cluster in clusters[:_MOST_PIECES].tolist() if lifted.sizes[cluster] > 1]
    drawn += [cluster for cluster in sorted(lit) if cluster in clusters and cluster not in drawn]
    for cluster in drawn:
        wide = width * int(lifted.sizes[cluster]) / total
        words = f"{lifted.sizes[cluster]:,}"
        look = f"wash {hue_of_cluster(cluster, view.ranks)}{' thick' * (cluster in lit)}"
        children: list[Item] = [Rectangle(x=0, y=0, width=wide, height=_HIGH, look=look, corner=2)]
        if text_width(words, "small") < wide - 4:
            children.append(Text(x=wide / 2, y=15, text=words, anchor="middle", look="number small"))
        if before is not None and cluster == lifted.labels[before.first[0]]:
            meet = wide * len(before.first) / int(lifted.sizes[cluster])
            children.append(Path(path=segments([((meet, 0), (meet, _HIGH))]), look="frame dashed"))
        yield Group(
            id=numbered_id("cluster", cluster), x=x, y=y, pick=True, tooltip=cluster_tip(lifted, cluster),
            children=tuple(children),
        )  # fmt: skip
        x += wide
    rest = len(clusters) - len(drawn)
    if rest:
        words = f"{rest:,} more, the smallest" if len(drawn) else f"{rest:,} alone"
        piece = Rectangle(x=0, y=0, width=max(_LEFT + width - x, 0), height=_HIGH, look="panel", corner=2)
        text = Text(
            x=6, y=15, text=fit_text(words, max(_LEFT + width - x - 8, 0), "small"), look="quiet small"
        )
        yield Group(id=numbered_id("others", strip), x=x, y=y, tooltip=tooltip(words), children=(piece, text))

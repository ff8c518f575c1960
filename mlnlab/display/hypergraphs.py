"""A hypergraph: a drawing that fits its size, and its constants as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.collapsed_outline import outline_of
from mlnlab.display.collapsed_summary import summary_scene
from mlnlab.display.hypergraph_matrix import matrix_scene
from mlnlab.display.hypergraph_scenes import MOST_DRAWN, hypergraph_scene
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.model.hypergraph import Hypergraph

MOST_IN_A_MATRIX = 20_000


def scene_of(graph: Hypergraph) -> Scene | None:
    """Return the drawing that fits the size: of single things, a matrix, histograms; none of nothing."""
    size = graph.number_of_nodes + graph.number_of_edges
    if not graph.number_of_nodes:
        return None
    if size > MOST_IN_A_MATRIX:
        return summary_scene(outline_of(graph))
    return hypergraph_scene(graph) if size <= MOST_DRAWN else matrix_scene(graph)


def hypergraph_display(graph: Hypergraph) -> Element:
    """Return the display of a hypergraph."""
    scene = scene_of(graph)
    return card(
        title("Hypergraph", _sizes(graph)),
        quiet("There are no constants to draw.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        _remark(graph) if scene is not None else None,
        folded("predicates", _predicates_table(graph)),
        folded("constants as a table, the best connected first", _constants_table(graph)),
    )


def _sizes(graph: Hypergraph) -> str:
    return f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'atom')}"


def _remark(graph: Hypergraph) -> Element | None:
    sentences = []
    if graph.number_of_nodes + graph.number_of_edges > MOST_IN_A_MATRIX:
        alone = int((graph.degrees() == 0).sum())
        sentences.append(
            f"Too large to be drawn one by one; {count_of(alone, 'constant')} in no atom at all."
            " Take a part of the database to see it, or to_networkx()."
        )
    propositions = sum(len(rows) for rows in graph.members.values() if not rows.shape[1])
    if propositions:
        sentences.append(f"{count_of(propositions, 'atom')} without arguments cannot be drawn.")
    return quiet(" ".join(sentences)) if sentences else None


def _predicates_table(graph: Hypergraph) -> Element:
    rows = (
        (shortened(name), f"{members.shape[1]}", f"{len(members):,}")
        for name, members in graph.members.items()
    )
    headings = ("predicate", "arguments", "atoms")
    return bounded_table(headings, rows, len(graph.members), "predicates", numbers=(1, 2))


def _constants_table(graph: Hypergraph) -> Element:
    def rows() -> Iterator[tuple[str, str, str]]:
        degrees = graph.degrees()
        for number in np.argsort(-degrees, kind="stable")[: MOST_ROWS + 1].tolist():
            node = graph.node(number)
            yield shortened(node.constant), shortened(node.type), f"{degrees[number]:,}"

    where = "to_networkx() has them all"
    headings = ("constant", "type", "in atoms")
    return bounded_table(headings, rows(), graph.number_of_nodes, "constants", numbers=(2,), where=where)


def hypergraph_text(graph: Hypergraph) -> str:
    """Return a hypergraph as text."""
    lines = [
        f"  {shortened(name)}: {count_of(len(rows), 'atom')} of {count_of(rows.shape[1], 'argument')}"
        for name, rows in list(graph.members.items())[:MOST_ROWS]
    ]
    return "\n".join([repr(graph), *lines])

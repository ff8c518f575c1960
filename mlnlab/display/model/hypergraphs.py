"""A hypergraph: a drawing that fits its size, and its constants as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.model.hypergraph_matrix import matrix_scene
from mlnlab.display.model.hypergraph_scenes import MOST_DRAWN, hypergraph_scene
from mlnlab.display.nodelink.collapsed_outline import outline_of
from mlnlab.display.nodelink.collapsed_summary import summary_scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.model.database.hypergraph import Hypergraph

MOST_IN_A_MATRIX = 20_000


def scene_of(graph: Hypergraph) -> Scene | None:
    """Return the drawing that fits the size: of single things, a matrix, histograms; none of nothing."""
    size = graph.number_of_nodes + graph.number_of_edges
    if not graph.number_of_nodes:
        return None
    if size > MOST_IN_A_MATRIX:
        return summary_scene(outline_of(graph))
    return hypergraph_scene(graph) if size <= MOST_DRAWN else matrix_scene(graph)


def hypergraph_card(graph: Hypergraph) -> Card:
    """Return the card of a hypergraph."""
    scene = scene_of(graph)
    return Card(
        "Hypergraph",
        _sizes(graph),
        picture=scene,
        undrawn="There are no constants to draw.",
        table=_predicates_table(graph),
        remarks=(_remark(graph),) if scene is not None else (),
        folds=(("constants as a table, the best connected first", _constants_table(graph)),),
    )


def _sizes(graph: Hypergraph) -> str:
    return f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'atom')}"


def _remark(graph: Hypergraph) -> str:
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
    return " ".join(sentences)


def _predicates_table(graph: Hypergraph) -> Table:
    rows = (
        (shorten_text(name), f"{members.shape[1]}", f"{len(members):,}")
        for name, members in graph.members.items()
    )
    headings = ("predicate", "arguments", "atoms")
    return table_of(headings, rows, len(graph.members), "predicates", numbers=(1, 2), name="predicates")


def _constants_table(graph: Hypergraph) -> Table:
    def rows() -> Iterator[tuple[str, str, str]]:
        degrees = graph.degrees()
        for number in np.argsort(-degrees, kind="stable")[:MOST_ROWS].tolist():
            node = graph.node(number)
            yield shorten_text(node.constant), shorten_text(node.type), f"{degrees[number]:,}"

    where = "to_networkx() has them all"
    headings = ("constant", "type", "in atoms")
    return table_of(headings, rows(), graph.number_of_nodes, "constants", numbers=(2,), where=where)

"""Show LiftGraph before it runs: its hypergraph, its settings, and ways to watch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.runs.run_cards import calls_in_words

if TYPE_CHECKING:
    from mlnlab.structure.lift.lift_graph import LiftGraph


def lift_graph_card(source: LiftGraph) -> Card:
    """Return the card of a search that has not begun."""
    types = source.hypergraph.constants
    rows = ((shorten_text(name), f"{len(numbers):,}") for name, numbers in types.items())
    ways = (".run()", ".steps()", "ml.stepper(...)")
    return Card(
        "LiftGraph",
        _question(source),
        table=table_of(("type", "constants"), rows, len(types), "types", numbers=(1,)),
        remarks=(
            calls_in_words("Nothing has been merged yet. Lift it at once, or go step by step: ", *ways),
            "From: Kok and Domingos (2009), Learning via Hypergraph Lifting, algorithm 2.",
        ),
    )


def _question(source: LiftGraph) -> str:
    graph, params = source.hypergraph, source.params
    sizes = f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'true atom')}"
    smoothed = f", smoothing {params.smoothing}" if any(params.smoothing) else ""
    also = ", predicates are clustered too" if params.cluster_predicates else ""
    return f"{sizes}; λ = {params.penalty:g}{smoothed}{also}"

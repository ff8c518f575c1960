"""LiftGraph before it runs: what would be lifted, with which settings, and how to watch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.style import card, quiet, title
from mlnlab.display.tables import bounded_table

if TYPE_CHECKING:
    from mlnlab.structure.lift_graph import LiftGraph


def lift_graph_display(source: LiftGraph) -> Element:
    """Return the display of a search that has not begun."""
    types = source.hypergraph.constants
    rows = ((shortened(name), f"{len(numbers):,}") for name, numbers in types.items())
    return card(
        title("LiftGraph", _question(source)),
        bounded_table(("type", "constants"), rows, len(types), "types", numbers=(1,)),
        element(
            "div", "Nothing has been merged yet. Lift it at once, or go step by step: ",
            *_calls("run()", "steps()"), " · ", element("code", "ml.stepper(...)"), kind="quiet",
        ),
        quiet("From: Kok and Domingos (2009), Learning via Hypergraph Lifting, algorithm 2."),
    )  # fmt: skip


def _calls(*calls: str) -> list[Element | str]:
    found: list[Element | str] = []
    for call in calls:
        found += [" · "] * bool(found) + [element("code", f".{call}")]
    return found


def _question(source: LiftGraph) -> str:
    graph, params = source.hypergraph, source.params
    sizes = f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'true atom')}"
    smoothed = f", smoothing {params.smoothing}" if any(params.smoothing) else ""
    also = ", predicates are clustered too" if params.cluster_predicates else ""
    return f"{sizes}; λ = {params.penalty:g}{smoothed}{also}"


def lift_graph_text(source: LiftGraph) -> str:
    """Return a search as text."""
    return f"<LiftGraph of {_question(source)}>"

"""Cards and texts of factors, factor graphs, Bayesian networks, orders, junction trees, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.elimination_scenes import elimination_drawing
from mlnlab.display.factor_bars import distributions_scene
from mlnlab.display.factor_graph_scenes import bayesian_network_scene, factor_graph_scene, graph_words
from mlnlab.display.junction_tree_scenes import junction_tree_scene, tree_words
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.factors.elimination_order import cells_in_words

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.answers import MostProbable, VariableMarginals
    from mlnlab.factors.bayesian_network import BayesianNetwork
    from mlnlab.factors.calibration import CalibratedTree
    from mlnlab.factors.clique_tree import CliqueTree
    from mlnlab.factors.conditional_table import ConditionalTable
    from mlnlab.factors.elimination_order import EliminationOrder
    from mlnlab.factors.factor import Factor
    from mlnlab.factors.factor_graph import FactorGraph
    from mlnlab.factors.junction_tree import JunctionTree
    from mlnlab.factors.message_passing import MessagePassing
    from mlnlab.factors.random_variables import RandomVariable
    from mlnlab.factors.treewidth import Treewidth
    from mlnlab.factors.variable_elimination import VariableElimination

_LONGEST = 160


def _picture(scene: Scene | None, without: str) -> Element:
    """Return a scene as a picture, or a sentence that says why there is none."""
    return quiet(without) if scene is None else scene_image(scene, f"{scene.title}: {scene.description}")


def _names(variables: Sequence[RandomVariable], most: int = 12) -> str:
    shown = ", ".join(shortened(variable.name, 40) for variable in variables[:most])
    return shown + (f" and {len(variables) - most:,} more" if len(variables) > most else "")


def _variables_table(variables: Sequence[RandomVariable]) -> Element:
    rows = (
        (shortened(v.name), f"{v.size:,}", shortened(", ".join(v.values[:40]), _LONGEST)) for v in variables
    )
    headings = ("variable", "values", "their names")
    return bounded_table(headings, rows, len(variables), "variables", numbers=(1,))


# --- factors and tables ---------------------------------------------------------------------------


def factor_display(factor: Factor) -> Element:
    """Return a factor as a table of weights."""
    names = [shortened(variable.name) for variable in factor.scope]
    size = count_of(factor.number_of_cells, "cell")
    zeros = f", {factor.number_of_zeros:,} of them zero" if factor.number_of_zeros else ""
    rows = _weight_rows(factor.scope, factor.weights)
    table = bounded_table(
        (*names, "weight"),
        rows,
        factor.number_of_cells,
        "cells",
        numbers=(len(names),),
        where="to_frame() has all",
    )
    return card(title(shortened(factor.name) or "Factor", size + zeros), table)


def _weight_rows(
    scope: Sequence[RandomVariable], weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> Iterator[tuple[str, ...]]:
    for place in np.ndindex(*weights.shape):
        values = (shortened(v.values[n]) for v, n in zip(scope, place, strict=True))
        yield (*values, f"{float(weights[place]):.6g}")


def conditional_table_display(table: ConditionalTable) -> Element:
    """Return a conditional table: a row for each combination of the parents' values."""
    child, parents = table.variable, table.parents
    rows = (
        (
            *(shortened(p.values[n]) for p, n in zip(parents, place, strict=True)),
            *(f"{value:.6g}" for value in table.probabilities[place][:_WIDEST].tolist()),
        )
        for place in np.ndindex(*table.probabilities.shape[:-1])
    )
    values = [shortened(value) for value in child.values[:_WIDEST]]
    headings = (*(shortened(parent.name) for parent in parents), *values)
    number = table.probabilities.size // child.size
    cut = f", the first {_WIDEST} of {child.size:,} values" if child.size > _WIDEST else ""
    given = f" given {_names(parents)}" if parents else ""
    numbers = tuple(range(len(parents), len(headings)))
    return card(
        title(f"Probabilities of {shortened(child.name)}", f"{given.strip()}{cut}"),
        bounded_table(headings, rows, number, "rows", numbers=numbers),
    )


_WIDEST = 12  # values of a variable as columns


# --- models ---------------------------------------------------------------------------------------


def factor_graph_display(graph: FactorGraph) -> Element:
    """Return the display of a factor graph."""
    rows = (
        (shortened(factor.name) or f"{number}", _names(factor.scope), f"{factor.number_of_cells:,}",
         f"{factor.number_of_zeros:,}")
        for number, factor in enumerate(graph.factors)
    )  # fmt: skip
    headings = ("factor", "over", "cells", "zeros")
    known = ", ".join(f"{shortened(name)} = {shortened(v)}" for name, v in list(graph.evidence.items())[:12])
    return card(
        title("Factor graph", graph_words(graph).rstrip(".")),
        _picture(
            factor_graph_scene(graph), "There is nothing, or too much, to be drawn; the tables list it."
        ),
        quiet(f"Given {known}.") if known else None,
        folded(
            "factors as a table", bounded_table(headings, rows, len(graph.factors), "factors", numbers=(2, 3))
        ),
        folded("variables as a table", _variables_table(graph.variables)),
    )


def bayesian_network_display(network: BayesianNetwork) -> Element:
    """Return the display of a Bayesian network."""
    scene = bayesian_network_scene(network)
    rows = (
        (shortened(table.variable.name), _names(table.parents), f"{table.probabilities.size:,}")
        for table in network.tables
    )
    headings = ("variable", "parents", "numbers")
    edges = sum(len(table.parents) for table in network.tables)
    size = f"{count_of(len(network.tables), 'variable')}, {count_of(edges, 'edge')}"
    name = f"Bayesian network {shortened(network.name)}".rstrip()
    return card(
        title(name, size),
        _picture(scene, "There is nothing, or too much, to be drawn; the tables list it."),
        folded(
            "tables of the network",
            bounded_table(headings, rows, len(network.tables), "tables", numbers=(2,)),
        ),
        folded("variables as a table", _variables_table(network.variables)),
    )


# --- orders and trees -----------------------------------------------------------------------------


def order_scene(order: EliminationOrder) -> Scene | None:
    """Return the graph with the fill of the whole elimination."""
    drawing = elimination_drawing(order.graph, order.numbers)
    return None if drawing is None else drawing.filled()


def order_display(order: EliminationOrder) -> Element:
    """Return the display of an elimination order: the graph with its fill, and the steps as a table."""
    rows = (
        (
            str(state.step),
            shortened(names[0]),
            shortened(", ".join(names[1:]), _LONGEST),
            f"{len(state.fill)}",
        )
        for state in order
        if (names := [order.graph.variables[member].name for member in state.clique])
    )
    cost = f"width {order.width}, largest table {cells_in_words(order.largest)}"
    table = bounded_table(
        ("step", "goes out", "neighbours", "fill edges"), rows, len(order), "steps", numbers=(0, 3)
    )
    return card(
        title(f"Elimination order by {shortened(order.method)}", cost),
        _picture(
            order_scene(order), "There is nothing, or too much, to be drawn; the table lists the steps."
        ),
        quiet("ml.stepper(...) shows it step by step."),
        folded("steps as a table", table),
    )


def tree_display(tree: JunctionTree) -> Element:
    """Return the display of a junction tree."""
    return _tree_card(tree, "ml.stepper(...) shows its messages; calibrated(...) answers.")


def passing_display(passing: MessagePassing) -> Element:
    """Return the display of a message passing that has not begun."""
    messages = count_of(len(passing) - 1, "message")
    sentence = f"{messages} will be sent; ml.stepper(...) shows them."
    return _tree_card(passing.tree, sentence, passing)


def _tree_card(tree: CliqueTree, sentence: str, passing: MessagePassing | None = None) -> Element:
    count = len(tree.cliques)
    rows = (
        (
            str(n),
            shortened(", ".join(tree.names(n)), _LONGEST),
            f"{len(tree.cliques[n])}",
            cells_in_words(tree.cells_of(n)),
        )
        for n in range(count)
    )
    table = bounded_table(("clique", "variables", "size", "table"), rows, count, "cliques", numbers=(0, 2))
    return card(
        title("Junction tree", tree_words(tree).rstrip(".")),
        _picture(junction_tree_scene(tree, passing), "So many cliques are not drawn; the table lists them."),
        quiet(sentence),
        folded("cliques as a table", table),
    )


def elimination_display(asked: VariableElimination) -> Element:
    """Return the display of a query that is answered by elimination."""
    names = _names(asked.query) or "log Z"
    number = count_of(len(asked.order), "variable")
    return card(
        title("Variable elimination", f"{names}, {number} to go out"),
        quiet("joint or log_z has the answer; ml.stepper(...) shows the steps."),
    )


def treewidth_display(found: Treewidth) -> Element:
    """Return a treewidth, or its bounds."""
    words = f"{found.upper}" if found.is_exact else f"from {found.lower} to {found.upper}"
    return card(title(f"Treewidth {words}", "exact" if found.is_exact else "bounds"))


# --- answers --------------------------------------------------------------------------------------


def distributions_display(found: VariableMarginals) -> Element:
    """Return distributions as bars, and as a table."""
    known = ", ".join(f"{shortened(name)} = {shortened(v)}" for name, v in list(found.evidence.items())[:12])
    pairs = [(name, value, p) for name, one in found.items() for value, p in one.items()]
    rows = ((shortened(name), shortened(value), probability_in_words(p)) for name, value, p in pairs)
    headings = ("variable", "value", "probability")
    return card(
        title("Distributions", count_of(len(found), "variable")),
        _picture(distributions_scene(found), "There are no variables."),
        quiet(f"Given {known}.") if known else None,
        quiet(
            f"From {found.method}."
            if isnan(found.log_z)
            else f"Exact, by {found.method} · log Z = {found.log_z:.6g}"
        ),
        folded("as a table", bounded_table(headings, rows, len(pairs), "rows", numbers=(2,))),
    )


def calibrated_display(tree: CalibratedTree) -> Element:
    """Return a calibrated tree by its distributions."""
    return distributions_display(tree.marginals)


def calibrated_scene(tree: CalibratedTree) -> Scene | None:
    """Return the distributions of a calibrated tree as bars."""
    return distributions_scene(tree.marginals)


def most_probable_display(found: MostProbable) -> Element:
    """Return a most probable assignment as a table."""
    rows = ((shortened(n), shortened(v), "evidence" if n in found.evidence else "") for n, v in found.items())
    size = f"log weight {found.log_weight:.6g}"
    table = bounded_table(("variable", "value", ""), rows, len(found), "variables")
    return card(title("Most probable assignment", size), table)

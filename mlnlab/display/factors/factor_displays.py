"""Cards and texts of factors, factor graphs, Bayesian networks, orders, junction trees, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import cost_in_words, count_of, shorten_text
from mlnlab.display.factors.elimination_scenes import elimination_drawing, junction_tree_scene, tree_words
from mlnlab.display.factors.factor_graph_scenes import (
    bayesian_network_scene,
    distributions_scene,
    factor_graph_scene,
    graph_words,
)
from mlnlab.display.factors.factor_runs import run_drawing
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.factors.trees.table_limits import cells_in_words
from mlnlab.inference.networks.factor_gibbs import NAME as GIBBS

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.conditional_table import ConditionalTable
    from mlnlab.factors.graphs.factor import Factor
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.graphs.random_variables import RandomVariable
    from mlnlab.factors.trees.calibrated_tree import CalibratedTree
    from mlnlab.factors.trees.clique_tree import CliqueTree
    from mlnlab.factors.trees.elimination_order import EliminationOrder
    from mlnlab.factors.trees.junction_trees import JunctionTree
    from mlnlab.factors.trees.network_answers import MostProbable, VariableMarginals
    from mlnlab.factors.trees.tree_messages import MessagePassing
    from mlnlab.factors.trees.treewidth import Treewidth
    from mlnlab.factors.trees.variable_elimination import VariableElimination
    from mlnlab.inference.networks.factor_answers import NetworkMarginals
    from mlnlab.inference.networks.factor_asking import FactorRun

_LONGEST = 160
_UNDRAWN = "There is nothing, or too much, to be drawn; the tables list it."


def _names(variables: Sequence[RandomVariable], most: int = 12) -> str:
    shown = ", ".join(shorten_text(variable.name, 40) for variable in variables[:most])
    return shown + (f" and {len(variables) - most:,} more" if len(variables) > most else "")


def _variables_table(variables: Sequence[RandomVariable]) -> Table:
    rows = (
        (shorten_text(v.name), f"{v.size:,}", shorten_text(", ".join(v.values[:40]), _LONGEST))
        for v in variables
    )
    headings = ("variable", "values", "their names")
    return table_of(headings, rows, len(variables), "variables", numbers=(1,))


def known_values(evidence: Mapping[str, str]) -> str:
    """Return the sentence that names the evidence; empty without any."""
    known = ", ".join(f"{shorten_text(name)} = {shorten_text(v)}" for name, v in list(evidence.items())[:12])
    return f"Given {known}." if known else ""


# --- factors and tables ---------------------------------------------------------------------------


def factor_card(factor: Factor) -> Card:
    """Return a factor as a table of weights."""
    names = [shorten_text(variable.name) for variable in factor.scope]
    cells = factor.number_of_cells
    zeros = f", {factor.number_of_zeros:,} of them zero" if factor.number_of_zeros else ""
    return Card(
        shorten_text(factor.name) or "Factor",
        count_of(cells, "cell") + zeros,
        table=table_of(
            (*names, "weight"), _weight_rows(factor.scope, factor.weights), cells, "cells",
            numbers=(len(names),), where="to_frame() has all",
        ),
    )  # fmt: skip


def _weight_rows(
    scope: Sequence[RandomVariable], weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> Iterator[tuple[str, ...]]:
    for place in np.ndindex(*weights.shape):
        values = (shorten_text(v.values[n]) for v, n in zip(scope, place, strict=True))
        yield (*values, f"{float(weights[place]):.6g}")


def conditional_table_card(table: ConditionalTable) -> Card:
    """Return a conditional table: a row for each combination of the parents' values."""
    child, parents = table.variable, table.parents
    rows = (
        (
            *(shorten_text(p.values[n]) for p, n in zip(parents, place, strict=True)),
            *(f"{value:.6g}" for value in table.probabilities[place][:_WIDEST].tolist()),
        )
        for place in np.ndindex(*table.probabilities.shape[:-1])
    )
    values = [shorten_text(value) for value in child.values[:_WIDEST]]
    headings = (*(shorten_text(parent.name) for parent in parents), *values)
    number = table.probabilities.size // child.size
    cut = f", the first {_WIDEST} of {child.size:,} values" if child.size > _WIDEST else ""
    given = f"given {_names(parents)}" if parents else ""
    return Card(
        f"Probabilities of {shorten_text(child.name)}",
        f"{given}{cut}",
        table=table_of(headings, rows, number, "rows", numbers=range(len(parents), len(headings))),
    )


_WIDEST = 12  # values of a variable as columns


# --- models ---------------------------------------------------------------------------------------


def factor_graph_card(graph: FactorGraph) -> Card:
    """Return the card of a factor graph."""
    rows = (
        (shorten_text(factor.name) or f"{number}", _names(factor.scope), f"{factor.number_of_cells:,}",
         f"{factor.number_of_zeros:,}")
        for number, factor in enumerate(graph.factors)
    )  # fmt: skip
    headings, name = ("factor", "over", "cells", "zeros"), "factors as a table"
    return Card(
        "Factor graph",
        graph_words(graph).rstrip("."),
        picture=factor_graph_scene(graph),
        undrawn=_UNDRAWN,
        table=table_of(headings, rows, len(graph.factors), "factors", numbers=(2, 3), name=name),
        remarks=(known_values(graph.evidence),),
        folds=(("variables as a table", _variables_table(graph.variables)),),
    )


def bayesian_network_card(network: BayesianNetwork) -> Card:
    """Return the card of a Bayesian network."""
    rows = (
        (shorten_text(table.variable.name), _names(table.parents), f"{table.probabilities.size:,}")
        for table in network.tables
    )
    headings, name = ("variable", "parents", "numbers"), "tables of the network"
    edges = sum(len(table.parents) for table in network.tables)
    return Card(
        f"Bayesian network {shorten_text(network.name)}".rstrip(),
        f"{count_of(len(network.tables), 'variable')}, {count_of(edges, 'edge')}",
        picture=bayesian_network_scene(network),
        undrawn=_UNDRAWN,
        table=table_of(headings, rows, len(network.tables), "tables", numbers=(2,), name=name),
        folds=(("variables as a table", _variables_table(network.variables)),),
    )


# --- orders and trees -----------------------------------------------------------------------------


def order_scene(order: EliminationOrder) -> Scene | None:
    """Return the graph with the fill of the whole elimination."""
    drawing = elimination_drawing(order.graph, order.states)
    return None if drawing is None else drawing.draw_fill()


def order_card(order: EliminationOrder) -> Card:
    """Return the card of an elimination order: the graph with its fill, and the steps as a table."""
    rows = (
        (
            str(state.step),
            shorten_text(names[0]),
            shorten_text(", ".join(names[1:]), _LONGEST),
            f"{len(state.fill)}",
        )
        for state in order.states
        if (names := [order.graph.variables[member].name for member in state.clique])
    )
    headings, name = ("step", "goes out", "neighbours", "fill edges"), "steps as a table"
    return Card(
        f"Elimination order by {shorten_text(order.method)}",
        f"width {order.width}, largest table {cells_in_words(order.largest)}",
        picture=order_scene(order),
        undrawn=_UNDRAWN,
        table=table_of(headings, rows, len(order), "steps", numbers=(0, 3), name=name),
        remarks=("ml.stepper(...) shows it step by step.",),
    )


def tree_card(tree: JunctionTree) -> Card:
    """Return the card of a junction tree."""
    return _tree_card(tree, "ml.stepper(...) shows its messages; calibrated(...) answers.")


def passing_card(passing: MessagePassing) -> Card:
    """Return the card of a message passing that has not begun."""
    messages = count_of(len(passing) - 1, "message")
    sentence = f"{messages} will be sent; ml.stepper(...) shows them."
    return _tree_card(passing.tree, sentence, passing)


def _tree_card(tree: CliqueTree, sentence: str, passing: MessagePassing | None = None) -> Card:
    count = len(tree.cliques)
    rows = (
        (
            str(n),
            shorten_text(", ".join(tree.names(n)), _LONGEST),
            f"{len(tree.cliques[n])}",
            cells_in_words(tree.cells_of(n)),
        )
        for n in range(count)
    )
    headings, name = ("clique", "variables", "size", "table"), "cliques as a table"
    return Card(
        "Junction tree",
        tree_words(tree).rstrip("."),
        picture=junction_tree_scene(tree, passing),
        undrawn="Too many cliques to draw; the table lists them.",
        table=table_of(headings, rows, count, "cliques", numbers=(0, 2), name=name),
        remarks=(sentence,),
    )


def elimination_card(asked: VariableElimination) -> Card:
    """Return the card of a query that is answered by elimination."""
    names = _names(asked.query) or "log Z"
    number = count_of(len(asked.order), "variable")
    answer = "joint or log_z has the answer; ml.stepper(...) shows the steps."
    return Card("Variable elimination", f"{names}, {number} to go out", lead=(answer,))


def treewidth_card(found: Treewidth) -> Card:
    """Return the card of a treewidth, or of its bounds."""
    words = f"{found.upper}" if found.is_exact else f"from {found.lower} to {found.upper}"
    return Card(f"Treewidth {words}", "exact" if found.is_exact else "bounds")


# --- answers --------------------------------------------------------------------------------------


def distributions_card(found: VariableMarginals) -> Card:
    """Return distributions as bars, and as a table."""
    pairs = [(name, value, p) for name, one in found.items() for value, p in one.items()]
    rows = ((shorten_text(name), shorten_text(value), probability_in_words(p)) for name, value, p in pairs)
    how = f"Exact, by {found.method} · log Z = {found.log_z:.6g}"
    return Card(
        "Distributions",
        count_of(len(found), "variable"),
        picture=distributions_scene(found),
        undrawn="There are no variables.",
        table=table_of(("variable", "value", "probability"), rows, len(pairs), "rows", numbers=(2,)),
        remarks=(known_values(found.evidence), f"From {found.method}." if isnan(found.log_z) else how),
    )


def calibrated_card(tree: CalibratedTree) -> Card:
    """Return a calibrated tree by its distributions."""
    return distributions_card(tree.marginals)


def most_probable_card(found: MostProbable) -> Card:
    """Return a most probable assignment as a table."""
    rows = (
        (shorten_text(n), shorten_text(v), "evidence" if n in found.evidence else "")
        for n, v in found.items()
    )
    return Card(
        "Most probable assignment",
        f"log weight {found.log_weight:.6g}",
        table=table_of(("variable", "value", ""), rows, len(found), "variables"),
    )


# --- distributions by any method ------------------------------------------------------------------


def network_marginals_card(found: NetworkMarginals) -> Card:
    """Return distributions as bars and as a table, with their method and reasons for doubt."""
    pairs = [(name, value, p) for name, one in found.items() for value, p in one.items()]
    rows = (
        (
            shorten_text(name),
            shorten_text(value),
            probability_in_words(p),
            error_words(found.error(name, value)),
        )
        for name, value, p in pairs
    )
    headings, where = ("variable", "value", "probability", "error"), "to_frame() has all"
    log_z = f" · log Z = {found.log_z:.6g}" if isfinite(found.log_z) else ""
    cost = cost_in_words(found.seconds, found.memory)
    return Card(
        "Distributions",
        count_of(len(found), "variable"),
        picture=distributions_scene(found),
        undrawn="There are no variables.",
        table=table_of(headings, rows, len(pairs), "rows", numbers=(2, 3), where=where),
        remarks=(
            known_values(found.evidence),
            f"{found.reason[:1].upper()}{found.reason[1:]}{log_z} · {cost}",
            *(f"Warning: {warning}" for warning in found.warnings),
        ),
    )


def error_words(error: float) -> str:
    """Return an error as a cell of a table."""
    return "not known" if isnan(error) else "exact" if error == 0 else f"± {error:.2g}"


def factor_run_card(run: FactorRun) -> Card:
    """Return the card of a run that has not begun: its graph cannot tell anything yet."""
    question = run.question
    size = f"{count_of(question.number_of_variables, 'open variable')}, "
    size += count_of(question.number_of_tables, "factor")
    drawn = run_drawing(question, chain=run.method.name == GIBBS) is not None
    ways = f"ml.stepper(...) shows its steps{', on the graph' if drawn else ''}; ml.live(...) lets it run."
    return Card(f"{run.method.name} over a factor graph", size, lead=(ways, f"{run.params}"))

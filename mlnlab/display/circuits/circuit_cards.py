"""Cards of arithmetic circuits, of tables of data, and of models learned from these, and their figures."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, SUM, ArithmeticCircuit
from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.curves import Chart, horizontal_axis, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.circuits.circuit_drawings import (
    CircuitShape,
    NodeNumbers,
    ShownCircuit,
    choose_open_nodes,
    circuit_scene,
)
from mlnlab.display.circuits.network_drawings import graph_of, network_words
from mlnlab.display.factors.factor_graph_scenes import distributions_scene
from mlnlab.factors.trees.network_answers import VariableMarginals
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.learning.circuits.circuit_learner import CircuitLearner
    from mlnlab.learning.circuits.learned_circuit import LearnedCircuit
    from mlnlab.learning.networks.learned_network import LearnedNetwork
    from mlnlab.learning.networks.network_learner import NetworkLearner

_MOST_VALUES = 8


def circuit_words(circuit: ArithmeticCircuit) -> str:
    """Return the sizes of a circuit in words."""
    sizes = count_of(len(circuit), "node"), count_of(circuit.edges, "edge")
    return f"{count_of(len(circuit.variables), 'variable')}, {', '.join(sizes)}"


def arithmetic_circuit_card(circuit: ArithmeticCircuit) -> Card:
    """Return the card of a circuit: its upper part without numbers, and its leaves by variable."""
    number = len(circuit.variables)
    counts = np.zeros((number, 2), np.int64)
    own = (circuit.kinds < SUM) & (circuit.variable >= 0)
    np.add.at(counts, (circuit.variable[own], circuit.kinds[own]), 1)
    rows = (
        (shorten_text(one.name), f"{one.size:,}", f"{row[INDICATOR]:,}", f"{row[PARAMETER]:,}")
        for one, row in zip(circuit.variables, counts.tolist(), strict=True)
    )
    return Card(
        "Arithmetic circuit",
        circuit_words(circuit),
        picture=plain_circuit_scene(circuit),
        table=table_of(
            ("variable", "values", "indicators", "parameters"), rows, number, "variables", numbers=(1, 2, 3)
        ),
        remarks=("ml.circuit_view(...) opens its nodes, and shows values given evidence.",),
    )


def plain_circuit_scene(circuit: ArithmeticCircuit) -> Scene:
    """Return the upper part of a circuit, with no numbers but those of parameters."""
    with np.errstate(divide="ignore"):
        values = np.where(circuit.kinds == PARAMETER, np.log(circuit.parameters), np.nan)
    numbers = NodeNumbers(values, values, np.zeros(len(circuit)), None)
    shown = ShownCircuit(CircuitShape(circuit), numbers, top=len(circuit) - 1, live=False)
    opened = choose_open_nodes(shown)
    return circuit_scene(ShownCircuit(shown.shape, numbers, shown.top, opened, live=False))


def data_table_card(table: DataTable) -> Card:
    """Return the card of a table: how often each variable has each of its values."""
    counts = [
        np.bincount(column[column >= 0], minlength=one.size)
        for one, column in zip(table.variables, table.rows.T, strict=True)
    ]
    missing = int((table.rows < 0).sum())
    lacking = f", {count_of(missing, 'cell')} missing" if missing else ""
    return Card(
        "Table of data",
        f"{count_of(len(table), 'row')}, {count_of(len(table.variables), 'variable')}{lacking}",
        picture=_shares_scene(table, counts),
        undrawn="There are no rows.",
        table=table_of(
            ("variable", "values", "rows with each", "missing"), _value_rows(table, counts),
            len(table.variables), "variables", numbers=(1, 3),
        ),
    )  # fmt: skip


def _value_rows(table: DataTable, counts: list[np.ndarray]) -> Iterator[tuple[str, ...]]:
    for place, (one, own) in enumerate(zip(table.variables, counts, strict=True)):
        pairs = list(zip(one.values, own.tolist(), strict=True))[:_MOST_VALUES]
        words = ", ".join(f"{shorten_text(value, 30)}: {number:,}" for value, number in pairs)
        more = f", and {one.size - _MOST_VALUES:,} more values" if one.size > _MOST_VALUES else ""
        missing = int((table.rows[:, place] < 0).sum())
        yield shorten_text(one.name), f"{one.size:,}", words + more, f"{missing:,}"


def _shares_scene(table: DataTable, counts: list[np.ndarray]) -> Scene | None:
    """Return bars of the shares of values among the cells that are known."""
    shares = {
        one.name: FrozenMapping(dict(zip(one.values, (own / max(own.sum(), 1)).tolist(), strict=True)))
        for one, own in zip(table.variables, counts, strict=True)
    }
    found = VariableMarginals(FrozenMapping(shares), FrozenMapping({}), 0.0, "counts")
    return distributions_scene(found) if len(table) and table.variables else None


# --- learned models -------------------------------------------------------------------------------


def learned_circuit_card(found: LearnedCircuit) -> Card:
    """Return the card of a learned circuit: its network, and the models on the way to it."""
    points = found.path
    rows = (
        (
            f"{one.k_p:.4g}", f"{one.splits:,}", f"{one.edges:,}", value_words(one.log_likelihood),
            "" if isnan(one.valid) else value_words(one.valid),
        )
        for one in reversed(points)
    )  # fmt: skip
    counted = f"{count_of(len(found.splits), 'split')}, {count_of(found.edges, 'edge')}"
    trials = f"{count_of(len(found.trials), 'price')} tried on validation rows." if found.trials else ""
    scene = path_chart(found).scene() if len(points) > 1 else None
    return Card(
        f"Circuit learned by {found.method}",
        f"{count_of(len(found.table), 'row')}, {count_of(len(found.variables), 'variable')}, {counted}",
        picture=scene or graph_of(found.network),
        alternative="Log-likelihoods of the models on the way, against the numbers of their edges.",
        table=table_of(
            ("price of a parameter", "splits", "edges", "of a training row", "of a validation row"), rows,
            len(points), "models", numbers=range(5), name="the models on the way",
        ),
        remarks=(
            f"k_e = {found.params.k_e:g}, k_p = {found.params.k_p:g}. {found.state.ended}".strip(),
            trials,
            f"The circuit that answers: {circuit_words(found.circuit)}.",
            "ml.circuit_view(...) opens it, ml.network_view(...) shows its network of decision trees.",
        ),
    )  # fmt: skip


def path_chart(found: LearnedCircuit) -> Chart:
    """Return the log-likelihood of a row against the edges, along the path of models."""
    edges = np.array([point.edges for point in found.path], np.float64)
    lines = [Line("train", edges, np.array([point.log_likelihood for point in found.path]), mark="circle")]
    valid = np.array([point.valid for point in found.path], np.float64)
    if np.isfinite(valid).any():
        lines.append(Line("validation", edges, valid, mark="square"))
    across = horizontal_axis([edges], whole=True)
    plot = Plot("log-likelihood of a row", tuple(lines), across, vertical_axis(lines), across="edges")
    return Chart("Models on the way", (plot,), f"{count_of(len(found.path), 'model')}.", height=260.0)


def learned_network_card(found: LearnedNetwork) -> Card:
    """Return the card of a learned network: its graph, and its first splits."""
    names = [variable.name for variable in found.table.variables]
    rows = (
        (
            f"{place:,}", shorten_text(names[split.variable]),
            "two leaves merged" if split.asked < 0 else shorten_text(names[split.asked]),
            value_words(split.gain), f"{split.parameters:,}",
        )
        for place, split in enumerate(found.splits, 1)
    )  # fmt: skip
    size = f"{count_of(len(found.table), 'row')}, {count_of(found.n_splits, 'split')}"
    return Card(
        f"Network learned with {found.params.cpds}",
        f"{size}; {network_words(found.trees).removesuffix('.')}",
        picture=graph_of(found.trees),
        table=table_of(
            ("split", "tree of", "on", "gain", "parameters"), rows, found.n_splits, "splits",
            numbers=(0, 3, 4), name="its splits",
        ),
        remarks=(
            *(f"{name}: {words}." for name, words in list(found.facts().items())[5:]),
            "ml.network_view(...) shows the trees, and distributions given evidence.",
        ),
    )  # fmt: skip


def circuit_learner_card(source: CircuitLearner) -> Card:
    """Return the card of a learner that has not run yet."""
    prices = f"k_e = {source.params.k_e:g}, k_p = {source.params.k_p:g}"
    return _learner_card(f"Learner of circuits: {source.method}", source.train, source.valid, prices)


def network_learner_card(source: NetworkLearner) -> Card:
    """Return the card of a learner that has not run yet."""
    params = source.params
    penalty = params.penalty(len(source.table), validated=source.valid is not None)
    price = f"a parameter costs {penalty:.4g}"
    return _learner_card(f"Learner of networks: {params.cpds}", source.table, source.valid, price)


def _learner_card(title: str, table: DataTable, valid: DataTable | None, prices: str) -> Card:
    held_out = "" if valid is None else f", {count_of(len(valid), 'row')} of validation data"
    size = f"{count_of(len(table), 'row')}, {count_of(len(table.variables), 'variable')}{held_out}"
    return Card(title, f"{size}; {prices}", remarks=("ml.stepper(...) goes through it split by split.",))

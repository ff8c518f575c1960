"""Cards of arithmetic circuits, of tables of data, and of models learned from these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, SUM, ArithmeticCircuit
from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.circuits.circuit_drawings import (
    CircuitShape,
    NodeNumbers,
    ShownCircuit,
    choose_opened,
    circuit_scene,
)
from mlnlab.display.factors.factor_graph_scenes import distributions_scene
from mlnlab.factors.trees.network_answers import VariableMarginals
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.data.data_table import DataTable

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
    opened = choose_opened(shown)
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

"""List the nodes of a circuit by layer or by variable: the way into circuits too large to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.display.card.markup import count_of
from mlnlab.display.circuits.circuit_drawings import LOOKS, NAMES, SIGNS, CircuitShape, node_number
from mlnlab.display.scene.building import WIDTH, numbered_id, tooltip
from mlnlab.display.scene.chips import Chip, chip_lines
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.circuits.circuit_drawings import ShownCircuit

By: TypeAlias = Literal["layers", "variables"]
LISTED, OFFERED = 10, 12  # rows at once, and nodes of a chosen row
_ROW, _BAR = 19.0, 13.0
_KINDS = (SUM, PRODUCT, INDICATOR, PARAMETER)


class ListRow(NamedTuple):
    """A row of a list: the number of its layer or variable, its name, and its nodes by kind; its edges."""

    number: int
    name: str
    counts: tuple[int, int, int, int]  # in the order of LOOKS
    edges: int


def list_layers(shape: CircuitShape) -> list[ListRow]:
    """Return a row for each layer, or for some next to each other where they are many; the root's first."""
    circuit, rows = shape.circuit, layer_rows(shape)
    number, highest = int(rows[-1]) + 1, int(shape.layers[-1])
    stride = layers_in_row(shape)
    counts = np.zeros((number, 4), np.int64)
    np.add.at(counts, (rows, circuit.kinds), 1)
    edges = np.bincount(rows, np.diff(circuit.first_child.astype(np.int64)), number).astype(np.int64)
    found = []
    for row in range(number - 1, -1, -1):
        low, high = row * stride, min(row * stride + stride - 1, highest)
        name = f"layer {low:,}" if low == high else f"layers {low:,}–{high:,}"
        found.append(ListRow(row, name, _by_kind(counts[row]), int(edges[row])))
    return found


def layers_in_row(shape: CircuitShape) -> int:
    """Return how many layers one row stands for."""
    return -(-(int(shape.layers[-1]) + 1) // LISTED)


def layer_rows(shape: CircuitShape) -> NDArray[np.int64]:
    """Return the row of each node."""
    return shape.layers.astype(np.int64) // layers_in_row(shape)


def list_variables(shape: CircuitShape) -> list[ListRow]:
    """Return a row for each variable: its indicators, its parameters, and the nodes above these."""
    circuit = shape.circuit
    number = len(circuit.variables)
    counts = np.zeros((number, 4), np.int64)
    own = circuit.variable >= 0
    np.add.at(counts, (circuit.variable[own], circuit.kinds[own]), 1)
    of_edge = circuit.variable[circuit.children]
    pairs = np.unique(np.stack([of_edge, shape.owners])[:, of_edge >= 0], axis=1)
    np.add.at(counts, (pairs[0], circuit.kinds[pairs[1]]), 1)
    edges = np.bincount(of_edge[of_edge >= 0], minlength=number)
    return [
        ListRow(place, one.name, _by_kind(counts[place]), int(edges[place]))
        for place, one in enumerate(circuit.variables)
    ]


def _by_kind(counts: NDArray[np.int64]) -> tuple[int, int, int, int]:
    sums, products, indicators, parameters = (int(counts[kind]) for kind in _KINDS)
    return sums, products, indicators, parameters


def list_nodes(shown: ShownCircuit, by: By, number: int) -> list[int]:
    """Return sums and products of a row of layers, or next to a variable's leaves, largest flows first."""
    shape, circuit = shown.shape, shown.circuit
    if by == "layers":
        found = np.flatnonzero(layer_rows(shape) == number)
    else:
        found = np.unique(shape.owners[circuit.variable[circuit.children] == number])
    inner = found[circuit.kinds[found] >= SUM]
    order = np.argsort(-shown.numbers.flows[inner], kind="stable")[:OFFERED]
    return [int(node) for node in inner[order]]


def list_items(
    shown: ShownCircuit, rows: Sequence[ListRow], by: By, first: int, chosen: int | None, top: float
) -> tuple[list[Item], float]:
    """Return the rows of a list as buttons with bars, the nodes of the chosen row, and where these end."""
    start = max(0, min(first, len(rows) - LISTED))
    listed = rows[start : start + LISTED]
    most = max(1, *(sum(row.counts) for row in rows))
    left = max(text_width(fit_text(row.name, 130)) for row in listed) + 18
    items: list[Item] = []
    y = top
    for row in listed:
        items.append(_row(row, by, y, left, most, chosen=row.number == chosen))
        y += _ROW
    chips: list[Chip] = []
    if start > 0:
        chips.append(("list-before", f"‹ {start:,} before", "go back in the list", False))
    if behind := len(rows) - start - len(listed):
        chips.append(("list-behind", f"{behind:,} more ›", "go on in the list", False))
    if chips:
        found, y = chip_lines(chips, left, y, WIDTH)
        items += found
    if chosen is not None:
        found, y = _offer_nodes(shown, by, chosen, y + 2)
        items += found
    return items, y


def _row(row: ListRow, by: By, y: float, left: float, most: int, *, chosen: bool) -> Group:
    """Return a row: a bar with a stretch for each kind of node, and the numbers in words."""
    words = ", ".join(
        count_of(count, NAMES[kind]) for kind, count in zip(_KINDS, row.counts, strict=True) if count
    )
    told = f"{words}; {count_of(row.edges, 'edge')}"
    room = (WIDTH - left) * 0.36
    x, stretches = left, []
    for kind, count in zip(_KINDS, row.counts, strict=True):
        width = room * count / most
        stretches.append(Rectangle(x=x, y=1, width=width, height=_BAR, look=f"wash {LOOKS[kind]}"))
        x += width
    name, look = fit_text(f"{'▶ ' * chosen}{row.name}", left - 10), "words strong" if chosen else "words"
    panel, told_width = "panel" if chosen else "clear", WIDTH - left - room - 14
    edge = Rectangle(x=1, y=-2, width=WIDTH - 2, height=_ROW - 1, corner=3, look=panel)
    return Group(
        id=numbered_id(by[:-1], row.number), y=y, press=True,
        tooltip=tooltip(row.name, told, "list its nodes"),
        children=(
            edge, Text(x=left - 8, y=12, text=name, look=look, anchor="end"), *stretches,
            Text(x=left + room + 10, y=12, text=fit_text(told, told_width, "small"), look="quiet small"),
        ),
    )  # fmt: skip


def _offer_nodes(shown: ShownCircuit, by: By, chosen: int, top: float) -> tuple[list[Item], float]:
    """Return buttons that lead to the nodes of a chosen row."""
    found = list_nodes(shown, by, chosen)
    chips: list[Chip] = []
    for node in found:
        children = count_of(len(shown.shape.children(node)), "child", "children")
        sign = SIGNS[int(shown.circuit.kinds[node])]
        tip = f"{children}, flow {node_number(shown, node, 'flows')}: draw what is below it"
        chips.append((numbered_id("go", node), f"{sign} {node:,}", tip, node == shown.top))
    words = "nodes with the largest flows:" if found else "No sum or product here."
    items: list[Item] = [Text(x=8, y=top + 13.5, text=words, look="quiet small")]
    made, y = chip_lines(chips, text_width(words, "small") + 16, top, WIDTH)
    return [*items, *made], y

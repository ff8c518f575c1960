"""Δn of all atoms of a predicate as a table: the usual row, the others, and how many atoms have each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.counts import number_text
from mlnlab.display.databases import share
from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.style import card, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.counting.deltas import AtomDeltas, MergedDeltas

_MOST_COLUMNS = 12  # formulas


def deltas_display(deltas: AtomDeltas) -> Element:
    """Return the display of Δn for a predicate: its atoms with equal numbers are one row."""
    name = shortened(str(deltas.predicate))
    try:
        merged = deltas.merged()
    except TooLargeError as refusal:
        return card(title(f"Δn of {name}"), quiet(shortened(refusal.summary, 400)))
    return card(title(f"Δn of {name}", _sizes(merged)), _remark(), _table(merged))


def merged_display(merged: MergedDeltas) -> Element:
    """Return the display of merged rows."""
    return card(title("Δn, merged", _sizes(merged)), _remark(), _table(merged))


def _sizes(merged: MergedDeltas) -> str:
    atoms = f"{number_text(merged.atoms)} ground atom{'' if merged.atoms == 1 else 's'}"
    return f"{atoms} in {count_of(len(merged.multiplicities), 'different row')}"


def _remark() -> Element:
    return quiet("How much larger each count is with the atom true than with it false.")


def _order(merged: MergedDeltas) -> list[int]:
    """Return the rows, the one of most atoms first; rows of equally many atoms keep their order."""
    return sorted(range(len(merged.multiplicities)), key=lambda row: -merged.multiplicities[row])


def _table(merged: MergedDeltas) -> Element:
    columns = min(merged.values.shape[1], _MOST_COLUMNS)
    headings = ("", "now", *(f"Δn of formula {place}" for place in range(columns)), "atoms", "of all")

    def rows() -> Iterator[tuple[Node, ...]]:
        for place, row in enumerate(_order(merged)[: MOST_ROWS + 1]):
            number = merged.multiplicities[row]
            yield (
                element("em", "default") if not place else "",
                "true" if merged.truths[row] else "false",
                *(_signed(int(value)) for value in merged.values[row, :columns]),
                number_text(number),
                share(number, merged.atoms),
            )

    numbers = range(2, columns + 4)
    left = merged.values.shape[1] - columns
    more = quiet(f"{count_of(left, 'more formula')} not shown.") if left else None
    listing = bounded_table(headings, rows(), len(merged.multiplicities), "rows", numbers=numbers)
    return element("div", listing, more)


def _signed(value: int) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + number_text(abs(value))


def deltas_text(deltas: AtomDeltas) -> str:
    """Return Δn of a predicate as text."""
    try:
        merged = deltas.merged()
    except TooLargeError as refusal:
        return f"<Δn of {shortened(str(deltas.predicate))}: {shortened(refusal.summary, 400)}>"
    return "\n".join([f"<Δn of {shortened(str(deltas.predicate))}: {_sizes(merged)}>", *_lines(merged)])


def merged_text(merged: MergedDeltas) -> str:
    """Return merged rows as text."""
    return "\n".join([f"<Δn, merged: {_sizes(merged)}>", *_lines(merged)])


def _lines(merged: MergedDeltas) -> Iterator[str]:
    for row in _order(merged)[:MOST_ROWS]:
        values = ", ".join(_signed(int(value)) for value in np.atleast_1d(merged.values[row])[:_MOST_COLUMNS])
        truth = "true" if merged.truths[row] else "false"
        yield f"  {number_text(merged.multiplicities[row])} {truth}: {values}"

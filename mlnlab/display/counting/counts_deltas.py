"""Δn of all atoms: a bar and a table row for atoms that behave alike, and by name those that matter most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.counting.deltas.mattering_atoms import all_are_looked_at, mattering_atoms
from mlnlab.display.card.cards import Card, Table, bullets, table_of
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import Element, Node, count_of, element, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.counting.counts_deltas_scenes import MOST_PREDICATES, add_sign, merged_scene, row_order
from mlnlab.display.model.databases import share
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.counting.deltas.delta_answers import Deltas
    from mlnlab.counting.deltas.deltas import AtomDeltas, MergedDeltas
    from mlnlab.counting.deltas.mattering_atoms import MatteringAtom
    from mlnlab.display.scene.items import Scene

_MOST_COLUMNS = 12  # formulas
_MOST_FORMULAS = 40
_REMARK = "How much larger each count is with the atom true than with it false."
_NO_ATOMS = "There are no ground atoms."
_LONGEST = 200

# --- all predicates -----------------------------------------------------------------------------


def deltas_scene(deltas: Deltas) -> Scene | None:
    """Return the rows of every predicate as bars."""
    return merged_scene([(str(found.predicate), found.merged()) for found in deltas.values()])


def deltas_card(deltas: Deltas) -> Card:
    """Return the card of Δn of some formulas by the atoms of all their predicates."""
    formulas, predicates = count_of(len(deltas.formulas), "formula"), count_of(len(deltas), "predicate")
    try:
        scene = deltas_scene(deltas)
    except TooLargeError as refusal:
        return Card("Δn", formulas, lead=(shorten_text(refusal.summary, 400),))
    names = list(deltas)[:MOST_PREDICATES]
    left = len(deltas) - len(names)
    return Card(
        "Δn: what one atom changes",
        f"{formulas}, atoms of {predicates}",
        lead=(_REMARK,),
        picture=scene,
        undrawn=_NO_ATOMS,
        remarks=(f"{count_of(left, 'more predicate')} not shown." if left > 0 else "",),
        table=_mattering(deltas, names),
        folds=(
            ("the formulas, in the order of the numbers", _formulas(deltas)),
            *((f"rows of {shorten_text(name)}", _table(deltas[name].merged())) for name in names),
        ),
    )


def _formulas(deltas: Deltas) -> Element:
    texts = [
        f"{place}: {shorten_text(formula_text(formula), _LONGEST)}"
        for place, formula in enumerate(deltas.formulas[:_MOST_FORMULAS])
    ]
    left = len(deltas.formulas) - len(texts)
    return bullets([*texts, *([f"and {count_of(left, 'more formula')}"] if left > 0 else [])])


def _mattering(deltas: Deltas, names: Sequence[str]) -> Table:
    """Return the atoms of each predicate with the largest changes."""
    found = [one for name in names for one in mattering_atoms(deltas, name)]
    columns = min(len(deltas.formulas), _MOST_COLUMNS)
    headings = ("atom", "now", *(f"Δn of formula {place}" for place in range(columns)))
    rows = (
        (_atom(one), "true" if one.true else "false", *(add_sign(value) for value in one.changes[:columns]))
        for one in found
    )
    among = "" if all(all_are_looked_at(deltas, name) for name in names) else ", among the true ones"
    name = f"atoms that matter most{among}"
    return table_of(headings, rows, len(found), "atoms", numbers=range(2, columns + 2), name=name)


def _atom(one: MatteringAtom) -> str:
    arguments = ", ".join(shorten_text(name) for name in one.arguments)
    return in_symbols(
        f"{shorten_text(one.predicate)}({arguments})" if one.arguments else shorten_text(one.predicate)
    )


# --- one predicate, merged rows -----------------------------------------------------------------


def atom_deltas_card(deltas: AtomDeltas) -> Card:
    """Return the card of Δn for a predicate: its atoms with equal numbers are one row."""
    name = f"Δn of {shorten_text(str(deltas.predicate))}"
    try:
        merged = deltas.merged()
    except TooLargeError as refusal:
        return Card(name, lead=(shorten_text(refusal.summary, 400),))
    return _rows_card(name, merged, merged_scene([(str(deltas.predicate), merged)]))


def merged_rows_scene(merged: MergedDeltas) -> Scene | None:
    """Return merged rows as bars."""
    return merged_scene([("merged rows", merged)])


def merged_card(merged: MergedDeltas) -> Card:
    """Return the card of merged rows."""
    return _rows_card("Δn, merged", merged, merged_rows_scene(merged))


def _rows_card(name: str, merged: MergedDeltas, scene: Scene | None) -> Card:
    left = merged.values.shape[1] - _MOST_COLUMNS
    more = f"{count_of(left, 'more formula')} not shown." if left > 0 else ""
    return Card(
        name, _sizes(merged), lead=(_REMARK,), picture=scene, undrawn=_NO_ATOMS,
        table=_table(merged), remarks=(more,),
    )  # fmt: skip


def _sizes(merged: MergedDeltas) -> str:
    atoms = f"{number_text(merged.atoms)} ground atom{'' if merged.atoms == 1 else 's'}"
    return f"{atoms} in {count_of(len(merged.multiplicities), 'different row')}"


def _table(merged: MergedDeltas) -> Table:
    columns = min(merged.values.shape[1], _MOST_COLUMNS)
    headings = ("", "now", *(f"Δn of formula {place}" for place in range(columns)), "atoms", "of all")

    def rows() -> Iterator[tuple[Node, ...]]:
        for place, row in enumerate(row_order(merged)[: MOST_ROWS + 1]):
            number = merged.multiplicities[row]
            yield (
                element("em", "default") if not place else "",
                "true" if merged.truths[row] else "false",
                *(add_sign(int(value)) for value in merged.values[row, :columns]),
                number_text(number),
                share(number, merged.atoms),
            )

    numbers = range(2, columns + 4)
    return table_of(headings, rows(), len(merged.multiplicities), "rows", numbers=numbers)

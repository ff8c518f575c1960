"""Δn of all atoms: a bar and a table row for atoms that behave alike, and by name those that matter most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import TYPE_CHECKING

from mlnlab.counting.deltas.mattering_atoms import MatteringAtom, all_are_looked_at, mattering_atoms
from mlnlab.display.card.cards import MOST_ROWS, Card, Table, bullets, table_of
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import Element, Node, count_of, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.model.databases import share
from mlnlab.display.scene.building import Entry, explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from mlnlab.counting.deltas.delta_answers import Deltas
    from mlnlab.counting.deltas.deltas import AtomDeltas, MergedDeltas

_MOST_COLUMNS = 12  # formulas
_MOST_FORMULAS = 40
_REMARK = "How much larger each count is with the atom true than with it false."
_NO_ATOMS = "There are no ground atoms."
_LONGEST = 200
MOST_BARS = 12  # of a predicate
MOST_PREDICATES = 8
_MOST_IN_WORDS = 8  # formulas
_WIDEST, _NUMBERS = 260.0, 130.0
_MOST_TICKS, _WRITTEN_OUT = 6, 100_000

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


# --- as bars --------------------------------------------------------------------------------------


def add_sign(value: int) -> str:
    """Return a whole number with its sign."""
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + number_text(abs(value))


def row_order(merged: MergedDeltas) -> list[int]:
    """Return the rows, the one of most atoms first; rows of equally many atoms keep their order."""
    return sorted(range(len(merged.multiplicities)), key=lambda row: -merged.multiplicities[row])


def row_words(merged: MergedDeltas, row: int) -> str:
    """Return Δn of a row: ``(+3, 0, −1)``."""
    values = merged.values[row].tolist()
    more = ", …" if len(values) > _MOST_IN_WORDS else ""
    return f"({', '.join(add_sign(int(value)) for value in values[:_MOST_IN_WORDS])}{more})"


def merged_scene(parts: Sequence[tuple[str, MergedDeltas]]) -> Scene | None:
    """Return the rows of some predicates, the largest first; none where there are no atoms."""
    shown = [(name, merged) for name, merged in parts if merged.atoms][:MOST_PREDICATES]
    if not shown:
        return None
    chosen = [(name, merged, row_order(merged)[:MOST_BARS]) for name, merged in shown]
    words = [fit_text(row_words(merged, row), _WIDEST) for _, merged, rows in chosen for row in rows]
    left = max(map(text_width, words)) + 34
    largest = max(max(merged.multiplicities) for _, merged, _ in chosen)
    items: list[Item] = []
    top = 4.0
    for place, (name, merged, rows) in enumerate(chosen):
        items.append(_headline(name, merged, top))
        top += ROW + 2
        for number, row in enumerate(rows):
            items.append(_row(numbered_id("row", place, number), merged, row, top, left, largest))
            top += ROW
        if len(rows) < len(merged.multiplicities):
            rest = count_of(len(merged.multiplicities) - len(rows), "more row")
            items.append(Text(x=16, y=top + BAR - 1.5, text=f"and {rest} of fewer atoms each", look="quiet"))
            top += ROW
        top += 8
    entries = (
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar blue"), "atoms that are false now"),
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar green"), "atoms that are true now (✓)"),
    )
    scale = tuple(_scale(left, largest, top))
    top += 36
    layers = Layer("scale", scale), Layer("rows", tuple(items))
    rows_all = sum(len(merged.multiplicities) for _, merged in shown)
    atoms = number_text(sum(merged.atoms for _, merged in shown))
    summary = f"{atoms} ground atoms in {count_of(rows_all, 'different row')}; bars grow by powers of ten."
    return explained_scene(layers, entries, (WIDTH, top), "Which atoms matter", summary, gap=0, foot=10)


def _headline(name: str, merged: MergedDeltas, top: float) -> Text:
    rows = count_of(len(merged.multiplicities), "row")
    words = f"{shorten_text(name)}: {number_text(merged.atoms)} atoms, {rows}"
    return Text(x=8, y=top + BAR, text=fit_text(words, WIDTH - 16, "words strong"), look="words strong")


def _row(name: str, merged: MergedDeltas, row: int, top: float, left: float, largest: int) -> Group:
    number, true = merged.multiplicities[row], bool(merged.truths[row])
    length = (WIDTH - left - _NUMBERS) * _log(number) / _log(largest)
    words = row_words(merged, row)
    counted = f"{number_text(number)} · {share(number, merged.atoms)}"
    atoms = "atom" if number == 1 else "atoms"
    tip = tooltip(f"Δn {words}", f"{number_text(number)} {atoms}, now {'true' if true else 'false'}")
    return Group(
        id=name, y=top, pick=True, tooltip=tip,
        children=(
            Rectangle(x=left, y=1, width=length, height=BAR - 1, look=f"bar {'green' if true else 'blue'}"),
            Text(x=left - 8, y=BAR - 1.5, text=fit_text(words, _WIDEST) + (" ✓" if true else ""),
                 look="number",
                 anchor="end"),
            Text(x=left + length + 8, y=BAR - 1.5, text=counted, look="number"),
        ),
    )  # fmt: skip


def _scale(left: float, largest: int, bottom: float) -> Iterator[Item]:
    """Yield lines through the bars at powers of ten, and below them how many atoms these stand for."""
    length = WIDTH - left - _NUMBERS
    powers = range(int(_log(largest)) + 1)
    ticks = [0, *(10**power for power in powers[:: -(-len(powers) // _MOST_TICKS)])]
    places = [left + length * _log(tick) / _log(largest) for tick in ticks]
    yield Path(path=segments(((x, 4 + ROW), (x, bottom)) for x in places), look="frame dotted")
    for tick, x in zip(ticks, places, strict=True):
        words = f"{tick:,}" if tick < _WRITTEN_OUT else f"10^{len(str(tick)) - 1}"
        yield Text(x=x, y=bottom + 12, text=words, look="quiet small", anchor="middle")
    words = "atoms that behave alike, by powers of ten (a bar twice as long is not twice as many)"
    yield Text(x=left, y=bottom + 28, text=words, look="quiet small")


def _log(number: int) -> float:
    """Return the logarithm of 1 + n; n may be larger than any float."""
    return log10(1 + number) if number < 1 << 60 else number.bit_length() * 0.30103

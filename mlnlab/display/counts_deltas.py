"""Δn of all atoms: a bar and a table row for atoms that behave alike, and by name those that matter most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.counting.mattering_atoms import all_are_looked_at, mattering_atoms
from mlnlab.display.counts import number_text
from mlnlab.display.counts_deltas_scenes import MOST_PREDICATES, merged_scene, row_order, signed
from mlnlab.display.databases import share
from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.mathematics import formula_text
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.counting.delta_answers import Deltas
    from mlnlab.counting.deltas import AtomDeltas, MergedDeltas
    from mlnlab.counting.mattering_atoms import MatteringAtom
    from mlnlab.display.scene.items import Scene

_MOST_COLUMNS = 12  # formulas
_MOST_FORMULAS = 40
_LONGEST = 200

# --- all predicates -----------------------------------------------------------------------------


def deltas_scene(deltas: Deltas) -> Scene | None:
    """Return the rows of every predicate as bars."""
    return merged_scene([(str(found.predicate), found.merged()) for found in deltas.values()])


def deltas_display(deltas: Deltas) -> Element:
    """Return the display of Δn of some formulas by the atoms of all their predicates."""
    formulas, predicates = count_of(len(deltas.formulas), "formula"), count_of(len(deltas), "predicate")
    try:
        scene = deltas_scene(deltas)
    except TooLargeError as refusal:
        return card(title("Δn", formulas), quiet(shortened(refusal.summary, 400)))
    names = list(deltas)[:MOST_PREDICATES]
    left = len(deltas) - len(names)
    return card(
        title("Δn: what one atom changes", f"{formulas}, atoms of {predicates}"),
        _remark(),
        _formulas(deltas),
        _picture(scene),
        quiet(f"{count_of(left, 'more predicate')} not shown.") if left > 0 else None,
        *(_mattering(deltas, name) for name in names),
        *(folded(f"rows of {shortened(name)}", _table(deltas[name].merged())) for name in names),
    )


def _picture(scene: Scene | None) -> Element:
    if scene is None:
        return quiet("There are no ground atoms.")
    return scene_image(scene, f"{scene.title}: {scene.description}")


def _formulas(deltas: Deltas) -> Element:
    texts = [
        element("li", f"{place}: {shortened(formula_text(formula), _LONGEST)}")
        for place, formula in enumerate(deltas.formulas[:_MOST_FORMULAS])
    ]
    left = len(deltas.formulas) - len(texts)
    more = [element("li", f"and {count_of(left, 'more formula')}")] if left > 0 else []
    return folded("the formulas, in the order of the numbers", element("ul", *texts, *more))


def _mattering(deltas: Deltas, name: str) -> Element | None:
    """Return the atoms of a predicate with the largest changes."""
    found = mattering_atoms(deltas, name)
    if not found:
        return None
    columns = min(len(deltas.formulas), _MOST_COLUMNS)
    headings = ("atom", "now", *(f"Δn of formula {place}" for place in range(columns)))
    rows = (
        (_atom(one), "true" if one.true else "false", *(signed(value) for value in one.changes[:columns]))
        for one in found
    )
    among = "" if all_are_looked_at(deltas, name) else ", among the true ones"
    listing = bounded_table(headings, rows, len(found), "atoms", numbers=range(2, columns + 2))
    return folded(f"atoms of {shortened(name)} that matter most{among}", listing)


def _atom(one: MatteringAtom) -> str:
    arguments = ", ".join(shortened(name) for name in one.arguments)
    return in_symbols(
        f"{shortened(one.predicate)}({arguments})" if one.arguments else shortened(one.predicate)
    )


def deltas_text(deltas: Deltas) -> str:
    """Return Δn as text: the atoms that matter most of each predicate."""
    lines = [shortened(repr(deltas), _LONGEST)]
    for name in list(deltas)[:MOST_PREDICATES]:
        for one in mattering_atoms(deltas, name, 3):
            changes = ", ".join(signed(value) for value in one.changes[:_MOST_COLUMNS])
            lines.append(f"  {_atom(one)}, now {'true' if one.true else 'false'}: {changes}")
    return "\n".join(lines)


# --- one predicate, merged rows -----------------------------------------------------------------


def atom_deltas_scene(deltas: AtomDeltas) -> Scene | None:
    """Return the rows of a predicate as bars."""
    return merged_scene([(str(deltas.predicate), deltas.merged())])


def atom_deltas_display(deltas: AtomDeltas) -> Element:
    """Return the display of Δn for a predicate: its atoms with equal numbers are one row."""
    name = shortened(str(deltas.predicate))
    try:
        merged = deltas.merged()
    except TooLargeError as refusal:
        return card(title(f"Δn of {name}"), quiet(shortened(refusal.summary, 400)))
    picture = _picture(merged_scene([(str(deltas.predicate), merged)]))
    return card(
        title(f"Δn of {name}", _sizes(merged)), _remark(), picture, folded("as a table", _table(merged))
    )


def merged_rows_scene(merged: MergedDeltas) -> Scene | None:
    """Return merged rows as bars."""
    return merged_scene([("merged rows", merged)])


def merged_display(merged: MergedDeltas) -> Element:
    """Return the display of merged rows."""
    picture = _picture(merged_rows_scene(merged))
    return card(title("Δn, merged", _sizes(merged)), _remark(), picture, folded("as a table", _table(merged)))


def _sizes(merged: MergedDeltas) -> str:
    atoms = f"{number_text(merged.atoms)} ground atom{'' if merged.atoms == 1 else 's'}"
    return f"{atoms} in {count_of(len(merged.multiplicities), 'different row')}"


def _remark() -> Element:
    return quiet("How much larger each count is with the atom true than with it false.")


def _table(merged: MergedDeltas) -> Element:
    columns = min(merged.values.shape[1], _MOST_COLUMNS)
    headings = ("", "now", *(f"Δn of formula {place}" for place in range(columns)), "atoms", "of all")

    def rows() -> Iterator[tuple[Node, ...]]:
        for place, row in enumerate(row_order(merged)[: MOST_ROWS + 1]):
            number = merged.multiplicities[row]
            yield (
                element("em", "default") if not place else "",
                "true" if merged.truths[row] else "false",
                *(signed(int(value)) for value in merged.values[row, :columns]),
                number_text(number),
                share(number, merged.atoms),
            )

    numbers = range(2, columns + 4)
    left = merged.values.shape[1] - columns
    more = quiet(f"{count_of(left, 'more formula')} not shown.") if left else None
    listing = bounded_table(headings, rows(), len(merged.multiplicities), "rows", numbers=numbers)
    return element("div", listing, more)


def atom_deltas_text(deltas: AtomDeltas) -> str:
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
    for row in row_order(merged)[:MOST_ROWS]:
        values = ", ".join(signed(int(value)) for value in merged.values[row, :_MOST_COLUMNS])
        truth = "true" if merged.truths[row] else "false"
        yield f"  {number_text(merged.multiplicities[row])} {truth}: {values}"

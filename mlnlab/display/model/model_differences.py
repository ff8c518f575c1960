"""Show the differences of two models as a table whose rows say added, removed or reweighted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.formula_markup import formula_markup, weight_markup
from mlnlab.display.card.markup import Element, Node, count_of, element, shorten_text
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.model.mln.differences import Difference


def _change(sign: str, word: str, kind: str = "") -> Element:
    return element("span", f"{sign} {word}", kind=kind)


def _mark_addition() -> Element:
    return _change("+", "added", "added")


def _mark_removal() -> Element:
    return _change("−", "removed", "removed")


def _rows(difference: Difference) -> Iterator[tuple[Node, Node, Node]]:
    for text in difference.changed:
        yield _change("~", "changed"), "", shorten_text(text, 200)
    for text in difference.declared:
        yield _mark_addition(), "declaration", shorten_text(text, 200)
    for text in difference.undeclared:
        yield _mark_removal(), "declaration", shorten_text(text, 200)
    for weighted in difference.added:
        yield (
            _mark_addition(),
            weight_markup(weighted.weight),
            formula_markup(weighted.formula, marks_of(weighted)),
        )
    for weighted in difference.removed:
        shown = formula_markup(weighted.formula, marks_of(weighted))
        yield _mark_removal(), weight_markup(weighted.weight), shown
    for weighted, old, new in difference.reweighted:
        weights = element("span", weight_markup(old), " → ", weight_markup(new))
        yield _change("~", "reweighted"), weights, formula_markup(weighted.formula, marks_of(weighted))


def difference_card(difference: Difference) -> Card:
    """Return the card of a difference."""
    rows = list(_rows(difference))
    if not rows:
        return Card("No difference", plain=str(difference))
    return Card(
        "Difference",
        count_of(len(rows), "change"),
        table=table_of(("", "weight", "formula"), rows, len(rows), "changes", where="str() has them all"),
        plain=str(difference),
    )

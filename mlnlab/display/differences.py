"""What changes from one model to another: a table whose rows say added, removed or reweighted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.mathematics import formula_markup, weight_markup
from mlnlab.display.style import card, title
from mlnlab.display.tables import bounded_table
from mlnlab.logic.printing import marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.model.differences import Difference

_LONGEST_TEXT = 20_000


def _change(sign: str, word: str, kind: str = "") -> Element:
    return element("span", f"{sign} {word}", kind=kind)


def _added() -> Element:
    return _change("+", "added", "added")


def _removed() -> Element:
    return _change("−", "removed", "removed")


def _rows(difference: Difference) -> Iterator[tuple[Node, Node, Node]]:
    for text in difference.changed:
        yield _change("~", "changed"), "", shortened(text, 200)
    for text in difference.declared:
        yield _added(), "declaration", shortened(text, 200)
    for text in difference.undeclared:
        yield _removed(), "declaration", shortened(text, 200)
    for weighted in difference.added:
        yield _added(), weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted))
    for weighted in difference.removed:
        shown = formula_markup(weighted.formula, marks_of(weighted))
        yield _removed(), weight_markup(weighted.weight), shown
    for weighted, old, new in difference.reweighted:
        weights = element("span", weight_markup(old), " → ", weight_markup(new))
        yield _change("~", "reweighted"), weights, formula_markup(weighted.formula, marks_of(weighted))


def difference_display(difference: Difference) -> Element:
    """Return the display of a difference."""
    rows = list(_rows(difference))
    if not rows:
        return card(title("No difference"))
    return card(
        title("Difference", count_of(len(rows), "change")),
        bounded_table(("", "weight", "formula"), rows, len(rows), "changes", where="str() has them all"),
    )


def difference_text(difference: Difference) -> str:
    """Return a difference as text."""
    return shortened(str(difference), _LONGEST_TEXT)

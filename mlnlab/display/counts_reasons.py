"""Why a count is so large: its joins as a table, and the sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.counts import number_text
from mlnlab.display.markup import Element, element, shortened
from mlnlab.display.style import BREAKING, card, folded, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import table

if TYPE_CHECKING:
    from mlnlab.counting.reasons import CountReasons, Join

_LONGEST, _MOST_SENTENCES = 400, 40


def reasons_display(reasons: CountReasons) -> Element:
    """Return the display of the reasons of a count."""
    kind = f"{number_text(reasons.count)} of {number_text(reasons.groundings)} groundings {reasons.about}"
    return card(title("Why so many?", kind), reasons_list(reasons), folded("as a table", _table(reasons)))


def reasons_list(reasons: CountReasons) -> Element:
    """Return the sentences as a list."""
    return element("ul", *(element("li", words, style=BREAKING) for words in _sentences(reasons)))


def _sentences(reasons: CountReasons) -> list[str]:
    return [in_symbols(shortened(words, _LONGEST)) for words in reasons.sentences()[:_MOST_SENTENCES]]


def _table(reasons: CountReasons) -> Element:
    headings = ("part", "new variables", "bindings", "times", "if independent", "ratio")
    rows = (_row(join) for join in reasons.joins[:_MOST_SENTENCES])
    return table(headings, rows, numbers=(2, 3, 4, 5))


def _row(join: Join) -> tuple[str, ...]:
    fresh = ", ".join(shortened(name) for name in join.fresh) or "–"
    part = in_symbols(shortened(join.part, _LONGEST))
    ratio = f"{join.beyond:.3g}" if join.before else "–"
    return part, fresh, number_text(join.after), f"{join.factor:.4g}", f"{join.expected:.4g}", ratio


def reasons_text(reasons: CountReasons) -> str:
    """Return the reasons in sentences."""
    return "\n".join(_sentences(reasons))

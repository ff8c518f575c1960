"""Two models side by side: which formulas they share, and how their probabilities differ."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from mlnlab.display.markup import count_of, fit, shortened
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.symbols import in_symbols
from mlnlab.logic.printing import marks_of, to_text
from mlnlab.logic.weights import weight_value
from mlnlab.widgets.editor_messages import kind_of, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mlnlab.inference.marginals import Marginals
    from mlnlab.model.differences import Difference
    from mlnlab.widgets.draft_rows import Row

MOST_PAIRS = 40
MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """A formula of two models: its rows in the left and in the right table, where it is there."""

    left: int | None
    right: int | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A query with its probabilities in two models; ``None`` where a model does not know it."""

    name: str
    left: float | None
    right: float | None

    @property
    def difference(self) -> float:
        """The right probability less the left one; 0 where one is missing."""
        return 0.0 if self.left is None or self.right is None else self.right - self.left


def pairs(left: Sequence[Row], right: Sequence[Row]) -> list[Pair]:
    """Pair the rows with the same formula, in the order of the left model; the right one's own come last."""
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(right):
        waiting[_template(row)].append(place)
    found = []
    for place, row in enumerate(left):
        others = waiting[_template(row)]
        found.append(Pair(place, others.pop(0) if others else None))
    alone = sorted(place for places in waiting.values() for place in places)
    return [*found, *(Pair(None, place) for place in alone)]


def _template(row: Row) -> str:
    if row.weighted is None:
        return row.text
    return to_text(row.weighted.formula, marks_of(row.weighted))


def pair_message(pair: Pair, left: Sequence[Row], right: Sequence[Row]) -> dict[str, Any]:
    """Return one pair as a page shows it."""
    sides = [
        None if place is None else rows[place] for place, rows in ((pair.left, left), (pair.right, right))
    ]
    row = next(side for side in sides if side is not None)
    told = [None if side is None else _side_message(side) for side in sides]
    return {
        "pieces": [[shortened(fit(row.text)), ""]] if row.weighted is None else pieces_of(row.weighted),
        "left": told[0],
        "right": told[1],
        "state": _state(told[0], told[1]),
        "difference": _difference(told[0], told[1]),
    }


def _side_message(row: Row) -> dict[str, Any]:
    known = row.weighted
    kind = "unreadable" if known is None else kind_of(known.weight)
    weight = None if known is None else weight_value(known.weight)
    return {"weight": weight, "kind": kind, "on": row.enabled, "fixed": bool(row.file)}


def _state(left: dict[str, Any] | None, right: dict[str, Any] | None) -> str:
    if left is None or right is None:
        return "added" if left is None else "removed"
    return "same" if left == right else "changed"


def _difference(left: dict[str, Any] | None, right: dict[str, Any] | None) -> float | None:
    before = None if left is None else left["weight"]
    after = None if right is None else right["weight"]
    return None if before is None or after is None else round(float(after - before), 9)


def contrasts(left: Marginals | None, right: Marginals | None) -> list[Contrast]:
    """Return all queries of two answers."""
    one = {} if left is None else left.probabilities
    other = {} if right is None else right.probabilities
    return [Contrast(name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other])]


def contrast_messages(
    found: Iterable[Contrast], marginals: tuple[Marginals | None, Marginals | None]
) -> list[dict[str, Any]]:
    """Return contrasts as a page shows them."""
    return [
        {
            "name": contrast.name,
            "shown": shortened(fit(in_symbols(contrast.name)), 60),
            "left": _probability(contrast.name, contrast.left, marginals[0]),
            "right": _probability(contrast.name, contrast.right, marginals[1]),
            "difference": round(contrast.difference, 6),
        }
        for contrast in found
    ]


def _probability(name: str, value: float | None, marginals: Marginals | None) -> dict[str, Any] | None:
    if value is None or marginals is None or not isfinite(value):
        return None
    estimate = marginals.estimates.get(name)
    error = 0.0 if estimate is None or not isfinite(estimate.error) else round(estimate.error, 6)
    return {"p": round(value, 6), "words": probability_in_words(value), "error": error}


def summary_of_difference(difference: Difference) -> str:
    """Return how two models differ, in a line."""
    parts = [
        (len(difference.added), "added"),
        (len(difference.removed), "removed"),
        (len(difference.reweighted), "with another weight"),
    ]
    words = [f"{count_of(number, 'formula')} {what}" for number, what in parts if number]
    declared = len(difference.declared) + len(difference.undeclared) + len(difference.changed)
    if declared:
        words.append(f"{count_of(declared, 'other change')}")
    return ", ".join(words) or "no difference"


def other_changes(difference: Difference) -> list[str]:
    """Return what differs beside formulas, a line each."""
    lines = [f"~ {text}" for text in difference.changed]
    lines += [f"+ {text}" for text in difference.declared] + [f"− {text}" for text in difference.undeclared]
    return [shortened(fit(line), 200) for line in lines[:50]]

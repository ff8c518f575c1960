"""Draw the values of variables as bars that are buttons: a press gives evidence, another takes it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.scene.building import WIDTH, numbered_id, tooltip
from mlnlab.display.scene.chips import Chip, chip_lines
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.factors.graphs.random_variables import RandomVariable

CELL = 16.0  # the height of a value
MOST_VALUES = 6  # of one variable
ROWS = 8  # variables that are listed at once
_STRIDE, _WIDEST_NAME, _WIDEST_CELL = 20.0, 150.0, 200.0


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The distributions of variables given values of some, and perhaps the most probable values of all.

    There are no ``shares`` where the evidence has probability zero.
    """

    variables: Sequence[RandomVariable]
    shares: Sequence[Sequence[float]] = ()
    evidence: Mapping[int, int] = field(default_factory=dict)
    best: Sequence[int] = ()

    def share(self, variable: int, value: int) -> float:
        """Return the probability of a value; 0 where there is none."""
        return float(self.shares[variable][value]) if len(self.shares) else 0.0

    def evidence_words(self) -> str:
        """Return the values that are given, as text."""
        given = (
            f"{self.variables[n].name} = {self.variables[n].values[v]}" for n, v in self.evidence.items()
        )
        return shorten_text(", ".join(given), 300)


def value_cell(beliefs: Beliefs, variable: int, value: int, x: float, y: float, width: float) -> Group:
    """Return a value as a button with its probability as a bar; ● is a given value, ★ a most probable one."""
    one, share = beliefs.variables[variable], beliefs.share(variable, value)
    given = beliefs.evidence.get(variable) == value
    best = len(beliefs.best) > 0 and beliefs.best[variable] == value
    words = probability_in_words(share) if len(beliefs.shares) else "–"
    room = width - text_width(words, "number small") - 14
    name = fit_text(f"{'● ' * given}{'★ ' * best}{one.values[value]}", room, "words small")
    action = "take the evidence back" if given else "give this value as evidence"
    return Group(
        id=numbered_id("value", variable, value), x=x, y=y, press=True,
        tooltip=tooltip(f"{one.name} = {one.values[value]}", f"probability {words}", action),
        children=(
            Rectangle(x=0, y=0, width=width, height=CELL, corner=2, look="panel" if given else "shaded"),
            Rectangle(
                x=0, y=0, width=width * min(max(share, 0.0), 1.0), height=CELL, corner=2,
                look="wash orange" if given else "wash blue",
            ),
            Text(x=5, y=12, text=name, look="words small strong" if given or best else "words small"),
            Text(x=width - 4, y=12, text=words, look="label small", anchor="end"),
        ),
    )  # fmt: skip


def list_values(beliefs: Beliefs, variable: int) -> list[int]:
    """Return the drawn values of a variable: of many the given one and the most probable ones."""
    known = range(beliefs.variables[variable].size)
    given = beliefs.evidence.get(variable)
    order = sorted(known, key=lambda value: (value != given, -beliefs.share(variable, value)))
    return sorted(order[:MOST_VALUES])


def belief_pages(beliefs: Beliefs, first: int, top: float) -> tuple[list[Item], float]:
    """Return a row for each listed variable, buttons to the others, and where these end."""
    start = max(0, min(first, len(beliefs.variables) - ROWS))
    listed = range(start, min(len(beliefs.variables), start + ROWS))
    items, y = belief_rows(beliefs, listed, top)
    chips: list[Chip] = []
    if start > 0:
        chips.append(("rows-before", f"‹ {start:,} variables before", "go back in the list", False))
    if behind := len(beliefs.variables) - listed.stop:
        chips.append(("rows-behind", f"{behind:,} more variables ›", "go on in the list", False))
    if chips:
        found, y = chip_lines(chips, 8, y, WIDTH)
        items += found
    return items, y


def belief_rows(beliefs: Beliefs, listed: Sequence[int], top: float) -> tuple[list[Item], float]:
    """Return a row of cells for each of some variables, and where these end."""
    names = [beliefs.variables[n].name for n in listed]
    left = min(max((text_width(name[:200]) for name in names), default=0.0), _WIDEST_NAME) + 16
    items: list[Item] = []
    y = top
    for number, name in zip(listed, names, strict=True):
        items.append(Text(x=left - 8, y=y + 12.5, text=fit_text(name, left - 10), look="words", anchor="end"))
        shown = list_values(beliefs, number)
        hidden = beliefs.variables[number].size - len(shown)
        width = min((WIDTH - left - 8 - 64 * (hidden > 0)) / len(shown), _WIDEST_CELL)
        for place, value in enumerate(shown):
            items.append(value_cell(beliefs, number, value, left + place * width, y, width - 4))
        if hidden:
            x = left + len(shown) * width
            items.append(Text(x=x, y=y + 12.5, text=f"+ {hidden:,} more", look="quiet small"))
        y += _STRIDE
    return items, y

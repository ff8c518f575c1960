"""Draw the groundings of one formula: counts and samples by kind, a picture, reasons for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.counting.groundings.groundings_shown import KINDS
from mlnlab.display.card.cards import Card, Part, Table, bullets, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import element, shorten_text
from mlnlab.display.card.style import quiet
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.counting.count_bars import number_text, ratio
from mlnlab.display.counting.counts_lit import MOST_LIT, hypergraph_of, lit_scene
from mlnlab.display.counting.counts_matrix import can_be_a_matrix, matrix_scene
from mlnlab.display.counting.counts_reasons import reason_sentences
from mlnlab.display.model.databases import share
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.errors import TooLargeError, count_of
from mlnlab.logic.formulas.formulas import Constant
from mlnlab.logic.formulas.traversal import atoms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.counting.groundings.groundings_shown import Grounding, Groundings, Kind
    from mlnlab.display.scene.items import Scene

SHOWN = 5  # of each kind
_LONGEST = 200
_NAMES = {
    "true": "true",
    "violated": "violated",
    "decided true": "true by evidence",
    "decided violated": "violated by evidence",
    "open": "open",
}


CLOSED, BY_EVIDENCE = "open atoms taken as false", "open atoms left open"
_PARTITIONS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    (CLOSED, ("true", "violated")),
    (BY_EVIDENCE, ("decided true", "decided violated", "open")),
)


def partitions(groundings: Groundings) -> tuple[tuple[str, tuple[Kind, ...]], ...]:
    """Return the kinds in groups that each add up to all groundings, with the assumption of each group."""
    return _PARTITIONS if groundings.open else (("", _PARTITIONS[0][1]),)


def kind_words(kind: Kind) -> str:
    """Return the name of a kind of groundings."""
    return _NAMES[kind]


_MEANINGS = {
    "true": "true in the closed world",
    "violated": "violated in the closed world",
    "decided true": "true by evidence, whatever the open atoms are",
    "decided violated": "violated by evidence, whatever the open atoms are",
    "open": "open: it depends on open atoms",
}
_MOST_ATOMS = 12
NOT_ALL_TRIED = "Some that count as open may be decided: there were too many to try each."


def scene_of(groundings: Groundings) -> Scene | None:
    """Return the drawing that fits: a matrix, the hypergraph with groundings lit, or bars."""
    if not groundings.total:
        return None
    try:
        if can_be_a_matrix(groundings):
            return matrix_scene(groundings)
        graph = hypergraph_of(groundings)
        if graph is not None:
            kind: Kind = "violated" if groundings.violated else "true"
            return lit_scene(groundings, graph, groundings.sample(kind, MOST_LIT))
    except TooLargeError:
        pass  # the numbers are known all the same
    return bars_scene(groundings)


def bars_scene(groundings: Groundings) -> Scene:
    """Return a bar for each kind of groundings."""
    bars = [
        Bar(
            label=f"{assumed}: {kind_words(kind)}" if assumed else kind_words(kind),
            value=ratio(groundings.number(kind), groundings.total),
            words=number_text(groundings.number(kind)),
        )
        for assumed, kinds in partitions(groundings)
        for kind in kinds
    ]
    room = max(text_width(bar.words) for bar in bars) + 12
    return bar_scene(bars, "Groundings", "How many of all groundings are of each kind.", room)


def list_kinds(groundings: Groundings) -> tuple[Kind, ...]:
    """Return the kinds to show; kinds decided by evidence only if some groundings stay open."""
    return KINDS if groundings.open else ("true", "violated")


def groundings_card(groundings: Groundings) -> Card:
    """Return the card of the groundings of a formula."""
    numbers = [_numbers_table(groundings, assumed, kinds) for assumed, kinds in partitions(groundings)]
    return Card(
        "Groundings",
        f"{number_text(groundings.total)} in all",
        lead=(
            element("div", formula_markup(groundings.formula)),
            *numbers,
            "" if groundings.exact else NOT_ALL_TRIED,
        ),
        picture=scene_of(groundings),
        undrawn="A type of the formula's variables has no constants.",
        folds=(*_samples(groundings), *_reasons(groundings)),
    )


def _numbers_table(groundings: Groundings, assumed: str, kinds: Sequence[Kind]) -> Table:
    rows = (
        (
            kind_words(kind),
            number_text(groundings.number(kind)),
            share(groundings.number(kind), groundings.total),
        )
        for kind in kinds
    )
    headings = (assumed or "groundings", "number", "of all")
    return table_of(headings, rows, len(kinds), "kinds", numbers=(1, 2))


def _samples(groundings: Groundings) -> Iterator[tuple[str, Part]]:
    """Yield a folded table with some groundings of each kind there is."""
    for kind in list_kinds(groundings):
        number = groundings.number(kind)
        if number and groundings.variables:
            yield _headline(kind, number), _sample(groundings, kind)


def _headline(kind: Kind, number: int) -> str:
    some = f"{SHOWN} of {number_text(number)}" if number > SHOWN else number_text(number)
    return f"{some} {kind_words(kind)}"


def _sample(groundings: Groundings, kind: Kind) -> Part:
    try:
        found = groundings.sample(kind, SHOWN)
    except TooLargeError as refusal:
        return quiet(shorten_text(refusal.summary, _LONGEST))
    names = [shorten_text(variable.name) for variable in groundings.variables]
    return table_of((*names, "grounding"), map(_row, found), len(found), "groundings")


def _row(grounding: Grounding) -> tuple[str, ...]:
    return (
        *map(shorten_text, grounding.binding.values()),
        in_symbols(shorten_text(str(grounding), _LONGEST)),
    )


def grounding_words(groundings: Groundings, grounding: Grounding) -> str:
    """Return a grounding's meaning, and below it the truth values of its atoms."""
    plain = [a for a in atoms(grounding.formula) if all(isinstance(t, Constant) for t in a.arguments)]
    known = [f"{in_symbols(shorten_text(str(atom)))} is {groundings.status(atom)}" for atom in plain]
    more = [f"and {count_of(len(known) - _MOST_ATOMS, 'more atom')}"] if len(known) > _MOST_ATOMS else []
    return f"{_MEANINGS[grounding.kind]}\n{', '.join([*known[:_MOST_ATOMS], *more])}"


def _reasons(groundings: Groundings) -> Iterator[tuple[str, Part]]:
    if not groundings.total:
        return
    try:
        reasons = groundings.why
    except TooLargeError as refusal:
        yield "why so many", quiet(shorten_text(refusal.summary, _LONGEST))
    else:
        yield f"why so many are {reasons.about}", bullets(reason_sentences(reasons))

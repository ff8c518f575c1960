"""The groundings of one formula: how many of each kind, some of each, a picture of them, and why so many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.counting.groundings_shown import KINDS
from mlnlab.display.bars import Bar, bar_scene
from mlnlab.display.counts import number_text, ratio
from mlnlab.display.counts_lit import MOST_LIT, hypergraph_of, lit_scene
from mlnlab.display.counts_matrix import can_be_a_matrix, matrix_scene
from mlnlab.display.counts_reasons import reasons_list
from mlnlab.display.databases import share
from mlnlab.display.markup import Element, element, shortened
from mlnlab.display.mathematics import formula_markup, formula_text
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import bounded_table, table
from mlnlab.errors import TooLargeError, count_of
from mlnlab.logic.formulas import Constant
from mlnlab.logic.traversal import atoms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.counting.groundings_shown import Grounding, Groundings, Kind
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
    """Return the kinds in groups, each of which adds up to all groundings, with what each group assumes."""
    return _PARTITIONS if groundings.open else (("", _PARTITIONS[0][1]),)


def kind_words(kind: Kind) -> str:
    """Return what a kind of groundings is called."""
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


def kinds_told(groundings: Groundings) -> tuple[Kind, ...]:
    """Return the kinds to be told; what evidence decides only where it does not decide all."""
    return KINDS if groundings.open else ("true", "violated")


def groundings_display(groundings: Groundings) -> Element:
    """Return the display of the groundings of a formula."""
    scene = scene_of(groundings)
    return card(
        title("Groundings", f"{number_text(groundings.total)} in all"),
        element("div", formula_markup(groundings.formula)),
        *(_numbers_table(groundings, assumed, kinds) for assumed, kinds in partitions(groundings)),
        None if groundings.exact else quiet(NOT_ALL_TRIED),
        quiet("A type of the formula's variables has no constants.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        *_samples(groundings),
        _reasons(groundings),
    )


def _numbers_table(groundings: Groundings, assumed: str, kinds: Sequence[Kind]) -> Element:
    rows = (
        (
            kind_words(kind),
            number_text(groundings.number(kind)),
            share(groundings.number(kind), groundings.total),
        )
        for kind in kinds
    )
    return table((assumed or "groundings", "number", "of all"), rows, numbers=(1, 2))


def _samples(groundings: Groundings) -> Iterator[Element]:
    """Yield a folded table with some groundings of each kind there is."""
    for kind in kinds_told(groundings):
        number = groundings.number(kind)
        if number and groundings.variables:
            yield folded(_headline(kind, number), _sample(groundings, kind))


def _headline(kind: Kind, number: int) -> str:
    some = f"{SHOWN} of {number_text(number)}" if number > SHOWN else number_text(number)
    return f"{some} {kind_words(kind)}"


def _sample(groundings: Groundings, kind: Kind) -> Element:
    try:
        found = groundings.sample(kind, SHOWN)
    except TooLargeError as refusal:
        return quiet(shortened(refusal.summary, _LONGEST))
    names = [shortened(variable.name) for variable in groundings.variables]
    return bounded_table((*names, "grounding"), map(_row, found), len(found), "groundings")


def _row(grounding: Grounding) -> tuple[str, ...]:
    return (*map(shortened, grounding.binding.values()), in_symbols(shortened(str(grounding), _LONGEST)))


def grounding_words(groundings: Groundings, grounding: Grounding) -> str:
    """Return what a grounding is, and below it the truth values of its atoms."""
    plain = [a for a in atoms(grounding.formula) if all(isinstance(t, Constant) for t in a.arguments)]
    known = [f"{in_symbols(shortened(str(atom)))} is {groundings.status(atom)}" for atom in plain]
    more = [f"and {count_of(len(known) - _MOST_ATOMS, 'more atom')}"] if len(known) > _MOST_ATOMS else []
    return f"{_MEANINGS[grounding.kind]}\n{', '.join([*known[:_MOST_ATOMS], *more])}"


def _reasons(groundings: Groundings) -> Element | None:
    if not groundings.total:
        return None
    try:
        reasons = groundings.why
    except TooLargeError as refusal:
        return quiet(shortened(refusal.summary, _LONGEST))
    return folded(f"why so many are {reasons.about}", reasons_list(reasons))


def groundings_text(groundings: Groundings) -> str:
    """Return the groundings of a formula as text."""
    lines: list[str] = []
    for assumed, kinds in partitions(groundings):
        lines += [f"  {assumed}:"] if assumed else []
        lines += [f"  {number_text(groundings.number(kind))} {kind_words(kind)}" for kind in kinds]
    formula = shortened(formula_text(groundings.formula), _LONGEST)
    return "\n".join([f"<{number_text(groundings.total)} groundings of {formula}>", *lines])

"""Draw the groundings of one formula: counts and samples by kind, and the reasons for their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log10
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.counting.groundings.groundings_shown import KINDS, Grounding, Groundings, Kind
from mlnlab.display.card.cards import Card, Part, Table, bullets, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import element, shorten_text
from mlnlab.display.card.style import quiet
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, WIDTH, Bar, bar_scene
from mlnlab.display.counting.count_bars import number_text, ratio
from mlnlab.display.counting.counts_lit import (
    MOST_LIT,
    can_be_a_matrix,
    hypergraph_of,
    lit_scene,
    matrix_scene,
)
from mlnlab.display.model.databases import share
from mlnlab.display.scene.building import Entry, explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.errors import TooLargeError, count_of
from mlnlab.logic.formulas.formulas import Constant
from mlnlab.logic.formulas.traversal import atoms

if TYPE_CHECKING:
    from mlnlab.counting.groundings.reasons import CountReasons, Join

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
_LONGEST_REASON, _MOST_SENTENCES = 400, 40
_WIDEST, _NUMBERS = 260.0, 150.0
_TOP, _STEP = 6.0, 24.0
_FLOATS = 10**300  # larger numbers are no floats


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


# --- reasons --------------------------------------------------------------------------------------


def reasons_card(reasons: CountReasons) -> Card:
    """Return the card of the reasons of a count."""
    sentences = reason_sentences(reasons)
    return Card(
        "Why so many?",
        f"{number_text(reasons.count)} of {number_text(reasons.groundings)} groundings {reasons.about}",
        picture=reasons_scene(reasons),
        remarks=(bullets(sentences),),
        folds=(("as a table", _table(reasons)),),
    )


def reason_sentences(reasons: CountReasons) -> list[str]:
    """Return the reasons as sentences."""
    return [
        in_symbols(shorten_text(words, _LONGEST_REASON)) for words in reasons.sentences()[:_MOST_SENTENCES]
    ]


def _table(reasons: CountReasons) -> Table:
    headings = ("part", "new variables", "bindings", "times", "if independent", "ratio")
    joins = reasons.joins[:_MOST_SENTENCES]
    return table_of(headings, map(_cells, joins), len(joins), "joins", numbers=(2, 3, 4, 5))


def _cells(join: Join) -> tuple[str, ...]:
    fresh = ", ".join(shorten_text(name) for name in join.fresh) or "–"
    part = in_symbols(shorten_text(join.part, _LONGEST_REASON))
    ratio = f"{join.beyond:.3g}" if join.before else "–"
    return part, fresh, number_text(join.after), f"{join.factor:.4g}", f"{join.expected:.4g}", ratio


# --- the picture --------------------------------------------------------------------------------


def reasons_scene(reasons: CountReasons) -> Scene | None:
    """Return each join as a bar from the bindings before it to those after it, on a scale of powers of ten.

    A tick stands where the bindings would be if the part were independent of those before it.
    """
    joins = reasons.joins[:_MOST_SENTENCES]
    if not joins:
        return None
    words = [fit_text(in_symbols(shorten_text(join.part, _LONGEST_REASON)), _WIDEST) for join in joins]
    left = max(text_width(text, "words strong") for text in words) + 34
    sizes = [size for join in joins for size in (join.before, join.after, _independent(join))]
    scale = _Scale(left, WIDTH - left - _NUMBERS, max(1.0, *map(_log, sizes)))
    rows = tuple(
        _join_row(number, join, text, scale, decisive=join is reasons.decisive)
        for number, (join, text) in enumerate(zip(joins, words, strict=True))
    )
    bottom = _TOP + len(joins) * _STEP
    entries = (
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar blue"), "more bindings"),
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar purple"), "fewer bindings"),
        Entry(Path(path=segments([((0, -8), (0, 8))]), look="curve orange thick"), "if independent"),
        Entry(Text(x=-6, y=4.5, text="◆", look="words"), "the decisive join"),
    )
    layers = Layer("scale", tuple(_axis(scale, bottom))), Layer("joins", rows)
    count, total = number_text(reasons.count), number_text(reasons.groundings)
    summary = f"{count} of {total} groundings are {reasons.about}."
    return explained_scene(layers, entries, (WIDTH, bottom), "Why so many?", summary, gap=24, foot=10)


class _Scale(NamedTuple):
    """Where numbers stand: one binding on the left, the largest number on the right."""

    left: float
    length: float
    decades: float

    def x(self, number: float) -> float:
        """Return where a number of bindings stands; none stands left of one."""
        return self.left if number <= 0 else self.left + 14 + (self.length - 14) * _log(number) / self.decades


def _log(number: float) -> float:
    """Return the decimal logarithm of a number, 0 below one; the number may be larger than any float."""
    if isinstance(number, int) and number >= _FLOATS:
        return number.bit_length() * 0.30103
    return log10(number) if number > 1 else 0.0


def _independent(join: Join) -> float:
    return min(float(min(join.before, _FLOATS)) * join.expected, float(_FLOATS))


def _join_row(number: int, join: Join, words: str, scale: _Scale, *, decisive: bool) -> Group:
    start, stop = sorted((scale.x(join.before), scale.x(join.after)))
    grows = join.after >= join.before
    tick = scale.x(_independent(join))
    factor = f"× {join.factor:.3g}" if join.before else "–"
    beyond = f"{join.beyond:.3g} times what independence gives" if join.before and join.expected else ""
    tip = tooltip(in_symbols(join.part), f"{number_text(join.before)} → {number_text(join.after)}", beyond)
    counted = f"{factor} = {number_text(join.after)}"
    ends = [((end, 1), (end, BAR)) for end in (scale.x(join.before),)]
    return Group(
        id=numbered_id("join", number), y=_TOP + number * _STEP, pick=True, tooltip=tip,
        children=(
            Rectangle(x=start, y=1, width=max(stop - start, 1.5), height=BAR - 1,
                      look=f"bar {'blue' if grows else 'purple'}"),
            Path(path=segments(ends), look="frame"),
            Path(path=segments([((tick, -2), (tick, BAR + 3))]), look="curve orange thick"),
            Text(x=8, y=BAR - 1.5, text="◆" if decisive else "", look="words"),
            Text(x=scale.left - 8, y=BAR - 1.5, text=words, look="words strong" if decisive else "words",
                 anchor="end"),
            Text(x=max(stop, tick) + 8, y=BAR - 1.5, text=counted, look="number"),
        ),
    )  # fmt: skip


def _axis(scale: _Scale, bottom: float) -> Iterator[Item]:
    """Yield a line below the bars with marks at none, at one, and at some powers of ten."""
    yield Path(path=polyline([(scale.left, bottom), (scale.left + scale.length, bottom)]), look="frame")
    step = max(1, ceil(scale.decades / 6))
    powers = range(0, int(scale.decades) + 1, step)
    marks = [(scale.left, "0"), *((scale.x(10**power), power_words(power)) for power in powers)]
    yield Path(path=segments(((x, 0), (x, bottom + 3)) for x, _ in marks), look="frame dotted")
    for x, words in marks:
        yield Text(x=x, y=bottom + 15, text=words, look="quiet small", anchor="middle")


def power_words(power: int) -> str:
    """Return a power of ten as a mark of an axis."""
    return f"{10**power:,}" if power < 5 else f"10^{power}"

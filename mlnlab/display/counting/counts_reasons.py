"""Why a count is so large: its joins as bars, as a table, and the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log10
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.cards import Card, Table, bullets, table_of
from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, WIDTH
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.counting.groundings.reasons import CountReasons, Join

_LONGEST, _MOST_SENTENCES = 400, 40
_WIDEST, _NUMBERS = 260.0, 150.0
_TOP, _STEP = 6.0, 24.0
_FLOATS = 10**300  # larger numbers are no floats


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
    return [in_symbols(shorten_text(words, _LONGEST)) for words in reasons.sentences()[:_MOST_SENTENCES]]


def _table(reasons: CountReasons) -> Table:
    headings = ("part", "new variables", "bindings", "times", "if independent", "ratio")
    joins = reasons.joins[:_MOST_SENTENCES]
    return table_of(headings, map(_row, joins), len(joins), "joins", numbers=(2, 3, 4, 5))


def _row(join: Join) -> tuple[str, ...]:
    fresh = ", ".join(shorten_text(name) for name in join.fresh) or "–"
    part = in_symbols(shorten_text(join.part, _LONGEST))
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
    words = [fit_text(in_symbols(shorten_text(join.part, _LONGEST)), _WIDEST) for join in joins]
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
    explained, height = legend(entries, 8, bottom + 24, WIDTH - 16)
    layers = (
        Layer("scale", tuple(_axis(scale, bottom))),
        Layer("joins", rows),
        Layer("explained", (explained,), zooms=False),
    )
    count, total = number_text(reasons.count), number_text(reasons.groundings)
    summary = f"{count} of {total} groundings are {reasons.about}."
    return Scene(WIDTH, bottom + 24 + height + 10, layers, "Why so many?", summary)


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

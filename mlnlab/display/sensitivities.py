"""What would change a probability most: bars to both sides of it (a tornado), sentences, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.bars import BAR, ROW, WIDTH, short_label
from mlnlab.display.markup import Element, element, shortened
from mlnlab.display.probabilities import error_in_words, probability_in_words
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.scene.text_fitting import fitted, text_width
from mlnlab.display.style import BREAKING, card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.inference.sensitivity import VALUES

if TYPE_CHECKING:
    from mlnlab.inference.sensitivity import FactSensitivity, Sensitivities, WeightSensitivity

MOST_ROWS_DRAWN = 12  # of weights, and of facts
_NUMBERS = 124.0  # pixels for the words behind the bars
_LONGEST = 500
_CAP = 4.0


class Swing(NamedTuple):
    """A row of a tornado: what is changed, to where on one side and on the other, and the change in words."""

    label: str
    ends: tuple[float, ...]
    words: str
    error: float = 0.0
    tip: str = ""


def fact_swing(fact: FactSensitivity) -> Swing:
    """Return the row of a fact: where the probability goes for each other value."""
    label = f"{shortened(fact.atom, 120)} is {fact.value}"
    told = [f"if {value}: {probability_in_words(p)}" for value, p in fact.probabilities.items()]
    words = f"{fact.strongest}: {fact.change:+.3f}" if fact.strongest else "impossible"
    tip = "; ".join([*told, *([shortened(fact.problem, 200)] if fact.problem else [])])
    return Swing(label, tuple(fact.changes.values()), words, fact.error, tip)


def weight_swing(weight: WeightSensitivity) -> Swing:
    """Return the row of a weight: where the probability heads for one unit more."""
    label = f"{in_symbols(shortened(weight.formula, 300))}  (weight {weight.weight:g})"
    words = f"{weight.derivative:+.3f}"
    error = f" ± {error_in_words(weight.error)}" if isfinite(weight.error) and weight.error > 1e-6 else ""
    return Swing(label, (weight.derivative,), words + error, weight.error, "per unit of weight, at first")


def tornado(
    swings: Sequence[Swing], word: str, top: float, left: float, largest: float, *, press: bool = False
) -> tuple[list[Item], float]:
    """Return rows of bars around a middle that stands for no change, perhaps buttons, and where they end."""
    labels = [short_label(swing.label) for swing in swings]
    half = (WIDTH - _NUMBERS - left) / 2
    middle, scale = left + half, half / (largest or 1.0)
    rows: list[Item] = []
    for place, (swing, label) in enumerate(zip(swings, labels, strict=True)):
        rows.append(
            Group(
                id=numbered_id(word, place), y=top + place * ROW, pick=not press, press=press,
                tooltip=tooltip(swing.label, swing.words, swing.tip),
                children=(
                    Rectangle(x=left, y=0, width=2 * half, height=BAR, look="shaded"),
                    Text(x=left - 8, y=BAR - 1.5, text=label, look="words", anchor="end"),
                    *_bars(swing, middle, scale),
                    Text(x=WIDTH - _NUMBERS + 6, y=BAR - 1.5, text=fitted(swing.words, _NUMBERS - 6),
                         look="number"),
                ),
            )
        )  # fmt: skip
    bottom = top + len(swings) * ROW
    if swings:
        rows.append(Path(path=segments([((middle, top - 3), (middle, bottom - 2))]), look="frame"))
    return rows, bottom


def _bars(swing: Swing, middle: float, scale: float) -> Iterator[Item]:
    """Yield a bar for each side; a smaller one on the same side is a line in it."""
    for sign, hue in ((1.0, "blue"), (-1.0, "orange")):
        lengths = sorted(abs(end) * scale for end in swing.ends if end * sign > 0)
        if not lengths:
            continue
        start = middle if sign > 0 else middle - lengths[-1]
        yield Rectangle(x=start, y=0, width=max(lengths[-1], 1.0), height=BAR, look=f"bar {hue}")
        for length in lengths[:-1]:
            x = middle + sign * length
            yield Path(path=segments([((x, 1), (x, BAR - 1))]), look="frame thick")
    yield Path(path=_whisker(swing, middle, scale), look="curve grey")


def _whisker(swing: Swing, middle: float, scale: float) -> str:
    longest = max(swing.ends, key=abs, default=0.0)
    half = swing.error * scale
    if not (isfinite(half) and half >= 1):
        return ""
    x, y = middle + longest * scale, BAR / 2
    start, stop = x - half, x + half
    caps = [((end, y - _CAP), (end, y + _CAP)) for end in (start, stop)]
    return segments([((start, y), (stop, y)), *caps])


def largest_of(found: Sensitivities) -> float:
    """Return the largest change with its error: all bars have its scale."""
    weights = (weight.size + _known(weight.error) for weight in found.weights)
    facts = (abs(change) + _known(fact.error) for fact in found.facts for change in fact.changes.values())
    return max([*weights, *facts, 1e-12])


def _known(error: float) -> float:
    return error if isfinite(error) else 0.0


def largest_change(found: Sensitivities) -> float:
    """Return the largest change."""
    sizes = [*(weight.size for weight in found.weights), *(fact.size for fact in found.facts)]
    return max(sizes, default=0.0)


def tornado_parts(found: Sensitivities, top: float, *, press: bool = False) -> tuple[list[Item], float]:
    """Return headings and bars of facts, perhaps buttons, and of weights, and where they end."""
    items: list[Item] = []
    largest = largest_of(found)
    facts = [fact_swing(fact) for fact in found.facts[:MOST_ROWS_DRAWN]]
    weights = [weight_swing(weight) for weight in found.weights[:MOST_ROWS_DRAWN]]
    parts = (
        ("If a fact were otherwise", "fact", facts, len(found.facts)),
        ("For each unit of weight more, at first", "weight", weights, len(found.weights)),
    )
    labels = (text_width(short_label(swing.label)) for swing in (*facts, *weights))
    left = max(labels, default=0.0) + 14
    for heading, word, swings, number in parts:
        if not swings:
            continue
        rest = f" · {len(swings)} of {number:,}" if number > len(swings) else ""
        items.append(Text(x=8, y=top + BAR, text=heading + rest, look="words strong"))
        rows, top = tornado(swings, word, top + ROW + 2, left, largest, press=press and word == "fact")
        items += rows
        top += 8
    return items, top


def sensitivities_scene(found: Sensitivities) -> Scene | None:
    """Return the drawing: bars to the right raise the probability, bars to the left lower it."""
    items, height = tornado_parts(found, 2.0)
    if not items:
        return None
    return Scene(WIDTH, height, (Layer("rows", tuple(items)),), "What would change it", _description(found))


def _description(found: Sensitivities) -> str:
    """Describe the picture without quoting data, which must not get into attributes."""
    return (
        f"Bars of how {len(found.facts):,} facts and {len(found.weights):,} weights change a probability of"
        f" {probability_in_words(found.probability)}, by up to {largest_change(found):.3g};"
        " the sentences below name them."
    )


def _rows(found: Sensitivities) -> Iterator[tuple[str, ...]]:
    for fact in found.facts:
        known = (
            probability_in_words(fact.probabilities[v]) if v in fact.probabilities else "-" for v in VALUES
        )
        yield shortened(fact.atom, 160), fact.value, f"{fact.change:+.4f}", *known
    for weight in found.weights:
        text = shortened(in_symbols(weight.formula), 160)
        yield text, f"weight {weight.weight:g}", f"{weight.derivative:+.4f} per unit", "", "", ""


def sensitivities_display(found: Sensitivities) -> Element:
    """Return the display of sensitivities."""
    scene = sensitivities_scene(found)
    sentences = [
        element("li", shortened(sentence, _LONGEST), style=BREAKING) for sentence in _in_symbols(found)
    ]
    headings = ("fact or formula", "now", "change", *(f"if {value}" for value in VALUES))
    number = len(found.facts) + len(found.weights)
    table = bounded_table(
        headings, _rows(found), number, "changes", numbers=range(2, 6), where="to_frame() has them all"
    )
    return card(
        title(
            f"What would change {shortened(found.query, 120)}?",
            f"probability {probability_in_words(found.probability)}",
        ),
        None if scene is None else scene_image(scene, scene.description),
        element("ul", *sentences),
        quiet(f"{found.waiting:,} facts are still to be tried.") if found.waiting else None,
        folded("as a table", table) if number else None,
    )


def _in_symbols(found: Sensitivities) -> list[str]:
    """Return the sentences with the formulas in mathematical symbols."""
    sentences = []
    for sentence in found.sentences():
        for weight in found.weights[:MOST_ROWS_DRAWN]:
            if sentence.startswith(f"More weight of {weight.formula} (now"):
                sentence = sentence.replace(weight.formula, in_symbols(weight.formula), 1)  # noqa: PLW2901
        sentences.append(sentence)
    return sentences


def sensitivities_text(found: Sensitivities) -> str:
    """Return sensitivities as sentences."""
    return "\n".join(shortened(text, _LONGEST) for text in _in_symbols(found)[:MOST_ROWS])

"""Show why an atom has its probability, as a waterfall, and which changes would move it, as a tornado."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.cards import Card, Table, bullets, table_of
from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import (
    BAR,
    ROW,
    WIDTH,
    Bar,
    BarChart,
    Series,
    Stride,
    Waterfall,
    short_label,
)
from mlnlab.display.chart.curves import Chart, spread_chart
from mlnlab.display.inference.probabilities import (
    by_probability,
    error_in_words,
    facts_among,
    marginals_chart,
    probability_in_words,
)
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.inference.answers.sensitivity import VALUES

if TYPE_CHECKING:
    from mlnlab.inference.answers.explanation import Explanation, Share
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.answers.sensitivity import FactSensitivity, Sensitivities, Value, WeightSensitivity

MOST_STRIDES = 15
_LONGEST_SENTENCE = 500
_SILENT = 5e-4
MOST_ROWS_DRAWN = 12  # of weights, and of facts
MOST_IN_FIGURE = 30
_PER_UNIT = "per unit of weight, at first"
# The hue of each value, and how thick its bar is; the smaller change is drawn over the larger one.
_FIGURE_LOOKS = {"true": ("blue", 0.8), "false": ("orange", 0.8), "unknown": ("grey", 0.4)}
_NUMBERS = 124.0  # pixels for the words behind the bars
_LONGEST = 500
_CAP = 4.0
MOST_BARS = 60


def _strongest(explanation: Explanation) -> list[Share]:
    return sorted(explanation.shares, key=lambda share: -abs(share.log_odds))


def strides_of(explanation: Explanation) -> list[Stride]:
    """Return the waterfall: the base, the strongest shares, the rest together, the total."""
    shown = [share for share in _strongest(explanation) if abs(share.log_odds) >= _SILENT]
    level = explanation.base
    strides = [Stride("without any weight", 0.0, level, f"{level:+.3f}")]
    for share in shown[:MOST_STRIDES]:
        label = f"{in_symbols(share.formula)}  (weight {share.weight:g})"
        strides.append(Stride(label, level, level + share.log_odds, f"{share.log_odds:+.3f}"))
        level += share.log_odds
    rest = shown[MOST_STRIDES:]
    if rest:
        together = sum(share.log_odds for share in rest)
        strides.append(Stride(f"{len(rest):,} more formulas", level, level + together, f"{together:+.3f}"))
    total = explanation.log_odds
    label = f"log-odds, a probability of {probability_in_words(explanation.probability)}"
    return [*strides, Stride(label, 0.0, total, f"{total:+.3f}", total=True)]


def explanation_chart(explanation: Explanation) -> Waterfall:
    """Return a waterfall of shares; without strides where the atom is certain."""
    title, empty = (
        "Shares of the log-odds",
        f"{explanation.atom} is certain, so that its log-odds have no shares.",
    )
    if not (isfinite(explanation.log_odds) and isfinite(explanation.base)):
        return Waterfall(title, (), "log-odds", empty)
    strides = strides_of(explanation)
    description = (
        f"A waterfall of {len(strides)} bars from {explanation.base:+.3f} to log-odds of"
        f" {explanation.log_odds:+.3f}; the sentences below say the same."
    )
    return Waterfall(title, tuple(strides), "log-odds", empty, description)


def _add_sign(value: float) -> str:
    """Return a share with its sign; rounding alone gives none."""
    return f"{value:+.4f}" if abs(value) >= 5e-5 else "0"


def _table(explanation: Explanation) -> Table:
    rows = (
        (
            shorten_text(in_symbols(share.formula), 300),
            f"{share.weight:g}",
            _add_sign(share.log_odds),
            f"× {share.factor:.4g}",
            probability_in_words(share.without),
        )
        for share in explanation.shares
    )
    headings = ("formula", "weight", "share of the log-odds", "odds", "probability without it")
    number, where = len(explanation.shares), "to_frame() has them all"
    return table_of(headings, rows, number, "formulas", numbers=range(1, 5), where=where)


def _sentences(explanation: Explanation) -> list[str]:
    """Return the explanation in words, with the formulas in mathematical symbols."""
    texts = {share.formula for share in explanation.shares}
    return [_with_symbols(sentence, texts) for sentence in explanation.sentences()]


def _with_symbols(sentence: str, formulas: Collection[str]) -> str:
    formula, weight, rest = sentence.partition(" (weight ")
    return in_symbols(formula) + weight + rest if formula in formulas else sentence


def explanation_card(explanation: Explanation) -> Card:
    """Return the card of an explanation."""
    sentences = _sentences(explanation)
    more = len(sentences) - MOST_STRIDES - 2
    scene = explanation_chart(explanation).scene()
    return Card(
        f"Why {shorten_text(explanation.atom, 120)}?",
        f"probability {probability_in_words(explanation.probability)}",
        picture=scene,
        alternative=scene.description if scene is not None else "",
        remarks=(
            bullets(sentences[: MOST_STRIDES + 2], _LONGEST_SENTENCE),
            f"and {more:,} more sentences; to_frame() has all shares." if more > 0 else "",
        ),
        folds=(("as a table", _table(explanation)),) if explanation.shares else (),
    )


# --- sensitivities --------------------------------------------------------------------------------


class Swing(NamedTuple):
    """A tornado's row: the changed fact or weight, the probability on each side, and the change in words."""

    label: str
    ends: tuple[float, ...]
    words: str
    error: float = 0.0
    tip: str = ""


def fact_swing(fact: FactSensitivity) -> Swing:
    """Return the row of a fact: where the probability goes for each other value."""
    label = f"{shorten_text(fact.atom, 120)} is {fact.value}"
    told = [f"if {value}: {probability_in_words(p)}" for value, p in fact.probabilities.items()]
    words = f"{fact.strongest}: {fact.change:+.3f}" if fact.strongest else "impossible"
    tip = "; ".join([*told, *([shorten_text(fact.problem, 200)] if fact.problem else [])])
    return Swing(label, tuple(fact.changes.values()), words, fact.error, tip)


def weight_swing(weight: WeightSensitivity) -> Swing:
    """Return the row of a weight: where the probability heads for one unit more."""
    label = f"{in_symbols(shorten_text(weight.formula, 300))}  (weight {weight.weight:g})"
    words = f"{weight.derivative:+.3f}"
    error = f" ± {error_in_words(weight.error)}" if isfinite(weight.error) and weight.error > 1e-6 else ""
    return Swing(label, (weight.derivative,), words + error, weight.error, _PER_UNIT)


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
                    Text(x=WIDTH - _NUMBERS + 6, y=BAR - 1.5, text=fit_text(swing.words, _NUMBERS - 6),
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
    weights = (weight.size + _make_finite(weight.error) for weight in found.weights)
    facts = (
        abs(change) + _make_finite(fact.error) for fact in found.facts for change in fact.changes.values()
    )
    return max([*weights, *facts, 1e-12])


def _make_finite(error: float) -> float:
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


def sensitivities_chart(found: Sensitivities) -> BarChart:
    """Return bars of the changes by facts and weights; those to the right raise the probability."""
    facts, weights = found.facts[:MOST_IN_FIGURE], found.weights[:MOST_IN_FIGURE]
    labels = [f"{fact.atom} is {fact.value}" for fact in facts]
    labels += [f"{in_symbols(weight.formula)} (weight {weight.weight:g})" for weight in weights]
    series = []
    for value in VALUES:
        hue, thickness = _FIGURE_LOOKS[value]
        rows = tuple(row for row, fact in enumerate(facts) if value in fact.changes)
        bars = tuple(_change_bar(labels[row], facts[row], value) for row in rows)
        series.append(Series(f"if {value}", bars, hue, rows, thickness))
    moved = (
        Bar(label, weight.derivative, f"{weight.derivative:+.3g} {_PER_UNIT}", error=weight.error)
        for label, weight in zip(labels[len(facts) :], weights, strict=True)
    )
    series.append(Series(_PER_UNIT, tuple(moved), "green", tuple(range(len(facts), len(labels))), 0.8))
    number = len(found.facts) + len(found.weights)
    rest = f"<br>{len(labels)} of {number:,} changes are drawn" if number > len(labels) else ""
    return BarChart(
        f"What would change {found.query}?",
        tuple(labels),
        tuple(one for one in series if one.bars),
        f"change of the probability, now {found.probability:.4g}{rest}",
        f"No weight or fact that was tried changes {found.query}.",
        signed=True,
    )


def _change_bar(label: str, fact: FactSensitivity, value: Value) -> Bar:
    change = fact.changes[value]
    words = f"if {value}: {fact.probabilities[value]:.4g} ({change:+.3g})"
    return Bar(label, change, words, error=fact.errors[value])


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
        yield shorten_text(fact.atom, 160), fact.value, f"{fact.change:+.4f}", *known
    for weight in found.weights:
        text = shorten_text(in_symbols(weight.formula), 160)
        yield text, f"weight {weight.weight:g}", f"{weight.derivative:+.4f} per unit", "", "", ""


def sensitivities_card(found: Sensitivities) -> Card:
    """Return the card of sensitivities."""
    scene = sensitivities_scene(found)
    headings = ("fact or formula", "now", "change", *(f"if {value}" for value in VALUES))
    number = len(found.facts) + len(found.weights)
    table = table_of(
        headings, _rows(found), number, "changes", numbers=range(2, 6), where="to_frame() has them all"
    )
    return Card(
        f"What would change {shorten_text(found.query, 120)}?",
        f"probability {probability_in_words(found.probability)}",
        picture=scene,
        alternative=scene.description if scene is not None else "",
        remarks=(
            bullets(_in_symbols(found), _LONGEST),
            f"{found.waiting:,} facts are still to be tried." if found.waiting else "",
        ),
        folds=(("as a table", table),) if number else (),
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


# --- for ml.plot ----------------------------------------------------------------------------------


def plot_marginals(marginals: Marginals) -> Chart | BarChart:
    """Return bars of probabilities; where there are many, how they spread."""
    known = facts_among(marginals)
    computed = [value for name, value in by_probability(marginals) if name not in known]
    if len(computed) > MOST_BARS:
        return spread_chart(computed, f"How {len(computed):,} probabilities spread")
    return replace(marginals_chart(marginals, MOST_BARS), title=f"Probabilities by {marginals.method}")


def plot_explanation(explanation: Explanation) -> Waterfall:
    """Return the waterfall of the explanation's own display, under the name of the atom."""
    return replace(explanation_chart(explanation), title=f"Why {explanation.atom}?")

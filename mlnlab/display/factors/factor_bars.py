"""Distributions of variables with several values: a bar for each variable, a stretch of it for each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.scene.building import label, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.inference.networks.factor_answers import NetworkMarginals

if TYPE_CHECKING:
    from mlnlab.factors.trees.network_answers import VariableMarginals

MOST_BARS = 60
_HEIGHT = 17.0
_WIDEST_NAME = 150.0
_STEP = ROW + 4.0
_TOP = 6.0
_LEAST_WORDS = 26.0  # pixels; a narrower stretch has no name written in it


def distributions_scene(found: VariableMarginals) -> Scene | None:
    """Return the bars of the first variables; none for none."""
    if not found:
        return None
    names = list(found)[:MOST_BARS]
    left = min(max(text_width(name[:200]) for name in names), _WIDEST_NAME) + 14
    rows = tuple(_row(number, name, found, _TOP + _STEP * number, left) for number, name in enumerate(names))
    rest = len(found) - len(names)
    words = f"Distributions of {count_of(len(found), 'variable')}" + (
        f", {rest:,} of them not drawn." if rest else "."
    )
    sampled = isinstance(found, NetworkMarginals) and bool(found.estimates)
    words += " Whiskers reach two standard errors to both sides of a bar's first end." if sampled else ""
    return Scene(WIDTH, 2 * _TOP + _STEP * len(names), (Layer("bars", rows),), "Distributions", words)


def _row(number: int, name: str, found: VariableMarginals, y: float, left: float) -> Group:
    """Return a variable's bar; evidence is drawn as a frame rather than a wash."""
    shares, known = found[name], name in found.evidence
    room = WIDTH - left - 8
    at = left
    parts: list[Item] = [Text(x=left - 8, y=13, text=fit_text(name, left - 10), look="words", anchor="end")]
    for place, (value, share) in enumerate(shares.items()):
        width = room * share
        if width < 0.05:
            continue
        hue = HUES[place % len(HUES)]
        words = "evidence" if known else probability_in_words(share)
        tip = tooltip(f"{name} = {value}", words, *_error_words(found, name, value))
        look = f"ring {hue} dashed" if known else f"wash {hue}"
        parts.append(Rectangle(x=at, y=0, width=width, height=_HEIGHT, corner=2, look=look, tooltip=tip))
        if width > _LEAST_WORDS:
            words = f"{value} · evidence" if known else f"{value} {share:.2f}" if width > 70 else value
            parts.append(label(at + width / 2, 12.5, words, width - 8, "words small"))
        at += width
    parts += _whisker(found, name, left, room)
    return Group(id=numbered_id("variable", number), y=y, children=tuple(parts))


def _error_words(found: VariableMarginals, name: str, value: str) -> tuple[str, ...]:
    """Return the standard error of a value's probability, where there is one."""
    error = found.error(name, value) if isinstance(found, NetworkMarginals) else 0.0
    return (f"standard error {error:.2g}",) if error > 0 else ()


def _whisker(found: VariableMarginals, name: str, left: float, room: float) -> tuple[Item, ...]:
    """Return how far the end of the first stretch may be off: two standard errors to both sides."""
    first = next(iter(found[name]))
    error = found.error(name, first) if isinstance(found, NetworkMarginals) else 0.0
    if not error > 0:
        return ()
    low, high = (min(max(found[name][first] + 2 * side * error, 0.0), 1.0) for side in (-1, 1))
    a, b, y = left + low * room, left + high * room, _HEIGHT + 2.5
    ways = [((a, y), (b, y)), ((a, y - 2.5), (a, y + 2.5)), ((b, y - 2.5), (b, y + 2.5))]
    return (Path(path=segments(ways), look="curve blue"),)

"""Draw the parts of networks of variables: places around a circle, and the joins between variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import cos, pi, sin

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.scene.building import label, mark
from mlnlab.display.scene.items import Item, Path, Rectangle
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, bow_curve, segments, toward
from mlnlab.display.scene.text_fitting import text_width

NODE = 17.0  # the radius of a variable
FEW = 4  # variables that leave room for words beside them
_LONGEST = 160

Places = dict[str, Point]


def width_of(variables: Sequence[str]) -> float:
    """Return the width that a network of these variables takes."""
    return 240.0 if len(variables) < FEW else 330.0


def places_around(variables: Sequence[str], top: float = 44) -> Places:
    """Return the variables around a circle, the first one on top, as in the paper's figure."""
    size, middle = len(variables), width_of(variables) / 2
    far = 0.0 if size == 1 else min(125.0, 48.0 + 14 * size)
    return {
        name: (middle + far * sin(2 * pi * k / size), top + far - far * cos(2 * pi * k / size))
        for k, name in enumerate(variables)
    }


def hue_of_join(number: int) -> str:
    """Return the hue of a constraint or table, by its number."""
    return HUES[number % (len(HUES) - 1)]


def twins(scopes: Sequence[Sequence[str]]) -> Iterator[float]:
    """Yield how far each join stands aside from others of the same variables: -1/2 and 1/2 of two."""
    alike = Counter(map(frozenset, scopes))
    seen: Counter[frozenset[str]] = Counter()
    for scope in map(frozenset, scopes):
        yield seen[scope] - (alike[scope] - 1) / 2
        seen[scope] += 1


def join_items(scope: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return an edge between two variables; for one or several a square that is joined with each."""
    names = list(dict.fromkeys(scope))
    return (_edge if len(names) == 2 else _square)(names, words, places, twin, hue)


def _edge(names: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return an edge with its words; further ones between the same variables bow to either side."""
    # Always from the same end, so that twins bow to different sides.
    one, other = sorted(names, key=lambda name: places[name])
    (x1, y1), (x2, y2) = places[one], places[other]
    bow = 0.5 * twin
    middle = ((x1 + x2) / 2 + (y2 - y1) * bow / 2, (y1 + y2) / 2 - (x2 - x1) * bow / 2)
    return (
        Path(path=bow_curve((x1, y1), (x2, y2), bow, NODE), look=f"curve thick {hue}"),
        *_on_a_plate(middle[0], middle[1] + 4, words),
    )


def _on_a_plate(x: float, y: float, words: str) -> tuple[Item, Item]:
    """Return words that an edge does not run through: a literal would look struck out."""
    text = label(x, y, in_symbols(shorten_text(words, _LONGEST)), 110, "label small")
    width = text_width(text.text, text.look) + 8
    plate = Rectangle(x=x - width / 2, y=y - 12, width=width, height=16, corner=3, look="plate")
    return plate, text


def _square(names: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return a square in the middle of its variables; that of a single variable hangs beside it."""
    ends = [places[name] for name in names]
    x, y = sum(p[0] for p in ends) / len(ends), sum(p[1] for p in ends) / len(ends)
    if len(ends) == 1:
        centre = sum(x for x, _ in places.values()) / len(places)
        x, y = x + (52 if x >= centre else -52), y - 4 + 34 * twin
    else:
        y += 24 * twin
    lines = segments((toward(end, (x, y), NODE), (x, y)) for end in ends)
    text = in_symbols(shorten_text(words, _LONGEST))
    return (
        Path(path=lines, look=f"curve {hue}"),
        mark("square", 6, f"disc {hue}", x=x, y=y),
        label(x, y - 11 if len(ends) == 1 else y + 19, text, 100, "label small"),
    )

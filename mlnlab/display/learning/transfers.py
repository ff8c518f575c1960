"""Show learned weights in domains of another size, in a cell: shares of true groundings side by side."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.scene.building import WIDTH, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from mlnlab.learning.studies.lifted_transfer import Transfer

MOST_DRAWN = 30
_LABEL, _LEFT, _RIGHT, _HEAD, _ROW = 330.0, 366.0, WIDTH - 24.0, 26.0, 24.0
_KEY = ("in the data", "expected at its size", "expected at this size")


def transfer_scene(found: Transfer) -> Scene:
    """Return a row for each formula: its shares as a frame, a dot and, from there, a line to the new dot."""
    number = min(len(found.formulas), MOST_DRAWN)
    order = found.by_drift[:number]
    bottom = _HEAD + number * _ROW
    items: list[Item] = [*_key(), Path(path=segments([((_LEFT, bottom), (_RIGHT, bottom))]), look="frame")]
    items += [
        Text(x=_place(share), y=bottom + 14, text=f"{share:.0%}", look="number small", anchor="middle")
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    items += [_row(found, formula, _HEAD + place * _ROW) for place, formula in enumerate(order)]
    words = f"Shares of true groundings: {_sizes(found)}"
    return Scene(WIDTH, bottom + 22, (Layer("drawn", tuple(items)),), "Transfer", words)


def _place(share: float) -> float:
    return _LEFT + share * (_RIGHT - _LEFT)


def _key() -> list[Item]:
    places = (_LABEL - 190, _LABEL - 96, _LABEL + 64)
    marks = [_mark(kind, x, 11.0) for kind, x in zip(_KEY, places, strict=True)]
    texts = [
        Text(x=x + 10, y=15, text=words, look="quiet small") for words, x in zip(_KEY, places, strict=True)
    ]
    return [*marks, *texts]


def _mark(kind: str, x: float, y: float) -> Item:
    if kind == _KEY[0]:
        return Rectangle(x=x - 5, y=y - 5, width=10, height=10, look="frame")
    return Circle(
        x=x, y=y, radius=4.5 if kind == _KEY[2] else 3.0, look="bar orange" if kind == _KEY[2] else "bar blue"
    )


def _row(found: Transfer, formula: int, y: float) -> Group:
    label = in_symbols(shorten_text(found.formulas[formula]))
    shares = [float(one[formula]) for one in (found.observed, found.expected, found.elsewhere)]
    middle = _ROW / 2
    parts: list[Item] = [
        Text(x=8, y=middle + 4, text=fit_text(label, _LABEL), look="words"),
        Path(path=segments([((_LEFT, middle), (_RIGHT, middle))]), look="frame"),
    ]
    if not any(map(isnan, shares[1:])):
        line = segments([((_place(shares[1]), middle), (_place(shares[2]), middle))])
        parts.append(Path(path=line, look="curve orange"))
    parts += [
        _mark(kind, _place(share), middle)
        for kind, share in zip(_KEY, shares, strict=True)
        if not isnan(share)
    ]
    said = ", ".join(f"{_percent(share)} {kind}" for kind, share in zip(_KEY, shares, strict=True))
    tip = tooltip(label, f"weight {found.weights[formula]:+.4g}", said)
    return Group(id=numbered_id("formula", formula), y=y, tooltip=tip, children=tuple(parts))


def transfer_card(found: Transfer) -> Card:
    """Return the shares as a picture and as a table."""
    rows = (
        (
            in_symbols(shorten_text(found.formulas[n])), f"{found.weights[n]:+.3f}",
            *(_percent(float(one[n])) for one in (found.observed, found.expected, found.elsewhere)),
        )
        for n in found.by_drift
    )  # fmt: skip
    headings = ("formula", "weight", *_KEY)
    return Card(
        "Transfer",
        _sizes(found),
        lead=(found.remark or "No share of true groundings is clearly another one there.",),
        picture=transfer_scene(found),
        alternative="Shares of true groundings; the table below has the numbers.",
        table=table_of(headings, rows, len(found.formulas), "formulas", numbers=range(1, 5)),
    )


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{share:.3%}" if share and share < 1e-3 else f"{share:.1%}"


def _sizes(found: Transfer) -> str:
    return f"learned at {found.learned_at_words}, asked at {found.sizes_words}"

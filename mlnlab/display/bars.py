"""Bar pictures as SVG text: probabilities, how they spread, and shares that add up.

A picture in an ``<img>`` sees none of the page's variables, but it follows the page's ``color-scheme``.
"""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.markup import fit, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WIDTH = 680
_ROW, _BAR, _LETTER = 20, 13, 7.8  # pixels: row height, bar height, the usual width of a letter
_TOP = 4
_WIDEST_LABEL = 46  # letters
_NUMBER_WIDTH = 60

_STYLE = (
    "text{font:12.5px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#222}"
    ".n{font-variant-numeric:tabular-nums}.q{fill:#666}"
    ".b,.up{fill:#0072b2}.down{fill:#d55e00}.t{fill:#8883}.l{stroke:#999;stroke-width:1}"
    ".total{fill:none;stroke:#222;stroke-width:1.5}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.q{fill:#aaa}.b,.up{fill:#56b4e9}"
    ".down{fill:#e69f00}.total{stroke:#e6e6e6}}"
)


class Bar(NamedTuple):
    """A row of a picture: what it says, a value between 0 and 1, and the value in words.

    What is known rather than computed is drawn as a frame.
    """

    label: str
    value: float
    words: str
    known: bool = False


class Stride(NamedTuple):
    """A row of a waterfall: from where to where, in words; a total is drawn from zero and as a frame."""

    label: str
    start: float
    stop: float
    words: str
    total: bool = False


def letters(text: str) -> float:
    """Return the width of a text in usual letters; capitals are wider, East Asian ones take two."""
    return sum(map(_width, text))


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in "mwMW":
        return 1.6
    return 1.2 if letter.isupper() or letter in "∧∨⇒⇔" else 1.0


def _fitted(label: str) -> str:
    """Return a label that is no wider than its column."""
    start = label[:1000]  # enough to tell wide letters from usual ones
    return shortened(label, int(_WIDEST_LABEL * len(start) / max(letters(start), 1)))


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(fit(text))}</text>'


def _rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}" class="{kind}"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="l"{dashed}/>'


def _picture(height: float, parts: Iterable[str], width: int = WIDTH) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}"'
        f' viewBox="0 0 {width} {height:.0f}"><style>{_STYLE}</style>{"".join(parts)}</svg>'
    )


def bar_picture(bars: Sequence[Bar]) -> str:
    """Return bars on tracks from 0 to 1, a row for each, with names on the left and numbers on the right."""
    labels = [_fitted(bar.label) for bar in bars]
    left = max(map(letters, labels), default=1) * _LETTER + 12
    length = WIDTH - left - _NUMBER_WIDTH
    parts = []
    for row, (label, bar) in enumerate(zip(labels, bars, strict=True)):
        top = _TOP + row * _ROW
        baseline = top + _BAR - 1.5
        value = min(max(bar.value, 0.0), 1.0)
        parts += [
            _text(left - 8, baseline, label, anchor="end"),
            _rectangle(left, top, length, _BAR, "t"),
            _rectangle(left, top, length * value, _BAR, "total" if bar.known else "b"),
            _text(WIDTH - _NUMBER_WIDTH + 8, baseline, bar.words, "n"),
        ]
    bottom = _TOP + len(bars) * _ROW
    return _picture(bottom + 16, [*parts, *_axis(left, length, bottom)])


def _axis(left: float, length: float, bottom: float) -> Iterator[str]:
    """Yield a thin line below bars with marks at 0, one half (also through the bars) and 1."""
    middle = left + length / 2
    yield _line(middle, 0, middle, bottom, "2 3")
    yield _line(left, bottom, left + length, bottom)
    for x, words in ((left, "0"), (middle, "½"), (left + length, "1")):
        yield _line(x, bottom, x, bottom + 3)
        yield _text(x, bottom + 14, words, "n q", "middle")


def spread_picture(values: Sequence[float], bins: int = 20) -> str:
    """Return how many values lie in each twentieth between 0 and 1."""
    counts = [0] * bins
    for value in values:
        counts[min(int(value * bins), bins - 1)] += 1
    left, bottom, top = 20.0, 120.0, 16.0
    step = (WIDTH - 2 * left) / bins
    highest = max([*counts, 1])
    parts = []
    for position, count in enumerate(counts):
        height = (bottom - top) * count / highest
        x = left + position * step
        parts.append(_rectangle(x + 1, bottom - height, step - 2, height, "b"))
        if count:
            parts.append(_text(x + step / 2, bottom - height - 3, f"{count:,}", "n q", "middle"))
    parts.append(_line(left, bottom, WIDTH - left, bottom))
    for tick in range(0, 11, 2):
        x = left + tick / 10 * (WIDTH - 2 * left)
        parts.append(_text(x, bottom + 15, f"{tick / 10:.1f}", "n q", "middle"))
    return _picture(bottom + 22, parts)


def waterfall_picture(strides: Sequence[Stride]) -> str:
    """Return strides that start where the one above ended; each label stands above its bar."""
    ends = [0.0, *(end for stride in strides for end in (stride.start, stride.stop))]
    low, high = min(ends), max(ends)
    left, length = 10.0, WIDTH - 20.0 - _NUMBER_WIDTH
    scale = length / ((high - low) or 1.0)
    zero, row = left - low * scale, 2 * _ROW - 3
    height = _TOP + len(strides) * row
    parts = [_line(zero, 0, zero, height, "2 3")]
    for number, stride in enumerate(strides):
        top = _TOP + number * row
        begin, end = sorted((left + (stride.start - low) * scale, left + (stride.stop - low) * scale))
        kind = "total" if stride.total else "up" if stride.stop >= stride.start else "down"
        parts += [
            _text(left + 5, top + 11, shortened(stride.label, 88), "q"),
            _rectangle(begin, top + 16, max(end - begin, 1.5), _BAR, kind),
            _text(end + 6, top + 16 + _BAR - 2, stride.words, "n"),
        ]
        if number + 1 < len(strides):
            x = left + (stride.stop - low) * scale
            parts.append(_line(x, top + 16 + _BAR, x, top + row + 16))
    return _picture(height, parts)

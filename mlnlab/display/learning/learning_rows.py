"""A row for each formula of a learner: its weight, and how far its counts are from matching, as a bar.

Bars lie on a scale that is linear near zero and logarithmic far from it (asinh), so that one sees a gap of
hundreds shrink to one of hundredths. The shaded band around zero is the noise of sampling: what lies in it
cannot be told from zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import asinh, floor, isfinite, log10
from typing import NamedTuple

from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.chart.plots import sample
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

_BEND = 30.0  # how much of the scale is logarithmic: the largest gap is so many times the linear part
_LABEL, _LABEL_END, _END = 30.0, 262.0, WIDTH - 4.0
_NOISE = 2.0  # standard errors
_HEAD = 18.0


class GapRow(NamedTuple):
    """A formula at a step."""

    number: int
    label: str
    weight: float
    gap: float
    error: float = 0.0  # the standard error of the gap
    mark: str = ""  # such as "frozen"
    tip: str = ""
    average: float | None = None  # the weight that is returned, where that is an average of the steps


class _Columns(NamedTuple):
    """Where the numbers of a row end, where its mark begins, and where its bar lies."""

    weight_end: float = 326.0
    average_end: float = 326.0
    zero: float = 494.0
    half: float = 118.0

    @property
    def mark(self) -> float:
        return self.average_end + 5

    @property
    def mark_room(self) -> float:
        return self.zero - self.half - self.mark - 2


_PLAIN, _WITH_AVERAGES = _Columns(), _Columns(average_end=388.0, zero=526.0, half=86.0)


@dataclass(frozen=True, slots=True)
class GapAxis:
    """Where gaps lie between minus and plus the largest one."""

    largest: float

    def place(self, gap: float) -> float:
        """Return a place between -1 and 1."""
        if not isfinite(gap) or not self.largest > 0:
            return 0.0
        share = min(max(gap / self.largest, -1.0), 1.0)
        return asinh(share * _BEND) / asinh(_BEND)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers on both sides of zero."""
        if not (isfinite(self.largest) and self.largest > 1e-300):
            return (0.0,)
        top = 10.0 ** floor(log10(self.largest) + 1e-9)
        found = [tick for tick in (top, top / 10) if self.largest / _BEND < tick]
        return (*(-tick for tick in found), 0.0, *reversed(found))


def gap_rows(
    rows: Sequence[GapRow], axis: GapAxis, top: float, *, pick: bool = True
) -> tuple[list[Item], float]:
    """Return the rows with their headings and their axis, and where they end."""
    bottom = top + _HEAD + len(rows) * ROW
    columns = _WITH_AVERAGES if any(row.average is not None for row in rows) else _PLAIN
    items: list[Item] = [*_headings(columns, top)]
    items += [
        _row(row, place, axis, columns, top + _HEAD + place * ROW, pick=pick)
        for place, row in enumerate(rows)
    ]
    # Over the rows: their plates take clicks, and would hide the zero line.
    items += _ticks(axis, columns, top + _HEAD, bottom)
    return items, bottom + 20


def _headings(columns: _Columns, top: float) -> list[Item]:
    averages = columns is _WITH_AVERAGES
    places = (
        ("formula", _LABEL, "start"),
        ("this step" if averages else "weight", columns.weight_end, "end"),
        *((("average", columns.average_end, "end"),) if averages else ()),
        ("gap", _END, "end"),
    )
    found: list[Item] = [
        Text(x=x, y=top + 11, text=words, look="quiet small", anchor="end" if anchor == "end" else "start")
        for words, x, anchor in places
    ]
    found.append(
        Text(
            x=columns.zero,
            y=top + 11,
            text="◂ too often · too rarely ▸" if averages else "◂ expected too often · too rarely ▸",
            look="quiet small",
            anchor="middle",
        )
    )
    return found


def _ticks(axis: GapAxis, columns: _Columns, top: float, bottom: float) -> list[Item]:
    """Return the zero line, and marks below the rows; as many items whatever the numbers are."""
    ticks, zero, half_width = axis.ticks, columns.zero, columns.half
    shown = [(zero + axis.place(tick) * half_width, value_words(tick)) for tick in ticks]
    texts: list[Item] = []
    end = float("-inf")
    for place in range(5):
        x, words = shown[place] if place < len(shown) else (zero, "")
        half = text_width(words, "small") / 2
        words = words if x - half > end + 3 else ""
        end = x + half if words else end
        texts.append(Text(x=x, y=bottom + 14, text=words, look="quiet small", anchor="middle"))
    return [
        Path(path=polyline([(zero, top - 2), (zero, bottom)]), look="frame"),
        Path(path=polyline([(zero - half_width, bottom), (zero + half_width, bottom)]), look="frame"),
        Path(path=segments(((x, bottom), (x, bottom + 3)) for x, _ in shown), look="frame"),
        *texts,
    ]


def _row(row: GapRow, place: int, axis: GapAxis, columns: _Columns, y: float, *, pick: bool) -> Group:
    reach = axis.place(row.gap) * columns.half
    noise = axis.place(_NOISE * row.error) * columns.half
    beyond = abs(row.gap) > _NOISE * row.error
    hue = "bar orange" if row.gap < 0 else "bar blue"
    small = text_width(row.label) > _LABEL_END - _LABEL  # a formula of three atoms is not cut
    label = fit_text(row.label, _LABEL_END - _LABEL, "small" * small)
    y_text = BAR - 1.5
    return Group(
        id=numbered_id("formula", row.number),
        y=y,
        pick=pick,
        tooltip=tooltip(row.label, row.tip),
        children=(
            Rectangle(x=2, y=-2, width=WIDTH - 4, height=ROW - 2, look="plate", corner=3),
            Rectangle(x=columns.zero - noise, y=-1, width=2 * noise, height=BAR + 2, look="shaded"),
            Rectangle(
                x=columns.zero + min(reach, 0.0), y=0, width=abs(reach), height=BAR,
                look=hue if beyond else f"{hue} washed",
            ),
            Group(x=15, y=BAR - 6, children=(sample(place),)),  # as its weight is drawn among the curves
            Text(x=_LABEL, y=y_text, text=label, look=f"words{' small' * small}"),
            *_numbers(row, columns, y_text),
            Text(
                x=columns.mark, y=y_text, text=fit_text(row.mark, columns.mark_room, "small"),
                look="quiet small",
            ),
            Text(x=_END, y=y_text, text=_short(row.gap), look="number", anchor="end"),
        ),
    )  # fmt: skip


def _numbers(row: GapRow, columns: _Columns, y: float) -> list[Item]:
    """Return the weight, and beside it the average that is returned, where it is one."""
    found: list[Item] = [
        Text(x=columns.weight_end, y=y, text=_weight(row.weight), look="number", anchor="end")
    ]
    if row.average is not None:
        found.append(Text(x=columns.average_end, y=y, text=_weight(row.average), look="number", anchor="end"))
    return found


def _weight(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 100 else f"{value:+.4g}"


def _short(gap: float) -> str:
    """Return a gap in few letters; next to nothing is zero."""
    if abs(gap) < 5e-7:
        return "0"
    return f"{gap:+.2g}" if abs(gap) < 0.01 else f"{gap:+.3g}"

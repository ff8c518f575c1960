"""The probabilities that a sampler has found so far: bars with whiskers, or a dot for each query."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import fit
from mlnlab.display.chart.bars import WIDTH, Bar, bar_frame, count_in_bins, spread_scene
from mlnlab.display.chart.plots import Box
from mlnlab.display.inference.probabilities import error_in_words, probability_in_words
from mlnlab.display.inference.samplers.samplers_view import SamplerView
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.inference.sampling.estimates import LARGE_R_HAT

if TYPE_CHECKING:
    from typing import Any

    from mlnlab.display.runs.runs import Draw
    from mlnlab.inference.sampling.estimates import QueryEstimates
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_DOTS = 500
_NUMBERS = 176.0  # pixels for a probability, its error and a doubt
_NOTHING = "–"


def probabilities_part(view: SamplerView) -> Draw:
    """Return a function that draws a bar for each query; only moving parts are drawn anew for a step."""
    names = [view.name(place) for place in view.shown]
    frame = bar_frame(names, [numbered_id("atom", place) for place in view.shown], _NUMBERS)
    explained, height = legend(_entries(view), 8, frame.height + 6, WIDTH - 16)
    rest = _sentence(view.rest, frame.height + height + 22)
    fixed = (Layer("axis", frame.axis()), Layer("explained", (explained, *rest), zooms=False))
    total = frame.height + height + 10 + 20 * len(rest)
    known = view.reader.known

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        found = view.estimates(step.state)
        rows = tuple(
            frame.row(row, _bar(found, place, known=bool(known[place]), exact=view.exact.get(place)))
            for row, place in enumerate(view.shown)
        )
        return Scene(WIDTH, total, (Layer("rows", rows), *fixed), "Probabilities", view.rest)

    return draw


def _sentence(words: str, y: float) -> tuple[Item, ...]:
    return (Text(x=8, y=y, text=words, look="quiet small"),) if words else ()


def _entries(view: SamplerView) -> list[Entry]:
    whisker = Path(
        path=segments([((-8, 0), (8, 0)), ((-8, -4), (-8, 4)), ((8, -4), (8, 4))]), look="curve grey"
    )
    doubt = Text(x=-6, y=4.5, text="▲", look="words small")
    tick = Path(path=segments([((0, -8), (0, 8))]), look="curve orange thick")
    found = [
        Entry(whisker, "± one standard error"),
        Entry(doubt, f"R-hat above {LARGE_R_HAT}: chains disagree"),
    ]
    return [*found, Entry(tick, "exact")] if view.exact else found


def _bar(found: QueryEstimates, place: int, *, known: bool, exact: float | None) -> Bar:
    value = float(found.probabilities[place])
    if known:
        return Bar("", value, f"{value:.0f} · fact", known=True)
    if not isfinite(value):
        return Bar("", value, _NOTHING, exact=exact, tip="no samples yet")
    error, r_hat = float(found.errors[place]), float(found.r_hats[place])
    words = probability_in_words(value)
    if not isfinite(r_hat):
        return Bar("", value, words, exact=exact, tip="too few samples to say how far off it may be")
    size = float(found.effective_sizes[place])
    apart = r_hat > LARGE_R_HAT
    tip = (
        f"{words} ± {error_in_words(error)}\nR-hat {r_hat_in_words(r_hat)}{': the chains disagree' * apart}\n"
        f"{size:,.0f} effective samples"
    )
    doubt = f"▲ {r_hat_in_words(r_hat)}" if apart else ""
    return Bar(
        "", value, f"{words} ± {error_in_words(error)}", error=error, exact=exact, doubt=doubt, tip=tip
    )


def r_hat_in_words(r_hat: float) -> str:
    """Return R-hat with two places; where chains never move, it has no bound."""
    return f"{r_hat:.2f}" if r_hat < 10 else "over 10"


# --- many queries ---------------------------------------------------------------------------------

_HEIGHT, _DOT = 200.0, 3.0


def overview_part(view: SamplerView) -> Draw:
    """Return a function that draws one dot per query (up to ``MOST_DOTS``), else a histogram."""
    number = len(view.reader.names)
    return _dots_part(view) if number <= MOST_DOTS else _spread_part(view)


def _spread_part(view: SamplerView) -> Draw:
    sampled = ~view.reader.known

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        values = view.estimates(step.state).probabilities[sampled]
        values = values[np.isfinite(values)]
        description = f"How {len(values):,} sampled probabilities spread between 0 and 1, in twenty parts."
        return spread_scene(count_in_bins(values.tolist()), "All probabilities", description)

    return draw


def _dots_part(view: SamplerView) -> Draw:
    names = view.reader.names
    box = Box(40, 10, WIDTH - 56, _HEIGHT)
    right = [box.x + (place + 0.5) / len(names) * box.width for place in range(len(names))]
    tips = [fit(tooltip(view.name(place))) for place in range(len(names))]
    known = view.reader.known
    entries = [
        Entry(Path(path=_square(0, 0), look="bar blue"), "sampled"),
        Entry(Path(path=_square(0, 0), look="bar grey"), "a fact"),
        Entry(Path(path=_rhomb(0, 0), look="bar orange"), f"R-hat above {LARGE_R_HAT}: chains disagree"),
    ]
    explained, height = legend(entries, 8, _HEIGHT + 34, WIDTH - 16)
    fixed = (Layer("axis", _axis(box, len(names))), Layer("explained", (explained,), zooms=False))

    def dot(place: int, value: float, r_hat: float, fact: bool) -> Path:
        apart = r_hat > LARGE_R_HAT
        words = f"{value:.0f} · fact" if fact else probability_in_words(value) if value == value else _NOTHING  # noqa: PLR0124 - NaN
        y = box.y + (1 - value) * box.height if value == value else box.y + box.height  # noqa: PLR0124
        doubt = f"\nR-hat {r_hat_in_words(r_hat)}: the chains disagree" if apart else ""
        look = "bar orange" if apart else "bar grey" if fact else "bar blue"
        path = _rhomb(right[place], y) if apart else _square(right[place], y)
        return Path(
            id=f"atom-{place}", path=path, look=look, pick=True, tooltip=f"{tips[place]}\n{words}{doubt}"
        )

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        found = view.estimates(step.state)
        columns = (found.probabilities.tolist(), found.r_hats.tolist(), known.tolist())
        dots = tuple(map(dot, range(len(names)), *columns))
        return Scene(WIDTH, _HEIGHT + height + 38, (*fixed, Layer("dots", dots)), "All probabilities")

    return draw


def _square(x: float, y: float) -> str:
    return f"M{x - 2.5:.1f} {y - 2.5:.1f}h5v5h-5Z"


def _rhomb(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5Z"


def _axis(box: Box, number: int) -> tuple[Item, ...]:
    bottom, end = box.y + box.height, box.x + box.width
    levels = ((bottom, "0"), (box.y + box.height / 2, "½"), (box.y, "1"))
    return (
        Path(path=segments(((box.x, y), (end, y)) for y, _ in levels), look="link thin faint"),
        *(Text(x=box.x - 6, y=y + 4, text=words, look="number small", anchor="end") for y, words in levels),
        Text(x=box.x, y=bottom + 18, text=f"{number:,} queries in the order asked", look="quiet small"),
    )

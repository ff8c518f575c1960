"""Draw samplers at work: the probabilities found so far, and how far these can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, fit, shorten_text
from mlnlab.display.chart.axes import place_axis, value_axis
from mlnlab.display.chart.bars import (
    BAR,
    ROW,
    WIDTH,
    Bar,
    bar_frame,
    short_label,
)
from mlnlab.display.chart.curves import spread_chart, vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, plot_items
from mlnlab.display.inference.probabilities import error_in_words, probability_in_words
from mlnlab.display.inference.samplers.samplers_view import MOST_CHOSEN, MOST_ROWS, SamplerView, sampler_view
from mlnlab.display.inference.samplers.samplers_worlds import chains_part, worlds_part
from mlnlab.display.nodelink.ground_network_scenes import network_part
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.inference.lazy.lazy_answers import LazyReader
from mlnlab.inference.sampling.estimates import FEW_SAMPLES, LARGE_R_HAT, QueryEstimates

if TYPE_CHECKING:
    from mlnlab.display.runs.runs import Draw
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.lazy.lazy_chains import LazyState
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_DOTS = 500
_NUMBERS = 176.0  # pixels for a probability, its error and a doubt
_NOTHING = "–"
_TOP, _PLOT, _GAP = 40.0, 140.0, 12.0
_NUMBER, _SHORTEST = 64.0, 60.0
_END = 1.2  # R-hat at the right end of its track; what is larger gets an arrow head
_GREATEST = 10.0
_R_HAT, _EFFECTIVE = "largest_r_hat", "smallest_effective_size"


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

_HEIGHT = 200.0


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
        return spread_chart(values, "All probabilities", description).draw()

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


# --- convergence ----------------------------------------------------------------------------------


def convergence_part(view: SamplerView) -> Draw:
    """Return a function that draws R-hat and effective sample size by query, and the worst over the run."""
    shown = [place for place in view.shown if not view.reader.known[place]]
    names = [short_label(view.name(place)) for place in shown]
    left = max(map(text_width, names), default=0.0) + 14
    track = max((WIDTH - left - 2 * _NUMBER - 16) / 2, _SHORTEST)
    second = left + track + _NUMBER + 16
    labels = [Text(x=left - 8, y=BAR - 1.5, text=name, look="words", anchor="end") for name in names]
    tips = [tooltip(view.name(place)) for place in shown]
    bottom = _TOP + len(shown) * ROW + 6
    fixed = Layer("axis", _headings(left, second, track, bottom))

    def row(number: int, found: QueryEstimates, most: float) -> Group:
        place = shown[number]
        r_hat, size = float(found.r_hats[place]), float(found.effective_sizes[place])
        return Group(
            id=numbered_id("atom", place),
            y=_TOP + number * ROW,
            pick=True,
            tooltip=f"{tips[number]}\n{_in_words(r_hat, size)}",
            children=(labels[number], *_r_hat(r_hat, left, track), *_size(r_hat, size, second, track, most)),
        )

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        found = view.estimates(step.state)
        sizes = found.effective_sizes[shown]
        most = max(float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0, 4 * FEW_SAMPLES)
        rows = tuple(row(number, found, most) for number in range(len(shown)))
        plots = _over_the_run(step, trace, bottom)
        height = bottom + _PLOT + _GAP
        return Scene(WIDTH, height, (fixed, Layer("rows", rows), Layer("plots", plots)), "Convergence")

    return draw


def _in_words(r_hat: float, size: float) -> str:
    if not isfinite(r_hat):
        return "too few samples to tell"
    judged = "the chains disagree" if r_hat > LARGE_R_HAT else "the chains agree"
    few = ", which are few" if size < FEW_SAMPLES else ""
    return f"R-hat {r_hat_in_words(r_hat)}: {judged}\n{size:,.0f} effective samples{few}"


def _headings(left: float, second: float, track: float, bottom: float) -> tuple[Item, ...]:
    limit = left + (LARGE_R_HAT - 1) / (_END - 1) * track
    return (
        Text(x=left, y=14, text="R-hat", look="words strong"),
        Text(x=left, y=30, text="1", look="quiet small", anchor="middle"),
        Text(x=limit, y=30, text=f"{LARGE_R_HAT}", look="quiet small", anchor="middle"),
        Path(path=segments([((limit, 34), (limit, bottom - 6))]), look="frame dashed"),
        Path(path=segments([((left, 34), (left, bottom - 6))]), look="frame"),
        Text(x=second, y=14, text="effective samples", look="words strong"),
        Text(x=second, y=30, text="0", look="quiet small", anchor="middle"),
        Path(path=segments([((second, 34), (second, bottom - 6))]), look="frame"),
    )


def _r_hat(r_hat: float, left: float, track: float) -> tuple[Item, ...]:
    """Return a stem with a head: round where chains agree, a rhomb where not, a triangle beyond the end."""
    known = isfinite(r_hat)
    share = min(max((r_hat - 1) / (_END - 1), 0.0), 1.0) if known else 0.0
    x, y = left + share * track, BAR / 2
    apart = r_hat > LARGE_R_HAT
    if not known:
        head = ""
    elif r_hat > _END:
        head = f"M{x - 4:.1f} {y - 5:.1f}l9 5l-9 5Z"
    elif apart:
        head = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6Z"
    else:
        head = f"M{x - 4:.1f} {y:.1f}A4 4 0 0 1 {x + 4:.1f} {y:.1f}A4 4 0 0 1 {x - 4:.1f} {y:.1f}Z"
    words = f"{'▲ ' * apart}{r_hat_in_words(r_hat)}" if known else "–"
    hue = "orange" if apart else "blue"
    return (
        Path(path=segments([((left, y), (x, y))]) if known else "", look=f"curve {hue}"),
        Path(path=head, look=f"bar {hue}"),
        Text(x=left + track + 10, y=BAR - 1.5, text=words, look="number"),
    )


def _size(r_hat: float, size: float, left: float, track: float, most: float) -> tuple[Item, ...]:
    known = isfinite(r_hat)
    few = size < FEW_SAMPLES
    words = f"{'▲ ' * few}{size:,.0f}" if known else "–"
    width = min(size / most, 1.0) * track if known else 0.0
    look = "bar orange" if few else "bar blue"
    return (
        Rectangle(x=left, y=0, width=width, height=BAR, look=look),
        Text(x=left + track + 8, y=BAR - 1.5, text=words, look="number"),
    )


def _over_the_run(step: Step[Any], trace: Trace[Any], top: float) -> tuple[Item, ...]:
    """Return the worst of both over the recorded steps up to this one."""
    found = trace.metrics()
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    half = (WIDTH - _GAP) / 2
    items: list[Item] = []
    wanted = (
        (_R_HAT, f"largest R-hat (drawn up to {_GREATEST:.0f})", LARGE_R_HAT),
        (_EFFECTIVE, "smallest effective sample size", FEW_SAMPLES),
    )
    for number, (metric, title, level) in enumerate(wanted):
        values = found.columns[metric][past] if metric in found.columns else np.full(len(steps), np.nan)
        if metric == _R_HAT:  # chains that never move have none that could be drawn
            values = np.minimum(values, _GREATEST)
        line = Line(title, steps, values)
        across = place_axis(0, float(steps[-1]) if len(steps) else 1.0, whole=True)
        around = (1.0, 1.1) if metric == _R_HAT else (0.0, 2 * level)
        vertical = vertical_axis((line,), around=around) if len(steps) else value_axis(*around)
        plot = Plot(title, (line,), across, vertical, level=level)
        items += plot_items(plot, Box(number * (half + _GAP), top, half, _PLOT), number)
    return tuple(items)


# --- pictures -------------------------------------------------------------------------------------

MOST_IN_TABLE = 2_000
MOST_IN_NETWORK = 150  # atoms: a live picture is drawn many times a second
_COLUMNS = columns_of(("query", "probability", "standard error", "R-hat", "effective samples"), range(1, 5))


def sampler_picture(
    sampler: Sampler,
    *,
    queries: Sequence[str] | None = None,
    compared: Sequence[str] | None = None,
    exact: Mapping[str, float] | None = None,
) -> RunPicture:
    """Return the pictures of a sampler's run; the model is grounded once, here.

    ``queries`` are drawn one by one (else the first 40), of ``compared`` (else the first 6 of these) is drawn
    what each chain alone says, and ``exact`` are known probabilities to compare with, such as marginals.
    """
    view = sampler_view(sampler, queries, compared, exact)
    name = sampler.method.name
    return _picture(view, f"{name[:1].upper()}{name[1:]} sampling")


def _picture(view: SamplerView, title: str) -> RunPicture:
    return RunPicture(
        title=title,
        parts=_parts(view),
        caption=lambda step: _caption(view, step),
        remarks=lambda step: [*view.reader.warnings(step.state), *([view.rest] if view.rest else [])],
        table=lambda step: _table(view, step),
        choose=lambda name: _choose_atom(view, title, name),
    )


def _choose_atom(view: SamplerView, title: str, name: str) -> RunPicture | None:
    """Return the pictures in which the chains are compared on an atom that was clicked, first of all."""
    word, _, number = name.rpartition("-")
    place = int(number) if word == "atom" and number.isdecimal() else -1
    if place not in view.shown or view.reader.known[place]:
        return None
    others = [other for other in view.chosen if other != place]
    return _picture(replace(view, chosen=(place, *others)[:MOST_CHOSEN]), title)


def _parts(view: SamplerView) -> dict[str, Draw]:
    parts = {"probabilities": probabilities_part(view)}
    if len(view.reader.names) > MOST_ROWS:
        parts["all probabilities"] = overview_part(view)
    if view.chains is not None:
        parts["chains"] = chains_part(view, view.chains)
        parts["worlds"] = worlds_part(view, view.chains)
        if view.chains.ground.clauses.number_of_atoms <= MOST_IN_NETWORK:
            parts["network"] = network_part(view.chains)
    return {**parts, "convergence": convergence_part(view)}


def _caption(view: SamplerView, step: Step[Any]) -> str:
    if isinstance(view.reader, LazyReader):
        return _slices_in_words(view.reader, step.state)
    if view.chains is None:
        return f"step {step.index:,}"
    return sweeps_in_words(view.chains, step.state)


def _slices_in_words(reader: LazyReader, state: LazyState) -> str:
    """Return how far lazy sampling has come, and how much it holds at a time."""
    words = f"slice {state.sweeps:,} of {reader.burn_in + reader.samples:,}"
    held = f"{count_of(state.atoms, 'atom')} and {count_of(state.clauses, 'clause')} at a time"
    if not state.samples:
        return f"{words}, burn-in; {held}"
    samples = count_of(state.samples, "sample")
    return f"{words}, {samples} from each of {count_of(len(state.chains), 'chain')}; {held}"


def sweeps_in_words(reader: ChainsReader, state: Any) -> str:  # noqa: ANN401 - any state with chains
    """Return how far a run has come: ``sweep 120 of 5,500, burn-in``."""
    words = f"sweep {state.sweeps:,} of {reader.sweeps:,}"
    if state.sweeps < reader.burn_in:
        return f"{words}, burn-in"
    samples = count_of(state.batches.samples, "sample")
    return f"{words}, {samples} from each of {count_of(state.batches.chains, 'chain')}"


def _table(view: SamplerView, step: Step[Any]) -> Table:
    """Return the numbers of all queries; those that are not known yet are empty."""
    found = view.estimates(step.state)
    names, known = view.reader.names, view.reader.known.tolist()
    columns = (found.probabilities, found.errors, found.r_hats, found.effective_sizes)
    rows = zip(*(column[:MOST_IN_TABLE].tolist() for column in columns), strict=True)
    written = tuple(
        (shorten_text(view.name(place), 200), *_cells(*row, fact=known[place]))
        for place, row in enumerate(rows)
    )
    left_out = len(names) - len(written)
    title = "Probabilities" if not left_out else f"The first {len(written):,} of {len(names):,} probabilities"
    return Table(title, _COLUMNS, written)


def _cells(
    probability: float, error: float, r_hat: float, size: float, *, fact: bool
) -> tuple[float | str, ...]:
    if fact or not isfinite(probability):
        return (probability if fact else "", "", "", "")
    if not isfinite(r_hat):
        return (round(probability, 6), "", "", "")
    return (round(probability, 6), float(f"{error:.2g}"), round(r_hat, 3), round(size))

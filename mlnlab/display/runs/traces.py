"""Recordings of runs in a cell: the curves of their metrics, some of their steps, where two runs part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.curves import (
    MOST_PLOTS,
    Chart,
    curve_plot,
    describe_choice,
    evenly,
    learning_curve_scene,
    left_out,
    value_cell,
)
from mlnlab.errors import MlnlabError
from mlnlab.steps.recordings.learning_curve import LearningCurve, Series
from mlnlab.steps.recordings.trace import Trace

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.steps.recordings.comparison import Comparison

_MOST_STEPS = 20  # in the table
_LONGEST = 60
_MOST_COMPARED = 2_000  # pairs of states; more are compared by their metrics alone
_LONGEST_SENTENCE = 600

# --- one run --------------------------------------------------------------------------------------


def trace_chart(trace: Trace[Any]) -> Chart:
    """Return the metrics of a recorded run, each over its own axis."""
    curve = LearningCurve.from_trace(trace)
    plots = tuple(curve_plot(curve, (series,), series.name) for series in curve.series[:MOST_PLOTS])
    return Chart(f"Recorded run of {trace.recorded:,} steps", plots)


def trace_scene(trace: Trace[Any]) -> Scene | None:
    """Return the curves of a recording's metrics; none where it has no numbers."""
    curve = LearningCurve.from_trace(trace)
    return learning_curve_scene(curve) if _has_values(curve) else None


def _has_values(curve: LearningCurve) -> bool:
    return any(np.isfinite(series.values).any() for series in curve.series)


def trace_card(trace: Trace[Any]) -> Card:
    """Return the card of a recording."""
    curve = LearningCurve.from_trace(trace)
    scene = learning_curve_scene(curve) if _has_values(curve) else None
    known = len(trace.metrics())
    return Card(
        "Recorded run",
        _sizes(trace, curve),
        picture=scene,
        alternative=f"Curves of {count_of(len(curve), 'metric')} over {count_of(trace.recorded, 'step')}.",
        undrawn="Its states have no metrics to draw." if len(trace) else "Nothing has been recorded yet.",
        table=_steps_table(trace, curve) if len(trace) else None,
        remarks=(*_remarks(trace, curve, scene), describe_choice(min(_MOST_STEPS, known), known)),
    )


def _sizes(trace: Trace[Any], curve: LearningCurve) -> str:
    watched = len(set(trace.watches) & set(curve.names))
    metrics = count_of(len(curve) - watched, "metric")
    watches = f", {count_of(watched, 'watch', 'watches')}" if watched else ""
    return f"{count_of(trace.recorded, 'step')}, {metrics}{watches}"


def _remarks(trace: Trace[Any], curve: LearningCurve, scene: Scene | None) -> list[str]:
    """List the dropped states, and the parts that are not drawn."""
    found = [] if scene is None else left_out(curve, scene)
    if len(trace) < trace.recorded:
        found.append(
            f"To stay in its memory it kept {len(trace):,} of {trace.recorded:,} states, evenly over the run;"
            f" metrics are known of {count_of(len(trace.metrics()), 'step')}."
        )
    return found


def _steps_table(trace: Trace[Any], curve: LearningCurve) -> Table:
    """Return the first, the last and evenly chosen steps with their numbers."""
    found = trace.metrics()
    places = evenly(len(found), _MOST_STEPS)
    names = curve.names[:MOST_PLOTS]
    rows = (
        (
            f"{found.indices[place]:,}",
            f"{found.seconds[place]:.3g}",
            *(value_cell(found.columns[name][place]) for name in names),
        )
        for place in places.tolist()
    )
    watched = set(trace.watches)
    headings = (*(shorten_text(name, _LONGEST) + " (watched)" * (name in watched) for name in names),)
    headings = ("step", "seconds", *headings)
    name = "some of its steps"
    return table_of(headings, rows, len(places), "steps", numbers=range(len(headings)), name=name)


# --- two runs -------------------------------------------------------------------------------------


def comparison_chart(comparison: Comparison) -> Chart:
    """Return the metrics that two runs have in common, each over its own axis."""
    curves = shared_curves(comparison)[:MOST_PLOTS]
    plots = tuple(curve_plot(curve, curve.series, curve.measure) for curve in curves)
    return Chart("Two runs", plots, f"{count_of(len(plots), 'metric')} of two runs.")


def comparison_scene(comparison: Comparison) -> Scene | None:
    """Return the metrics that two runs have in common as curves over each other."""
    return comparison_chart(comparison).scene()


def shared_curves(comparison: Comparison) -> list[LearningCurve]:
    """Return a curve for each metric that two runs have in common."""
    left, right = comparison.left.metrics(), comparison.right.metrics()
    found = []
    for name in left.columns:
        if name in right.columns:
            series = (
                Series("left", left.indices.astype(np.float64), left[name], left.seconds),
                Series("right", right.indices.astype(np.float64), right[name], right.seconds),
            )
            curve = LearningCurve(series, name)
            found += [curve] if _has_values(curve) else []
    return found


def comparison_card(comparison: Comparison) -> Card:
    """Return the card of two runs side by side."""
    return Card(
        "Two runs side by side",
        count_of(len(comparison), "pair of steps", "pairs of steps"),
        lead=(where_they_part(comparison), _alone(comparison)),
        picture=comparison_scene(comparison),
        alternative="Curves of two runs over each other; the table has their largest differences.",
        undrawn="They have no metric in common to draw.",
        table=_differences_table(comparison) if len(comparison) else None,
    )


def where_they_part(comparison: Comparison) -> str:
    """Say in one sentence where two runs part."""
    if not len(comparison):
        return "No step of one run belongs to a step of the other."
    exact = len(comparison) <= _MOST_COMPARED
    try:
        parted = comparison.first_divergence(tolerance=None if exact else 0.0)
    except MlnlabError as problem:
        return shorten_text(str(problem), _LONGEST_SENTENCE)
    if parted is not None:
        return shorten_text(str(parted), _LONGEST_SENTENCE)
    compared = "" if exact else " in their metrics; their states were not compared, because they are many"
    return f"The runs do not diverge: all {len(comparison):,} pairs of steps are the same{compared}."


def _alone(comparison: Comparison) -> str:
    sides = ((comparison.only_left, "left"), (comparison.only_right, "right"))
    parts = [f"{count_of(len(steps), 'step')} only {side}" for steps, side in sides if steps]
    return f"Without a partner: {' and '.join(parts)}." if parts else ""


def _differences_table(comparison: Comparison) -> Table:
    largest = comparison.largest_differences()
    rows = ((shorten_text(name, _LONGEST), value_cell(value)) for name, value in largest.items())
    return table_of(
        ("metric", "largest difference"), rows, len(largest), "metrics", numbers=(1,),
        where="to_frame() has all steps", name="largest differences",
    )  # fmt: skip

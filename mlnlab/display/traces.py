"""Recordings of runs in a cell: the curves of their metrics, some of their steps, where two runs part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.axes import value_words
from mlnlab.display.curves import (
    MOST_PLOTS,
    chosen_rows,
    curve_plot,
    evenly,
    learning_curve_scene,
    left_out,
    plots_scene,
    value_cell,
)
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.errors import MlnlabError
from mlnlab.steps.learning_curve import LearningCurve, Series
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.steps.comparison import Comparison

_MOST_STEPS = 20  # in the table
_LONGEST = 60
_MOST_COMPARED = 2_000  # pairs of states; more are compared by their metrics alone
_LONGEST_SENTENCE = 600

# --- one run --------------------------------------------------------------------------------------


def trace_scene(trace: Trace[Any]) -> Scene | None:
    """Return the curves of a recording's metrics; none where it has no numbers."""
    curve = LearningCurve.from_trace(trace)
    return learning_curve_scene(curve) if _has_values(curve) else None


def _has_values(curve: LearningCurve) -> bool:
    return any(np.isfinite(series.values).any() for series in curve.series)


def trace_display(trace: Trace[Any]) -> Element:
    """Return the display of a recording."""
    curve = LearningCurve.from_trace(trace)
    scene = learning_curve_scene(curve) if _has_values(curve) else None
    alternative = f"Curves of {count_of(len(curve), 'metric')} over {count_of(trace.recorded, 'step')}."
    return card(
        title("Recorded run", _sizes(trace, curve)),
        scene_image(scene, alternative) if scene is not None else quiet(_why_empty(trace)),
        *(quiet(sentence) for sentence in _remarks(trace, curve, scene)),
        folded("some of its steps", _steps_table(trace, curve)) if len(trace) else None,
    )


def _sizes(trace: Trace[Any], curve: LearningCurve) -> str:
    watched = len(set(trace.watches) & set(curve.names))
    metrics = count_of(len(curve) - watched, "metric")
    watches = f", {count_of(watched, 'watch', 'watches')}" if watched else ""
    return f"{count_of(trace.recorded, 'step')}, {metrics}{watches}"


def _why_empty(trace: Trace[Any]) -> str:
    return "Its states have no metrics to draw." if len(trace) else "Nothing has been recorded yet."


def _remarks(trace: Trace[Any], curve: LearningCurve, scene: Scene | None) -> list[str]:
    """Say what was dropped, and what is not drawn."""
    found = [] if scene is None else left_out(curve, scene)
    if len(trace) < trace.recorded:
        found.append(
            f"To stay in its memory it kept {len(trace):,} of {trace.recorded:,} states, evenly over the run;"
            f" metrics are known of {count_of(len(trace.metrics()), 'step')}."
        )
    return found


def _steps_table(trace: Trace[Any], curve: LearningCurve) -> Element:
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
    headings = (*(shortened(name, _LONGEST) + " (watched)" * (name in watched) for name in names),)
    return chosen_rows(("step", "seconds", *headings), rows, len(places), len(found))


def trace_text(trace: Trace[Any]) -> str:
    """Return a recording as text: the first and the last value of each metric."""
    curve = LearningCurve.from_trace(trace)
    lines = []
    for series in curve.series[:_MOST_STEPS]:
        known = series.values[np.isfinite(series.values)]
        span = (
            f"{value_words(float(known[0]))} → {value_words(float(known[-1]))}" if len(known) else "no values"
        )
        lines.append(f"  {shortened(series.name)}: {span}")
    return "\n".join([repr(trace), *lines])


# --- two runs -------------------------------------------------------------------------------------


def comparison_scene(comparison: Comparison) -> Scene | None:
    """Return the curves of two runs over each other, a plot for each metric that both have."""
    curves = shared_curves(comparison)
    if not curves:
        return None
    plots = [curve_plot(curve, curve.series, curve.measure) for curve in curves[:MOST_PLOTS]]
    return plots_scene(plots, "Two runs", f"{count_of(len(plots), 'metric')} of two runs.")


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


def comparison_display(comparison: Comparison) -> Element:
    """Return the display of two runs side by side."""
    scene = comparison_scene(comparison)
    alternative = "Curves of two runs over each other; the table has their largest differences."
    pairs = count_of(len(comparison), "pair of steps", "pairs of steps")
    return card(
        title("Two runs side by side", pairs),
        quiet(where_they_part(comparison)),
        quiet(alone) if (alone := _alone(comparison)) else None,
        scene_image(scene, alternative)
        if scene is not None
        else quiet("They have no metric in common to draw."),
        folded("largest differences", _differences_table(comparison)) if len(comparison) else None,
    )


def where_they_part(comparison: Comparison) -> str:
    """Say in one sentence where two runs part."""
    if not len(comparison):
        return "No step of one run belongs to a step of the other."
    exact = len(comparison) <= _MOST_COMPARED
    try:
        parted = comparison.first_divergence(tolerance=None if exact else 0.0)
    except MlnlabError as problem:
        return shortened(str(problem), _LONGEST_SENTENCE)
    if parted is not None:
        return shortened(str(parted), _LONGEST_SENTENCE)
    compared = "" if exact else " in their metrics; their states were not compared, because they are many"
    return f"The runs do not part: all {len(comparison):,} pairs of steps are the same{compared}."


def _alone(comparison: Comparison) -> str:
    sides = ((comparison.only_left, "left"), (comparison.only_right, "right"))
    parts = [f"{count_of(len(steps), 'step')} only {side}" for steps, side in sides if steps]
    return f"Without a partner: {' and '.join(parts)}." if parts else ""


def _differences_table(comparison: Comparison) -> Element:
    largest = comparison.largest_differences()
    rows = ((shortened(name, _LONGEST), value_cell(value)) for name, value in largest.items())
    return bounded_table(
        ("metric", "largest difference"), rows, len(largest), "metrics", numbers=(1,),
        where="to_frame() has all steps",
    )  # fmt: skip


def comparison_text(comparison: Comparison) -> str:
    """Return two runs side by side as text."""
    return f"{comparison!r}\n{where_they_part(comparison)}"

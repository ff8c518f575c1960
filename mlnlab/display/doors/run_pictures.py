"""The one door to pictures of runs: whatever goes step by step can be watched.

A new algorithm adds a file with a function from its source (or from its states) to a :class:`RunPicture`, and
a line to a table in ``display_registry.py``. A source without a line is drawn by its metrics.
"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.curves import MOST_PLOTS, evenly, metric_plots, plots_scene
from mlnlab.display.doors.display_registry import (
    LEARNER_PICTURES,
    METHOD_PICTURES,
    RUN_PICTURES,
    STATE_PICTURES,
    function_at,
    home_of,
)
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.export import to_html
from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner


def picture_of(source: Any) -> RunPicture:  # noqa: ANN401 - anything that goes step by step
    """Return the pictures of a run, of a sampler, a recording, or any other source of states."""
    home = home_of(type(source), RUN_PICTURES)
    if home is None and isinstance(source, Trace) and len(source):
        home = home_of(type(source[0].state), STATE_PICTURES)
    picture: RunPicture = metrics_picture() if home is None else function_at(home)(source)
    return picture


def method_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of a run of an inference method: its own, or those of samplers."""
    usual = "mlnlab.display.inference.samplers.samplers:sampler_picture"
    picture: RunPicture = function_at(METHOD_PICTURES.get(sampler.method.name, usual))(sampler)
    return picture


def structure_picture(learner: StructureLearner) -> RunPicture:
    """Return the pictures of a run of a structure learner: its own, or those of any learner."""
    usual = "mlnlab.display.structure.structure_pictures:learner_picture"
    home = home_of(learner.method.state, LEARNER_PICTURES)
    picture: RunPicture = function_at(usual if home is None else home)(learner)
    return picture


# --- any states: their metrics --------------------------------------------------------------------


def metrics_picture(title: str = "Metrics of the run") -> RunPicture:
    """Return the picture of a run of which nothing but its metrics is known."""
    return RunPicture(
        title=title,
        parts={"metrics": metrics_scene},
        caption=_caption,
        remarks=lambda _step: (),
        table=_table,
    )


def metrics_scene(step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return a curve for each metric up to a step; the axis reaches to the last one that was recorded."""
    found = trace.metrics()
    plots = metric_plots(step, found, {name: name for name in list(found.columns)[:MOST_PLOTS]})
    number = len(found.columns)
    words = f"{len(plots)} of {number} metrics." if number > len(plots) else f"{count_of(number, 'metric')}."
    return plots_scene(plots, "Metrics", words)


def _caption(step: Step[Any]) -> str:
    metrics = list(step.state.metrics().items())
    shown = ", ".join(f"{shorten_text(name, 40)} {value_words(float(value))}" for name, value in metrics[:4])
    return f"step {step.index:,}{': ' * bool(shown)}{shown}"


def _table(step: Step[Any]) -> Table:
    rows = tuple(
        (shorten_text(name, 200), float(value) if isfinite(value) else value_words(float(value)))
        for name, value in step.state.metrics().items()
    )
    return Table("Metrics", columns_of(("metric", "value"), (1,)), rows)


# --- a page ---------------------------------------------------------------------------------------


def replay_page(
    source: Any,  # noqa: ANN401 - anything that goes step by step
    trace: Trace[Any] | None = None,
    path: str | Path | None = None,
    *,
    part: str | None = None,
    most: int = 200,
    picture: RunPicture | None = None,
) -> str:
    r"""Return a recorded run as one page with a scrubber that needs nothing else, and write it to a path.

    ``source`` is what made the states, or the recording itself; at most ``most`` steps are in the page,
    evenly chosen. ``part`` names one of the picture's parts.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1.5 Smokes(Anna)")
    >>> sampler = ml.sampler("gibbs", mln, ml.Database.from_text("", mln), ["Smokes"], samples=100)
    >>> page = ml.replay_page(sampler, ml.Trace.of(sampler))  # and path="run.html" to write it
    """
    recorded = source if trace is None else trace
    if not isinstance(recorded, Trace) or not len(recorded):
        raise ArgumentError("A page replays a recorded run: give a Trace that holds steps.")
    if most < 1:
        raise ArgumentError(f"A page holds 1 step or more, not {most}.")
    found = picture or picture_of(source)
    name = next(iter(found.parts)) if part is None else part
    if name not in found.parts:
        raise ArgumentError(f"There is no part {name!r:.60}; there is {', '.join(map(repr, found.parts))}.")
    chosen = [recorded[place] for place in evenly(len(recorded), most).tolist()]
    scenes = [found.parts[name](step, recorded) for step in chosen]
    return to_html(scenes, path, title=found.title, steps=[found.caption(step) for step in chosen])

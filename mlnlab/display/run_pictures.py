"""The one door to pictures of runs: whatever goes step by step can be watched.

A new algorithm adds a file with a function from its source (or from its states) to a :class:`RunPicture`, and
a line to one of the two tables below. What is in neither is drawn by its metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.counting.counting_states import CountingSteps
from mlnlab.display.axes import place_axis, value_words
from mlnlab.display.compile_pictures import compile_picture
from mlnlab.display.counts_steps import counting_picture
from mlnlab.display.curves import MOST_PLOTS, evenly, plots_scene, vertical_axis
from mlnlab.display.elimination_scenes import order_picture, query_picture
from mlnlab.display.factor_runs import factor_run_picture
from mlnlab.display.junction_tree_messages import passing_picture, tree_picture
from mlnlab.display.learning_pictures import learner_picture
from mlnlab.display.lift_pictures import lift_picture
from mlnlab.display.map_search import search_picture
from mlnlab.display.markup import count_of, shortened
from mlnlab.display.method_pictures import method_picture
from mlnlab.display.path_pictures import paths_picture
from mlnlab.display.plots import Line, Plot
from mlnlab.display.races import race_picture
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.export import to_html
from mlnlab.display.structure_pictures import structure_picture
from mlnlab.errors import ArgumentError
from mlnlab.factors.elimination_order import EliminationOrder
from mlnlab.factors.junction_tree import JunctionTree
from mlnlab.factors.message_passing import MessagePassing
from mlnlab.factors.variable_elimination import VariableElimination
from mlnlab.inference.factor_asking import FactorRun
from mlnlab.inference.sampling import Sampler
from mlnlab.inference.solving import Solver
from mlnlab.learning.learner import WeightLearner
from mlnlab.learning.race import Race
from mlnlab.learning.steering import SteeredLearner
from mlnlab.lifted.lift import Lift
from mlnlab.steps.trace import Trace
from mlnlab.structure.find_paths import FindPaths
from mlnlab.structure.lift_graph import LiftGraph
from mlnlab.structure.structure_learner import StructureLearner

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.steps.step import Step

Picturing: TypeAlias = Callable[[Any], RunPicture]

# By the type of what yields the states: it knows the model, so its pictures can name what they show.
OF_SOURCES: Mapping[type, Picturing] = {
    CountingSteps: counting_picture,
    EliminationOrder: order_picture,
    FactorRun: factor_run_picture,
    FindPaths: paths_picture,
    JunctionTree: tree_picture,
    Lift: compile_picture,
    LiftGraph: lift_picture,
    MessagePassing: passing_picture,
    Race: race_picture,
    Sampler: method_picture,
    Solver: search_picture,
    SteeredLearner: learner_picture,
    StructureLearner: structure_picture,
    VariableElimination: query_picture,
    WeightLearner: learner_picture,
}
# By the name of the states' type, with its module, for recordings whose source is not at hand; names, so that
# no algorithm is loaded before it is used.
OF_STATES: Mapping[str, Picturing] = {
    "mlnlab.counting.counting_states.CountingState": counting_picture,
}


def picture_of(source: Any) -> RunPicture:  # noqa: ANN401 - anything that goes step by step
    """Return the pictures of a run, of a sampler, a recording, or any other source of states."""
    for kind in type(source).__mro__:
        if kind in OF_SOURCES:
            return OF_SOURCES[kind](source)
    if isinstance(source, Trace) and len(source):
        for kind in type(source[0].state).__mro__:
            name = f"{kind.__module__}.{kind.__qualname__}"
            if name in OF_STATES:
                return OF_STATES[name](source)
    return metrics_picture()


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
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    across = place_axis(0, float(found.indices[-1]) if len(found) else 1.0, whole=True)
    plots = []
    for name in list(found.columns)[:MOST_PLOTS]:
        line = Line(name, steps, found.columns[name][past])
        plots.append(Plot(name, (line,), across, vertical_axis((line,)), marked=step.index))
    number = len(found.columns)
    words = f"{len(plots)} of {number} metrics." if number > len(plots) else f"{count_of(number, 'metric')}."
    return plots_scene(plots, "Metrics", words)


def _caption(step: Step[Any]) -> str:
    metrics = list(step.state.metrics().items())
    shown = ", ".join(f"{shortened(name, 40)} {value_words(float(value))}" for name, value in metrics[:4])
    return f"step {step.index:,}{': ' * bool(shown)}{shown}"


def _table(step: Step[Any]) -> Table:
    rows = tuple(
        (shortened(name, 200), float(value) if isfinite(value) else value_words(float(value)))
        for name, value in step.state.metrics().items()
    )
    return Table("Metrics", (Column("metric"), Column("value", number=True)), rows)


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
    """Return a recorded run as one page with a scrubber that needs nothing else, and write it to a path.

    ``source`` is what made the states, or the recording itself; at most ``most`` steps are in the page,
    evenly chosen. ``part`` names one of the picture's parts.
    """
    recorded = source if trace is None else trace
    if not isinstance(recorded, Trace) or not len(recorded):
        raise ArgumentError("A page replays a recorded run: hand over a Trace that holds steps.")
    if most < 1:
        raise ArgumentError(f"A page holds 1 step or more, not {most}.")
    found = picture or picture_of(source)
    name = next(iter(found.parts)) if part is None else part
    if name not in found.parts:
        raise ArgumentError(f"There is no part {name!r:.60}; there is {', '.join(map(repr, found.parts))}.")
    chosen = [recorded[place] for place in evenly(len(recorded), most).tolist()]
    scenes = [found.parts[name](step, recorded) for step in chosen]
    return to_html(scenes, path, title=found.title, steps=[found.caption(step) for step in chosen])

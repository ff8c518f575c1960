"""``ml.live`` and ``ml.stepper``: the same view of a run, once begun and once waiting for the first step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.grounding.networks.ground_network import GroundNetwork
from mlnlab.learning.ask.learner import WeightLearner
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.steps.recordings.trace import Trace
from mlnlab.structure.ask.structure_learner import StructureLearner
from mlnlab.structure.lift.lift_graph import LiftGraph
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.widgets.learn.dashboard import LearningDashboard
from mlnlab.widgets.learn.lift_view import LiftStepper
from mlnlab.widgets.learn.structure_view import StructureStepper
from mlnlab.widgets.run.run_view import RunView
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view.graph_view import graph_view
from mlnlab.widgets.view.scene_view import SceneView
from mlnlab.widgets.view.view_arguments import conditions, observers_of

if TYPE_CHECKING:
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer


def live(
    source: object,
    *,
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] | None = (),
    observers: Iterable[Observer] | None = (),
    delay: float = 0.0,
) -> RunView | SceneView:
    r"""Run an algorithm and watch it: a view with play, pause, step, back, stop, a scrubber and the speed.

    ``source`` is a sampler, any iterable of states, or a function that makes one. The call returns at once;
    the algorithm goes on in a thread, and cells can be run meanwhile. ``breaks`` pause it where a condition
    holds, ``stop`` ends it, ``delay`` is the least number of seconds from step to step.

    A weight learner gets its dashboard (``ml.dashboard``): what is learned can be changed on the way; so can
    the merges of LiftGraph.

    A graph (``ml.Hypergraph``, lifted or not, ``ml.GroundNetwork``) becomes a drawing whose groups open on a
    click.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> view = ml.live(ml.sampler("gibbs", mln, db, ["Cancer"], samples=100, burn_in=10, seed=1))
    >>> view.wait()
    >>> view.shown.state.samples
    100
    >>> view.close()
    """
    if isinstance(source, Hypergraph | LiftedHypergraph | GroundNetwork):
        return graph_view(source)
    view = stepper(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
    view.play()
    return view


def stepper(
    source: object,
    *,
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] | None = (),
    observers: Iterable[Observer] | None = (),
    delay: float = 1 / 3,
) -> RunView:
    r"""Step through an algorithm, forward and back; or through the steps that a trace recorded.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> view = ml.stepper(ml.sampler("gibbs", mln, db, ["Cancer"], burn_in=0, sweeps_per_state=1))
    >>> view.step(3)
    >>> view.shown.index, len(view.trace)
    (3, 4)
    >>> view.back()
    >>> view.shown.index
    2
    >>> view.close()
    """
    from mlnlab.counting.steps.cluster_steps import ClusterRun
    from mlnlab.widgets.run.flip_view import FlipStepper

    if isinstance(source, Trace) and any((stop, conditions(breaks), observers_of(observers))):
        raise ArgumentError(
            "A trace is only looked at: stop, breaks and observers are for algorithms that run."
        )
    if isinstance(source, LiftGraph):
        return LiftStepper(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
    if isinstance(source, ClusterRun):
        return FlipStepper(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
    if isinstance(source, StructureLearner):
        return StructureStepper(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
    if isinstance(source, WeightLearner):
        return LearningDashboard(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
    return RunView(Session(source, stop=stop, breaks=breaks, observers=observers, delay=delay))

"""Plain gradient ascent: uphill by a fixed rate (a skeleton to copy).

    w_{t+1} = w_t + η g_t / n,    g the gradient of the objective with its prior, n the size of the counts

Needs: the gradient, a rate that suits the data, a smooth prior. Answers: the weights of the last step. Not
where conditions are bad: then one rate is too small for some weights and too large for others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.problems.learning_state import LearningState, Move, state_at
from mlnlab.logic.checked_options import above, check_options, real
from mlnlab.steps.state_layout import Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from mlnlab.learning.problems.problem import Point, Problem


# --- parameters: frozen and checked ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Params:
    """How fast, how long, and when it is near enough."""

    rate: float = 0.5
    iterations: int = 100
    tolerance: float = 1e-6  # of the largest gap, relative to the counts

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, iterations=1, tolerance=real(0, endless=True), rate=above(0))


# --- what it keeps from step to step, beside the state that all optimisers share ------------------


@storable("skeleton.Inner")
@dataclass(frozen=True, slots=True)
class Inner:
    """How many steps went uphill; a method with a memory keeps it here."""

    uphill: int = field(default=0, metadata=holds(Whole()))


# --- the steps: a generator of states, all or those after ``start`` -------------------------------


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each step."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        move = Move(rate=params.rate, reason="the weights to begin with")  # a reason must not be empty
        state = state_at(point, None, move, Inner(), ended=find_end(params, point, 0))
        yield state
    else:
        state, point = start, problem.at_state(start)
    while not state.ended:
        began = time.perf_counter()
        reached, move = move_uphill(params, problem, point)
        inner = state.inner
        assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
        uphill = float((reached.parameters - point.parameters) @ point.gradient) > 0
        after = Inner(inner.uphill + uphill)
        state = state_at(reached, state, move, after, ended=find_end(params, reached, state.iteration + 1))
        spent = time.perf_counter() - began - reached.seconds
        point = reached
        yield state.with_stepping(spent)


def move_uphill(params: Params, problem: Problem, point: Point) -> tuple[Point, Move]:
    """Return the point a step uphill, and the move in words; bounds are respected."""
    step = params.rate * point.gradient / max(1.0, point.scale)  # Point.gradient points uphill
    parameters = problem.free.clip_parameters(point.parameters + step)
    size = float(np.linalg.norm(problem.free.spread(parameters - point.parameters)))
    reason = f"uphill by {params.rate:g} times the gradient"
    return problem.at(parameters, point.memory), Move(size, params.rate, reason=reason)


def find_end(params: Params, point: Point, iteration: int) -> str:
    """Say why learning ends here; empty where it goes on."""
    if float(np.abs(point.gap).max(initial=0.0)) <= params.tolerance * point.scale:
        return f"no gap is larger than {params.tolerance:g} of the counts"
    return f"{params.iterations} steps were taken" if iteration >= params.iterations else ""


# --- the record -----------------------------------------------------------------------------------

OPTIMIZER = Optimizer(
    name="plain-ascent",
    needs="the gradient; a rate that suits the data, rate=",
    needs_value=False,
    params=Params,
    citation="this page",
    steps=steps,
    keeps=Inner,
    takes_kinks=False,
)

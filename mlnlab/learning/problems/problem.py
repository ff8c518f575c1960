"""A learning problem: an objective, a prior, and the parameters behind the weights."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.problems.free_weights import FreeWeights
    from mlnlab.learning.problems.moments import Moments, Objective
    from mlnlab.learning.problems.priors import Priors

    Numbers = NDArray[np.float64]


class Standing(Protocol):
    """The position of a learner, as a state keeps it."""

    @property
    def parameters(self) -> Numbers:
        """The parameters."""

    @property
    def weights(self) -> Numbers:
        """The weights."""

    @property
    def memory(self) -> object:
        """The memory of the objective."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Maximise objective(w) + log prior(θ) over the parameters θ, with w = base + T θ."""

    objective: Objective
    free: FreeWeights
    priors: Priors

    def at(self, parameters: Numbers, memory: object = None) -> Point:
        """Evaluate the objective; ``memory`` is that of the evaluation before."""
        began = time.perf_counter()
        weights = self.free.weights(parameters)
        moments, remembered = self.objective.moments(weights, memory)
        return self._point(parameters, weights, moments, remembered, time.perf_counter() - began)

    def _point(
        self, parameters: Numbers, weights: Numbers, moments: Moments, memory: object, seconds: float
    ) -> Point:
        of_data = self.free.gather_derivatives(moments.gradient)
        value = None if moments.value is None else moments.value + self.priors.value(parameters)
        if not np.isfinite(of_data).all() or (value is not None and np.isnan(value)):
            raise ArgumentError(
                f"The {self.objective.name} has no finite derivative at these weights, the largest of which"
                f" is {np.abs(weights).max(initial=0.0):.3g}: begin elsewhere, or give a prior or bounds."
            )
        gradient = self.priors.gradient(parameters, of_data)
        return Point(self, parameters, weights, moments, of_data, gradient, value, memory, seconds)

    def at_several_times(self, parameters: Numbers, memory: object, times: int) -> Point:
        """Estimate the objective again and again, and return the mean of its counts.

        Errors are those of the mean, by how far the estimates are apart: samples of one chain are alike.
        """
        points = [self.at(parameters, memory)]
        while len(points) < times:
            points.append(self.at(parameters, points[-1].memory))
        last = points[-1]
        observed = np.array([point.moments.observed for point in points])
        expected = np.array([point.moments.expected for point in points])
        errors = expected.std(axis=0, ddof=1) / sqrt(times) if times > 1 else last.moments.errors
        moments = replace(
            last.moments, observed=observed.mean(axis=0), expected=expected.mean(axis=0), errors=errors,
            sampling_seconds=sum(point.moments.sampling_seconds for point in points),
        )  # fmt: skip
        seconds = sum(point.seconds for point in points)
        return self._point(parameters, last.weights, moments, last.memory, seconds)

    def at_state(self, state: Standing) -> Point:
        """Return the point of a state, from its memory of the objective; no sample is drawn anew."""
        moments = self.objective.recall_moments(state.weights, state.memory)
        return self._point(state.parameters, state.weights, moments, state.memory, 0.0)

    def part(self, databases: Sequence[int]) -> Problem:
        """Return the problem of some of the databases; the prior stays whole."""
        return Problem(self.objective.part(databases), self.free, self.priors)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Parameters, with the objective and its moments there.

    The objective is maximised, so ``gradient`` points uphill: a small step along it makes ``value`` larger.
    An optimiser that is written for minimising, ``w <- w - η·g``, has ``g = -gradient``.
    """

    problem: Problem
    parameters: Numbers
    weights: Numbers
    moments: Moments
    of_data: Numbers  # the objective's gradient by parameter, without the prior
    gradient: Numbers  # with the prior; zero at the optimum
    value: float | None  # with the prior
    memory: object
    seconds: float

    def remembering(self, memory: object) -> Point:
        """Return the same point, from which the objective goes on with other chains."""
        return replace(self, memory=memory)

    @property
    def scale(self) -> float:
        """The size of the counts here, to compare gaps with."""
        return max(1.0, float(np.abs(self.moments.observed).max(initial=0.0)))

    def hessian_times(self, direction: Numbers) -> Numbers:
        """Return H d, where H is the Hessian of the minimised function: minus the objective and log prior."""
        free, priors = self.problem.free, self.problem.priors
        by_weight = self.moments.curvature.times(free.spread(direction))
        return free.gather_derivatives(by_weight) + priors.precision * direction

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        free, priors = self.problem.free, self.problem.priors
        of_data = self.moments.curvature.quadratic(free.spread(direction))
        return of_data + float(priors.precision @ direction**2)

    def noise(self, direction: Numbers) -> float:
        """Return the standard error of the gradient along a direction: 0 where expected counts are exact."""
        moments, free = self.moments, self.problem.free
        if not moments.samples:
            return 0.0
        return sqrt(moments.curvature.quadratic(free.spread(direction)) / moments.samples)

    def hessian_diagonal(self) -> Numbers:
        """Return the diagonal of H; of tied weights only their own entries are added, not those between."""
        free, priors = self.problem.free, self.problem.priors
        return free.gather_derivatives(self.moments.curvature.diagonal()) + priors.precision

    def hessian(self) -> Numbers:
        """Return H as a matrix."""
        free, priors = self.problem.free, self.problem.priors
        full = self.moments.curvature.matrix()
        places = free.free
        gather = np.zeros((free.number, len(places)))
        gather[free.parameter[places], np.arange(len(places))] = 1.0
        return np.asarray(gather @ full[np.ix_(places, places)] @ gather.T + np.diag(priors.precision))

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which parameters a bound holds back, or rest at the kink of a prior."""
        free, priors = self.problem.free, self.problem.priors
        low = (self.parameters <= free.lower) & (self.gradient < 0)
        high = (self.parameters >= free.upper) & (self.gradient > 0)
        at_kink = (priors.pull > 0) & (self.parameters == priors.mean) & (self.gradient == 0)
        return np.asarray(low | high | at_kink)

    @property
    def slope(self) -> Numbers:
        """The gradient by parameter; 0 at a bound that holds a parameter back."""
        return np.where(self.held, 0.0, self.gradient)

    @property
    def gap(self) -> Numbers:
        """How far each formula is from its optimum: the slope of its parameter, 0 where it has none."""
        return self.problem.free.spread(self.slope)

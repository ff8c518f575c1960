"""The surfaces over two weights: exact log-likelihood and pseudo-log-likelihood, and the ways of optimisers.

With two free weights everything about learning fits into a plane. Each surface is evaluated on a grid,
exactly; its optimum is found by Newton's method or L-BFGS; the way of each optimiser is its recorded run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.learning.ask.learner import WeightLearner, weight_learner
from mlnlab.learning.ask.presets import PRESETS
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.recordings.trace import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.priors import PriorLike
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]

GRID = 61
MOST_GRID = 301
_ROOM = 0.25  # around what is to be seen, as a share of it
_LEAST = 1.0  # the least half width of the region
# Options that say what is optimised, so that surfaces and ways have them alike.
_OF_THE_PROBLEM = ("tied", "fixed", "bounds", "units", "false_facts")
_MOST = 12.0  # weights beyond are as good as certain


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """An objective over the plane: a value for each point of the grid (rows by the second weight)."""

    name: str
    values: Numbers
    optimum: tuple[float, float]
    best: float


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """The weights of a learner, step by step."""

    name: str
    points: Numbers  # a row for each step
    objective: str  # what it climbs


@dataclass(frozen=True, slots=True, eq=False)
class Contours:
    """Surfaces over two weights and the ways across them; it shows itself in a cell."""

    formulas: tuple[str, str]
    first: Numbers  # the grid along the first weight
    second: Numbers
    surfaces: tuple[Surface, ...]
    ways: tuple[Way, ...]
    remark: str = ""  # what could not be drawn

    def __repr__(self) -> str:
        names = ", ".join(surface.name for surface in self.surfaces)
        one, other = self.formulas
        return f"<Contours of {names} over {one:.60} and {other:.60}, {len(self.ways)} ways>"


def contours(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    learners: Mapping[str, WeightLearner] | Sequence[str] = ("pll", "ll"),
    prior: PriorLike = None,
    region: tuple[tuple[float, float], tuple[float, float]] | None = None,
    grid: int = GRID,
    **options: Any,  # noqa: ANN401 - as of weight_learner
) -> Contours:
    r"""Return the log-likelihood and the pseudo-log-likelihood over two weights, and learners' ways on them.

    The model needs exactly two weights to learn (others may be hard or fixed). ``learners`` are names of
    presets, or learners by name; ``region`` is the range of each weight, found by itself where none is given.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> found = ml.contours(mln, db, learners=["pll", "ll"], prior=ml.Gaussian(0, 2))
    >>> [surface.name for surface in found.surfaces], [way.name for way in found.ways]
    (['log-likelihood', 'pseudo-log-likelihood'], ['pll', 'll'])
    """
    if isinstance(grid, bool) or not 5 <= grid <= MOST_GRID:
        raise ArgumentError(f"grid must be a whole number from 5 to {MOST_GRID}, not {grid!r:.40}.")
    judges, remark = _judges(mln, db, query, prior, options)
    names = _two(judges[-1])
    runners = _runners(learners, mln, db, query, prior, options)
    ways = tuple(_way(name, runner) for name, runner in runners.items())
    optima = [_optimum(judge) for judge in judges]
    first, second = _axes(region, [*ways], optima, grid)
    surfaces = tuple(
        Surface(
            judge.problem.objective.name, _values(judge, first, second), (float(at[0]), float(at[1])), value
        )
        for judge, (at, value) in zip(judges, optima, strict=True)
    )
    return Contours(names, first, second, surfaces, ways, remark)


def _judges(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None,
    prior: PriorLike,
    options: Mapping[str, Any],
) -> tuple[list[WeightLearner], str]:
    """Return learners by the exact likelihood, where that is possible, and by the pseudo-likelihood."""
    shared = {name: options[name] for name in _OF_THE_PROBLEM if name in options}
    pseudo = weight_learner("pll", mln, db, query, prior=prior, **shared)
    try:
        return [weight_learner("ll", mln, db, query, prior=prior, **shared), pseudo], ""
    except TooLargeError as refusal:
        return [pseudo], f"Without the likelihood: {refusal.summary}"


def _two(judge: WeightLearner) -> tuple[str, str]:
    free = judge.problem.free
    if free.number != 2:
        raise ArgumentError(
            f"A plane has two weights, and this model has {free.number} to learn: fix the others, by"
            " fixed=[...] or ml.Fixed, or tie them."
        )
    names = [
        to_text(judge.data.formulas[int(np.flatnonzero(free.parameter == n)[0])].formula) for n in (0, 1)
    ]
    return names[0], names[1]


def _runners(
    learners: Mapping[str, WeightLearner] | Sequence[str],
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None,
    prior: PriorLike,
    options: Mapping[str, Any],
) -> Mapping[str, WeightLearner]:
    if isinstance(learners, Mapping):
        for name, learner in learners.items():
            if not isinstance(learner, WeightLearner):
                raise ArgumentError(
                    f"learners= names weight learners, {{'cd': ml.weight_learner('cd', mln, db)}};"
                    f" {name!s:.40} is {learner!r:.40}."
                )
        return learners
    unknown = [name for name in learners if name not in PRESETS]
    if unknown:
        raise ArgumentError(
            f"There is no weight learner {unknown[0]!s:.60}. There are: {', '.join(PRESETS)}."
        )
    return {name: weight_learner(name, mln, db, query, prior=prior, **options) for name in learners}


def _way(name: str, learner: WeightLearner) -> Way:
    free = learner.problem.free
    if free.number != 2:
        raise ArgumentError(f"{name} learns {free.number} weights; a plane has two.")
    learner.costs.refuse_run()
    trace = Trace.of(learner)
    points = np.array([step.state.parameters for step in trace], np.float64).reshape(-1, 2)
    return Way(name, points, learner.problem.objective.name)


def _optimum(judge: WeightLearner) -> tuple[Numbers, float]:
    """Return the weights of the greatest value, and that; they may be far away where there is no prior."""
    state = Trace.of(judge)[-1].state
    return state.parameters, state.value


def _axes(
    region: tuple[tuple[float, float], tuple[float, float]] | None,
    ways: Sequence[Way],
    optima: Sequence[tuple[Numbers, float]],
    grid: int,
) -> tuple[Numbers, Numbers]:
    if region is not None:
        for low, high in region:
            if not -np.inf < low < high < np.inf:
                raise ArgumentError(
                    f"A region must be two ranges such as ((-2, 2), (0, 3)), not {region!r:.60}."
                )
        return np.linspace(*region[0], grid), np.linspace(*region[1], grid)
    points = np.concatenate(
        [np.zeros((1, 2)), *(way.points for way in ways), *(at[None, :] for at, _ in optima)]
    )
    points = np.clip(points, -_MOST, _MOST)
    axes = []
    for column in points.T:
        low, high = float(column.min()), float(column.max())
        middle, half = (low + high) / 2, max((high - low) / 2 * (1 + _ROOM), _LEAST)
        axes.append(np.linspace(middle - half, middle + half, grid))
    return axes[0], axes[1]


def _values(judge: WeightLearner, first: Numbers, second: Numbers) -> Numbers:
    found = np.empty((len(second), len(first)))
    for row, high in enumerate(second.tolist()):
        for column, right in enumerate(first.tolist()):
            value = judge.problem.at(np.array([right, high])).value
            found[row, column] = np.nan if value is None else value
    return found

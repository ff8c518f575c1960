"""Weights that run away: directions in which a likelihood never falls, so that it has no finite optimum.

Where a formula is never true in the data, no finite weight makes its expected count 0, and learning pushes
the weight on and on (lecture notes, "Bayesian weight learning"). The same befalls several weights together
where the data are separable (Albert and Anderson, "On the existence of maximum likelihood estimates in
logistic regression models", Biometrika 1984). An objective has no finite optimum exactly where for some d

    a pseudo-likelihood:  (Δn of the data's choice - Δn of any other) · d >= 0  for all choices, > 0 for one
    a likelihood:         n(data) · d >= n(any world) · d                       and > for one

which a linear programme decides. Priors and bounds hold weights back, so they leave directions out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.learning.objectives.conditional_log_likelihood import EstimatedLogLikelihood, ExactLogLikelihood
from mlnlab.learning.objectives.lifted_by_cells import LikelihoodByCells
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood
from mlnlab.learning.objectives.pseudo_log_likelihood import PseudoLogLikelihood
from mlnlab.learning.problems.moments import plain
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.counts.exact_counts import ByTables
    from mlnlab.learning.problems.ground_example import GroundExample
    from mlnlab.learning.problems.problem import Problem
    from mlnlab.learning.problems.training_data import TrainingData

    Numbers = NDArray[np.float64]

WithGroundings = ExactLogLikelihood | EstimatedLogLikelihood | LiftedLogLikelihood | LikelihoodByCells

_ROUNDING = 1e-12  # of the groundings
MOST_CELLS = 2_000_000  # of a linear programme: some seconds
_MOST_TOGETHER = 12  # weights for which the fewest that run away together are looked for
_SHOWN = 3
_SURE = 1e-6


class LearningWarning(UserWarning):
    """Learning will give weights that should not be believed as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Cone:
    """Rows A with A (d, m) >= 0 for directions d that never make an objective fall; m are free helpers."""

    rows: Any  # a matrix, perhaps sparse: a column for each formula, then one for each helper
    helpers: int = 0

    def by_parameter(self, problem: Problem) -> Any:  # noqa: ANN401 - a sparse matrix
        """Return the rows with a column for each parameter, then the helpers, in units of their size."""
        from scipy.sparse import csr_matrix, diags, hstack

        free = problem.free
        formulas = self.rows.shape[1] - self.helpers
        places = free.free
        ties = csr_matrix((np.ones(len(places)), (places, free.parameter[places])), (formulas, free.number))
        rows = csr_matrix(self.rows)
        joined = hstack([rows[:, :formulas] @ ties, rows[:, formulas:]]).tocsr()
        sizes = np.asarray(abs(joined).max(axis=1).todense()).ravel()
        kept = sizes > 0
        return diags(1.0 / sizes[kept]) @ joined[kept]


@dataclass(frozen=True, slots=True, eq=False)
class Runaway:
    """A direction of the parameters in which the objective never falls."""

    direction: Numbers
    is_sure: bool = True

    @property
    def parameters(self) -> NDArray[np.int64]:
        """The parameters that run away together."""
        return np.flatnonzero(self.direction)

    @property
    def signs(self) -> Numbers:
        """Which way each of them goes."""
        return np.sign(self.direction[self.parameters])


def runaways(problem: Problem) -> list[Runaway]:
    """Return the parameters without a finite optimum: those that run away alone, and some together."""
    number = problem.free.number
    held = (problem.priors.precision > 0) | (problem.priors.pull > 0)
    low = np.where(held | np.isfinite(problem.free.lower), 0.0, -1.0)
    high = np.where(held | np.isfinite(problem.free.upper), 0.0, 1.0)
    if not (low.any() or high.any()):
        return []
    cone = cone_of(problem)
    if cone is None:
        return list(_at_extremes(problem, low, high))
    rows = cone.by_parameter(problem)
    if not rows.shape[0]:
        return []
    if rows.shape[0] * number > MOST_CELLS:
        return [] if cone.helpers else list(_alone(rows, low, high))
    found = []
    alone = np.zeros(number, bool)
    singles = _alone(rows, low, high) if not cone.helpers else _each(rows, low, high)
    for one in singles:
        found.append(one)
        alone[one.parameters] = True
    rest = _direction(rows, np.where(alone, 0.0, low), np.where(alone, 0.0, high))
    if rest is not None:
        found.append(Runaway(_fewest(rows, rest, low, high)))
    return found


def cone_of(problem: Problem) -> Cone | None:
    """Return the directions in which an objective never falls, if its value is known."""
    from mlnlab.learning.counts.exact_counts import ByTables

    objective = plain(problem.objective)
    if isinstance(objective, PseudoLogLikelihood):
        return Cone(objective.advantages())
    if isinstance(objective, ExactLogLikelihood):
        by_tables = [one for one in objective.exact if isinstance(one, ByTables)]
        if len(by_tables) == len(objective.exact):
            return _of_tables(by_tables, objective.counts)
    return None


def _of_tables(exact: Sequence[ByTables], counts: Numbers) -> Cone:
    """Return n(data)·d >= sum of m, with m of each part >= n(any world)·d of it."""
    from scipy.sparse import csr_matrix, hstack, vstack

    tables = [table for one in exact for table in one.tables]
    blocks = []
    for place, table in enumerate(tables):
        worlds, formulas = len(table.counts), len(counts)
        wide = np.zeros((worlds, formulas))
        wide[:, table.columns] = -table.counts
        ones = csr_matrix(
            (np.ones(worlds), (np.arange(worlds), np.full(worlds, place))), (worlds, len(tables))
        )
        blocks.append(hstack([csr_matrix(wide), ones]))
    last = np.concatenate([counts, [-float(table.parts) for table in tables]])
    return Cone(vstack([*blocks, csr_matrix(last[None, :])]).tocsr(), len(tables))


def _alone(rows: Any, low: Numbers, high: Numbers) -> Iterator[Runaway]:  # noqa: ANN401 - a sparse matrix
    """Yield the parameters whose every row has one sign."""
    least = np.asarray(rows.min(axis=0).todense()).ravel()[: len(low)]
    most = np.asarray(rows.max(axis=0).todense()).ravel()[: len(low)]
    for place in range(len(low)):
        if least[place] >= 0 and most[place] > 0 and high[place] > 0:
            yield Runaway(_axis(len(low), place, 1.0))
        elif most[place] <= 0 and least[place] < 0 and low[place] < 0:
            yield Runaway(_axis(len(low), place, -1.0))


def _axis(number: int, place: int, sign: float) -> Numbers:
    found = np.zeros(number)
    found[place] = sign
    return found


def _each(rows: Any, low: Numbers, high: Numbers) -> Iterator[Runaway]:  # noqa: ANN401 - a sparse matrix
    """Yield the parameters that run away alone, each by a linear programme of its own."""
    for place in range(len(low)):
        only = np.arange(len(low)) == place
        for sign, least, most in ((1.0, 0.0 * low, high * only), (-1.0, low * only, 0.0 * high)):
            if (least.any() or most.any()) and _direction(rows, least, most) is not None:
                yield Runaway(_axis(len(low), place, sign))
                break


def _direction(rows: Any, low: Numbers, high: Numbers) -> Numbers | None:  # noqa: ANN401 - a sparse matrix
    """Return a direction within bounds in which the objective never falls and somewhere rises, or nothing."""
    from scipy.optimize import linprog

    if not rows.shape[0] or not (low.any() or high.any()):
        return None
    helpers = rows.shape[1] - len(low)
    bounds = [*zip(low.tolist(), high.tolist(), strict=True), *[(None, None)] * helpers]
    gain = np.asarray(rows.sum(axis=0)).ravel()
    found = linprog(-gain, A_ub=-rows, b_ub=np.zeros(rows.shape[0]), bounds=bounds, method="highs")
    if found.x is None or float(gain @ found.x) <= _SURE * rows.shape[0]:
        return None
    direction = np.asarray(found.x)[: len(low)]
    return np.where(np.abs(direction) > _SURE, direction, 0.0)


def _fewest(rows: Any, direction: Numbers, low: Numbers, high: Numbers) -> Numbers:  # noqa: ANN401 - sparse
    """Leave out weights that the others do not need."""
    support = np.flatnonzero(direction)
    if len(support) > _MOST_TOGETHER:
        return direction
    for place in support.tolist():
        kept = direction != 0
        kept[place] = False
        fewer = _direction(rows, np.where(kept, low, 0.0), np.where(kept, high, 0.0))
        direction = direction if fewer is None else fewer
    return direction


def _at_extremes(problem: Problem, low: Numbers, high: Numbers) -> Iterator[Runaway]:
    """Yield parameters whose formulas hold in none or in all of their open groundings."""
    objective, free = plain(problem.objective), problem.free
    if not isinstance(objective, WithGroundings):
        return
    observed = free.gather_derivatives(objective.counts)
    of_all = free.gather_derivatives(all_open(objective))
    for place in range(free.number):
        if of_all[place] > 0 and observed[place] == 0 and low[place] < 0:
            yield Runaway(_axis(free.number, place, -1.0), is_sure=False)
        elif of_all[place] > 0 and observed[place] == of_all[place] and high[place] > 0:
            yield Runaway(_axis(free.number, place, 1.0), is_sure=False)


def all_open(objective: WithGroundings) -> Numbers:
    """Return how many groundings of each formula are open, in all databases."""
    if isinstance(objective, LikelihoodByCells):  # what is decided would be told by the longest of sums
        return objective.groundings
    if isinstance(objective, LiftedLogLikelihood):
        return np.where(_mark_decided_formulas(objective), 0.0, objective.groundings)
    return np.asarray(np.sum([open_groundings(example) for example in objective.examples], axis=0))


def _mark_decided_formulas(objective: LiftedLogLikelihood) -> NDArray[np.bool_]:
    """Return which formulas hold as often in every world as in the data: all groundings do, or none does."""
    whole = objective.groundings
    extreme = (objective.counts == 0) | (objective.counts == whole)
    if not (extreme & (whole > 0)).any():
        return np.zeros(len(whole), np.bool_)
    # With weights of 0 every world is possible, so that no world is otherwise if none is expected to be.
    resting = np.abs(objective.gap(np.zeros(len(whole)))) <= _ROUNDING * whole
    return np.asarray(extreme & resting)


def open_groundings(example: GroundExample) -> Numbers:
    """Return how many groundings of each formula evidence leaves open."""
    tallies = example.ground.clauses.tallies
    return np.array([float(one.groundings - one.true - one.false) for one in tallies])


# --- in words ----------------------------------------------------------------------------------------


def runaways_in_words(data: TrainingData, problem: Problem) -> Iterator[str]:
    """Yield a sentence for weights that grow without end, one for those that fall, one for those together."""
    found = runaways(problem)
    alone = [one for one in found if len(one.parameters) == 1]
    for sign, goes, how in ((1, "grow", "often"), (-1, "fall", "seldom")):
        some = [one for one in alone if one.signs[0] == sign]
        if some:
            names = names_of(data, problem, [int(one.parameters[0]) for one in some])
            may = "" if all(one.is_sure for one in some) else "likely "
            weight, end, they = ("weights", "", "they hold") if len(some) > 1 else ("weight", "s", "it holds")
            why = f"in the data {they} as {how} as is possible at all"
            if isinstance(plain(problem.objective), PseudoLogLikelihood):
                why = f"in the data {they} as {how} as is possible for each atom, given all others"
            yield (
                f"The {weight} of {names} {may}{goes}{end} without end: {why}, and no finite weight expects "
                f"that. {_REMEDY}"
            )
    for one in found:
        if len(one.parameters) > 1:
            up = names_of(data, problem, one.parameters[one.signs > 0].tolist())
            down = names_of(data, problem, one.parameters[one.signs < 0].tolist())
            ways = [f"{up} up" if up else "", f"{down} down" if down else ""]
            yield (
                f"Weights run away together, {' and '.join(filter(None, ways))}: in this direction the "
                f"{plain(problem.objective).name} never falls, because the data are separable. {_REMEDY}"
            )


_REMEDY = "Give a prior, as prior=ml.Gaussian(0, 2), or bounds=, or make such a formula hard."


def names_of(data: TrainingData, problem: Problem, parameters: Sequence[int]) -> str:
    """Return the formulas of some parameters, or the first of many."""
    numbers = [int(np.flatnonzero(problem.free.parameter == place)[0]) for place in parameters]
    listed = "; ".join(to_text(data.formulas[number].formula) for number in numbers[:_SHOWN])
    return listed + (f" and {len(numbers) - _SHOWN:,} more" if len(numbers) > _SHOWN else "")

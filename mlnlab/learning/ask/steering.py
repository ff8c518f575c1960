"""A learner that is steered while it runs: a weight set, frozen or freed, the rate changed, from any state.

Each change begins a new phase: the same optimiser, from the weights (and the chains) of the state that one
looked at, with other free weights or another rate. What an optimiser remembers of its path, such as averages
and conjugate directions, begins anew, because it belongs to another problem. A state names all changes before
it, so that a run can go on from a checkpoint bit for bit also where somebody had meddled with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.problems.free_weights import FIXED, LARGEST_WEIGHT
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Hard
from mlnlab.steps.run_identity import RunIdentity, of_run
from mlnlab.steps.state_layout import TEXT, Elsewhere, Part, Real, Several, Whole, holds, refuse_misshapen
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.learning.problems.moments import Moments, Objective
    from mlnlab.learning.problems.priors import Priors
    from mlnlab.learning.problems.problem import Problem

    Numbers = NDArray[np.float64]

Kind = Literal["weight", "freeze", "free", "rate", "return"]
_RATES = ("rate", "damping")  # what optimisers call how boldly they step
_LONGEST = 60


@storable("learning.Change")
@dataclass(frozen=True, slots=True)
class Change:
    """A change by the user: a weight, whether it stays, the rate; or a return to a step."""

    kind: Kind = field(metadata=holds(TEXT))
    formula: int = field(default=-1, metadata=holds(Whole(-1, "last")))
    value: float = field(default=0.0, metadata=holds(Real(finite=True)))  # the weight, or the rate
    of: int = field(default=-1, metadata=holds(Whole(-1)))  # the step whose state the run went on from
    step: int = field(default=-1, metadata=holds(Whole(-1)))  # the first step after the change


@storable("learning.Steered")
@dataclass(frozen=True, slots=True, eq=False)
class Meddled:
    """The state that an optimiser keeps, with the changes that led to its problem."""

    inner: object = field(metadata=holds(Elsewhere()))
    changes: tuple[Change, ...] = field(metadata=holds(Several(Part(Change))))


def changes_of(state: LearningState) -> tuple[Change, ...]:
    """Return the changes before a state, oldest first."""
    return state.inner.changes if isinstance(state.inner, Meddled) else ()


def _inner(state: LearningState) -> object:
    return state.inner.inner if isinstance(state.inner, Meddled) else state.inner


def frozen_weights(changes: Sequence[Change]) -> dict[int, float]:
    """Return the weights that changes have frozen, by formula."""
    found: dict[int, float] = {}
    for change in changes:
        if change.kind == "freeze" or (change.kind == "weight" and change.formula in found):
            found[change.formula] = change.value
        elif change.kind == "free":
            found.pop(change.formula, None)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class GoingOn:
    """An objective whose first evaluation goes on from the memory of another run, such as its chains."""

    objective: Objective
    memory: object

    @property
    def name(self) -> str:
        """The name of the objective."""
        return self.objective.name

    @property
    def has_value(self) -> bool:
        """Whether its value is known."""
        return self.objective.has_value

    @property
    def counts(self) -> Numbers:
        """n_i in the data."""
        return self.objective.counts

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights."""
        return self.objective.moments(weights, self.memory if memory is None else memory)

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments that were found before."""
        return self.objective.recall_moments(weights, memory)

    def part(self, databases: Sequence[int]) -> Objective:
        """Return the objective of some of the databases, whose chains are their own."""
        return self.objective.part(databases)


@dataclass(frozen=True, slots=True, eq=False)
class SteeredLearner:
    """A weight learner whose states may come after changes; a source of states like the learner itself."""

    learner: WeightLearner

    def __iter__(self) -> Iterator[LearningState]:
        return self.resume(None)

    def resume(self, state: LearningState | None) -> Iterator[LearningState]:
        """Yield the states that follow a state, under the changes that it names."""
        if not isinstance(state, LearningState) or not isinstance(state.inner, Meddled):
            return self.learner.resume(state)
        identity, other = self.learner.identity, state.identity
        if isinstance(
            other, RunIdentity
        ):  # what changes have made of weights and rates is compared once they are known
            identity = replace(identity, weights=other.weights, prior=other.prior, settings=other.settings)
        of_run(identity, LearningState, state)
        refuse_misshapen(state.inner, {"last": len(self.learner.data.formulas) - 1})
        changes = state.inner.changes
        own = replace(state, inner=state.inner.inner)
        return _mark_states(self.learner_after(changes).resume(own), changes)

    def apply_change(self, state: LearningState, change: Change) -> Iterator[LearningState]:
        """Yield the states after a change at a state; the first is that state's, changed."""
        changes = (*changes_of(state), change)
        if change.kind == "return":
            return self.resume(replace(state, inner=Meddled(_inner(state), changes)))
        learner = self.learner_after(changes)
        weights = state.weights.copy()
        for formula, value in frozen_weights(changes).items():
            weights[self._group(formula)] = value
        if change.kind == "weight":
            weights[self._group(change.formula)] = change.value
        problem = learner.problem
        start = problem.free.clip_parameters(problem.free.parameters_of(weights))
        begun = replace(
            problem,
            free=replace(problem.free, start=start),
            objective=GoingOn(problem.objective, state.memory)
            if state.memory is not None
            else problem.objective,
        )
        return _mark_states(_later(replace(learner, problem=begun).resume(None), state), changes)

    def learner_after(self, changes: Sequence[Change]) -> WeightLearner:
        """Return the learner that changes have made."""
        problem = self.learner.problem
        for formula, value in frozen_weights(changes).items():
            problem = _without(problem, formula, value)
        params = self.learner.params
        for change in changes:
            if change.kind == "rate":
                params = replace(params, **{self.rate_name(): change.value})
        return replace(self.learner, problem=problem, params=params)

    def _group(self, formula: int) -> NDArray[np.int64]:
        """Return a formula and those whose weights are tied to its."""
        parameter = self.learner.problem.free.parameter
        return np.flatnonzero(parameter == parameter[formula])

    # --- what can be changed ------------------------------------------------------------------

    def rate_name(self) -> str:
        """Return the optimiser's name for its rate."""
        known = {field.name for field in fields(self.learner.params)}
        for name in _RATES:
            if name in known:
                return name
        raise ArgumentError(
            f"{self.learner.optimizer.name} finds the length of its steps itself: it has no rate to change."
        )

    @property
    def has_rate(self) -> bool:
        """Whether there is a rate, or a damping λ, to change."""
        return any(field.name in _RATES for field in fields(self.learner.params))

    def rate_at(self, state: LearningState) -> float:
        """Return the rate (or λ) that a state was reached with."""
        return state.move.damping if self.rate_name() == "damping" else state.move.rate

    def check_change(self, state: LearningState, change: Change) -> Change:
        """Return a change, or raise a sentence that says why it cannot be made."""
        if change.kind == "rate":
            self.rate_name()
            if not 0 < change.value < np.inf:
                raise ArgumentError(f"A rate must be a number above 0, not {change.value!r}.")
        if change.kind in {"weight", "freeze", "free"}:
            self._check_formula(state, change)
            frozen = [f for f in frozen_weights(changes_of(state)) if f in self._group(change.formula)]
            return replace(change, formula=frozen[0]) if frozen else change
        return change

    def _check_formula(self, state: LearningState, change: Change) -> None:
        formulas, free = self.learner.data.formulas, self.learner.problem.free
        if not 0 <= change.formula < len(formulas):
            raise ArgumentError(
                f"Formulas are numbered 0 to {len(formulas) - 1}; there is no number {change.formula}."
            )
        text = to_text(formulas[change.formula].formula)[:_LONGEST]
        parameter = int(free.parameter[change.formula])
        if parameter == FIXED:
            hard = isinstance(formulas[change.formula].weight, Hard)
            raise ArgumentError(
                f"{text} {'must hold' if hard else 'has a fixed weight'}: it has no weight to learn."
            )
        if change.kind in {"weight", "freeze"}:
            _check_weight(change.value, float(free.lower[parameter]), float(free.upper[parameter]))
        frozen = frozen_weights(changes_of(state))
        if change.kind == "free" and not set(frozen) & set(self._group(change.formula).tolist()):
            raise ArgumentError(f"{text} is not frozen.")
        if (
            change.kind == "freeze"
            and len({int(free.parameter[f]) for f in frozen} | {parameter}) == free.number
        ):
            raise ArgumentError(f"{text} is the last weight that is learned; free another one first.")


def _check_weight(value: float, lower: float, upper: float) -> None:
    if not isfinite(value):
        raise ArgumentError(f"A weight must be a finite number, not {value!r}.")
    if abs(value) > LARGEST_WEIGHT:
        raise ArgumentError(
            f"No weight may be beyond {LARGEST_WEIGHT:,.0f}, as no step leads back from there; {value:g} is."
        )
    if not lower <= value <= upper:
        raise ArgumentError(
            f"This weight is bounded: it lies between {lower:g} and {upper:g}, and {value:g} does not."
        )


def _without(problem: Problem, formula: int, value: float) -> Problem:
    """Return a problem in which a formula's weight stays as it is."""
    gone = int(problem.free.parameter[formula])
    if gone == FIXED:
        return problem
    free = problem.free.without(formula, np.full(len(problem.free.base), value))
    return replace(problem, free=free, priors=_priors_without(problem.priors, gone))


def _priors_without(priors: Priors, gone: int) -> Priors:
    kept: dict[str, Any] = {
        name: np.delete(getattr(priors, name), gone) for name in ("mean", "precision", "pull")
    }
    return replace(priors, **kept)


def _mark_states(states: Iterator[LearningState], changes: tuple[Change, ...]) -> Iterator[LearningState]:
    for state in states:
        yield replace(state, inner=Meddled(state.inner, changes))


def _later(states: Iterator[LearningState], before: LearningState) -> Iterator[LearningState]:
    """Yield states whose times go on from those of the state before the change."""
    for state in states:
        yield replace(
            state,
            sampling_seconds=state.sampling_seconds + before.sampling_seconds,
            stepping_seconds=state.stepping_seconds + before.stepping_seconds,
        )

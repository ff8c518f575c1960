"""Several learners against time, in one thread and fairly: each has a clock of its own.

Whoever has used the least time makes the next step, so that all are about equally far in seconds, whatever
their steps cost. The clock of a learner holds what it takes to count or ground its data and what its steps
took; compiling, waiting for others, measuring and drawing are nobody's time. All are measured by the same
yardstick: an objective whose value is known, at the weights that each would return. Whoever fails is out, and
the others go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan

import numpy as np

from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.learning.ask.learner import WeightLearner
from mlnlab.learning.ask.state_fits import flaw_of, sizes_of
from mlnlab.learning.descent.best_step import best_step, recorded_until
from mlnlab.learning.objectives.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.learning.problems.moments import plain
from mlnlab.learning.problems.priors import priors_of
from mlnlab.learning.problems.problem import Problem
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import OfRun, RunIdentity, check_state, resume_run
from mlnlab.steps.state_layout import REPORTED, TEXT, Elsewhere, Part, Real, Several, Whole, holds
from mlnlab.steps.step import Step
from mlnlab.steps.values.encoding import storable

MOST_RUNNERS = 12
_OF_PRIORS = ("mean", "precision", "pull")
_LONG_STEP = 1.0  # seconds
_LONG_COUNT = 20.0  # seconds: beside so many, what compiling took is little


@storable("learning.Runner")
@dataclass(frozen=True, slots=True, eq=False)
class Runner:
    """How far one learner is, on its own clock."""

    name: str = field(metadata=holds(TEXT))
    seconds: float = field(metadata=holds(Real(finite=True)))
    state: LearningState = field(metadata=holds(Elsewhere()))
    score: float = field(metadata=holds(REPORTED))  # by the yardstick


@storable("learning.RaceState")
@dataclass(frozen=True, slots=True, eq=False)
class RaceState(OfRun):
    """All learners of a race after a step of one of them."""

    # Those that have begun, in the order given.
    runners: tuple[Runner, ...] = field(metadata=holds(Several(Part(Runner))))
    mover: int = field(metadata=holds(Whole()))  # which of them made the last step
    # The clocks of those that have not begun.
    waiting: tuple[float, ...] = field(default=(), metadata=holds(Several(Real(finite=True))))
    # Who could not go on, and why.
    failures: tuple[tuple[str, str], ...] = field(default=(), metadata=holds(Several(Elsewhere())))

    def metrics(self) -> Mapping[str, float]:
        """Return each learner's score, largest gap and clock."""
        found: dict[str, float] = {}
        for runner in self.runners:
            found[f"{runner.name}: score"] = runner.score
            found[f"{runner.name}: largest gap"] = float(np.abs(runner.state.gap).max(initial=0.0))
            found[f"{runner.name}: seconds"] = runner.seconds
        return {name: value for name, value in found.items() if not np.isnan(value)}


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """Learners by name, and the yardstick; a source of states, to be stepped, recorded and resumed."""

    learners: Mapping[str, WeightLearner]
    yardstick: Problem
    clock: Callable[[], float] = time.perf_counter

    def __iter__(self) -> Iterator[RaceState]:
        return self.resume(None)

    def resume(self, state: RaceState | None) -> Iterator[RaceState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return resume_run(self.identity, RaceState, state, self._states, dict, self._flaw)

    @property
    def identity(self) -> RunIdentity:
        """The identity of this race; each learner's state is besides one of that learner."""
        return RunIdentity("a race", settings=f"learners {' '.join(self.learners)}")

    def _flaw(self, state: RaceState) -> str:
        """Say how a state does not fit this race; a state of another learner gets its own sentence."""
        names = list(self.learners)
        begun = [runner.name for runner in state.runners]
        failed = [one[0] for one in state.failures if type(one) is tuple and len(one) == 2]
        if [name for name in names if name in begun] != begun or not set(failed) <= set(names):
            return "its learners are not those of this race"
        if len(failed) != len(state.failures) or any(type(one[1]) is not str for one in state.failures):
            return "its failures are not names and reasons"
        if state.mover >= len(begun) or len(state.waiting) != len(names) - len(begun):
            return "its clocks are not those of its learners"
        for runner in state.runners:
            learner = self.learners[runner.name]
            check_state(
                learner.identity, LearningState, runner.state, partial(sizes_of, learner.problem),
                partial(flaw_of, learner.problem, learner.optimizer), f"The state of {runner.name}",
            )  # fmt: skip
        return ""

    def _states(self, state: RaceState | None) -> Iterator[RaceState]:
        names = list(self.learners)
        known = {} if state is None else {runner.name: runner for runner in state.runners}
        # All are warm before any clock runs, also where a race goes on in another process.
        for name, learner in self.learners.items():
            _warm(learner, known[name].state if name in known else None)
        clocks = self._clocks(state)
        failures = {} if state is None else dict(state.failures)
        runs = {
            name: learner.resume(known[name].state if name in known else None)
            for name, learner in self.learners.items()
            if name not in failures
        }
        mover = "" if state is None else state.runners[state.mover].name
        while runs:
            # Nobody is ahead before all have begun, in the order given.
            name = min(runs, key=lambda one: (clocks[one] if one in known else -1.0, names.index(one)))
            began = self.clock()
            try:
                reached = next(runs[name], None)
            except Exception as problem:
                failures[name] = str(problem) or type(problem).__name__
                if not known and len(runs) == 1:
                    raise  # there is nobody left to tell of it
                reached = None
            else:
                clocks[name] += self.clock() - began
            if reached is not None:
                known[name], mover = Runner(name, clocks[name], reached, self.score(reached)), name
            else:
                del runs[name]
            if known and (reached is not None or name in failures):
                yield _as_state(names, known, mover, clocks, failures)

    def _clocks(self, state: RaceState | None) -> dict[str, float]:
        """Return each learner's clock: that of a state, or else the time of its counting."""
        if state is None:
            return {name: counting_clock(learner, self.clock) for name, learner in self.learners.items()}
        begun = {runner.name: runner.seconds for runner in state.runners}
        others = zip((name for name in self.learners if name not in begun), state.waiting, strict=True)
        return {**begun, **dict(others)}

    def score(self, state: LearningState) -> float:
        """Return the yardstick's value at the weights that a state would return."""
        # At the weights themselves: what another learner held fixed or tied, this one may have moved.
        judge = self.yardstick
        try:
            value = judge.objective.moments(state.answer)[0].value
        except MlnlabError:  # weights so far away that there is no number for them
            return nan
        return nan if value is None else value + judge.priors.value(judge.free.parameters_of(state.answer))

    def learned(self, name: str, trace: Trace[RaceState]) -> LearnedWeights:
        """Return the best that one learner of a recorded race has learned."""
        own = self.run_of(name, trace)
        best = best_step(own)
        return self.learners[name].learned(recorded_until(own, best), best.seconds)

    def run_of(self, name: str, trace: Trace[RaceState]) -> Trace[LearningState]:
        """Return the recorded run of one learner, by its own steps and seconds."""
        if name not in self.learners:
            raise ArgumentError(
                f"There is no {name!s:.60} in this race; there are {', '.join(self.learners)}."
            )
        own: Trace[LearningState] = Trace()
        last = -1
        for step in trace:
            runner = next((one for one in step.state.runners if one.name == name), None)
            if runner is not None and runner.state.iteration > last:
                last = runner.state.iteration
                own.on_step(Step(last, runner.seconds, runner.state))
        if not len(own):
            raise ArgumentError(f"{name} has made no step yet.")
        return own


def _as_state(
    names: list[str],
    known: Mapping[str, Runner],
    mover: str,
    clocks: Mapping[str, float],
    failures: Mapping[str, str],
) -> RaceState:
    order = [name for name in names if name in known]
    waiting = tuple(clocks[name] for name in names if name not in known)
    runners = tuple(known[name] for name in order)
    return RaceState(runners, order.index(mover), waiting, tuple(failures.items()))


def _warm(learner: WeightLearner, state: LearningState | None) -> None:
    """Go two steps ahead and forget them, so that compiling kernels is nobody's time."""
    began = time.perf_counter()
    with suppress(Exception):  # it will fail once more when it counts, and is told then
        for place, _ in enumerate(learner.resume(state)):
            if place >= 1 or time.perf_counter() - began > _LONG_STEP:
                return


def counting_clock(learner: WeightLearner, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time of a learner's counting or grounding when everything is compiled and loaded.

    It counts once more, because the first learner compiles for all; where counting takes long, the first
    time is used instead.
    """
    if learner.count_again is None or learner.counting_seconds > _LONG_COUNT:
        return learner.counting_seconds
    began = clock()
    learner.count_again()
    return min(learner.counting_seconds, clock() - began)


def race_of(learners: Mapping[str, WeightLearner], yardstick: WeightLearner | None = None) -> Race:
    """Return a race; without a yardstick, the objective that all share, or the pseudo-log-likelihood."""
    learners = _check_learners(learners)
    first, *others = learners.values()
    for learner in others:
        _refuse_other_formulas(first, learner, "The learners of a race learn the same formulas")
    if yardstick is not None:
        return Race(learners, _given_yardstick(first, yardstick))
    objective = plain(first.problem.objective)
    shared = objective.has_value and all(
        plain(other.problem.objective).name == objective.name and other.data.query == first.data.query
        for other in others
    )
    if not shared:
        objective = pseudo_log_likelihood(first.data)
    priors, free = first.problem.priors, first.problem.free
    if not all(_same_weights(first.problem, other.problem) for other in others):
        priors = priors_of(None, free.parameter, free.number)
    return Race(learners, replace(first.problem, objective=objective, priors=priors))


def _check_learners(learners: object) -> dict[str, WeightLearner]:
    """Return learners by name, or raise a sentence."""
    if not isinstance(learners, Mapping) or not 0 < len(learners) <= MOST_RUNNERS:
        raise ArgumentError(
            f'A race is between 1 and {MOST_RUNNERS} learners, given by name: {{"newton": learner, ...}}.'
        )
    for name, learner in learners.items():
        if not isinstance(name, str):
            raise ArgumentError(f"A learner's name must be a text, not {name!r:.60}.")
        if not isinstance(learner, WeightLearner):
            raise ArgumentError(f"{name:.60} is not a learner; make one with ml.weight_learner(...).")
    return dict(learners)


def _given_yardstick(first: WeightLearner, yardstick: object) -> Problem:
    if not isinstance(yardstick, WeightLearner):
        raise ArgumentError(
            'A yardstick is a learner whose objective measures: ml.weight_learner("pll", ...).'
        )
    _refuse_other_formulas(first, yardstick, "A yardstick has the formulas of those that it measures")
    objective = plain(yardstick.problem.objective)
    if not objective.has_value:
        raise ArgumentError("A yardstick needs an objective whose value is known, such as pll or ll.")
    return replace(yardstick.problem, objective=objective)


def _refuse_other_formulas(first: WeightLearner, other: WeightLearner, rule: str) -> None:
    """Raise a sentence where two learners have different lists of formulas."""
    one, two = first.data.formulas, other.data.formulas
    if len(one) != len(two):
        raise ArgumentError(f"{rule}; these have different numbers of them.")
    for number, (left, right) in enumerate(zip(one, two, strict=True)):
        if left.formula != right.formula:
            texts = f"{to_text(left.formula):.60} here and {to_text(right.formula):.60} there"
            raise ArgumentError(f"{rule}; formula {number} is {texts}.")


def _same_weights(one: Problem, other: Problem) -> bool:
    """Say whether two problems have the same parameters and the same priors of them."""
    pairs = [(one.free.parameter, other.free.parameter)]
    pairs += [(getattr(one.priors, name), getattr(other.priors, name)) for name in _OF_PRIORS]
    return all(np.array_equal(left, right) for left, right in pairs)

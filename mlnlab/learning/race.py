"""Several learners against time, in one thread and fairly: each has a clock of its own.

Whoever has used the least time makes the next step, so that all are about equally far in seconds, whatever
their steps cost. The clock of a learner holds what it takes to count or ground its data and what its steps
took; compiling, waiting for others, measuring and drawing are nobody's time. All are measured by the same
yardstick: an objective whose value is known, at the weights that each would return.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.best_step import best_step, recorded_until
from mlnlab.learning.learned_weights import LearnedWeights
from mlnlab.learning.learner import WeightLearner
from mlnlab.learning.learning_state import LearningState
from mlnlab.learning.problem import Problem
from mlnlab.learning.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import Step
from mlnlab.steps.trace import Trace

MOST_RUNNERS = 12
_LONG_STEP = 1.0  # seconds
_LONG_COUNT = 20.0  # seconds: beside so many, what compiling took is little


@storable("learning.Runner")
@dataclass(frozen=True, slots=True, eq=False)
class Runner:
    """How far one learner is, on its own clock."""

    name: str
    seconds: float
    state: LearningState
    score: float  # by the yardstick


@storable("learning.RaceState")
@dataclass(frozen=True, slots=True, eq=False)
class RaceState:
    """All learners of a race after a step of one of them."""

    runners: tuple[Runner, ...]  # those that have begun, in the order given
    mover: int  # which of them made the last step
    waiting: tuple[float, ...] = ()  # the clocks of those that have not begun

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
        names = list(self.learners)
        known = {} if state is None else {runner.name: runner for runner in state.runners}
        _refuse_strangers(known, names)
        # All are warm before any clock runs, also where a race goes on in another process.
        for name, learner in self.learners.items():
            _warm(learner, known[name].state if name in known else None)
        clocks = self._clocks(state)
        runs = {
            name: learner.resume(known[name].state if name in known else None)
            for name, learner in self.learners.items()
        }
        while runs:
            # Nobody is ahead before all have begun, in the order given.
            name = min(runs, key=lambda one: (clocks[one] if one in known else -1.0, names.index(one)))
            began = self.clock()
            reached = next(runs[name], None)
            clocks[name] += self.clock() - began
            if reached is None:
                del runs[name]
                continue
            known[name] = Runner(name, clocks[name], reached, self.score(reached))
            order = [one for one in names if one in known]
            later = tuple(clocks[one] for one in names if one not in known)
            yield RaceState(tuple(known[one] for one in order), order.index(name), later)

    def _clocks(self, state: RaceState | None) -> dict[str, float]:
        """Return each learner's clock: that of a state, or else what counting takes."""
        if state is None:
            return {name: counting_clock(learner, self.clock) for name, learner in self.learners.items()}
        begun = {runner.name: runner.seconds for runner in state.runners}
        others = zip((name for name in self.learners if name not in begun), state.waiting, strict=True)
        return {**begun, **dict(others)}

    def score(self, state: LearningState) -> float:
        """Return the yardstick's value at the weights that a state would return."""
        free = self.yardstick.free
        value = self.yardstick.at(free.parameters_of(state.answer)).value
        return nan if value is None else value

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


def _refuse_strangers(known: Mapping[str, Runner], names: list[str]) -> None:
    strangers = [name for name in known if name not in names]
    if strangers:
        raise ArgumentError(
            f"This state is of a race in which {strangers[0]!s:.60} ran, who is not among {', '.join(names)}."
        )


def _warm(learner: WeightLearner, state: LearningState | None) -> None:
    """Go two steps ahead and forget them, so that compiling kernels is nobody's time."""
    began = time.perf_counter()
    for place, _ in enumerate(learner.resume(state)):
        if place >= 1 or time.perf_counter() - began > _LONG_STEP:
            return


def counting_clock(learner: WeightLearner, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return what counting or grounding takes a learner when everything is compiled and loaded.

    It is counted once more for that, because whoever is made first compiles for all; where counting takes
    long, what it took the first time stands for it.
    """
    if learner.count_again is None or learner.counting_seconds > _LONG_COUNT:
        return learner.counting_seconds
    began = clock()
    learner.count_again()
    return min(learner.counting_seconds, clock() - began)


def race_of(learners: Mapping[str, WeightLearner], yardstick: WeightLearner | None = None) -> Race:
    """Return a race; without a yardstick, the objective that all share, or the pseudo-log-likelihood."""
    if not learners or len(learners) > MOST_RUNNERS:
        raise ArgumentError(f"A race is between 1 and {MOST_RUNNERS} learners, given by name.")
    for name, learner in learners.items():
        if not isinstance(learner, WeightLearner):
            raise ArgumentError(f"{name!s:.60} is no learner; make one by ml.weight_learner(...).")
    first = next(iter(learners.values()))
    number = len(first.data.formulas)
    if any(len(learner.data.formulas) != number for learner in learners.values()):
        raise ArgumentError(
            "The learners of a race learn the same formulas; these have different numbers of them."
        )
    if yardstick is not None:
        if not yardstick.problem.objective.has_value:
            raise ArgumentError("A yardstick needs an objective whose value is known, such as pll or ll.")
        return Race(dict(learners), yardstick.problem)
    objectives = {learner.problem.objective.name for learner in learners.values()}
    shared = len(objectives) == 1 and first.problem.objective.has_value
    objective = first.problem.objective if shared else pseudo_log_likelihood(first.data)
    return Race(dict(learners), replace(first.problem, objective=objective))

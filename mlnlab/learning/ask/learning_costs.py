"""Estimate the cost of learning, and refuse hours of work or more memory than is free before it begins.

The cost of a step is that of one evaluation of the objective: samples of each database's chains, or a search.
What is counted exactly has limits of its own, and is timed where somebody asks for more steps than usual.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.errors import TooLargeError
from mlnlab.inference.ask.run_costs import RunCost, refuse_hours, smaller_options
from mlnlab.inference.costs.sampling_costs import sweep_seconds
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.counts.sampled_counts import SampledCounts
from mlnlab.learning.objectives.conditional_log_likelihood import EstimatedLogLikelihood
from mlnlab.learning.problems.mini_batches import MiniBatches
from mlnlab.learning.problems.moments import plain
from mlnlab.steps import budget
from mlnlab.steps.budget import limit_seconds, seconds_in_words
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.learning.descent.optimizer import Optimizer
    from mlnlab.learning.problems.ground_example import GroundExample
    from mlnlab.learning.problems.problem import Problem

SINGLE_CHANGES = "gibbs"
_STOPPED = ", and ml.so_far() returns its results when it is stopped"


def evaluation_cost(problem: Problem) -> RunCost:
    """Estimate one evaluation where counts are sampled or searched for; 0 where they are exact."""
    objective = plain(problem.objective)
    batches = problem.objective
    share = batches.size / len(batches.parts) if isinstance(batches, MiniBatches) else 1.0
    if not isinstance(objective, EstimatedLogLikelihood):  # counted worlds are timed, and exact sums are not
        return RunCost(share * getattr(objective, "evaluation_seconds", 0.0), 0.0)
    costs = [_cost(objective.expecting, example) for example in objective.examples]
    return RunCost(share * sum(one.seconds for one in costs), sum(one.memory for one in costs))


def _cost(expecting: SampledCounts | BestWorldCounts, example: GroundExample) -> RunCost:
    if isinstance(expecting, BestWorldCounts):
        # As soon as nothing better is met for so many moves the search ends, or where nothing is broken.
        return RunCost(
            budget.LEARNING.search + min(expecting.flips, expecting.patience, budget.BOUNDLESS) * budget.FLIP,
            0.0,
        )
    chains, clauses = min(expecting.chains, budget.BOUNDLESS), example.ground.clauses
    sampler = budget.GIBBS if expecting.name == SINGLE_CHANGES else budget.MC_SAT
    rows = min(expecting.samples, budget.BOUNDLESS)
    sweeps = min(expecting.burn_in, budget.BOUNDLESS) + rows
    seconds = chains * (
        budget.LEARNING.chain + sweeps * (budget.LEARNING.sample + sweep_seconds(clauses, sampler))
    )
    of_chain = budget.LEARNING_CHAIN + budget.LEARNING_CHOICE * len(clauses.options)
    return RunCost(
        seconds,
        chains * (of_chain + rows * (budget.LEARNING_SAMPLE + budget.LEARNING_COUNT * example.formulas)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LearningCosts:
    """The parts of a learner that its time and memory depend on."""

    name: str
    problem: Problem
    optimizer: Optimizer
    params: Any
    most_hours: float | None = None

    def refuse_step(self) -> None:
        """Refuse a step that takes more hours than are begun, or more memory than is free."""
        cost, ways = evaluation_cost(self.problem), self._ways()
        allowed = limit_seconds(self.most_hours, budget.MOST_SECONDS)
        refuse_beyond_memory(cost.memory, f"A step of {self.name}", ways)
        refuse_hours(self.name, cost.seconds, allowed, ways, doing="a step of learning", kept="")

    def refuse_run(self, times: int = 1) -> None:
        """Refuse learning, once or several ``times``, that takes more hours than are begun.

        An optimiser that converges on exact counts is not held to its iterations: it never takes so many.
        """
        allowed = limit_seconds(self.most_hours, budget.MOST_SECONDS)
        iterations, usual = self.params.iterations, self.optimizer.settings().iterations
        step = evaluation_cost(self.problem).seconds
        if not step:
            if self.optimizer.converges or iterations <= usual:
                return
            step = time_work(lambda: self.problem.at(self.problem.free.start))
        seconds = times * min(iterations, budget.BOUNDLESS) * (budget.LEARNING.step + step)
        at_most = getattr(self.params, "tolerance", 0.0) > 0
        ways = self._ways()
        refuse_hours(self.name, seconds, allowed, ways, doing="learning", kept=_STOPPED, at_most=at_most)

    def _ways(self) -> list[str]:
        """Return ways to learn in less time: options larger than usual, else counts that need no samples."""
        pairs: list[tuple[Any, Any]] = [(self.params, self.optimizer.settings())]
        objective = plain(self.problem.objective)
        expecting = getattr(objective, "expecting", None)
        if expecting is not None:
            pairs.append((expecting, type(expecting)()))
        smaller = [way for own, usual in pairs for way in smaller_options(own, usual)]
        if smaller or expecting is None:
            return smaller
        return [
            "take fewer steps: iterations=",
            'count groundings, not samples: method="pll"',
            "use fewer constants",
        ]


def time_work(work: Callable[[], object]) -> float:
    """Return the seconds of some work where everything is compiled and loaded."""
    found = []
    for _ in range(2):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def refuse_costly_judging(
    examples: Sequence[GroundExample], samples: int, burn_in: int, times: int = 1
) -> None:
    """Refuse evaluations of held-out databases that take more hours than are begun."""
    sweep = sum(budget.LEAST_SWEEP + sweep_seconds(one.ground.clauses, budget.MC_SAT) for one in examples)
    ways = ["ask for less: samples=1000 and burn_in=100 are usual", "judge less often, with a larger every="]
    seconds = times * min(samples + burn_in, budget.BOUNDLESS) * sweep
    if seconds > budget.MOST_SECONDS:
        raise TooLargeError(
            f"Judging by held-out databases would take about {seconds_in_words(seconds)}.", seconds, ways
        )

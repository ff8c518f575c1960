"""``ml.weight_learner``: data, objective, prior and optimiser put together, to iterate over or run."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.learning.best_step import best_step, recorded_until
from mlnlab.learning.chains_left_behind import chains_left_behind
from mlnlab.learning.diagnostics import diagnosed, foreseen
from mlnlab.learning.free_weights import free_weights
from mlnlab.learning.learned_weights import LearnedWeights, at_answer
from mlnlab.learning.mini_batches import in_batches
from mlnlab.learning.presets import chosen_optimizer, objective_named, preset_named, with_parts
from mlnlab.learning.priors import Gaussian, PriorLike, priors_of
from mlnlab.learning.problem import Problem
from mlnlab.learning.registry import optimizer_named
from mlnlab.learning.runaways import LearningWarning
from mlnlab.learning.state_fits import refuse_other_problem
from mlnlab.learning.training_data import training_data
from mlnlab.steps.step import Step, numbered, run
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.moments import Objective
    from mlnlab.learning.optimizer import Optimizer
    from mlnlab.learning.presets import Preset
    from mlnlab.learning.training_data import TrainingData
    from mlnlab.model.database import Database
    from mlnlab.model.hiding import FalseFacts
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer

TRACE_BYTES = 64 << 20
USUAL_PRIOR = Gaussian(0.0, 10.0)


_COUNTED_BY = {"lifted": "lifted inference", "by-classes": "classes of groundings"}


@dataclass(frozen=True, slots=True, eq=False)
class WeightLearner:
    """A learner to iterate over: each iteration is a run of its own, which yields a state for each step."""

    preset: Preset
    data: TrainingData
    problem: Problem
    optimizer: Optimizer
    params: Any
    counting_seconds: float  # what it took to count the data, before the first step
    remarks: tuple[str, ...] = ()  # what is wrong with what was asked for, known before the first step
    count_again: Callable[[], object] | None = None  # to measure it where everything is compiled

    def __iter__(self) -> Iterator[LearningState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[LearningState]]:
        """Yield the states with their numbers and times."""
        return numbered(self)

    def resume(self, state: LearningState | None) -> Iterator[LearningState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        if state is not None:
            refuse_other_problem(self.problem, self.optimizer, state)
        return self.optimizer.steps(self.params, self.problem, state)

    def last_state(self, problem: Problem) -> LearningState:
        """Return where the same optimiser ends on another problem, such as that of other databases."""
        *_, last = self.optimizer.steps(self.params, problem, None)
        return last

    def model_at(self, state: LearningState) -> MLN:
        """Return the model with the weights that would be returned if learning ended in a state."""
        return self.data.with_weights(state.answer)

    @property
    def description(self) -> str:
        """What is optimised, and by what, in words."""
        known = _COUNTED_BY.get(self.preset.counts, self.preset.counts)
        counts = f" with counts by {known}" if known else ""
        return f"{self.problem.objective.name}{counts}, {self.optimizer.name}"

    def learned(self, trace: Trace[LearningState], seconds: float = 0.0) -> LearnedWeights:
        """Return what a recorded run has learned."""
        state = trace[-1].state
        at_weights = at_answer(self.problem, state)
        told = diagnosed(
            self.problem, trace[0].state, replace(state, gap=at_weights.gap, value=at_weights.value),
            self.optimizer.name, rate_given=getattr(self.params, "rate", None) is not None,
        )  # fmt: skip
        behind = chains_left_behind(self.data, self.problem, state, self.optimizer.name)
        said = (*self.remarks, *told, *behind)
        return LearnedWeights(
            self.data, self.problem, self.description, state, at_weights, trace, said, seconds,
            learn_again=self.last_state,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<WeightLearner {self.preset.name}: {self.problem.free.number:,} weights, {self.description}>"


class LearningInterrupted(KeyboardInterrupt):
    """Somebody stopped a learner; what it had learned by then is not lost."""

    def __init__(self, learner: WeightLearner, trace: Trace[LearningState], seconds: float) -> None:
        self._learner, self._trace, self._seconds = learner, trace, seconds
        super().__init__(
            f"{learner.preset.name} was stopped after {trace[-1].state.iteration} steps; so_far() returns "
            "what it had "
            "learned."
        )

    def so_far(self) -> LearnedWeights:
        """Return the best weights that there were."""
        best = best_step(self._trace)
        return self._learner.learned(recorded_until(self._trace, best), self._seconds)

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


def weight_learner(
    method: str,
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    prior: PriorLike = USUAL_PRIOR,
    objective: str | None = None,
    optimizer: str | None = None,
    counts: str | None = None,
    units: bool = False,
    false_facts: FalseFacts = "data",
    tied: Sequence[Sequence[int]] = (),
    fixed: Sequence[int] = (),
    bounds: Mapping[int, tuple[float, float]] | tuple[float, float] | None = None,
    start: Sequence[float] | None = None,
    seed: int = 0,
    **options: object,
) -> WeightLearner:
    r"""Return a learner to iterate over, step by step; arguments are those of :func:`ml.learn_weights`.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> learner = ml.weight_learner("pll", mln, db)
    >>> states = list(learner)
    >>> states[-1].ended
    'a further step would gain less than 1e-10 of the objective'
    """
    began = time.perf_counter()
    preset = with_parts(preset_named(method), objective, optimizer, counts)
    counting = Counting(mln, db, query, units, false_facts, preset, {"seed": seed, **options})
    data, optimised, left = counting()
    free = free_weights(data.formulas, tied=tied, fixed=fixed, bounds=bounds)
    if start is not None:
        free = replace(free, start=free.clipped(free.parameters_of(_start(start, len(data.formulas)))))
    free.refuse_huge(data.formulas)
    priors = priors_of(prior, free.parameter, free.number)
    problem = Problem(optimised, free, priors)
    name = preset.optimizer
    if name == "auto":
        name = chosen_optimizer(problem.objective, free, priors)
    chosen = optimizer_named(name)
    chosen.refuse(problem)
    usual = preset.options if optimizer is None else {}
    params = chosen.settings(**{**usual, **left})
    remarks = tuple(foreseen(data, problem))
    seconds = time.perf_counter() - began
    return WeightLearner(preset, data, problem, chosen, params, seconds, remarks, counting)


@dataclass(frozen=True, slots=True, eq=False)
class Counting:
    """What is counted or ground before the first step; each call does so anew."""

    mln: MLN
    databases: Database | Sequence[Database]
    query: Sequence[str] | str | None
    units: bool
    false_facts: FalseFacts
    preset: Preset
    options: Mapping[str, object]  # of the objective and of the optimiser

    def __call__(self) -> tuple[TrainingData, Objective, dict[str, object]]:
        """Return the data, the objective, and the options that are left for the optimiser."""
        data = training_data(
            self.mln, self.databases, self.query, units=self.units, false_facts=self.false_facts
        )
        left = dict(self.options)
        seed, batch = left["seed"], left.pop("batch", None)
        found = objective_named(self.preset.objective, data, self.preset.counts, left)
        if batch is not None:
            found = in_batches(found, len(data.examples), batch, int(str(seed)))
        left.pop("seed", None)
        return data, found, left


def _start(values: Sequence[float], number: int) -> NDArray[np.float64]:
    import numpy as np

    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (number,) or not np.isfinite(found).all():
        raise ArgumentError(
            f"start= needs a finite number for each of the {number} formulas of mln.expand(db)."
        )
    return found


def completed(
    learner: WeightLearner, observers: Iterable[Observer] = (), began: float | None = None
) -> LearnedWeights:
    """Run a learner to its end, with observers, and return what it has learned."""
    first = time.perf_counter() if began is None else began
    if not learner.problem.priors.hold_all:
        for text in learner.remarks:
            warnings.warn(text, LearningWarning, stacklevel=3)
    watching = list(observers)
    for observer in watching:
        begin = getattr(observer, "on_begin", None)
        if begin is not None:  # those that need more than the steps, such as ml.HeldOut
            begin(learner)
    trace: Trace[LearningState] = Trace(budget=TRACE_BYTES)
    try:
        run(learner, observers=(trace, *watching))
        return learner.learned(trace, time.perf_counter() - first)
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise LearningInterrupted(learner, trace, time.perf_counter() - first) from None

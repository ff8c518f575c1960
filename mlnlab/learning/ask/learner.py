"""``ml.weight_learner``: data, objective, prior and optimiser put together, to iterate over or run."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.counters import refuse_left_options
from mlnlab.learning.ask.learned_weights import LearnedWeights, at_answer
from mlnlab.learning.ask.learning_costs import LearningCosts
from mlnlab.learning.ask.presets import (
    Preset,
    chosen_optimizer,
    find_preset,
    make_objective,
    with_counter,
    with_parts,
)
from mlnlab.learning.ask.state_fits import flaw_of, sizes_of
from mlnlab.learning.descent.best_step import best_step, recorded_until
from mlnlab.learning.descent.optimizer_registry import find_optimizer
from mlnlab.learning.diagnosis.diagnostics import chains_left_behind, diagnose_run, foreseen
from mlnlab.learning.diagnosis.runaways import LearningWarning
from mlnlab.learning.problems.free_weights import free_weights
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.learning.problems.mini_batches import in_batches
from mlnlab.learning.problems.priors import Gaussian, PriorLike, priors_of
from mlnlab.learning.problems.problem import Problem
from mlnlab.learning.problems.training_data import TrainingData, identity_of, training_data
from mlnlab.model.database.fingerprints import model_identity
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import RunIdentity, digest, resume_run, settings_text
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import Observer, Step, number_states, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.learning.descent.optimizer import Optimizer
    from mlnlab.learning.problems.moments import Objective
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hiding import FalseFacts
    from mlnlab.model.mln.mln import MLN

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
    settings: str = ""  # of the objective, in words
    seed: str = ""
    begun: str = ""  # a digest of the weights that learning begins at
    most_hours: float | None = None  # that may be begun, by estimate

    def __iter__(self) -> Iterator[LearningState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[LearningState]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    def resume(self, state: LearningState | None) -> Iterator[LearningState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return resume_run(
            self.identity, LearningState, state, partial(self.optimizer.steps, self.params, self.problem),
            partial(sizes_of, self.problem), partial(flaw_of, self.problem, self.optimizer),
        )  # fmt: skip

    @property
    def identity(self) -> RunIdentity:
        """The identity that tells a run of this learner from others."""
        return RunIdentity(
            f"{self.preset.name} ({self.description})",
            data=digest(self.data.false_facts, *(identity_of(one) for one in self.data.examples)),
            model=model_identity(self.data.mln),
            weights=digest(self.problem.free.identity, self.begun),
            question=digest(self.data.query),
            settings=", ".join(filter(None, (settings_text(self.params, ("iterations",)), self.settings))),
            prior=self.problem.priors.identity,
            seed=self.seed,
        )

    def last_state(self, problem: Problem) -> LearningState:
        """Return where the same optimiser ends on another problem, such as that of other databases."""
        *_, last = self.optimizer.steps(self.params, problem, None)
        return last

    def model_at(self, state: LearningState) -> MLN:
        """Return the model with the weights that would be returned if learning ended in a state."""
        # A state that comes after changes by hand is of another run, and has an answer all the same.
        if len(getattr(state, "answer", ())) != len(self.data.formulas):
            raise ArgumentError(
                f"There is no model in this: a state of a learner of {len(self.data.formulas)} formulas is "
                f"needed, not something of type {type(state).__name__:.60}."
            )
        return self.data.with_weights(state.answer)

    @property
    def description(self) -> str:
        """The objective and its optimiser, in words."""
        known = _COUNTED_BY.get(self.preset.counts, self.preset.counts)
        counts = f" with counts by {known}" if known else ""
        return f"{self.problem.objective.name}{counts}, {self.optimizer.name}"

    @property
    def costs(self) -> LearningCosts:
        """The estimates by which a run is refused."""
        return LearningCosts(self.preset.name, self.problem, self.optimizer, self.params, self.most_hours)

    @property
    def averages(self) -> str:
        """The average that the weights to return are, in words; empty where they are the last step's."""
        return str(getattr(self.params, "averages", ""))

    def learned(self, trace: Trace[LearningState], seconds: float = 0.0) -> LearnedWeights:
        """Return the learned weights of a recorded run."""
        state = trace[-1].state
        at_weights = at_answer(self.problem, state)
        told = diagnose_run(
            self.problem, trace[0].state, replace(state, gap=at_weights.gap, value=at_weights.value),
            self.optimizer.name, rate_given=getattr(self.params, "rate", None) is not None,
        )  # fmt: skip
        behind = chains_left_behind(self.data, self.problem, state, self.optimizer.name)
        said = (*self.remarks, *told, *behind)
        return LearnedWeights(
            self.data, self.problem, self.description, state, at_weights, trace, said, seconds,
            averaged=self.averages if state.answer_is_average else "", learn_again=self.last_state,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<WeightLearner {self.preset.name}: {self.problem.free.number:,} weights, {self.description}>"


def _make_interruption(learner: WeightLearner, trace: Trace[LearningState], seconds: float) -> Interrupted:
    def read_known() -> LearnedWeights:
        return learner.learned(recorded_until(trace, best_step(trace)), seconds)

    last = trace[-1].state
    return Interrupted(
        f"{learner.preset.name} was stopped after {last.iteration} steps; ml.so_far() returns what it had "
        "learned.", read_known, last,
    )  # fmt: skip


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
    most_hours: float | None = None,
    **options: object,
) -> WeightLearner:
    r"""Return a learner to iterate over, step by step; arguments are those of :func:`ml.learn_weights`.

    A learner is refused if a single step would take more than ``most_hours`` (6), or more memory than there
    is.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> learner = ml.weight_learner("pll", mln, db)
    >>> states = list(learner)
    >>> states[-1].ended
    'a further step would gain less than 1e-10 of the objective'
    """
    began = time.perf_counter()
    preset = with_counter(
        with_parts(find_preset(method), objective, optimizer, counts), options, (optimizer, counts)
    )
    given = {"seed": seed, "most_hours": most_hours, **options}
    counting = Counting(mln, db, query, units, false_facts, preset, given)
    data, optimised, left = counting()
    free = free_weights(data.formulas, tied=tied, fixed=fixed, bounds=bounds)
    if start is not None:
        free = replace(
            free, start=free.clip_parameters(free.parameters_of(_start(start, len(data.formulas))))
        )
    free.refuse_huge(data.formulas)
    priors = priors_of(prior, free.parameter, free.number)
    problem = Problem(optimised, free, priors)
    name = preset.optimizer
    if name == "auto":
        name = chosen_optimizer(problem.objective, free, priors)
    chosen = find_optimizer(name)
    chosen.refuse(problem)
    usual = preset.options if optimizer is None else {}
    refuse_left_options(options.get("counter"), chosen, left)
    params = chosen.settings(**{**usual, **left})
    remarks = tuple(foreseen(data, problem))
    seconds = time.perf_counter() - began
    own = ", ".join(f"{key}={_in_words(value)}" for key, value in sorted(options.items()) if key not in left)
    learner = WeightLearner(
        preset, data, problem, chosen, params, seconds, remarks, counting, own, str(seed), digest(free.start),
        most_hours,
    )  # fmt: skip
    learner.costs.refuse_step()
    return learner


def _in_words(value: object) -> str:
    """Return the text of an option; a function by its name, because its address is never the same."""
    return str(getattr(value, "__qualname__", repr(value)))


@dataclass(frozen=True, slots=True, eq=False)
class Counting:
    """Counts or grounds the data before the first step; each call does so anew."""

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
        found = make_objective(self.preset.objective, data, self.preset.counts, left)
        if batch is not None:
            found = in_batches(found, len(data.examples), batch, int(str(seed)))
        left.pop("seed", None)
        left.pop("most_hours", None)
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


def complete_run(
    learner: WeightLearner, observers: Iterable[Observer] = (), began: float | None = None
) -> LearnedWeights:
    """Run a learner to its end, with observers, and return the learned weights."""
    learner.costs.refuse_run()
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
        raise _make_interruption(learner, trace, time.perf_counter() - first) from None

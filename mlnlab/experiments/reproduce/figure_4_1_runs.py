"""One learner of Figure 4.1 on one fold: it learns, is judged now and then, and can be stopped and resumed.

Its progress is a value: the last state, the seconds that learning alone has taken, and the scores so far. It
is kept in a file whenever there is a new score, and each minute besides; and after the end, so that a longer
run goes on from it.

Databases are ground once for all folds: a fold learns from some and is judged on the others. Words that stand
in the latter alone have weights too, which nothing moves from 0, where they say nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import MlnlabError
from mlnlab.experiments.folds.kept_files import keeping
from mlnlab.experiments.reproduce.figure_4_1_scores import ALL, Score, tally_of
from mlnlab.learning.ask.held_out import HiddenAtoms
from mlnlab.learning.ask.learner import WeightLearner, weight_learner
from mlnlab.learning.ask.presets import find_preset, make_estimator
from mlnlab.learning.descent.optimizer_registry import find_optimizer
from mlnlab.learning.objectives.conditional_log_likelihood import EstimatedLogLikelihood
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.safe_files import make_folder
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from mlnlab.learning.problems.priors import PriorLike
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

_SAVED_EVERY = 60.0  # seconds
# What learning's seconds are counted by; a busy machine gives learners processor time one after the other.
CLOCKS: Mapping[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


@dataclass(frozen=True, slots=True, eq=False)
class GroundDatabases:
    """Databases that are ground under one list of formulas, for learners of some of them."""

    names: tuple[str, ...]
    learner: WeightLearner
    objective: EstimatedLogLikelihood

    def learner_on(self, method: str, names: Sequence[str], **options: object) -> WeightLearner:
        """Return a learner on some of the databases."""
        preset = find_preset(method)
        expecting = make_estimator(preset.counts, options)
        optimizer = find_optimizer(preset.optimizer)
        objective = replace(self.objective, expecting=expecting).part(self._places(names))
        return replace(
            self.learner, preset=preset, problem=replace(self.learner.problem, objective=objective),
            optimizer=optimizer, params=optimizer.settings(**{**preset.options, **options}),
        )  # fmt: skip

    def hide_atoms(self, names: Sequence[str], samples: int, burn_in: int, seed: int) -> HiddenAtoms:
        """Return the predicted atoms of some of the databases, to be judged by."""
        examples = tuple(self.objective.examples[place] for place in self._places(names))
        return HiddenAtoms(examples, samples, burn_in, seed)

    def _places(self, names: Sequence[str]) -> list[int]:
        return [self.names.index(name) for name in names]


def ground_databases(
    mln: MLN, databases: Mapping[str, Database], query: Sequence[str], prior: PriorLike,
    options: Mapping[str, Any],
) -> GroundDatabases:  # fmt: skip
    """Ground all databases."""
    learner = weight_learner("pscg", mln, list(databases.values()), query, prior=prior, **options)
    objective = learner.problem.objective
    assert isinstance(objective, EstimatedLogLikelihood)  # noqa: S101 - that of pscg
    return GroundDatabases(tuple(databases), learner, objective)


@storable("figure_4_1.Progress")
@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far a learner has come on a fold."""

    key: str  # a hash of what it depends on
    seconds: float = 0.0
    scores: tuple[Score, ...] = ()
    state: LearningState | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """The judging of models: hidden atoms, predicates judged alone too, and whether (A, A) counts."""

    hidden: HiddenAtoms
    alone: Sequence[str] = ()
    with_itself: bool = True

    def score(self, state: LearningState, seconds: float) -> Score:
        """Return the score of a state's answer."""
        judged = self.hidden.evaluation(state.answer).judged
        if not self.with_itself:
            judged = judged.where([len(set(atom.arguments)) > 1 for atom in judged.atoms])
        parts = {ALL: judged, **{name: judged.of([name]) for name in self.alone}}
        samples = self.hidden.samples
        tallies = tuple(tally_of(name, part, samples) for name, part in parts.items())
        return Score(state.iteration, seconds, tallies)


def progressing(
    learner: WeightLearner, judging: Judging, seconds: float, spacing: float, begin: Progress,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Progress]:  # fmt: skip
    """Yield how far the learner has come after each of its states; the last one is judged."""
    now = begin
    next(learner.resume(None))  # compiles kernels, and orders clauses, which is no part of learning's time
    states = learner.resume(begin.state)
    while now.seconds < seconds:
        began = clock()
        state = next(states, None)
        if state is None:
            return
        spent = now.seconds + clock() - began
        scores = now.scores
        if not scores or spent >= min(seconds, spacing * scores[-1].seconds) or state.ended:
            scores = (*scores, judging.score(state, spent))
        now = replace(now, seconds=spent, scores=scores, state=state)
        yield now


def finish_run(
    learner: WeightLearner, judging: Judging, seconds: float, spacing: float, key: str, file: Path,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Score, ...]:  # fmt: skip
    """Return all scores of a run; where a part of it is in the file, only the rest is run."""
    last = load_progress(file, key)
    saved = time.monotonic()
    for now in progressing(learner, judging, seconds, spacing, last, clock):
        if len(now.scores) > len(last.scores) or time.monotonic() - saved > _SAVED_EVERY:
            with keeping():
                make_folder(file.parent)
                save_checkpoint(file, now)
            saved = time.monotonic()
        last = now
    return last.scores


def load_progress(file: Path, key: str) -> Progress:
    """Return the progress in a file; none where there is no such file, or it is of something else."""
    try:
        found = load_checkpoint(file).state
    except MlnlabError:
        return Progress(key)
    return found if isinstance(found, Progress) and found.key == key else Progress(key)

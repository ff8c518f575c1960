"""Figure 4.1 of Lowd's thesis made anew: CLL and AUC against learning time, learner by learner.

    mlnlab reproduce figure-4.1 --folder results --data cora --seconds 600

Seven learners (VP, VP-PW, CD, CD-PW, DN, SCG, PSCG) learn on all folds but one and are judged on that one, at
times that are even on a logarithmic scale. Those with a rate have it tuned on a validation fold, for CLL and
for AUC separately, where time is given for that; otherwise it adapts itself. Each learner on each fold is a
piece of work, kept in the folder when it is finished, and what is not finished is kept as it comes: a second
start goes on where the first one stopped, in the middle of a run too. Switches are options of the learners,
to see what a difference from the thesis is due to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.experiments.folds.fold_results import file_of, fingerprint, hash_texts
from mlnlab.experiments.folds.folds import Fold, folds
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.experiments.reproduce.figure_4_1_runs import (
    CLOCKS,
    GroundDatabases,
    Judging,
    finish_run,
    ground_databases,
)
from mlnlab.experiments.reproduce.figure_4_1_scores import Figure, Piece, Score, figure
from mlnlab.experiments.reproduce.figure_4_1_switches import Switches, refuse_wrong, select_switches
from mlnlab.learning.ask.tuning import MEASURES, best_trial, tried_rates
from mlnlab.learning.problems.priors import Gaussian

if TYPE_CHECKING:
    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

__all__ = ["LEARNERS", "Figure", "Piece", "Score", "Settings", "Task", "figure", "pieces"]

LEARNERS = ("vp", "vp-pw", "cd", "cd-pw", "dn", "scg", "pscg")
WITH_RATES = ("vp", "vp-pw", "cd", "cd-pw")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A learning task: a model, a database for each fold, and the predicates to predict and to judge."""

    name: str
    mln: MLN
    databases: Mapping[str, Database]
    query: tuple[str, ...]
    alone: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of learning
    with_itself: bool = True  # whether atoms such as SameBib(A, A) are judged; False where they always hold


@dataclass(frozen=True, slots=True)
class Settings:
    """How long each learner may take on a fold, and how its answers are found."""

    seconds: float = 600.0
    tuning_seconds: float = 0.0  # for each rate that is tried; 0: rates adapt themselves
    rates: tuple[float, ...] = ()  # to try; empty: 1/16 to 64 times that of the curvature
    samples: int = 1000  # on the fold held out
    burn_in: int = 100
    spacing: float = 1.5  # a score comes when learning has taken so many times as long as at the one before
    deviation: float = 2.0  # of the Gaussian prior
    seed: int = 0
    clock: str = "wall"  # or "processor"
    # Options of learners; each piece's hash has those that its learner knows, beside the task's.
    switches: Switches = field(default=(), repr=False)


def pieces(
    task: Task,
    settings: Settings,
    folder: Path,
    learners: Sequence[str] = LEARNERS,
    only: Sequence[str] = (),
) -> Iterator[tuple[Piece, bool]]:
    """Yield each piece, and whether it was found in the folder; ``only`` names folds to test on."""
    unknown = [name for name in only if name not in task.databases]
    if unknown:
        raise ArgumentError(f"There is no fold {unknown[0]!s:.60}; there are: {', '.join(task.databases)}.")
    refuse_wrong(settings.switches, learners)
    work = Workshop(task, settings, folder)
    for fold in folds(list(task.databases)):
        for learner in learners if not only or fold.name in only else ():
            known = load_piece(folder, task.name, learner, fold.name, work.key(fold, learner, settings))
            if known is not None:
                yield known, True
                continue
            piece = work.make_piece(fold, learner)
            if not piece.problem:
                keep(file_of(folder, f"{task.name} {learner}", fold.name, piece.settings), piece)
            yield piece, False


@dataclass(eq=False)
class Workshop:
    """Where pieces are made: the databases are ground when the first piece needs them."""

    task: Task
    settings: Settings
    folder: Path

    @cached_property
    def prints(self) -> Mapping[str, str]:
        """A hash of each database."""
        return {name: fingerprint(db) for name, db in self.task.databases.items()}

    def key(self, fold: Fold, learner: str, settings: Settings, rate: float | None = None) -> str:
        """Return a hash of everything that a result depends on."""
        names = [(part, name) for part in ("train", "test") for name in getattr(fold, part)]
        parts = [f"{part} {name} {self.prints[name]}" for part, name in names]
        own = select_switches(learner, settings.switches)
        options = repr(sorted({**self.task.options, **own}.items()))
        return hash_texts(self.task.mln.to_text(), *parts, learner, repr(settings), options, repr(rate))

    @cached_property
    def ground(self) -> GroundDatabases:
        """The databases of all folds."""
        task = self.task
        prior = Gaussian(0, self.settings.deviation)
        return ground_databases(task.mln, task.databases, task.query, prior, task.options)

    def learner(self, method: str, names: Sequence[str], rate: float | None = None) -> WeightLearner:
        """Return a learner on some of the databases, with the switches that it knows."""
        options = {"rate": rate, **select_switches(method, self.settings.switches)}
        return self.ground.learner_on(method, names, seed=self.settings.seed, iterations=10**9, **options)

    def make_piece(self, fold: Fold, learner: str) -> Piece:
        """Learn and judge; an error is recorded in the piece, so that others go on."""
        key = self.key(fold, learner, self.settings)
        try:
            rates = self._rates(fold, learner)
            found = [self._scores(fold, learner, rate) for rate in dict.fromkeys(rates)]
        except MlnlabError as problem:
            return Piece(learner, fold.name, key, (), (), problem=str(problem))
        chosen = tuple(rate for rate in rates if rate is not None)
        return Piece(learner, fold.name, key, found[0], found[-1], chosen)

    def _rates(self, fold: Fold, learner: str) -> list[float | None]:
        """Return the rates for CLL and for AUC (thesis, section 4.3.3)."""
        settings = self.settings
        given = "rate" in select_switches(learner, settings.switches)
        if learner not in WITH_RATES or not settings.tuning_seconds or given:
            return [None]
        if not fold.validation:
            raise ArgumentError("Rates are tuned on a validation fold; that takes three folds or more.")
        trying = self.learner(learner, fold.tuning)
        hidden = self.ground.hide_atoms(fold.validation, settings.samples, settings.burn_in, settings.seed)
        trials = tried_rates(trying, hidden, settings.rates or None, settings.tuning_seconds)
        return [best_trial(trials, by).rate for by in MEASURES]

    def _scores(self, fold: Fold, method: str, rate: float | None) -> tuple[Score, ...]:
        settings, task = self.settings, self.task
        # What a run has learned by some second does not depend on how long it may go on.
        key = self.key(fold, method, replace(settings, seconds=0.0, tuning_seconds=0.0, rates=()), rate)
        file = file_of(self.folder, f"{task.name} {method}", fold.name, key).with_suffix(".npz")
        learner = self.learner(method, fold.train, rate)
        hidden = self.ground.hide_atoms(fold.test, settings.samples, settings.burn_in, settings.seed)
        judging = Judging(hidden, task.alone, task.with_itself)
        return finish_run(
            learner, judging, settings.seconds, settings.spacing, key, file, CLOCKS[settings.clock]
        )


# --- files ------------------------------------------------------------------------------------------


def load_piece(folder: Path, task: str, learner: str, fold: str, key: str) -> Piece | None:
    """Return a piece that was finished before; ``None`` where there is none, or its file is damaged."""
    found = read_record(file_of(folder, f"{task} {learner}", fold, key))
    return found if isinstance(found, Piece) and has_declared_types(found) and found.settings == key else None

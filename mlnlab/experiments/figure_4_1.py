"""Figure 4.1 of Lowd's thesis made anew: CLL and AUC against learning time, learner by learner.

    mlnlab reproduce figure-4.1 --folder results --data cora --seconds 600

Seven learners (VP, VP-PW, CD, CD-PW, DN, SCG, PSCG) learn on all folds but one and are judged on that one
after 1, 2, 4, 8 ... iterations. Those with a rate have it tuned on a validation fold, for CLL and for AUC
separately, where time is given for that; otherwise it adapts itself. Each learner on each fold is a piece of
work, which is kept in the folder when it is finished: a second start goes on where the first one stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.evaluation.evaluating import Evaluation
from mlnlab.experiments.fold_results import file_of, fingerprint, hashed
from mlnlab.experiments.folds import Fold, folds
from mlnlab.learning.held_out import HeldOut, HeldOutScore
from mlnlab.learning.learner import weight_learner
from mlnlab.learning.priors import Gaussian
from mlnlab.learning.tuning import tune_rate
from mlnlab.steps.encoding import REGISTRY, storable
from mlnlab.steps.learning_curve import LearningCurve, Series
from mlnlab.steps.safe_files import replacing
from mlnlab.steps.step import run

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.learning.held_out import Measure
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

LEARNERS = ("vp", "vp-pw", "cd", "cd-pw", "dn", "scg", "pscg")
WITH_RATES = ("vp", "vp-pw", "cd", "cd-pw")
# AUC of SameBib alone at the end of the thesis's runs (section 4.3.4), and the best before them.
THESIS = {"pscg": 0.990, "dn": 0.992, "cd-pw": 0.991}
BEFORE_THESIS = 0.988


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is learned: a model, a database for each fold, what is predicted, and what is judged alone."""

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
    deviation: float = 2.0  # of the Gaussian prior
    seed: int = 0


@storable("figure_4_1.Score")
@dataclass(frozen=True, slots=True)
class Score:
    """What was reached after some seconds of learning; ``of`` is a predicate, or "all"."""

    of: str
    iteration: int
    seconds: float
    cll: float
    auc: float


@storable("figure_4_1.Piece")
@dataclass(frozen=True, slots=True)
class Piece:
    """One learner on one fold. What is tuned for CLL and what for AUC are two runs; without rates one."""

    learner: str
    fold: str
    settings: str  # a hash of what the result depends on
    by_cll: tuple[Score, ...]
    by_auc: tuple[Score, ...]
    rates: tuple[float, ...] = ()  # for CLL and for AUC, where they were tuned
    problem: str = ""

    def scores(self, measure: Measure, of: str) -> list[Score]:
        """Return the scores that belong to a measure's curve."""
        return [score for score in (self.by_cll if measure == "cll" else self.by_auc) if score.of == of]


@dataclass(frozen=True, slots=True)
class Figure:
    """The finished pieces of one task."""

    task: str
    pieces: tuple[Piece, ...]

    @property
    def judged(self) -> tuple[str, ...]:
        """What was judged: "all" predicates together, and single ones."""
        return tuple(dict.fromkeys(score.of for piece in self.pieces for score in piece.by_cll))

    def curve(self, measure: Measure, of: str = "all") -> LearningCurve:
        """Return a measure against seconds, the mean over folds, for each learner."""
        series = []
        for learner in dict.fromkeys(piece.learner for piece in self.pieces):
            runs = [p.scores(measure, of) for p in self.pieces if p.learner == learner and not p.problem]
            runs = [scores for scores in runs if scores]
            if runs:
                seconds, means = mean_curve(runs, measure)
                series.append(Series(learner, np.arange(len(seconds), dtype=np.float64), means, seconds))
        return LearningCurve(tuple(series), f"{measure.upper()} of {of}").by_seconds()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each learner and what is judged: best and last scores, means over folds."""
        import pandas as pd

        rows = [
            row
            for of in self.judged
            for learner in dict.fromkeys(piece.learner for piece in self.pieces)
            if (row := self._row(learner, of)) is not None
        ]
        names = ["learner", "of", "folds", "iterations", "cll", "best_cll", "auc", "best_auc", "thesis_auc"]
        return pd.DataFrame(rows, columns=names)

    def _row(self, learner: str, of: str) -> list[object] | None:
        own = [piece for piece in self.pieces if piece.learner == learner and not piece.problem]
        if not own:
            return None
        last: dict[str, float] = {}
        for measure in ("cll", "auc"):
            found = [[getattr(s, measure) for s in piece.scores(measure, of)] for piece in own]
            last[measure] = float(np.mean([values[-1] for values in found]))
            last[f"best_{measure}"] = float(np.mean([np.nanmax(values) for values in found]))
        iterations = float(np.mean([piece.scores("cll", of)[-1].iteration for piece in own]))
        thesis = THESIS.get(learner) if (self.task, of) == ("cora", "SameBib") else None
        scores = [last[name] for name in ("cll", "best_cll", "auc", "best_auc")]
        return [learner, of, len(own), iterations, *scores, thesis]


def mean_curve(runs: Sequence[Sequence[Score]], measure: Measure) -> tuple[Any, Any]:
    """Return seconds and the mean of the runs' latest scores there, from when every run has one."""
    begin = max(scores[0].seconds for scores in runs)
    end = max(scores[-1].seconds for scores in runs)
    first = max(begin, 1e-3)
    seconds = np.geomspace(first, max(end, 1.001 * first), 60)
    values = []
    for scores in runs:
        times = np.array([score.seconds for score in scores])
        known = np.array([getattr(score, measure) for score in scores], np.float64)
        values.append(known[np.maximum(0, np.searchsorted(times, seconds, side="right") - 1)])
    return seconds, np.mean(values, axis=0)


# --- running ----------------------------------------------------------------------------------------


def pieces(
    task: Task,
    settings: Settings,
    folder: Path,
    learners: Sequence[str] = LEARNERS,
    only: Sequence[str] = (),
) -> Iterator[tuple[Piece, bool]]:
    """Yield each piece, and whether it was found in the folder; ``only`` names folds to test on."""
    prints = {name: fingerprint(db) for name, db in task.databases.items()}
    chosen = [fold for fold in folds(list(task.databases)) if not only or fold.name in only]
    if not chosen:
        raise ArgumentError(f"There is no fold {only[0]!s:.60}; there are: {', '.join(task.databases)}.")
    for fold in chosen:
        for learner in learners:
            parts = [
                f"{part} {name} {prints[name]}" for part in ("train", "test") for name in getattr(fold, part)
            ]
            key = hashed(
                task.mln.to_text(), *parts, learner, repr(settings), repr(sorted(task.options.items()))
            )
            known = stored(folder, task.name, learner, fold.name, key)
            if known is not None:
                yield known, True
                continue
            piece = made(task, settings, fold, learner, key)
            if not piece.problem:
                store(folder, task.name, piece)
            yield piece, False


def made(task: Task, settings: Settings, fold: Fold, learner: str, key: str) -> Piece:
    """Learn and judge; what goes wrong is told in the piece, so that others go on."""
    try:
        rates = _rates(task, settings, fold, learner)
        found = [_run(task, settings, fold, learner, rate) for rate in dict.fromkeys(rates)]
    except MlnlabError as problem:
        return Piece(learner, fold.name, key, (), (), problem=str(problem))
    return Piece(
        learner, fold.name, key, found[0], found[-1], tuple(rate for rate in rates if rate is not None)
    )


def _rates(task: Task, settings: Settings, fold: Fold, learner: str) -> list[float | None]:
    """Return the rates for CLL and for AUC (thesis, section 4.3.3)."""
    if learner not in WITH_RATES or not settings.tuning_seconds:
        return [None]
    if not fold.validation:
        raise ArgumentError("Rates are tuned on a validation fold; that takes three folds or more.")
    tuned = tune_rate(
        learner, task.mln, [task.databases[name] for name in fold.tuning], task.query,
        validation=[task.databases[name] for name in fold.validation], rates=settings.rates or None,
        seconds=settings.tuning_seconds, samples=settings.samples, burn_in=settings.burn_in,
        seed=settings.seed, prior=Gaussian(0, settings.deviation), iterations=10**9, **task.options,
    )  # fmt: skip
    return [tuned.rate("cll"), tuned.rate("auc")]


def _run(task: Task, settings: Settings, fold: Fold, method: str, rate: float | None) -> tuple[Score, ...]:
    given: dict[str, Any] = {} if rate is None else {"rate": rate}
    learner = weight_learner(
        method, task.mln, [task.databases[name] for name in fold.train], task.query, seed=settings.seed,
        prior=Gaussian(0, settings.deviation), iterations=10**9, **given, **task.options,
    )  # fmt: skip
    watching = HeldOut(
        [task.databases[name] for name in fold.test], every="doubling", samples=settings.samples,
        burn_in=settings.burn_in, seed=settings.seed,
    )  # fmt: skip
    watching.on_begin(learner)
    run(
        learner,
        stop=lambda step: watching.learning_seconds(step) >= settings.seconds,
        observers=[watching],
    )
    return tuple(one for score in watching.scores for one in _scored(task, score))


def _scored(task: Task, score: HeldOutScore) -> Iterator[Score]:
    judged = score.judged
    if not task.with_itself:
        judged = judged.where([len(set(atom.arguments)) > 1 for atom in judged.atoms])
    whole = Evaluation(judged)
    for name in ("all", *task.alone):
        part = whole if name == "all" else whole.of(name)
        yield Score(name, score.iteration, score.seconds, part.cll.value, part.curve.area)


# --- files ------------------------------------------------------------------------------------------


def store(folder: Path, task: str, piece: Piece) -> None:
    """Write a piece beside and rename it, so that it is whole or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(file_of(folder, f"{task} {piece.learner}", piece.fold, piece.settings)) as file:
        file.write(json.dumps(REGISTRY.encoded(piece)).encode())


def stored(folder: Path, task: str, learner: str, fold: str, key: str) -> Piece | None:
    """Return a piece that was finished before; ``None`` where there is none, or its file is damaged."""
    try:
        text = file_of(folder, f"{task} {learner}", fold, key).read_text(encoding="utf-8")
        found = REGISTRY.decoded(json.loads(text))
    except (OSError, ValueError, TypeError, MlnlabError):
        return None
    return found if isinstance(found, Piece) and found.settings == key else None


def figure(task: Task, found: Iterable[Piece]) -> Figure:
    """Return the figure of the pieces that have anything to show."""
    kept = tuple(piece for piece in found if any(isfinite(score.cll) for score in piece.by_cll))
    return Figure(task.name, kept)

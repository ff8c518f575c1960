"""Compute the scores of Figure 4.1: pooled over folds, as curves and as a table.

MC-SAT says of an atom in how many of its samples it was true. Tallied by that number, the atoms of several
folds can be added up, and CLL and AUC follow from the sums as if all atoms had been judged at once: pooled,
as in the thesis, not as means over folds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.evaluation.evaluating import PRIOR
from mlnlab.evaluation.precision_recall import areas
from mlnlab.steps.recordings.learning_curve import LearningCurve, Series
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.evaluation.judged_atoms import JudgedAtoms
    from mlnlab.learning.ask.held_out import Measure

# AUC of SameBib alone on Cora (thesis, section 4.3.4): the highest, and at the end of ten hours.
THESIS = {"pscg": (0.992, 0.990), "dn": (0.992, 0.992), "cd-pw": (0.991, 0.991)}
BEFORE_THESIS = 0.988  # Singla and Domingos, "Entity resolution with Markov logic", ICDM 2006
ALL = "all"
_RESAMPLES = 400
_SOONEST = 1e-3  # seconds: for scales of logarithms

Rows = tuple[tuple[int, int, int], ...]


@storable("figure_4_1.Tally")
@dataclass(frozen=True)
class Tally:
    """A tally of atoms: for each number of samples with the atom true, the true and false atoms."""

    of: str  # a predicate, or "all"
    samples: int
    rows: Rows

    @cached_property
    def _columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The columns sample count, true atoms and false atoms, the most probable atoms first."""
        table = np.array(self.rows, np.float64).reshape(-1, 3)[::-1]
        return table[:, 0], table[:, 1], table[:, 2]

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return sum(true + false for _, true, false in self.rows)

    @property
    def cll(self) -> tuple[float, float]:
        """The mean log-probability of the true values, and its standard error."""
        times, true, false = self._columns
        number = true.sum() + false.sum()
        if not number:
            return nan, nan
        said = (times + PRIOR) / (self.samples + 2 * PRIOR)
        logs = np.log(said), np.log1p(-said)
        mean = float(true @ logs[0] + false @ logs[1]) / number
        squares = float(true @ (logs[0] - mean) ** 2 + false @ (logs[1] - mean) ** 2)
        return mean, sqrt(squares / max(1.0, number - 1) / number)

    @property
    def auc(self) -> float:
        """The area under the precision-recall curve."""
        _, true, false = self._columns
        return float(areas(np.cumsum(true)[None], np.cumsum(false)[None])[0]) if true.any() else nan

    def auc_error(self, seed: int = 0) -> float:
        """Return the standard error of the area: that of drawing the atoms anew."""
        _, true, false = self._columns
        if not true.any():
            return nan
        shares = np.concatenate([true, false])
        number = int(shares.sum())
        drawn = np.random.default_rng(seed).multinomial(number, shares / number, _RESAMPLES).astype(float)
        found = areas(np.cumsum(drawn[:, : len(true)], axis=1), np.cumsum(drawn[:, len(true) :], axis=1))
        return float(found[np.isfinite(found)].std(ddof=1))

    def value(self, measure: Measure) -> float:
        """Return one of the measures."""
        return self.cll[0] if measure == "cll" else self.auc


def tally_of(name: str, judged: JudgedAtoms, samples: int) -> Tally:
    """Return the tally of some judged atoms."""
    times = np.round(judged.probabilities * samples).astype(np.int64)
    true = Counter(times[judged.truths].tolist())
    false = Counter(times[~judged.truths].tolist())
    return Tally(name, samples, tuple((n, true[n], false[n]) for n in sorted(true.keys() | false.keys())))


@lru_cache(maxsize=4096)
def pool_tallies(tallies: tuple[Tally, ...]) -> Tally:
    """Return the tally of all atoms together."""
    true: Counter[int] = Counter()
    false: Counter[int] = Counter()
    for tally in tallies:
        for times, holding, not_holding in tally.rows:
            true[times] += holding
            false[times] += not_holding
    first = tallies[0]
    return Tally(first.of, first.samples, tuple((n, true[n], false[n]) for n in sorted(true)))


@storable("figure_4_1.Score")
@dataclass(frozen=True, slots=True)
class Score:
    """The score after some iterations and seconds of learning: a tally for each judged part."""

    iteration: int
    seconds: float
    tallies: tuple[Tally, ...]

    def of(self, name: str) -> Tally:
        """Return the tally of a predicate, or of all."""
        return next(tally for tally in self.tallies if tally.of == name)


@storable("figure_4_1.Piece")
@dataclass(frozen=True, slots=True)
class Piece:
    """One learner on one fold. Tuning for CLL and for AUC gives two runs; without rates there is one."""

    learner: str
    fold: str
    settings: str  # a hash of what the result depends on
    by_cll: tuple[Score, ...]
    by_auc: tuple[Score, ...]
    rates: tuple[float, ...] = ()  # for CLL and for AUC, where they were tuned
    problem: str = ""

    def scores(self, measure: Measure) -> tuple[Score, ...]:
        """Return the scores that belong to a measure's curve."""
        return self.by_cll if measure == "cll" else self.by_auc


@dataclass(frozen=True, slots=True)
class Figure:
    """The finished pieces of one task."""

    task: str
    pieces: tuple[Piece, ...]

    @property
    def judged(self) -> tuple[str, ...]:
        """The judged parts: "all" predicates together, and single ones."""
        scores = (score for piece in self.pieces for score in piece.by_cll)
        return tuple(dict.fromkeys(tally.of for score in scores for tally in score.tallies))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners of which there is a piece."""
        return tuple(dict.fromkeys(piece.learner for piece in self.pieces))

    def of_folds(self, *folds: str) -> Figure:
        """Return the figure of some folds alone."""
        return Figure(self.task, tuple(piece for piece in self.pieces if piece.fold in folds))

    def runs(self, learner: str, measure: Measure) -> list[tuple[Score, ...]]:
        """Return a learner's scores, fold by fold."""
        own = (piece for piece in self.pieces if piece.learner == learner and not piece.problem)
        return [piece.scores(measure) for piece in own if piece.scores(measure)]

    def curve(self, measure: Measure, of: str = ALL) -> LearningCurve:
        """Return a measure against seconds, of the atoms of all folds together, for each learner."""
        series = []
        for learner in self.learners:
            runs = self.runs(learner, measure)
            if runs:
                seconds = common_seconds(runs)
                values = [pool_tallies(at(runs, second, of)).value(measure) for second in seconds]
                steps = np.arange(len(seconds), dtype=np.float64)
                series.append(Series(learner, steps, np.array(values), seconds))
        return LearningCurve(tuple(series), f"{measure.upper()} of {of}").by_seconds()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each learner and judged part: last and best scores of all folds' atoms."""
        import pandas as pd

        found = (self._row(learner, of) for of in self.judged for learner in self.learners)
        rows = [row for row in found if row is not None]
        if self.task == "cora" and rows:
            rows.append({"learner": "Singla and Domingos 2006", "of": "SameBib", "thesis_auc": BEFORE_THESIS})
        # Whole numbers stay whole where a row has none.
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype({"folds": "Int64", "atoms": "Int64"})

    def _row(self, learner: str, of: str) -> dict[str, object] | None:
        by_cll, by_auc = self.runs(learner, "cll"), self.runs(learner, "auc")
        if not by_cll:
            return None
        last = {name: pool_tallies(tuple(run[-1].of(of) for run in runs)) for name, runs in
                (("cll", by_cll), ("auc", by_auc))}  # fmt: skip
        best = {name: float(np.nanmax(self.curve(name, of)[learner].values)) for name in ("cll", "auc")}
        thesis = THESIS.get(learner, (nan, nan)) if (self.task, of) == ("cora", "SameBib") else (nan, nan)
        iterations, seconds = zip(*((run[-1].iteration, run[-1].seconds) for run in by_cll), strict=True)
        values = (
            learner, of, len(by_cll), last["cll"].atoms,
            float(np.mean(iterations)), max(seconds), *last["cll"].cll, best["cll"],
            last["auc"].auc, last["auc"].auc_error(), best["auc"], thesis[1], thesis[0],
        )  # fmt: skip
        return dict(zip(_COLUMNS, values, strict=True))


_COLUMNS = (
    "learner", "of", "folds", "atoms", "iterations", "seconds", "cll", "cll_error", "best_cll",
    "auc", "auc_error", "best_auc", "thesis_auc", "thesis_best_auc",
)  # fmt: skip


def common_seconds(runs: Sequence[Sequence[Score]]) -> NDArray[np.float64]:
    """Return the seconds of all scores, from when every run has one."""
    first = max(_SOONEST, *(scores[0].seconds for scores in runs))
    return np.unique([max(first, score.seconds) for scores in runs for score in scores])


def at(runs: Sequence[Sequence[Score]], second: float, of: str) -> tuple[Tally, ...]:
    """Return each run's latest tally at a second."""
    found = []
    for scores in runs:
        past = [score for score in scores if score.seconds <= second * (1 + 1e-12)]
        found.append((past[-1] if past else scores[0]).of(of))
    return tuple(found)


def figure(task: str, found: Iterable[Piece]) -> Figure:
    """Return the figure of the pieces that have anything to show."""
    kept = tuple(p for p in found if any(isfinite(t.cll[0]) for s in p.by_cll for t in s.tallies))
    return Figure(task, kept)

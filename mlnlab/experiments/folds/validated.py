"""The results of a cross-validation: a table, means, scores of all atoms together, and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.experiments.folds.fold_results import FoldResult, Judgement
from mlnlab.experiments.folds.paired_tests import Measure, PairedTest, paired_test
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.runs.interrupted import Interrupted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """The results of learners on folds, in the order in which both were named."""

    results: tuple[FoldResult, ...]
    learners: tuple[str, ...]
    folds: tuple[str, ...]

    @classmethod
    def of(cls, results: Sequence[FoldResult], order: Sequence[tuple[str, str]]) -> CrossValidation:
        """Bring results into the order of learners and folds."""
        learners = tuple(dict.fromkeys(learner for learner, _ in order))
        folds = tuple(dict.fromkeys(fold for _, fold in order))
        found = {(result.learner, result.fold): result for result in results}
        pairs = [(learner, fold) for learner in learners for fold in folds]
        return cls(tuple(found[pair] for pair in pairs if pair in found), learners, folds)

    def by(self, learner: str) -> tuple[FoldResult, ...]:
        """Return the results of one learner."""
        if learner not in self.learners:
            hint = did_you_mean(str(learner), self.learners) or f"; there are {', '.join(self.learners)}."
            raise ArgumentError(f"There is no learner {learner!s:.60}{hint}")
        return tuple(result for result in self.results if result.learner == learner)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems that kept learners from finishing folds."""
        return tuple(f"{r.learner} on {r.fold}: {r.problem}" for r in self.results if not r.finished)

    def of_predicate(self, predicate: str) -> CrossValidation:
        """Return the same with scores of one predicate's atoms alone, such as Cora's ``SameBib``."""
        known = {name for r in self.results if r.judgement is not None for name in r.judgement.predicates}
        if predicate not in known:
            raise ArgumentError(
                f"{predicate} was not evaluated; these predicates were: {', '.join(sorted(known))}."
            )
        return CrossValidation(tuple(_alone(r, predicate) for r in self.results), self.learners, self.folds)

    def pooled(self, learner: str) -> Judgement:
        """Return the judgements of all finished folds of a learner, as if they were one."""
        parts = [result.judgement for result in self.by(learner) if result.judgement is not None]
        if not parts:
            raise ArgumentError(f"{learner} finished no fold.")
        return Judgement(
            ("all",), (sum(sum(part.numbers) for part in parts),),
            np.concatenate([part.probabilities for part in parts]),
            np.concatenate([part.truths for part in parts]),
            np.concatenate([part.log_probabilities for part in parts]),
        )  # fmt: skip

    def compare(self, first: str, second: str, measure: Measure = "cll", *, seed: int = 0) -> PairedTest:
        """Return paired tests of two learners."""
        return paired_test(self.by(first), self.by(second), measure, seed)

    def tests(self, measure: Measure = "cll", *, seed: int = 0) -> pd.DataFrame:
        """Return a row for each pair of learners: differences, p-values, and the pooled bootstrap."""
        import pandas as pd

        finished = [name for name in self.learners if any(result.finished for result in self.by(name))]
        found = [self.compare(one, other, measure, seed=seed) for one, other in combinations(finished, 2)]
        names = PairedTest.__slots__
        return pd.DataFrame([[getattr(one, name) for name in names] for one in found], columns=list(names))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each learner and fold."""
        import pandas as pd

        names = [
            "learner", "fold", "cll", "cll_error", "auc", "auc_error", "learning_seconds", "testing_seconds",
            "peak_bytes", "chosen", "problem",
        ]  # fmt: skip
        return pd.DataFrame([[getattr(r, name) for name in names] for r in self.results], columns=names)

    def summary(self) -> pd.DataFrame:
        """Return a row for each learner: means over folds with standard errors, and scores over all atoms."""
        import pandas as pd

        rows = [self._row(name) for name in self.learners]
        names = [
            "learner", "folds", "cll", "cll_error", "auc", "auc_error", "pooled_cll", "pooled_auc", "seconds",
            "peak_bytes",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=names)

    def _row(self, name: str) -> list[object]:
        done = [result for result in self.by(name) if result.finished]
        whole = self.pooled(name) if done else None
        cll, auc = mean_and_error([r.cll for r in done]), mean_and_error([r.auc for r in done])
        seconds = mean_and_error([r.learning_seconds for r in done])[0]
        peak = max((r.peak_bytes for r in done), default=nan)
        pooled = (nan, nan) if whole is None else (whole.cll, whole.auc)
        return [name, len(done), *cll, *auc, *pooled, seconds, peak]

    def __repr__(self) -> str:
        finished = sum(result.finished for result in self.results)
        return (
            f"<CrossValidation of {count_of(len(self.learners), 'learner')} on "
            f"{count_of(len(self.folds), 'fold')}, {finished} finished>"
        )


def stopped_after(done: int, total: int, things: str, found: object) -> Interrupted:
    """Return the interrupt of an evaluation, which keeps the finished results."""
    return Interrupted(
        f"Stopped after {done} of {total} {things} on folds; ml.so_far() has what was finished.",
        lambda: found,
    )


def _alone(result: FoldResult, predicate: str) -> FoldResult:
    """Return a result with the scores of one predicate; errors are those of independent atoms."""
    if result.judgement is None:
        return result
    part = result.judgement.alone(predicate)
    logs = part.log_probabilities
    error = float(logs.std(ddof=1) / sqrt(len(logs))) if len(logs) > 1 and np.isfinite(logs).all() else nan
    return FoldResult(
        result.learner, result.fold, result.settings, result.seed, part.cll, error, part.auc, nan,
        result.learning_seconds, result.testing_seconds, result.peak_bytes, result.chosen, part,
    )  # fmt: skip


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the values that are known, and its standard error."""
    known = np.array([value for value in values if np.isfinite(value)])
    if not len(known):
        return nan, nan
    return float(known.mean()), float(known.std(ddof=1) / sqrt(len(known))) if len(known) > 1 else nan

"""The results of testing learned structures: over all test atoms, predicate by predicate, fold by fold.

"The AUC and CLL results are averages over all atoms in the test sets" (Kok and Domingos 2009, section 4.4),
which leaves open how areas of several predicates become one. All three readings are here: the area under one
curve of all atoms together (``auc``), the mean of the predicates' areas weighted by how many atoms each has
(``auc_by_atoms``), and their plain mean (``auc_by_predicate``). The paper's own must be the first: unit
clauses alone, which MSL and BUSL begin with, have 0.45 on IMDB and 0.21 on UW-CSE by it (MSL there: 0.41 and
0.18), but 0.06 and 0.01 by the second and 0.27 and 0.13 by the third.

Over all atoms a large fold counts more than a small one. Means over folds, in which each counts the same,
stand beside (``auc_by_fold``, ``cll_by_fold``, with their standard errors): the paired tests are about these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.evaluation.evaluating import resampled_area_error
from mlnlab.evaluation.precision_recall import PrecisionRecall, precision_recall
from mlnlab.experiments.folds.fold_results import FoldResult, Judgement
from mlnlab.experiments.folds.validated import CrossValidation, mean_and_error

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.experiments.folds.paired_tests import Measure
    from mlnlab.experiments.structures.structure_testing import StructureTesting

ALL = "all together"


@dataclass(frozen=True, slots=True, eq=False)
class StructureEvaluation:
    """The results of systems on folds; ``validated`` holds them as a cross-validation, fold by fold."""

    validated: CrossValidation
    testing: StructureTesting

    @classmethod
    def of(
        cls, results: Sequence[FoldResult], order: Sequence[tuple[str, str]], testing: StructureTesting
    ) -> StructureEvaluation:
        """Bring results into the order of systems and folds."""
        return cls(CrossValidation.of(results, order), testing)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order in which they were named."""
        return self.validated.learners

    @property
    def folds(self) -> tuple[str, ...]:
        """The folds."""
        return self.validated.folds

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems that kept systems from finishing folds."""
        return self.validated.problems

    @property
    def predicates(self) -> tuple[str, ...]:
        """The predicates that were predicted: those of which the finished folds have atoms."""
        done = [one.judgement for one in self.validated.results if one.judgement is not None]
        judged = {name for judgement in done for name in judgement.predicates}
        return tuple(name for group in self.testing.groups for name in group if name in judged)

    def pooled(self, system: str, predicate: str | None = None) -> Judgement:
        """Return the atoms of all finished folds of a system, of one predicate or of all."""
        if predicate is None:
            return self.validated.pooled(system)
        if predicate not in self.predicates:
            raise ArgumentError(f"{predicate} was not predicted; these were: {', '.join(self.predicates)}.")
        return self.validated.of_predicate(predicate).pooled(system)

    def curve(self, system: str, predicate: str | None = None) -> PrecisionRecall:
        """Return the precision-recall curve of the test atoms of all folds."""
        found = self.pooled(system, predicate)
        return precision_recall(found.probabilities, found.truths)

    def summary(self) -> pd.DataFrame:
        """Return a row for each system: scores over all test atoms, their means over folds, and seconds."""
        import pandas as pd

        return pd.DataFrame([self._row(system) for system in self.systems], columns=list(_COLUMNS))

    def _row(self, system: str) -> list[object]:
        done = [result for result in self.validated.by(system) if result.finished]
        if not done:
            return [system, 0, 0, *([nan] * (len(_COLUMNS) - 3))]
        whole = self.pooled(system)
        parts = [self.pooled(system, name) for name in self.predicates]
        known = [part for part in parts if part.truths.any()]
        areas, atoms = [part.auc for part in known], [len(part.truths) for part in known]
        return [
            system, len(done), len(whole.truths), *scores_of(whole),
            float(np.average(areas, weights=atoms)) if areas else nan,
            float(np.mean(areas)) if areas else nan,
            *mean_and_error([result.cll for result in done]),
            *mean_and_error([result.auc for result in done]),
            *mean_and_error([result.learning_seconds for result in done]),
            mean_and_error([result.testing_seconds for result in done])[0],
        ]  # fmt: skip

    def by_predicate(self) -> pd.DataFrame:
        """Return a row for each system and predicate, over the test atoms of all folds."""
        import pandas as pd

        rows: list[list[object]] = []
        for system in self.systems:
            if any(result.finished for result in self.validated.by(system)):
                names: list[str | None] = [*self.predicates, None]
                rows += [
                    [system, name or ALL, *_score_judgement(self.pooled(system, name))] for name in names
                ]
        return pd.DataFrame(rows, columns=["system", *_OF_PREDICATE])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each system, fold and predicate, and one of the fold's atoms all together."""
        import pandas as pd

        rows = []
        for result in self.validated.results:
            if result.judgement is not None:
                parts = [(name, result.judgement.alone(name)) for name in result.judgement.predicates]
                parts.append((ALL, result.judgement))
                rows += [[result.learner, result.fold, name, *_score_judgement(part)] for name, part in parts]
        return pd.DataFrame(rows, columns=["system", "fold", *_OF_PREDICATE])

    def tests(self, measure: Measure = "cll") -> pd.DataFrame:
        """Return one-tailed paired t-tests over folds: whether the first of each pair is better."""
        import pandas as pd

        scored = {
            name: {
                result.fold: getattr(result, measure) for result in self.validated.by(name) if result.finished
            }
            for name in self.systems
        }
        rows = []
        for first, second in permutations(self.systems, 2):
            common = [fold for fold in self.folds if fold in scored[first] and fold in scored[second]]
            differences = np.array([scored[first][fold] - scored[second][fold] for fold in common])
            rows.append([first, second, measure, *compute_one_tailed_test(differences)])
        return pd.DataFrame(rows, columns=["first", "second", "measure", *OneTailed._fields])

    def __repr__(self) -> str:
        finished = sum(result.finished for result in self.validated.results)
        return (
            f"<StructureEvaluation of {count_of(len(self.systems), 'system')} on "
            f"{count_of(len(self.folds), 'fold')}, {finished} finished>"
        )


_COLUMNS = (
    "system", "folds", "atoms", "cll", "cll_error", "auc", "auc_error", "auc_by_atoms", "auc_by_predicate",
    "cll_by_fold", "cll_by_fold_error", "auc_by_fold", "auc_by_fold_error",
    "learning_seconds", "learning_seconds_error", "testing_seconds",
)  # fmt: skip
_OF_PREDICATE = (
    "predicate", "atoms", "true", "cll", "cll_error", "auc", "auc_error", "average_precision",
)  # fmt: skip


def scores_of(judgement: Judgement) -> tuple[float, float, float, float]:
    """Return CLL and AUC of some atoms, each with its standard error."""
    logs = judgement.log_probabilities
    spread = float(logs.std(ddof=1)) if len(logs) > 1 and np.isfinite(logs).all() else nan
    error = resampled_area_error(judgement.probabilities, judgement.truths, np.random.default_rng(0))
    return judgement.cll, spread / sqrt(max(1, len(logs))), judgement.auc, error


def _score_judgement(judgement: Judgement) -> list[object]:
    curve = precision_recall(judgement.probabilities, judgement.truths)
    precision = curve.average_precision if judgement.truths.any() else nan
    return [len(judgement.truths), int(judgement.truths.sum()), *scores_of(judgement), precision]


class OneTailed(NamedTuple):
    """Differences over folds: how many, their mean with its standard error, and whether they are above 0."""

    folds: int
    difference: float
    error: float
    p: float  # that they are not above 0


def compute_one_tailed_test(differences: NDArray[np.float64]) -> OneTailed:
    """Return the one-tailed paired t-test of some differences.

    >>> compute_one_tailed_test(np.array([0.1, 0.2, 0.3, 0.2])).p < 0.02
    True
    """
    from scipy import stats

    known = differences[np.isfinite(differences)]
    if len(known) < 2:
        return OneTailed(len(known), float(known.mean()) if len(known) else nan, nan, nan)
    mean, error = float(known.mean()), float(known.std(ddof=1) / sqrt(len(known)))
    if not error:  # no spread: whatever they are, they are that for certain
        return OneTailed(len(known), mean, 0.0, 0.0 if mean > 0 else 1.0)
    found = float(stats.ttest_1samp(known, 0.0, alternative="greater").pvalue)
    return OneTailed(len(known), mean, error, found if isfinite(found) else nan)

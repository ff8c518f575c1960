"""Is one learner better than another? Paired tests over folds, and over the atoms of all folds together.

Folds are few: with five, a sign test cannot say less than 1/16. The bootstrap draws atoms with replacement,
the same ones for both learners, and takes no account of folds, or of atoms that depend on each other; it says
how far the two differ on these data, not on new databases.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.precision_recall import areas
from mlnlab.experiments.folds.fold_results import FoldResult, Judgement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Measure = Literal["cll", "auc"]
RESAMPLES = 1000
_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class PairedTest:
    """How much better the first of two learners is than the second, by some measure."""

    first: str
    second: str
    measure: str
    folds: int
    difference: float  # mean over folds
    t: float  # p-values, of two sides
    wilcoxon: float
    sign: float
    pooled: float  # difference over all atoms together
    low: float  # bounds of 95 % of the resampled pooled differences
    high: float

    def __repr__(self) -> str:
        return (
            f"<PairedTest {self.measure.upper()} of {self.first} minus {self.second}: "
            f"{self.difference:+.4f} over {self.folds} folds (p: t {self.t:.3g}, Wilcoxon "
            f"{self.wilcoxon:.3g}, sign {self.sign:.3g}); pooled {self.pooled:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]>"
        )


def paired_test(
    first: Sequence[FoldResult], second: Sequence[FoldResult], measure: Measure = "cll", seed: int = 0
) -> PairedTest:
    """Compare two learners on the folds that both finished."""
    if measure not in ("cll", "auc"):
        raise ArgumentError(f'A measure is "cll" or "auc", not {measure!r:.60}.')
    others = {result.fold: result for result in second if result.finished}
    pairs = [(one, others[one.fold]) for one in first if one.finished and one.fold in others]
    if not pairs:
        raise ArgumentError("The two learners have no fold in common that both finished.")
    differences = np.array([getattr(one, measure) - getattr(other, measure) for one, other in pairs])
    differences = differences[np.isfinite(differences)]
    mean = float(differences.mean()) if len(differences) else nan
    judged = [(one.judgement, other.judgement) for one, other in pairs]
    known = [(one, other) for one, other in judged if one is not None and other is not None]
    pooled = _bootstrap(known, measure, np.random.default_rng(seed))
    return PairedTest(
        pairs[0][0].learner,
        pairs[0][1].learner,
        measure,
        len(differences),
        mean,
        *_p_values(differences),
        *pooled,
    )


def _p_values(differences: Numbers) -> tuple[float, float, float]:
    """Return the p-values of the paired t test, Wilcoxon's signed-rank test and the sign test."""
    from scipy import stats

    moved = differences[differences != 0.0]
    if len(differences) < 2:
        return nan, nan, nan
    if not len(moved):
        return 1.0, 1.0, 1.0
    with warnings.catch_warnings():
        # Differences that are all equal have no spread; the test then says 0, as it should.
        warnings.simplefilter("ignore", RuntimeWarning)
        t = float(stats.ttest_1samp(differences, 0.0).pvalue)
        wilcoxon = float(stats.wilcoxon(moved).pvalue)
    sign = float(stats.binomtest(int((moved > 0).sum()), len(moved)).pvalue)
    return t, wilcoxon, sign


def _bootstrap(
    judged: Sequence[tuple[Judgement, Judgement]], measure: Measure, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the difference over all atoms together, and bounds of 95 % of its resampled values."""
    for one, other in judged:
        if one.predicates != other.predicates or not np.array_equal(one.truths, other.truths):
            raise ArgumentError("The two learners were tested on different atoms, which cannot be paired.")
    sides = [[pair[side] for pair in judged] for side in (0, 1)]
    truths = np.concatenate([one.truths for one in sides[0]])
    if not len(truths) or (measure == "auc" and not truths.any()):
        return nan, nan, nan
    field = "log_probabilities" if measure == "cll" else "probabilities"
    values = [np.concatenate([getattr(one, field) for one in side]) for side in sides]
    drawn = np.stack([np.ones(len(truths)), *_weights(len(truths), rng)])
    score = _means if measure == "cll" else _areas
    found = score(values[0], truths, drawn) - score(values[1], truths, drawn)
    kept = found[1:][np.isfinite(found[1:])]
    if not len(kept) or not isfinite(found[0]):
        return float(found[0]), nan, nan
    low, high = np.quantile(kept, [(1 - _SHARE) / 2, (1 + _SHARE) / 2])
    return float(found[0]), float(low), float(high)


def _weights(number: int, rng: np.random.Generator) -> list[Numbers]:
    """Return how often each atom is drawn, resample by resample; fewer where there are very many atoms."""
    many = int(min(RESAMPLES, max(100, 20_000_000 // number)))
    return [
        np.bincount(rng.integers(0, number, number), minlength=number).astype(np.float64) for _ in range(many)
    ]


def _means(values: Numbers, truths: NDArray[np.bool_], drawn: Numbers) -> Numbers:
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn @ np.where(np.isfinite(values), values, -1e300) / len(truths))


def _areas(values: Numbers, truths: NDArray[np.bool_], drawn: Numbers) -> Numbers:
    """Return the area under the curve for each row of how often atoms are drawn."""
    thresholds, places = np.unique(-values, return_inverse=True)
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(thresholds))) - 1
    true = np.cumsum((drawn * truths)[:, order], axis=1)[:, ends]
    false = np.cumsum((drawn * ~truths)[:, order], axis=1)[:, ends]
    return areas(true, false)

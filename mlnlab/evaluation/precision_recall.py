"""Precision and recall at every threshold, and the area under their curve.

An atom is predicted to be true where its probability reaches a threshold; lowering that from 1 to 0 gives the
curve (Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting", ICML 2009, section
4.3; the thesis's section 4.3.2). Between two thresholds true and false positives grow in proportion, so
precision is not linear in recall (Davis and Goadrich, "The relationship between precision-recall and ROC
curves", ICML 2006); that interpolation is integrated exactly here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecall:
    """A precision-recall curve: true and false positives at or above each distinct probability."""

    thresholds: NDArray[np.float64]  # falling
    true_positives: NDArray[np.float64]
    false_positives: NDArray[np.float64]

    @property
    def positives(self) -> float:
        """The number of true atoms."""
        return float(self.true_positives[-1]) if len(self.true_positives) else 0.0

    @property
    def recall(self) -> NDArray[np.float64]:
        """The share of the true atoms that is found."""
        return (
            self.true_positives / self.positives if self.positives else np.full_like(self.thresholds, np.nan)
        )

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of true atoms among all those at or above each threshold."""
        return self.true_positives / (self.true_positives + self.false_positives)

    @property
    def area(self) -> float:
        """The area under the curve; NaN where no atom is true."""
        return float(areas(self.true_positives[None, :], self.false_positives[None, :])[0])

    @property
    def average_precision(self) -> float:
        """The mean precision at the true atoms: the area without any interpolation."""
        if not self.positives:
            return float("nan")
        gained = np.diff(self.true_positives, prepend=0.0)
        return float(gained @ self.precision) / self.positives

    def interpolate_curve(self, number: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return recalls in equal distances and their precisions, to draw the curve by."""
        found = np.linspace(0.0, self.positives, number + 1)[1:] if self.positives else np.zeros(0)
        places = np.searchsorted(self.true_positives, found * (1 - 1e-12), side="left")
        true, false = (np.concatenate([[0.0], n]) for n in (self.true_positives, self.false_positives))
        share = (found - true[places]) / (true[places + 1] - true[places])
        wrong = false[places] + share * (false[places + 1] - false[places])
        return found / max(self.positives, 1.0), found / (found + wrong)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each threshold."""
        import pandas as pd

        return pd.DataFrame(
            {"threshold": self.thresholds, "recall": self.recall, "precision": self.precision,
             "true_positives": self.true_positives, "false_positives": self.false_positives}
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<PrecisionRecall at {len(self.thresholds):,} thresholds, area {self.area:.4f}>"


def precision_recall(probabilities: NDArray[np.float64], truths: NDArray[np.bool_]) -> PrecisionRecall:
    r"""Return the curve of some probabilities; equal ones are one point, however they are ordered.

    >>> curve = precision_recall(np.array([0.9, 0.8, 0.8, 0.1]), np.array([True, True, False, False]))
    >>> curve.recall.tolist(), [round(value, 3) for value in curve.precision.tolist()]
    ([0.5, 1.0, 1.0], [1.0, 0.667, 0.5])
    """
    thresholds, places = np.unique(-probabilities, return_inverse=True)
    true = np.bincount(places, truths, len(thresholds))
    every = np.bincount(places, minlength=len(thresholds))
    return PrecisionRecall(-thresholds, np.cumsum(true), np.cumsum(every - true))


def areas(true_positives: NDArray[np.float64], false_positives: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area under each row's curve of true and false positives; NaN where nothing is true.

    From one point to the next false positives grow by s for each true one, so with c = FP - s TP precision
    is t / ((1 + s) t + c) where t are true positives, whose integral is elementary.
    """
    before_true = np.concatenate([np.zeros_like(true_positives[:, :1]), true_positives[:, :-1]], axis=1)
    before_false = np.concatenate([np.zeros_like(false_positives[:, :1]), false_positives[:, :-1]], axis=1)
    gained = true_positives - before_true
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (false_positives - before_false) / gained
        steep = 1.0 + slope
        offset = before_false - slope * before_true
        ratio = (true_positives + false_positives) / (before_true + before_false)
        logarithm = np.where(offset == 0.0, 0.0, offset / steep**2 * np.log(ratio))
        part = np.where(gained > 0, gained / steep - logarithm, 0.0)
        return np.asarray(part.sum(axis=1) / true_positives[:, -1])

r"""``ml.compare_gradients``: where the pseudo-likelihood misleads, formula by formula.

At the weights that pseudo-likelihood learning ends with, its gradient is zero. Is that of the likelihood, the
model expects of each formula what the data show; where it is not, the numbers of whole worlds are off though
each atom fits its neighbours. Long chains of nearly certain formulas are where that happens (Van den Broeck,
Meert and Davis 2013, "Results and discussion"): each atom follows from the next, so that nothing is left to
say how often the chain as a whole is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.learning.objectives.conditional_log_likelihood import exact_log_likelihood
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood, lifted_log_likelihood, step_seconds
from mlnlab.learning.objectives.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.learning.problems.training_data import TrainingData, training_data
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.model.mln.learned_sizes import warn_of_other_sizes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.problems.moments import Objective
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GradientComparison:
    """Both gradients at the same weights; ``observed`` and ``expected`` are counts of true groundings."""

    formulas: tuple[str, ...]
    weights: Numbers
    observed: Numbers
    expected: Numbers
    likelihood: Numbers  # observed - expected
    pseudo: Numbers
    log_likelihood: float
    pseudo_log_likelihood: float
    method: str  # how the likelihood was computed

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula, those in the lead that the likelihood would change most."""
        import pandas as pd

        frame = pd.DataFrame({
            "formula": self.formulas, "weight": self.weights, "observed": self.observed,
            "expected": self.expected, "likelihood gradient": self.likelihood,
            "pseudo-likelihood gradient": self.pseudo,
        })  # fmt: skip
        return frame.sort_values("likelihood gradient", key=np.abs, ascending=False, kind="stable")

    def __repr__(self) -> str:
        largest = [float(np.abs(one).max(initial=0.0)) for one in (self.likelihood, self.pseudo)]
        return (
            f"<GradientComparison of {len(self.formulas)} formulas: largest {largest[0]:.3g} of the"
            f" likelihood, {largest[1]:.3g} of the pseudo-likelihood>"
        )


@dataclass(frozen=True, slots=True, eq=False)
class BothLikelihoods:
    """Likelihood and pseudo-likelihood of the same data, without priors, to be compared at any weights."""

    data: TrainingData
    exact: Objective
    pseudo: Objective
    method: str  # how the likelihood is computed

    def at(self, weights: Numbers) -> GradientComparison:
        """Return both gradients at some weights."""
        ours, theirs = self.exact.moments(weights)[0], self.pseudo.moments(weights)[0]
        assert ours.value is not None and theirs.value is not None  # noqa: S101, PT018 - both have values
        return GradientComparison(
            tuple(to_text(one.formula) for one in self.data.formulas), weights, ours.observed,
            ours.expected, ours.gradient, theirs.gradient, ours.value, theirs.value, self.method,
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """About how long a comparison takes, where that is known beforehand; else 0."""
        if not isinstance(self.exact, LiftedLogLikelihood):
            return 0.0
        return sum(step_seconds(self.exact.circuit, one.sizes) for one in self.exact.examples)


def both_likelihoods(data: TrainingData) -> BothLikelihoods:
    """Return both objectives: the likelihood by lifting, else by junction trees or tables of worlds."""
    exact, method = _likelihood(data)
    return BothLikelihoods(data, exact, pseudo_log_likelihood(data), method)


def compare_gradients(
    mln: MLN | LearnedWeights, db: Database | Sequence[Database], weights: Sequence[float] | None = None
) -> GradientComparison:
    r"""Return the gradients of likelihood and pseudo-likelihood side by side, at a model's weights.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x)\nSmokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> found = ml.compare_gradients(mln, db, [0.0, 0.0])
    >>> [round(float(value), 4) for value in found.likelihood]
    [0.5, -0.25]
    """
    model = mln.mln if isinstance(mln, LearnedWeights) else mln
    data = training_data(model, db)
    warn_of_other_sizes(model, *(one.database for one in data.examples))
    return both_likelihoods(data).at(_weights(data, weights))


def _weights(data: TrainingData, weights: Sequence[float] | None) -> Numbers:
    """Return the weights to compare at: those given, or the model's, 0 where there is none yet."""
    if weights is None:
        weights = [
            0.0 if isinstance(one.weight, Hard) else weight_value(one.weight) or 0.0 for one in data.formulas
        ]
    try:
        found = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (len(data.formulas),) or not np.isfinite(found).all():
        raise ArgumentError(f"weights= needs a finite number for each of the {len(data.formulas)} formulas.")
    return found


def _likelihood(data: TrainingData) -> tuple[Objective, str]:
    """Return the likelihood by lifting, else by junction trees or tables of worlds."""
    try:
        return lifted_log_likelihood(data), "lifted"
    except ArgumentError:
        return exact_log_likelihood(data), "exact"

"""Choose among systems by their scores on databases left out, with no look at those that are tested on.

"The parameters were set in an ad hoc manner, and per-fold optimization using a validation set could
conceivably yield better results" (Kok and Domingos, ICML 2009, section 4.2). The databases that are tested
on have no part in it. By default the choice is by CLL, a proper score, which a model that is sure of what
is false loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.fold_results import fingerprint, hash_texts
from mlnlab.experiments.structures.structure_evaluation import evaluate_structure
from mlnlab.experiments.structures.structure_systems import learned_on, relearn_weights, systems_of
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from mlnlab.experiments.structures.structure_results import StructureEvaluation
    from mlnlab.model.database.database import Database

_ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class ChosenStructure:
    """The model of the chosen system, and each system's score on the training databases."""

    mln: MLN
    name: str
    scores: Mapping[str, float]

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        return f"<ChosenStructure by {self.name}; on training folds: {told}>"


@dataclass(frozen=True, slots=True)
class Known:
    """A function ``(databases, seed) -> model`` that knows its clauses already."""

    text: str

    def __call__(self, databases: Sequence[Database], seed: int) -> MLN:  # noqa: ARG002 - it has learned
        """Return the model."""
        return MLN.from_text(self.text)


@dataclass(frozen=True, eq=False)
class Choosing:
    """A function ``(databases, seed) -> model``, to be a system of :func:`ml.evaluate_structure`.

    The candidates are systems; or, where there is a ``base``, ways to learn the weights of its clauses, which
    it learns once from all training databases. That spares most of the time, and is no help to one candidate
    more than to another.
    """

    candidates: Mapping[str, Mapping[str, Any]]
    testing: Mapping[str, Any] = field(default_factory=dict)  # of evaluate_structure
    base: Mapping[str, Any] | None = None
    by: str = "cll"  # or auc, the area over all atoms together
    folder: Path | None = field(default=None, repr=False)

    def __call__(self, databases: Sequence[Database], seed: int) -> ChosenStructure:
        """Try each candidate on the databases, each left out once; learn by the best from all of them."""
        candidates = self._candidates(databases, seed)
        found = evaluate_structure(candidates, databases, folder=self.folder, seed=seed, **self.testing)
        scores = score_finished_systems(found, self.by)
        name = max(scores, key=lambda one: scores[one])
        return ChosenStructure(self._learn_model(candidates[name], databases, seed), name, scores)

    def _candidates(self, databases: Sequence[Database], seed: int) -> Mapping[str, Mapping[str, Any]]:
        if self.base is None:
            return self.candidates
        clauses = Known(self._learn_model(self.base, databases, seed).to_text())
        return {name: {"method": clauses, "weights": one} for name, one in self.candidates.items()}

    def _learn_model(self, given: Mapping[str, Any], databases: Sequence[Database], seed: int) -> MLN:
        """Return a system's model of all databases, learned now or kept from before."""
        (system,) = systems_of({"chosen": given}, [_ALL])
        key = hash_texts(system.settings(_ALL), *(fingerprint(db) for db in databases), str(seed))
        model, _ = learned_on(system, _ALL, databases, seed, key, self.folder)
        if not isinstance(model, MLN):
            raise ArgumentError("Choosing is among systems that learn a Markov logic network.")
        found = relearn_weights(model, databases, system, seed)
        assert isinstance(found, MLN)  # noqa: S101 - as the model was
        return found


def score_finished_systems(found: StructureEvaluation, by: str) -> dict[str, float]:
    """Return the score of each system that finished all folds."""
    rows = found.summary().set_index("system")
    whole = {name: float(row[by]) for name, row in rows.iterrows() if row["folds"] == len(found.folds)}
    scores = {str(name): score for name, score in whole.items() if not isnan(score)}
    if not scores:
        raise ArgumentError(f"No system finished on all training databases. {' '.join(found.problems)[:600]}")
    return scores

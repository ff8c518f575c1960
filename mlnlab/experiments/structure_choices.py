"""A system that chooses: among systems, by what each reaches on the training databases left out in turn.

"The parameters were set in an ad hoc manner, and per-fold optimization using a validation set could
conceivably yield better results" (Kok and Domingos, ICML 2009, section 4.2). The databases that are tested on
have no part in it. By default the choice is by CLL, a proper score, which a model that is sure of what is
false loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.experiments.fold_results import fingerprint, hashed
from mlnlab.experiments.structure_evaluation import evaluate_structure
from mlnlab.experiments.structure_systems import learned_on, reweighed, systems_of

if TYPE_CHECKING:
    from mlnlab.experiments.structure_results import StructureEvaluation
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

_ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class ChosenStructure:
    """The model of the system that was chosen, and what each reached on the training databases."""

    mln: MLN
    name: str
    scores: Mapping[str, float]

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        return f"<ChosenStructure by {self.name}; on training folds: {told}>"


@dataclass(frozen=True, eq=False)
class Choosing:
    """A function ``(databases, seed) -> model``, to be a system of :func:`ml.evaluate_structure`."""

    candidates: Mapping[str, Mapping[str, Any]]
    testing: Mapping[str, Any] = field(default_factory=dict)  # of evaluate_structure
    by: str = "cll"  # or auc, the area over all atoms together
    folder: Path | None = field(default=None, repr=False)

    def __call__(self, databases: Sequence[Database], seed: int) -> ChosenStructure:
        """Try each candidate on the databases, each left out once; learn by the best from all of them."""
        found = evaluate_structure(self.candidates, databases, folder=self.folder, seed=seed, **self.testing)
        scores = scores_of_finished(found, self.by)
        name = max(scores, key=lambda one: scores[one])
        (system,) = systems_of({name: self.candidates[name]}, [_ALL])
        prints = [fingerprint(db) for db in databases]
        key = hashed(system.settings(_ALL), *prints, str(seed))
        model, _ = learned_on(system, _ALL, databases, seed, key, self.folder)
        mln = reweighed(model, databases, system, seed)
        return ChosenStructure(mln, name, scores)  # type: ignore[arg-type]  # systems with options learn MLNs


def scores_of_finished(found: StructureEvaluation, by: str) -> dict[str, float]:
    """Return the score of each system that finished all folds."""
    rows = found.summary().set_index("system")
    whole = {name: float(row[by]) for name, row in rows.iterrows() if row["folds"] == len(found.folds)}
    scores = {str(name): score for name, score in whole.items() if not isnan(score)}
    if not scores:
        raise ArgumentError(f"No system finished on all training databases. {' '.join(found.problems)[:600]}")
    return scores

"""Count open atoms, ground clauses and recall on Cora, with canopies and without.

Nothing is grounded: open ground clauses are counted, exactly, by aggregation. The thesis reports 6,141
weights, and more than three million ground clauses during learning; its canopies, and how it tied words to
weights, are not told in enough detail to be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora.canopies import THRESHOLD, Canopies, canopies
from mlnlab.experiments.cora.identities import SAME
from mlnlab.experiments.folds.joined_models import expanded_together, grounded_weights
from mlnlab.grounding.joins.decided_counts import DecidedCounts
from mlnlab.grounding.networks.network_size import bounds_of
from mlnlab.grounding.question.clause_literals import as_literals
from mlnlab.grounding.question.question import opening
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

THESIS_WEIGHTS = 6141
THESIS_GROUND_CLAUSES = 3_000_000


@dataclass(frozen=True, slots=True)
class ModelSize:
    """The sizes of a learning problem, summed over its databases."""

    name: str
    weights: int
    open_atoms: int
    ground_clauses: int
    true_pairs: int
    lost_pairs: int

    @property
    def recall(self) -> float:
        """The share of the true pairs that can still be found."""
        return 1.0 - self.lost_pairs / self.true_pairs if self.true_pairs else 1.0


@dataclass(frozen=True, slots=True)
class CanopySizes:
    """The sizes without canopies, and with those of some thresholds."""

    rows: tuple[ModelSize, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model size, and one with the numbers of the thesis."""
        import pandas as pd

        names = ["canopies", "weights", "open atoms", "ground clauses", "true pairs", "lost", "recall"]
        found: list[tuple[object, ...]] = [
            (r.name, r.weights, r.open_atoms, r.ground_clauses, r.true_pairs, r.lost_pairs, r.recall)
            for r in self.rows
        ]
        thesis = ("thesis (4.3.1)", THESIS_WEIGHTS, None, f"> {THESIS_GROUND_CLAUSES:,}", None, None, None)
        return pd.DataFrame([*found, thesis], columns=names)


def canopy_sizes(
    mln: MLN,
    databases: Sequence[Database] | Mapping[str, Database],
    thresholds: Sequence[float] = (THRESHOLD,),
) -> CanopySizes:
    """Compare the model on some databases without canopies (threshold 0) and with those of each threshold."""
    dbs = list(databases.values()) if hasattr(databases, "values") else list(databases)
    if not dbs:
        raise ArgumentError("Name at least one database to compare canopies on.")
    weights = sum(not isinstance(one.weight, Hard) for one in expanded_together(mln, dbs).formulas)
    # The groundings of a formula without its marks are those of all that +w stands for.
    unmarked = replace(mln, formulas=tuple(replace(one, per_constant=()) for one in mln.formulas))
    model = grounded_weights(unmarked)
    rows = []
    for threshold in dict.fromkeys((0.0, *thresholds)):
        found = [canopies(db, threshold) for db in dbs]
        rows.append(
            _size("none" if threshold == 0 else f"cosine from {threshold:g} on", weights, model, found)
        )
    return CanopySizes(tuple(rows))


def _size(name: str, weights: int, model: MLN, found: Sequence[Canopies]) -> ModelSize:
    pairs = [row for one in found for row in one.rows]
    return ModelSize(
        name,
        weights,
        sum(row.inside for row in pairs),
        sum(ground_clauses(model, one.evidence) for one in found),
        sum(row.true for row in pairs),
        sum(row.lost for row in pairs),
    )


def ground_clauses(model: MLN, evidence: Database) -> int:
    """Count the groundings that evidence leaves open, of a model of clauses.

    Among them are tautologies of transitivity, ``Same(a, a) ^ Same(a, b) => Same(a, b)``: two for each open
    pair.
    """
    asked = opening(model, evidence, list(SAME))
    counts = DecidedCounts(asked.mln.vocabulary, partial(bounds_of, asked))
    literals = [as_literals(one.formula) for one in asked.mln.formulas]
    return sum(
        counts.count_undecided_groundings(clause) - counts.false(clause)
        for clause in literals
        if clause is not None
    )

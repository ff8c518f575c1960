"""Canopies: pairs that share so few words that they are known to be different, found cheaply.

Entity resolution asks about all pairs, most of which nobody would confuse (McCallum, Nigam and Ungar,
"Efficient clustering of high-dimensional data sets with application to reference matching", KDD 2000). Each
thing is a bag of words weighted by their rarity; pairs whose cosine is below a threshold are ruled out. What
is ruled out is listed as false, which inference and learning take as evidence; a true pair among them is
lost, and the table says how many are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora.identities import IDENTITIES, Identity
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database

    Rows = NDArray[np.uint32]

THRESHOLD = 0.25


@dataclass(frozen=True, slots=True)
class Canopy:
    """The counts of one predicate's pairs inside and outside canopies, pairs (A, A) left out."""

    predicate: str
    pairs: int
    inside: int
    true: int
    lost: int

    @property
    def recall(self) -> float:
        """The share of the true pairs that can still be found."""
        return 1.0 - self.lost / self.true if self.true else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Canopies:
    """Databases in which pairs outside all canopies are listed as false.

    ``database`` is complete, to learn from: of the true pairs it has those inside. ``evidence`` is what is
    known before one asks: of the identities only that each thing is itself, and what is ruled out.
    """

    database: Database
    evidence: Database
    rows: tuple[Canopy, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each predicate."""
        import pandas as pd

        names = ["predicate", "pairs", "inside", "true", "lost", "recall"]
        found = [(row.predicate, row.pairs, row.inside, row.true, row.lost, row.recall) for row in self.rows]
        return pd.DataFrame(found, columns=names)

    def __repr__(self) -> str:
        pairs, inside = sum(row.pairs for row in self.rows), sum(row.inside for row in self.rows)
        lost, true = sum(row.lost for row in self.rows), sum(row.true for row in self.rows)
        return f"<Canopies: {inside:,} of {pairs:,} pairs inside, {lost:,} of {true:,} true ones lost>"


def canopies(
    db: Database,
    threshold: float | Mapping[str, float] = THRESHOLD,
    identities: Sequence[Identity] = IDENTITIES,
) -> Canopies:
    """Rule out the pairs whose words have a cosine below the threshold (one for all, or by predicate).

    A threshold of 0 rules out nothing. ``identities`` are Cora's four unless others are named.
    """
    thresholds = _thresholds(threshold, identities)
    complete, evidence, rows = dict(db.relations), dict(db.relations), []
    for identity in identities:
        inside = _inside(db, identity, thresholds[identity.predicate])
        truth = _truth(db, identity.predicate, len(inside))
        itself = np.eye(len(inside), dtype=bool)
        outside = _list_rows(~inside & ~itself)
        complete[identity.predicate] = Relation(2, _list_rows((truth & inside) | itself), outside)
        evidence[identity.predicate] = Relation(2, _list_rows(itself), outside)
        true = truth & ~itself
        rows.append(
            Canopy(identity.predicate, inside.size - len(inside), int((inside & ~itself).sum()),
                   int(true.sum()), int((true & ~inside).sum()))
        )  # fmt: skip
    return Canopies(
        replace(db, relations=FrozenMapping(complete)),
        replace(db, relations=FrozenMapping(evidence)),
        tuple(rows),
    )


def _thresholds(threshold: float | Mapping[str, float], identities: Sequence[Identity]) -> dict[str, float]:
    names = [identity.predicate for identity in identities]
    if isinstance(threshold, int | float):
        found = dict.fromkeys(names, float(threshold))
    else:
        unknown = [name for name in threshold if name not in names]
        if unknown:
            raise ArgumentError(
                f"A threshold is given for {unknown[0]!s:.60}; identities are {', '.join(names)}."
            )
        found = {name: float(threshold.get(name, THRESHOLD)) for name in names}
    for name, value in found.items():
        if not 0.0 <= value <= 1.0:
            raise ArgumentError(f"A threshold of a cosine lies between 0 and 1; for {name} it is {value:g}.")
    return found


def _inside(db: Database, identity: Identity, threshold: float) -> NDArray[np.bool_]:
    """Return which pairs are similar enough, as a matrix; memory is one byte and a float for each pair."""
    types = db.vocabulary[identity.predicate].types
    if len(types) != 2 or types[0] != types[1]:
        raise ArgumentError(
            f"{identity.predicate} does not say of two things of one type that they are the same."
        )
    words = _word_counts(db, identity, len(db.vocabulary.domain(types[0])))
    rarity = np.log1p(words.shape[0] / np.maximum(1, (words > 0).sum(axis=0)))
    vectors = (words > 0) * rarity
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return np.asarray((vectors @ vectors.T >= threshold - 1e-12) | (threshold <= 0.0))


def _word_counts(db: Database, identity: Identity, number: int) -> NDArray[np.float64]:
    """Return how often each thing has each word: a row for each thing, the ways side by side."""
    parts = []
    for way in identity.ways:
        reached: NDArray[np.float64] = np.eye(number)
        for predicate in way:
            reached = reached @ _incidence(db, predicate)
        parts.append(reached)
    return np.concatenate(parts, axis=1) if parts else np.zeros((number, 0))


def _incidence(db: Database, predicate: str) -> NDArray[np.float64]:
    declared = db.vocabulary[predicate]
    sizes = [len(db.vocabulary.domain(type_)) for type_ in declared.types]
    if len(sizes) != 2:
        raise ArgumentError(
            f"A way to words goes through predicates with two places; {predicate} has {len(sizes)}."
        )
    matrix = np.zeros(sizes)
    true = db.relation(predicate).true
    matrix[true[:, 0], true[:, 1]] = 1.0
    return matrix


def _truth(db: Database, predicate: str, number: int) -> NDArray[np.bool_]:
    matrix = np.zeros((number, number), bool)
    true = db.relation(predicate).true
    matrix[true[:, 0], true[:, 1]] = True
    return matrix


def _list_rows(matrix: NDArray[np.bool_]) -> Rows:
    return sorted_rows(np.argwhere(matrix).astype(np.uint32))

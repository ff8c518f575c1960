"""Rows of Δn by full tables: of few ground atoms one by one, of many grouped before they are made.

Ground atoms whose look-ups all agree have equal rows. So the sampled atoms are grouped by a hash of 64 bits
of everything that is looked up for them, which is added up over the tables where these are smaller than the
atoms are many, and only one atom of each group gets its row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.grouping import grouped_keys
from mlnlab.structure.clause_rows import ScoredRows
from mlnlab.structure.dense_deltas import names_in
from mlnlab.structure.listed_atoms import ListedAtoms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.dense_deltas import DenseDeltas, DensePath

    Numbers = NDArray[np.float64]
    Keys = NDArray[np.int64]


def near_rows(
    dense: DenseDeltas, path: DensePath, keys: Sequence[Mapping[str, Keys]],
    scored: Mapping[str, float],
) -> ScoredRows:  # fmt: skip
    """Return the rows of few atoms, given by their keys in each database; each predicate's count 1 in all."""
    parts = []
    for name in names_in(path.path):
        if name in scored and any(name in own for own in keys):
            own = [one.get(name, np.zeros(0, np.int64)) for one in keys]
            atoms = ListedAtoms.with_keys(dense.counts, name, own)
            shares = np.full(len(atoms.rows), 1 / max(1, len(atoms.rows)))
            parts.append((name, dense.columns(path, atoms), atoms.truths, shares))
    return _joined(parts, path)


def all_rows(
    dense: DenseDeltas, path: DensePath, atoms: Mapping[str, ListedAtoms],
    numbers: Sequence[Mapping[str, int]],
) -> ScoredRows:  # fmt: skip
    """Return the different rows of all sampled atoms; those of a database count 1 / ``numbers``."""
    parts = []
    for name in names_in(path.path):
        if name not in atoms:
            continue
        every = atoms[name]
        groups, firsts = grouped_keys(hashes(dense, path, every))
        chosen = every.chosen(firsts)
        share = np.array([1 / max(1, own.get(name, 1)) for own in numbers])
        shares = np.bincount(groups, minlength=len(firsts)) * share[chosen.owners]
        parts.append((name, dense.columns(path, chosen), chosen.truths, shares))
    return _joined(parts, path)


def hashes(dense: DenseDeltas, path: DensePath, atoms: ListedAtoms) -> Keys:
    """Return numbers that are equal where rows, truth and database are, and hardly ever else."""
    from mlnlab.kernels.clause_scores import add_mixed

    found = np.zeros(len(atoms.rows), np.uint64)
    kinds = 2 * atoms.owners + atoms.truths
    add_mixed(found, kinds.astype(np.float64), np.uint64(0))
    by_arguments: dict[tuple[int, ...], list[tuple[int, Numbers]]] = {}
    for number, (counted, arguments) in enumerate(path.factors(atoms.predicate), 1):
        by_arguments.setdefault(arguments, []).append((number, dense.counts.of(counted)))
    for arguments, tables in by_arguments.items():
        places = atoms.places(arguments)
        together = np.zeros(len(tables[0][1]), np.uint64)
        for number, table in tables:
            add_mixed(together, table, np.uint64(number))
        found += together[places]
    for number, (one, other) in enumerate(path.equalities(atoms.predicate), 1 << 20):
        same = (atoms.rows[:, one] == atoms.rows[:, other]).astype(np.float64)
        add_mixed(found, same, np.uint64(number))
    return found.view(np.int64)


def _joined(parts: Sequence[tuple[str, Numbers, NDArray[np.bool_], Numbers]], path: DensePath) -> ScoredRows:
    columns = len(path.pieces)
    starts = np.cumsum([0, *(len(truths) for _, _, truths, _ in parts)])
    return ScoredRows(
        tuple(name for name, _, _, _ in parts), starts,
        np.concatenate([np.zeros((0, columns)), *(values for _, values, _, _ in parts)]),
        np.concatenate([np.zeros(0, bool), *(truths for _, _, truths, _ in parts)]),
        np.concatenate([np.zeros(0), *(shares for _, _, _, shares in parts)]),
    )  # fmt: skip

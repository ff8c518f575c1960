r"""Rows of Δn for all clauses of a path at once.

A clause is false where the conjunction C of its negated literals is true, so n(clause) is the number of all
groundings minus n(C), and its Δn is minus that of C. By inclusion-exclusion over the atoms N that C negates,

    Δn(clause) = - sum over T within N of (-1)^|T| Δn(P and T),    P: the atoms that C has unnegated,

so that the 2^k clauses of a path of k atoms are linear in the Δn of its 2^k - 1 positive conjunctions: rows
of these, for the sampled ground atoms, times a small matrix of signs. Atoms with equal rows are one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.deltas.deltas import AtomDeltas
from mlnlab.counting.deltas.weighted_positions import Factored, support
from mlnlab.counting.facts.grouping import grouped_keys, grouped_rows
from mlnlab.counting.facts.tables import row_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.sampled_atoms import SampledAtoms

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows of Δn, those of a predicate side by side; the shares of its rows are multiples of c_r."""

    predicates: tuple[str, ...]
    starts: NDArray[np.int64]  # of each predicate's rows, and the end
    values: Numbers  # a column for each conjunction, or each clause
    truths: NDArray[np.bool_]
    shares: Numbers  # how much each row counts

    def of_clauses(self, signs: Numbers) -> ScoredRows:
        """Return the rows of clauses instead of conjunctions."""
        return ScoredRows(self.predicates, self.starts, self.values @ signs, self.truths, self.shares)


@lru_cache(maxsize=64)
def clause_signs(length: int, clauses: tuple[int, ...]) -> Numbers:
    """Return the matrix from the conjunctions of a path of some length (rows) to its clauses (columns).

    >>> clause_signs(1, (0, 1)).tolist()
    [[-1.0, 1.0]]
    """
    signs = np.zeros(((1 << length) - 1, len(clauses)))
    for column, positive in enumerate(clauses):
        unnegated = (1 << length) - 1 & ~positive
        chosen = positive
        while True:  # all sets within ``positive``, the empty one last
            if unnegated | chosen:
                signs[(unnegated | chosen) - 1, column] = -1.0 if chosen.bit_count() % 2 == 0 else 1.0
            if not chosen:
                break
            chosen = chosen - 1 & positive
    signs.setflags(write=False)
    return signs


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """The rows of one predicate of one database, with how many sampled atoms have each."""

    values: NDArray[Any]
    truths: NDArray[np.bool_]
    numbers: Numbers


def sampled_rows(deltas: AtomDeltas, sample: SampledAtoms) -> OwnRows:
    """Return the rows of sampled atoms: those with entries in tables one by one, the others by classes."""
    listed = _list_atoms(deltas)
    (keys,) = row_keys([listed], deltas.sizes)
    if deltas.sizes:
        listed = listed[sample.holds(keys)]
        (keys,) = row_keys([listed], deltas.sizes)
    else:
        listed = listed[: len(sample.keys)]
    truths = deltas.truths(listed)
    values = deltas.at(listed, truths)
    usual, numbers = _usual(deltas, sample, listed)
    every = np.concatenate([values, usual.astype(values.dtype)])
    true = np.concatenate([truths, np.zeros(len(usual), bool)])
    times = np.concatenate([np.ones(len(listed)), numbers])
    groups, firsts = grouped_rows(np.column_stack([true.astype(every.dtype), every]))
    return OwnRows(every[firsts], true[firsts], np.bincount(groups, times, len(firsts)).astype(np.float64))


def few_rows(deltas: AtomDeltas, sample: SampledAtoms) -> OwnRows:
    """Return the rows of sampled atoms one by one, which is quicker where they are few."""
    return OwnRows(deltas.at(sample.rows, sample.truths), sample.truths, np.ones(len(sample.rows)))


def _list_atoms(deltas: AtomDeltas) -> NDArray[np.uint32]:
    """Return the atoms that are looked at one by one: true ones, and those with entries in tables."""
    supports: dict[tuple[int, ...], NDArray[np.uint32]] = {}
    for value in _values(deltas):
        if value.tables:
            key = tuple(id(part) for part in (*value.tables, *value.vectors))
            if key not in supports:
                supports[key] = support(value, deltas.sizes)
    rows = np.concatenate([deltas.true, *supports.values()])
    if not deltas.sizes:
        return rows[:1]
    (keys,) = row_keys([rows], deltas.sizes)
    return rows[grouped_keys(keys)[1]]


def _values(deltas: AtomDeltas) -> Iterable[Factored]:
    return (value for found in (*deltas.odd, *deltas.even) for value in found)


def _usual(
    deltas: AtomDeltas, sample: SampledAtoms, listed: NDArray[np.uint32]
) -> tuple[NDArray[Any], Numbers]:
    """Return the rows of all other sampled atoms: they depend on the class of each argument only."""
    plain = _without_tables(deltas)
    classes = [_classes(plain, position) for position in range(len(deltas.sizes))]
    number = 1
    own, of_listed = np.zeros(len(sample.rows), np.int64), np.zeros(len(listed), np.int64)
    for position, (firsts, groups) in enumerate(classes):
        own = own * len(firsts) + groups[sample.rows[:, position]]
        of_listed = of_listed * len(firsts) + groups[listed[:, position]]
        number *= len(firsts)
    if number <= 4 * len(own):
        counts = np.bincount(own, minlength=number) - np.bincount(of_listed, minlength=number)
        places = np.flatnonzero(counts)
        times = counts[places]
    else:  # more combinations of classes than atoms
        places, counts = np.unique(own, return_counts=True)
        times = counts - np.bincount(np.searchsorted(places, of_listed), minlength=len(places))
        places, times = places[times > 0], times[times > 0]
    rows = np.zeros((len(places), len(classes)), np.uint32)
    rest = places
    for position in range(len(classes) - 1, -1, -1):
        firsts = classes[position][0]
        rest, chosen = np.divmod(rest, max(1, len(firsts)))
        rows[:, position] = firsts[chosen]
    return plain.at(rows, np.zeros(len(rows), bool)), times.astype(np.float64)


def _without_tables(deltas: AtomDeltas) -> AtomDeltas:
    odd, even = (
        tuple(tuple(value for value in found if not value.tables) for found in part)
        for part in (deltas.odd, deltas.even)
    )
    return AtomDeltas(deltas.predicate, deltas.sizes, deltas.true, odd, even)


def _classes(plain: AtomDeltas, position: int) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Group the constants of an argument by all weights: return one of each group, and the groups."""
    size = plain.sizes[position]
    different = {
        id(vector.weights): vector.weights
        for value in _values(plain) for vector in value.vectors if vector.variable == position
    }  # fmt: skip
    if not different:
        return np.zeros(min(1, size), np.uint32), np.zeros(size, np.intp)
    groups, firsts = grouped_rows(np.stack(list(different.values()), axis=1))
    return firsts.astype(np.uint32), groups


def joined_rows(
    parts: Sequence[Mapping[str, OwnRows]], predicates: Sequence[str], atoms: Sequence[Mapping[str, int]],
    columns: int,
) -> ScoredRows:  # fmt: skip
    """Put the rows of several databases together, by predicate; each database's atoms count 1 / ``atoms``.

    There may be none: no atom of a closed predicate is scored.
    """
    values, truths, shares, starts = [], [], [], [0]
    for name in predicates:
        for own, numbers in zip(parts, atoms, strict=True):
            found = own.get(name)
            if found is not None and len(found.truths):
                values.append(np.asarray(found.values, np.float64))
                truths.append(found.truths)
                shares.append(found.numbers / numbers[name])
        starts.append(sum(map(len, truths)))
    return ScoredRows(
        tuple(predicates), np.array(starts, np.int64), np.concatenate([np.zeros((0, columns)), *values]),
        np.concatenate([np.zeros(0, bool), *truths]), np.concatenate([np.zeros(0), *shares]),
    )  # fmt: skip

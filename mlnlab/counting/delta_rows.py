"""Δn of thousands of formulas for the atoms of a predicate, as rows of a sparse matrix.

Formulas come in families (:mod:`mlnlab.counting.formula_families`), whose Δn are sums of products over
arguments and slots. Products that depend on classes of constants alone are the *usual* row of all atoms of
these classes, where such classes are few. All other products are joined out: an atom that has a number there
has something of its own beside the usual row. Equal rows become one, with a multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.deltas import DeltaCounter
from mlnlab.counting.family_values import Entries, FamilyValue, finer, number_of, values_of
from mlnlab.counting.grouping import grouped_rows
from mlnlab.counting.shared_rows import SharedRows
from mlnlab.counting.tables import Table, row_keys
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.counting.formula_families import Family
    from mlnlab.logic.vocabulary import Vocabulary

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]
    Rows = NDArray[np.uint32]

_SERVES = 8  # atoms that a usual row stands for on average, or else it is not worth having
_FEW = 256  # usual rows that are made in any case
_MOST_USUAL = 2_000_000
MOST_ATOMS = 1 << 62  # of one predicate, to be numbered


@dataclass(frozen=True, slots=True, eq=False)
class DeltaRows:
    """Different rows of Δn with a truth value each, and how many atoms have them."""

    values: SharedRows
    truths: NDArray[np.bool_]
    multiplicities: Numbers

    @property
    def atoms(self) -> int:
        """The number of ground atoms."""
        return int(self.multiplicities.sum())


class DeltaRowCounter:
    """Many formulas prepared for rows of Δn, over a vocabulary that has every constant."""

    def __init__(self, together: Sequence[Family], formulas: int, vocabulary: Vocabulary) -> None:
        """Take the families of so many formulas."""
        self.formulas, self.vocabulary = formulas, vocabulary
        self._families = tuple(together)
        templates = [family.template for family in together]
        self._counter = DeltaCounter(templates, vocabulary, [family.slots for family in together])

    def __call__(self, facts: Facts, predicate: str, known: Rows | None = None) -> DeltaRows:
        """Return the rows of a predicate's atoms, but of those that are known."""
        declared = self.vocabulary[predicate]
        sizes = [facts.size(type_) for type_ in declared.types]
        if prod(sizes) >= MOST_ATOMS:
            raise TooLargeError(
                f"{predicate} has {prod(sizes):,} ground atoms, which are too many to be numbered.",
                float(prod(sizes)), ["use fewer constants", "predict other predicates"],
            )  # fmt: skip
        rows = _Rows(sizes, self.formulas, list(self._values(facts, predicate)))
        return rows.merged(
            facts.rows(predicate), np.zeros((0, len(sizes)), np.uint32) if known is None else known
        )

    def _values(self, facts: Facts, predicate: str) -> Iterator[FamilyValue]:
        declared = self.vocabulary[predicate]
        for number, family in enumerate(self._families):
            try:
                parts = [(family, self._counter.planned(number, declared, facts))]
            except TooLargeError:
                # Grouped by all slots at once it is too large; one by one constants narrow it.
                if not family.slots:
                    raise
                alone = family.alone()
                counter = DeltaCounter([one.template for one in alone], self.vocabulary)
                parts = [(one, counter.planned(place, declared, facts)) for place, one in enumerate(alone)]
            for some, planned in parts:
                yield from values_of(some, planned, declared.types, self.vocabulary, self.formulas)


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """Some atoms by their keys, ascending: whether true, and how often each counts."""

    keys: Places
    truths: NDArray[np.bool_]
    numbers: Numbers


class _Rows:
    """The rows of one predicate: which products make usual rows, and what single atoms have beside them."""

    def __init__(self, sizes: Sequence[int], formulas: int, values: Sequence[FamilyValue]) -> None:
        self.sizes, self.formulas = list(sizes), formulas
        self.classes: list[Places] = [np.zeros(size, np.int64) for size in sizes]
        self.usual: list[FamilyValue] = []
        self.own = [value for value in values if not value.by_classes]
        most = min(_MOST_USUAL, max(_FEW, prod(sizes) // _SERVES))
        candidates = [(value, self._classes_of(value)) for value in values if value.by_classes]
        for value, found in sorted(candidates, key=lambda one: number_of(one[1])):
            both = [finer(one, other) for one, other in zip(self.classes, found, strict=True)]
            if number_of(both) <= most:
                self.classes = both
                self.usual.append(value)
            else:
                self.own.append(value)

    def _classes_of(self, value: FamilyValue) -> list[Places]:
        return [value.classes(argument) for argument in range(len(self.sizes))]

    def merged(self, true: Rows, known: Rows) -> DeltaRows:
        """Return the different rows of all atoms but the known ones."""
        entries = [(value.entries(), value.signed) for value in self.own]
        true_keys, known_keys = row_keys([true, known], self.sizes)
        keys = np.unique(np.concatenate([true_keys, known_keys, *(found.keys for found, _ in entries)]))
        listed = _Atoms(keys, np.isin(keys, true_keys), np.where(np.isin(keys, known_keys), 0.0, 1.0))
        own = self._matrix(entries, listed)
        of_listed = self._class_of(keys)
        sizes = [np.bincount(of) for of in self.classes]
        left = _outer(sizes) - np.bincount(of_listed, minlength=number_of(self.classes))
        unlisted = np.flatnonzero(left)
        kept = np.flatnonzero(listed.numbers)
        kinds = np.concatenate([2 * of_listed[kept] + listed.truths[kept], 2 * unlisted])
        numbers = np.concatenate([listed.numbers[kept], left[unlisted].astype(np.float64)])
        needed, of = np.unique(kinds, return_inverse=True)
        own = own[kept]
        own.resize((len(kinds), self.formulas))
        return _different(
            SharedRows(self._usual_rows(needed), of.astype(np.int64), own), kinds % 2 == 1, numbers
        )

    def _matrix(self, entries: Sequence[tuple[Entries, bool]], atoms: _Atoms) -> Any:  # noqa: ANN401
        """Return the sum of several products as a matrix by rows: a row for each atom."""
        from scipy.sparse import csr_matrix

        rows, columns, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
        for found, signed in entries:
            places = np.searchsorted(atoms.keys, found.keys)
            rows.append(places)
            columns.append(found.formulas)
            numbers.append(
                np.where(atoms.truths[places], -1.0, 1.0) * found.numbers if signed else found.numbers
            )
        shape = (len(atoms.keys), self.formulas)
        matrix = csr_matrix((np.concatenate(numbers), (np.concatenate(rows), np.concatenate(columns))), shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def _usual_rows(self, kinds: Places) -> Any:  # noqa: ANN401 - a matrix of scipy.sparse
        """Return the usual rows of kinds of atoms: twice the number of their classes, plus 1 if true."""
        classes, of = np.unique(kinds // 2, return_inverse=True)
        shape = [int(found.max()) + 1 for found in self.classes]
        of_each = np.unravel_index(classes, shape) if shape else ()
        firsts = [np.unique(found, return_index=True)[1] for found in self.classes]
        chosen = [first[place] for first, place in zip(firsts, of_each, strict=True)]
        rows = (
            np.stack(chosen, axis=1).astype(np.uint32) if chosen else np.zeros((len(classes), 0), np.uint32)
        )
        (keys,) = row_keys([rows], self.sizes)
        order = np.argsort(keys)
        table = Table(tuple(range(len(self.sizes))), rows)
        entries = [(value.entries(table), value.signed) for value in self.usual]
        both = []
        for true in (False, True):
            atoms = _Atoms(keys[order], np.full(len(keys), true), np.ones(len(keys)))
            both.append(self._matrix(entries, atoms)[np.argsort(order)])
        from scipy.sparse import vstack

        return vstack(both, format="csr")[of + len(classes) * (kinds % 2)]

    def _class_of(self, keys: Places) -> Places:
        """Return the number of the classes of each atom's arguments together."""
        found = np.zeros(len(keys), np.int64)
        for argument, classes in enumerate(self.classes):
            constants = keys // prod(self.sizes[argument + 1 :]) % max(1, self.sizes[argument])
            found = found * (int(classes.max(initial=-1)) + 1) + classes[constants]
        return found


def _outer(sizes: Sequence[Places]) -> Places:
    found = np.ones(1, np.int64)
    for some in sizes:
        found = np.multiply.outer(found, some).ravel()
    return found


# --- equal rows -----------------------------------------------------------------------------------


def _different(values: SharedRows, truths: NDArray[np.bool_], numbers: Numbers) -> DeltaRows:
    """Make equal rows one; ``of`` tells truths apart already."""
    own = values.own
    lengths = np.diff(own.indptr).astype(np.int64)
    groups, firsts = grouped_rows(np.column_stack([values.of, lengths, _hashes(own)]))
    alike = _same_entries(own, firsts[groups], np.arange(len(groups)), lengths)
    if not alike.all():  # two rows that differ have the same hash: they stay two
        groups[~alike] = len(firsts) + np.arange(int((~alike).sum()))
        firsts = np.concatenate([firsts, np.flatnonzero(~alike)])
    together = np.bincount(groups, numbers, len(firsts)).astype(np.float64, copy=False)
    return DeltaRows(SharedRows(values.usual, values.of[firsts], own[firsts]), truths[firsts], together)


def _hashes(own: Any) -> Places:  # noqa: ANN401 - a matrix of scipy.sparse
    """Return a number for each row that is equal where rows are, and hardly ever else."""
    mixed = own.data.view(np.uint64) ^ (own.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return np.asarray((sums[own.indptr[1:]] - sums[own.indptr[:-1]]).view(np.int64))


def _same_entries(own: Any, one: Places, other: Places, lengths: Places) -> NDArray[np.bool_]:  # noqa: ANN401
    """Return which pairs of rows of one length have the same entries."""
    inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    first = np.repeat(own.indptr[one].astype(np.int64), lengths) + inside
    second = np.repeat(own.indptr[other].astype(np.int64), lengths) + inside
    same = (own.indices[first] == own.indices[second]) & (own.data[first] == own.data[second])
    wrong = np.bincount(np.repeat(np.arange(len(lengths)), lengths), ~same, len(lengths))
    return np.asarray(wrong == 0)

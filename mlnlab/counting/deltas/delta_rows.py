"""Δn of thousands of formulas for the atoms of a predicate, as rows of a sparse matrix.

Formulas come in families (:mod:`mlnlab.counting.formulas.formula_families`), whose Δn are sums of products
over arguments and slots. Products that depend on classes of constants alone are the *usual* row of all atoms
of these classes, where such classes are few. All other products are joined out: an atom that has a number
there has something of its own beside the usual row. Equal rows become one, with a multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.deltas.shared_rows import SharedRows
from mlnlab.counting.facts.grouping import grouped_rows
from mlnlab.counting.facts.tables import Table, join_tables, row_keys
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.counting.formulas.formula_families import Family
    from mlnlab.logic.vocabulary import Vocabulary

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]
    Rows = NDArray[np.uint32]
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.counting.deltas.weighted_positions import Factored


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
        """Take the families of ``formulas`` formulas."""
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
        return rows.merge_rows(
            facts.rows(predicate), np.zeros((0, len(sizes)), np.uint32) if known is None else known
        )

    def _values(self, facts: Facts, predicate: str) -> Iterator[FamilyValue]:
        declared = self.vocabulary[predicate]
        for number, family in enumerate(self._families):
            try:
                parts = [(family, self._counter.plan_formula(number, declared, facts))]
            except TooLargeError:
                # Grouped by all slots at once it is too large; one by one constants narrow it.
                if not family.slots:
                    raise
                alone = family.alone()
                counter = DeltaCounter([one.template for one in alone], self.vocabulary)
                parts = [
                    (one, counter.plan_formula(place, declared, facts)) for place, one in enumerate(alone)
                ]
            for some, planned in parts:
                yield from values_of(some, planned, declared.types, self.vocabulary, self.formulas)


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """Some atoms by their keys, ascending: whether true, and how often each counts."""

    keys: Places
    truths: NDArray[np.bool_]
    numbers: Numbers


class _Rows:
    """The rows of one predicate: the products that make usual rows, and those that list single atoms."""

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

    def merge_rows(self, true: Rows, known: Rows) -> DeltaRows:
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


# --- Δn of a family as products over arguments and slots ----------------------------------------

# Which depend on classes of constants, and their joins.

# A product in which every part touches one argument at most depends on the *class* of each argument alone:
# constants that all parts give the same weights are of one class.


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Numbers at places of a matrix: the key of an atom, the place of a formula, and the number."""

    keys: Places
    formulas: Places
    numbers: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class FamilyValue:
    """A number times parts over arguments 0, 1, ... and the slots behind them; the last table tells members.

    ``signed`` products are added for false atoms and subtracted for true ones.
    """

    number: float
    parts: tuple[Table, ...]
    arity: int
    sizes: Mapping[int, int]
    signed: bool

    @property
    def by_classes(self) -> bool:
        """Whether every part touches one argument at most."""
        return all(sum(v < self.arity for v in part.variables) <= 1 for part in self.parts)

    def classes(self, argument: int) -> Places:
        """Return the class of each constant of an argument."""
        found = np.zeros(self.sizes[argument], np.int64)
        for part in self.parts:
            if argument in part.variables:
                found = finer(found, _classes_in(part, argument, self.sizes[argument]))
        return found

    def entries(self, atoms: Table | None = None) -> Entries:
        """Return the numbers that are not 0, of some atoms or of all; atoms have keys by their constants."""
        parts = [*self.parts]
        covered = {variable for part in parts for variable in part.variables}
        arguments = range(self.arity)
        if atoms is None:
            parts += [
                _every(argument, self.sizes[argument]) for argument in arguments if argument not in covered
            ]
        else:
            parts.append(atoms)
        found = _join_all(parts, self.sizes)
        places = [found.variables.index(argument) for argument in arguments]
        (keys,) = row_keys([found.rows[:, places]], [self.sizes[argument] for argument in arguments])
        formulas = found.rows[:, found.variables.index(len(self.sizes) - 1)].astype(np.int64)
        weights = np.ones(len(keys)) if found.weights is None else found.weights.astype(np.float64)
        return Entries(keys, formulas, self.number * weights)


def values_of(
    family: Family, planned: tuple[Sequence[Factored], Sequence[Factored]], types: Sequence[str],
    vocabulary: Vocabulary, formulas: int,
) -> Iterator[FamilyValue]:  # fmt: skip
    """Yield the products of a family's Δn for the atoms of a predicate over some types."""
    arity = len(types)
    every = (*types, *(slot.type for slot in family.slots))
    sizes = {position: len(vocabulary.domain(type_)) for position, type_ in enumerate(every)}
    sizes[len(every)] = formulas
    members = _members(family, vocabulary, arity)
    for signed, values in enumerate(planned):
        for value in values:
            vectors = [_list_weights(vector.variable, vector.weights) for vector in value.vectors]
            parts = (*value.tables, *vectors, members)
            yield FamilyValue(float(value.scalar), parts, arity, sizes, bool(signed))


def _members(family: Family, vocabulary: Vocabulary, arity: int) -> Table:
    """Return the constants of each member's slots, and its place; those with an unknown constant count 0."""
    domains = [vocabulary.domain(slot.type) for slot in family.slots]
    rows = [
        (*(domain.number(name) for domain, name in zip(domains, names, strict=True)), place)
        for place, names in zip(family.members, family.constants, strict=True)
        if all(name in domain for domain, name in zip(domains, names, strict=True))
    ]
    width = len(domains) + 1
    return Table(tuple(range(arity, arity + width)), np.array(rows, np.uint32).reshape(len(rows), width))


def _list_weights(variable: int, weights: NDArray[Any]) -> Table:
    places = np.flatnonzero(weights)
    return Table((variable,), places.astype(np.uint32)[:, None], weights[places])


def _every(variable: int, size: int) -> Table:
    return Table((variable,), np.arange(size, dtype=np.uint32)[:, None])


def _join_all(parts: list[Table], sizes: Mapping[int, int]) -> Table:
    """Join the parts, next the one that shares most variables with the result; of several the shortest."""
    found = min(parts, key=lambda part: part.length)
    waiting = [part for part in parts if part is not found]
    while waiting:
        known = frozenset(found.variables)
        ranks = [(-len(known.intersection(part.variables)), part.length) for part in waiting]
        found = join_tables(found, waiting.pop(ranks.index(min(ranks))), sizes, np.float64)
    return found


# --- classes --------------------------------------------------------------------------------------


def finer(one: Places, other: Places) -> Places:
    """Return the classes of constants that are alike in two ways, numbered from 0."""
    if not len(one):
        return one
    groups: Places = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return groups.astype(np.int64, copy=False)


def _classes_in(part: Table, argument: int, size: int) -> Places:
    """Return equal numbers for constants for which a table lists the same."""
    column = part.variables.index(argument)
    others = [place for place in range(len(part.variables)) if place != column]
    order = np.lexsort([*(part.rows[:, place] for place in others), part.rows[:, column]])
    weights = np.ones(len(order)) if part.weights is None else part.weights.astype(np.float64)
    content = np.column_stack([part.rows[order][:, others].astype(np.float64), weights[order]])
    ends = np.cumsum(np.bincount(part.rows[:, column], minlength=size)).tolist()
    numbers: dict[bytes, int] = {}
    found = np.empty(size, np.int64)
    begin = 0
    for constant, end in enumerate(ends):
        found[constant] = numbers.setdefault(content[begin:end].tobytes(), len(numbers))
        begin = end
    return found


def number_of(classes: Sequence[Places]) -> int:
    """Return how many combinations of classes there are."""
    return prod(int(of.max()) + 1 if len(of) else 0 for of in classes)

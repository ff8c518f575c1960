r"""Δn_i(a): how much larger the count of formula i is with the ground atom a true than with it false.

That is all that pseudo-likelihood needs of the data (Kok and Domingos, "Learning Markov logic network
structure via hypergraph lifting", ICML 2009, section 3.3): the probability of an atom given its Markov
blanket is the logistic function of the sum of w_i Δn_i(a). The numbers are kept factored: a sum of products
of weights of single arguments (degrees) and of sparse tables. Merged, atoms with the same numbers and the
same truth value are one row with a multiplicity, so that what follows does not depend on the database's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counts.counter import TermSum
from mlnlab.counting.counts.counting_choice import fits_the_budget, refused_twice
from mlnlab.counting.deltas.quantified import DeepTerms, acts_deeply, without_cardinalities
from mlnlab.counting.deltas.weighted_positions import Factored, factor_group, kind_for, refuse_many, support
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.facts.grouping import grouped_keys, grouped_rows, places_of
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.counting.facts.tables import Table, row_keys
from mlnlab.counting.formulas.conjunction_derivatives import arguments_of, derivatives
from mlnlab.counting.formulas.formula_networks import Given, given_network
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.formulas.conjunctions import CountTerm
    from mlnlab.logic.formulas.formulas import Formula, Variable
    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World


@dataclass(frozen=True, slots=True, eq=False)
class MergedDeltas:
    """Rows of Δn (a column for each formula) with a truth value each, and how many atoms have them."""

    values: NDArray[Any]
    truths: NDArray[np.bool_]
    multiplicities: tuple[int, ...]

    @property
    def atoms(self) -> int:
        """The number of ground atoms."""
        return sum(self.multiplicities)


@dataclass(frozen=True, slots=True, eq=False)
class AtomDeltas:
    """Δn of every formula for every ground atom of one predicate, factored.

    ``odd[i]`` and ``even[i]`` belong to formula i: the first are added, the second added for false atoms and
    subtracted for true ones (:mod:`mlnlab.counting.formulas.conjunction_derivatives`).
    """

    predicate: Predicate
    sizes: tuple[int, ...]
    true: NDArray[np.uint32]
    odd: tuple[tuple[Factored, ...], ...]
    even: tuple[tuple[Factored, ...], ...]

    def __repr__(self) -> str:
        return f"<AtomDeltas of {self.predicate} for {count_of(len(self.odd), 'formula')}>"

    def truths(self, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which of some ground atoms, rows of constant numbers, are true."""
        if not self.sizes:
            return np.full(len(rows), len(self.true) > 0)
        known, keys = row_keys([self.true, rows], self.sizes)
        return places_of(keys, known) < len(known)

    def at(self, rows: NDArray[np.uint32], truths: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Return Δn of some ground atoms, a row for each atom and a column for each formula."""
        truths = self.truths(rows) if truths is None else truths
        kind = kind_for([value for found in (*self.odd, *self.even) for value in found])
        signs: NDArray[Any] = np.where(truths, -1, 1).astype(kind)
        result: NDArray[Any] = np.zeros((len(rows), len(self.odd)), kind)
        for column, (odd, even) in enumerate(zip(self.odd, self.even, strict=True)):
            for value in odd:
                result[:, column] += value.at(rows, self.sizes, kind)
            for value in even:
                result[:, column] += signs * value.at(rows, self.sizes, kind)
        return result

    def merged(self) -> MergedDeltas:
        """Return the rows with their multiplicities: atoms with equal numbers and truth are one row."""
        listed = self._list_atoms()
        truths = self.truths(listed)
        values = self.at(listed, truths)
        usual, numbers = self._usual(listed)
        return _merge_rows(np.concatenate([values, usual.astype(values.dtype)]),
                       np.concatenate([truths, np.zeros(len(usual), bool)]), numbers)  # fmt: skip

    def _list_atoms(self) -> NDArray[np.uint32]:
        """Return the atoms that are looked at one by one: true ones, and those with entries in tables."""
        with_tables = [v for found in (*self.odd, *self.even) for v in found if v.tables]
        rows = np.concatenate([self.true, *(support(value, self.sizes) for value in with_tables)])
        if not self.sizes:
            return rows[:1]
        (keys,) = row_keys([rows], self.sizes)
        return rows[grouped_keys(keys)[1]]

    def _usual(self, listed: NDArray[np.uint32]) -> tuple[NDArray[Any], list[int]]:
        """Return the rows of all other atoms: they depend on the class of each argument only."""
        classes = [self._classes(position) for position in range(len(self.sizes))]
        shape = tuple(len(first) for first, _ in classes)
        refuse_many(prod(shape))
        firsts = np.stack(
            [grid.ravel() for grid in np.meshgrid(*(first for first, _ in classes), indexing="ij")], axis=1
        ) if classes else np.zeros((1, 0), np.uint32)  # fmt: skip
        sizes = [np.bincount(of, minlength=len(first)).tolist() for first, of in classes]
        numbers = np.ones(1, object)
        for found in sizes:
            numbers = np.multiply.outer(numbers, np.array(found, object)).ravel()
        places = np.zeros(len(listed), np.int64)
        for position, (first, of) in enumerate(classes):
            places = places * len(first) + of[listed[:, position]]
        numbers = numbers - np.bincount(places, minlength=len(numbers)).astype(object)
        plain = AtomDeltas(self.predicate, self.sizes, self.true, _plain(self.odd), _plain(self.even))
        values = plain.at(firsts, np.zeros(len(firsts), bool))
        kept = np.flatnonzero(numbers)
        return values[kept], numbers[kept].tolist()

    def _classes(self, position: int) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """Group the constants of an argument by all weights: return one of each group, and the groups."""
        vectors = [
            vector.weights
            for found in (*self.odd, *self.even) for value in found if not value.tables
            for vector in value.vectors if vector.variable == position
        ]  # fmt: skip
        size = self.sizes[position]
        if not vectors:
            return np.zeros(min(1, size), np.uint32), np.zeros(size, np.intp)
        different = list({id(weights): weights for weights in vectors}.values())
        classes, first = grouped_rows(np.stack(different, axis=1))
        return first.astype(np.uint32), classes


def _plain(values: tuple[tuple[Factored, ...], ...]) -> tuple[tuple[Factored, ...], ...]:
    return tuple(tuple(value for value in found if not value.tables) for found in values)


def _merge_rows(values: NDArray[Any], truths: NDArray[np.bool_], last: Sequence[int]) -> MergedDeltas:
    """Make equal rows one; each row counts once, but the last ones as often as is said."""
    groups, firsts = grouped_rows(np.column_stack([truths.astype(values.dtype), values]))
    once = len(values) - len(last)
    numbers: list[int] = np.bincount(groups[:once], minlength=len(firsts)).tolist()
    for group, number in zip(groups[once:].tolist(), last, strict=True):
        numbers[group] += number
    return MergedDeltas(values[firsts], truths[firsts], tuple(numbers))


class DeltaCounter:
    """Formulas prepared for Δn: the preparation is done once for each predicate, then counted at will."""

    def __init__(
        self, formulas: Sequence[Formula], vocabulary: Vocabulary,
        slots: Sequence[tuple[Variable, ...]] | None = None,
    ) -> None:  # fmt: skip
        """Take the formulas apart; the vocabulary has every constant.

        ``slots`` names for each formula free variables by which its Δn are to be told apart: they are further
        arguments of what :meth:`plan_formula` returns.
        """
        self.formulas, self.vocabulary = tuple(formulas), vocabulary
        self.slots = tuple(slots) if slots is not None else ((),) * len(self.formulas)
        self._mentioned = [frozenset(predicates(formula)) for formula in self.formulas]
        self._terms: dict[int, Sequence[CountTerm] | TooLargeError] = {}
        self._prepared: dict[tuple[str, int], tuple[tuple[TermSum, TermSum], DeepTerms]] = {}

    def __call__(self, world: Database | World | Facts, predicate: str) -> AtomDeltas:
        """Return Δn of every ground atom of a predicate."""
        facts = facts_of(world, self.vocabulary)
        declared = self.vocabulary[predicate]
        sizes = tuple(len(self.vocabulary.domain(type_)) for type_ in declared.types)
        odd: list[tuple[Factored, ...]] = []
        even: list[tuple[Factored, ...]] = []
        for number, mentioned in enumerate(self._mentioned):
            more, signed = self.plan_formula(number, declared, facts) if predicate in mentioned else ((), ())
            odd.append(more)
            even.append(signed)
        return AtomDeltas(declared, sizes, facts.rows(predicate), tuple(odd), tuple(even))

    def all(self, world: Database | World | Facts) -> Mapping[str, AtomDeltas]:
        """Return Δn for every predicate that the formulas mention."""
        facts = facts_of(world, self.vocabulary)
        names = dict.fromkeys(name for formula in self.formulas for name in predicates(formula))
        return {name: self(facts, name) for name in names}

    def plan_formula(
        self, number: int, predicate: Predicate, facts: Facts
    ) -> tuple[tuple[Factored, ...], tuple[Factored, ...]]:
        """Return the Δn of one formula: the part for every atom, and the part with a sign by its truth."""
        try:
            return self._by_terms(number, predicate, facts)
        except TooLargeError as refusal:
            if self.slots[number]:
                raise
            return deltas_by_elimination(self.formulas[number], predicate, facts, refusal), ()

    def _by_terms(
        self, number: int, predicate: Predicate, facts: Facts
    ) -> tuple[tuple[Factored, ...], tuple[Factored, ...]]:
        direct, deep = self._of(number, predicate)
        types = (*predicate.types, *(slot.type for slot in self.slots[number]))
        sizes = [facts.size(type_) for type_ in types]
        values = []
        for found in direct:
            kept = [group for group in found.group_terms(facts) if 0 not in group.parts]
            values.append(tuple(factor_group(group, sizes, self.vocabulary) for group in kept))
        return values[0] + (deep(facts) if deep.terms else ()), values[1]

    def _normal_form(self, number: int) -> Sequence[CountTerm]:
        if number not in self._terms:
            try:
                found = normal_form(self.formulas[number], head=self.slots[number])
                self._terms[number] = without_cardinalities(found)
            except TooLargeError as refusal:
                self._terms[number] = refusal
        known = self._terms[number]
        if isinstance(known, TooLargeError):
            raise known
        return known

    def _of(self, number: int, predicate: Predicate) -> tuple[tuple[TermSum, TermSum], DeepTerms]:
        key = (predicate.name, number)
        if key not in self._prepared:
            terms = self._normal_form(number)
            deep = [term for term in terms if acts_deeply(term, predicate.name)]
            odd, even = derivatives([term for term in terms if term not in deep], predicate)
            sums = TermSum(odd, self.vocabulary), TermSum(even, self.vocabulary)
            self._prepared[key] = sums, DeepTerms(deep, predicate, self.vocabulary)
        return self._prepared[key]


@lru_cache(maxsize=8)
def delta_counter(formulas: tuple[Formula, ...], vocabulary: Vocabulary) -> DeltaCounter:
    """Return the counter of some formulas, the same one when they are asked for again with its plans."""
    return DeltaCounter(formulas, vocabulary)


def deltas(formulas: Sequence[Formula], world: Database | World) -> Mapping[str, AtomDeltas]:
    r"""Return Δn of some formulas for every ground atom, by predicate.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)
    >>> found = deltas([mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)")], db)
    >>> found["Smokes"].at(np.array([[0], [1]], np.uint32)).tolist()
    [[-1], [1]]
    """
    if not formulas:
        raise ArgumentError("Name at least one formula whose counts should change.")
    return DeltaCounter(formulas, world.vocabulary).all(world)


# --- Δn by width-bounded elimination, for formulas whose derivatives would be too many ----------

# The network is counted for every ground atom at once, its arguments being variables of the head: with the
# atom true, and with it false. That is as much work as counting once for each atom, but in few large steps.


def deltas_by_elimination(
    formula: Formula, predicate: Predicate, facts: Facts, refusal: TooLargeError
) -> tuple[Factored, ...]:
    """Return Δn of a formula that was refused the usual way, for every ground atom of a predicate."""
    arguments = arguments_of(predicate)
    networks = [
        BoundNetwork(given_network(formula, Given(predicate.name, arguments, true)), facts.vocabulary)
        for true in (True, False)
    ]
    if not all(map(fits_the_budget, networks)):
        raise refused_twice(networks[0], refusal) from refusal
    with_atom, without = (network.counts(DenseRun(facts)) for network in networks)
    change = np.asarray(with_atom - without)
    if not arguments:
        return (Factored(int(change), (), ()),) if change else ()
    rows = np.argwhere(change)
    if not len(rows):
        return ()
    table = Table(tuple(range(len(arguments))), frozen(rows.astype(np.uint32)), change[tuple(rows.T)])
    return (Factored(1, (), (table,)),)

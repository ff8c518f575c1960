"""Δn where an atom stands below quantifiers, in a cardinality, or there and beside them too.

A term's count is a number of bindings under which several indicators are 1: atoms, conditions, quantities.
When a ground atom a becomes true, the indicator of an occurrence of its predicate rises by [it is a], and
that of a quantity by its tips (:mod:`mlnlab.counting.tips`). With a false before, a product rises by

    prod (f + rise of f) - prod f  =  sum over W of (prod of rises in W) (prod of the others as they are),

W running over the sets of indicators, that are not empty, on which a acts; with a true now, each W has the
sign (-1)^(|W| + 1). Tips are listed as true atoms of predicates of their own, so what a W says is one more
conjunction, which is counted by planning. A quantity's count changes in just this way, so quantities in
quantities are the same thing again; a cardinality is a quantity without a head.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.conjunctions import Conjunction, CountTerm, Quantity, Threshold
from mlnlab.counting.counter import TermSum
from mlnlab.counting.derivatives import arguments_of, given_atoms, grouped_by, refuse_many_sets, sets_of
from mlnlab.counting.factors import Factored, factored, kind_for
from mlnlab.counting.facts import Facts
from mlnlab.counting.pieces import pieces_of
from mlnlab.counting.tables import Table
from mlnlab.counting.tips import tips_of
from mlnlab.logic.formulas import Atom, Cardinality, Constant, Equality, Variable
from mlnlab.logic.relations import frozen
from mlnlab.logic.vocabulary import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.binding import Grouped
    from mlnlab.counting.conjunctions import Argument, Factor
    from mlnlab.counting.tips import Tips
    from mlnlab.logic.vocabulary import Vocabulary


# --- what depends on a predicate ----------------------------------------------------------------


def acts_deeply(term: CountTerm, predicate: str) -> bool:
    """Tell whether an atom of a predicate acts on some quantity of a term."""
    return any(acts_on(quantity.threshold, predicate) for quantity in term.conjunction.quantities)


def acts_on(threshold: Threshold, predicate: str) -> bool:
    """Tell whether an atom of a predicate acts on what a threshold counts."""
    return any(
        acts_deeply(term, predicate)
        or any(atom.predicate == predicate for atom in term.conjunction.atoms)
        for term in threshold.terms
    )  # fmt: skip


def without_cardinalities(
    terms: Sequence[CountTerm], done: dict[Threshold | Cardinality, Threshold] | None = None
) -> tuple[CountTerm, ...]:
    """Return the terms with each ``|P| > 2`` as what it is, a quantifier over all atoms of P."""
    known = {} if done is None else done
    return tuple(replace(term, conjunction=_rewritten(term.conjunction, known)) for term in terms)


def _rewritten(conjunction: Conjunction, done: dict[Threshold | Cardinality, Threshold]) -> Conjunction:
    counted = [one for one in conjunction.conditions if isinstance(one, Cardinality)]
    quantities = [Quantity(_as_threshold(one, done), ()) for one in counted]
    for quantity in conjunction.quantities:
        threshold = quantity.threshold
        if threshold not in done:
            done[threshold] = replace(threshold, terms=without_cardinalities(threshold.terms, done))
        quantities.append(Quantity(done[threshold], quantity.arguments))
    kept = tuple(one for one in conjunction.conditions if not isinstance(one, Cardinality))
    return replace(conjunction, conditions=kept, quantities=tuple(quantities))


def _as_threshold(one: Cardinality, done: dict[Threshold | Cardinality, Threshold]) -> Threshold:
    if one not in done:
        variables = tuple(Variable(f"counted {place}", type_) for place, type_ in enumerate(one.types))
        counted = CountTerm(1, Conjunction(variables, (Atom(one.predicate, variables),)))
        done[one] = Threshold((), (counted,), one.relation, one.bound, str(one))
    return done[one]


# --- the change of a count ----------------------------------------------------------------------


class DeepTerms:
    """Terms of one formula on whose quantities the atoms of one predicate act, prepared for Δn."""

    def __init__(self, terms: Sequence[CountTerm], predicate: Predicate, vocabulary: Vocabulary) -> None:
        """Take the terms; what is prepared for them is kept from world to world."""
        self.terms, self.predicate, self.vocabulary = tuple(terms), predicate, vocabulary
        self._sums: dict[tuple[CountTerm, ...], TermSum] = {}

    def __call__(self, facts: Facts) -> tuple[Factored, ...]:
        """Return values that add up to the terms' Δ for every atom.

        The first are those of false atoms; the last corrects them where an atom is true.
        """
        sizes = [facts.size(type_) for type_ in self.predicate.types]
        if_false, if_true = (self._values(_Change(self, facts, true=true), sizes) for true in (False, True))
        rows = facts.rows(self.predicate.name)
        kind = kind_for([*if_false, *if_true])
        correction: NDArray[Any] = np.zeros(len(rows), kind)
        for value in if_true:
            correction += value.at(rows, sizes, kind)
        for value in if_false:
            correction -= value.at(rows, sizes, kind)
        kept = np.flatnonzero(correction)
        if not len(kept):
            return if_false
        if not sizes:
            return (*if_false, Factored(int(correction[0]), (), ()))
        table = Table(tuple(range(len(sizes))), frozen(rows[kept]), correction[kept])
        return (*if_false, Factored(1, (), (table,)))

    def sum_of(self, terms: tuple[CountTerm, ...], vocabulary: Vocabulary) -> TermSum:
        """Return the terms with the plans made for them."""
        if terms not in self._sums:
            self._sums[terms] = TermSum(terms, vocabulary)
        return self._sums[terms]

    def _values(self, change: _Change, sizes: Sequence[int]) -> tuple[Factored, ...]:
        groups = [group for group in change.of(self.terms) if 0 not in group.parts]
        return tuple(factored(group, sizes, self.vocabulary) for group in groups)


class _Change:
    """How counts change in one world with each atom of a predicate, as if all were false, or all true."""

    def __init__(self, owner: DeepTerms, facts: Facts, *, true: bool) -> None:
        self.owner, self.true = owner, true
        self.facts, self.vocabulary = facts, owner.vocabulary
        self.head = arguments_of(owner.predicate)
        self.tips: dict[Threshold, list[Tips]] = {}
        self.names: dict[tuple[int, tuple[str, ...]], str] = {}  # of listed tables

    def of(self, terms: Sequence[CountTerm]) -> list[Grouped]:
        """Return products by the atom's arguments, then the terms' own head, that add up to the change."""
        return self._grouped(tuple(found for term in terms for found in self._with_some_given(term)))

    def _grouped(self, terms: tuple[CountTerm, ...]) -> list[Grouped]:
        return self.owner.sum_of(terms, self.vocabulary).grouped(self.facts) if terms else []

    def _with_some_given(self, term: CountTerm) -> Iterator[CountTerm]:
        """Yield what each set W adds."""
        conjunction, name = term.conjunction, self.owner.predicate.name
        atoms = [place for place, atom in enumerate(conjunction.atoms) if atom.predicate == name]
        acting = [q for q in conjunction.quantities if acts_on(q.threshold, name)]
        beyond = len(conjunction.atoms)
        refuse_many_sets(
            prod([2] * len(atoms) + [1 + len(self._tips(quantity)) for quantity in acting]), name
        )
        for given in sets_of([*atoms, *range(beyond, beyond + len(acting))]):
            tipped = [quantity for place, quantity in enumerate(acting, beyond) if place in given]
            others = [quantity for quantity in conjunction.quantities if quantity not in tipped]
            sign = -1 if self.true and len(given) % 2 == 0 else 1
            for chosen in product(*(self._tips(quantity) for quantity in tipped)):
                factors: list[Factor] = [*given_atoms(conjunction, given, self.head), *others]
                if self.true:  # only true atoms matter, and there are few
                    factors.append(Atom(name, self.head))
                number = sign * term.coefficient
                for by, conditions in chosen:
                    number *= by
                    factors += conditions
                left = grouped_by(self.head, conjunction, factors)
                if left is not None:
                    yield CountTerm(number, left)

    def _tips(self, quantity: Quantity) -> list[tuple[int, list[Factor]]]:
        """Return by how much the ground atom tips a quantity of its arguments, and under which conditions."""
        threshold = quantity.threshold
        if threshold not in self.tips:
            self.tips[threshold] = self._found(threshold)
        arguments = (*self.head, *quantity.arguments)
        return [(tips.by, self._conditions(tips, arguments, threshold)) for tips in self.tips[threshold]]

    def _found(self, threshold: Threshold) -> list[Tips]:
        sizes = dict(enumerate(self.facts.size(one.type) for one in (*self.head, *threshold.head)))
        changes = pieces_of(self.of(threshold.terms), self.vocabulary)
        counts = pieces_of(self._grouped(threshold.terms), self.vocabulary, len(self.head)) if changes else []
        return tips_of(threshold, counts, changes, sizes, true=self.true)

    def _conditions(self, tips: Tips, arguments: tuple[Argument, ...], threshold: Threshold) -> list[Factor]:
        types = [one.type for one in (*self.head, *threshold.head)]
        found: list[Factor] = []
        for one, other in tips.same:
            if other >= 0:
                found.append(Equality(arguments[one], arguments[other]))
            else:
                name = self.vocabulary.domain(types[one])[-1 - other]
                found.append(Equality(arguments[one], Constant(name, types[one])))
        for table in tips.where:
            predicate = self._listed(table, tuple(types[position] for position in table.variables))
            found.append(Atom(predicate, tuple(arguments[position] for position in table.variables)))
        return found

    def _listed(self, table: Table, types: tuple[str, ...]) -> str:
        """Make a table the true atoms of a new predicate, whose name the language cannot write."""
        key = (id(table.rows), types)  # the rows live as long as the tips and the facts do
        if key not in self.names:
            name = self.names[key] = f"listed {len(self.names)} {types}"
            self.vocabulary = self.vocabulary.with_predicate(Predicate(name, types))
            self.facts = Facts(self.vocabulary, {**self.facts.tables, name: table.rows})
        return self.names[key]

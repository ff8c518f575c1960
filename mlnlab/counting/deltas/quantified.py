"""Δn where an atom stands below quantifiers, in a cardinality, or there and beside them too.

A term's count is a number of bindings under which several indicators are 1: atoms, conditions, quantities.
When a ground atom a becomes true, the indicator of an occurrence of its predicate rises by [it is a], and
that of a quantity by its tips (:mod:`mlnlab.counting.deltas.quantified`). With a false before, a product
rises by

    prod (f + rise of f) - prod f  =  sum over W of (prod of rises in W) (prod of the others as they are),

W running over the sets of indicators, that are not empty, on which a acts; with a true now, each W has the
sign (-1)^(|W| + 1). Tips are listed as true atoms of predicates of their own, so what a W says is one more
conjunction, which is counted by planning. A quantity's count changes in just this way, so quantities in
quantities are the same thing again; a cardinality is a quantity without a head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counts.counter import TermSum
from mlnlab.counting.deltas.pieces import (
    Piece,
    Same,
    add_pieces,
    fold_tables,
    join_all_tables,
    keep_leading_positions,
    leaders,
    listing_key,
    one_piece,
    pieces_of,
)
from mlnlab.counting.deltas.weighted_positions import Factored, factor_group, kind_for
from mlnlab.counting.facts.grouping import places_of
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.counting.facts.tables import Table, row_keys
from mlnlab.counting.formulas.conjunction_derivatives import (
    arguments_of,
    given_atoms,
    grouped_by,
    refuse_many_sets,
    sets_of,
)
from mlnlab.counting.formulas.conjunctions import Conjunction, CountTerm, Quantity, Threshold
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Constant, Equality, Relation, Variable
from mlnlab.logic.relations import frozen, sorted_rows
from mlnlab.logic.vocabulary import Predicate, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.formulas.conjunctions import Argument, Factor
    from mlnlab.counting.plans.binding import Grouped


# --- what depends on a predicate ----------------------------------------------------------------


def acts_deeply(term: CountTerm, predicate: str) -> bool:
    """Tell whether an atom of a predicate acts on some quantity of a term."""
    return any(acts_on(quantity.threshold, predicate) for quantity in term.conjunction.quantities)


def acts_on(threshold: Threshold, predicate: str) -> bool:
    """Tell whether an atom of a predicate acts on the count of a threshold."""
    return any(
        acts_deeply(term, predicate)
        or any(atom.predicate == predicate for atom in term.conjunction.atoms)
        for term in threshold.terms
    )  # fmt: skip


def without_cardinalities(
    terms: Sequence[CountTerm], done: dict[Threshold | Cardinality, Threshold] | None = None
) -> tuple[CountTerm, ...]:
    """Return the terms with each ``|P| > 2`` replaced by a quantifier over all atoms of P."""
    known = {} if done is None else done
    return tuple(replace(term, conjunction=_rewrite_counts(term.conjunction, known)) for term in terms)


def _rewrite_counts(conjunction: Conjunction, done: dict[Threshold | Cardinality, Threshold]) -> Conjunction:
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
        """Take the terms; their preparation is kept from world to world."""
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
        return tuple(factor_group(group, sizes, self.vocabulary) for group in groups)


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
        return self._group_terms(tuple(found for term in terms for found in self._expand_given_sets(term)))

    def _group_terms(self, terms: tuple[CountTerm, ...]) -> list[Grouped]:
        return self.owner.sum_of(terms, self.vocabulary).group_terms(self.facts) if terms else []

    def _expand_given_sets(self, term: CountTerm) -> Iterator[CountTerm]:
        """Yield the terms of each set W."""
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
            self.tips[threshold] = self._find_tips(threshold)
        arguments = (*self.head, *quantity.arguments)
        return [(tips.by, self._conditions(tips, arguments, threshold)) for tips in self.tips[threshold]]

    def _find_tips(self, threshold: Threshold) -> list[Tips]:
        sizes = dict(enumerate(self.facts.size(one.type) for one in (*self.head, *threshold.head)))
        changes = pieces_of(self.of(threshold.terms), self.vocabulary)
        counts = (
            pieces_of(self._group_terms(threshold.terms), self.vocabulary, len(self.head)) if changes else []
        )
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
            predicate = self._list_table(table, tuple(types[position] for position in table.variables))
            found.append(Atom(predicate, tuple(arguments[position] for position in table.variables)))
        return found

    def _list_table(self, table: Table, types: tuple[str, ...]) -> str:
        """Make a table the true atoms of a new predicate, whose name the language cannot write."""
        key = (id(table.rows), types)  # the rows live as long as the tips and the facts do
        if key not in self.names:
            name = self.names[key] = f"listed {len(self.names)} {types}"
            self.vocabulary = self.vocabulary.with_predicate(Predicate(name, types))
            self.facts = Facts(self.vocabulary, {**self.facts.tables, name: table.rows})
        return self.names[key]


# --- which ground atoms tip which bindings of a quantity over its bound -------------------------

# A quantity holds of v where a count c(v) stands in a relation to a bound; a ground atom a changes that count
# by d(a, v). So a tips v by [c(v) + d(a, v) is in the relation] - [c(v) is]. Both c and d are sums of pieces,
# most of which are zero nearly everywhere, and any function f of pieces is a sum over the sets S of them of
#
#     sum over T in S of (-1)^(|S| - |T|) f(pieces of T as they are, all others 0),
#
# where the part of S is zero wherever a piece of S is. So it is a product again: the conditions under which
# the pieces of S are not zero, times a number that depends on their weights only. Nothing is multiplied out,
# and positions that do not matter do not occur: for ``EXIST y F(x, y)`` all atoms F(a, b) with one a are
# alike.

MOST_PIECES = 9  # of the count and the change of one quantity; their subsets are gone through

_COMPARE: dict[Relation, Callable[[Any, int], Any]] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tips:
    """By how much the truth of a quantity rises where positions are the same and all tables list them."""

    by: int
    same: tuple[Same, ...]
    where: tuple[Table, ...]


def tips_of(
    threshold: Threshold,
    counts: Sequence[Piece],
    changes: Sequence[Piece],
    sizes: Mapping[int, int],
    *,
    true: bool,
) -> list[Tips]:
    """Return the tips by atoms that are all true, or all false, now.

    The positions are those of the atom's arguments, then of the threshold's head.
    """
    if len(counts) + len(changes) > MOST_PIECES:
        changes = one_piece(changes, sizes)
    if len(counts) + len(changes) > MOST_PIECES:
        counts = one_piece(counts, sizes)
    steady = sum(piece.number for piece in changes if piece.everywhere)
    now = sum(piece.number for piece in counts if piece.everywhere)
    moving = [piece for piece in changes if not piece.everywhere]
    lying = [piece for piece in counts if not piece.everywhere]
    parts: dict[object, list[Piece]] = {}
    for moved in _subsets(moving):
        if not moved and not steady:
            continue
        for beside in _subsets(lying):
            piece = _Part(threshold, (now, steady), beside, moved, true=true).rise(sizes)
            parts.setdefault(piece.conditions, []).append(piece)
    return [tips for alike in parts.values() for tips in _tips(add_pieces(alike))]


def _tips(piece: Piece) -> Iterator[Tips]:
    """Yield the tips that a piece stands for, one for each of its numbers."""
    if piece.weights is None:
        if piece.number:
            yield Tips(piece.number, piece.same, piece.where)
        return
    by = np.asarray(piece.weights.weights)
    for number in np.unique(by).tolist():
        if number:
            rows = sorted_rows(piece.weights.rows[by == number])
            yield Tips(
                number * piece.number, piece.same, (*piece.where, Table(piece.weights.variables, rows))
            )


def _subsets(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    for size in range(len(pieces) + 1):
        yield from combinations(pieces, size)


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of the tips that belongs to one set of pieces, some of the count and some of the change."""

    threshold: Threshold
    usual: tuple[int, int]  # of the count, of the change
    beside: tuple[Piece, ...]
    moved: tuple[Piece, ...]
    true: bool

    def rise(self, sizes: Mapping[int, int]) -> Piece:
        """Return by how much the part rises."""
        pieces = (*self.beside, *self.moved)
        leader = leaders([one for piece in pieces for one in piece.same])
        constants = {(leader.get(p, p), c) for piece in pieces for p, c in piece.same if c < 0}
        same = (*((first, p) for p, first in sorted(leader.items()) if p != first), *sorted(constants))
        where = _different(keep_leading_positions(table, leader) for piece in pieces for table in piece.where)
        where = tuple(fold_tables(where, sizes))
        if not all(table.length for table in where):
            return Piece(0)
        weighted = [
            keep_leading_positions(piece.weights, leader) for piece in pieces if piece.weights is not None
        ]
        if not weighted:
            return Piece(int(self._rise([np.asarray(piece.number) for piece in pieces])), same, where)
        rows = _rows(weighted, where, sizes)
        rises = self._rise([_values(piece, rows, leader, sizes) for piece in pieces])
        return Piece(1, same, where, Table(rows.variables, rows.rows, rises))

    def _rise(self, values: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Return the alternating sum over the subsets of the pieces; where they hold is left out."""
        met_values, moved_values = values[: len(self.beside)], values[len(self.beside) :]
        total = np.zeros((), np.int64)
        for some in _list_subsets(len(met_values)):
            count = self.usual[0] + sum(met_values[place] for place in some)
            for others in _list_subsets(len(moved_values)):
                change = self.usual[1] + sum(moved_values[place] for place in others)
                sign = -1 if (len(values) - len(some) - len(others)) % 2 else 1
                with_atom, without = (count, count - change) if self.true else (count + change, count)
                total = total + sign * (self._holds(with_atom) - self._holds(without))
        return total

    def _holds(self, count: Any) -> NDArray[np.int64]:  # noqa: ANN401 - a number or an array
        return np.asarray(_COMPARE[self.threshold.relation](count, self.threshold.bound)).astype(np.int64)


def _list_subsets(number: int) -> Iterator[tuple[int, ...]]:
    for size in range(number + 1):
        yield from combinations(range(number), size)


def _different(tables: Iterable[Table]) -> tuple[Table, ...]:
    different = {listing_key(table): table for table in tables}
    return tuple(different[key] for key in sorted(different))


# --- the rows on which weights depend -----------------------------------------------------------


def _rows(weighted: Sequence[Table], where: Sequence[Table], sizes: Mapping[int, int]) -> Table:
    """Return the rows that all weighted tables list; conditions are joined only to link the tables."""
    bare = [Table(table.variables, table.rows) for table in weighted]
    return join_all_tables(bare if _are_linked(bare) else [*bare, *where], sizes, np.int64)


def _are_linked(tables: Sequence[Table]) -> bool:
    reached, waiting = set(tables[0].variables), list(tables[1:])
    while linked := next((table for table in waiting if reached & set(table.variables)), None):
        reached |= set(linked.variables)
        waiting.remove(linked)
    return not waiting


def _values(piece: Piece, rows: Table, leader: Mapping[int, int], sizes: Mapping[int, int]) -> NDArray[Any]:
    """Return a piece's numbers at rows at which its conditions hold."""
    if piece.weights is None:
        return np.asarray(piece.number)
    table = keep_leading_positions(piece.weights, leader)
    columns = [rows.variables.index(position) for position in table.variables]
    known, keys = row_keys([table.rows, rows.rows[:, columns]], [sizes[p] for p in table.variables])
    weights = np.asarray(table.weights)
    if piece.bound >= 1 << 62:
        weights = weights.astype(object)
    return np.asarray(weights[places_of(keys, known)] * piece.number)

"""Compile the lookups after a flip to arrays.

Each derivative of each formula and view (:mod:`mlnlab.counting.formulas.conjunction_derivatives`) by each
relation is a program: the flipped row binds some variables, and lookups in other relations bind the rest, at
every step the one with the fewest rows. The request of a lookup depends only on which lookups are done, so
it is worked out here, once, as states; the kernel (:mod:`mlnlab.kernels.counting.counting_flips`) goes from
state to state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.formulas.conjunction_derivatives import derivatives
from mlnlab.counting.plans.binding import BoundConjunction, bound, pattern_of
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.formulas.conjunctions import CountTerm
    from mlnlab.counting.incremental.views import View
    from mlnlab.counting.plans.nodes import Scan
    from mlnlab.logic.vocabulary import Vocabulary

MOST_FREE_LOOKUPS = 6  # beyond that their order is settled beforehand, as the states are too many
Row = tuple[int, ...]


@dataclass(slots=True, eq=False)
class ChangingRelation:
    """A relation by its number: the sizes of its columns, and the columns by which it is looked up."""

    number: int
    sizes: Row
    listed: NDArray[np.uint32] | None = None  # of what never changes
    indexes: list[Row] = field(default_factory=list)

    def index(self, columns: Row) -> int:
        """Return the number of an index among the relation's own."""
        if columns not in self.indexes:
            self.indexes.append(columns)
        return self.indexes.index(columns)


@dataclass(frozen=True, slots=True)
class Lookup:
    """An atom over numbered variables; negative numbers are constants."""

    relation: int
    pattern: Row

    def open(self, known: frozenset[int]) -> list[int]:
        """Return the variables in open columns, as often as they occur."""
        return [one for one in self.pattern if one >= 0 and one not in known]


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A lookup in a state: by which index, whether its rows are only counted, and the state that follows."""

    index: int  # of the relation's own
    plain: bool
    follows: int


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One derivative of one formula or view."""

    target: int
    coefficients: tuple[int, int]  # for false and for true atoms
    arguments: Row
    out: Row
    lookups: tuple[Lookup, ...]
    states: tuple[dict[int, LookedUp], ...]
    reach: int  # no change by it is larger


class Compiler:
    """Numbers the relations and compiles the derivatives of formulas and views."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Give every predicate a number, views among them."""
        self.vocabulary = vocabulary
        self.relations: list[ChangingRelation] = []
        self.by_name: dict[object, ChangingRelation] = {}
        self.programs: list[list[Program]] = []
        for predicate in vocabulary.predicates.values():
            self._relation(predicate.name, [len(vocabulary.domain(type_)) for type_ in predicate.types])

    def _relation(
        self, name: object, sizes: Sequence[int], listed: NDArray[np.uint32] | None = None
    ) -> ChangingRelation:
        if name not in self.by_name:
            if prod(sizes) >= 1 << 62:
                raise TooLargeError(
                    f"{name} has {prod(sizes):,} atoms, too many to follow their flips.",
                    float(prod(sizes)),
                    ["use fewer constants", "split the predicate into several of fewer arguments"],
                )
            found = ChangingRelation(len(self.relations), tuple(sizes), listed)
            found.index(tuple(range(len(sizes))))
            self.by_name[name] = found
            self.relations.append(found)
            self.programs.append([])
        return self.by_name[name]

    def add(self, target: int, terms: Sequence[CountTerm], view: View | None = None) -> None:
        """Compile the changes in the count of a formula or view by a flip of each relation."""
        names = {atom.predicate: None for term in terms for atom in term.conjunction.atoms}
        for name in names:
            predicate = self.vocabulary[name]
            # Flipping a false atom adds odd + even terms; flipping a true one takes odd - even ones away.
            for found, signs in zip(derivatives(terms, predicate), ((1, -1), (1, 1)), strict=True):
                for term in found:
                    left = bound(term.conjunction, self.vocabulary)
                    if left is not None:
                        positions = () if view is None else view.positions
                        out = tuple(predicate.arity + place for place in positions)
                        program = self._program(target, term.coefficient, signs, left, predicate.arity, out)
                        self.programs[self.by_name[name].number].append(program)

    def _program(
        self, target: int, coefficient: int, signs: Row, left: BoundConjunction, arity: int, places: Row
    ) -> Program:
        conjunction = left.conjunction
        numbers = {variable: number for number, variable in enumerate(conjunction.variables)}
        types = [argument.type for argument in conjunction.head]
        head = pattern_of(conjunction.head, types, numbers, self.vocabulary) or ()
        arguments, out = head[:arity], tuple(head[place] for place in places)
        lookups = [self._lookup(scan, left.sizes) for scan in left.scans]
        seen = {*arguments, *(one for lookup in lookups for one in lookup.pattern)}
        for variable in sorted({one for one in out if one >= 0} - seen):  # it may be any constant
            type_, size = conjunction.variables[variable].type, left.sizes[variable]
            every = np.arange(size, dtype=np.uint32)[:, None]
            lookups.append(Lookup(self._relation(("every", type_), [size], every).number, (variable,)))
        seen.update(head)  # what a view's count is told for is not added up, also where it does not matter
        free = coefficient * prod(size for number, size in enumerate(left.sizes) if number not in seen)
        known = frozenset(one for one in arguments if one >= 0)
        states = self._states(lookups, known, frozenset(out))
        signed = (free * signs[0], free * signs[1])
        reach = abs(coefficient) * prod(left.sizes)
        return Program(target, signed, arguments, out, tuple(lookups), tuple(states), reach)

    def _lookup(self, scan: Scan, of_variables: Row) -> Lookup:
        if scan.listed is not None:
            sizes = tuple(of_variables[variable] for variable in scan.variables)
            # Over no columns the one empty row, true, and no row, false, differ in their number only.
            name = ("listed", sizes, len(scan.listed), scan.listed.tobytes())
            return Lookup(self._relation(name, sizes, scan.listed).number, scan.variables)
        local = scan.pattern or tuple(range(len(scan.variables)))
        pattern = tuple(scan.variables[number] if number >= 0 else number for number in local)
        return Lookup(self.by_name[str(scan.source)].number, pattern)

    def _states(
        self, lookups: Sequence[Lookup], known: frozenset[int], out: frozenset[int]
    ) -> list[dict[int, LookedUp]]:
        """Return the states from nothing looked up to everything: by open lookup, its request."""
        numbers: dict[frozenset[int], int] = {frozenset(): 0}
        states: list[dict[int, LookedUp]] = []
        for done in _growing(numbers):
            bound_now = known.union(*(lookups[place].pattern for place in done))
            waiting = [place for place in range(len(lookups)) if place not in done]
            offered = waiting
            if len(lookups) > MOST_FREE_LOOKUPS:
                offered = sorted(waiting, key=lambda place: len(lookups[place].open(bound_now)))[:1]
            state = {}
            for place in offered:
                lookup = lookups[place]
                columns = tuple(
                    c for c, one in enumerate(lookup.pattern) if one < 0 or one in bound_now
                )  # fmt: skip
                fresh = lookup.open(bound_now)
                others = out.union(*(lookups[other].pattern for other in waiting if other != place))
                plain = len(set(fresh)) == len(fresh) and not others.intersection(fresh)
                follows = numbers.setdefault(done | {place}, len(numbers))
                state[place] = LookedUp(self.relations[lookup.relation].index(columns), plain, follows)
            states.append(state)
        return states


def _growing(numbers: dict[frozenset[int], int]) -> Iterator[frozenset[int]]:
    """Yield the keys in order, those that are added meanwhile too."""
    place = 0
    while place < len(numbers):
        yield list(numbers)[place]
        place += 1


def key_strides(sizes: Sequence[int], columns: Iterable[int]) -> list[int]:
    """Return the multiplier of each column in the key of an index, 0 for columns that are not in it."""
    strides, step = [0] * len(sizes), 1
    for column in sorted(columns, reverse=True):
        strides[column] = step
        step *= sizes[column]
    return strides

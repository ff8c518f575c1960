"""Δn of a family as products over arguments and slots: which depend on classes of constants, and their joins.

A product in which every part touches one argument at most depends on the *class* of each argument alone:
constants that all parts give the same weights are of one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.tables import Table, joined, row_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.factors import Factored
    from mlnlab.counting.formula_families import Family
    from mlnlab.logic.vocabulary import Vocabulary

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]


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
        found = _all_joined(parts, self.sizes)
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
            vectors = [_listed(vector.variable, vector.weights) for vector in value.vectors]
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


def _listed(variable: int, weights: NDArray[Any]) -> Table:
    places = np.flatnonzero(weights)
    return Table((variable,), places.astype(np.uint32)[:, None], weights[places])


def _every(variable: int, size: int) -> Table:
    return Table((variable,), np.arange(size, dtype=np.uint32)[:, None])


def _all_joined(parts: list[Table], sizes: Mapping[int, int]) -> Table:
    """Join the parts, each time one that shares most with what there is; of several the shortest."""
    found = min(parts, key=lambda part: part.length)
    waiting = [part for part in parts if part is not found]
    while waiting:
        known = frozenset(found.variables)
        ranks = [(-len(known.intersection(part.variables)), part.length) for part in waiting]
        found = joined(found, waiting.pop(ranks.index(min(ranks))), sizes, np.float64)
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

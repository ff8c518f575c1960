"""Derive the rest of a conjunction when some of its atoms are one given ground atom.

Let R be the true atoms of a predicate and a one ground atom of it, R0 the others of R. The number of bindings
of a conjunction with a true is a sum over the sets W of occurrences of the predicate that are a,

    N = sum over W of T_W(a),    T_W(a): the bindings whose occurrences in W are a, the others in R0,

so making a true adds the terms of all W that are not empty. Where a is true already, the others may be a too
(they are looked up in R, not in R0); inclusion-exclusion turns that into the sign (-1)^(|W| + 1). This makes
atoms right that occur several times in one grounding, as in ``S(x) v S(y)`` with x = y.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from mlnlab.counting.formulas.conjunctions import Conjunction, CountTerm, Factor, conjunction_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import Equality, Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mlnlab.logic.vocabulary import Predicate

_MOST_SETS = 1 << 13  # of occurrences that are one atom: some seconds of planning


def derivatives(
    terms: Sequence[CountTerm], predicate: Predicate
) -> tuple[tuple[CountTerm, ...], tuple[CountTerm, ...]]:
    """Return the terms T_W by the arguments of the ground atom: those with |W| odd, then even.

    Terms that are grouped already keep their head behind the atom's arguments.
    """
    head = arguments_of(predicate)
    _refuse_many(terms, predicate.name)
    by_parity: tuple[list[CountTerm], list[CountTerm]] = ([], [])
    for term in terms:
        conjunction = term.conjunction
        places = [place for place, atom in enumerate(conjunction.atoms) if atom.predicate == predicate.name]
        for given in sets_of(places):
            atoms = [*given_atoms(conjunction, given, head), *conjunction.quantities]
            left = grouped_by(head, conjunction, atoms)
            if left is not None:
                by_parity[(len(given) + 1) % 2].append(CountTerm(term.coefficient, left))
    odd, even = by_parity
    return tuple(odd), tuple(even)


def _refuse_many(terms: Sequence[CountTerm], predicate: str) -> None:
    """Raise a sentence where atoms of one predicate occur so often that their sets are too many."""
    occurrences = [sum(atom.predicate == predicate for atom in term.conjunction.atoms) for term in terms]
    refuse_many_sets(sum((1 << number) - 1 for number in occurrences), predicate, _MOST_SETS)


def refuse_many_sets(sets: int, predicate: str, most: int = 2048) -> None:
    """Raise a sentence where there are too many sets of places on which one atom acts."""
    if sets > most:
        raise TooLargeError(
            f"{predicate} occurs so often in one conjunction that an atom of it may act there"
            f" in {sets:,} ways (the limit is {most:,}).",
            float(sets),
            ["let the predicate occur less often", "split the formula into shorter ones"],
        )


def arguments_of(predicate: Predicate) -> tuple[Variable, ...]:
    """Return variables for the arguments of the ground atom."""
    return tuple(Variable(f"argument {place}", type_) for place, type_ in enumerate(predicate.types))


def sets_of(places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of places that are not empty."""
    for size in range(1, len(places) + 1):
        yield from combinations(places, size)


def given_atoms(
    conjunction: Conjunction, given: Collection[int], head: tuple[Variable, ...]
) -> Iterator[Factor]:
    """Yield the atoms of a conjunction; those at the given places only say that they are the ground atom."""
    for place, atom in enumerate(conjunction.atoms):
        if place in given:
            for variable, argument in zip(head, atom.arguments, strict=True):
                yield Equality(variable, argument)
        else:
            yield atom


def grouped_by(
    head: tuple[Variable, ...], conjunction: Conjunction, factors: Iterable[Factor]
) -> Conjunction | None:
    """Return factors in a conjunction's place, grouped by the atom's arguments, then by its own head."""
    old = tuple(Variable(f"group {place}", term.type) for place, term in enumerate(conjunction.head))
    own = [Equality(new, term) for new, term in zip(old, conjunction.head, strict=True)]
    every = (*head, *old, *conjunction.variables)
    return conjunction_of(
        (*head, *old), every, [*conjunction.conditions, *factors, *own], conjunction.existing
    )

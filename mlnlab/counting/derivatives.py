"""What is left of a conjunction when some of its atoms are one given ground atom.

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

from mlnlab.counting.conjunctions import Conjunction, CountTerm, conjunction_of
from mlnlab.logic.formulas import Atom, Equality, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.counting.conjunctions import Factor
    from mlnlab.logic.vocabulary import Predicate


def derivatives(
    terms: Sequence[CountTerm], predicate: Predicate
) -> tuple[tuple[CountTerm, ...], tuple[CountTerm, ...]]:
    """Return the terms T_W by the arguments of the ground atom: those with |W| odd, then even.

    Terms that are grouped already keep their head behind the atom's arguments.
    """
    head = tuple(Variable(f"argument {place}", type_) for place, type_ in enumerate(predicate.types))
    by_parity: tuple[list[CountTerm], list[CountTerm]] = ([], [])
    for term in terms:
        for size, conjunction in _with_some_given(term.conjunction, predicate.name, head):
            by_parity[(size + 1) % 2].append(CountTerm(term.coefficient, conjunction))
    odd, even = by_parity
    return tuple(odd), tuple(even)


def _with_some_given(
    conjunction: Conjunction, predicate: str, head: tuple[Variable, ...]
) -> Iterator[tuple[int, Conjunction]]:
    """Yield, for each set of occurrences that is not empty, its size and what is left of the conjunction."""
    places = [place for place, atom in enumerate(conjunction.atoms) if atom.predicate == predicate]
    for size in range(1, len(places) + 1):
        for given in combinations(places, size):
            factors: list[Factor] = [*conjunction.conditions, *conjunction.quantities]
            for place, atom in enumerate(conjunction.atoms):
                factors += _identified(atom, head) if place in given else [atom]
            old = tuple(Variable(f"group {k}", term.type) for k, term in enumerate(conjunction.head))
            factors += [Equality(new, term) for new, term in zip(old, conjunction.head, strict=True)]
            every = (*head, *old, *conjunction.variables)
            left = conjunction_of((*head, *old), every, factors, conjunction.existing)
            if left is not None:
                yield size, left


def _identified(atom: Atom, head: tuple[Variable, ...]) -> list[Factor]:
    return [Equality(variable, argument) for variable, argument in zip(head, atom.arguments, strict=True)]

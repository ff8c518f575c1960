"""Δn where an atom stands below one quantifier: which bindings of the quantified part it tips over its bound.

A quantity D(v) holds where a count c(v) stands in a relation to a bound. An atom a changes c(v) for few v, by
the derivative of c; where that changes the truth of D(v), the count of the formula changes by the number of
bindings of everything beside D that have these v.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.conjunctions import CountTerm, Quantity, Threshold
from mlnlab.counting.counter import TermSum
from mlnlab.counting.derivatives import derivatives
from mlnlab.counting.factors import Factored, factored, kind_for, support
from mlnlab.counting.grouping import grouped_keys, places_of
from mlnlab.counting.tables import Table, grouped, row_keys
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.logic.formulas import Relation
    from mlnlab.logic.vocabulary import Predicate

_COMPARE: dict[Relation, Callable[[Any, int], Any]] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def changing_quantity(term: CountTerm, predicate: str) -> Quantity | None:
    """Return the one quantity through which an atom acts on a term; ``None`` where it acts otherwise too."""
    if any(atom.predicate == predicate for atom in term.conjunction.atoms):
        return None
    acting = [quantity for quantity in term.conjunction.quantities if mentions(quantity, predicate)]
    if len(acting) != 1 or _counts_atoms(term, predicate):
        return None
    inner = acting[0].threshold.terms
    if any(mentions(q, predicate) for one in inner for q in one.conjunction.quantities):
        return None
    return None if any(_counts_atoms(one, predicate) for one in inner) else acting[0]


def mentions(quantity: Quantity, predicate: str) -> bool:
    """Tell whether a quantity depends on a predicate."""
    return any(depends(term, predicate) for term in quantity.threshold.terms)


def depends(term: CountTerm, predicate: str) -> bool:
    """Tell whether a term depends on a predicate at all."""
    conjunction = term.conjunction
    return (
        any(atom.predicate == predicate for atom in conjunction.atoms)
        or _counts_atoms(term, predicate)
        or any(mentions(quantity, predicate) for quantity in conjunction.quantities)
    )


def _counts_atoms(term: CountTerm, predicate: str) -> bool:
    return any(
        getattr(condition, "predicate", None) == predicate for condition in term.conjunction.conditions
    )


def tipped(term: CountTerm, quantity: Quantity, predicate: Predicate, facts: Facts) -> tuple[Factored, ...]:
    """Return Δ of a term's count for every atom of a predicate that acts on one quantity only."""
    threshold, vocabulary = quantity.threshold, facts.vocabulary
    own = [facts.size(type_) for type_ in predicate.types]
    head = [facts.size(variable.type) for variable in threshold.head]
    parts = derivatives(threshold.terms, predicate)
    odd, even = (_values(TermSum(found, vocabulary), facts, [*own, *head]) for found in parts)
    rows = _touched([*odd, *even], [*own, *head])
    if not len(rows):
        return ()
    atoms, bindings = frozen(rows[:, : len(own)]), frozen(rows[:, len(own) :])
    beside = replace(
        term.conjunction,
        head=quantity.arguments,
        quantities=tuple(other for other in term.conjunction.quantities if other is not quantity),
    )
    count = _values(TermSum(threshold.terms, vocabulary), facts, head)
    weights = _values(TermSum([CountTerm(term.coefficient, beside)], vocabulary), facts, head)
    more, less = _sum(odd, rows, [*own, *head]), _sum(even, rows, [*own, *head])
    true = _among(atoms, facts.rows(predicate.name), own)
    tips = _tips(threshold, _sum(count, bindings, head), np.where(true, more - less, more + less), true)
    change = tips * _sum(weights, bindings, head)
    kept = np.flatnonzero(change)
    if not own:
        return (Factored(int(change.sum()), (), ()),)
    table = Table(tuple(range(len(own))), frozen(atoms[kept]), change[kept])
    return (Factored(1, (), (grouped(table, dict(enumerate(own)), change.dtype.type),)),)


def _tips(
    threshold: Threshold, now: NDArray[Any], difference: NDArray[Any], true: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return 1 where a quantity holds with the atom only, -1 where without it only, 0 where it is all one."""
    compare = _COMPARE[threshold.relation]
    with_atom = compare(np.where(true, now, now + difference), threshold.bound)
    without = compare(np.where(true, now - difference, now), threshold.bound)
    return np.asarray(with_atom.astype(np.int64) - without.astype(np.int64))


def _values(terms: TermSum, facts: Facts, sizes: Sequence[int]) -> list[Factored]:
    return [
        factored(group, sizes, facts.vocabulary) for group in terms.grouped(facts) if 0 not in group.parts
    ]


def _sum(values: Sequence[Factored], rows: NDArray[np.uint32], sizes: Sequence[int]) -> NDArray[Any]:
    kind = kind_for(values)
    result: NDArray[Any] = np.zeros(len(rows), kind)
    for value in values:
        result += value.at(rows, sizes, kind)
    return result


def _touched(values: Sequence[Factored], sizes: Sequence[int]) -> NDArray[np.uint32]:
    """Return, each once, the atoms together with the bindings of the quantified part that they touch."""
    rows = [support(value, sizes) for value in values]
    together = np.concatenate(rows) if rows else np.zeros((0, len(sizes)), np.uint32)
    if not sizes:
        return frozen(together[:1])
    (keys,) = row_keys([together], sizes)
    return frozen(together[grouped_keys(keys)[1]])


def _among(rows: NDArray[np.uint32], known: NDArray[np.uint32], sizes: Sequence[int]) -> NDArray[np.bool_]:
    if not sizes:
        return np.full(len(rows), len(known) > 0)
    listed, keys = row_keys([known, rows], sizes)
    return np.asarray(places_of(keys, listed) < len(listed))

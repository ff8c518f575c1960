"""Demands on rows: how many atoms of a predicate are true for each constant, such as one for each block.

``EXIST y F(x, y)``, ``EXIST=2 y F(x, y)``, both also behind ``S(x) =>``, and the marks ! and ? say of each
row of F, or of each column, how many true atoms it may have. Where no pair of constants ties two rows, these
are independent once it is known which 1-type each element has, so that they can be drawn by themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.logic.formulas.formulas import Atom, CountingExists, Exists, Formula, Implies, Or, Variable
from mlnlab.logic.formulas.weights import Hard, Soft, WeightedFormula
from mlnlab.logic.vocabulary import FrozenMapping, Predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.mln.mln import MLN


class RowDemand(NamedTuple):
    """How many atoms are true for each constant at a place of a predicate of two arguments."""

    predicate: str
    outer: int  # the place whose constants have rows
    least: int
    most: int | None
    guard: str = ""  # a predicate of one argument: of which constants it is demanded

    @property
    def tracked(self) -> int:
        """The largest number of true atoms that has to be told from more."""
        return self.least - 1 if self.most is None else self.most


def row_demands(mln: MLN, signed: Sequence[int]) -> tuple[RowDemand, ...] | None:
    """Return the demands that blocks and signed formulas make of rows; ``None`` where they say more."""
    found = [_of_formula(mln, number) for number in signed]
    found += [_of_marks(one) for one in mln.vocabulary.predicates.values() if one.exclusive]
    demands = tuple(one for one in found if one is not None)
    places = {demand.predicate for demand in demands}
    return demands if len(demands) == len(found) == len(places) else None


def _of_formula(mln: MLN, number: int) -> RowDemand | None:
    weighted = mln.formulas[number]
    formula, guard = weighted.formula, ""
    about: Variable | None = None
    if not isinstance(weighted.weight, Hard):
        return None
    match formula:
        case Implies(Atom(name, (Variable() as guarded,)), inner):
            formula, guard, about = inner, name, guarded
    bounds = _bounds(formula)
    match formula:
        case Exists((inside,), Atom(name, (Variable() as first, Variable() as second))) if bounds:
            pass
        case CountingExists(_, _, (inside,), Atom(name, (Variable() as first, Variable() as second))):
            pass
        case _:
            return None
    if bounds is None or first == second or inside not in (first, second):
        return None
    outer = 0 if inside == second else 1
    outside = (first, second)[outer]
    return RowDemand(name, outer, *bounds, guard) if about in (None, outside) else None


def _bounds(formula: Formula) -> tuple[int, int | None] | None:
    """Return how many must be true, at least and at most, by a quantifier."""
    if isinstance(formula, Exists):
        return 1, None
    if not isinstance(formula, CountingExists):
        return None
    bound = formula.bound
    known: dict[str, tuple[int, int | None]] = {
        "=": (bound, bound), "<=": (0, bound), "<": (0, bound - 1),
        ">=": (bound, None), ">": (bound + 1, None),
    }  # fmt: skip
    return known.get(formula.relation)


def _of_marks(predicate: Predicate) -> RowDemand | None:
    if predicate.arity != 2 or len(predicate.exclusive) != 1:
        return None
    return RowDemand(predicate.name, 1 - predicate.exclusive[0], 0 if predicate.at_most_one else 1, 1)


def without_demands(mln: MLN, signed: Sequence[int], demands: Sequence[RowDemand]) -> MLN:
    """Return a model without demands, in which atoms that decide about a row belong to the 1-type.

    Formulas of weight 0 say so: that F(x, x) and the guard matter to pairs.
    """
    vocabulary = mln.vocabulary
    plain = {
        name: replace(one, exclusive=(), at_most_one=False, function=False) if one.exclusive else one
        for name, one in vocabulary.predicates.items()
    }
    formulas = [one for number, one in enumerate(mln.formulas) if number not in signed]
    kept = tuple(formulas) + tuple(
        WeightedFormula(formula, Soft(0.0))
        for demand in demands
        for formula in _ties(demand, plain[demand.predicate])
    )
    return replace(mln, formulas=kept, vocabulary=replace(vocabulary, predicates=FrozenMapping(plain)))


def _ties(demand: RowDemand, predicate: Predicate) -> tuple[Formula, ...]:
    places = tuple(Variable(f"x{n}", type_) for n, type_ in enumerate(predicate.types))
    outside = places[demand.outer]
    tied: list[Formula] = [Atom(predicate.name, places)]
    if predicate.types[0] == predicate.types[1]:
        tied.append(Atom(predicate.name, (outside, outside)))
    if demand.guard:
        tied.append(Atom(demand.guard, (outside,)))
    return (Or(tuple(tied)),) if len(tied) > 1 else ()

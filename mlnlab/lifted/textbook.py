"""Alchemy's reading of a model as the book's: clauses, among which the weight of a formula is divided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Exists, ForAll
from mlnlab.logic.traversal import subformulas
from mlnlab.logic.weights import Hard
from mlnlab.model.expansion import clauses_of

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.logic.weights import WeightedFormula
    from mlnlab.model.mln import MLN


def by_the_book(mln: MLN) -> MLN:
    """Return a model of ``semantics="textbook"`` that says the same in domains of any size.

    Its formulas are those of ``mln.expand()``, but hard ones stay as they are: nothing is divided.
    """
    if mln.semantics == "textbook":
        return mln
    parts = [_clauses(one, mln.vocabulary) for one in mln.formulas]
    places = tuple(place for place, of_one in zip(mln.places, parts, strict=False) for _ in of_one)
    formulas = tuple(part for of_one in parts for part in of_one)
    return replace(mln, formulas=formulas, places=places, semantics="textbook")


def _clauses(one: WeightedFormula, vocabulary: Vocabulary) -> tuple[WeightedFormula, ...]:
    if isinstance(one.weight, Hard) or one.per_constant or one.both_signs:
        return (one,)
    if any(isinstance(part, Exists | ForAll) for part in subformulas(one.formula)):
        raise ArgumentError(
            f"Alchemy writes {one.formula} out over the constants before it divides its weight, so that it"
            " says something else in each domain: give mln.expand(db), or read the model with"
            ' semantics="textbook".'
        )
    return clauses_of(one, vocabulary, complete=False)

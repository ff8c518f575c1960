"""Tallies: numbers of true atoms that are prescribed, by counting quantifiers and cardinalities."""

from __future__ import annotations

from dataclasses import dataclass

from mlnlab.logic.formulas.formulas import Relation


@dataclass(frozen=True, slots=True)
class Tally:
    """A condition on the weighted number of true atoms: a sum over predicates, in relation to a bound.

    ``true`` and ``false`` give the contribution of a true and a false atom of a predicate; the bound is
    ``constant``, plus a number for each tuple of constants of some types.
    """

    true: tuple[tuple[str, int], ...]
    false: tuple[tuple[str, int], ...]
    relation: Relation
    constant: int
    per_tuple: tuple[int, tuple[str, ...]] = (0, ())

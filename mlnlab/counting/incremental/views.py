"""Quantities as relations that are kept up with a world: views.

A view has the bindings for which its quantity holds or, where it holds of most, those for which it does not.
With views in their places, terms speak of atoms only; the count behind each binding is kept too, so that a
change of the count shows whether the binding goes into the view or out of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counts.counter import TermSum
from mlnlab.counting.deltas.pieces import pieces_of, spread, written_out
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.counting.facts.tables import Table, group_rows
from mlnlab.counting.formulas.conjunctions import Conjunction, CountTerm, Quantity, Threshold
from mlnlab.logic.formulas.formulas import Atom, Variable, holds_between
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.relations import frozen, sorted_rows
from mlnlab.logic.vocabulary import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


_SAFE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A quantity's bindings, over the positions of its head that matter, and the counts behind them."""

    predicate: Predicate
    threshold: Threshold
    terms: tuple[CountTerm, ...]  # of atoms and views only
    positions: tuple[int, ...]
    default: bool  # whether the quantity holds where the view does not list a binding
    usual: int  # the count where none is listed
    counts: Table  # what is added to it


class Views:
    """The views that some terms need, in an order in which each needs earlier ones only."""

    def __init__(self, facts: Facts) -> None:
        """Start with the relations of a world."""
        self.facts, self.vocabulary = facts, facts.vocabulary
        self.all: list[View] = []
        self._known: dict[Threshold, View] = {}

    def plain(self, terms: Iterable[CountTerm]) -> tuple[CountTerm, ...]:
        """Return the terms with views in place of quantities: [Q] is [view], or 1 - [view]."""
        found = []
        for term in terms:
            views = [(self._of(quantity.threshold), quantity) for quantity in term.conjunction.quantities]
            for chosen in product(*((False, True) if view.default else (True,) for view, _ in views)):
                used = [one for one, use in zip(views, chosen, strict=True) if use]
                sign = (-1) ** sum(view.default for view, _ in used)
                found.append(CountTerm(sign * term.coefficient, _with_views(term.conjunction, used)))
        return tuple(found)

    def _of(self, threshold: Threshold) -> View:
        if threshold not in self._known:
            terms = self.plain(threshold.terms)
            self._known[threshold] = self._make_view(threshold, terms)
            self.all.append(self._known[threshold])
        return self._known[threshold]

    def _make_view(self, threshold: Threshold, terms: tuple[CountTerm, ...]) -> View:
        positions = tuple(sorted({place for term in terms for place in _mattering(term.conjunction)}))
        types = tuple(threshold.head[place].type for place in positions)
        usual, counts = self._count_positions(threshold, terms, positions)
        default = holds_between(threshold.relation, usual, threshold.bound)
        numbers: list[int] = np.asarray(counts.weights).tolist()
        holds = [holds_between(threshold.relation, usual + number, threshold.bound) for number in numbers]
        predicate = Predicate(f"view {len(self.all)}", types)
        rows = sorted_rows(counts.rows[np.array(holds, bool) != default])
        self.vocabulary = self.vocabulary.with_predicate(predicate)
        self.facts = Facts(self.vocabulary, {**self.facts.tables, predicate.name: rows})
        return View(predicate, threshold, terms, positions, default, usual, counts)

    def _count_positions(
        self, threshold: Threshold, terms: tuple[CountTerm, ...], positions: tuple[int, ...]
    ) -> tuple[int, Table]:
        pieces = pieces_of(TermSum(terms, self.vocabulary).group_terms(self.facts), self.vocabulary)
        usual = sum(piece.number for piece in pieces if piece.everywhere)
        others = [piece for piece in pieces if not piece.everywhere]
        sizes = dict(enumerate(self.facts.size(variable.type) for variable in threshold.head))
        kind = np.int64 if sum(piece.bound for piece in pieces) < _SAFE else object
        tables = [spread(written_out(piece, sizes, kind), positions, sizes, kind) for piece in others]
        rows = np.concatenate([np.zeros((0, len(positions)), np.uint32), *(t.rows for t in tables)])
        weights: NDArray[Any] = np.concatenate([np.zeros(0, kind), *(t.weights for t in tables)])
        return usual, group_rows(Table(positions, frozen(rows), weights), sizes, kind)


def _with_views(conjunction: Conjunction, used: Sequence[tuple[View, Quantity]]) -> Conjunction:
    atoms = (
        Atom(view.predicate.name, tuple(quantity.arguments[place] for place in view.positions))
        for view, quantity in used
    )
    return replace(conjunction, atoms=tuple(dict.fromkeys((*conjunction.atoms, *atoms))), quantities=())


def _mattering(conjunction: Conjunction) -> list[int]:
    """Return the places of the head that have a constant, or a variable that occurs elsewhere too."""
    seen = {one for atom in conjunction.atoms for one in atom.arguments}
    seen.update(variable for condition in conjunction.conditions for variable in free_variables(condition))
    head = conjunction.head
    return [
        place for place, one in enumerate(head)
        if not isinstance(one, Variable) or one in seen or head.count(one) > 1
    ]  # fmt: skip

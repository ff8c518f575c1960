"""How many groundings of a clause evidence makes false or leaves open, counted without visiting them.

With a predicate for the atoms that are surely true and one for those that may be true, "evidence makes every
literal false" is a conjunction, and conjunctions are counted by aggregation
(:mod:`mlnlab.counting.counts.counter`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.grounding.question.evidence_relations import FALSE, MOST_CELLS, TRUE, EvidenceRelations
from mlnlab.logic.formulas.formulas import And, Atom, Formula, Not
from mlnlab.logic.vocabulary import Predicate, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.clause_literals import SignedAtom

_POSSIBLE, _IMPOSSIBLE = "possible ", "impossible "  # no name in a model holds a space


class AtomBounds(NamedTuple):
    """Of a predicate: the atoms that are surely true, and those that may be true or those that cannot."""

    true: NDArray[np.integer[Any]]
    other: NDArray[np.integer[Any]]
    other_cannot: bool
    atoms: int  # all there are

    @property
    def impossible(self) -> int:
        """How many atoms cannot be true."""
        return len(self.other) if self.other_cannot else self.atoms - len(self.other)

    @property
    def open(self) -> int:
        """How many atoms may be true and may be false."""
        return self.atoms - self.impossible - len(self.true)


def bounds_in(relations: EvidenceRelations) -> Callable[[str], AtomBounds]:
    """Return a function that gives the bounds of a predicate by its true and open atoms."""

    def bounds(name: str) -> AtomBounds:
        sizes, atoms = relations.sizes(name), relations.cells(name)
        possible = relations.possible(name)
        rows = possible.rows[possible.codes == TRUE]
        if not sizes or atoms > MOST_CELLS or 2 * len(possible.rows) < atoms:
            return AtomBounds(rows, possible.rows, other_cannot=False, atoms=atoms)
        found = np.flatnonzero(relations.dense(name) == FALSE)
        return AtomBounds(
            rows, np.column_stack(np.unravel_index(found, sizes)), other_cannot=True, atoms=atoms
        )

    return bounds


class DecidedCounts:
    """Counts groundings by the known truth values of their atoms."""

    def __init__(self, vocabulary: Vocabulary, bounds: Callable[[str], AtomBounds]) -> None:
        self._vocabulary, self._find = vocabulary, bounds
        self._bounds: dict[str, AtomBounds] = {}
        self._tables: dict[str, NDArray[np.uint32]] = {}

    def false(self, literals: Sequence[SignedAtom]) -> int:
        """Return how many groundings evidence makes false."""
        return self._number(literals, known=True)

    def count_undecided_groundings(self, literals: Sequence[SignedAtom]) -> int:
        """Return how many groundings evidence does not make true."""
        return self._number(literals, known=False)

    def _number(self, literals: Sequence[SignedAtom], *, known: bool) -> int:
        if any(not self._atoms(literal, known) for literal in literals):
            return 0
        parts = [self._held_back(literal, known) for literal in literals]
        formula = parts[0] if len(parts) == 1 else And(tuple(parts))
        from mlnlab.counting.counts.counter import Counter

        return Counter(formula, self._vocabulary)(facts_from_tables(self._vocabulary, self._tables))

    def _atoms(self, literal: SignedAtom, known: bool) -> int:
        """Return for how many atoms a literal is surely false, or not surely true."""
        if not isinstance(literal.atom, Atom):
            return 1
        bounds = self._of(literal.atom.predicate)
        if literal.positive:
            return bounds.impossible if known else bounds.atoms - len(bounds.true)
        return len(bounds.true) if known else bounds.atoms - bounds.impossible

    def _of(self, predicate: str) -> AtomBounds:
        if predicate not in self._bounds:
            self._bounds[predicate] = self._find(predicate)
        return self._bounds[predicate]

    def _held_back(self, literal: SignedAtom, known: bool) -> Formula:
        """Return as a formula that a literal is surely false, or not surely true."""
        atom, positive = literal
        if not isinstance(atom, Atom):
            return Not(atom) if positive else atom
        bounds = self._of(atom.predicate)
        surely = positive != known or not bounds.open
        holds = self._sure(atom, bounds) if surely else self._possible(atom, bounds)
        return Not(holds) if positive else holds

    def _sure(self, atom: Atom, bounds: AtomBounds) -> Formula:
        self._add(atom.predicate, atom.predicate, bounds.true)
        return atom

    def _possible(self, atom: Atom, bounds: AtomBounds) -> Formula:
        """Return that an atom may be true."""
        name = (_IMPOSSIBLE if bounds.other_cannot else _POSSIBLE) + atom.predicate
        self._add(name, atom.predicate, bounds.other)
        said = Atom(name, atom.arguments)
        return Not(said) if bounds.other_cannot else said

    def _add(self, name: str, predicate: str, rows: NDArray[np.integer[Any]]) -> None:
        if name not in self._tables:
            types = self._vocabulary[predicate].types
            self._tables[name] = rows.astype(np.uint32)
            self._vocabulary = self._vocabulary.with_predicate(Predicate(name, types))

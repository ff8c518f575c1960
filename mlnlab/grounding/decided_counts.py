"""How many groundings of a clause evidence makes false or leaves open, counted without visiting them.

With a predicate for the atoms that are surely true and one for those that may be true, "evidence makes every
literal false" is a conjunction, and conjunctions are counted by aggregation (:mod:`mlnlab.counting.counter`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counter import Counter
from mlnlab.counting.facts import facts_from_tables
from mlnlab.grounding.evidence_relations import FALSE, MOST_CELLS, EvidenceRelations, Reading
from mlnlab.logic.formulas import And, Atom, Formula, Not

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clause_literals import SignedAtom
    from mlnlab.grounding.evidence_relations import Numbers
    from mlnlab.logic.vocabulary import Vocabulary

_POSSIBLE, _IMPOSSIBLE = "possible ", "impossible "  # no name in a model holds a space


class DecidedCounts:
    """Counts of groundings by what evidence says of them."""

    def __init__(self, relations: EvidenceRelations) -> None:
        self.relations = relations
        self._vocabulary: Vocabulary = relations.vocabulary
        self._tables: dict[str, NDArray[np.uint32]] = {}

    def false(self, literals: Sequence[SignedAtom]) -> int:
        """Return how many groundings evidence makes false."""
        return self._number(literals, Reading.KNOWN)

    def undecided(self, literals: Sequence[SignedAtom]) -> int:
        """Return how many groundings evidence does not make true."""
        return self._number(literals, Reading.EITHER)

    def _number(self, literals: Sequence[SignedAtom], reading: Reading) -> int:
        atoms = [(one.atom.predicate, one.positive) for one in literals if isinstance(one.atom, Atom)]
        if any(not self.relations.number(name, reading, positive) for name, positive in atoms):
            return 0
        parts = [self._held_back(literal, reading) for literal in literals]
        formula = parts[0] if len(parts) == 1 else And(tuple(parts))
        return Counter(formula, self._vocabulary)(facts_from_tables(self._vocabulary, self._tables))

    def _held_back(self, literal: SignedAtom, reading: Reading) -> Formula:
        """Return as a formula that a literal does not satisfy its clause."""
        atom, positive = literal
        if not isinstance(atom, Atom):
            return Not(atom) if positive else atom
        surely = positive == (reading is Reading.EITHER) or not self.relations.has_open(atom.predicate)
        holds = self._sure(atom) if surely else self._possible(atom)
        return Not(holds) if positive else holds

    def _sure(self, atom: Atom) -> Formula:
        true = self.relations.true.get(atom.predicate)
        self._add(atom.predicate, atom.predicate, None if true is None else true.rows)
        return atom

    def _possible(self, atom: Atom) -> Formula:
        """Return that an atom is true or open; said by what is neither where that is little."""
        name, relations = atom.predicate, self.relations
        neither = relations.number(name, Reading.KNOWN, positive=True)
        if relations.cells(name) <= MOST_CELLS and 2 * neither < relations.cells(name):
            found = np.flatnonzero(relations.dense(name) == FALSE)
            sizes = relations.sizes(name)
            rows = np.column_stack(np.unravel_index(found, sizes)) if sizes else np.zeros((len(found), 0))
            self._add(_IMPOSSIBLE + name, name, rows)
            return Not(Atom(_IMPOSSIBLE + name, atom.arguments))
        self._add(_POSSIBLE + name, name, relations.possible(name).rows)
        return Atom(_POSSIBLE + name, atom.arguments)

    def _add(self, name: str, predicate: str, rows: Numbers | NDArray[np.float64] | None) -> None:
        from mlnlab.logic.vocabulary import Predicate

        if name in self._tables:
            return
        types = self.relations.vocabulary[predicate].types
        found = np.zeros((0, len(types)), np.uint32) if rows is None else rows.astype(np.uint32)
        self._tables[name] = found
        self._vocabulary = self._vocabulary.with_predicate(Predicate(name, types))

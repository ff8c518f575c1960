"""Hold each predicate's true, false and open atoms by the evidence, as sorted relations to join.

The *code* of a ground atom is its number where it is open, else ``TRUE`` or ``FALSE``. True and open atoms
are listed; false ones are the rest, and are listed too where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.clause_literals import SignedAtom
    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.formulas import Variable
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    Numbers = NDArray[np.int64]

FALSE, TRUE = -2, -1
MOST_CELLS = 1 << 25  # ground atoms of one predicate whose codes are written out: 128 MB
MOST_KEYS = 1 << 62
_FEW = 1 << 16  # combinations of constants for which a list of places is always made


class Reading(Enum):
    """Which atoms make a literal hold back from satisfying its clause."""

    KNOWN = "evidence makes the literal false"
    OPEN = "the literal is open"
    EITHER = "evidence does not make the literal true"
    # where only some of the open atoms are active, and the others are taken to be false
    ACTIVE = "the literal is open, and its atom is active"
    IDLE = "the literal is false or open, and its atom is not active"


_OF_OPEN = (Reading.OPEN, Reading.ACTIVE)  # where every open atom is active
_OF_KNOWN = (Reading.KNOWN, Reading.IDLE)


class Listing(NamedTuple):
    """Some atoms of a predicate: a row of constant numbers for each, and its code."""

    rows: Numbers
    codes: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """Atoms that fit a pattern, grouped by their *bound* columns: the join's side that is looked up."""

    sizes: tuple[int, ...]  # of the types of the bound columns
    keys: Numbers | None  # of the rows, sorted; None where ``starts`` has a place for each combination
    starts: Numbers
    columns: tuple[Numbers, ...]  # the others
    codes: Numbers

    @property
    def fan_out(self) -> float:
        """How many rows a combination of bound constants has, on average."""
        return len(self.codes) / prod(self.sizes)

    def runs(self, bound: Sequence[Numbers], number: int) -> tuple[Numbers, Numbers]:
        """Return where the matches of each of ``number`` bindings begin, and how many there are."""
        keys = pack_rows(bound, self.sizes, number)
        if self.keys is None:
            first = self.starts[keys]
            return first, self.starts[keys + 1] - first
        first = np.searchsorted(self.keys, keys, "left")
        return first, np.searchsorted(self.keys, keys, "right") - first


def pack_rows(columns: Sequence[Numbers], sizes: Sequence[int], number: int) -> Numbers:
    """Return one number for each row, the last column running fastest."""
    keys = np.zeros(number, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        keys *= size
        keys += column
    return keys


class EvidenceRelations:
    """The true and the open atoms of each predicate, as arrays; derived arrays are cached."""

    def __init__(self, question: Question, numbers: dict[GroundAtom, int]) -> None:
        self.vocabulary = question.vocabulary
        self._sizes: dict[str, tuple[int, ...]] = {}
        self._places: dict[str, dict[str, int]] = {}
        self.true = self._relations(question.true, None)
        self.open = self._relations(numbers, numbers)
        self._dense: dict[str, NDArray[np.int32]] = {}
        self._complements: dict[tuple[str, Reading], Listing] = {}
        self._lookups: dict[tuple[object, ...], Lookup] = {}
        self._sorted: dict[str, Listing] = {}

    def _relations(
        self, atoms: Iterable[GroundAtom], numbers: dict[GroundAtom, int] | None
    ) -> dict[str, Listing]:
        found: dict[str, tuple[list[tuple[str, ...]], list[int]]] = {}
        for atom in atoms:
            rows, codes = found.setdefault(atom.predicate, ([], []))
            rows.append(atom.arguments)
            codes.append(TRUE if numbers is None else numbers[atom])
        return {name: self._listed_atoms(name, *known) for name, known in found.items()}

    def _listed_atoms(self, predicate: str, rows: list[tuple[str, ...]], codes: list[int]) -> Listing:
        """Return atoms as numbers; one with a constant that its type has not is in no grounding."""
        found = np.empty((len(rows), len(self.sizes(predicate))), np.int64)
        for place, type_ in enumerate(self.vocabulary[predicate].types):
            if type_ not in self._places:
                self._places[type_] = {name: n for n, name in enumerate(self.vocabulary.domain(type_))}
            number = self._places[type_].get
            found[:, place] = [number(row[place], -1) for row in rows]
        # In an order of their own: facts come as a set, whose order differs from process to process.
        order = np.lexsort(found.T[::-1]) if found.shape[1] else np.arange(len(found))
        known = order[(found[order] >= 0).all(axis=1)]
        return Listing(found[known], np.array(codes, np.int64)[known])

    # --- single predicates ------------------------------------------------------------------------

    def sizes(self, predicate: str) -> tuple[int, ...]:
        """Return the numbers of constants of a predicate's types."""
        if predicate not in self._sizes:
            types = self.vocabulary[predicate].types
            self._sizes[predicate] = tuple(len(self.vocabulary.domain(type_)) for type_ in types)
        return self._sizes[predicate]

    def cells(self, predicate: str) -> int:
        """Return the number of ground atoms."""
        return prod(self.sizes(predicate))

    def has_open(self, predicate: str) -> bool:
        """Return whether an atom is open."""
        return predicate in self.open

    def number(self, predicate: str, reading: Reading, positive: bool) -> int:
        """Return for how many atoms a literal is read so."""
        true, opened = self._length(self.true, predicate), self._length(self.open, predicate)
        known = self.cells(predicate) - true - opened if positive else true
        if reading in _OF_OPEN:
            return opened
        return known if reading in _OF_KNOWN else known + opened

    @staticmethod
    def _length(relations: dict[str, Listing], predicate: str) -> int:
        return len(relations[predicate].codes) if predicate in relations else 0

    def listing(self, predicate: str, reading: Reading, positive: bool) -> Listing | None:
        """Return the atoms for which a literal is read so; ``None`` where these are too many to be listed."""
        if reading in _OF_OPEN:
            return self._listing(self.open, predicate)
        if positive:
            return self._complement(predicate, reading)
        return self._listing(self.true, predicate) if reading in _OF_KNOWN else self.possible(predicate)

    def possible(self, predicate: str) -> Listing:
        """Return the true and the open atoms."""
        true, opened = self._listing(self.true, predicate), self._listing(self.open, predicate)
        if not len(opened.codes):
            return true
        return Listing(np.concatenate([true.rows, opened.rows]), np.concatenate([true.codes, opened.codes]))

    def _listing(self, relations: dict[str, Listing], predicate: str) -> Listing:
        nothing = Listing(np.zeros((0, len(self.sizes(predicate))), np.int64), np.zeros(0, np.int64))
        return relations.get(predicate, nothing)

    def _complement(self, predicate: str, reading: Reading) -> Listing | None:
        cells = self.cells(predicate)
        if cells > MOST_CELLS or self.number(predicate, reading, positive=True) > max(_FEW, cells // 4):
            return None
        if (predicate, reading) not in self._complements:
            codes = self.dense(predicate)
            found = np.flatnonzero(codes == FALSE if reading in _OF_KNOWN else codes != TRUE)
            sizes = self.sizes(predicate)
            rows = np.column_stack(np.unravel_index(found, sizes)) if sizes else np.zeros((len(found), 0))
            self._complements[predicate, reading] = Listing(
                rows.astype(np.int64), codes[found].astype(np.int64)
            )
        return self._complements[predicate, reading]

    def dense(self, predicate: str) -> NDArray[np.int32]:
        """Return the codes of all ground atoms of a predicate, the last argument running fastest."""
        if predicate not in self._dense:
            codes = np.full(self.cells(predicate), FALSE, np.int32)
            for relations in (self.true, self.open):
                if predicate in relations:
                    rows, known = relations[predicate]
                    codes[pack_rows(tuple(rows.T), self.sizes(predicate), len(rows))] = known
            self._dense[predicate] = codes
        return self._dense[predicate]

    def is_active(self, codes: Numbers) -> NDArray[np.bool_]:
        """Return which of the codes are those of active atoms."""
        return np.asarray(codes >= 0)

    def codes(self, predicate: str, columns: Sequence[Numbers], number: int) -> Numbers:
        """Return the codes of ``number`` ground atoms."""
        keys = pack_rows(columns, self.sizes(predicate), number)
        if self.cells(predicate) <= MOST_CELLS:
            return self.dense(predicate)[keys].astype(np.int64)
        known = self._list_atoms(predicate)
        if not len(known.rows):
            return np.full(number, FALSE, np.int64)
        places = np.minimum(np.searchsorted(known.rows, keys), len(known.rows) - 1)
        return np.where(known.rows[places] == keys, known.codes[places], FALSE)

    def _list_atoms(self, predicate: str) -> Listing:
        """Return the true and open atoms by their packed numbers, sorted."""
        if predicate not in self._sorted:
            both = self.possible(predicate)
            keys = pack_rows(tuple(both.rows.T), self.sizes(predicate), len(both.rows))
            order = np.argsort(keys, kind="stable")
            self._sorted[predicate] = Listing(keys[order], both.codes[order])
        return self._sorted[predicate]

    # --- joins ------------------------------------------------------------------------------------

    def lookup(self, literal: SignedAtom, reading: Reading, bound: frozenset[object]) -> Lookup | None:
        """Return the atoms of a literal, read so, that fit its constants, grouped by its bound variables."""
        listing = self.listing(literal.atom.predicate, reading, literal.positive)  # type: ignore[union-attr]
        if listing is None:
            return None
        variables = literal.variables
        pattern = self._pattern(literal, variables)
        wanted = tuple(variable in bound for variable in variables)
        key = (literal.atom.predicate, literal.positive, reading, pattern, wanted)  # type: ignore[union-attr]
        if key not in self._lookups:
            self._lookups[key] = self._group_rows(listing, self.sizes(key[0]), pattern, wanted)
        return self._lookups[key]

    def _pattern(self, literal: SignedAtom, variables: tuple[Variable, ...]) -> tuple[int, ...]:
        """Return each argument: its variable's place among the literal's, or -1 - the constant's number."""
        places = {variable: place for place, variable in enumerate(variables)}
        types = self.vocabulary[literal.atom.predicate].types  # type: ignore[union-attr]
        return tuple(
            places[term] if term in places else -1 - self.vocabulary.domain(type_).number(term.name)
            for term, type_ in zip(literal.terms, types, strict=True)
        )  # fmt: skip

    def _group_rows(
        self, listing: Listing, sizes: tuple[int, ...], pattern: tuple[int, ...], wanted: tuple[bool, ...]
    ) -> Lookup:
        fits = np.ones(len(listing.codes), bool)
        first: dict[int, int] = {}
        for column, place in enumerate(pattern):
            if place < 0:
                fits &= listing.rows[:, column] == -1 - place
            elif place in first:
                fits &= listing.rows[:, column] == listing.rows[:, first[place]]
            else:
                first[place] = column
        rows, codes = listing.rows[fits], listing.codes[fits]
        bound = [first[place] for place, given in enumerate(wanted) if given]
        others = [first[place] for place, given in enumerate(wanted) if not given]
        spans = tuple(sizes[column] for column in bound)
        keys = pack_rows([rows[:, column] for column in bound], spans, len(rows))
        order = np.argsort(keys, kind="stable")
        columns = tuple(np.ascontiguousarray(rows[order, column]) for column in others)
        if prod(spans) > max(_FEW, 4 * len(rows)):
            return Lookup(spans, keys[order], keys[:0], columns, codes[order])
        starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=prod(spans)))])
        return Lookup(spans, None, starts, columns, codes[order])

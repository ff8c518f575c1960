"""The steps of a join that finds the bindings of a clause: look up, filter, spread out over a type.

Every step takes a stretch of bindings, held as columns of constant numbers, and yields stretches again. How
many bindings a step makes is known before any is made, so none is ever longer than it has to be: a stretch
that would become too long is cut first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.evidence_relations import FALSE, TRUE, EvidenceRelations, Reading
from mlnlab.logic.formulas import Atom, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.clause_literals import SignedAtom
    from mlnlab.grounding.evidence_relations import Lookup, Numbers

Spend = Callable[[int], None]  # hears how many bindings will be looked at, before they are made

STRETCH = 1 << 18  # bindings that are made together


@dataclass(frozen=True, slots=True, eq=False)
class Bindings:
    """Some bindings: a column of constant numbers for each variable, and the codes of literals met so far."""

    number: int
    columns: Mapping[Variable, Numbers]
    codes: Mapping[int, Numbers]  # by the literal's place in its clause

    def taken(self, rows: NDArray[np.intp] | NDArray[np.bool_], number: int) -> Bindings:
        """Return some of the bindings, by their places or by a mask."""
        columns = {variable: column[rows] for variable, column in self.columns.items()}
        return Bindings(number, columns, {place: codes[rows] for place, codes in self.codes.items()})

    def with_columns(self, new: Mapping[Variable, Numbers], codes: Mapping[int, Numbers]) -> Bindings:
        """Return the bindings with more columns and more codes."""
        return Bindings(self.number, {**self.columns, **new}, {**self.codes, **codes})

    def without(self, needed: frozenset[Variable]) -> Bindings:
        """Return the bindings without the columns that no later step needs."""
        if self.columns.keys() <= needed:
            return self
        return Bindings(self.number, {v: c for v, c in self.columns.items() if v in needed}, self.codes)


BEGIN = Bindings(1, {}, {})


@dataclass(frozen=True, slots=True, eq=False)
class LookUp:
    """Join with the atoms for which a literal is read as wanted."""

    literal: SignedAtom
    place: int
    lookup: Lookup
    bound: tuple[Variable, ...]
    new: tuple[Variable, ...]
    keeps_codes: bool

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with each matching atom."""
        columns = [bindings.columns[variable] for variable in self.bound]
        first, numbers = self.lookup.runs(columns, bindings.number)
        spend(int(numbers.sum()))
        for begin, end in _cuts(numbers):
            length = numbers[begin:end]
            total = int(length.sum())
            if not total:
                continue
            left = np.repeat(np.arange(begin, end), length)
            ends = np.cumsum(length)
            right = np.arange(total) + np.repeat(first[begin:end] - (ends - length), length)
            new = {v: c[right] for v, c in zip(self.new, self.lookup.columns, strict=True)}
            codes = {self.place: self.lookup.codes[right]} if self.keeps_codes else {}
            yield bindings.taken(left, total).with_columns(new, codes)


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Keep the bindings for which a literal, all of whose variables are bound, is read as wanted."""

    literal: SignedAtom
    place: int
    reading: Reading
    relations: EvidenceRelations
    keeps_codes: bool

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield the bindings that are kept."""
        atom, positive = self.literal
        if isinstance(atom, Atom):
            types = self.relations.vocabulary[atom.predicate].types
            columns = [
                self._column(bindings, t, type_) for t, type_ in zip(self.literal.terms, types, strict=True)
            ]
            codes = self.relations.codes(atom.predicate, columns, bindings.number)
        else:
            type_ = next(variable.type for variable in self.literal.variables)
            one, other = (self._column(bindings, term, type_) for term in self.literal.terms)
            codes = np.where(one == other, TRUE, FALSE).astype(np.int64)
        spend(bindings.number)
        kept = self._reads(codes, positive)
        number = int(kept.sum())
        if number:
            codes_kept = {self.place: codes[kept]} if self.keeps_codes else {}
            yield bindings.taken(kept, number).with_columns({}, codes_kept)

    def _reads(self, codes: Numbers, positive: bool) -> NDArray[np.bool_]:
        match self.reading:
            case Reading.KNOWN:
                kept = codes == (FALSE if positive else TRUE)
            case Reading.OPEN:
                kept = codes >= 0
            case Reading.ACTIVE:
                kept = self.relations.is_active(codes)
            case Reading.IDLE:
                kept = (codes != (TRUE if positive else FALSE)) & ~self.relations.is_active(codes)
            case _:
                kept = codes != (TRUE if positive else FALSE)
        return np.asarray(kept)

    def _column(self, bindings: Bindings, term: Variable | Constant, type_: str) -> Numbers:
        if isinstance(term, Variable):
            return bindings.columns[term]
        return np.full(bindings.number, self.relations.vocabulary.domain(type_).number(term.name), np.int64)


@dataclass(frozen=True, slots=True)
class Spread:
    """Bind a variable to every constant of its type."""

    variable: Variable
    size: int

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with each constant."""
        spend(bindings.number * self.size)
        several = max(1, STRETCH // max(1, self.size))
        for begin in range(0, bindings.number, several):
            number = min(several, bindings.number - begin)
            left = np.repeat(np.arange(begin, begin + number), self.size)
            new = {self.variable: np.tile(np.arange(self.size), number)}
            yield bindings.taken(left, len(left)).with_columns(new, {})


@dataclass(frozen=True, slots=True)
class Equate:
    """Bind a variable to what another one, or a constant, is."""

    variable: Variable
    source: Variable | int

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with the variable."""
        spend(bindings.number)
        source = self.source
        column = np.full(bindings.number, source) if isinstance(source, int) else bindings.columns[source]
        yield bindings.with_columns({self.variable: column}, {})


Step = LookUp | Filter | Spread | Equate


def _cuts(numbers: Numbers) -> Iterator[tuple[int, int]]:
    """Yield stretches of rows that make about ``STRETCH`` bindings each; a row is never cut."""
    ends = np.cumsum(numbers)
    begin = 0
    while begin < len(numbers):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + STRETCH, "right")))
        yield begin, end
        begin = end

"""Counts that follow a world from flip to flip, in time proportional to what changes.

A flip changes a count by Δn of that one atom. It is found by fixing the atom's constants in each derivative
of the normal form (:mod:`mlnlab.counting.derivatives`) and counting what is left from there: atoms are looked
up where most of their arguments are known, and one whose other variables occur nowhere else only adds its
number of rows. Formulas with the atom below a quantifier are counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.binding import bound, pattern_of
from mlnlab.counting.counter import Counter
from mlnlab.counting.derivatives import derivatives
from mlnlab.counting.facts import Facts, facts_of
from mlnlab.counting.indicators import normal_form
from mlnlab.counting.quantified import without_cardinalities
from mlnlab.errors import ArgumentError
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.relations import sorted_rows
from mlnlab.model.world import check_ground_atom

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mlnlab.counting.binding import BoundConjunction
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database import Database
    from mlnlab.model.world import World

Row = tuple[int, ...]
Index = dict[Row, set[Row]]


class Tuples:
    """A relation that changes: its rows, and for each set of columns asked for, the rows by their values."""

    __slots__ = ("indexes", "rows")

    def __init__(self, rows: Iterable[Row]) -> None:
        """Keep the rows."""
        self.rows = set(rows)
        self.indexes: dict[Row, Index] = {}

    def matching(self, columns: Row, values: Row) -> set[Row]:
        """Return the rows that have these values in these columns."""
        if not columns:
            return self.rows
        index = self.indexes.get(columns)
        if index is None:
            index = self.indexes[columns] = {}
            for row in self.rows:
                index.setdefault(tuple([row[c] for c in columns]), set()).add(row)
        return index.get(values, _NO_ROWS)

    def flip(self, row: Row) -> None:
        """Put a row in, or take it out."""
        out = row in self.rows
        (self.rows.discard if out else self.rows.add)(row)
        for columns, index in self.indexes.items():
            key = tuple([row[c] for c in columns])
            if out:
                index[key].discard(row)
            else:
                index.setdefault(key, set()).add(row)


_NO_ROWS: set[Row] = set()


@dataclass(frozen=True, slots=True, eq=False)
class _Lookup:
    """An atom over numbered variables; negative numbers are constants, as in a scan's pattern."""

    source: str | Tuples
    pattern: Row

    def unknown(self, values: dict[int, int]) -> set[int]:
        """Return the variables without a value."""
        return {number for number in self.pattern if number >= 0 and number not in values}


@dataclass(frozen=True, slots=True, eq=False)
class _Derivative:
    """One T_W of one formula: its coefficient for false and for true atoms, and what is to be looked up."""

    formula: int
    if_false: int
    if_true: int
    head: Row
    lookups: tuple[_Lookup, ...]
    sizes: Row


class IncrementalCounts:
    r"""n_i of several formulas in a world that changes atom by atom.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("person = {Anna, Bob}\nSmokes(person)")
    >>> world = ml.World.of(mln.vocabulary, [("Smokes", ("Anna",))])
    >>> counts = IncrementalCounts([mln.parse("Smokes(x) v Smokes(y)")], world)
    >>> counts.numbers
    [3]
    >>> counts.flip(GroundAtom("Smokes", ("Bob",)))
    [1]
    >>> counts.numbers
    [4]
    """

    def __init__(self, formulas: Sequence[Formula], world: Database | World) -> None:
        """Count the formulas once, by planning."""
        self.formulas, self.vocabulary = tuple(formulas), world.vocabulary
        facts = facts_of(world)
        self._terms = [without_cardinalities(normal_form(formula)) for formula in self.formulas]
        self._counters = [Counter(formula, self.vocabulary) for formula in self.formulas]
        self.numbers = [counter(facts) for counter in self._counters]
        self._tuples = {
            name: Tuples(map(tuple, facts.rows(name).tolist())) for name in self.vocabulary.predicates
        }
        self._derivatives: dict[str, tuple[list[_Derivative], list[int]]] = {}

    def holds(self, atom: GroundAtom) -> bool:
        """Return whether an atom is true now."""
        return self._row(atom) in self._tuples[atom.predicate].rows

    def change(self, atom: GroundAtom) -> list[int]:
        """Return by how much each count would change if the atom were flipped; nothing is changed."""
        return self._change(atom.predicate, self._row(atom))

    def changes(self, atoms: Sequence[GroundAtom]) -> list[list[int]]:
        """Return what each atom's flip alone would change: what a sampler asks of many candidates."""
        return [self.change(atom) for atom in atoms]

    def flip(self, atom: GroundAtom) -> list[int]:
        """Flip an atom; return by how much each count has changed."""
        row = self._row(atom)
        change = self._change(atom.predicate, row)
        self._tuples[atom.predicate].flip(row)
        self.numbers = [number + more for number, more in zip(self.numbers, change, strict=True)]
        return change

    def flip_all(self, atoms: Iterable[GroundAtom]) -> list[int]:
        """Flip several atoms, one after the other; return by how much each count has changed in all."""
        before = self.numbers
        for atom in atoms:
            self.flip(atom)
        return [after - old for after, old in zip(self.numbers, before, strict=True)]

    def _row(self, atom: GroundAtom) -> Row:
        if not isinstance(atom, GroundAtom):
            raise ArgumentError(f'A ground atom is needed, as GroundAtom("Smokes", ("Anna",)), not {atom!r}.')
        check_ground_atom(atom, self.vocabulary)
        domains = map(self.vocabulary.domain, self.vocabulary[atom.predicate].types)
        return tuple([domain.number(name) for domain, name in zip(domains, atom.arguments, strict=True)])

    def _change(self, predicate: str, row: Row) -> list[int]:
        if predicate not in self._derivatives:
            self._derivatives[predicate] = self._prepared(predicate)
        local, anew = self._derivatives[predicate]
        true = row in self._tuples[predicate].rows
        change = [0] * len(self.formulas)
        for derivative in local:
            coefficient = derivative.if_true if true else derivative.if_false
            values = _fitted(derivative.head, row)
            if values is not None:
                number = self._number(derivative.lookups, values, derivative.sizes)
                change[derivative.formula] += coefficient * number
        if anew:
            facts = self._facts(predicate, row)
            for formula in anew:
                change[formula] = self._counters[formula](facts) - self.numbers[formula]
        return change

    def _facts(self, predicate: str, flipped: Row) -> Facts:
        """Return the facts of now with one atom the other way."""
        tables = {}
        for name, tuples in self._tuples.items():
            rows = tuples.rows ^ {flipped} if name == predicate else tuples.rows
            arity = self.vocabulary[name].arity
            tables[name] = sorted_rows(np.array(list(rows), np.uint32).reshape(len(rows), arity))
        return Facts(self.vocabulary, tables)

    def _number(self, lookups: Sequence[_Lookup], values: dict[int, int], sizes: Row) -> int:
        """Count the bindings that go with the values known so far, by the atom that leaves least open."""
        if not lookups:
            return prod(size for number, size in enumerate(sizes) if number not in values)
        found = []
        for place, lookup in enumerate(lookups):
            columns = tuple([c for c, n in enumerate(lookup.pattern) if n < 0 or n in values])
            known = tuple([-1 - n if (n := lookup.pattern[c]) < 0 else values[n] for c in columns])
            source = self._tuples[lookup.source] if isinstance(lookup.source, str) else lookup.source
            rows = source.matching(columns, known)
            if not rows:
                return 0
            found.append((len(rows), place, rows))
        _, place, rows = min(found, key=lambda item: item[:2])
        chosen, rest = lookups[place], [*lookups[:place], *lookups[place + 1 :]]
        fresh = chosen.unknown(values)
        if _is_plain(chosen, values) and not any(fresh.intersection(other.pattern) for other in rest):
            return len(rows) * self._number(rest, {**values, **dict.fromkeys(fresh, 0)}, sizes)
        total = 0
        for row in rows:
            extended = _fitted(chosen.pattern, row, values)
            if extended is not None:
                total += self._number(rest, extended, sizes)
        return total

    def _prepared(self, predicate: str) -> tuple[list[_Derivative], list[int]]:
        local: list[_Derivative] = []
        anew: list[int] = []
        declared = self.vocabulary[predicate]
        for number, terms in enumerate(self._terms):
            if any(term.conjunction.quantities for term in terms):
                anew.append(number)
                continue
            # Flipping a false atom adds odd + even terms; flipping a true one takes odd - even ones away.
            for found, signs in zip(derivatives(terms, declared), ((1, -1), (1, 1)), strict=True):
                for term in found:
                    left = bound(term.conjunction, self.vocabulary)
                    if left is not None:
                        signed = (term.coefficient * signs[0], term.coefficient * signs[1])
                        local.append(_derivative(number, signed, left, self.vocabulary))
        return local, anew


def _derivative(
    formula: int, signed: tuple[int, int], left: BoundConjunction, words: Vocabulary
) -> _Derivative:
    conjunction = left.conjunction
    numbers = {variable: number for number, variable in enumerate(conjunction.variables)}
    head = pattern_of(conjunction.head, [argument.type for argument in conjunction.head], numbers, words)
    lookups = []
    for scan in left.scans:
        if scan.listed is not None:
            source: str | Tuples = Tuples(map(tuple, scan.listed.tolist()))
            lookups.append(_Lookup(source, scan.variables))
        else:
            local = scan.pattern or tuple(range(len(scan.variables)))
            pattern = tuple(scan.variables[n] if n >= 0 else n for n in local)
            lookups.append(_Lookup(str(scan.source), pattern))
    return _Derivative(formula, signed[0], signed[1], head or (), tuple(lookups), left.sizes)


def _fitted(pattern: Row, row: Row, known: dict[int, int] | None = None) -> dict[int, int] | None:
    """Return the values of variables with which a pattern becomes the row; ``None`` where it cannot."""
    values = dict(known or {})
    for wanted, constant in zip(pattern, row, strict=True):
        expected = -1 - wanted if wanted < 0 else values.setdefault(wanted, constant)
        if expected != constant:
            return None
    return values


def _is_plain(lookup: _Lookup, values: dict[int, int]) -> bool:
    """Tell whether every row that matches binds: no variable without a value occurs twice."""
    open_places = [number for number in lookup.pattern if number >= 0 and number not in values]
    return len(open_places) == len(set(open_places))

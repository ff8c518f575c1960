"""Δn of the positive conjunctions of which clauses are made, counted once however many paths share them.

The sub-conjunctions of one path are those of many others, and those that fall apart need not be counted. Each
is counted in its canonical form, by the arguments of the ground atom, so that names of variables do not
matter; what was counted last is kept, up to a number of bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mlnlab.counting.counts.counter import Counter, TermSum
from mlnlab.counting.deltas.deltas import AtomDeltas, DeltaCounter
from mlnlab.counting.deltas.weighted_positions import Factored, factor_group
from mlnlab.counting.formulas.conjunction_derivatives import derivatives
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.errors import TooLargeError
from mlnlab.structure.clauses.clause_making import canonical_atoms, conjunction_formula, sub_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.counting.formulas.conjunctions import CountTerm
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath

    Terms = tuple[tuple[CountTerm, ...], tuple[CountTerm, ...]]
    Change = tuple[tuple[Factored, ...], tuple[Factored, ...]]  # added; added or subtracted by the truth

MOST_BYTES = 256 << 20  # of what is kept, of one database
_NO_CHANGE: Change = ((), ())
_MOST_TERMS = 50_000  # conjunctions whose terms are kept


class ConjunctionTerms:
    """The terms that remain of conjunctions once one of their atoms is given: the same for all databases."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Begin with nothing; of the vocabulary the predicates count, not the constants."""
        self._vocabulary = vocabulary
        self._kept: OrderedDict[VariabilizedPath, dict[str, Terms]] = OrderedDict()

    def of(self, conjunction: VariabilizedPath) -> dict[str, Terms]:
        """Return the terms by the atoms of each predicate (``conjunction_derivatives.py``)."""
        known = self._kept.get(conjunction)
        if known is None:
            terms = normal_form(conjunction_formula(conjunction, self._vocabulary))
            names = dict.fromkeys(atom.predicate for atom in conjunction.atoms)
            known = {name: derivatives(terms, self._vocabulary[name]) for name in names}
            self._kept[conjunction] = known
            if len(self._kept) > _MOST_TERMS:
                self._kept.popitem(last=False)
        return known


@dataclass(slots=True)
class ConjunctionDeltas:
    """Counts Δn of conjunctions in one database, and remembers them within a bound."""

    facts: Facts
    terms: ConjunctionTerms
    most_bytes: int = MOST_BYTES
    counted: int = 0
    recalled: int = 0
    _kept: OrderedDict[VariabilizedPath, tuple[dict[str, Change], int]] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _numbers: dict[VariabilizedPath, int] = field(default_factory=dict)

    def of(self, conjunction: VariabilizedPath) -> dict[str, Change]:
        """Return how a conjunction's count changes with the atoms of each of its predicates."""
        known = self._kept.get(conjunction)
        if known is not None:
            self.recalled += 1
            self._kept.move_to_end(conjunction)
            return known[0]
        parts = components(conjunction)
        found = self._of_one(conjunction) if len(parts) == 1 else self._of_several(parts)
        self._keep(conjunction, found)
        return found

    def _of_one(self, conjunction: VariabilizedPath) -> dict[str, Change]:
        self.counted += 1
        try:
            return {
                name: self._count_change(name, *terms) for name, terms in self.terms.of(conjunction).items()
            }
        except TooLargeError:
            return self._by_elimination(conjunction)

    def _of_several(self, parts: Sequence[VariabilizedPath]) -> dict[str, Change]:
        """Return the changes of parts that share no variable: their counts are multiplied."""
        found, number = self.of(parts[0]), self.number(parts[0])
        for part in parts[1:]:
            other, times = self.of(part), self.number(part)
            found = {
                name: multiply_changes(
                    found.get(name, _NO_CHANGE), number, other.get(name, _NO_CHANGE), times
                )
                for name in dict.fromkeys((*found, *other))
            }
            number *= times
        return found

    def number(self, conjunction: VariabilizedPath) -> int:
        """Return how many groundings of a conjunction are true."""
        if conjunction not in self._numbers:
            vocabulary = self.facts.vocabulary
            counter = Counter(conjunction_formula(conjunction, vocabulary), vocabulary)
            self._numbers[conjunction] = counter(self.facts)
        return self._numbers[conjunction]

    def _count_change(self, name: str, odd: Sequence[CountTerm], even: Sequence[CountTerm]) -> Change:
        vocabulary = self.facts.vocabulary
        sizes = [self.facts.size(type_) for type_ in vocabulary[name].types]
        values = []
        for terms in (odd, even):
            groups = TermSum(terms, vocabulary).group_terms(self.facts) if terms else []
            kept = [group for group in groups if 0 not in group.parts]
            values.append(tuple(factor_group(group, sizes, vocabulary) for group in kept))
        return values[0], values[1]

    def _by_elimination(self, conjunction: VariabilizedPath) -> dict[str, Change]:
        vocabulary = self.facts.vocabulary
        counter = DeltaCounter([conjunction_formula(conjunction, vocabulary)], vocabulary)
        names = dict.fromkeys(atom.predicate for atom in conjunction.atoms)
        return {name: counter.plan_formula(0, vocabulary[name], self.facts) for name in names}

    def _keep(self, conjunction: VariabilizedPath, found: dict[str, Change]) -> None:
        size = 1000 + sum(_bytes_of(value) for change in found.values() for part in change for value in part)
        self._kept[conjunction] = found, size
        self._bytes += size
        while self._bytes > self.most_bytes and len(self._kept) > 1:
            _, (_, freed) = self._kept.popitem(last=False)
            self._bytes -= freed

    def of_path(self, path: VariabilizedPath, least: int = 0) -> dict[str, AtomDeltas]:
        """Return Δn of all conjunctions of a path's atoms by the atoms of each predicate in it.

        Column ``bits - 1`` is the conjunction of the atoms in ``bits``. The variables of the whole path stay
        free: each that a conjunction lacks multiplies its count by the number of its constants, or by
        ``least`` where these are fewer.
        """
        vocabulary = self.facts.vocabulary
        sizes = [max(least, self.facts.size(type_)) for type_ in path.types(vocabulary)]
        changes = []
        for part in sub_paths(path):
            times = 1
            for variable, size in enumerate(sizes):
                times *= 1 if variable in part.variables else size
            own = self.of(part.canonical.path)
            changes.append({name: _times(change, times) for name, change in own.items()})
        found = {}
        for name in dict.fromkeys(atom.predicate for atom in path.atoms):
            columns = [change.get(name, ((), ())) for change in changes]
            predicate = vocabulary[name]
            atom_sizes = tuple(self.facts.size(type_) for type_ in predicate.types)
            odd, even = zip(*columns, strict=True)
            found[name] = AtomDeltas(predicate, atom_sizes, self.facts.rows(name), odd, even)
        return found


def components(conjunction: VariabilizedPath) -> tuple[VariabilizedPath, ...]:
    """Return the parts of a conjunction that share no variable with each other.

    >>> from mlnlab.structure.paths.variabilized import canonical_path
    >>> [str(part) for part in components(canonical_path([("P", (0,)), ("Q", (1,)), ("R", (0, 2))]))]
    ['P(x0) ^ R(x0, x1)', 'Q(x0)']
    """
    groups: list[tuple[set[int], list[PathAtom]]] = []
    for atom in conjunction.atoms:
        linked = [group for group in groups if not group[0].isdisjoint(atom.variables)]
        groups = [group for group in groups if group[0].isdisjoint(atom.variables)]
        variables = {*atom.variables, *(variable for group in linked for variable in group[0])}
        groups.append((variables, [*(one for group in linked for one in group[1]), atom]))
    return tuple(sorted(canonical_atoms(tuple(atoms)).path for _, atoms in groups))


def multiply_changes(one: Change, number: int, other: Change, times: int) -> Change:
    """Return how n m changes, where n = ``number`` changes as ``one`` and m = ``times`` as ``other``.

    The change is n Δm + m Δn + s Δn Δm with s = -1 where the atom is true and 1 where it is false. Each Δ is
    a part that is added and a part with the factor s, and s² = 1.
    """
    odd = (
        *_scale_values(one[0], times), *_scale_values(other[0], number),
        *_products(one[0], other[1]), *_products(one[1], other[0]),
    )  # fmt: skip
    even = (
        *_scale_values(one[1], times), *_scale_values(other[1], number),
        *_products(one[0], other[0]), *_products(one[1], other[1]),
    )  # fmt: skip
    return odd, even


def _scale_values(values: Sequence[Factored], times: int) -> Iterator[Factored]:
    return (replace(value, scalar=value.scalar * times) for value in values if times)


def _products(left: Sequence[Factored], right: Sequence[Factored]) -> Iterator[Factored]:
    for one in left:
        for other in right:
            vectors, tables = (*one.vectors, *other.vectors), (*one.tables, *other.tables)
            yield Factored(one.scalar * other.scalar, vectors, tables)


def _times(change: Change, times: int) -> Change:
    if times == 1:
        return change
    odd, even = (tuple(replace(value, scalar=value.scalar * times) for value in part) for part in change)
    return odd, even


def _bytes_of(value: Factored) -> int:
    vectors = sum(vector.weights.nbytes for vector in value.vectors)
    tables = sum(t.rows.nbytes + (0 if t.weights is None else t.weights.nbytes) for t in value.tables)
    return 200 + vectors + tables

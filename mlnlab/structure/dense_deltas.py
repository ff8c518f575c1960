r"""Δn of a path's conjunctions for listed ground atoms, as products of looked-up numbers.

Where occurrences U of the predicate are set to the ground atom a, they become one atom, and what is left of
the conjunction falls apart into rooted sets with arguments of a as heads (:mod:`.rooted_counts`). With G_U(a)
the product of their counts, inclusion-exclusion over the occurrences gives

    Δn(a) = sum over non-empty U of s(U, a) G_U(a),   s = 1, but -1 where U is even and a is true

as :mod:`mlnlab.counting.derivatives` has it term by term. Parts of a conjunction without a common variable
are counted by themselves; with s = -1 for a true atom and 1 for a false one,

    Δ(n m) = n Δm + m Δn + s Δn Δm.
"""

from __future__ import annotations

from collections import OrderedDict
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.structure.clause_making import sub_paths
from mlnlab.structure.conjunction_deltas import components
from mlnlab.structure.rooted_counts import Rooted, RootedCounts, TablesTooLarge, linked, rooted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.structure.listed_atoms import ListedAtoms
    from mlnlab.structure.variabilized import VariabilizedPath

    Numbers = NDArray[np.float64]

MOST_GROUNDINGS = 2.0**62  # of a path; beyond 2^53 numbers are rounded as floats are
_MOST_KEPT = 50_000  # conjunctions whose terms are kept


class LookUp(NamedTuple):
    """A rooted set, and the argument of the ground atom that each of its heads is."""

    counted: Rooted
    arguments: tuple[int, ...]


class Term(NamedTuple):
    """G_U: what is multiplied, and which arguments have to be equal."""

    even: bool
    factors: tuple[LookUp, ...]
    equal: tuple[tuple[int, int], ...]


class DenseDeltas:
    """Counts Δn by full tables, in all databases at once."""

    def __init__(self, facts: Sequence[Facts]) -> None:
        """Begin with nothing counted."""
        self.counts = RootedCounts(facts)
        self.vocabulary = facts[0].vocabulary
        self._terms: OrderedDict[VariabilizedPath, dict[str, tuple[Term, ...]]] = OrderedDict()
        self._parts: dict[VariabilizedPath, tuple[VariabilizedPath, ...]] = {}

    def fits(self, path: VariabilizedPath) -> bool:
        """Tell whether a path is small enough for full tables; what it needs of them is made."""
        types = path.types(self.vocabulary)
        sizes = [[int(self.counts.sizes[type_][number]) for type_ in types]
                 for number in range(len(self.counts.facts))]  # fmt: skip
        if max(map(prod, sizes)) * 2.0 ** len(path.atoms) >= MOST_GROUNDINGS:
            return False
        try:
            for part in sub_paths(path):
                parts = self.parts(part.canonical.path)
                for one in parts:
                    self._make(one)
                    if len(parts) > 1:
                        self.number(one)
        except TablesTooLarge:
            return False
        return True

    def _make(self, conjunction: VariabilizedPath) -> None:
        if conjunction in self._terms:
            return
        terms = {name: tuple(terms_of(conjunction, name)) for name in names_in(conjunction)}
        for name, own in terms.items():
            self.counts.offsets(self.vocabulary[name].types)
            for term in own:
                for factor in term.factors:
                    self.counts.of(factor.counted)
        self._terms[conjunction] = terms
        if len(self._terms) > _MOST_KEPT:
            self._terms.popitem(last=False)

    def parts(self, conjunction: VariabilizedPath) -> tuple[VariabilizedPath, ...]:
        """Return the parts of a conjunction that share no variable, remembered."""
        found = self._parts.get(conjunction)
        if found is None:
            found = components(conjunction)
            if len(self._parts) < _MOST_KEPT:
                self._parts[conjunction] = found
        return found

    def terms(self, conjunction: VariabilizedPath, name: str) -> tuple[Term, ...]:
        """Return what Δn of a conjunction that does not fall apart is the sum of."""
        if conjunction not in self._terms:
            self._make(conjunction)
        return self._terms[conjunction].get(name, ())

    def number(self, conjunction: VariabilizedPath) -> Numbers:
        """Return how many groundings are true, of each database."""
        atoms = frozenset((atom.predicate, atom.variables) for atom in conjunction.atoms)
        return self.counts.of(rooted((), atoms))

    def factors(self, path: VariabilizedPath, name: str) -> tuple[LookUp, ...]:
        """Return everything that Δn of a path's conjunctions looks up for the atoms of a predicate."""
        found: dict[LookUp, None] = {}
        for part in sub_paths(path):
            for one in self.parts(part.canonical.path):
                for term in self.terms(one, name):
                    found.update(dict.fromkeys(term.factors))
        return tuple(found)

    def equalities(self, path: VariabilizedPath, name: str) -> tuple[tuple[int, int], ...]:
        """Return the pairs of arguments whose equality Δn of a path's conjunctions asks for."""
        found: dict[tuple[int, int], None] = {}
        for part in sub_paths(path):
            for one in self.parts(part.canonical.path):
                for term in self.terms(one, name):
                    found.update(dict.fromkeys(term.equal))
        return tuple(found)

    def columns(self, path: VariabilizedPath, atoms: ListedAtoms) -> Numbers:
        """Return Δn of all conjunctions of a path's atoms, column ``bits - 1`` that of the atoms in ``bits``.

        The variables of the whole path stay free, as in ``ConjunctionDeltas.of_path``.
        """
        return _Columns(self, path, atoms).all()


class _Columns:
    """Δn for some ground atoms, each number looked up once."""

    def __init__(self, dense: DenseDeltas, path: VariabilizedPath, atoms: ListedAtoms) -> None:
        self.dense, self.path, self.atoms = dense, path, atoms
        self._looked_up: dict[LookUp, Numbers] = {}
        self._changes: dict[VariabilizedPath, Numbers | None] = {}

    def all(self) -> Numbers:
        sizes = [self.dense.counts.sizes[type_] for type_ in self.path.types(self.dense.vocabulary)]
        found = np.zeros((len(self.atoms.rows), (1 << len(self.path.atoms)) - 1))
        for column, part in enumerate(sub_paths(self.path)):
            change = self.of(part.canonical.path)
            if change is None:
                continue
            times = [size for variable, size in enumerate(sizes) if variable not in part.variables]
            if times:
                change = change * np.prod(times, axis=0, dtype=np.float64)[self.atoms.owners]
            found[:, column] = change
        return found

    def of(self, conjunction: VariabilizedPath) -> Numbers | None:
        """Return Δn of a conjunction; None where its atoms do not matter to it."""
        if conjunction not in self._changes:
            parts = self.dense.parts(conjunction)
            self._changes[conjunction] = (
                self._of_one(conjunction) if len(parts) == 1 else self._of_several(parts)
            )
        return self._changes[conjunction]

    def _of_several(self, parts: Sequence[VariabilizedPath]) -> Numbers | None:
        found, number = self.of(parts[0]), self.dense.number(parts[0])
        for part in parts[1:]:
            other, times = self.of(part), self.dense.number(part)
            found = self._product(found, number, other, times)
            number = number * times
        return found

    def _product(
        self, one: Numbers | None, number: Numbers, other: Numbers | None, times: Numbers
    ) -> Numbers | None:
        owners = self.atoms.owners
        if one is None or other is None:
            if one is None:
                return None if other is None else other * number[owners]
            return one * times[owners]
        return other * number[owners] + one * times[owners] + self.atoms.signs * one * other

    def _of_one(self, conjunction: VariabilizedPath) -> Numbers | None:
        odd: Numbers | None = None
        even: Numbers | None = None
        for term in self.dense.terms(conjunction, self.atoms.predicate):
            value = self._term(term)
            if term.even:
                even = value if even is None else even + value
            else:
                odd = value if odd is None else odd + value
        return odd if odd is None or even is None else odd + self.atoms.signs * even

    def _term(self, term: Term) -> Numbers:
        rows = self.atoms.rows
        value: Numbers | None = None
        for factor in term.factors:
            found = self._number(factor)
            value = found if value is None else value * found
        if value is None:
            value = np.ones(len(rows))
        for one, other in term.equal:
            value = value * (rows[:, one] == rows[:, other])
        return value

    def _number(self, factor: LookUp) -> Numbers:
        found = self._looked_up.get(factor)
        if found is None:
            table = self.dense.counts.of(factor.counted)
            found = self._looked_up[factor] = table[self.atoms.places(factor.arguments)]
        return found


def names_in(conjunction: VariabilizedPath) -> tuple[str, ...]:
    """Return the predicates of a conjunction, each once."""
    return tuple(dict.fromkeys(atom.predicate for atom in conjunction.atoms))


def terms_of(conjunction: VariabilizedPath, name: str) -> Iterator[Term]:
    """Yield G_U for each non-empty set U of a predicate's atoms in a conjunction that does not fall apart.

    >>> from mlnlab.structure.variabilized import canonical_path
    >>> for term in terms_of(canonical_path([("F", (0, 1)), ("F", (1, 0))]), "F"):
    ...     print(term.even, [factor.arguments for factor in term.factors], term.equal)
    False [(1, 0)] ()
    False [(1, 0)] ()
    True [] ((0, 1),)
    """
    own = [place for place, atom in enumerate(conjunction.atoms) if atom.predicate == name]
    arity = len(conjunction.atoms[own[0]].variables) if own else 0
    for bits in range(1, 1 << len(own)):
        chosen = [place for number, place in enumerate(own) if bits >> number & 1]
        argument_of, equal = _unified([conjunction.atoms[place].variables for place in chosen], arity)
        left = [
            (atom.predicate, tuple(argument_of.get(v, arity + v) for v in atom.variables))
            for place, atom in enumerate(conjunction.atoms) if place not in chosen
        ]  # fmt: skip
        heads = frozenset(range(arity))
        factors = []
        for members in linked(heads, left):
            arguments = tuple(sorted({v for _, variables in members for v in variables if v < arity}))
            factors.append(LookUp(rooted(arguments, members), arguments))
        yield Term(len(chosen) % 2 == 0, tuple(factors), equal)


def _unified(
    atoms: Sequence[tuple[int, ...]], arity: int
) -> tuple[dict[int, int], tuple[tuple[int, int], ...]]:
    """Make several atoms one: return the argument that each variable is, and which ones are equal."""
    first = list(range(arity))  # the first argument that each has to be equal to
    argument_of: dict[int, int] = {}
    for variables in atoms:
        for place, variable in enumerate(variables):
            one, other = first[place], first[argument_of.setdefault(variable, place)]
            first = [min(one, other) if found in (one, other) else found for found in first]
    equal = tuple((found, place) for place, found in enumerate(first) if found != place)
    return {variable: first[place] for variable, place in argument_of.items()}, equal

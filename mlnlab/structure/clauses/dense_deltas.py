r"""Δn of a path's conjunctions for listed ground atoms, as products of looked-up numbers.

Where occurrences U of the predicate are set to the ground atom a, they become one atom, and what is left of
the conjunction falls apart into rooted sets with arguments of a as heads (:mod:`.rooted_counts`). With G_U(a)
the product of their counts, inclusion-exclusion over the occurrences gives

    Δn(a) = sum over non-empty U of s(U, a) G_U(a),   s = 1, but -1 where U is even and a is true

as :mod:`mlnlab.counting.formulas.conjunction_derivatives` has it term by term. Parts of a conjunction without
a common variable are counted by themselves; with s = -1 for a true atom and 1 for a false one,

    Δ(n m) = n Δm + m Δn + s Δn Δm.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.structure.clauses.clause_making import sub_paths
from mlnlab.structure.clauses.conjunction_deltas import components
from mlnlab.structure.clauses.rooted_counts import (
    Rooted,
    RootedCounts,
    TablesTooLarge,
    group_linked_atoms,
    root_atoms,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.structure.clauses.listed_atoms import ListedAtoms
    from mlnlab.structure.paths.variabilized import VariabilizedPath

    Numbers = NDArray[np.float64]

MOST_GROUNDINGS = 2.0**62  # of a path; beyond 2^53 numbers are rounded as floats are
_MOST_KEPT = 50_000  # conjunctions whose terms are kept


class LookUp(NamedTuple):
    """A rooted set, and the argument of the ground atom that each of its heads is."""

    counted: Rooted
    arguments: tuple[int, ...]


class Term(NamedTuple):
    """The term G_U: its factors, and the arguments that have to be equal."""

    even: bool
    factors: tuple[LookUp, ...]
    equal: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A conjunction that does not fall apart, with the terms of Δn for the atoms of each predicate."""

    conjunction: VariabilizedPath
    terms: Mapping[str, tuple[Term, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class DensePath:
    """The conjunctions of a path's atoms, by their bits, each as the pieces that share no variable."""

    path: VariabilizedPath
    pieces: tuple[tuple[Piece, ...], ...]
    times: Numbers  # by conjunction and database: by what the path's other variables multiply its count

    def factors(self, name: str) -> tuple[LookUp, ...]:
        """Return everything that Δn looks up for the atoms of a predicate."""
        return tuple(dict.fromkeys(factor for term in self._terms(name) for factor in term.factors))

    def equalities(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return the pairs of arguments whose equality Δn asks for."""
        return tuple(dict.fromkeys(pair for term in self._terms(name) for pair in term.equal))

    def _terms(self, name: str) -> Iterator[Term]:
        for piece in {id(piece): piece for pieces in self.pieces for piece in pieces}.values():
            yield from piece.terms.get(name, ())


class DenseDeltas:
    """Counts Δn by full tables, in all databases at once."""

    def __init__(self, facts: Sequence[Facts]) -> None:
        """Begin with nothing counted."""
        self.counts = RootedCounts(facts)
        self.vocabulary = facts[0].vocabulary
        self._pieces: OrderedDict[VariabilizedPath, tuple[Piece, ...]] = OrderedDict()

    def of(self, path: VariabilizedPath) -> DensePath | None:
        """Prepare a path; None where full tables would be too large for it."""
        types = path.types(self.vocabulary)
        sizes = np.array([self.counts.sizes[type_] for type_ in types]).reshape(len(types), -1)
        if np.prod(sizes, axis=0, dtype=np.float64).max() * 2.0 ** len(path.atoms) >= MOST_GROUNDINGS:
            return None
        parts = sub_paths(path)
        times = np.ones((len(parts), len(self.counts.facts)))
        for place, part in enumerate(parts):
            for variable in range(len(types)):
                if variable not in part.variables:
                    times[place] *= sizes[variable]
        try:
            return DensePath(path, tuple(self.pieces(part.canonical.path) for part in parts), times)
        except TablesTooLarge:
            return None

    def pieces(self, conjunction: VariabilizedPath) -> tuple[Piece, ...]:
        """Return the pieces of a conjunction; the tables that they need are made, or too large."""
        found = self._pieces.get(conjunction)
        if found is None:
            parts = components(conjunction)
            if len(parts) > 1:
                found = tuple(self.pieces(part)[0] for part in parts)
                for part in parts:
                    self.number(part)
            else:
                found = (self._piece(conjunction),)
            self._pieces[conjunction] = found
            if len(self._pieces) > _MOST_KEPT:
                self._pieces.popitem(last=False)
        return found

    def _piece(self, conjunction: VariabilizedPath) -> Piece:
        terms = {name: tuple(terms_of(conjunction, name)) for name in names_in(conjunction)}
        for name, own in terms.items():
            self.counts.offsets(self.vocabulary[name].types)
            for term in own:
                for factor in term.factors:
                    self.counts.of(factor.counted)
        return Piece(conjunction, terms)

    def number(self, conjunction: VariabilizedPath) -> Numbers:
        """Return how many groundings are true, of each database."""
        atoms = frozenset((atom.predicate, atom.variables) for atom in conjunction.atoms)
        return self.counts.of(root_atoms((), atoms))

    def columns(self, path: DensePath, atoms: ListedAtoms) -> Numbers:
        """Return Δn of all conjunctions of a path's atoms, column ``bits - 1`` that of the atoms in ``bits``.

        The variables of the whole path stay free, as in ``ConjunctionDeltas.of_path``.
        """
        return _Columns(self, path, atoms).all()


class _Columns:
    """Δn for some ground atoms, each number looked up once."""

    def __init__(self, dense: DenseDeltas, path: DensePath, atoms: ListedAtoms) -> None:
        self.dense, self.path, self.atoms = dense, path, atoms
        self._looked_up: dict[LookUp, Numbers] = {}
        self._changes: dict[int, Numbers | None] = {}
        self._numbers: dict[int, Numbers] = {}

    def all(self) -> Numbers:
        owners, name = self.atoms.owners, self.atoms.predicate
        found = np.zeros((len(self.path.pieces), len(owners)))
        for column, pieces in enumerate(self.path.pieces):
            if not any(name in piece.terms for piece in pieces):
                continue
            change = self._of(pieces)
            times = self.path.times[column]
            found[column] = change if (times == 1.0).all() else change * times[owners]
        return found.T

    def _of(self, pieces: Sequence[Piece]) -> Numbers:
        """Return Δn of a product of pieces, of which one has the predicate at least."""
        change, number = self._of_one(pieces[0]), None
        for before, piece in pairwise(pieces):
            own = self._number(before)
            number = own if number is None else number * own
            change = self._product(change, number, self._of_one(piece), self._number(piece))
        assert change is not None  # noqa: S101 - see above
        return change

    def _product(
        self, one: Numbers | None, number: Numbers, other: Numbers | None, times: Numbers
    ) -> Numbers | None:
        if other is None:
            return None if one is None else one * times
        if one is None:
            return other * number
        return other * number + one * times + self.atoms.signs * one * other

    def _number(self, piece: Piece) -> Numbers:
        """Return how many groundings of a piece are true in the database of each atom."""
        found = self._numbers.get(id(piece))
        if found is None:
            found = self._numbers[id(piece)] = self.dense.number(piece.conjunction)[self.atoms.owners]
        return found

    def _of_one(self, piece: Piece) -> Numbers | None:
        key = id(piece)
        if key not in self._changes:
            terms = piece.terms.get(self.atoms.predicate)
            self._changes[key] = None if terms is None else self._sum(terms)
        return self._changes[key]

    def _sum(self, terms: Sequence[Term]) -> Numbers:
        found = np.zeros(len(self.atoms.owners))
        for term in terms:
            value = self._term(term)
            found = found + (self.atoms.signs * value if term.even else value)
        return found

    def _term(self, term: Term) -> Numbers:
        value: Numbers | None = None
        for factor in term.factors:
            found = self._looked_up.get(factor)
            if found is None:
                table = self.dense.counts.of(factor.counted)
                found = self._looked_up[factor] = table[self.atoms.places(factor.arguments)]
            value = found if value is None else value * found
        if value is None:
            value = np.ones(len(self.atoms.owners))
        for one, other in term.equal:
            value = value * (self.atoms.rows[:, one] == self.atoms.rows[:, other])
        return value


def names_in(conjunction: VariabilizedPath) -> tuple[str, ...]:
    """Return the predicates of a conjunction, each once."""
    return tuple(dict.fromkeys(atom.predicate for atom in conjunction.atoms))


def terms_of(conjunction: VariabilizedPath, name: str) -> Iterator[Term]:
    """Yield G_U for each non-empty set U of a predicate's atoms in a conjunction that does not fall apart.

    >>> from mlnlab.structure.paths.variabilized import canonical_path
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
        argument_of, equal = unify_atoms([conjunction.atoms[place].variables for place in chosen], arity)
        left = [
            (atom.predicate, tuple(argument_of.get(v, arity + v) for v in atom.variables))
            for place, atom in enumerate(conjunction.atoms) if place not in chosen
        ]  # fmt: skip
        heads = frozenset(range(arity))
        factors = []
        for members in group_linked_atoms(heads, left):
            arguments = tuple(sorted({v for _, variables in members for v in variables if v < arity}))
            factors.append(LookUp(root_atoms(arguments, members), arguments))
        yield Term(len(chosen) % 2 == 0, tuple(factors), equal)


def unify_atoms(
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

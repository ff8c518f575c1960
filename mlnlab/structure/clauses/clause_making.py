r"""MakeClauses: the clauses of a variabilised path (Kok and Domingos 2009, section 3.3 and algorithm 4).

A path is a conjunction of positive literals. With weight w it is the clause of the negated literals with
weight -w, which is where MakeClauses begins; it adds the clauses with the signs of up to n literals flipped,
or of any number. A clause is written down as its path and a set of the path's atoms, as bits: those whose
literals are positive. Clauses that are equal up to renaming of variables are made once.

Two clauses are the same up to renaming just where they have the same canonical path and, under some order
of its atoms that leaves the path as it is, the same bits; so these orders are found once for each path.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import And, Formula, Not, Or
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.paths.variabilized import EQUALS, PathAtom, VariabilizedPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mlnlab.logic.vocabulary import Vocabulary

Signs = str | int


class CanonicalAtoms(NamedTuple):
    """Atoms in canonical order and numbering, and every order of the given ones that leads there."""

    path: VariabilizedPath
    orders: tuple[tuple[int, ...], ...]


class ClauseKey(NamedTuple):
    """The key of a clause up to names of variables and order of literals: path, and its bits."""

    path: VariabilizedPath
    positive: int


@dataclass(frozen=True, slots=True)
class _Growing:
    """Atoms put in order so far, and the number that each variable got."""

    order: tuple[int, ...]
    names: tuple[tuple[int, int], ...]


def canonical_atoms(atoms: tuple[PathAtom, ...]) -> CanonicalAtoms:
    """Return the smallest way to write a set of atoms; variables are numbered as they first occur.

    >>> canonical_atoms((PathAtom("Smokes", (7,)), PathAtom("Friends", (3, 7)))).path.atoms
    (PathAtom(predicate='Friends', variables=(0, 1)), PathAtom(predicate='Smokes', variables=(1,)))
    """
    names: dict[int, int] = {}  # numbered as they come, most sets of atoms are known already
    return _canonical_atoms(tuple(
        PathAtom(predicate, tuple(names.setdefault(v, len(names)) for v in variables))
        for predicate, variables in atoms
    ))  # fmt: skip


@lru_cache(maxsize=1 << 16)
def _canonical_atoms(atoms: tuple[PathAtom, ...]) -> CanonicalAtoms:
    written: list[PathAtom] = []
    ways = [_Growing((), ())]
    for _ in atoms:
        nexts = [
            (_rename_atom(atom, way), place, way)
            for way in ways for place in _left(atoms, way) for atom in _both_ways(atoms[place])
        ]  # fmt: skip
        smallest = min(named for (named, _), _, _ in nexts)
        ways = list(dict.fromkeys(
            _Growing((*way.order, place), names)
            for (named, names), place, way in nexts if named == smallest
        ))  # fmt: skip
        written.append(smallest)
    return CanonicalAtoms(VariabilizedPath(tuple(written)), tuple(dict.fromkeys(way.order for way in ways)))


def _both_ways(atom: PathAtom) -> tuple[PathAtom, ...]:
    """Return the ways to write an atom: x = y is y = x."""
    return (atom, PathAtom(EQUALS, atom.variables[::-1])) if atom.predicate == EQUALS else (atom,)


def _left(atoms: Sequence[PathAtom], way: _Growing) -> Iterator[int]:
    return (place for place in range(len(atoms)) if place not in way.order)


def _rename_atom(atom: PathAtom, way: _Growing) -> tuple[PathAtom, tuple[tuple[int, int], ...]]:
    names = dict(way.names)
    for variable in atom.variables:
        names.setdefault(variable, len(names))
    return PathAtom(atom.predicate, tuple(names[v] for v in atom.variables)), tuple(names.items())


def reorder_bits(bits: int, order: Sequence[int]) -> int:
    """Return the bits of atoms as they stand in another order: bit ``place`` is that of ``order[place]``.

    >>> reorder_bits(0b001, (2, 0, 1))
    2
    """
    return sum((bits >> before & 1) << place for place, before in enumerate(order))


def clause_key(atoms: Sequence[PathAtom], positive: int) -> ClauseKey:
    """Return the key that a clause shares with all others that are the same up to renaming."""
    found = canonical_atoms(tuple(atoms))
    return ClauseKey(found.path, min(reorder_bits(positive, order) for order in found.orders))


# --- the clauses of a path ------------------------------------------------------------------------


def limit_flips(signs: Signs, length: int) -> int:
    """Return how many literals' signs may be flipped; ``"all"`` flips any number."""
    if signs == "all":
        return length
    if isinstance(signs, bool) or not isinstance(signs, int) or signs < 0:
        hint = did_you_mean(signs, ["all"]) if isinstance(signs, str) else ""
        raise ArgumentError(
            'signs must be "all", for all combinations of negated and other literals, or a whole number of at'
            f" least 0, the most literals whose sign is flipped, not {signs!r:.60}{hint.rstrip('.')}."
        )
    return min(signs, length)


def make_clauses(path: VariabilizedPath, signs: Signs = "all") -> tuple[int, ...]:
    """Return the clauses of a path, each as the bits of its positive literals: the fewest flipped first.

    >>> both = VariabilizedPath((PathAtom("Friends", (0, 1)), PathAtom("Smokes", (0,))))
    >>> make_clauses(both, signs=1)
    (0, 1, 2)
    """
    length = len(path.atoms)
    flipped = limit_flips(signs, length)
    orders = canonical_atoms(path.atoms).orders
    first = orders[0]
    # From one order that leads to the canonical path back along another one: an automorphism.
    turns = [tuple(other[first.index(place)] for place in range(length)) for other in orders]
    kept = (
        bits for bits in range(1 << length)
        if bits.bit_count() <= flipped and bits == min(reorder_bits(bits, turn) for turn in turns)
        and not is_tautology(path.atoms, bits)
    )  # fmt: skip
    return tuple(sorted(kept, key=lambda bits: (bits.bit_count(), bits)))


def is_tautology(atoms: Sequence[PathAtom], positive: int) -> bool:
    """Tell whether an atom occurs both ways, so that the clause is always true."""
    held = {atom for place, atom in enumerate(atoms) if positive >> place & 1}
    return any(atom in held for place, atom in enumerate(atoms) if not positive >> place & 1)


def is_definite(positive: int) -> bool:
    """Tell whether all but one of the literals are negative: a rule whose conclusion is one atom."""
    return positive.bit_count() == 1


def dangling_variables(atoms: Iterable[PathAtom]) -> tuple[int, ...]:
    """Return the variables that occur once only."""
    times = Counter(variable for atom in atoms for variable in atom.variables)
    return tuple(variable for variable, number in times.items() if number == 1)


# --- as formulas ----------------------------------------------------------------------------------


def clause_formula(path: VariabilizedPath, positive: int, vocabulary: Vocabulary) -> Formula:
    """Return a clause as a formula: a disjunction, negative literals first, or its one literal."""
    negative_first = sorted(enumerate(path.formulas(vocabulary)), key=lambda one: positive >> one[0] & 1)
    literals = [atom if positive >> place & 1 else Not(atom) for place, atom in negative_first]
    return literals[0] if len(literals) == 1 else Or(tuple(literals))


def conjunction_formula(path: VariabilizedPath, vocabulary: Vocabulary) -> Formula:
    """Return the conjunction of a path's atoms."""
    found = path.formulas(vocabulary)
    return found[0] if len(found) == 1 else And(found)


# --- sub-clauses ----------------------------------------------------------------------------------


class SubPath(NamedTuple):
    """Some atoms of a path, as bits of it, in canonical form."""

    atoms: int
    canonical: CanonicalAtoms
    variables: frozenset[int]  # of the whole path's


@lru_cache(maxsize=256)
def sub_paths(path: VariabilizedPath) -> tuple[SubPath, ...]:
    """Return every set of a path's atoms but the empty one, by its bits: from 1 to all."""
    found = []
    for bits in range(1, 1 << len(path.atoms)):
        chosen = tuple(atom for place, atom in enumerate(path.atoms) if bits >> place & 1)
        variables = frozenset(variable for atom in chosen for variable in atom.variables)
        found.append(SubPath(bits, canonical_atoms(chosen), variables))
    return tuple(found)


def sub_clause_keys(path: VariabilizedPath, positive: int) -> Iterator[ClauseKey]:
    """Yield the keys of the clauses of some, not all, of a clause's literals."""
    for part in sub_paths(path)[:-1]:
        yield ClauseKey(part.canonical.path, sub_clause_bits(part, positive))


def sub_clause_bits(part: SubPath, positive: int) -> int:
    """Return the bits of the sub-clause of some atoms, in the canonical order of these."""
    places = [place for place in range(part.atoms.bit_length()) if part.atoms >> place & 1]
    held = sum((positive >> place & 1) << number for number, place in enumerate(places))
    return min(reorder_bits(held, order) for order in part.canonical.orders)


# --- equality -------------------------------------------------------------------------------------


class SignedClause(NamedTuple):
    """A clause without equality, and how often its violations are counted."""

    times: int
    clause: ClauseKey


def without_equality(clause: ClauseKey) -> tuple[SignedClause, ...]:
    """Return clauses without equality that together are violated as often as a clause with it.

    A grounding violates C v x = y if it violates C and x differs from y, so that

        n_false(C v x = y) = n_false(C) - n_false(C with x for y)

    and what is true of these numbers is true of their changes Δn.

    >>> one = clause_key([PathAtom("F", (0, 1)), PathAtom("=", (0, 1))], 0b11)
    >>> [(times, str(part.path), part.positive) for times, part in without_equality(one)]
    [(1, 'F(x0, x1)', 1), (-1, 'F(x0, x0)', 1)]
    """
    atoms = clause.path.atoms
    place = next((n for n, atom in enumerate(atoms) if atom.predicate == EQUALS), None)
    if place is None:
        return (SignedClause(1, clause),)
    one, other = atoms[place].variables
    signs = {atom: clause.positive >> n & 1 for n, atom in enumerate(atoms) if n != place}
    found = list(without_equality(_clause_of(signs)))
    same: dict[PathAtom, int] = {}
    for atom, sign in signs.items():
        renamed = PathAtom(atom.predicate, tuple(one if v == other else v for v in atom.variables))
        if renamed.predicate == EQUALS and len(set(renamed.variables)) == 1:
            return tuple(found)  # it is true where x is y
        if same.setdefault(renamed, sign) != sign:
            return tuple(found)
    found += [SignedClause(-times, part) for times, part in without_equality(_clause_of(same))]
    return tuple(found)


def _clause_of(signs: Mapping[PathAtom, int]) -> ClauseKey:
    return clause_key(tuple(signs), sum(sign << place for place, sign in enumerate(signs.values())))

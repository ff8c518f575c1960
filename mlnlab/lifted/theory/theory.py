"""Theories: clauses over pieces of predicates, with nothing left that two constants of a subdomain differ in.

Everything is shattered beforehand (Poole, Bacchus and Kisynski 2011, preemptive shattering), so that three
things hold and need no constraint sets. Blocks are disjoint sets of constants. A *piece* is a predicate
restricted to subdomains, and no atom belongs to two pieces. Variables of one subdomain in one clause stand
for *different* constants: whether x = y is decided in each clause, and P(x, x) is a piece of its own. A
piece's *symbol* says whose weights its atoms have; pieces of one symbol may differ in their subdomains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple


class Piece(NamedTuple):
    """Atoms of a symbol over some subdomains; arguments of one subdomain are different constants."""

    symbol: int
    subdomains: tuple[int, ...]


class Literal(NamedTuple):
    """A piece applied to variables of the clause, each at most once."""

    piece: int
    arguments: tuple[int, ...]
    positive: bool


class Clause(NamedTuple):
    """Literals for all values of variables; ``subdomains`` are those of the variables, idle ones too.

    A variable that no literal mentions still asks whether its subdomain has enough elements.
    """

    subdomains: tuple[int, ...]
    literals: tuple[Literal, ...]  # sorted, without doubles

    @property
    def idle(self) -> tuple[int, ...]:
        """The variables that no literal mentions."""
        used = {v for literal in self.literals for v in literal.arguments}
        return tuple(v for v in range(len(self.subdomains)) if v not in used)


class Theory(NamedTuple):
    """Pieces, of which all atoms count, and clauses that must hold; subdomains are numbered from 0."""

    subdomains: int
    pieces: tuple[Piece, ...]
    clauses: tuple[Clause, ...]


def made_clause(subdomains: Sequence[int], literals: Iterable[Literal]) -> Clause | None:
    """Return a clause in its normal form, or nothing where it is a tautology."""
    distinct = set(literals)
    if any(literal._replace(positive=not literal.positive) in distinct for literal in distinct):
        return None
    return min(_reorder_variables(subdomains, distinct))


def _reorder_variables(subdomains: Sequence[int], literals: Collection[Literal]) -> Iterator[Clause]:
    """Yield the clause under all orders of its variables that keep their subdomains sorted."""
    ordered = tuple(sorted(subdomains))
    groups = [
        [v for v, b in enumerate(subdomains) if b == subdomain] for subdomain in sorted(set(subdomains))
    ]
    for order in product(*map(permutations, groups)):
        place = {old: new for new, old in enumerate(v for group in order for v in group)}
        renamed = sorted(
            literal._replace(arguments=tuple(place[v] for v in literal.arguments)) for literal in literals
        )
        yield Clause(ordered, tuple(renamed))


def condition_clauses(clauses: Iterable[Clause], values: Mapping[int, bool]) -> tuple[Clause, ...]:
    """Return the rest of the clauses where all atoms of some pieces are true, or false.

    Satisfied clauses go; false literals go, but their variables stay, because they still have to exist.
    """
    left = []
    for clause in clauses:
        if any(values.get(literal.piece) is literal.positive for literal in clause.literals):
            continue
        literals = tuple(literal for literal in clause.literals if literal.piece not in values)
        left.append(clause if len(literals) == len(clause.literals) else Clause(clause.subdomains, literals))
    return tuple(left)


def pieces_in(clauses: Iterable[Clause]) -> frozenset[int]:
    """Return the pieces that clauses mention."""
    return frozenset(literal.piece for clause in clauses for literal in clause.literals)


def compact_theory(
    subdomains: int, pieces: Sequence[Piece], clauses: Iterable[Clause], kept: Iterable[int]
) -> tuple[Theory, tuple[int, ...]]:
    """Return a theory of some pieces with the subdomains that it uses, and the former numbers of these."""
    clauses = tuple(clauses)
    chosen = sorted(kept)
    used = {b for number in chosen for b in pieces[number].subdomains}
    used |= {b for clause in clauses for b in clause.subdomains}
    old_subdomains = tuple(b for b in range(subdomains) if b in used)
    subdomain = {old: new for new, old in enumerate(old_subdomains)}
    piece = {old: new for new, old in enumerate(chosen)}
    new_pieces = tuple(
        Piece(pieces[number].symbol, tuple(subdomain[b] for b in pieces[number].subdomains))
        for number in chosen
    )
    made = {
        made_clause(
            [subdomain[b] for b in clause.subdomains],
            [literal._replace(piece=piece[literal.piece]) for literal in clause.literals],
        )
        for clause in clauses
    }
    return Theory(
        len(old_subdomains), new_pieces, tuple(sorted(c for c in made if c is not None))
    ), old_subdomains

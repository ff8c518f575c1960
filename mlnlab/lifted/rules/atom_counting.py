"""Atom counting: the constants for which an atom P(x) is true form a set, of which only the size matters.

Van den Broeck et al. (IJCAI 2011), section 4.4: a sum over the sizes k of the set, each C(n, k) times. The
subdomain falls into two, and with it all pieces and clauses over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from mlnlab.circuits.first_order.first_order_circuit import Counting
from mlnlab.circuits.first_order.sizes import CHOSEN, Size, of_subdomain
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory, condition_clauses


def count_atoms(theory: Theory) -> Fired | Refused:
    """Split the subdomain of the unary piece that most clauses mention."""
    unary = [number for number, piece in enumerate(theory.pieces) if len(piece.subdomains) == 1]
    if not unary:
        return Refused("No piece has exactly one argument.")
    number = max(unary, key=lambda n: (len(mentioning(theory, n)), -n))
    return count_constants(theory, number)


def count_constants(theory: Theory, number: int) -> Fired:
    """Count the constants for which a unary piece is true."""
    subdomain = theory.pieces[number].subdomains[0]
    true, false = subdomain, theory.subdomains  # the subdomain keeps its number for those where it is true
    pieces, place = split_pieces(theory.pieces, subdomain, (true, false))
    clauses = [c for clause in theory.clauses for c in split_clause(clause, subdomain, (true, false), place)]
    values = {place[number, (true,)]: True, place[number, (false,)]: False}
    left = condition_clauses(clauses, values)
    chosen = Size(((CHOSEN, 1),))
    sizes = [*(of_subdomain(b) for b in range(theory.subdomains)), of_subdomain(subdomain).minus(chosen)]
    sizes[subdomain] = chosen
    parts = Parts()
    # The two halves of the piece stay, as facts, so that their weights are counted.
    facts = [Clause((b,), (Literal(place[number, (b,)], (0,), b == true),)) for b in (true, false)]
    call = parts.call(theory.subdomains + 1, pieces, [*left, *facts], range(len(pieces)), sizes)
    note = f"Some constants of subdomain {subdomain} make this true; only their number matters."
    matched = mentioning(theory, number)
    return Fired(Counting(subdomain, call), parts.all(), matched, (number,), note)


def mentioning(theory: Theory, piece: int) -> tuple[int, ...]:
    """Return the clauses that mention a piece."""
    return tuple(
        number
        for number, clause in enumerate(theory.clauses)
        if any(literal.piece == piece for literal in clause.literals)
    )


Place = dict[tuple[int, tuple[int, ...]], int]


def split_pieces(pieces: Sequence[Piece], subdomain: int, into: tuple[int, int]) -> tuple[list[Piece], Place]:
    """Return the pieces over the two parts of a subdomain, with where each is found."""
    made: list[Piece] = []
    place: Place = {}
    for number, piece in enumerate(pieces):
        for subdomains in product(*(into if b == subdomain else (b,) for b in piece.subdomains)):
            place[number, subdomains] = len(made)
            made.append(Piece(piece.symbol, subdomains))
    return made, place


def split_clause(clause: Clause, subdomain: int, into: tuple[int, int], place: Place) -> list[Clause]:
    """Return a clause for each way in which its variables fall into the two parts of a subdomain."""
    return [
        Clause(subdomains, tuple(
            literal._replace(piece=place[literal.piece, tuple(subdomains[v] for v in literal.arguments)])
            for literal in clause.literals
        ))
        for subdomains in product(*(into if b == subdomain else (b,) for b in clause.subdomains))
    ]  # fmt: skip


RULE = Rule(
    "atom counting", "a piece of one argument", "Van den Broeck et al. 2011, section 4.4", count_atoms
)

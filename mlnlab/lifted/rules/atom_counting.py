"""Atom counting: the constants for which an atom P(x) is true form a set, of which only the size matters.

Van den Broeck et al. (IJCAI 2011), section 4.4: a sum over the sizes k of the set, each C(n, k) times. The
block falls into two, and with it all pieces and clauses over it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Counting
from mlnlab.circuits.sizes import CHOSEN, Size, of_block
from mlnlab.lifted.rules.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory import Clause, Literal, Piece, conditioned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.theory import Theory


def count_atoms(theory: Theory) -> Fired | Refused:
    """Split the block of the unary piece that most clauses mention."""
    unary = [number for number, piece in enumerate(theory.pieces) if len(piece.blocks) == 1]
    if not unary:
        return Refused("No piece has exactly one argument.")
    number = max(unary, key=lambda n: (len(mentioning(theory, n)), -n))
    return counted(theory, number)


def counted(theory: Theory, number: int) -> Fired:
    """Count the constants for which a unary piece is true."""
    block = theory.pieces[number].blocks[0]
    true, false = block, theory.blocks  # the block keeps its number for those where it is true
    pieces, place = split_pieces(theory.pieces, block, (true, false))
    clauses = [c for clause in theory.clauses for c in split_clause(clause, block, (true, false), place)]
    values = {place[number, (true,)]: True, place[number, (false,)]: False}
    left = conditioned(clauses, values)
    chosen = Size(((CHOSEN, 1),))
    sizes = [*(of_block(b) for b in range(theory.blocks)), of_block(block).minus(chosen)]
    sizes[block] = chosen
    parts = Parts()
    # The two halves of the piece stay, as facts, so that their weights are counted.
    facts = [Clause((b,), (Literal(place[number, (b,)], (0,), b == true),)) for b in (true, false)]
    call = parts.call(theory.blocks + 1, pieces, [*left, *facts], range(len(pieces)), sizes)
    note = f"Some constants of block {block} make this true; only how many matters."
    matched = mentioning(theory, number)
    return Fired(Counting(block, call), parts.all(), matched, (number,), note)


def mentioning(theory: Theory, piece: int) -> tuple[int, ...]:
    """Return the clauses that mention a piece."""
    return tuple(
        number
        for number, clause in enumerate(theory.clauses)
        if any(literal.piece == piece for literal in clause.literals)
    )


Place = dict[tuple[int, tuple[int, ...]], int]


def split_pieces(pieces: Sequence[Piece], block: int, into: tuple[int, int]) -> tuple[list[Piece], Place]:
    """Return the pieces over the two parts of a block, with where each is found."""
    made: list[Piece] = []
    place: Place = {}
    for number, piece in enumerate(pieces):
        for blocks in product(*(into if b == block else (b,) for b in piece.blocks)):
            place[number, blocks] = len(made)
            made.append(Piece(piece.symbol, blocks))
    return made, place


def split_clause(clause: Clause, block: int, into: tuple[int, int], place: Place) -> list[Clause]:
    """Return a clause for each way in which its variables fall into the two parts of a block."""
    return [
        Clause(blocks, tuple(
            literal._replace(piece=place[literal.piece, tuple(blocks[v] for v in literal.arguments)])
            for literal in clause.literals
        ))
        for blocks in product(*(into if b == block else (b,) for b in clause.blocks))
    ]  # fmt: skip


RULE = Rule(
    "atom counting", "a piece of one argument", "van den Broeck et al. 2011, section 4.4", count_atoms
)

"""A canonical numbering of a theory's blocks and pieces, so that what is equal up to renaming is equal.

Colours are refined until they are stable; what is tied then is told apart in turn, and the smallest theory
found is taken. Where ties are many only some are tried: two equal theories may then be compiled twice, which
costs time and nothing else, since definitions are compared as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.lifted.theory import Clause, Literal, Piece, Theory, made_clause

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TRIALS = 48
Colour = Any  # nested tuples of whole numbers, of one shape where they are compared


def canonical(theory: Theory) -> tuple[Theory, tuple[int, ...]]:
    """Return the theory in its canonical numbering, and each of its blocks' number before."""
    best: list[tuple[Theory, tuple[int, ...]]] = []
    trials = [0]
    _explore(theory, [0] * theory.blocks, [p.symbol for p in theory.pieces], best, trials)
    return best[0]


def _explore(
    theory: Theory, blocks: list[int], pieces: list[int],
    best: list[tuple[Theory, tuple[int, ...]]], trials: list[int],
) -> None:  # fmt: skip
    blocks, pieces = _refined(theory, blocks, pieces)
    tied = _first_tie(blocks), _first_tie(pieces)
    if not tied[0] and not tied[1]:
        trials[0] += 1
        found = _numbered(theory, blocks, pieces)
        if not best or found[0] < best[0][0]:
            best[:] = [found]
        return
    colours, members = (blocks, tied[0]) if tied[0] else (pieces, tied[1])
    for member in members:
        if trials[0] >= MOST_TRIALS:
            return
        marked = [2 * c for c in colours]
        marked[member] -= 1
        _explore(
            theory, marked if colours is blocks else blocks, marked if colours is pieces else pieces,
            best, trials,
        )  # fmt: skip


def _refined(theory: Theory, blocks: list[int], pieces: list[int]) -> tuple[list[int], list[int]]:
    """Return stable colours, as ranks that depend on nothing but the structure."""
    while True:
        clauses = [_clause_colour(clause, blocks, pieces) for clause in theory.clauses]
        of_piece: list[list[Colour]] = [[] for _ in theory.pieces]
        of_block: list[list[Colour]] = [[] for _ in range(theory.blocks)]
        for clause, colour in zip(theory.clauses, clauses, strict=True):
            for literal in clause.literals:
                of_piece[literal.piece].append((colour, literal.positive))
            for block in clause.blocks:
                of_block[block].append((1, colour))
        for number, piece in enumerate(theory.pieces):
            for place, block in enumerate(piece.blocks):
                of_block[block].append((0, (pieces[number], place)))
        new_pieces = _ranks(
            [
                (
                    pieces[n],
                    tuple(blocks[b] for b in p.blocks),
                    _pattern(p.blocks),
                    tuple(sorted(of_piece[n])),
                )
                for n, p in enumerate(theory.pieces)
            ]
        )
        new_blocks = _ranks([(blocks[b], tuple(sorted(of_block[b]))) for b in range(theory.blocks)])
        if len(set(new_pieces)) == len(set(pieces)) and len(set(new_blocks)) == len(set(blocks)):
            return new_blocks, new_pieces
        blocks, pieces = new_blocks, new_pieces


def _pattern(blocks: Sequence[int]) -> tuple[int, ...]:
    return tuple(blocks.index(block) for block in blocks)


def _clause_colour(clause: Clause, blocks: Sequence[int], pieces: Sequence[int]) -> Colour:
    """Return the clause's shape in colours: what is left of it when numbers are forgotten."""
    recoloured = [(pieces[piece], positive, arguments) for piece, arguments, positive in clause.literals]
    variables = [
        (blocks[b], tuple(sorted((c, s, args.index(v)) for c, s, args in recoloured if v in args)))
        for v, b in enumerate(clause.blocks)
    ]
    literals = sorted((c, s, tuple(variables[v] for v in args)) for c, s, args in recoloured)
    return (len(clause.blocks), tuple(sorted(variables)), tuple(literals))


def _ranks(values: Sequence[Colour]) -> list[int]:
    order = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]


def _first_tie(colours: Sequence[int]) -> list[int]:
    members: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        members.setdefault(colour, []).append(number)
    return min((m for m in members.values() if len(m) > 1), key=lambda m: colours[m[0]], default=[])


def _numbered(theory: Theory, blocks: Sequence[int], pieces: Sequence[int]) -> tuple[Theory, tuple[int, ...]]:
    """Return the theory with blocks and pieces in the order of their colours, which all differ."""
    old_blocks = tuple(sorted(range(theory.blocks), key=lambda b: blocks[b]))
    old_pieces = sorted(range(len(theory.pieces)), key=lambda p: pieces[p])
    block = {old: new for new, old in enumerate(old_blocks)}
    piece = {old: new for new, old in enumerate(old_pieces)}
    made = (
        made_clause(
            [block[b] for b in clause.blocks],
            [
                Literal(piece[literal.piece], literal.arguments, literal.positive)
                for literal in clause.literals
            ],
        )
        for clause in theory.clauses
    )
    numbered = Theory(
        theory.blocks,
        tuple(
            Piece(theory.pieces[p].symbol, tuple(block[b] for b in theory.pieces[p].blocks))
            for p in old_pieces
        ),
        tuple(sorted(clause for clause in made if clause is not None)),
    )
    return numbered, old_blocks

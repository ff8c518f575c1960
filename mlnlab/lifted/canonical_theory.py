"""A canonical numbering of a theory's subdomains and pieces, so that what is equal up to renaming is equal.

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
    """Return the theory in its canonical numbering, and each of its subdomains' number before."""
    best: list[tuple[Theory, tuple[int, ...]]] = []
    trials = [0]
    _explore(theory, [0] * theory.subdomains, [p.symbol for p in theory.pieces], best, trials)
    return best[0]


def _explore(
    theory: Theory, subdomains: list[int], pieces: list[int],
    best: list[tuple[Theory, tuple[int, ...]]], trials: list[int],
) -> None:  # fmt: skip
    subdomains, pieces = _refined(theory, subdomains, pieces)
    tied = _first_tie(subdomains), _first_tie(pieces)
    if not tied[0] and not tied[1]:
        trials[0] += 1
        found = _numbered(theory, subdomains, pieces)
        if not best or found[0] < best[0][0]:
            best[:] = [found]
        return
    colours, members = (subdomains, tied[0]) if tied[0] else (pieces, tied[1])
    for member in members:
        if trials[0] >= MOST_TRIALS:
            return
        marked = [2 * c for c in colours]
        marked[member] -= 1
        _explore(
            theory, marked if colours is subdomains else subdomains, marked if colours is pieces else pieces,
            best, trials,
        )  # fmt: skip


def _refined(theory: Theory, subdomains: list[int], pieces: list[int]) -> tuple[list[int], list[int]]:
    """Return stable colours, as ranks that depend on nothing but the structure."""
    while True:
        clauses = [_clause_colour(clause, subdomains, pieces) for clause in theory.clauses]
        of_piece: list[list[Colour]] = [[] for _ in theory.pieces]
        of_subdomain: list[list[Colour]] = [[] for _ in range(theory.subdomains)]
        for clause, colour in zip(theory.clauses, clauses, strict=True):
            for literal in clause.literals:
                of_piece[literal.piece].append((colour, literal.positive))
            for subdomain in clause.subdomains:
                of_subdomain[subdomain].append((1, colour))
        for number, piece in enumerate(theory.pieces):
            for place, subdomain in enumerate(piece.subdomains):
                of_subdomain[subdomain].append((0, (pieces[number], place)))
        new_pieces = _ranks(
            [
                (
                    pieces[n],
                    tuple(subdomains[b] for b in p.subdomains),
                    _pattern(p.subdomains),
                    tuple(sorted(of_piece[n])),
                )
                for n, p in enumerate(theory.pieces)
            ]
        )
        new_subdomains = _ranks(
            [(subdomains[b], tuple(sorted(of_subdomain[b]))) for b in range(theory.subdomains)]
        )
        if len(set(new_pieces)) == len(set(pieces)) and len(set(new_subdomains)) == len(set(subdomains)):
            return new_subdomains, new_pieces
        subdomains, pieces = new_subdomains, new_pieces


def _pattern(subdomains: Sequence[int]) -> tuple[int, ...]:
    return tuple(subdomains.index(subdomain) for subdomain in subdomains)


def _clause_colour(clause: Clause, subdomains: Sequence[int], pieces: Sequence[int]) -> Colour:
    """Return the clause's shape in colours: what is left of it when numbers are forgotten."""
    recoloured = [(pieces[piece], positive, arguments) for piece, arguments, positive in clause.literals]
    variables = [
        (subdomains[b], tuple(sorted((c, s, args.index(v)) for c, s, args in recoloured if v in args)))
        for v, b in enumerate(clause.subdomains)
    ]
    literals = sorted((c, s, tuple(variables[v] for v in args)) for c, s, args in recoloured)
    return (len(clause.subdomains), tuple(sorted(variables)), tuple(literals))


def _ranks(values: Sequence[Colour]) -> list[int]:
    order = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]


def _first_tie(colours: Sequence[int]) -> list[int]:
    members: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        members.setdefault(colour, []).append(number)
    return min((m for m in members.values() if len(m) > 1), key=lambda m: colours[m[0]], default=[])


def _numbered(
    theory: Theory, subdomains: Sequence[int], pieces: Sequence[int]
) -> tuple[Theory, tuple[int, ...]]:
    """Return the theory with subdomains and pieces in the order of their colours, which all differ."""
    old_subdomains = tuple(sorted(range(theory.subdomains), key=lambda b: subdomains[b]))
    old_pieces = sorted(range(len(theory.pieces)), key=lambda p: pieces[p])
    subdomain = {old: new for new, old in enumerate(old_subdomains)}
    piece = {old: new for new, old in enumerate(old_pieces)}
    made = (
        made_clause(
            [subdomain[b] for b in clause.subdomains],
            [
                Literal(piece[literal.piece], literal.arguments, literal.positive)
                for literal in clause.literals
            ],
        )
        for clause in theory.clauses
    )
    numbered = Theory(
        theory.subdomains,
        tuple(
            Piece(theory.pieces[p].symbol, tuple(subdomain[b] for b in theory.pieces[p].subdomains))
            for p in old_pieces
        ),
        tuple(sorted(clause for clause in made if clause is not None)),
    )
    return numbered, old_subdomains

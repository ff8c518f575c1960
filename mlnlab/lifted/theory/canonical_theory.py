"""Number a theory's subdomains and pieces canonically, so that theories equal up to renaming are equal.

Colours are refined until they are stable; ties are then broken in each possible way, and the smallest theory
is taken. Two numberings that give the same theory show a symmetry, by which the ties there need
not be searched again (McKay and Piperno 2014, "Practical graph isomorphism, II", section 3.4). Where
ties are many only some are tried: two equal theories may then be compiled twice, which costs time and
nothing else, since definitions are compared as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory, made_clause

MOST_TRIALS = 48
MOST_TRIED = 600  # clauses, in all numberings that are tried
MOST_WORK = 15_000  # clauses that are coloured; ties that are left then are told apart as they come
Colour = Any  # nested tuples of whole numbers, of one shape where they are compared


def canonical(theory: Theory) -> tuple[Theory, tuple[int, ...]]:
    """Return the theory in its canonical numbering, and each of its subdomains' number before."""
    search = _Search(theory)
    search.explore(_ranks([0] * theory.subdomains), _ranks([p.symbol for p in theory.pieces]), ())
    return search.best[0]


class _Search:
    """Numberings that are tried; a mutable local of one call."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self.best: list[tuple[Theory, tuple[int, ...]]] = []
        self.path: tuple[int, ...] = ()  # what was told apart, in turn, on the way to the best
        # What is tied in a large theory is mostly so by a symmetry, and then each trial finds the same.
        self.left = max(1, min(MOST_TRIALS, MOST_TRIED // max(1, len(theory.clauses))))
        self.work = MOST_WORK
        self.colours = _ClauseColours(theory)

    def explore(self, subdomains: list[int], pieces: list[int], path: tuple[int, ...]) -> int:
        """Try the numberings below a choice; return how much of the path is to be kept after that."""
        if self.work > 0:
            subdomains, pieces, rounds = _refine_colours(self.theory, self.colours, subdomains, pieces)
            self.work -= rounds * len(self.theory.clauses)
        else:
            subdomains, pieces = _as_they_come(subdomains), _as_they_come(pieces)
        tied = _first_tie(subdomains), _first_tie(pieces)
        if not tied[0] and not tied[1]:
            return self._try_order(subdomains, pieces, path)
        among = subdomains if tied[0] else pieces
        for member in tied[0] or tied[1]:
            marked = list(among)
            for other in tied[0] or tied[1]:
                marked[other] += other != member
            below = (marked, pieces) if among is subdomains else (subdomains, marked)
            kept = self.explore(*below, (*path, member))
            if kept < len(path) or not self.left:
                return kept
        return len(path)

    def _try_order(self, subdomains: Sequence[int], pieces: Sequence[int], path: tuple[int, ...]) -> int:
        self.left = self.left - 1 if self.work > 0 else 0
        found = _number_theory(self.theory, subdomains, pieces)
        if self.best and found[0] == self.best[0][0]:  # a symmetry: all below the fork is as it was there
            return next(n for n, (a, b) in enumerate(zip(path, self.path, strict=False)) if a != b)
        if not self.best or found[0] < self.best[0][0]:
            self.best, self.path = [found], path
        return len(path)


class _ClauseColours:
    """The colours of clauses; one is made only where no clause of its shape had parts of these colours."""

    def __init__(self, theory: Theory) -> None:
        self.clauses = theory.clauses
        self.parts = [
            (
                tuple(dict.fromkeys(literal.piece for literal in clause.literals)),
                tuple(dict.fromkeys(clause.subdomains)),
            )
            for clause in theory.clauses
        ]
        shapes = [_shape(*both) for both in zip(theory.clauses, self.parts, strict=True)]
        known: dict[Colour, dict[tuple[int, ...], Colour]] = {shape: {} for shape in shapes}
        self.known = [known[shape] for shape in shapes]
        self.patterns = [_pattern(piece.subdomains) for piece in theory.pieces]

    def ranks(self, subdomains: Sequence[int], pieces: Sequence[int]) -> list[int]:
        """Return the clauses' colours as ranks."""
        colours = []
        for clause, parts, known in zip(self.clauses, self.parts, self.known, strict=True):
            key = (*[pieces[p] for p in parts[0]], *[subdomains[b] for b in parts[1]])
            colour = known.get(key)
            if colour is None:
                colour = known[key] = _clause_colour(clause, subdomains, pieces)
            colours.append(colour)
        return _ranks(colours)


def _shape(clause: Clause, parts: tuple[tuple[int, ...], tuple[int, ...]]) -> Colour:
    """Return the shape of a clause: all that its colour depends on beside the colours of its parts."""
    piece, subdomain = ({part: n for n, part in enumerate(of_kind)} for of_kind in parts)
    literals = tuple((piece[p], arguments, positive) for p, arguments, positive in clause.literals)
    return tuple(subdomain[b] for b in clause.subdomains), literals


def _refine_colours(
    theory: Theory, of_clauses: _ClauseColours, subdomains: list[int], pieces: list[int]
) -> tuple[list[int], list[int], int]:
    """Return stable colours, as ranks that depend on nothing but the structure, and after how many rounds.

    What meets a piece or a subdomain is written as one whole number, for these are sorted again and again.
    """
    many = len(theory.clauses) + len(theory.pieces)  # more than any rank
    for rounds in count(1):
        clauses = of_clauses.ranks(subdomains, pieces)
        of_piece: list[list[int]] = [[] for _ in theory.pieces]
        of_subdomain: list[list[int]] = [[] for _ in range(theory.subdomains)]
        for clause, colour in zip(theory.clauses, clauses, strict=True):
            for literal in clause.literals:
                of_piece[literal.piece].append(2 * colour + literal.positive)
            for subdomain in clause.subdomains:
                of_subdomain[subdomain].append(colour - many)  # all below what pieces are
        for number, piece in enumerate(theory.pieces):
            for place, subdomain in enumerate(piece.subdomains):
                of_subdomain[subdomain].append(pieces[number] + many * place)
        new_pieces = _ranks(
            [
                (pieces[n], tuple(subdomains[b] for b in p.subdomains), pattern, tuple(sorted(of_piece[n])))
                for n, (p, pattern) in enumerate(zip(theory.pieces, of_clauses.patterns, strict=True))
            ]
        )
        new_subdomains = _ranks(
            [(subdomains[b], tuple(sorted(of_subdomain[b]))) for b in range(theory.subdomains)]
        )
        if len(set(new_pieces)) == len(set(pieces)) and len(set(new_subdomains)) == len(set(subdomains)):
            return new_subdomains, new_pieces, rounds
        subdomains, pieces = new_subdomains, new_pieces
    raise AssertionError  # colours do not split for ever


def _as_they_come(colours: Sequence[int]) -> list[int]:
    return _ranks([(colour, number) for number, colour in enumerate(colours)])


def _pattern(subdomains: Sequence[int]) -> tuple[int, ...]:
    return tuple(subdomains.index(subdomain) for subdomain in subdomains)


def _clause_colour(clause: Clause, subdomains: Sequence[int], pieces: Sequence[int]) -> Colour:
    """Return the clause's shape in colours, with numbers forgotten."""
    recoloured = [(pieces[piece], positive, arguments) for piece, arguments, positive in clause.literals]
    variables = [
        (subdomains[b], tuple(sorted((c, s, args.index(v)) for c, s, args in recoloured if v in args)))
        for v, b in enumerate(clause.subdomains)
    ]
    literals = sorted((c, s, tuple(variables[v] for v in args)) for c, s, args in recoloured)
    return (len(clause.subdomains), tuple(sorted(variables)), tuple(literals))


def _ranks(values: Sequence[Colour]) -> list[int]:
    """Return how many values are smaller than each: where one is told apart, others keep their rank."""
    order, smaller = {}, 0
    for value, times in sorted(Counter(values).items()):
        order[value], smaller = smaller, smaller + times
    return [order[value] for value in values]


def _first_tie(colours: Sequence[int]) -> list[int]:
    members: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        members.setdefault(colour, []).append(number)
    return min((m for m in members.values() if len(m) > 1), key=lambda m: colours[m[0]], default=[])


def _number_theory(
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

"""Inclusion-exclusion constant by constant: a clause of two parts that have one variable in common.

For every constant z the part A(z) holds, or the other part B(z) does, or both: A(z) + B(z) (1 - A(z)). The
constants for which A is said form a set of which only the size matters; for each of the others B is said,
and an atom of its own takes away the worlds in which A holds as well: where it is true, which weighs -1, A
holds too. Such signs are those of Skolemization (Van den Broeck, Meert and Darwiche 2014, section 3). The
clause falls into parts that often are single literals, and so decide pieces: after domain recursion on a row
or a column, the S4 clause of Kazemi et al. 2016 is left as !E(z, y) v E(z, u) over two sets of columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import SIGNED, Counting
from mlnlab.circuits.first_order.sizes import CHOSEN, Size, of_subdomain
from mlnlab.lifted.rules.atom_counting import Place, split_clause, split_pieces
from mlnlab.lifted.rules.inclusion_exclusion import part_of
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory, condition_clauses, made_clause

MOST_CLAUSES = 120


class Cut(NamedTuple):
    """A clause, the variable that its two parts share, and their literals."""

    clause: int
    shared: int
    one: tuple[Literal, ...]
    other: tuple[Literal, ...]


class Halves(NamedTuple):
    """A theory with a split subdomain: clauses of the parts, and clauses that take away worlds of both."""

    pieces: tuple[Piece, ...]
    said: tuple[Clause, ...]
    taken_away: tuple[Clause, ...]


def include_exclude_each(theory: Theory) -> Fired | Refused:
    """Split a clause whose literals fall into two groups that share nothing but one variable."""
    if len(theory.clauses) > MOST_CLAUSES:
        return Refused(f"In more than {MOST_CLAUSES} clauses no parts are looked for.")
    reason = "No clause falls into two parts that share one variable and no other subdomain."
    before = _literals(theory.clauses)
    for cut in _cuts(theory):
        halves = _halves(theory, cut)
        if _literals(_simplify_clauses(halves.said)) < before:
            return _fire_rule(theory, cut, halves)
        reason = "Split at the variable that the parts of a clause share, the clauses become no smaller."
    return Refused(reason)


def _cuts(theory: Theory) -> Iterator[Cut]:
    for number, clause in enumerate(theory.clauses):
        for shared in () if clause.idle else range(len(clause.subdomains)):
            groups = _groups(clause, shared)
            if len(groups) > 1 and all(_is_wider(group, shared) for group in groups):
                rest = tuple(literal for group in groups[1:] for literal in group)
                yield Cut(number, shared, tuple(groups[0]), rest)


def _groups(clause: Clause, shared: int) -> list[list[Literal]]:
    """Return literals in groups that have no subdomain in common but that of a shared variable."""
    groups: list[tuple[set[int], list[Literal]]] = []
    for literal in clause.literals:
        own = {clause.subdomains[v] for v in literal.arguments if v != shared}
        touched = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        groups.append(
            (own.union(*(g[0] for g in touched)), [*(one for g in touched for one in g[1]), literal])
        )
    return [group[1] for group in groups]


def _is_wider(group: Sequence[Literal], shared: int) -> bool:
    """Tell whether literals mention the shared variable and another one; unary atoms are counted instead."""
    variables = {v for literal in group for v in literal.arguments}
    return shared in variables and len(variables) > 1


def _halves(theory: Theory, cut: Cut) -> Halves:
    """Return the pieces and clauses where one part is said of the subdomain, the other of a new one."""
    clause = theory.clauses[cut.clause]
    subdomain = clause.subdomains[cut.shared]
    into = (subdomain, theory.subdomains)
    pieces, place = split_pieces(theory.pieces, subdomain, into)
    others = (c for number, c in enumerate(theory.clauses) if number != cut.clause)
    said = [part for other in others for part in split_clause(other, subdomain, into, place)]
    for literals, half in ((cut.one, into[0]), (cut.other, into[1])):
        said += [part for _, part in _of_half(clause, cut.shared, literals, half, into, place)]
    taken_away = [
        Clause(part.subdomains, (*part.literals, Literal(len(pieces), (root,), False)))
        for root, part in _of_half(clause, cut.shared, cut.one, into[1], into, place)
    ]
    return Halves((*pieces, Piece(SIGNED, into[1:])), tuple(said), tuple(taken_away))


def _simplify_clauses(clauses: Sequence[Clause]) -> set[Clause]:
    """Return the clauses that are left where single literals decide their pieces."""
    units = {
        c.literals[0].piece: c.literals[0].positive for c in clauses if len(c.literals) == 1 and not c.idle
    }
    left = {made_clause(clause.subdomains, clause.literals) for clause in condition_clauses(clauses, units)}
    return {clause for clause in left if clause is not None}


def _literals(clauses: Collection[Clause]) -> int:
    return sum(len(clause.literals) for clause in clauses)


def _fire_rule(theory: Theory, cut: Cut, halves: Halves) -> Fired:
    subdomain = theory.clauses[cut.clause].subdomains[cut.shared]
    chosen = Size(((CHOSEN, 1),))
    sizes = [*(of_subdomain(b) for b in range(theory.subdomains)), of_subdomain(subdomain).minus(chosen)]
    sizes[subdomain] = chosen
    parts = Parts()
    clauses, everything = (*halves.said, *halves.taken_away), range(len(halves.pieces))
    call = parts.call(theory.subdomains + 1, halves.pieces, clauses, everything, sizes)
    note = (
        f"For each constant of subdomain {subdomain} one part holds or the other does; only the number of"
        " constants of the first kind matters. Worlds of both, counted twice, are taken away by an atom that"
        " weighs −1."
    )
    return Fired(Counting(subdomain, call), parts.all(), (cut.clause,), (), note)


def _of_half(
    clause: Clause, shared: int, literals: Sequence[Literal], half: int, into: tuple[int, int], place: Place
) -> list[tuple[int, Clause]]:
    """Return a part of a clause for shared constants of one half, with the variable's number there."""
    part = part_of(clause, literals)
    root = len({v for literal in literals for v in literal.arguments if v < shared})
    split = split_clause(part, clause.subdomains[shared], into, place)
    return [(root, one) for one in split if one.subdomains[root] == half]


RULE = Rule(
    "inclusion-exclusion constant by constant", "a clause of two parts that share one variable",
    "Kazemi et al. 2016; signs of Van den Broeck et al. 2014", include_exclude_each,
)  # fmt: skip

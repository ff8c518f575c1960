"""Independent partial grounding: every atom names one constant of a subdomain in the same place.

Van den Broeck et al. (IJCAI 2011), section 4.3. Each clause has a root variable that all its literals
mention, and each piece has it in one place; then what is said of one constant shares no atom with what is
said of another, and is the same for all: a power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlnlab.circuits.first_order.first_order_circuit import Power
from mlnlab.circuits.first_order.sizes import fix_size, of_subdomain, tuples_of
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Piece, Theory, pieces_in

Places = dict[int, int]  # of a piece: where the root stands


def ground_root(theory: Theory) -> Fired | Refused:
    """Compile the theory for one constant of a subdomain, and raise it to the number of these."""
    for subdomain in range(theory.subdomains):
        found = _roots(theory.clauses, subdomain)
        if found is not None:
            return _fire_rule(theory, subdomain, *found)
    return Refused("No subdomain has in each clause a variable that all its literals mention, in one place.")


def _roots(clauses: Sequence[Clause], subdomain: int) -> tuple[Places, list[int]] | None:
    """Return places of roots in pieces, and the root variable of each clause.

    One clause's root decides those of all clauses that share pieces with it, so that nothing is tried twice.
    """
    if not all(_candidates(clause, subdomain) for clause in clauses):
        return None
    of_piece: dict[int, list[int]] = {}
    for number, clause in enumerate(clauses):
        for literal in clause.literals:
            of_piece.setdefault(literal.piece, []).append(number)
    places: Places = {}
    roots: dict[int, int] = {}
    for number, clause in enumerate(clauses):
        if number in roots:
            continue
        trials = (_spread(clauses, subdomain, number, v, of_piece) for v in _candidates(clause, subdomain))
        found = next((trial for trial in trials if trial is not None), None)
        if found is None:
            return None
        places |= found[0]
        roots |= found[1]
    return places, [roots[number] for number in range(len(clauses))]


def _candidates(clause: Clause, subdomain: int) -> list[int]:
    return [
        v for v, b in enumerate(clause.subdomains)
        if b == subdomain and all(v in literal.arguments for literal in clause.literals)
    ]  # fmt: skip


def _spread(
    clauses: Sequence[Clause],
    subdomain: int,
    first: int,
    variable: int,
    of_piece: Mapping[int, Sequence[int]],
) -> tuple[Places, dict[int, int]] | None:
    """Return the places and roots that one clause's root decides; ``None`` where they conflict."""
    places: Places = {}
    roots = {first: variable}
    waiting = [first]
    while waiting:
        number = waiting.pop()
        root = roots[number]
        if root not in _candidates(clauses[number], subdomain):
            return None
        for literal in clauses[number].literals:
            place = literal.arguments.index(root)
            if places.setdefault(literal.piece, place) != place:
                return None
            for other in of_piece[literal.piece]:
                same = next(one for one in clauses[other].literals if one.piece == literal.piece)
                if other not in roots:
                    roots[other] = same.arguments[place]
                    waiting.append(other)
    return places, roots


def _fire_rule(theory: Theory, subdomain: int, places: Mapping[int, int], roots: Sequence[int]) -> Fired:
    pieces = [
        Piece(piece.symbol, _without(piece.subdomains, places[number]))
        for number, piece in enumerate(theory.pieces)
    ]
    clauses = [
        instantiate_clause(clause, root, places) for clause, root in zip(theory.clauses, roots, strict=True)
    ]
    sizes = [of_subdomain(b) for b in range(theory.subdomains)]
    sizes[subdomain] = sizes[subdomain].minus(fix_size(1))
    parts = Parts()
    call = parts.call(theory.subdomains, pieces, clauses, pieces_in(clauses), sizes)
    note = f"Each constant of subdomain {subdomain} is a case of its own, the same for all of them."
    return Fired(
        Power(call, tuples_of((subdomain,))), parts.all(), tuple(range(len(clauses))), tuple(places), note
    )


def instantiate_clause(clause: Clause, root: int, places: Mapping[int, int]) -> Clause:
    """Return a clause for one constant as its root, which its literals then no longer mention."""
    shift = {v: v - (v > root) for v in range(len(clause.subdomains))}
    return Clause(
        _without(clause.subdomains, root),
        tuple(
            literal._replace(
                arguments=tuple(shift[v] for v in _without(literal.arguments, places[literal.piece]))
            )
            for literal in clause.literals
        ),
    )


def _without(values: Sequence[int], place: int) -> tuple[int, ...]:
    return (*values[:place], *values[place + 1 :])


RULE = Rule(
    "independent partial grounding", "a root variable in each clause, in one place of each piece",
    "Van den Broeck et al. 2011, section 4.3", ground_root,
)  # fmt: skip

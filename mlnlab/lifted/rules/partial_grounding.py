"""Independent partial grounding: every atom names one constant of a subdomain in the same place.

Van den Broeck et al. (IJCAI 2011), section 4.3. Each clause has a root variable that all its literals
mention, and each piece has it in one place; then what is said of one constant shares no atom with what is
said of another, and is the same for all: a power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Power
from mlnlab.circuits.sizes import fixed, of_subdomain, tuples_of
from mlnlab.lifted.rules.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory import Clause, Piece, pieces_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.lifted.theory import Theory

Places = dict[int, int]  # of a piece: where the root stands


def ground_root(theory: Theory) -> Fired | Refused:
    """Compile the theory for one constant of a subdomain, and raise it to the number of these."""
    for subdomain in range(theory.subdomains):
        found = next(_roots(theory, subdomain, 0, {}), None)
        if found is not None:
            return _fired(theory, subdomain, *found)
    return Refused("No subdomain has in each clause a variable that all its literals mention, in one place.")


def _roots(theory: Theory, subdomain: int, clause: int, places: Places) -> Iterator[tuple[Places, list[int]]]:
    """Yield places of roots in pieces, with the root variable of each clause from one on."""
    if clause == len(theory.clauses):
        yield places, []
        return
    subdomains, literals = theory.clauses[clause]
    for variable in (v for v, b in enumerate(subdomains) if b == subdomain):
        if not all(variable in literal.arguments for literal in literals):
            continue
        own = [(literal.piece, literal.arguments.index(variable)) for literal in literals]
        merged = {**places, **dict(own)}
        if all(merged[piece] == place for piece, place in (*own, *places.items())):
            for found, roots in _roots(theory, subdomain, clause + 1, merged):
                yield found, [variable, *roots]


def _fired(theory: Theory, subdomain: int, places: Mapping[int, int], roots: Sequence[int]) -> Fired:
    pieces = [
        Piece(piece.symbol, _without(piece.subdomains, places[number]))
        for number, piece in enumerate(theory.pieces)
    ]
    clauses = [instantiated(clause, root, places) for clause, root in zip(theory.clauses, roots, strict=True)]
    sizes = [of_subdomain(b) for b in range(theory.subdomains)]
    sizes[subdomain] = sizes[subdomain].minus(fixed(1))
    parts = Parts()
    call = parts.call(theory.subdomains, pieces, clauses, pieces_in(clauses), sizes)
    note = f"Each constant of subdomain {subdomain} is a case of its own, the same for all of them."
    return Fired(
        Power(call, tuples_of((subdomain,))), parts.all(), tuple(range(len(clauses))), tuple(places), note
    )


def instantiated(clause: Clause, root: int, places: Mapping[int, int]) -> Clause:
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

"""Independence: parts of a theory that share no piece are counted by themselves.

Van den Broeck et al. (IJCAI 2011), section 4.2: a decomposable conjunction. Pieces of no clause are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Product
from mlnlab.lifted.rules.rule import Fired, Parts, Refused, Rule, impossible, leaf
from mlnlab.lifted.theory import pieces_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.theory import Clause, Theory


def separate(theory: Theory) -> Fired | Refused:
    """Take apart what shares no piece."""
    mentioned = [clause for clause in theory.clauses if clause.literals]
    groups = connected(mentioned)
    used = pieces_in(mentioned)
    if len(groups) == 1 and len(used) == len(theory.pieces) and len(mentioned) == len(theory.clauses):
        return Refused("All clauses hang together by the pieces that they share.")
    parts = Parts()
    free = [leaf(piece, "free") for number, piece in enumerate(theory.pieces) if number not in used]
    contradictions = [impossible(clause) for clause in theory.clauses if not clause.literals]
    calls = [parts.call(theory.subdomains, theory.pieces, group, pieces_in(group)) for group in groups]
    note = f"{len(groups)} parts share no piece." if len(groups) > 1 else "No clause mentions some pieces."
    return Fired(Product((*contradictions, *free), tuple(calls)), parts.all(), (), (), note)


def connected(clauses: Sequence[Clause]) -> list[list[Clause]]:
    """Return the clauses in groups that share no piece."""
    groups: list[tuple[set[int], list[Clause]]] = []
    for clause in clauses:
        pieces = {literal.piece for literal in clause.literals}
        touched = [group for group in groups if group[0] & pieces]
        groups = [group for group in groups if not group[0] & pieces]
        groups.append((
            pieces.union(*(group[0] for group in touched)),
            [*(c for group in touched for c in group[1]), clause],
        ))  # fmt: skip
    return [group[1] for group in groups]


RULE = Rule(
    "independence", "parts without a common piece", "Van den Broeck et al. 2011, section 4.2", separate
)

"""Independence: parts of a theory that share no piece are counted by themselves.

Van den Broeck et al. (IJCAI 2011), section 4.2: a decomposable conjunction. Pieces of no clause are free.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.circuits.first_order.first_order_circuit import Product
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule, impossible, leaf
from mlnlab.lifted.theory.theory import Clause, Theory, pieces_in


def separate(theory: Theory) -> Fired | Refused:
    """Split a theory into parts that share no piece."""
    mentioned = [clause for clause in theory.clauses if clause.literals]
    groups = group_clauses(mentioned)
    used = pieces_in(mentioned)
    if len(groups) == 1 and len(used) == len(theory.pieces) and len(mentioned) == len(theory.clauses):
        return Refused("All clauses hang together by the pieces that they share.")
    parts = Parts()
    free = [leaf(piece, "free") for number, piece in enumerate(theory.pieces) if number not in used]
    contradictions = [impossible(clause) for clause in theory.clauses if not clause.literals]
    calls = [parts.call(theory.subdomains, theory.pieces, group, pieces_in(group)) for group in groups]
    note = f"{len(groups)} parts share no piece." if len(groups) > 1 else "No clause mentions some pieces."
    return Fired(Product((*contradictions, *free), tuple(calls)), parts.all(), (), (), note)


def group_clauses(clauses: Sequence[Clause]) -> list[list[Clause]]:
    """Return the clauses in groups that share no piece, by their last clauses."""
    groups: dict[int, list[int]] = {}  # by any number: places of clauses
    group_of: dict[int, int] = {}  # of pieces
    pieces: dict[int, set[int]] = {}
    for place, clause in enumerate(clauses):
        own = {literal.piece for literal in clause.literals}
        touched = sorted({group_of[p] for p in own if p in group_of}, key=lambda g: len(pieces[g]))
        kept = touched.pop() if touched else place
        groups.setdefault(kept, []).append(place)
        for other in touched:  # the smaller ones go into the largest
            groups[kept] += groups.pop(other)
            own |= pieces.pop(other)
        pieces.setdefault(kept, set()).update(own)
        group_of.update(dict.fromkeys(own, kept))
    return [[clauses[place] for place in sorted(group)] for group in sorted(groups.values(), key=max)]


RULE = Rule(
    "independence", "parts without a common piece", "Van den Broeck et al. 2011, section 4.2", separate
)

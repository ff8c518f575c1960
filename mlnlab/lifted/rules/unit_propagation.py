"""Unit propagation: clauses of one literal decide all atoms of its piece.

Van den Broeck et al. (IJCAI 2011), section 4.1. Arguments of a piece are different constants anyway, so that
a literal of different variables speaks of all its atoms. Where both signs are forced, a clause without
literals is left, which is false as soon as its variables have values.
"""

from __future__ import annotations

from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule, leaf
from mlnlab.lifted.theory.theory import Theory, condition_clauses


def propagate(theory: Theory) -> Fired | Refused:
    """Decide the pieces of all unit clauses at once."""
    units = {
        clause.literals[0].piece: clause.literals[0].positive
        for clause in reversed(theory.clauses)
        if len(clause.literals) == 1 and not clause.idle
    }
    if not units:
        return Refused("No clause is a single literal that mentions all variables of the clause.")
    parts = Parts()
    body = parts.product(
        theory, condition_clauses(theory.clauses, units), units,
        (leaf(theory.pieces[p], "true" if positive else "false") for p, positive in sorted(units.items())),
    )  # fmt: skip
    matched = tuple(n for n, c in enumerate(theory.clauses) if len(c.literals) == 1 and not c.idle)
    return Fired(body, parts.all(), matched, tuple(sorted(units)), "These literals hold for all constants.")


RULE = Rule(
    "unit propagation", "a clause of one literal", "Van den Broeck et al. 2011, section 4.1", propagate
)

"""Shannon decomposition: a ground atom is true or false.

Van den Broeck et al. (IJCAI 2011), section 4.2: a deterministic disjunction. The atom that most clauses
mention is taken, so that most of them get smaller.
"""

from __future__ import annotations

from mlnlab.circuits.first_order.first_order_circuit import Sum
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule, leaf
from mlnlab.lifted.theory.theory import Theory, condition_clauses


def decide(theory: Theory) -> Fired | Refused:
    """Distinguish the two values of the ground atom that is mentioned most."""
    ground = [number for number, piece in enumerate(theory.pieces) if not piece.subdomains]
    if not ground:
        return Refused("No atom is ground.")
    occurrences = [
        (
            sum(any(literal.piece == number for literal in clause.literals) for clause in theory.clauses),
            -number,
        )
        for number in ground
    ]
    number = -max(occurrences)[1]
    parts = Parts()
    terms = tuple(
        parts.product(
            theory, condition_clauses(theory.clauses, {number: value}), {number},
            (leaf(theory.pieces[number], "true" if value else "false"),),
        )
        for value in (True, False)
    )  # fmt: skip
    matched = tuple(
        n
        for n, clause in enumerate(theory.clauses)
        if any(literal.piece == number for literal in clause.literals)
    )
    return Fired(Sum(terms), parts.all(), matched, (number,), "This ground atom is true or false.")


RULE = Rule("Shannon decomposition", "a ground atom", "Van den Broeck et al. 2011, section 4.2", decide)

"""First atom: a ground atom is true or false, the first one that there is (a skeleton to copy).

A deterministic disjunction, as Shannon decomposition is (Van den Broeck et al., IJCAI 2011, section 4.2);
that rule takes the atom that most clauses mention instead.
"""

from __future__ import annotations

from mlnlab.circuits.first_order.first_order_circuit import Sum
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule, leaf
from mlnlab.lifted.theory.theory import Theory, condition_clauses


def decide_first(theory: Theory) -> Fired | Refused:
    """Distinguish the two values of the first ground atom."""
    number = next((number for number, piece in enumerate(theory.pieces) if not piece.subdomains), None)
    if number is None:
        return Refused("No atom is ground.")  # a sentence: people read why a rule does not apply
    parts = Parts()
    terms = tuple(
        parts.product(
            theory, condition_clauses(theory.clauses, {number: value}), {number},
            (leaf(theory.pieces[number], "true" if value else "false"),),
        )
        for value in (True, False)
    )  # fmt: skip
    matched = tuple(
        place
        for place, clause in enumerate(theory.clauses)
        if any(literal.piece == number for literal in clause.literals)
    )
    return Fired(Sum(terms), parts.all(), matched, (number,), "This ground atom is true or false.")


RULE = Rule("first atom", "a ground atom", "this page", decide_first)

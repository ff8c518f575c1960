"""Domain recursion, first form: all atoms name the same constants, in any order.

Van den Broeck (NIPS 2011), section 5: where each clause has the same number of variables of one subdomain and
all its literals mention all of them, what is said of one set of constants shares no atom with another set.
The clauses of a set are ground, one for each order of its elements. Symmetry is such a theory:
E(x, y) => E(y, x).
"""

from __future__ import annotations

from itertools import permutations

from mlnlab.circuits.first_order.first_order_circuit import Power
from mlnlab.circuits.first_order.sizes import sets_of
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory

MOST_ELEMENTS = 4


def ground_sets(theory: Theory) -> Fired | Refused:
    """Compile the theory for one set of constants, and raise it to the number of sets."""
    widths = {(clause.subdomains, len(set(clause.subdomains))) for clause in theory.clauses}
    subdomains, kinds = next(iter(widths))
    if len(widths) != 1 or kinds != 1 or not 2 <= len(subdomains) <= MOST_ELEMENTS:
        return Refused("Not all clauses have the same two or more variables of one subdomain.")
    elements, everything = len(subdomains), set(range(len(subdomains)))
    if any(set(literal.arguments) != everything for clause in theory.clauses for literal in clause.literals):
        return Refused("Some literal does not mention all variables of its clause.")
    orders = list(permutations(range(elements)))
    number = {
        (p, order): i
        for i, (p, order) in enumerate((p, o) for p in range(len(theory.pieces)) for o in orders)
    }
    pieces = [Piece(theory.pieces[p].symbol, ()) for p, _ in number]
    clauses = [
        Clause((), tuple(
            Literal(number[literal.piece, tuple(order[v] for v in literal.arguments)], (), literal.positive)
            for literal in clause.literals
        ))
        for clause in theory.clauses
        for order in orders
    ]  # fmt: skip
    parts = Parts()
    call = parts.call(theory.subdomains, pieces, clauses, range(len(pieces)))
    note = f"Each set of {elements} constants of subdomain {subdomains[0]} is a case of its own."
    matched = tuple(range(len(theory.clauses)))
    return Fired(Power(call, sets_of(subdomains[0], elements)), parts.all(), matched, (), note)


RULE = Rule(
    "independent sets", "literals that all mention all variables of their clauses",
    "Van den Broeck 2011 (NIPS), section 5", ground_sets,
)  # fmt: skip

"""Drop duplicate and subsumed clauses: a smaller clause already says the same.

Subsumption is that of Robinson (1965, section 7).

Tautologies and clauses written twice are dropped wherever theories are made; this rule handles a clause all
of whose literals, variables renamed, occur in another. The smaller one must not need
more constants of a subdomain than the larger one has variables there, or it might say nothing where the
other does.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule

if TYPE_CHECKING:
    from mlnlab.lifted.theory.theory import Clause, Theory

MOST_VARIABLES = 5
MOST_CLAUSES = 120


def drop_subsumed(theory: Theory) -> Fired | Refused:
    """Drop clauses that follow from one other clause."""
    if len(theory.clauses) > MOST_CLAUSES:
        return Refused(f"More than {MOST_CLAUSES} clauses are not compared with each other.")
    gone = tuple(
        number
        for number, large in enumerate(theory.clauses)
        if any(subsumes(small, large) for small in theory.clauses if small != large)
    )
    if not gone:
        return Refused("No clause contains another one.")
    parts = Parts()
    kept = [clause for number, clause in enumerate(theory.clauses) if number not in gone]
    return Fired(parts.product(theory, kept, ()), parts.all(), gone, (), "Other clauses say more than these.")


def subsumes(small: Clause, large: Clause) -> bool:
    """Return whether one clause's literals, with different variables for its variables, are the other's."""
    if len(small.literals) > len(large.literals) or len(small.subdomains) > len(large.subdomains):
        return False
    if not {(literal.piece, literal.positive) for literal in small.literals} <= {
        (literal.piece, literal.positive) for literal in large.literals
    }:
        return False
    if len(large.subdomains) > MOST_VARIABLES:
        return small.subdomains == large.subdomains and set(small.literals) <= set(large.literals)
    literals = set(large.literals)
    return any(
        all(small.subdomains[v] == large.subdomains[to] for v, to in enumerate(places))
        and all(
            literal._replace(arguments=tuple(places[v] for v in literal.arguments)) in literals
            for literal in small.literals
        )
        for places in permutations(range(len(large.subdomains)), len(small.subdomains))
    )


RULE = Rule("subsumption", "a clause that contains another one", "Robinson 1965, section 7", drop_subsumed)

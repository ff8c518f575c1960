"""Inclusion-exclusion: a clause of two parts without common variables is the one part, or the other, for all.

Van den Broeck et al. (IJCAI 2011), section 4.2: the worlds of A and of B, less those of both. Parts that
have variables of the same subdomain do not do: these variables stand for different constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.circuits.first_order.first_order_circuit import InclusionExclusion
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Literal, Theory


def include_exclude(theory: Theory) -> Fired | Refused:
    """Split the first clause whose literals fall into two groups without a common subdomain."""
    for number, clause in enumerate(theory.clauses):
        groups = _groups(clause)
        if len(groups) < 2 or clause.idle:
            continue
        one, other = groups[0], [literal for group in groups[1:] for literal in group]
        rest = [c for n, c in enumerate(theory.clauses) if n != number]
        halves = [part_of(clause, one), part_of(clause, other)]
        parts = Parts()
        body = InclusionExclusion(
            parts.product(theory, [*rest, halves[0]], ()),
            parts.product(theory, [*rest, halves[1]], ()),
            parts.product(theory, [*rest, *halves], ()),
        )
        note = "For all constants the one part holds, or for all the other does; both were counted twice."
        return Fired(body, parts.all(), (number,), (), note)
    return Refused("No clause falls into two parts whose variables have no subdomain in common.")


def _groups(clause: Clause) -> list[list[Literal]]:
    """Return the literals in groups that have no subdomain in common; ground ones stand alone."""
    groups: list[tuple[set[int], list[Literal]]] = []
    for literal in clause.literals:
        own = {clause.subdomains[v] for v in literal.arguments}
        touched = [g for g in groups if g[0] & own]
        groups = [g for g in groups if not g[0] & own]
        groups.append(
            (own.union(*(g[0] for g in touched)), [*(literal for g in touched for literal in g[1]), literal])
        )
    return [group[1] for group in groups]


def part_of(clause: Clause, literals: Sequence[Literal]) -> Clause:
    """Return some literals of a clause as a clause of its own, over the variables that they mention."""
    kept = sorted({v for literal in literals for v in literal.arguments})
    place = {old: new for new, old in enumerate(kept)}
    return Clause(
        tuple(clause.subdomains[v] for v in kept),
        tuple(
            sorted(
                literal._replace(arguments=tuple(place[v] for v in literal.arguments)) for literal in literals
            )
        ),
    )


RULE = Rule(
    "inclusion-exclusion", "a clause of two parts whose variables have no subdomain in common",
    "Van den Broeck et al. 2011, section 4.2", include_exclude,
)  # fmt: skip

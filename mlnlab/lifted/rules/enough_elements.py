"""Enough elements: a variable that no literal mentions only asks whether its subdomain has another constant.

S(x) for all y ≠ x says nothing where x is alone. The theory is compiled for subdomains that are large enough,
where such variables are dropped, and for smaller ones, where the clause is.
"""

from __future__ import annotations

from mlnlab.circuits.first_order.first_order_circuit import SizeCase
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Theory


def distinguish(theory: Theory) -> Fired | Refused:
    """Decide whether a subdomain has as many constants as a clause has variables there."""
    asked = {
        (clause.subdomains[v], clause.subdomains.count(clause.subdomains[v]))
        for clause in theory.clauses
        for v in clause.idle
        if clause.literals
    }
    if not asked:
        return Refused("Each variable of each clause is mentioned by a literal.")
    subdomain, minimum = max(asked)  # the largest number first: dropped there, it is no question any more
    matched = tuple(
        number
        for number, clause in enumerate(theory.clauses)
        if clause.subdomains.count(subdomain) >= minimum
        and any(clause.subdomains[v] == subdomain for v in clause.idle)
    )
    parts = Parts()
    large = parts.product(
        theory, [_without_idle(c, subdomain) if n in matched else c for n, c in enumerate(theory.clauses)], ()
    )
    small = parts.product(theory, [c for c in theory.clauses if c.subdomains.count(subdomain) < minimum], ())
    note = f"Subdomain {subdomain} may have fewer than {minimum} constants; then these clauses say nothing."
    return Fired(SizeCase(subdomain, minimum, large, small), parts.all(), matched, (), note)


def _without_idle(clause: Clause, subdomain: int) -> Clause:
    """Return a clause without the idle variables of a subdomain."""
    idle = {v for v in clause.idle if clause.subdomains[v] == subdomain}
    kept = [v for v in range(len(clause.subdomains)) if v not in idle]
    place = {old: new for new, old in enumerate(kept)}
    return Clause(
        tuple(clause.subdomains[v] for v in kept),
        tuple(
            literal._replace(arguments=tuple(place[v] for v in literal.arguments))
            for literal in clause.literals
        ),
    )


RULE = Rule(
    "enough elements", "a variable that no literal mentions",
    "conditional contradictions in Van den Broeck et al. 2011, section 4", distinguish,
)  # fmt: skip

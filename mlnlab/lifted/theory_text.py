"""Theories as text: clauses with the names of predicates, subdomains as letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.shattering import Symbol
    from mlnlab.lifted.theory import Clause, Theory

VARIABLES = "xyzuvwabcdefghijklmnopqrst"


def clause_text(clause: Clause, theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return a clause as text: its literals, then where its variables come from."""
    names = [VARIABLES[v] if v < len(VARIABLES) else f"x{v}" for v in range(len(clause.subdomains))]
    literals = [
        ("" if literal.positive else "!")
        + piece_text(literal.piece, [names[v] for v in literal.arguments], theory, symbols)
        for literal in clause.literals
    ]
    where = ", ".join(
        f"{name} in D{subdomain}" for name, subdomain in zip(names, clause.subdomains, strict=True)
    )
    return (" v ".join(literals) or "false") + (f"  for all {where}" if where else "")


def piece_text(number: int, arguments: Sequence[str], theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return a piece applied to names: its predicate, with pattern where that is not told by the names."""
    symbol = symbols[theory.pieces[number].symbol]
    left = list(arguments)
    if len(left) == len(symbol.variables):
        shown = [left[p] if isinstance(p, int) else p for p in symbol.pattern]
    else:  # some arguments are one constant that was taken out of its subdomain
        shown = [*left, *("·" for _ in range(len(symbol.pattern) - len(left)))]
    return f"{symbol.predicate}({', '.join(shown)})" if shown else symbol.predicate


def theory_text(theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return the clauses of a theory, separated by semicolons."""
    return "; ".join(clause_text(clause, theory, symbols) for clause in theory.clauses)

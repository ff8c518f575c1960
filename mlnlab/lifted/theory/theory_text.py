"""Theories as text: clauses with the names of predicates, subdomains by the names of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.lifted.theory.symbol_names import shown_predicate, subdomain_names, symbol_at
from mlnlab.logic.formulas.ground_atoms import formula_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.theory import Clause, Theory

VARIABLES = "xyzuvwabcdefghijklmnopqrst"


def clause_text(clause: Clause, theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return a clause as text: its literals, then where its variables come from."""
    literals, where = clause_parts(clause, theory, symbols)
    return (" v ".join(text for text, _ in literals) or "false") + where


def clause_parts(
    clause: Clause, theory: Theory, symbols: Sequence[Symbol]
) -> tuple[list[tuple[str, int]], str]:
    """Return the literals of a clause with their pieces, and where its variables come from."""
    names = [VARIABLES[v] if v < len(VARIABLES) else f"x{v}" for v in range(len(clause.subdomains))]
    literals = [
        (
            ("" if literal.positive else "!")
            + piece_text(literal.piece, [names[v] for v in literal.arguments], theory, symbols),
            literal.piece,
        )
        for literal in clause.literals
    ]
    return literals, _where(names, clause, subdomain_names(theory, symbols))


def _where(names: Sequence[str], clause: Clause, subdomains: Sequence[str]) -> str:
    """Return where variables come from, those of one subdomain together."""
    groups: dict[int, list[str]] = {}
    for name, subdomain in zip(names, clause.subdomains, strict=True):
        groups.setdefault(subdomain, []).append(name)
    where = [f"{', '.join(group)} in {subdomains[subdomain]}" for subdomain, group in groups.items()]
    return f"  for all {', '.join(where)}" if where else ""


def piece_text(number: int, arguments: Sequence[str], theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return a piece applied to names: its predicate, with pattern where that is not told by the names."""
    symbol = symbol_at(theory.pieces[number].symbol, symbols)
    left = list(arguments)
    if len(left) == len(symbol.variables):
        shown = [left[p] if isinstance(p, int) else formula_constant(p) for p in symbol.pattern]
    else:  # some arguments are one constant that was taken out of its subdomain
        shown = [*left, *("·" for _ in range(len(symbol.pattern) - len(left)))]
    predicate = shown_predicate(symbol.predicate)
    return f"{predicate}({', '.join(shown)})" if shown else predicate


def theory_text(theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return the clauses of a theory, separated by semicolons."""
    return "; ".join(clause_text(clause, theory, symbols) for clause in theory.clauses)

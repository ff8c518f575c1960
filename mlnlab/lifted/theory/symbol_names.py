"""Name the predicates that translation made, and the subdomains of a theory, for people to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order.first_order_circuit import SIGNED
from mlnlab.lifted.theory.shattering import Symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.theory.theory import Theory

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTERS = {"formula": "f", "exists": "Z", "skolem": "S"}  # Z and S as Van den Broeck et al. 2014 have them
SIGNED_SYMBOL = Symbol("both", ("",), (0,))  # of inclusion-exclusion constant by constant: true, it weighs -1
_MOST_PRIMES = 3
_SUBDOMAIN = re.compile(r"subdomain (\d+)")


def shown_predicate(name: str) -> str:
    """Return a predicate as it is read: ``f₁`` for the atom of the first formula, and so on."""
    kind, mark, number = name.partition("#")
    if not mark or not number.isdigit():
        return name
    return f"{_LETTERS.get(kind, kind)}{str(int(number) + 1).translate(SUBSCRIPTS)}"


def shown_symbol(symbol: Symbol) -> str:
    """Return a symbol as it is read, with its pattern of arguments."""
    return str(symbol._replace(predicate=shown_predicate(symbol.predicate)))


def symbol_at(number: int, symbols: Sequence[Symbol]) -> Symbol:
    """Return the symbol of a number, also of the atoms that rules make."""
    return SIGNED_SYMBOL if number == SIGNED else symbols[number]


def subdomain_names(theory: Theory, symbols: Sequence[Symbol]) -> tuple[str, ...]:
    """Return subdomains by their types: ``person``, and ``person′`` for the second of that type."""
    types: dict[int, str] = {}
    for piece in theory.pieces:
        if piece.symbol == SIGNED:  # over any type
            continue
        given = symbols[piece.symbol].variables
        if len(given) == len(piece.subdomains) or len(set(given)) == 1:
            types.update(zip(piece.subdomains, given, strict=False))
    counts: dict[str, int] = {}
    names = []
    for subdomain in range(theory.subdomains):
        type_ = types.get(subdomain, "D")
        before = counts.get(type_, 0)
        counts[type_] = before + 1
        primes = "′" * before if before <= _MOST_PRIMES else str(before).translate(SUBSCRIPTS)
        names.append(type_ + primes)
    return tuple(names)


def with_names(text: str, theory: Theory, symbols: Sequence[Symbol]) -> str:
    """Return a rule's words about a theory with the names of its subdomains for their numbers."""
    names = subdomain_names(theory, symbols)
    return _SUBDOMAIN.sub(
        lambda found: names[int(found[1])] if int(found[1]) < len(names) else found[0], text
    )

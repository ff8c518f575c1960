"""Domain recursion, second form: one constant is taken out of a subdomain, and the rest is asked again.

Kazemi, Kimmig, Van den Broeck and Poole, "New liftable classes for first-order probabilistic inference"
(NIPS 2016), section 3. Where what is left is the theory itself over one constant less, or a theory that was
met before, the circuit calls itself and the count stays polynomial: symmetric transitivity is such a theory.
Elsewhere this grounds what cannot be lifted, constant by constant, with equal remainders counted once.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.circuits.first_order.first_order_circuit import Call, Product, SizeCase
from mlnlab.circuits.first_order.sizes import fix_size, of_subdomain
from mlnlab.lifted.theory.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory


def take_one(theory: Theory) -> Fired | Refused:
    """Take one constant out of the subdomain over which most variables of clauses run."""
    if not theory.subdomains:
        return Refused("No variable is left.")
    subdomain = max(range(theory.subdomains), key=lambda b: (_variables(theory, b), -b))
    parts = Parts()
    large = Product((), (_without_one(theory, subdomain, parts),))
    small = Product((), (_without_subdomain(theory, {subdomain}, parts),))
    note = f"One constant of subdomain {subdomain} is told apart from the others."
    matched = tuple(n for n, clause in enumerate(theory.clauses) if subdomain in clause.subdomains)
    return Fired(SizeCase(subdomain, 1, large, small), parts.all(), matched, (), note)


def take_constant(theory: Theory, subdomain: int) -> Fired:
    """Take one constant out of a subdomain that has some."""
    parts = Parts()
    body = Product((), (_without_one(theory, subdomain, parts),))
    return Fired(
        body, parts.all(), (), (), f"One constant of subdomain {subdomain} is told apart from the others."
    )


def of_few_constants(theory: Theory, sizes: Sequence[int]) -> Fired | None:
    """Drop pieces and clauses whose subdomains have too few constants; ``None`` if all have enough.

    Arguments and variables of one subdomain are different constants. Where there are too few, a piece has
    no atoms, and a clause says nothing.
    """

    def fits(subdomains: Sequence[int]) -> bool:
        return all(subdomains.count(b) <= sizes[b] for b in set(subdomains))

    pieces = [number for number, piece in enumerate(theory.pieces) if fits(piece.subdomains)]
    clauses = [clause for clause in theory.clauses if fits(clause.subdomains)]
    if len(pieces) == len(theory.pieces) and len(clauses) == len(theory.clauses):
        return None
    parts = Parts()
    body = Product((), (parts.call(theory.subdomains, theory.pieces, clauses, pieces),))
    return Fired(
        body, parts.all(), (), (), "Some subdomains have too few constants for what is said of them."
    )


def _without_one(theory: Theory, subdomain: int, parts: Parts) -> Call:
    # A piece by the place at which the constant stands; None: all its arguments are in the rest.
    place: dict[tuple[int, int | None], int] = {}
    pieces: list[Piece] = []
    for number, piece in enumerate(theory.pieces):
        for at in (None, *(n for n, b in enumerate(piece.subdomains) if b == subdomain)):
            place[number, at] = len(pieces)
            pieces.append(Piece(piece.symbol, _without(piece.subdomains, at)))
    clauses = [
        _instance(clause, variable, place)
        for clause in theory.clauses
        for variable in (None, *(v for v, b in enumerate(clause.subdomains) if b == subdomain))
    ]
    sizes = [of_subdomain(b) for b in range(theory.subdomains)]
    sizes[subdomain] = sizes[subdomain].minus(fix_size(1))
    return parts.call(theory.subdomains, pieces, clauses, range(len(pieces)), sizes)


def _without_subdomain(theory: Theory, gone: set[int], parts: Parts) -> Call:
    left = [number for number, piece in enumerate(theory.pieces) if not gone & {*piece.subdomains}]
    clauses = [clause for clause in theory.clauses if not gone & {*clause.subdomains}]
    return parts.call(theory.subdomains, theory.pieces, clauses, left)


def _variables(theory: Theory, subdomain: int) -> int:
    return sum(clause.subdomains.count(subdomain) for clause in theory.clauses)


def _instance(clause: Clause, variable: int | None, place: dict[tuple[int, int | None], int]) -> Clause:
    """Return a clause where one variable is the constant, or none is."""
    shift = {v: v - (variable is not None and v > variable) for v in range(len(clause.subdomains))}
    literals = []
    for piece, arguments, positive in clause.literals:
        at = arguments.index(variable) if variable in arguments else None
        rest = tuple(shift[v] for v in _without(arguments, at))
        literals.append(Literal(place[piece, at], rest, positive))
    return Clause(_without(clause.subdomains, variable), tuple(literals))


def _without(values: tuple[int, ...], place: int | None) -> tuple[int, ...]:
    return values if place is None else (*values[:place], *values[place + 1 :])


RULE = Rule("domain recursion", "a subdomain", "Kazemi et al. 2016, section 3", take_one)

"""Domain recursion, second form: one constant is taken out of a block, and the rest is asked again.

Kazemi, Kimmig, van den Broeck and Poole, "New liftable classes for first-order probabilistic inference"
(NIPS 2016), section 3. Where what is left is the theory itself over one constant less, or a theory that was
met before, the circuit calls itself and the count stays polynomial: symmetric transitivity is such a theory.
Elsewhere this grounds what cannot be lifted, constant by constant, with equal remainders counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Product, SizeCase
from mlnlab.circuits.sizes import fixed, of_block
from mlnlab.lifted.rules.rule import Fired, Parts, Refused, Rule
from mlnlab.lifted.theory import Clause, Literal, Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.circuits.first_order import Call
    from mlnlab.lifted.theory import Theory


def take_one(theory: Theory) -> Fired | Refused:
    """Take one constant out of the block over which most variables of clauses run."""
    if not theory.blocks:
        return Refused("No variable is left.")
    block = max(range(theory.blocks), key=lambda b: (_variables(theory, b), -b))
    parts = Parts()
    large = Product((), (_without_one(theory, block, parts),))
    small = Product((), (_without_block(theory, {block}, parts),))
    note = f"One constant of block {block} is told apart from the others."
    matched = tuple(n for n, clause in enumerate(theory.clauses) if block in clause.blocks)
    return Fired(SizeCase(block, 1, large, small), parts.all(), matched, (), note)


def taken(theory: Theory, block: int) -> Fired:
    """Take one constant out of a block that has some."""
    parts = Parts()
    body = Product((), (_without_one(theory, block, parts),))
    return Fired(body, parts.all(), (), (), f"One constant of block {block} is told apart from the others.")


def empty_blocks(theory: Theory, empty: Sequence[bool]) -> Fired:
    """Drop blocks that have no constants, with all that is said of them."""
    parts = Parts()
    body = Product((), (_without_block(theory, {b for b, gone in enumerate(empty) if gone}, parts),))
    return Fired(body, parts.all(), (), (), "Some blocks have no constants.")


def _without_one(theory: Theory, block: int, parts: Parts) -> Call:
    # A piece by the place at which the constant stands; None: all its arguments are in the rest.
    place: dict[tuple[int, int | None], int] = {}
    pieces: list[Piece] = []
    for number, piece in enumerate(theory.pieces):
        for at in (None, *(n for n, b in enumerate(piece.blocks) if b == block)):
            place[number, at] = len(pieces)
            pieces.append(Piece(piece.symbol, _without(piece.blocks, at)))
    clauses = [
        _instance(clause, variable, place)
        for clause in theory.clauses
        for variable in (None, *(v for v, b in enumerate(clause.blocks) if b == block))
    ]
    sizes = [of_block(b) for b in range(theory.blocks)]
    sizes[block] = sizes[block].minus(fixed(1))
    return parts.call(theory.blocks, pieces, clauses, range(len(pieces)), sizes)


def _without_block(theory: Theory, gone: set[int], parts: Parts) -> Call:
    left = [number for number, piece in enumerate(theory.pieces) if not gone & {*piece.blocks}]
    clauses = [clause for clause in theory.clauses if not gone & {*clause.blocks}]
    return parts.call(theory.blocks, theory.pieces, clauses, left)


def _variables(theory: Theory, block: int) -> int:
    return sum(clause.blocks.count(block) for clause in theory.clauses)


def _instance(clause: Clause, variable: int | None, place: dict[tuple[int, int | None], int]) -> Clause:
    """Return a clause where one variable is the constant, or none is."""
    shift = {v: v - (variable is not None and v > variable) for v in range(len(clause.blocks))}
    literals = []
    for piece, arguments, positive in clause.literals:
        at = arguments.index(variable) if variable in arguments else None
        rest = tuple(shift[v] for v in _without(arguments, at))
        literals.append(Literal(place[piece, at], rest, positive))
    return Clause(_without(clause.blocks, variable), tuple(literals))


def _without(values: tuple[int, ...], place: int | None) -> tuple[int, ...]:
    return values if place is None else (*values[:place], *values[place + 1 :])


RULE = Rule("domain recursion", "a block", "Kazemi et al. 2016, section 3", take_one)

"""Define rules of compilation: from a theory to a node of the circuit and smaller theories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import Body, Call, Leaf, Product, Sign
from mlnlab.circuits.first_order.sizes import Size, of_subdomain, tuples_of
from mlnlab.lifted.theory.theory import Clause, Piece, Theory, compact_theory, pieces_in


class Part(NamedTuple):
    """A theory that is left to compile, with the sizes of its subdomains in terms of the theory before."""

    theory: Theory
    sizes: tuple[Size, ...]


class Fired(NamedTuple):
    """A rule that applies: its node, in which calls number ``parts``, and the clauses and pieces matched."""

    body: Body
    parts: tuple[Part, ...]
    clauses: tuple[int, ...]  # matched, of the theory
    pieces: tuple[int, ...]
    note: str  # what the rule does here, in words


class Refused(NamedTuple):
    """Why a rule does not apply."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its name: its requirement, its source, and the function that tries it."""

    name: str
    needs: str
    citation: str
    apply: Callable[[Theory], Fired | Refused]


def leaf(piece: Piece, sign: Sign) -> Leaf:
    """Return the leaf of all atoms of a piece."""
    return Leaf(piece.symbol, sign, tuples_of(piece.subdomains))


def impossible(clause: Clause) -> Leaf:
    """Return the leaf of a clause that nothing can satisfy: 0, unless its variables have no values."""
    return Leaf(-1, "impossible", tuples_of(clause.subdomains))


class Parts:
    """Collects the theories that a rule leaves; a mutable local of one call."""

    def __init__(self) -> None:
        self.made: list[Part] = []

    def call(
        self, subdomains: int, pieces: Sequence[Piece], clauses: Iterable[Clause], kept: Iterable[int],
        sizes: Sequence[Size] | None = None,
    ) -> Call:  # fmt: skip
        """Return a call of a theory of some pieces; ``sizes`` of subdomains where these are not the same."""
        theory, old = compact_theory(subdomains, pieces, clauses, kept)
        everything = [of_subdomain(b) for b in range(subdomains)] if sizes is None else sizes
        self.made.append(Part(theory, tuple(everything[b] for b in old)))
        return Call(len(self.made) - 1, ())

    def product(
        self, theory: Theory, clauses: Sequence[Clause], decided: Collection[int], leaves: Iterable[Leaf] = ()
    ) -> Product:
        """Return leaves and the rest of a theory when some of its pieces are decided.

        Clauses without literals become leaves; pieces that no clause mentions any more are free.
        """
        contradictions = [impossible(clause) for clause in clauses if not clause.literals]
        others = [clause for clause in clauses if clause.literals]
        used = pieces_in(others)
        free = [
            leaf(piece, "free")
            for number, piece in enumerate(theory.pieces)
            if number not in used and number not in decided
        ]
        calls = (self.call(theory.subdomains, theory.pieces, others, used),) if others else ()
        return Product((*leaves, *contradictions, *free), calls)

    def all(self) -> tuple[Part, ...]:
        """Return the theories in the order of the calls."""
        return tuple(self.made)

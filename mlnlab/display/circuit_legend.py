"""What the signs in the drawing of a circuit mean: a line for each that appears in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import (
    SIGNED,
    Body,
    Counting,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
    calls_of,
    products_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.lift import LiftedCircuit

_NODES: Mapping[type, str] = {
    Product: "∧: all of it holds (decomposable conjunction)",
    Sum: "∨: one of the cases holds, never two (deterministic disjunction)",
    Power: "∀ … times: once for each element, or each pair of them (set conjunction)",
    Counting: "Σ: sum over the subsets S of a subdomain, of k = |S| elements each (set disjunction)",
    InclusionExclusion: "+ + −: the one or the other, less both (inclusion-exclusion)",
    SizeCase: "n₀ ≥ 1 ?: by how many elements a subdomain has",
    Unfolded: "…: compiled when sizes are known",
}
_SIZES = "n₀, n₁, …: how many elements a definition's subdomains have; in brackets, what it is called with"
_FREE = "±P: true or false: both are counted"
_TIMES = "× n: for so many atoms"
_SHARED = "dashed: a definition that is called more than once"
_AGAIN = "↺ 0: definition 0 again, with fewer elements: recursion"
SIGNED_LINE = "both(x): takes away worlds that are counted twice: true, it weighs −1"
VALUES = "log v · used u×: the logarithm of its value, and how often a random world goes through it"
TALLIED = "v: of all worlds; u: in those alone that have the numbers of true atoms that are asked for"
ELSEWHERE = "no value by itself: what it stands for was grounded when sizes were known"
NEGATIVE = "u below 0: it takes away worlds that are counted elsewhere, by weights of −1"
PRIMES = "D′, D″: further parts of the same type D, such as those that are in an S above"
UNKNOWN = "?: not compiled yet"


def sign_lines(bodies: Sequence[Body | None], *, recursive: bool) -> tuple[str, ...]:
    """Return what the signs in the drawing of some definitions mean, each that appears.

    ``recursive``: whether a call leads back to what is drawn above.
    """
    known = [body for body in bodies if body is not None]
    found = [words for kind, words in _NODES.items() if any(isinstance(body, kind) for body in known)]
    if any(body is None for body in bodies):
        found.append(UNKNOWN)
    leaves = [leaf for body in known for product in products_of(body) for leaf in product.leaves]
    if any(leaf.sign == "free" for leaf in leaves):
        found.append(_FREE)
    if any(leaf.times.falling for leaf in leaves):
        found.append(_TIMES)
    if any(call.sizes for body in known for call in calls_of(body)):
        found.append(_SIZES)
    targets = [call.definition for body in known for call in calls_of(body)]
    if len(targets) > len(set(targets)):
        found.append(_SHARED)
    if recursive:
        found.append(_AGAIN)
    return (*found, *signed_line(known))


def value_lines(circuit: LiftedCircuit) -> tuple[str, ...]:
    """Return what the numbers in the boxes of a circuit mean, and what stands where there are none."""
    signed = circuit.circuit.is_signed or any(w < 0 for pair in circuit.weighted.factors for w in pair)
    unfinished = not circuit.circuit.is_complete
    tallied = bool(circuit.weighted.tallies)
    return (VALUES, *(TALLIED,) * tallied, *(NEGATIVE,) * signed, *(ELSEWHERE,) * unfinished)


def signed_line(bodies: Sequence[Body | None]) -> tuple[str, ...]:
    """Return what the atom means that inclusion-exclusion constant by constant makes, where it appears."""
    signed = any(
        leaf.symbol == SIGNED
        for body in bodies
        for product in (() if body is None else products_of(body))
        for leaf in product.leaves
    )
    return (SIGNED_LINE,) if signed else ()

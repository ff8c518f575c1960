"""Explain the signs in the drawing of a circuit, in a line for each that appears."""

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
from mlnlab.lifted.theory.symbol_names import shown_predicate
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

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
_TIMES = "× n: for n atoms"
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
    """Return a line for the meaning of each sign in the drawing of some definitions.

    ``recursive``: whether a call leads back to a definition above.
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
    """Return the meanings of the numbers in a circuit's boxes, and of the words where numbers are missing."""
    signed = circuit.circuit.is_signed or any(w < 0 for pair in circuit.weighted.factors for w in pair)
    unfinished = not circuit.circuit.is_complete
    tallied = bool(circuit.weighted.tallies)
    return (VALUES, *(TALLIED,) * tallied, *(NEGATIVE,) * signed, *(ELSEWHERE,) * unfinished)


def signed_line(bodies: Sequence[Body | None]) -> tuple[str, ...]:
    """Return the meaning of the atom made by inclusion-exclusion constant by constant, where it appears."""
    signed = any(
        leaf.symbol == SIGNED
        for body in bodies
        for product in (() if body is None else products_of(body))
        for leaf in product.leaves
    )
    return (SIGNED_LINE,) if signed else ()


def legend_lines(weighted: WeightedTheory) -> tuple[str, ...]:
    """Return the legend as lines: formulas by their names, others in words."""
    formulas = {str(one.formula) for one in weighted.mln.formulas}
    return tuple(
        f"{name}  ⇔  {words}" if words in formulas else f"{name}  {words}" for name, words in legend(weighted)
    )


def legend(weighted: WeightedTheory) -> tuple[tuple[str, str], ...]:
    """Return the meaning of each predicate that translation made."""
    found = []
    for name in dict.fromkeys(symbol.predicate for symbol in weighted.shattered.symbols):
        kind, mark, number = name.partition("#")
        if not mark:
            continue
        shown = shown_predicate(name)
        if kind == "formula":
            formula = weighted.mln.formulas[int(number)].formula
            variables = ", ".join(variable.name for variable in free_variables(formula))
            found.append((f"{shown}({variables})" if variables else shown, f"{formula}"))
        elif kind == "skolem":
            found.append((shown, "makes worlds cancel in which Z holds without reason: true, it weighs −1"))
        elif kind == "exists":
            found.append((shown, "stands for a part with EXIST"))
        else:
            found.append((shown, "stands for a part that counts"))
    return tuple(found)

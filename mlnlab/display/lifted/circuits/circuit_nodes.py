"""Describe the nodes of a first-order circuit in words, join conjunctions, and explain the signs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import (
    SIGNED,
    Body,
    Call,
    Counting,
    InclusionExclusion,
    Leaf,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
    calls_of,
    products_of,
)
from mlnlab.circuits.first_order.sizes import Count, Size
from mlnlab.lifted.theory.symbol_names import SUBSCRIPTS, shown_predicate, shown_symbol, symbol_at
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

ROOT = 0
_NUMBERED = re.compile(r"n[0-9]+")
_SIGNS = {"true": "", "false": "¬", "free": "±"}
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


class NodeWords(NamedTuple):
    """A node: its sign, the atoms that its products settle, and the words on the edge to each call."""

    sign: str
    name: str  # of the kind of node, as the papers have it
    atoms: tuple[str, ...]
    edges: tuple[str, ...]  # one for each call, in their order


def node_words(body: Body, symbols: Sequence[Symbol]) -> NodeWords:
    """Return a node in words."""
    match body:
        case Product(leaves, calls):
            return NodeWords("∧", "conjunction", atoms_of(leaves, symbols), _sizes_of(calls))
        case Sum(terms):
            atoms = [" ∧ ".join(atoms_of(term.leaves, symbols)) for term in terms]
            edges = [
                f"{_first(atom)}{words}"
                for term, atom in zip(terms, atoms, strict=True)
                for words in _sizes_of(term.calls)
            ]
            return NodeWords("∨", "deterministic disjunction", tuple(filter(None, atoms)), tuple(edges))
        case Power(call, times):
            return NodeWords(f"∀ {count_words(times)} times", "set conjunction", (), _sizes_of((call,)))
        case Counting(subdomain, call):
            name = f"Σ over k of {subdomain_name(subdomain)}"
            return NodeWords(name, "set disjunction", (), _sizes_of((call,)))
        case InclusionExclusion(first, second, both):
            parts = [(sign, words) for sign, part in (("+", first), ("+", second), ("−", both))
                     for words in _sizes_of(part.calls)]  # fmt: skip
            atoms = [atom for part in (first, second) for atom in atoms_of(part.leaves, symbols)]
            return NodeWords(
                "+ + −", "inclusion-exclusion", tuple(atoms), tuple(f"{s} {w}" for s, w in parts)
            )
        case SizeCase(subdomain, minimum, large, small):
            asked = f"{subdomain_name(subdomain)} ≥ {minimum} ?"
            edges = [f"yes{w}" for w in _sizes_of(large.calls)] + [f"no{w}" for w in _sizes_of(small.calls)]
            return NodeWords(asked, "case by size", atoms_of(large.leaves, symbols), tuple(edges))
        case Unfolded():
            return NodeWords("…", "compiled when sizes are known", (), ())


def atoms_of(leaves: Sequence[Leaf], symbols: Sequence[Symbol]) -> tuple[str, ...]:
    """Return leaves in words: the atom with its sign, and how many there are of it."""
    return tuple(
        "false unless there are none" if leaf.sign == "impossible"
        else f"{_SIGNS[leaf.sign]}{shown_symbol(symbol_at(leaf.symbol, symbols))}{_times(leaf.times)}"
        for leaf in leaves
    )  # fmt: skip


def subdomain_name(subdomain: int) -> str:
    """Return the name of the size of a definition's subdomain: n₀, n₁, ..."""
    return f"n{subdomain}".translate(SUBSCRIPTS)


def size_words(size: Size) -> str:
    """Return a size in words, such as n₀−k."""
    return _write_subscripts(str(size))


def count_words(times: Count) -> str:
    """Return a number of atoms in words, such as n₀ · n₁."""
    return _write_subscripts(str(times))


def _write_subscripts(text: str) -> str:
    """Return a size as it is read: n0-1 becomes n₀−1."""
    return _NUMBERED.sub(lambda found: found[0].translate(SUBSCRIPTS), text.replace("-", "−"))


def _times(times: Count) -> str:
    return f"  × {count_words(times)}" if times.falling else ""


def _sizes_of(calls: Sequence[Call]) -> tuple[str, ...]:
    """Return for each call which sizes its subdomains have, where these are not just those of the caller."""
    return tuple("" if _is_plain(call) else f" ({', '.join(map(size_words, call.sizes))})" for call in calls)


def _is_plain(call: Call) -> bool:
    return all(size.terms == ((n, 1),) and not size.constant for n, size in enumerate(call.sizes))


def numbers_words(numbers: Sequence[int]) -> str:
    """Return the numbers of definitions in one box."""
    return ", ".join(map(str, numbers[:3])) + (" …" if len(numbers) > 3 else "")


def again_words(number: int) -> str:
    """Return the words of a call of a definition that is drawn above."""
    return f"↺ {number}"


def _first(text: str) -> str:
    return text.split(" ∧ ", maxsplit=1)[0][:18]


# --- joined conjunctions --------------------------------------------------------------------------


class Joined(NamedTuple):
    """The definitions in one box: their numbers, the first one naming it, and their joint body."""

    numbers: tuple[int, ...]
    body: Body | None


def joined_bodies(bodies: Mapping[int, Body | None], apart: Collection[int] = ()) -> dict[int, Joined]:
    """Return bodies as they are drawn; definitions ``apart`` have boxes of their own."""
    callers: dict[int, int] = {}
    for body in bodies.values():
        for call in () if body is None else calls_of(body):
            callers[call.definition] = callers.get(call.definition, 0) + 1
    into = {
        number: body.calls[0].definition
        for number, body in bodies.items()
        if isinstance(body, Product) and len(body.calls) == 1 and number not in apart
    }
    into = {
        number: inner
        for number, inner in into.items()
        if isinstance(bodies[inner], Product) and callers[inner] == 1 and inner not in apart and inner
    }
    inside = set(into.values())
    return {number: _join_products(number, bodies, into) for number in bodies if number not in inside}


def _join_products(number: int, bodies: Mapping[int, Body | None], into: Mapping[int, int]) -> Joined:
    numbers, body = [number], bodies[number]
    while numbers[-1] in into and isinstance(body, Product):
        inner = bodies[into[numbers[-1]]]
        assert isinstance(inner, Product)  # noqa: S101 - so they were chosen
        sizes = body.calls[0].sizes
        leaves = (*body.leaves, *(_within(leaf, sizes) for leaf in inner.leaves))
        body = Product(leaves, tuple(_call_within(call, sizes) for call in inner.calls))
        numbers.append(into[numbers[-1]])
    return Joined(tuple(numbers), body)


def _within(leaf: Leaf, sizes: tuple[Size, ...]) -> Leaf:
    times = Count(tuple((size.within(sizes), m) for size, m in leaf.times.falling), leaf.times.divided)
    return leaf._replace(times=times)


def _call_within(call: Call, sizes: tuple[Size, ...]) -> Call:
    return Call(call.definition, tuple(size.within(sizes) for size in call.sizes))


def box_depths(joined: Mapping[int, Joined], folded: Collection[int] = ()) -> dict[int, int]:
    """Return the depth of each box: below all its callers, except those that call back to a box above."""
    order: list[int] = []
    ended: set[int] = set()
    stack = [(ROOT, False)]
    began: set[int] = set()
    backward: set[tuple[int, int]] = set()
    while stack:
        number, leaving = stack.pop()
        if leaving:
            ended.add(number)
            order.append(number)
            continue
        if number in began:
            continue
        began.add(number)
        stack.append((number, True))
        for target in called_from(joined, number, folded):
            if target in began and target not in ended:
                backward.add((number, target))
            elif target not in began:
                stack.append((target, False))
    depth = {ROOT: 0}
    for number in reversed(order):
        for target in called_from(joined, number, folded):
            if (number, target) not in backward:
                depth[target] = max(depth.get(target, 0), depth[number] + 1)
    return depth


def called_from(joined: Mapping[int, Joined], number: int, folded: Collection[int] = ()) -> list[int]:
    """Return the boxes that a box calls; none of a folded one, or of one that is not compiled yet."""
    body = joined[number].body
    if number in folded or body is None:
        return []
    return list(dict.fromkeys(call.definition for call in calls_of(body)))


# --- legend ---------------------------------------------------------------------------------------


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

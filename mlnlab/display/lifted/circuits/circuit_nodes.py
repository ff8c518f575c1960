"""Describe the nodes of a first-order circuit in words: the work of each, and the atoms that it settles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order import (
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
)
from mlnlab.lifted.theory.symbol_names import SUBSCRIPTS, shown_symbol, symbol_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.circuits.sizes import Count, Size
    from mlnlab.lifted.theory.shattering import Symbol

_NUMBERED = re.compile(r"n[0-9]+")
_SIGNS = {"true": "", "false": "¬", "free": "±"}


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


def _first(text: str) -> str:
    return text.split(" ∧ ", maxsplit=1)[0][:18]

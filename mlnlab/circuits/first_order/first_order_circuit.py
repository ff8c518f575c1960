"""Define first-order circuits: a model's count as functions of the sizes of its subdomains.

First-order d-DNNF (Van den Broeck et al., IJCAI 2011).
A circuit is a list of definitions. Each is a function of the sizes of some
subdomains, and its body is one node: a product of leaves and of other definitions (decomposable: no two
share an atom), a sum of exclusive cases (deterministic), a power (set conjunction: one case for each
element, or for each set of elements), a counting node (a sum over the subsets of a subdomain),
inclusion-exclusion, or a case distinction by a size. Products name every atom of their definition once
(smooth), so values need no corrections. A definition may call itself with a smaller subdomain: domain
recursion. Equal sub-theories are one definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.circuits.first_order.sizes import Count, Size

Sign = Literal["true", "false", "free", "impossible"]
SIGNED = -2  # the symbol of atoms that rules make: each weighs -1 where it is true, and 1 where it is false


class Leaf(NamedTuple):
    """Atoms of one symbol: all true, all false, or each either. Impossible: 0 unless there are none."""

    symbol: int  # -1 where impossible; SIGNED
    sign: Sign
    times: Count


class Call(NamedTuple):
    """The value of a definition for some sizes of its subdomains."""

    definition: int
    sizes: tuple[Size, ...]


class Product(NamedTuple):
    """Decomposable conjunction: its parts have no atom in common."""

    leaves: tuple[Leaf, ...] = ()
    calls: tuple[Call, ...] = ()


class Sum(NamedTuple):
    """Deterministic disjunction: no world belongs to two of its terms."""

    terms: tuple[Product, ...]


class InclusionExclusion(NamedTuple):
    """``first + second - both``: worlds of a disjunction whose two parts have no variable in common."""

    first: Product
    second: Product
    both: Product


class Power(NamedTuple):
    """Set conjunction: the call's value, once for each element of a subdomain, or for each set of them."""

    call: Call
    times: Count


class Counting(NamedTuple):
    """``sum over k of C(n, k) · call(k)``: the subset of a subdomain for which an atom is true."""

    subdomain: int
    call: Call


class SizeCase(NamedTuple):
    """``large`` where a subdomain has at least ``minimum`` elements, else ``small``."""

    subdomain: int
    minimum: int
    large: Product
    small: Product


class Unfolded(NamedTuple):
    """A definition that is compiled when its value is asked for: the theory behind it is ``key``."""

    key: object


Body = Product | Sum | InclusionExclusion | Power | Counting | SizeCase | Unfolded


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of the sizes of ``subdomains`` subdomains."""

    subdomains: int
    body: Body


@dataclass(frozen=True, slots=True)
class FirstOrderCircuit:
    """Definitions, the last of which to be asked for is ``root``."""

    definitions: tuple[Definition, ...]
    root: int = 0

    def body(self, number: int, sizes: Sequence[int] = ()) -> Body:  # noqa: ARG002 - as what unfolds has it
        """Return the body of a definition; it is the same for all sizes."""
        return self.definitions[number].body

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be compiled for the sizes that are asked for."""
        return not any(isinstance(definition.body, Unfolded) for definition in self.definitions)

    @property
    def is_signed(self) -> bool:
        """Whether atoms that rules made weigh -1, so that values cancel."""
        return any(
            leaf.symbol == SIGNED
            for definition in self.definitions
            for product in products_of(definition.body)
            for leaf in product.leaves
        )

    def __len__(self) -> int:
        return len(self.definitions)

    def nesting(self) -> int:
        """Return the number of counting nodes below each other: evaluation costs n to that power."""
        return _nesting(self, self.root, {})

    def recursive(self) -> frozenset[int]:
        """Return the definitions that call themselves, directly or through others."""
        return frozenset(number for component in _cycles(self) for number in component)


def products_of(body: Body) -> tuple[Product, ...]:
    """Return the products that a body is made of."""
    match body:
        case Product():
            return (body,)
        case Sum(terms):
            return terms
        case InclusionExclusion(first, second, both):
            return (first, second, both)
        case SizeCase(_, _, large, small):
            return (large, small)
        case _:
            return ()


def calls_of(body: Body) -> Iterator[Call]:
    """Yield the calls of a body."""
    if isinstance(body, Power | Counting):
        yield body.call
    for product in products_of(body):
        yield from product.calls


def _nesting(circuit: FirstOrderCircuit, number: int, known: dict[int, int]) -> int:
    """Return the depth of counting below a definition; a definition that calls itself is visited once."""
    if number not in known:
        known[number] = 0
        body = circuit.definitions[number].body
        below = max((_nesting(circuit, call.definition, known) for call in calls_of(body)), default=0)
        known[number] = below + isinstance(body, Counting)
    return known[number]


def _cycles(circuit: FirstOrderCircuit) -> list[frozenset[int]]:
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    for number, definition in enumerate(circuit.definitions):
        graph.add_edges_from((number, call.definition) for call in calls_of(definition.body))
    return [
        frozenset(part)
        for part in nx.strongly_connected_components(graph)
        if len(part) > 1 or graph.has_edge(*(2 * tuple(part)))
    ]

"""Whether the evaluation of a circuit ends: definitions that call themselves must do so with fewer elements.

Domain recursion takes one element out where there is one (a case by size), and nothing on the way back adds
any. A circuit that was compiled is so; one that was read must be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Counting, SizeCase, calls_of
from mlnlab.circuits.sizes import CHOSEN, Size
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.circuits.first_order import Body, Call, FirstOrderCircuit


def refuse_endless(circuit: FirstOrderCircuit) -> None:
    """Refuse a circuit in which a definition may call itself for ever, or with more elements."""
    import networkx as nx

    recursive = circuit.recursive()
    endless: nx.DiGraph[int] = nx.DiGraph()
    for number in recursive:
        body = circuit.definitions[number].body
        for call, decreases in _inner_calls(body):
            if call.definition not in recursive:
                continue
            if not _adds_nothing(body, call):
                raise ArgumentError(
                    f"This is no circuit: definition {number} calls itself, in the end, with more elements."
                )
            if not decreases:
                endless.add_edge(number, call.definition)
    if not nx.is_directed_acyclic_graph(endless):
        raise ArgumentError("This is no circuit: a definition calls itself with no fewer elements.")


def _inner_calls(body: Body) -> Iterator[tuple[Call, bool]]:
    """Yield calls, and whether there are fewer elements in them: one less, where there is one."""
    if not isinstance(body, SizeCase):
        yield from ((call, False) for call in calls_of(body))
        return
    taken = Size(((body.subdomain, 1),), -1)
    for call in body.large.calls:
        yield call, taken in call.sizes
    for call in body.small.calls:
        yield call, False


def _adds_nothing(body: Body, call: Call) -> bool:
    """Tell whether a call has no more elements in all than its caller has: none is handed on twice."""
    if any(size.constant > 0 for size in call.sizes):
        return False
    total: dict[int, int] = {}
    for size in call.sizes:
        for subdomain, times in size.terms:
            total[subdomain] = total.get(subdomain, 0) + times
    chosen = total.pop(CHOSEN, 0)
    if isinstance(body, Counting) and chosen > 0:
        total[body.subdomain] = total.get(body.subdomain, 0) + chosen
    return all(times <= 1 for times in total.values()) and _is_natural(body, call)


def _is_natural(body: Body, call: Call) -> bool:
    """Tell whether sizes are parts of what there is: n, k, n - k, or n - 1 where there is one."""
    allowed = {Size(((CHOSEN, 1),)), Size(())}
    if isinstance(body, Counting):
        allowed.add(Size(tuple(sorted(((body.subdomain, 1), (CHOSEN, -1))))))
    if isinstance(body, SizeCase):
        allowed.add(Size(((body.subdomain, 1),), -1))
    return all(
        size in allowed or (len(size.terms) == 1 and size.terms[0][1] == 1 and not size.constant)
        for size in call.sizes
    )

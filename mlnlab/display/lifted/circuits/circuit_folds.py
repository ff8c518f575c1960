"""Which definitions of a circuit are drawn, and how deep: below all that call them, unless folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import calls_of
from mlnlab.display.lifted.circuits.circuit_joined import joined_bodies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.display.lifted.circuits.circuit_joined import Joined
    from mlnlab.lifted.ask.lift import LiftedCircuit

FIRST_SHOWN = 30  # drawn before anything is unfolded
_ROOT = 0


def below(circuit: LiftedCircuit, number: int) -> frozenset[int]:
    """Return the definitions that a definition calls, directly or through others."""
    seen: set[int] = set()
    waiting = [number]
    while waiting:
        for call in calls_of(circuit.definitions[waiting.pop()].body):
            if call.definition not in seen:
                seen.add(call.definition)
                waiting.append(call.definition)
    return frozenset(seen)


def joined_when(circuit: LiftedCircuit, folded: frozenset[int], *, leaves: bool) -> dict[int, Joined]:
    """Join the definitions of each box: conjunctions in a row, unless folded or leaves are drawn."""
    bodies = {one.number: one.body for one in circuit.definitions}
    return joined_bodies(bodies, range(len(bodies)) if leaves else folded)


def drawn_depths(
    circuit: LiftedCircuit, folded: frozenset[int], joined: Mapping[int, Joined] | None = None
) -> dict[int, int]:
    """Return the depth of each box: below all its callers, except those that call back to a box above.

    Without ``joined``, every definition has a box of its own.
    """
    boxes = joined_when(circuit, folded, leaves=True) if joined is None else joined
    order: list[int] = []
    ended: set[int] = set()
    stack = [(_ROOT, False)]
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
        for target in _targets(boxes, number, folded):
            if target in began and target not in ended:
                backward.add((number, target))
            elif target not in began:
                stack.append((target, False))
    depth = {_ROOT: 0}
    for number in reversed(order):
        for target in _targets(boxes, number, folded):
            if (number, target) not in backward:
                depth[target] = max(depth.get(target, 0), depth[number] + 1)
    return depth


def _targets(joined: Mapping[int, Joined], number: int, folded: frozenset[int]) -> list[int]:
    body = joined[number].body
    if number in folded or body is None:
        return []
    return list(dict.fromkeys(call.definition for call in calls_of(body)))


def choose_folded_definitions(circuit: LiftedCircuit, most: int = FIRST_SHOWN) -> frozenset[int]:
    """Return the definitions folded at first, so that at most ``most`` are drawn."""
    seen, waiting, folded = {_ROOT}, [_ROOT], set()
    boxes = joined_when(circuit, frozenset(), leaves=True)
    for number in waiting:
        new = [t for t in _targets(boxes, number, frozenset()) if t not in seen]
        if len(seen) + len(new) > most:
            folded.add(number)
            continue
        seen.update(new)
        waiting += new
    return frozenset(folded)

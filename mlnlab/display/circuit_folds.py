"""Which definitions of a circuit are drawn, and how deep: below all that call them, unless folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import calls_of

if TYPE_CHECKING:
    from mlnlab.lifted.lift import LiftedCircuit

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


def drawn_depths(circuit: LiftedCircuit, folded: frozenset[int]) -> dict[int, int]:
    """Return how deep each definition is drawn: below all that call it, but for calls of what is above."""
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
        for target in _targets(circuit, number, folded):
            if target in began and target not in ended:
                backward.add((number, target))
            elif target not in began:
                stack.append((target, False))
    depth = {_ROOT: 0}
    for number in reversed(order):
        for target in _targets(circuit, number, folded):
            if (number, target) not in backward:
                depth[target] = max(depth.get(target, 0), depth[number] + 1)
    return depth


def _targets(circuit: LiftedCircuit, number: int, folded: frozenset[int]) -> list[int]:
    if number in folded:
        return []
    return list(dict.fromkeys(call.definition for call in calls_of(circuit.definitions[number].body)))


def first_folded(circuit: LiftedCircuit, most: int = FIRST_SHOWN) -> frozenset[int]:
    """Return which definitions are folded at first, so that no more than so many are drawn."""
    seen, waiting, folded = {_ROOT}, [_ROOT], set()
    for number in waiting:
        new = [t for t in _targets(circuit, number, frozenset()) if t not in seen]
        if len(seen) + len(new) > most:
            folded.add(number)
            continue
        seen.update(new)
        waiting += new
    return frozenset(folded)

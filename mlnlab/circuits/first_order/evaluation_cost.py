"""How many numbers an evaluation will take, before it is begun: for views that must answer within a frame."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlnlab.circuits.first_order.first_order_circuit import Counting, FirstOrderCircuit, calls_of
from mlnlab.circuits.first_order.fold import Bodies, Key, list_needed_values
from mlnlab.circuits.first_order.sizes import Size, of_subdomain


def predicted_numbers(circuit: FirstOrderCircuit, sizes: Sequence[int]) -> int:
    """Return how many numbers a pass in logarithms holds: n + 1 for each counting node above a definition."""
    walk = _Walk(circuit, [(size, size) for size in sizes])
    walk.definition(tuple(map(of_subdomain, range(len(sizes)))), circuit.root, 1)
    return walk.numbers


class _Walk:
    """Goes through a circuit without values; a mutable local of one prediction."""

    def __init__(self, circuit: FirstOrderCircuit, ranges: list[tuple[int, int]]) -> None:
        self.circuit, self.ranges, self.numbers = circuit, ranges, 0
        self.seen: set[tuple[int, tuple[Size, ...]]] = set()
        self.lengths: dict[int, int] = {}  # of the axes of chosen sizes, by their variables
        self.chosen: dict[tuple[int, int], int] = {}

    def definition(self, sizes: tuple[Size, ...], number: int, depth: int) -> None:
        if (number, sizes) in self.seen:
            return
        self.seen.add((number, sizes))
        axes = {variable for size in sizes for variable, _ in size.terms if variable in self.lengths}
        body = self.circuit.definitions[number].body
        parts = 1 + sum(1 for _ in calls_of(body))
        self.numbers += parts * prod(self.lengths[axis] for axis in axes)
        chosen = None
        if isinstance(body, Counting):
            chosen = of_subdomain(self._axis(depth, self._largest(sizes[body.subdomain])))
            depth += 1
        for call in calls_of(body):
            self.definition(tuple(size.within(sizes, chosen) for size in call.sizes), call.definition, depth)

    def _axis(self, depth: int, elements: int) -> int:
        if (depth, elements) not in self.chosen:
            self.chosen[depth, elements] = len(self.ranges)
            self.lengths[len(self.ranges)] = elements + 1
            self.ranges.append((0, elements))
        return self.chosen[depth, elements]

    def _largest(self, size: Size) -> int:
        ends = (times * self.ranges[variable][times > 0] for variable, times in size.terms)
        return max(size.constant + sum(ends), 0)


def count_needed_values(bodies: Bodies, sizes: Sequence[int], most: int) -> int:
    """Return how many values a fold takes, or more than ``most`` where it stops to count."""
    waiting: list[Key] = [(bodies.root, tuple(sizes))]
    seen: set[Key] = set(waiting)
    while waiting and len(seen) <= most:
        key = waiting.pop()
        body = bodies.body(*key)
        if isinstance(body, Counting) and key[1][body.subdomain] > most:
            return most + 1  # more than could be listed
        new = [child for child in list_needed_values(body, key[1]) if child not in seen]
        seen.update(new)
        waiting += dict.fromkeys(new)
    return len(seen)

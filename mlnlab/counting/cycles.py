"""Which cyclic conjunctions of binary atoms are counted without intermediate tables, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts import Facts, degrees
from mlnlab.counting.nodes import Cycle, Node, Run, Scan, Triangle
from mlnlab.counting.tables import MOST_DENSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_BITS = 1 << 31  # of one table as bits: 256 MB
_STEP_OF_BITS = 0.35  # the time of one word of 64 bits, as a share of that of one neighbour

Instruction = tuple[int, int, int, int, int]


def cyclic_part(
    live: Sequence[Node], sizes: Mapping[int, int], kept: frozenset[int], facts: Facts
) -> tuple[Node, tuple[Node, ...]] | None:
    """Return a node that counts the cyclic part of the live tables, and what of them it uses up."""
    for variables in _components(live):
        if variables & kept or len(variables) < 3:
            continue
        inside = [node for node in live if variables & set(node.variables)]
        tables = [node for node in inside if len(node.variables) > 1]
        vectors = tuple(node for node in inside if len(node.variables) == 1)
        if not all(_is_plain(node) for node in tables) or max(sizes[v] for v in variables) > MOST_DENSE:
            continue
        options = [_triangle(tables, vectors, sizes), _conditioned(tables, vectors, sizes, facts)]
        found = [option for option in options if option is not None]
        if found:
            return min(found, key=lambda node: node.estimate), tuple(inside)
    return None


def _is_plain(node: Node) -> bool:
    return len(node.variables) == 2 and not node.weighted


def _components(live: Sequence[Node]) -> list[set[int]]:
    groups: list[set[int]] = []
    for node in live:
        touching = [group for group in groups if group & set(node.variables)]
        groups = [group for group in groups if group not in touching]
        groups.append(set(node.variables).union(*touching))
    return groups


def _triangle(tables: Sequence[Node], vectors: tuple[Node, ...], sizes: Mapping[int, int]) -> Triangle | None:
    """Return the plan by bits, driven by the sparsest table, where three tables form a triangle."""
    if len(tables) != 3 or len({v for node in tables for v in node.variables}) != 3:
        return None
    for driver in sorted(tables, key=lambda node: node.estimate):
        first, last = driver.variables
        left = next(node for node in tables if node is not driver and first in node.variables)
        right = next(node for node in tables if node is not driver and last in node.variables)
        middle = next(v for v in left.variables if v != first)
        words = (sizes[middle] + 63) // 64
        in_reach = max(sizes[first], sizes[last]) * words * 64 <= MOST_BITS
        if in_reach and not any(middle in node.variables for node in vectors):
            built = (sizes[first] + sizes[last]) * words / 8  # zeros to be written first
            cost = _STEP_OF_BITS * driver.estimate * words + built
            return Triangle(driver, left, right, middle, vectors, sizes, cost)
    return None


def _conditioned(
    tables: Sequence[Node], vectors: tuple[Node, ...], sizes: Mapping[int, int], facts: Facts
) -> Cycle | None:
    """Return the cheapest plan that conditions on one variable; none where no tree would be left."""
    from mlnlab.kernels.counting_cycles import MOST_EDGES, MOST_VARIABLES

    variables = sorted({v for node in tables for v in node.variables})
    if len(tables) > MOST_EDGES or len(variables) > MOST_VARIABLES + 1:
        return None
    fan_out = _FanOut(facts, sizes)
    best: Cycle | None = None
    for pivot in variables:
        rest = [node for node in tables if pivot not in node.variables]
        if not _is_tree([v for v in variables if v != pivot], rest):
            continue
        for root in variables:
            if root == pivot:
                continue
            cycle = _program(tables, vectors, sizes, pivot, root, fan_out)
            if best is None or cycle.estimate < best.estimate:
                best = cycle
    return best


def _is_tree(variables: Sequence[int], tables: Sequence[Node]) -> bool:
    return len(tables) == len(variables) - 1 and len(_components(tables)) == 1


class _FanOut:
    """How many neighbours the constants of a table's column have, on average."""

    def __init__(self, facts: Facts, sizes: Mapping[int, int]) -> None:
        self.run, self.sizes = Run(facts), sizes
        self.known: dict[tuple[int, int], float] = {}

    def of(self, node: Node, variable: int, arrived: Node | None) -> float:
        """Return the mean number of rows per constant, weighted by how often the arriving table has it."""
        key = (id(node), id(arrived))
        if key not in self.known:
            self.known[key] = self._measured(node, variable, arrived)
        return self.known[key]

    def _measured(self, node: Node, variable: int, arrived: Node | None) -> float:
        size = self.sizes[variable]
        if not (isinstance(node, Scan) and isinstance(arrived, Scan)) or isinstance(node.source, int) or (
            isinstance(arrived.source, int)
        ):  # fmt: skip
            return max(node.estimate / size, 1e-3)
        out, into = (
            degrees(scan.rows(self.run), scan.variables.index(variable), size) for scan in (node, arrived)
        )
        return float(out @ into) / max(1, int(into.sum()))


def _program(
    tables: Sequence[Node], vectors: tuple[Node, ...], sizes: Mapping[int, int], pivot: int, root: int,
    fan_out: _FanOut,
) -> Cycle:  # fmt: skip
    """Write down the messages towards the root for one pivot, and what they are estimated to cost."""
    others = [v for v in sorted({v for node in tables for v in node.variables}) if v != pivot]
    builder = _Builder(tables, vectors, {v: place for place, v in enumerate(others)}, pivot, sizes, fan_out)
    builder.gather(root, None)
    kind, _, edge, source, to = builder.instructions[-1]
    builder.instructions[-1] = (kind, 2, edge, source, to)  # the last arrival adds up
    return Cycle(
        pivot, np.array(builder.instructions, np.int64), tuple(builder.edges), vectors,
        {**builder.places}, sizes, builder.cost * sizes[pivot],
    )  # fmt: skip


class _Builder:
    """Collects instructions, edges and costs while the tree is walked from the root."""

    def __init__(
        self, tables: Sequence[Node], vectors: tuple[Node, ...], places: dict[int, int], pivot: int,
        sizes: Mapping[int, int], fan_out: _FanOut,
    ) -> None:  # fmt: skip
        self.tables, self.vectors, self.places = tables, vectors, places
        self.pivot, self.sizes, self.fan_out = pivot, sizes, fan_out
        self.instructions: list[Instruction] = []
        self.edges: list[tuple[Node, int]] = []
        self.cost = 0.0

    def gather(self, variable: int, parent: Node | None) -> tuple[float, Node | None]:
        """Bring everything below a variable to it; return the estimated length of its list, and whence."""
        children = [
            node for node in self.tables
            if variable in node.variables and self.pivot not in node.variables and node is not parent
        ]  # fmt: skip
        lengths = [self.gather(_other(node, variable), node) for node in children]
        length, came, begun = float(self.sizes[variable]), None, False
        for node in self.tables:
            if variable in node.variables and self.pivot in node.variables:
                arriving = node.estimate / self.sizes[self.pivot]
                length, came = self._arrive(0, begun, node, self.pivot, variable, arriving, length), node
                begun = self._weighed(variable, begun)
        for node, (number, whence) in sorted(
            zip(children, lengths, strict=True), key=lambda item: item[1][0]
        ):
            source = _other(node, variable)
            arriving = number * self.fan_out.of(node, source, whence)
            length, came = self._arrive(1, begun, node, source, variable, arriving, length), node
            begun = self._weighed(variable, begun)
        return length, came

    def _arrive(
        self, kind: int, begun: bool, node: Node, source: int, variable: int, arriving: float, length: float
    ) -> float:
        place = self.places.get(source, 0)
        self.instructions.append((kind, int(begun), len(self.edges), place, self.places[variable]))
        self.edges.append((node, source))
        self.cost += arriving
        return min(arriving, length) if not begun else length * min(1.0, arriving / self.sizes[variable])

    def _weighed(self, variable: int, begun: bool) -> bool:
        if not begun and any(variable in node.variables for node in self.vectors):
            place = self.places[variable]
            self.instructions.append((2, 0, 0, place, place))
        return True


def _other(node: Node, variable: int) -> int:
    first, last = node.variables
    return last if first == variable else first

"""Planning: in which order the variables of a conjunction are summed out, and how.

Parts that share no variable multiply. A variable that occurs in one table only, or whose tables one table
covers, is summed out first: for an acyclic conjunction that is all there is to do, and it is the exact
junction tree (GYO reduction: Yu and Ozsoyoglu; Graham). What stays is cyclic. It is counted by bits where it
is a triangle of dense tables, by conditioning on one variable where that leaves a tree, and otherwise by
summing out the variable whose joined tables are estimated to be smallest, again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, degrees
from mlnlab.counting.facts.tables import MOST_DENSE
from mlnlab.counting.plans.nodes import Cycle, Node, Run, Scan, SumOut, Triangle
from mlnlab.errors import TooLargeError

_MUCH_LESS = 0.25  # of the rows of a join
_MOST_DEPTH = 200  # of steps: each takes a few of Python's thousand nested calls


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Independent parts whose values multiply; a part over head variables is a table, others are numbers."""

    parts: tuple[Node, ...]
    scans: tuple[tuple[Scan, ...], ...]  # what each part reads
    reach: tuple[int, ...]  # the number of bindings of each part's variables: no count is larger
    work: float  # the rows of all intermediate tables together, as estimated


def plan(
    scans: Sequence[Scan], sizes: Mapping[int, int], head: Iterable[int], facts: Facts, *, cycles: bool = True
) -> Plan:
    """Return a plan for the conjunction of the scans, grouped by the head variables."""
    kept = frozenset(head)
    parts: list[Node] = []
    read: list[tuple[Scan, ...]] = []
    reach: list[int] = []
    for group in _independent(scans, kept):
        for node in _sum_out_variables(group, sizes, kept, facts, cycles=cycles):
            parts.append(node)
            read.append(tuple(group))
            reach.append(prod(sizes[v] for v in {v for scan in group for v in scan.variables}))
    _refuse_deep(parts)
    work = sum(_work(node) for node in parts)
    return Plan(tuple(parts), tuple(read), tuple(reach), work)


def _refuse_deep(parts: Sequence[Node]) -> None:
    """Raise a sentence where more steps stand on each other than can be called one from the other."""
    level, depth = list(parts), 0
    while level:
        level, depth = [inner for node in level for inner in node.inputs], depth + 1
    if depth > _MOST_DEPTH:
        raise TooLargeError(
            f"The plan has {depth:,} steps on top of each other (the limit is {_MOST_DEPTH:,}).",
            float(depth),
            ["split the formula into shorter ones"],
        )


def _work(node: Node) -> float:
    here = 0.0 if isinstance(node, Scan) else node.estimate
    return here + sum(_work(inner) for inner in node.inputs)


def _independent(scans: Sequence[Scan], kept: frozenset[int]) -> list[list[Scan]]:
    """Return the groups of scans that no variable outside the head connects."""
    groups: list[tuple[set[int], list[Scan]]] = []
    for scan in scans:
        inner = set(scan.variables) - kept
        touching = [group for group in groups if group[0] & inner]
        for group in touching:
            groups.remove(group)
        merged_variables = inner.union(*(group[0] for group in touching))
        merged_scans = [*(other for group in touching for other in group[1]), scan]
        groups.append((merged_variables, merged_scans))
    return [group for _, group in groups]


def _sum_out_variables(
    group: Sequence[Node], sizes: Mapping[int, int], kept: frozenset[int], facts: Facts, *, cycles: bool
) -> list[Node]:
    """Sum all variables outside the head out of a group; the remaining tables are over head variables."""
    live: list[Node] = list(group)
    costs: dict[int, tuple[bool, float]] = {}
    while True:
        live = _absorb_tables(live, sizes)
        having = _by_variable(live)
        waiting = sorted(having.keys() - kept)
        if not waiting:
            return live
        costs = {v: costs[v] if v in costs else _cost(having[v], v, sizes) for v in waiting}
        variable = min(waiting, key=lambda v: costs[v])
        if costs[variable][0] and cycles:
            part = cyclic_part(live, sizes, kept, facts)
            if part is not None:
                done, used = part
                live = [*(node for node in live if node not in used), done]
                costs = {}
                continue
        inputs = (*having[variable], *_filters(live, having[variable], variable, sizes))
        live = [node for node in live if node not in inputs]
        live.append(_elimination(variable, inputs, sizes, costs[variable][1]))
        near = {v for node in inputs for v in node.variables}
        costs = {v: cost for v, cost in costs.items() if v not in near}


def _by_variable(nodes: Iterable[Node]) -> dict[int, list[Node]]:
    """Return the nodes that have each variable."""
    having: dict[int, list[Node]] = {}
    for node in nodes:
        for v in node.variables:
            having.setdefault(v, []).append(node)
    return having


def _elimination(variable: int, inputs: tuple[Node, ...], sizes: Mapping[int, int], cost: float) -> SumOut:
    variables = tuple(dict.fromkeys(v for node in inputs for v in node.variables if v != variable))
    estimate = min(cost, float(prod(sizes[v] for v in variables)))
    return SumOut(variable, inputs, variables, sizes, estimate)


def _filters(
    live: Sequence[Node], having: Sequence[Node], variable: int, sizes: Mapping[int, int]
) -> list[Node]:
    """Return short tables over the variables left when one is summed out: joined first, they save rows."""
    tables = [node for node in having if len(node.variables) > 1]
    scope = {v for node in tables for v in node.variables} - {variable}
    whole = joined_size(tables, sizes)
    return [
        node for node in live
        if len(node.variables) > 1 and scope.issuperset(node.variables)
        and min(joined_size([node, table], sizes) for table in tables) < _MUCH_LESS * whole
    ]  # fmt: skip


def _absorb_tables(live: list[Node], sizes: Mapping[int, int]) -> list[Node]:
    """Join tables into tables that have all their variables: that only takes rows away."""
    while (both := _find_cover(live)) is not None:
        cover, node = both
        estimate = min(cover.estimate, joined_size(both, sizes))
        meet = SumOut(-1, both, cover.variables, sizes, estimate, cover.weighted or node.weighted)
        live = [*(other for other in live if other not in both), meet]
    return live


def _find_cover(live: Sequence[Node]) -> tuple[Node, Node] | None:
    """Return the smallest table that has all variables of another one, and this one."""
    tables = sorted((node for node in live if len(node.variables) > 1), key=lambda node: len(node.variables))
    having = _by_variable(tables)
    for node in tables:
        own = set(node.variables)
        covers = [
            other for other in having[node.variables[0]] if other is not node and own <= set(other.variables)
        ]
        if covers:
            return min(covers, key=lambda other: other.estimate), node
    return None


def _cost(having: Sequence[Node], variable: int, sizes: Mapping[int, int]) -> tuple[bool, float]:
    """Return whether summing a variable out of its nodes needs a real join, and its estimated rows."""
    tables = [node for node in having if len(node.variables) > 1]
    if not tables:
        return False, float(sizes[variable])
    everything = {v for node in tables for v in node.variables}
    cover = next((node for node in tables if set(node.variables) == everything), None)
    if cover is not None:
        return False, cover.estimate
    return True, joined_size(tables, sizes)


def joined_size(tables: Sequence[Node], sizes: Mapping[int, int]) -> float:
    """Estimate the rows of a join as if the columns were independent (Selinger et al., SIGMOD 1979)."""
    estimate = 1.0
    different: dict[int, list[float]] = {}
    for node in tables:
        estimate *= max(node.estimate, 1.0)
        for v in node.variables:
            different.setdefault(v, []).append(max(1.0, min(node.estimate, float(sizes[v]))))
    for found in different.values():
        estimate /= prod(sorted(found)[1:])
    return estimate


# --- which cyclic conjunctions of binary atoms are counted without intermediate tables, and how

MOST_BITS = 1 << 31  # of one table as bits: 256 MB
_STEP_OF_BITS = 0.12  # the time of one word of 64 bits, as a share of that of one neighbour

Instruction = tuple[int, int, int, int, int]


def cyclic_part(
    live: Sequence[Node], sizes: Mapping[int, int], kept: frozenset[int], facts: Facts
) -> tuple[Node, tuple[Node, ...]] | None:
    """Return a node that counts the cyclic part of the live tables, and the tables that it uses up."""
    for variables in _components(live):
        if variables & kept or len(variables) < 3:
            continue
        inside = [node for node in live if variables & set(node.variables)]
        tables = [node for node in inside if len(node.variables) > 1]
        vectors = tuple(node for node in inside if len(node.variables) == 1)
        if not all(_is_plain(node) for node in tables) or max(sizes[v] for v in variables) > MOST_DENSE:
            continue
        options = [_triangle(tables, vectors, sizes), _plan_conditioning(tables, vectors, sizes, facts)]
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


def _plan_conditioning(
    tables: Sequence[Node], vectors: tuple[Node, ...], sizes: Mapping[int, int], facts: Facts
) -> Cycle | None:
    """Return the cheapest plan that conditions on one variable; none where no tree would be left."""
    from mlnlab.kernels.counting.counting_cycles import MOST_EDGES, MOST_VARIABLES

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
            self.known[key] = self._measure_fan_out(node, variable, arrived)
        return self.known[key]

    def _measure_fan_out(self, node: Node, variable: int, arrived: Node | None) -> float:
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
    """Write down the messages towards the root for one pivot, and their estimated cost."""
    others = [v for v in sorted({v for node in tables for v in node.variables}) if v != pivot]
    builder = _Builder(tables, vectors, {v: place for place, v in enumerate(others)}, pivot, sizes, fan_out)
    builder.gather(root, None)
    kind, _, edge, source, to = builder.instructions[-1]
    builder.instructions[-1] = (kind, 2, edge, source, to)  # the last arrival adds up
    return Cycle(
        pivot, np.array(builder.instructions, np.int64), tuple(builder.edges), vectors,
        {**builder.places}, sizes, builder.lists * sizes[pivot], builder.cost * sizes[pivot],
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
        self.cost = self.lists = 0.0  # neighbours, and lists of them, for each value of the pivot

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
                self.lists += 1
                length, came = self._arrive(0, begun, node, self.pivot, variable, arriving, length), node
                begun = self._weigh_variable(variable, begun)
        for node, (number, whence) in sorted(
            zip(children, lengths, strict=True), key=lambda item: item[1][0]
        ):
            source = _other(node, variable)
            arriving = number * self.fan_out.of(node, source, whence)
            self.lists += number
            length, came = self._arrive(1, begun, node, source, variable, arriving, length), node
            begun = self._weigh_variable(variable, begun)
        return length, came

    def _arrive(
        self, kind: int, begun: bool, node: Node, source: int, variable: int, arriving: float, length: float
    ) -> float:
        place = self.places.get(source, 0)
        self.instructions.append((kind, int(begun), len(self.edges), place, self.places[variable]))
        self.edges.append((node, source))
        self.cost += arriving
        return min(arriving, length) if not begun else length * min(1.0, arriving / self.sizes[variable])

    def _weigh_variable(self, variable: int, begun: bool) -> bool:
        if not begun and any(variable in node.variables for node in self.vectors):
            place = self.places[variable]
            self.instructions.append((2, 0, 0, place, place))
        return True


def _other(node: Node, variable: int) -> int:
    first, last = node.variables
    return last if first == variable else first

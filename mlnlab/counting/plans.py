"""Planning: in which order the variables of a conjunction are summed out, and how.

Parts that share no variable multiply. A variable that occurs in one table only, or whose tables one table
covers, is summed out first: for an acyclic conjunction that is all there is to do, and it is the exact
junction tree (GYO reduction: Yu and Ozsoyoglu; Graham). What stays is cyclic. It is counted by bits where it
is a triangle of dense tables, by conditioning on one variable where that leaves a tree, and otherwise by
summing out the variable whose joined tables are estimated to be smallest, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.cycles import cyclic_part
from mlnlab.counting.nodes import Node, Scan, SumOut
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.counting.facts import Facts


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
        for node in _summed(group, sizes, kept, facts, cycles=cycles):
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
            f"The plan has {depth:,} steps that stand on each other (at most {_MOST_DEPTH:,} may).",
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


def _summed(
    group: Sequence[Node], sizes: Mapping[int, int], kept: frozenset[int], facts: Facts, *, cycles: bool
) -> list[Node]:
    """Sum all variables outside the head out of a group; what stays is over head variables."""
    live: list[Node] = list(group)
    costs: dict[int, tuple[bool, float]] = {}
    while True:
        live = _absorbed(live, sizes)
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
    """Return short tables over what is left when a variable is summed out: joined first, they save rows."""
    tables = [node for node in having if len(node.variables) > 1]
    scope = {v for node in tables for v in node.variables} - {variable}
    whole = joined_size(tables, sizes)
    return [
        node for node in live
        if len(node.variables) > 1 and scope.issuperset(node.variables)
        and min(joined_size([node, table], sizes) for table in tables) < _MUCH_LESS * whole
    ]  # fmt: skip


def _absorbed(live: list[Node], sizes: Mapping[int, int]) -> list[Node]:
    """Join tables into tables that have all their variables: that only takes rows away."""
    while (both := _covered(live)) is not None:
        cover, node = both
        estimate = min(cover.estimate, joined_size(both, sizes))
        meet = SumOut(-1, both, cover.variables, sizes, estimate, cover.weighted or node.weighted)
        live = [*(other for other in live if other not in both), meet]
    return live


def _covered(live: Sequence[Node]) -> tuple[Node, Node] | None:
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

"""Width-bounded elimination: in which order a network's variables are summed out over dense tables.

Summing a variable out multiplies all tables that have it and leaves one over their other variables, so that a
network of width w takes about d^(w + 1) steps and tables of d^w cells, where d is the number of constants
(Dechter, "Bucket elimination", 1999). How many literals are positive does not matter. The order is greedy;
sizes and seconds are known before anything is computed, from the numbers of constants alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from mlnlab.steps import budget

Scope = frozenset[int]


@dataclass(frozen=True, slots=True)
class Elimination:
    """Multiply some tables, and sum a variable out; -1: only multiply.

    Inputs are numbers of constraints, and behind them of earlier eliminations. ``pairs`` are the places of
    tables that are multiplied first, one after the other, each product standing behind all others.
    """

    variable: int
    inputs: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    scope: tuple[int, ...]  # of the result, in ascending order
    joint: float  # bindings that are looked at
    widest: float  # cells of the largest table


@dataclass(frozen=True, slots=True)
class DensePlan:
    """The eliminations of a plan, step by step; the last step's result is the table over the head."""

    sizes: tuple[int, ...]  # of each variable, signals with 2 behind them
    eliminations: tuple[Elimination, ...]
    widest: float
    seconds: float  # of one pass


def dense_plan(scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], head: Scope) -> DensePlan:
    """Return the cheaper of two greedy plans for tables with these scopes; variables of the head stay."""
    found = [_greedy(scopes, sizes, head, less=less) for less in (0.0, 1.0)]
    return min(found, key=lambda plan: (plan.widest > budget.MOST_ELIMINATION_CELLS, plan.seconds))


def _greedy(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], head: Scope, *, less: float
) -> DensePlan:
    """Plan to sum out next the variable with fewest bindings, less this share of the cells replaced."""
    live = {number: frozenset(scope) for number, scope in enumerate(scopes)}
    having: dict[int, set[int]] = {}
    for number, scope in live.items():
        for v in scope:
            having.setdefault(v, set()).add(number)

    def cost(v: int) -> tuple[float, int]:
        inside = [live[number] for number in having[v]]
        union = frozenset[int]().union(*inside)
        replaced = sum(_cells(scope, sizes) for scope in inside)
        return _cells(union, sizes) - less * replaced, len(union)

    costs = {v: cost(v) for v in sorted(having) if v not in head}
    steps: list[Elimination] = []
    while costs:
        variable = min(costs, key=lambda v: (costs[v], v))
        del costs[variable]
        inputs = tuple(sorted(having[variable]))
        step = _elimination(variable, inputs, [live[number] for number in inputs], sizes)
        result = len(scopes) + len(steps)
        for number in inputs:
            for v in live.pop(number):
                having[v].discard(number)
        live[result] = frozenset(step.scope)
        for v in step.scope:
            having[v].add(result)
            if v in costs:
                costs[v] = cost(v)
        steps.append(step)
    rest = tuple(sorted(live))
    steps.append(_elimination(-1, rest, [live[number] for number in rest], sizes, head))
    return DensePlan(tuple(sizes), tuple(steps), max(step.widest for step in steps), _seconds(steps))


def _elimination(
    variable: int,
    inputs: tuple[int, ...],
    scopes: list[Scope],
    sizes: Sequence[int],
    head: Scope = frozenset(),
) -> Elimination:
    """Return the step with its scope and its estimates; the last step's result is over the head."""
    union = frozenset(head).union(*scopes)
    scope = tuple(sorted(union - {variable}))
    pairs, made = _pairs(scopes, sizes, 2 if variable >= 0 else 1)
    cells = [*(_cells(one, sizes) for one in (*scopes, *made)), _cells(frozenset(scope), sizes)]
    joint = _cells(union, sizes) + sum(_cells(one, sizes) for one in made)
    return Elimination(variable, inputs, pairs, scope, joint, max(cells))


def _pairs(
    scopes: Sequence[Scope], sizes: Sequence[int], remaining: int
) -> tuple[tuple[tuple[int, int], ...], list[Scope]]:
    """Return the tables to multiply first, until ``remaining`` are left, and the scopes of the products.

    Tables over the same variables come first; then those whose product is smallest.
    """
    left = dict(enumerate(scopes))
    pairs: list[tuple[int, int]] = []
    made: list[Scope] = []

    def multiply(one: int, other: int) -> int:
        product = left.pop(one) | left.pop(other)
        pairs.append((one, other))
        made.append(product)
        left[len(scopes) + len(made) - 1] = product
        return len(scopes) + len(made) - 1

    by_scope: dict[Scope, int] = {}
    for place, scope in enumerate(scopes):
        if len(left) > remaining and scope in by_scope:
            by_scope[scope] = multiply(by_scope[scope], place)
        else:
            by_scope.setdefault(scope, place)
    while len(left) > remaining:
        multiply(*min(combinations(left, 2), key=lambda pair: _cells(left[pair[0]] | left[pair[1]], sizes)))
    return tuple(pairs), made


def _cells(scope: Scope, sizes: Sequence[int]) -> float:
    return float(prod(sizes[v] for v in scope))


def _seconds(steps: Sequence[Elimination]) -> float:
    return sum(
        budget.ELIMINATION.step * (1 + len(s.inputs))
        + budget.ELIMINATION.joint * s.joint
        + budget.ELIMINATION.cell * s.widest
        for s in steps
    )

"""Order the variables of a directed graph, parents before their children; name a cycle where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.random_variables import show_name


def order_parents_first(parents: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of the variables, parents before their children; refuse a cycle."""
    order: list[int] = []
    placed: set[int] = set()
    for start in range(len(parents)):
        path = [start]  # a walk from child to parent; whoever is met again on it closes a cycle
        while path:
            waiting = next((p for p in parents[path[-1]] if p not in placed), None)
            if waiting is None:
                last = path.pop()
                if last not in placed:
                    placed.add(last)
                    order.append(last)
            elif waiting in path:
                raise _cycle([names[number] for number in path[path.index(waiting) :]])
            else:
                path.append(waiting)
    return tuple(order)


def _cycle(path: Sequence[str]) -> ArgumentError:
    names = [show_name(name) for name in [path[0], *reversed(path)]]
    listed = " → ".join(names if len(names) <= 12 else [*names[:11], "…", names[-1]])
    return ArgumentError(f"A Bayesian network must not have cycles, and this one has {listed}.")

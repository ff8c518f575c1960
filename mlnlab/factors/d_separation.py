"""Which variables of a Bayesian network influence each other, told from the graph alone.

A ball that bounces through the network (the Bayes ball of Shachter, 1998): it passes what is not known
upward and downward, turns round at a common cause that is not known, and at a common effect that is known.
Where only an effect of the common effect is known, it gets there, turns round, and comes back up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

_UP, _DOWN = 0, 1  # arrived from a child, arrived from a parent


def reachable(parents: Sequence[Sequence[int]], start: Collection[int], known: Collection[int]) -> set[int]:
    """Return the variables that an active trail from the start reaches, given what is known."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    waiting = [(variable, _UP) for variable in start]
    visited: set[tuple[int, int]] = set()
    found: set[int] = set()
    while waiting:
        variable, direction = waiting.pop()
        if (variable, direction) in visited:
            continue
        visited.add((variable, direction))
        if variable not in known:
            found.add(variable)
            waiting += [(child, _DOWN) for child in children[variable]]
            if direction == _UP:
                waiting += [(parent, _UP) for parent in parents[variable]]
        if direction == _DOWN and variable in known:
            waiting += [(parent, _UP) for parent in parents[variable]]
    return found

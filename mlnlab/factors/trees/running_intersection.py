"""Check that a tree of cliques is a junction tree: no cycle, homes of factors, running intersection."""

from __future__ import annotations

from collections.abc import Collection, Sequence

Edge = tuple[int, int]


def violations(
    cliques: Sequence[Collection[int]],
    edges: Sequence[Edge],
    scopes: Sequence[Collection[int]] = (),
    homes: Sequence[int] = (),
) -> tuple[str, ...]:
    """Return the violations in a tree of cliques, as sentences with the numbers of cliques and variables.

    Running intersection: the cliques with a variable hang together, so that along every path between two of
    them each clique and each separator holds it. In a tree, n cliques hang together exactly where n - 1
    edges join them.
    """
    found = _cycles(len(cliques), edges)
    members = [frozenset(clique) for clique in cliques]
    holding: dict[int, int] = {}
    joined: dict[int, int] = {}
    for clique in members:
        for variable in clique:
            holding[variable] = holding.get(variable, 0) + 1
    for a, b in edges:
        for variable in members[a] & members[b]:
            joined[variable] = joined.get(variable, 0) + 1
    for variable, number in sorted(holding.items()):
        if number - joined.get(variable, 0) != 1:
            found.append(f"The {number} cliques with variable {variable} do not hang together.")
    for factor, (scope, home) in enumerate(zip(scopes, homes, strict=True)):
        if not set(scope) <= members[home]:
            found.append(f"Factor {factor} is not over variables of its clique {home}.")
    return tuple(found)


def _cycles(size: int, edges: Sequence[Edge]) -> list[str]:
    groups = Groups(size)
    return [
        f"The edge between cliques {a} and {b} closes a cycle." for a, b in edges if not groups.join(a, b)
    ]


class Groups:
    """Things that are joined into groups, one pair after the other."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def of(self, thing: int) -> int:
        """Return the thing that stands for a group."""
        while self._above[thing] != thing:
            self._above[thing] = self._above[self._above[thing]]
            thing = self._above[thing]
        return thing

    def join(self, one: int, other: int) -> bool:
        """Join two groups, and say whether they were two."""
        a, b = self.of(one), self.of(other)
        self._above[a] = b
        return a != b

"""Combine decision diagrams whose leaves are nodes of an arithmetic circuit (Chavira and Darwiche, 2007).

A diagram asks for the values of variables from the top level down, and skips those that do not matter; equal
diagrams are one. Levels are the variables in reverse order of elimination, so that the variable to be summed
out is below all others: its nodes have leaves only, and each becomes a leaf itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.circuits.propositional.circuit_building import CircuitBuilder, Term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_Pair = tuple[int, int]


class LimitError(Exception):
    """The circuit has become larger than was allowed."""


class Diagrams:
    """Diagrams by number, over levels of variables, with a circuit that grows below their leaves."""

    def __init__(self, builder: CircuitBuilder, order: Sequence[int], most: int) -> None:
        """Begin with no diagram; ``order`` names the variables as they are eliminated.

        Products stop by an error once ``most`` edges are made or pairs are met.
        """
        self.builder = builder
        self.variables = tuple(reversed(order))  # by level
        self.level_of = {variable: level for level, variable in enumerate(self.variables)}
        self.bottom = len(self.variables)  # the level of leaves
        self.levels: list[int] = []
        self.branches: list[tuple[int, ...]] = []
        self.terms: dict[int, Term] = {}  # of the leaves
        self._leaves: dict[Term, int] = {}
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}
        self._chosen: dict[tuple[int, tuple[int, ...]], int] = {}
        self.most = most
        self.zero = self.leaf(None)

    def leaf(self, term: Term) -> int:
        """Return the diagram that is one product of the circuit's nodes, whatever the values are."""
        found = self._leaves.get(term)
        if found is None:
            found = self._leaves[term] = len(self.levels)
            self.levels.append(self.bottom)
            self.branches.append(())
            self.terms[found] = term
        return found

    def ask(self, level: int, branches: tuple[int, ...]) -> int:
        """Return the diagram that asks for a variable first; none where the answer does not matter."""
        if all(branch == branches[0] for branch in branches):
            return branches[0]
        return self._find(level, branches)

    def _find(self, level: int, branches: tuple[int, ...]) -> int:
        key = level, branches
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.levels)
            self.levels.append(level)
            self.branches.append(branches)
        return found

    def _branch(self, diagram: int, level: int, value: int) -> int:
        return self.branches[diagram][value] if self.levels[diagram] == level else diagram

    def of_indicators(self, variable: int) -> int:
        """Return the diagram that is the indicator of a variable's value."""
        branches = tuple(self.leaf(frozenset((node,))) for node in self.builder.indicators[variable])
        return self.ask(self.level_of[variable], branches)

    def of_table(self, scope: Sequence[int], leaves: NDArray[np.int64]) -> int:
        """Return the diagram of a table of leaves, an axis for each variable of its scope."""
        axes = sorted(range(len(scope)), key=lambda axis: self.level_of[scope[axis]])
        rows: list[int] = leaves.transpose(axes).reshape(-1).tolist()
        for axis in reversed(axes):
            size, level = leaves.shape[axis], self.level_of[scope[axis]]
            rows = [self.ask(level, tuple(rows[at : at + size])) for at in range(0, len(rows), size)]
        return rows[0]

    def choose(self, level: int, branches: tuple[int, ...]) -> int:
        """Return the diagram that asks for a variable, wherever its level is among those of the branches."""
        top = min(self.levels[branch] for branch in branches)
        if top > level:
            return self.ask(level, branches)
        if (level, branches) not in self._chosen:
            below = []
            for value in range(self.builder.variables[self.variables[top]].size):
                part = tuple([self._branch(branch, top, value) for branch in branches])
                below.append(self.choose(level, part))
            self._chosen[level, branches] = self.ask(top, tuple(below))
        return self._chosen[level, branches]

    def multiply(self, left: int, right: int) -> int:
        """Return the product of two diagrams: pairs are met level by level, and made from the bottom up."""
        pairs = self._meet(left, right)
        made: dict[tuple[int, int], int] = {}
        for level in sorted(pairs, reverse=True):
            for pair, below in pairs[level].items():
                if level == self.bottom:
                    one, other = (self.terms.get(diagram) for diagram in pair)
                    made[pair] = self.zero if one is None or other is None else self.leaf(one | other)
                else:
                    made[pair] = self.ask(level, tuple(made[part] for part in below))
        return made[left, right]

    def _meet(self, left: int, right: int) -> dict[int, dict[_Pair, list[_Pair]]]:
        """Return, level by level, the pairs of diagrams to be multiplied and those that each needs."""
        first = min(self.levels[left], self.levels[right])
        pairs: dict[int, dict[_Pair, list[_Pair]]] = {first: {(left, right): []}}
        waiting, number = [first], 1
        while waiting and (level := heapq.heappop(waiting)) < self.bottom:
            size = self.builder.variables[self.variables[level]].size
            for (one, other), below in pairs[level].items():
                for value in range(size):
                    pair = self._branch(one, level, value), self._branch(other, level, value)
                    below.append(pair)
                    deeper = min(self.levels[pair[0]], self.levels[pair[1]])
                    if self.zero in pair:
                        deeper = self.bottom
                    if deeper not in pairs:
                        pairs[deeper] = {}
                        heapq.heappush(waiting, deeper)
                    pairs[deeper].setdefault(pair, [])
            number += len(pairs[level])
            if number + self.builder.edges > self.most:
                raise LimitError
        return pairs

    def sum_out(self, diagram: int, variable: int) -> int:
        """Return the sum over the values of a variable that is below all others in the diagram.

        Its indicators are in the leaves already, so that these differ, or are zero.
        """
        own, builder = self.level_of[variable], self.builder
        made: dict[int, int] = {}
        for part in sorted(self._reachable(diagram)):  # branches have smaller numbers than who asks
            level, branches = self.levels[part], self.branches[part]
            if level == self.bottom:
                made[part] = part
            elif level == own:
                made[part] = self.leaf(builder.add(self.terms[leaf] for leaf in branches))
            else:
                made[part] = self.ask(level, tuple(made[branch] for branch in branches))
        return made[diagram]

    def _reachable(self, diagram: int) -> set[int]:
        """Return a diagram with all below it; the leaves of the lowest level are left to their parents."""
        found, waiting = {diagram}, [diagram]
        while waiting:
            part = waiting.pop()
            if self.levels[part] < self.bottom:
                new = set(self.branches[part]) - found
                found |= new
                waiting += new
        return found

    def variables_of(self, diagram: int) -> set[int]:
        """Return the variables that a diagram asks for."""
        levels = {self.levels[part] for part in self._reachable(diagram)}
        return {self.variables[level] for level in levels if level < self.bottom}

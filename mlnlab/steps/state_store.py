"""States in a row, kept as a full one every so often and as what changed in between."""

from __future__ import annotations

from mlnlab.steps.deltas import Delta, applied, composed, difference, sharing
from mlnlab.steps.parts import sealed
from mlnlab.steps.sizes import delta_size, value_size

_SLOT = 8  # bytes of a place in a list


class StateStore:
    """A growing sequence of states; ``store[p]`` applies fewer than ``every`` deltas to a snapshot.

    Every position has a delta from the one before, also where a snapshot stands: so a row can be thinned out
    by composing neighbouring deltas, without making any of the states.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._clear()

    def _clear(self) -> None:
        self._snapshots: list[object] = []
        self._deltas: list[Delta | None] = []
        self._bytes = 0
        self._snapshot_parts: set[int] = set()  # what the last snapshot holds is not counted again
        self._newest: object = None
        self._visited: tuple[int, object] = (-1, None)

    def __len__(self) -> int:
        return len(self._deltas)

    @property
    def size(self) -> int:
        """The bytes that all of it takes, as estimated."""
        return self._bytes

    def append(self, state: object) -> None:
        """Add a state at the end."""
        new = sealed(state, self._newest)
        position = len(self._deltas)
        delta = difference(self._newest, new) if position else None
        self._newest = sharing(self._newest, delta, new) if position else new
        self._add(delta, self._newest)

    def _add(self, delta: Delta | None, state: object) -> None:
        """Add a delta, and the state too where a snapshot is due."""
        seen: set[int] = set()
        self._bytes += _SLOT + delta_size(delta, seen)
        if len(self._deltas) % self._every == 0:
            self._bytes += value_size(state, seen | self._snapshot_parts)
            self._snapshot_parts = set()
            value_size(state, self._snapshot_parts)
            self._snapshots.append(state)
        self._deltas.append(delta)

    def __getitem__(self, position: int) -> object:
        if position == len(self._deltas) - 1:
            return self._newest
        start = position - position % self._every
        state = self._snapshots[start // self._every]
        visited, there = self._visited
        if start < visited <= position:
            start, state = visited, there
        change: Delta | None = None
        # Composing first makes one copy of a changed array instead of one for each delta.
        for delta in self._deltas[start + 1 : position + 1]:
            change = composed(change, delta)
        state = applied(state, change)
        self._visited = (position, state)
        return state

    def halve(self) -> None:
        """Drop every second state: those at odd positions."""
        if len(self._deltas) % 2 == 0:
            self._newest = self[len(self._deltas) - 2]
            self._deltas.pop()
        deltas, snapshots, newest = self._deltas, self._snapshots[::2], self._newest
        self._clear()
        self._newest = newest
        self._add(None, snapshots[0])
        for odd, even in zip(deltas[1::2], deltas[2::2], strict=True):
            position = len(self._deltas)
            self._add(composed(odd, even), snapshots[position // self._every])

"""Hold formulas too wide for one table as trees of small tables that count true parts.

A *gate* is a table of a part of a formula. Its cell is a sum: of each choice in its scope the option times a
stride, as in every table, and a step for each gate below it that is true. So a conjunction is a gate that
counts what is false of its parts, a counting quantifier one that counts what is true, and a whole formula is
a tree of gates under the table of the formula, its *root*: definitions in Tseitin's sense (On the complexity
of derivation in propositional calculus, 1968), but kept up to date with every flip, so that no sampler has to
find the values of further atoms. The root's own scope has all choices below it, most with stride 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOBODY = np.uint32(0xFFFFFFFF)  # the parent of a table that is no gate


def _none() -> NDArray[np.uint32]:
    array = np.zeros(0, np.uint32)
    array.setflags(write=False)
    return array


def _start() -> NDArray[np.uint32]:
    array = np.zeros(1, np.uint32)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Gates:
    """The gates of all formulas, each behind those below it, those of one formula together.

    ``bit_starts`` are places in the bits of all tables. Parents are gates, and from ``len(gates)`` on tables.
    """

    scope_starts: NDArray[np.uint32] = field(default_factory=_start)
    scope: NDArray[np.uint32] = field(default_factory=_none)
    strides: NDArray[np.uint32] = field(default_factory=_none)
    bit_starts: NDArray[np.uint32] = field(default_factory=_none)
    parents: NDArray[np.uint32] = field(default_factory=_none)
    steps: NDArray[np.uint32] = field(default_factory=_none)
    roots: NDArray[np.uint32] = field(default_factory=_none)  # the tables that count, whether gates or atoms

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        arrays = (self.scope_starts, self.scope, self.strides, self.bit_starts, self.parents, self.steps)
        return sum(array.nbytes for array in arrays) + self.roots.nbytes

    @cached_property
    def below(self) -> dict[int, list[int]]:
        """The gates right below each gate, and below each table (numbered from ``len(self)`` on)."""
        found: dict[int, list[int]] = {}
        for gate, parent in enumerate(self.parents.tolist()):
            found.setdefault(parent, []).append(gate)
        return found

    def add_to(
        self, cells: NDArray[np.int64], chosen: NDArray[np.integer[Any]], bits: NDArray[np.uint8]
    ) -> None:
        """Add to the cells of tables the steps of the gates below them that are true in a world."""
        starts = self.scope_starts.astype(np.int64)
        own = np.repeat(np.arange(len(self)), starts[1:] - starts[:-1])
        sums = np.zeros(len(self) + len(cells), np.int64)
        np.add.at(sums, own, chosen.astype(np.int64)[self.scope] * self.strides)
        for gate, parent in enumerate(self.parents.tolist()):
            if bits[self.bit_starts[gate] + sums[gate]]:
                sums[parent] += int(self.steps[gate])
        cells += sums[len(self) :]

    def kernel_parents(self, tables: int) -> NDArray[np.uint32]:
        """Return the parent of each table, and behind them of each gate, with the gates behind the tables."""
        ours = self.parents.astype(np.int64)
        ours = np.where(ours < len(self), ours + tables, ours - len(self))
        return np.concatenate([np.full(tables, NOBODY, np.uint32), ours.astype(np.uint32)])

    def first_gates(self, tables: int) -> NDArray[np.uint32]:
        """Return where the gates of each table begin; they end where those of the next one begin."""
        roots = self.parents.astype(np.int64) - len(self)
        for gate in range(len(self) - 1, -1, -1):  # a parent stands behind what is below it
            if roots[gate] < 0:
                roots[gate] = roots[roots[gate] + len(self)]
        return np.searchsorted(roots, np.arange(tables + 1)).astype(np.uint32)


NO_GATES = Gates()

"""Equal ground clauses and tables as one in MC-SAT's slices, opposite ones included.

What a slice does depends on how a distribution is written as clauses. Where strong formulas want an atom true
and stronger ones want it false, either would join the slice as soon as it holds and keep the atom where it
is, for exp(weight) steps; as one clause with the difference of the weights the atom is drawn almost freely.
So the strengths of equal clauses are added up at the first of them, and the others join no slice. The same
holds of tables, and of tables of which one is true where the other is false. The distribution is the same;
what is hard is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.clauses.merging import first_equal

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Equals:
    """For each of some constraints the first one that is equal to it or its opposite (then sign -1)."""

    first: NDArray[np.int64]
    signs: Numbers

    def net(self, strengths: Numbers) -> Numbers:
        """Return the strengths with those of equal ones added up at the first; infinite ones are kept."""
        soft = np.isfinite(strengths)
        sums = np.bincount(self.first[soft], self.signs[soft] * strengths[soft], len(self.first))
        found = np.where(soft, self.signs * sums, strengths)
        found.setflags(write=False)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class EqualClauses:
    """Which clauses are equal or opposite to which, and which tables (gates behind them)."""

    clauses: Equals
    tables: Equals


def equal_clauses(clauses: GroundClauses) -> EqualClauses:
    """Find the clauses and tables that are equal; those that must hold are equal to none."""
    return EqualClauses(_clauses(clauses), _tables(clauses))


def _clauses(clauses: GroundClauses) -> Equals:
    starts, literals = clauses.starts.astype(np.int64), clauses.literals.copy()
    signs = np.ones(clauses.number_of_clauses)
    units = np.flatnonzero((starts[1:] - starts[:-1] == 1) & ~clauses.hard)
    opposite = units[literals[starts[units]] & 1 == 1]
    literals[starts[opposite]] ^= np.uint32(1)
    signs[opposite] = -1.0
    _, heads, group = np.unique(
        2 * first_equal(starts, literals) + clauses.hard, return_index=True, return_inverse=True
    )
    return Equals(heads[group].astype(np.int64), signs)


def _tables(clauses: GroundClauses) -> Equals:
    """Return which tables are equal or opposite: over the same choices, by their truth in each cell."""
    number = clauses.number_of_tables
    first, signs = np.arange(number + len(clauses.gates)), np.ones(number + len(clauses.gates))
    heads: dict[Hashable, tuple[int, bool]] = {}
    sayings = _Sayings(clauses)
    for table, (said, begins_true) in enumerate(sayings.of_tables()):
        if not clauses.table_hard[table]:
            first[table], head_begins_true = heads.setdefault(said, (table, begins_true))
            signs[table] = 1.0 if begins_true == head_begins_true else -1.0
    return Equals(first, signs)


class _Sayings:
    """Keys of tables, alike for opposite ones: their choices, and their truth in each cell."""

    def __init__(self, clauses: GroundClauses) -> None:
        self._clauses, self._gates = clauses, clauses.gates
        self._truths: dict[tuple[int, int], tuple[bytes, bool]] = {}
        self._of_gates: dict[int, tuple[Hashable, int]] = {}

    def of_tables(self) -> Iterator[tuple[Hashable, bool]]:
        """Yield the key of each table, and its truth in the first cell: equal keys, equal or opposite."""
        clauses, gates = self._clauses, self._gates
        starts = clauses.bit_starts.tolist()
        for table, place in enumerate(pairwise(clauses.scope_starts.tolist())):
            key, cells = self._scope(place, clauses.scope, clauses.strides)
            below = gates.below.get(len(gates) + table, ()) if len(gates) else ()
            counted = [self._of_gate(gate) for gate in below]
            truths, begins_true = self._of_cells(starts[table], cells + sum(step for _, step in counted))
            yield (key, tuple(said for said, _ in counted), truths), begins_true

    def _of_gate(self, gate: int) -> tuple[Hashable, int]:
        """Return a gate's key, and the step that its truth adds."""
        if gate not in self._of_gates:
            gates = self._gates
            place = int(gates.scope_starts[gate]), int(gates.scope_starts[gate + 1])
            key, cells = self._scope(place, gates.scope, gates.strides)
            counted = [self._of_gate(other) for other in gates.below.get(gate, ())]
            said = self._of_cells(int(gates.bit_starts[gate]), cells + sum(step for _, step in counted))
            self._of_gates[gate] = (key, tuple(counted), said), int(gates.steps[gate])
        return self._of_gates[gate]

    def _scope(
        self, place: tuple[int, int], scope: NDArray[np.uint32], strides: NDArray[np.uint32]
    ) -> tuple[bytes, int]:
        """Return the choices with their strides as a key, and how many cells they select from."""
        choices, steps = scope[slice(*place)], strides[slice(*place)]
        last = int((steps.astype(np.int64) * (self._clauses.options[choices].astype(np.int64) - 1)).sum())
        return choices.tobytes() + steps.tobytes(), 1 + last

    def _of_cells(self, start: int, cells: int) -> tuple[bytes, bool]:
        """Return the truth of some cells, turned so that the first one is false, and whether it was true."""
        if (start, cells) not in self._truths:
            bits = self._clauses.bits[start : start + cells]
            begins_true = bool(bits[0])
            self._truths[start, cells] = ((1 - bits) if begins_true else bits).tobytes(), begins_true
        return self._truths[start, cells]

"""Growing lists of ground clauses and tables, and the read-only arrays that they end as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import Source


class ClauseStore:
    """Clauses in the order of their sources; within a source those that count where false come last."""

    def __init__(self) -> None:
        self._pending: dict[bool, list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]] = {False: [], True: []}
        self._single: dict[bool, list[Sequence[int]]] = {False: [], True: []}
        self._literals: list[NDArray[np.uint32]] = []
        self._sizes: list[NDArray[np.uint32]] = []
        self._groups: list[tuple[int, float, bool, bool]] = []  # clauses, weight, hard, negated
        self._sources: list[int] = []
        self._ended = 0

    def add(self, clause: Sequence[int], *, negated: bool) -> None:
        """Add one clause."""
        self._single[negated].append(clause)

    def add_many(self, literals: NDArray[np.uint32], sizes: NDArray[np.uint32], negated: bool) -> None:
        """Add clauses whose literals stand one behind the other."""
        self._pending[negated].append((literals, sizes))

    def end_source(self, source: Source) -> None:
        """Say that the clauses added since the last call belong to this source."""
        for negated in (False, True):
            single = self._single[negated]
            lengths = np.array([len(clause) for clause in single], np.uint32)
            flat = np.array([literal for clause in single for literal in clause], np.uint32)
            parts = [*self._pending[negated], (flat, lengths)]
            number = sum(len(sizes) for _, sizes in parts)
            self._literals += [literals for literals, _ in parts]
            self._sizes += [sizes for _, sizes in parts]
            self._groups.append((number, -source.weight if negated else source.weight, source.hard, negated))
            self._sources.append(self._ended)
            self._pending[negated], self._single[negated] = [], []
        self._ended += 1

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return starts, literals, weights, hard, negated and sources."""
        sizes = np.concatenate([np.zeros(1, np.uint32), *self._sizes])
        literals = np.concatenate([np.zeros(0, np.uint32), *self._literals])
        numbers = [number for number, *_ in self._groups]
        return tuple(
            frozen(array)
            for array in (
                np.cumsum(sizes, dtype=np.uint32),
                literals,
                np.repeat(np.array([weight for _, weight, _, _ in self._groups], np.float64), numbers),
                np.repeat(np.array([hard for _, _, hard, _ in self._groups], np.bool_), numbers),
                np.repeat(np.array([negated for *_, negated in self._groups], np.bool_), numbers),
                np.repeat(np.array(self._sources, np.uint32), numbers),
            )
        )


class TableStore:
    """Tables in the order of their sources; equal truth values are kept once."""

    def __init__(self) -> None:
        self._scopes: list[tuple[int, ...]] = []
        self._strides: list[int] = []
        self._starts: list[int] = []
        self._weights: list[float] = []
        self._hard: list[bool] = []
        self._sources: list[int] = []
        self._places: dict[bytes, int] = {}
        self._bits: list[NDArray[np.uint8]] = []
        self._filled = self._ended = 0

    def add(self, scope: tuple[int, ...], truths: NDArray[np.bool_]) -> None:
        """Add a table: an axis for each choice, an entry for each combination of their options."""
        bits = np.ascontiguousarray(truths, np.uint8)
        self._scopes.append(scope)
        self._strides += list(bits.strides)
        self._starts.append(self.place(bits))

    def add_counting(self, strides: Mapping[int, int], truths: NDArray[np.bool_]) -> int:
        """Add a table of which the cell is a sum, with a truth for each sum; return its number."""
        self._scopes.append(tuple(strides))
        self._strides += list(strides.values())
        self._starts.append(self.place(truths))
        return len(self._starts) - 1

    def place(self, truths: NDArray[Any]) -> int:
        """Keep truth values, once where they are equal to others; return where they begin."""
        bits = np.ascontiguousarray(truths, np.uint8)
        key = bits.tobytes()
        if key not in self._places:
            self._places[key] = self._filled
            self._bits.append(bits.ravel())
            self._filled += bits.size
        return self._places[key]

    def end_source(self, source: Source) -> None:
        """Say that the tables added since the last call belong to this source."""
        new = len(self._starts) - len(self._weights)
        self._weights += [source.weight] * new
        self._hard += [source.hard] * new
        self._sources += [self._ended] * new
        self._ended += 1

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return scope starts, scopes, strides, starts of bits, bits, weights, hard and sources."""
        return tuple(
            frozen(array)
            for array in (
                np.cumsum([0, *map(len, self._scopes)]).astype(np.uint32),
                np.array([choice for scope in self._scopes for choice in scope], np.uint32),
                np.array(self._strides, np.uint32),
                np.array(self._starts, np.uint32),
                np.concatenate([np.zeros(0, np.uint8), *self._bits]),
                np.array(self._weights, np.float64),
                np.array(self._hard, np.bool_),
                np.array(self._sources, np.uint32),
            )
        )


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array after making it read-only."""
    array.setflags(write=False)
    return array

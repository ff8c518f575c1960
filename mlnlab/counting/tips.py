"""Which ground atoms tip which bindings of a quantity over its bound.

A quantity holds of v where a count c(v) stands in a relation to a bound; a ground atom a changes that count
by d(a, v). So a tips v by [c(v) + d(a, v) is in the relation] - [c(v) is]. Both c and d are sums of pieces,
most of which are zero nearly everywhere, and any function f of pieces is a sum over the sets S of them of

    sum over T in S of (-1)^(|S| - |T|) f(pieces of T as they are, all others 0),

where the part of S is zero wherever a piece of S is. So it is a product again: the conditions under which the
pieces of S are not zero, times a number that depends on their weights only. Nothing is multiplied out, and
positions that do not matter do not occur: for ``EXIST y F(x, y)`` all atoms F(a, b) with one a are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.grouping import places_of
from mlnlab.counting.pieces import Piece, added, folded, leaders, led, listing_key, met, one_piece
from mlnlab.counting.tables import Table, row_keys
from mlnlab.logic.relations import sorted_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.conjunctions import Threshold
    from mlnlab.counting.pieces import Same
    from mlnlab.logic.formulas import Relation

MOST_PIECES = 9  # of the count and the change of one quantity; their subsets are gone through

_COMPARE: dict[Relation, Callable[[Any, int], Any]] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tips:
    """By how much the truth of a quantity rises where positions are the same and all tables list them."""

    by: int
    same: tuple[Same, ...]
    where: tuple[Table, ...]


def tips_of(
    threshold: Threshold,
    counts: Sequence[Piece],
    changes: Sequence[Piece],
    sizes: Mapping[int, int],
    *,
    true: bool,
) -> list[Tips]:
    """Return the tips by atoms that are all true, or all false, now.

    The positions are those of the atom's arguments, then of the threshold's head.
    """
    if len(counts) + len(changes) > MOST_PIECES:
        changes = one_piece(changes, sizes)
    if len(counts) + len(changes) > MOST_PIECES:
        counts = one_piece(counts, sizes)
    steady = sum(piece.number for piece in changes if piece.everywhere)
    now = sum(piece.number for piece in counts if piece.everywhere)
    moving = [piece for piece in changes if not piece.everywhere]
    lying = [piece for piece in counts if not piece.everywhere]
    parts: dict[object, list[Piece]] = {}
    for moved in _subsets(moving):
        if not moved and not steady:
            continue
        for beside in _subsets(lying):
            piece = _Part(threshold, (now, steady), beside, moved, true=true).rise(sizes)
            parts.setdefault(piece.conditions, []).append(piece)
    return [tips for alike in parts.values() for tips in _tips(added(alike))]


def _tips(piece: Piece) -> Iterator[Tips]:
    """Yield the tips that a piece stands for, one for each of its numbers."""
    if piece.weights is None:
        if piece.number:
            yield Tips(piece.number, piece.same, piece.where)
        return
    by = np.asarray(piece.weights.weights)
    for number in np.unique(by).tolist():
        if number:
            rows = sorted_rows(piece.weights.rows[by == number])
            yield Tips(
                number * piece.number, piece.same, (*piece.where, Table(piece.weights.variables, rows))
            )


def _subsets(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    for size in range(len(pieces) + 1):
        yield from combinations(pieces, size)


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of the tips that belongs to one set of pieces, some of the count and some of the change."""

    threshold: Threshold
    usual: tuple[int, int]  # of the count, of the change
    beside: tuple[Piece, ...]
    moved: tuple[Piece, ...]
    true: bool

    def rise(self, sizes: Mapping[int, int]) -> Piece:
        """Return by how much the part rises."""
        pieces = (*self.beside, *self.moved)
        leader = leaders([one for piece in pieces for one in piece.same])
        constants = {(leader.get(p, p), c) for piece in pieces for p, c in piece.same if c < 0}
        same = (*((first, p) for p, first in sorted(leader.items()) if p != first), *sorted(constants))
        where = _different(led(table, leader) for piece in pieces for table in piece.where)
        where = tuple(folded(where, sizes))
        if not all(table.length for table in where):
            return Piece(0)
        weighted = [led(piece.weights, leader) for piece in pieces if piece.weights is not None]
        if not weighted:
            return Piece(int(self._rise([np.asarray(piece.number) for piece in pieces])), same, where)
        rows = _rows(weighted, where, sizes)
        rises = self._rise([_values(piece, rows, leader, sizes) for piece in pieces])
        return Piece(1, same, where, Table(rows.variables, rows.rows, rises))

    def _rise(self, values: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Return the alternating sum over the subsets of the pieces; where they hold is left out."""
        met_values, moved_values = values[: len(self.beside)], values[len(self.beside) :]
        total = np.zeros((), np.int64)
        for some in _chosen(len(met_values)):
            count = self.usual[0] + sum(met_values[place] for place in some)
            for others in _chosen(len(moved_values)):
                change = self.usual[1] + sum(moved_values[place] for place in others)
                sign = -1 if (len(values) - len(some) - len(others)) % 2 else 1
                with_atom, without = (count, count - change) if self.true else (count + change, count)
                total = total + sign * (self._holds(with_atom) - self._holds(without))
        return total

    def _holds(self, count: Any) -> NDArray[np.int64]:  # noqa: ANN401 - a number or an array
        return np.asarray(_COMPARE[self.threshold.relation](count, self.threshold.bound)).astype(np.int64)


def _chosen(number: int) -> Iterator[tuple[int, ...]]:
    for size in range(number + 1):
        yield from combinations(range(number), size)


def _different(tables: Iterable[Table]) -> tuple[Table, ...]:
    different = {listing_key(table): table for table in tables}
    return tuple(different[key] for key in sorted(different))


# --- the rows on which weights depend -----------------------------------------------------------


def _rows(weighted: Sequence[Table], where: Sequence[Table], sizes: Mapping[int, int]) -> Table:
    """Return the rows that all weighted tables list; conditions are joined only to link the tables."""
    bare = [Table(table.variables, table.rows) for table in weighted]
    return met(bare if _linked(bare) else [*bare, *where], sizes, np.int64)


def _linked(tables: Sequence[Table]) -> bool:
    reached, waiting = set(tables[0].variables), list(tables[1:])
    while linked := next((table for table in waiting if reached & set(table.variables)), None):
        reached |= set(linked.variables)
        waiting.remove(linked)
    return not waiting


def _values(piece: Piece, rows: Table, leader: Mapping[int, int], sizes: Mapping[int, int]) -> NDArray[Any]:
    """Return a piece's numbers at rows at which its conditions hold."""
    if piece.weights is None:
        return np.asarray(piece.number)
    table = led(piece.weights, leader)
    columns = [rows.variables.index(position) for position in table.variables]
    known, keys = row_keys([table.rows, rows.rows[:, columns]], [sizes[p] for p in table.variables])
    weights = np.asarray(table.weights)
    if piece.bound >= 1 << 62:
        weights = weights.astype(object)
    return np.asarray(weights[places_of(keys, known)] * piece.number)

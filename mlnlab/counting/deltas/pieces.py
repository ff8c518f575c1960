"""Numbers over several positions as sums of pieces, each a product that is not multiplied out.

A grouped count is a product of weights of single positions and of tables. Most of these only say where the
product is not zero: they list an atom's tuples, or say that two positions are the same constant. How large it
is depends on the few weights that differ, so a piece keeps the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.grouping import places_of
from mlnlab.counting.facts.tables import Table, Vector, group_rows, join_tables, row_keys
from mlnlab.logic.formulas.formulas import Variable
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.plans.binding import Grouped
    from mlnlab.logic.vocabulary import Vocabulary

_SAFE = 1 << 62
Same = tuple[int, int]  # two positions, or a position and -1 minus the number of a constant


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """``number`` times the weights, where positions are the same and the tables list them; else 0."""

    number: int
    same: tuple[Same, ...] = ()
    where: tuple[Table, ...] = ()
    weights: Table | None = None

    @property
    def everywhere(self) -> bool:
        """Whether the piece is one number, whatever the positions hold."""
        return not self.same and not self.tables

    @property
    def bound(self) -> int:
        """No value is larger than this."""
        return abs(self.number) * (1 if self.weights is None else _largest(np.asarray(self.weights.weights)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables."""
        return self.where if self.weights is None else (*self.where, self.weights)

    @property
    def conditions(self) -> tuple[object, ...]:
        """A value that pieces share whose weights can be added up."""
        columns = None if self.weights is None else self.weights.variables
        return self.same, columns, tuple(listing_key(table) for table in self.where)


def _largest(weights: NDArray[Any]) -> int:
    return max(int(weights.max()), -int(weights.min())) if len(weights) else 0


def pieces_of(groups: Iterable[Grouped], vocabulary: Vocabulary, first: int = 0) -> list[Piece]:
    """Return grouped counts over the positions of their heads, numbered from ``first``."""
    alike: dict[object, list[Piece]] = {}
    for group in groups:
        if 0 not in group.parts:
            piece = _piece_of(group, vocabulary, first)
            alike.setdefault(piece.conditions, []).append(piece)
    return _unite_pieces([piece for pieces in alike.values() if (piece := add_pieces(pieces)).number])


def _piece_of(group: Grouped, vocabulary: Vocabulary, first: int) -> Piece:
    places: dict[int, int] = {}
    same: list[Same] = []
    for position, argument in enumerate(group.bound.conjunction.head, first):
        if isinstance(argument, Variable):
            known = places.setdefault(group.bound.number(argument), position)
            if known != position:
                same.append((known, position))
        else:
            same.append((position, -1 - vocabulary.domain(argument.type).number(argument.name)))
    number = group.coefficient * prod(part for part in group.parts if isinstance(part, int))
    sizes = {places[number]: size for number, size in enumerate(group.bound.sizes) if number in places}
    tables = []
    for part in group.parts:
        if not isinstance(part, int):
            table = _list_part(part, places)
            alike = _only(table)
            number *= 1 if alike is None else alike
            tables.append(table if alike is None else Table(table.variables, table.rows))
    tables = fold_tables(tables, sizes)
    where = tuple(table for table in tables if table.weights is None)
    weights = _product([table for table in tables if table.weights is not None], sizes)
    return Piece(number if all(table.length for table in tables) else 0, tuple(same), where, weights)


def _list_part(part: Vector | Table, places: Mapping[int, int]) -> Table:
    if isinstance(part, Table):
        return Table(tuple(places[v] for v in part.variables), part.rows, part.weights)
    found = np.flatnonzero(part.weights)
    return Table((places[part.variable],), frozen(found.astype(np.uint32)[:, None]), part.weights[found])


def _only(table: Table) -> int | None:
    """Return the one weight that all rows of a table have; ``None`` where they differ."""
    if table.weights is None or not len(table.weights):
        return 1
    first = table.weights[0]
    return int(first) if bool((table.weights == first).all()) else None


def _product(tables: Sequence[Table], sizes: Mapping[int, int]) -> Table | None:
    if not tables:
        return None
    bound = 1
    for table in tables:
        bound *= _largest(np.asarray(table.weights))
    return join_all_tables(tables, sizes, np.int64 if bound < _SAFE else object)


def add_pieces(pieces: Sequence[Piece]) -> Piece:
    """Add up pieces under the same conditions, with weights over the same positions."""
    first = pieces[0]
    if len(pieces) == 1 or first.weights is None:
        return replace(first, number=sum(piece.number for piece in pieces))
    kind = np.int64 if sum(piece.bound for piece in pieces) < _SAFE else object
    tables = [piece.weights for piece in pieces if piece.weights is not None]
    weights = [
        np.asarray(table.weights).astype(kind) * piece.number
        for piece, table in zip(pieces, tables, strict=True)
    ]
    rows = np.concatenate([table.rows for table in tables])
    largest = {column: int(rows[:, column].max(initial=0)) + 1 for column in range(rows.shape[1])}
    every = Table(tuple(largest), rows, np.concatenate(weights))
    total = group_rows(every, largest, kind)
    summed = Table(tables[0].variables, total.rows, total.weights)
    return Piece(1 if total.length else 0, first.same, first.where, summed)


def _unite_pieces(pieces: list[Piece]) -> list[Piece]:
    """Make pieces one that differ in one table only: the table gets weights."""
    for one, other in combinations(pieces, 2):
        if one.same == other.same:
            rest, mine, its = _apart(one.tables, other.tables)
            alike = len(mine) == len(its) == 1 and mine[0].variables == its[0].variables
            if alike and all(table.weights is None for table in rest):
                both = [
                    Piece(piece.number, one.same, rest, _give_weights(table))
                    for piece, table in ((one, mine[0]), (other, its[0]))
                ]
                others = [piece for piece in pieces if piece is not one and piece is not other]
                united = add_pieces(both)
                return _unite_pieces([*others, united] if united.number else others)
    return pieces


def _give_weights(table: Table) -> Table:
    return (
        Table(table.variables, table.rows, np.ones(table.length, np.int64))
        if table.weights is None
        else table
    )


def _apart(
    one: Sequence[Table], other: Sequence[Table]
) -> tuple[tuple[Table, ...], list[Table], list[Table]]:
    """Return the tables of both, and those of one only."""
    first, second = ({_key(table): table for table in tables} for tables in (one, other))
    return (
        tuple(table for key, table in first.items() if key in second),
        [table for key, table in first.items() if key not in second],
        [table for key, table in second.items() if key not in first],
    )


def _key(table: Table) -> tuple[object, ...]:
    weights = None if table.weights is None else tuple(table.weights.tolist())
    return listing_key(table), weights


def listing_key(table: Table) -> tuple[tuple[int, ...], int, bytes]:
    """Return a value that tables share which list the same rows; over no positions their number tells."""
    return table.variables, table.length, table.rows.tobytes()


def fold_tables(tables: Sequence[Table], sizes: Mapping[int, int]) -> list[Table]:
    """Leave out tables whose positions another table has, which then lists only the rows common to both."""
    live = list(tables)
    for table in sorted(tables, key=lambda one: len(one.variables)):
        if table.weights is None:
            for place, cover in enumerate(live):
                if cover is not table and set(table.variables) <= set(cover.variables):
                    live[place] = _among(cover, table, sizes)
                    live = [one for one in live if one is not table]
                    break
    return live


def _among(cover: Table, table: Table, sizes: Mapping[int, int]) -> Table:
    columns = [cover.variables.index(position) for position in table.variables]
    known, keys = row_keys([table.rows, cover.rows[:, columns]], [sizes[p] for p in table.variables])
    kept = places_of(keys, known) < len(known)
    weights = None if cover.weights is None else cover.weights[kept]
    return Table(cover.variables, frozen(cover.rows[kept]), weights)


# --- positions that are the same ----------------------------------------------------------------


def leaders(same: Sequence[Same]) -> dict[int, int]:
    """Return, for each position that is the same as another, the one that stands for both."""
    leader: dict[int, int] = {}
    for one, other in same:
        if other >= 0:
            first, second = leader.get(one, one), leader.get(other, other)
            leader.update({p: first for p, of in leader.items() if of == second})
            leader[other] = leader[second] = first
    return leader


def keep_leading_positions(table: Table, leader: Mapping[int, int]) -> Table:
    """Return the table over leading positions; rows in which same positions differ are dropped."""
    if not leader or not any(variable in leader for variable in table.variables):
        return table
    names = [leader.get(variable, variable) for variable in table.variables]
    first = [names.index(name) for name in names]
    kept = np.ones(len(table.rows), bool)
    for column, other in enumerate(first):
        if column != other:
            kept &= table.rows[:, column] == table.rows[:, other]
    columns = sorted(set(first))
    weights = None if table.weights is None else table.weights[kept]
    return Table(tuple(names[column] for column in columns), frozen(table.rows[kept][:, columns]), weights)


def join_all_tables(tables: Sequence[Table], sizes: Mapping[int, int], kind: type) -> Table:
    """Return the join of tables, linked ones first; the columns come out in order."""
    found = Table((), np.zeros((1, 0), np.uint32))
    waiting = sorted(tables, key=lambda table: table.length)
    while waiting:
        known = set(found.variables)
        best = max(waiting, key=lambda table: len(known.intersection(table.variables)))
        waiting.remove(best)
        found = join_tables(found, best, sizes, kind) if known else best
    order = sorted(range(len(found.variables)), key=found.variables.__getitem__)
    return Table(tuple(sorted(found.variables)), frozen(found.rows[:, order]), found.weights)


# --- many pieces are made few ones --------------------------------------------------------------


def one_piece(pieces: Sequence[Piece], sizes: Mapping[int, int]) -> list[Piece]:
    """Write all pieces out over the positions of all of them, as one piece beside the usual number."""
    usual = [piece for piece in pieces if piece.everywhere]
    others = [piece for piece in pieces if not piece.everywhere]
    kind = np.int64 if sum(piece.bound for piece in others) < 1 << 62 else object
    tables = [written_out(piece, sizes, kind) for piece in others]
    columns = tuple(sorted({position for table in tables for position in table.variables}))
    spread_out = [spread(table, columns, sizes, kind) for table in tables]
    rows = np.concatenate([table.rows for table in spread_out])
    weights = np.concatenate([np.asarray(table.weights) for table in spread_out])
    return [*usual, Piece(1, weights=group_rows(Table(columns, rows, weights), sizes, kind))]


def written_out(piece: Piece, sizes: Mapping[int, int], kind: type) -> Table:
    """Return a piece's numbers as a table over the positions that matter to it."""
    tables = [*piece.where, *([] if piece.weights is None else [piece.weights])]
    for one, other in piece.same:
        every = np.arange(sizes[one], dtype=np.uint32)
        if other >= 0:
            tables.append(Table((one, other), np.repeat(every[:, None], 2, axis=1)))
        else:
            tables.append(Table((one,), every[-1 - other : -other][:, None]))
    found = join_all_tables(tables, sizes, kind)
    weights: NDArray[Any] = np.full(len(found.rows), piece.number, kind)
    return Table(found.variables, found.rows, weights if found.weights is None else weights * found.weights)


def spread(table: Table, columns: tuple[int, ...], sizes: Mapping[int, int], kind: type) -> Table:
    """Repeat each row for every constant in the columns that the table lacks."""
    result = table
    for column in columns:
        if column not in table.variables:
            every = np.arange(sizes[column], dtype=np.uint32)[:, None]
            result = join_tables(result, Table((column,), every), sizes, kind)
    rows = result.rows[:, [result.variables.index(column) for column in columns]]
    return Table(columns, frozen(rows), result.weights)

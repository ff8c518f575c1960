"""A number for every ground atom of a predicate, as products of weights of arguments and of few tuples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.grouping import places_of
from mlnlab.counting.facts.tables import Table, Vector, join_tables, row_keys
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import Variable
from mlnlab.logic.relations import frozen
from mlnlab.steps import budget
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.plans.binding import Grouped
    from mlnlab.logic.vocabulary import Vocabulary

_SAFE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """scalar times the vectors' weights of single arguments times the tables' weights of several arguments.

    Tables are over argument positions; a tuple that a table does not list has weight 0.
    """

    scalar: int
    vectors: tuple[Vector, ...]
    tables: tuple[Table, ...]

    @property
    def bound(self) -> int:
        """No value is larger than this, nor is the scalar, which is there even where nothing is listed."""
        weights = [
            *(v.weights for v in self.vectors),
            *(t.weights for t in self.tables if t.weights is not None),
        ]
        return abs(self.scalar) * prod(max(1, int(w.max()), -int(w.min())) if len(w) else 1 for w in weights)

    def at(self, rows: NDArray[np.uint32], sizes: Sequence[int], kind: type) -> NDArray[Any]:
        """Return the values of some ground atoms."""
        result: NDArray[Any] = np.full(len(rows), self.scalar, kind)
        for vector in self.vectors:
            result *= vector.weights[rows[:, vector.variable]].astype(kind, copy=False)
        for table in self.tables:
            result *= _looked_up(table, rows, sizes, kind)
        return result


def _looked_up(table: Table, rows: NDArray[np.uint32], sizes: Sequence[int], kind: type) -> NDArray[Any]:
    asked = rows[:, list(table.variables)]
    known, keys = row_keys([table.rows, asked], [sizes[position] for position in table.variables])
    result: NDArray[Any] = np.zeros(len(rows), kind)
    places = places_of(keys, known)
    found = places < len(known)
    result[found] = 1 if table.weights is None else table.weights[places[found]].astype(kind, copy=False)
    return result


def factor_group(group: Grouped, sizes: Sequence[int], vocabulary: Vocabulary) -> Factored:
    """Return a grouped count over argument positions instead of variables."""
    positions: dict[int, list[int]] = {}
    vectors: list[Vector] = []
    for position, argument in enumerate(group.bound.conjunction.head):
        if isinstance(argument, Variable):
            positions.setdefault(group.bound.number(argument), []).append(position)
        else:
            weights = np.zeros(sizes[position], np.int64)
            weights[vocabulary.domain(argument.type).number(argument.name)] = 1
            vectors.append(Vector(position, weights))
    scalar, tables = group.coefficient, []
    for part in group.parts:
        match part:
            case Vector(variable, weights):
                vectors.append(Vector(positions[variable][0], weights))
            case Table(variables, rows, found):
                tables.append(Table(tuple(positions[v][0] for v in variables), rows, found))
            case number:
                scalar *= number
    for several in positions.values():
        for other in several[1:]:
            same = np.repeat(np.arange(sizes[other], dtype=np.uint32)[:, None], 2, axis=1)
            tables.append(Table((several[0], other), same))
    return Factored(scalar, tuple(vectors), tuple(tables))


def support(value: Factored, sizes: Sequence[int]) -> NDArray[np.uint32]:
    """Return argument tuples among which are all those whose value is not zero."""
    by_position = dict(enumerate(sizes))
    covered = {position for table in value.tables for position in table.variables}
    parts = [*value.tables, *(_list_constants(v.variable, np.flatnonzero(v.weights)) for v in value.vectors)]
    covered |= {vector.variable for vector in value.vectors}
    parts += [_list_constants(p, np.arange(size)) for p, size in by_position.items() if p not in covered]
    refuse_many(prod(size for p, size in by_position.items() if p not in covered))
    found = Table((), np.zeros((1, 0), np.uint32))
    while parts:
        known = frozenset(found.variables)
        best = max(parts, key=partial(_measure_overlap, known))
        parts.remove(best)
        bare = Table(best.variables, best.rows)
        found = join_tables(found, bare, by_position, np.int64) if known else bare
    return frozen(found.rows[:, [found.variables.index(position) for position in range(len(sizes))]])


def _measure_overlap(known: frozenset[int], part: Table) -> tuple[int, int]:
    return len(known.intersection(part.variables)), len(part.variables)


def _list_constants(position: int, constants: NDArray[np.intp]) -> Table:
    return Table((position,), constants.astype(np.uint32)[:, None])


def refuse_many(length: int) -> None:
    """Refuse to list too many ground atoms one by one."""
    if length > budget.MOST_ROWS:
        raise TooLargeError(
            f"{length:,} ground atoms would have to be listed one by one"
            f" (the limit is {budget.MOST_ROWS:,}).",
            float(length),
            ["use fewer constants", "ask for single atoms, with at(...)"],
        )
    refuse_beyond_memory(budget.ROW * length, f"Listing {length:,} ground atoms", ["use fewer constants"])


def kind_for(values: Sequence[Factored]) -> type:
    """Return the kind of number that holds the sums of these values."""
    return np.int64 if sum(value.bound for value in values) < _SAFE else object

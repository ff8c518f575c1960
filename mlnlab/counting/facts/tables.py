"""Weighted tables of bindings, and the two things done with them: joining, and summing a variable out.

A :class:`Vector` gives each constant of one variable's type a weight; a :class:`Table` lists only the
bindings whose weight is not zero, each once. Weights are int64, or float64 for estimates, or Python's whole
numbers (``object``) where int64 is too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.grouping import grouped_keys
from mlnlab.counting.facts.sorted_facts import degrees
from mlnlab.errors import TooLargeError
from mlnlab.logic.relations import frozen
from mlnlab.steps import budget
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Weights = NDArray[Any]
    from collections.abc import Iterator

    from numpy.typing import NDArray

MOST_DENSE = 1 << 26  # constants of a type whose weights are kept as a vector


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A weight for each constant of one variable's type."""

    variable: int
    weights: Weights

    @property
    def variables(self) -> tuple[int, ...]:
        """The variable."""
        return (self.variable,)

    @property
    def length(self) -> int:
        """The number of constants with a weight."""
        return int(np.count_nonzero(self.weights))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Different bindings of some variables, a column for each, with their weights; ``None``: all are 1."""

    variables: tuple[int, ...]
    rows: NDArray[np.uint32]
    weights: Weights | None = None

    @property
    def length(self) -> int:
        """The number of bindings."""
        return len(self.rows)


Part = Vector | Table | int
Sizes = "Mapping[int, int]"


def ones(length: int, kind: type) -> Weights:
    """Return ``length`` weights of 1."""
    return np.ones(length, kind)


def product_of(vectors: Sequence[Vector], kind: type) -> Weights | None:
    """Return the elementwise product of the weights of vectors of one variable."""
    result: Weights | None = None
    for vector in vectors:
        weights = vector.weights if vector.weights.dtype == kind else vector.weights.astype(kind)
        result = weights if result is None else result * weights
    return result


def total(weights: Weights) -> int:
    """Return the sum of weights, which is known to fit their kind."""
    result: int = sum(weights.tolist()) if weights.dtype == object else weights.sum().item()
    return result


def scalar_product(left: Weights, right: Weights) -> int:
    """Return the sum of the products of two vectors' weights."""
    if left.dtype == object:
        return total(left * right)
    if not len(left):
        return 0
    from mlnlab.kernels.counting.true_tuples import dot

    result: int = dot(left, right)
    return result


# --- summing out --------------------------------------------------------------------------------


def weigh_rows(table: Table, vectors: Sequence[Vector], kind: type) -> Table:
    """Return the table with each row's weight multiplied by the vectors' weights of its constants."""
    if not vectors:
        return table
    weights = ones(len(table.rows), kind) if table.weights is None else table.weights.astype(kind)
    for vector in vectors:
        column = table.variables.index(vector.variable)
        factors: Weights = vector.weights.astype(kind, copy=False)
        if kind is object:
            weights *= factors[table.rows[:, column]]
        else:
            from mlnlab.kernels.counting.true_tuples import weigh

            weigh(table.rows, column, factors, weights)
    kept = weights != 0
    if kept.all():
        return Table(table.variables, table.rows, weights)
    return Table(table.variables, frozen(table.rows[kept]), weights[kept])


def message(table: Table, variable: int, weights: Weights | None, size: int, kind: type) -> Vector:
    """Sum one variable of an unweighted binary table out, with weights of its constants, into a vector."""
    source = table.variables.index(variable)
    target = table.variables[1 - source]
    if weights is None:
        return Vector(target, degrees(table.rows, 1 - source, size).astype(kind, copy=False))
    result: Weights = np.zeros(size, kind)
    if kind is object:
        np.add.at(result, table.rows[:, 1 - source], weights[table.rows[:, source]])
    else:
        from mlnlab.kernels.counting.true_tuples import send

        send(table.rows, source, weights, 1 - source, result)
    return Vector(target, result)


def summed_out(table: Table, variable: int, sizes: Mapping[int, int], kind: type) -> Part:
    """Return the table without a variable, the weights of rows that become equal added up."""
    columns = [c for c, v in enumerate(table.variables) if v != variable]
    rest = tuple(table.variables[c] for c in columns)
    if not rest:
        return len(table.rows) if table.weights is None else total(table.weights)
    if len(rest) == 1 and sizes[rest[0]] <= MOST_DENSE:
        size, column = sizes[rest[0]], columns[0]
        if table.weights is None:
            return Vector(rest[0], degrees(table.rows, column, size).astype(kind, copy=False))
        return Vector(rest[0], _gather_weights(table, column, size, kind))
    return group_rows(Table(rest, frozen(table.rows[:, columns]), table.weights), sizes, kind)


def _gather_weights(table: Table, column: int, size: int, kind: type) -> Weights:
    weights = table.weights if table.weights is not None else ones(len(table.rows), kind)
    result: Weights = np.zeros(size, kind)
    if kind is object:
        np.add.at(result, table.rows[:, column], weights)
    else:
        from mlnlab.kernels.counting.true_tuples import gather

        gather(table.rows, column, weights, result)
    return result


def group_rows(table: Table, sizes: Mapping[int, int], kind: type) -> Table:
    """Return the table with equal rows made one, their weights added; the rows come out sorted."""
    if not len(table.rows):
        return Table(table.variables, table.rows, np.zeros(0, kind))
    (keys,) = row_keys([table.rows], [sizes[v] for v in table.variables])
    order = stable_order(keys)
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    weights = ones(len(order), kind) if table.weights is None else table.weights[order].astype(kind)
    sums = np.add.reduceat(weights, begins)
    kept = sums != 0
    return Table(table.variables, frozen(table.rows[order[begins[kept]]]), sums[kept])


# --- joining ------------------------------------------------------------------------------------


def row_keys(tables: Sequence[NDArray[np.uint32]], sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return one number for each row, equal just where rows are equal, ordered as the rows are."""
    if prod(sizes) < 1 << 62:
        return [_pack_rows(rows, sizes) for rows in tables]
    # Too many combinations for one number: from time to time the beginnings that there are are numbered.
    together = np.concatenate(tables)
    keys, span = np.zeros(len(together), np.int64), 1
    for column, size in enumerate(sizes):
        if span * size >= 1 << 62:
            different, keys = np.unique(keys, return_inverse=True)
            span = len(different)
        keys = keys * size + together[:, column]
        span *= size
    return list(np.split(keys, np.cumsum([len(rows) for rows in tables])[:-1]))


def _pack_rows(rows: NDArray[np.uint32], sizes: Sequence[int]) -> NDArray[np.int64]:
    keys = np.zeros(len(rows), np.int64)
    for column, size in enumerate(sizes):
        keys *= size
        keys += rows[:, column]
    return keys


def join_tables(left: Table, right: Table, sizes: Mapping[int, int], kind: type) -> Table:
    """Return the natural join of two tables; a row's weight is the product of its parts' weights."""
    shared = [v for v in left.variables if v in right.variables]
    added = [c for c, v in enumerate(right.variables) if v not in left.variables]
    keys = row_keys(
        [_columns(left, shared), _columns(right, shared)], [sizes[variable] for variable in shared]
    )
    order, first, numbers = matches(*keys)
    ends = np.cumsum(numbers)
    length = int(ends[-1]) if len(ends) else 0
    _refuse_long(length)
    variables = (*left.variables, *(right.variables[c] for c in added))
    rows = np.empty((length, len(variables)), np.uint32)
    weighed_ = left.weights is not None or right.weights is not None
    weights: Weights | None = np.empty(length, kind) if weighed_ else None
    for begin, end in stretches(ends):
        before, after = int(ends[begin] - numbers[begin]), int(ends[end - 1])
        several = numbers[begin:end]
        from_left = np.repeat(np.arange(begin, end), several)
        # A row's place among the matches of its left row is its own place behind the first of them.
        offsets = np.arange(before, after) - np.repeat(ends[begin:end] - several, several)
        from_right = order[first[from_left] + offsets]
        rows[before:after, : len(left.variables)] = np.take(left.rows, from_left, axis=0)
        if added:
            rows[before:after, len(left.variables) :] = np.take(right.rows, from_right, axis=0)[:, added]
        if weights is not None:
            weights[before:after] = _multiply_weights(left, right, from_left, from_right, kind)
    return Table(variables, frozen(rows), weights)


def _columns(table: Table, variables: Sequence[int]) -> NDArray[np.uint32]:
    places = [table.variables.index(variable) for variable in variables]
    if places == list(range(len(table.variables))):
        return table.rows
    return table.rows.T[places].T  # column by column, which is several times faster than row by row


def _multiply_weights(
    left: Table, right: Table, from_left: NDArray[np.intp], from_right: NDArray[np.intp], kind: type
) -> Weights:
    one: Weights | int = 1 if left.weights is None else left.weights[from_left].astype(kind, copy=False)
    other: Weights | int = 1 if right.weights is None else right.weights[from_right].astype(kind, copy=False)
    return np.asarray(one * other)


def _refuse_long(length: int) -> None:
    ways = [
        "use fewer constants or facts",
        "split the formula, so that fewer variables depend on each other",
    ]
    if length > budget.MOST_ROWS:
        raise TooLargeError(
            f"Counting needs an intermediate table of {length:,} rows (the limit is {budget.MOST_ROWS:,}).",
            float(length),
            ways,
        )
    refuse_beyond_memory(budget.ROW * length, f"An intermediate table of {length:,} rows", ways)


def compose_tables(
    left: Table, right: Table, variable: int, weights: Weights | None, sizes: Mapping[int, int]
) -> Table:
    """Return the join of two unweighted binary tables with their one common variable summed out."""
    from mlnlab.counting.facts.sorted_facts import adjacency
    from mlnlab.kernels.counting.true_tuples import compose_rows as compose

    start, end = (next(v for v in table.variables if v != variable) for table in (left, right))
    one = adjacency(left.rows, left.variables.index(start), sizes[start])
    other = adjacency(right.rows, right.variables.index(variable), sizes[variable])
    reach = degrees(right.rows, right.variables.index(variable), sizes[variable])
    through = degrees(left.rows, left.variables.index(variable), sizes[variable])
    most = min(int(through @ reach), sizes[start] * sizes[end])
    _refuse_long(most)
    rows, values = np.empty((most, 2), np.uint32), np.empty(most, np.int64)
    middle = ones(sizes[variable], np.int64) if weights is None else weights
    found = compose(
        one.starts, one.targets, other.starts, other.targets, middle, sizes[end], rows, values
    )  # fmt: skip
    return Table((start, end), frozen(rows[:found]), values[:found])


# --- sorting and looking up many numbers in stretches -------------------------------------------

# No single step takes so long that an interrupt waits.

STRETCH = 1 << 20  # rows at a time; some tens of milliseconds
_MOST_HASHED = 4 * STRETCH  # more are sorted instead
_MANY_TIMES = 4
_MOST_MARKED = 1 << 24  # keys from the lowest to the highest, a byte each
_BITS = 62  # of a number that has a key and its place
_MOST_BITS = 16  # numpy sorts numbers of this width by counting them


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of keys in ascending order; equal keys keep theirs.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if not len(keys):
        return np.zeros(0, np.int64)
    low, bits = int(keys.min()), len(keys).bit_length()
    if (int(keys.max()) - low).bit_length() + bits < _BITS:
        # Each key with its place behind it is a number of its own: those are sorted much faster than places.
        packed = keys - low
        packed <<= bits
        packed |= np.arange(len(keys))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed
    return _order_of_wide(keys, low)


def _order_of_wide(keys: NDArray[np.int64], low: int) -> NDArray[np.int64]:
    """Sort roughly by the leading bits, then each stretch of neighbours by all."""
    shift = max(0, (int(keys.max()) - low).bit_length() - _MOST_BITS)
    leading = ((keys - low) >> shift).astype(np.uint16)
    order = np.argsort(leading, kind="stable")
    ends = np.cumsum(np.bincount(leading))
    for begin, end in stretches(ends):
        places = order[0 if begin == 0 else ends[begin - 1] : ends[end - 1]]
        places[:] = places[np.argsort(keys[places], kind="stable")]
    return order


def stretches(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups, of which each has few members or is one group; ``ends`` adds up their sizes.

    >>> list(stretches(np.array([10, STRETCH, STRETCH + 5, 3 * STRETCH])))
    [(0, 2), (2, 3), (3, 4)]
    """
    begin, before = 0, 0
    while begin < len(ends):
        end = max(begin + 1, int(np.searchsorted(ends, before + STRETCH, "right")))
        yield begin, end
        begin, before = end, int(ends[end - 1])


def matches(
    asked: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of known keys with equals together; for each key asked for, where its equals begin.

    The third array says how many equals each of them has.

    >>> order, first, number = matches(np.array([5, 2]), np.array([5, 1, 7, 5]))
    >>> number.tolist(), order[first[0] :][:2].tolist()
    ([2, 0], [0, 3])
    """
    if _MANY_TIMES * len(asked) < len(known):
        kept = _among(known, asked)
        if kept is not None:
            order, first, number = matches(asked, known[kept])
            return kept[order], first, number
    if len(asked) + len(known) > _MOST_HASHED:
        return _matches_by_order(asked, known)
    from mlnlab.kernels.counting.true_tuples import transpose_rows

    groups, _ = grouped_keys(np.concatenate([known, asked]))
    own, others = groups[: len(known)], groups[len(known) :]
    counts = np.bincount(own, minlength=int(groups.max(initial=-1)) + 1)
    starts = np.zeros(len(counts) + 1, np.uint32)
    np.cumsum(counts, out=starts[1:], dtype=np.uint32)
    pairs = np.empty((len(known), 2), np.uint32)
    pairs[:, 0], pairs[:, 1] = np.arange(len(known)), own
    return transpose_rows(frozen(pairs), starts), starts[others].astype(np.int64), counts[others]


def _among(known: NDArray[np.int64], asked: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the places of known keys that are asked for; ``None`` where that is no gain."""
    low, high = (int(asked.min()), int(asked.max())) if len(asked) else (0, -1)
    if high - low >= _MOST_MARKED:
        return None
    marked = np.zeros(high - low + 2, bool)  # the last place is for keys that nobody asks for
    marked[asked - low] = True
    places = known - low
    places[(known < low) | (known > high)] = len(marked) - 1
    kept = np.flatnonzero(marked[places])
    return kept if _MANY_TIMES * len(kept) < len(known) * (_MANY_TIMES - 1) else None


def _matches_by_order(
    asked: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    order = stable_order(known)
    ordered = known[order]
    first, number = np.empty(len(asked), np.int64), np.empty(len(asked), np.int64)
    for begin in range(0, len(asked), STRETCH):
        here = slice(begin, begin + STRETCH)
        first[here] = np.searchsorted(ordered, asked[here], "left")
        number[here] = np.searchsorted(ordered, asked[here], "right")
        number[here] -= first[here]
    return order, first, number

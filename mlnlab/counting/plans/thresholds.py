"""Where a quantified formula is true: grouped counts, compared with a bound.

The count of most bindings is one and the same; those that differ from it are listed. So a quantity is a truth
value that holds by default, and the sorted rows that are exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.tables import Table, Vector, group_rows, join_tables
from mlnlab.counting.formulas.conjunctions import Conjunction, Threshold
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import Relation, Variable, holds_between
from mlnlab.logic.relations import frozen
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.plans.binding import Grouped
    from mlnlab.logic.vocabulary import Vocabulary

_FEW_COLUMNS = 2  # of a quantity whose exceptions are mostly as few as the facts
_MOST_COMBINATIONS = 1024  # of quantities that hold by default
_FITS = 1 << 62

COMPARE: dict[Relation, Callable[[Any, int], Any]] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Exceptions:
    """A relation: the default truth value, and the rows, over some positions, that differ from it."""

    columns: tuple[int, ...]
    rows: NDArray[np.uint32]
    default: bool


def truth_of(
    threshold: Threshold, groups: Sequence[Grouped], sizes: Sequence[int], vocabulary: Vocabulary
) -> Exceptions:
    """Return where the sum of grouped counts stands in the threshold's relation to its bound."""
    tables = [over_positions(group, vocabulary) for group in groups]
    columns = tuple(sorted({position for table in tables for position in table.variables}))
    usual = sum(total_of(table) for table in tables if not table.variables)
    default = holds_between(threshold.relation, usual, threshold.bound)
    if not columns:
        return Exceptions((), np.zeros((0, 0), np.uint32), default)
    by_position = dict(enumerate(sizes))
    _refuse_many([table for table in tables if table.variables], columns, by_position)
    spread = [_spread(table, columns, by_position) for table in tables if table.variables]
    rows = np.concatenate([table.rows for table in spread])
    weights = np.concatenate([np.asarray(table.weights) for table in spread])
    most = abs(usual) + abs(threshold.bound) + sum(_largest(table.weights) for table in spread)
    summed = group_rows(Table(columns, rows, weights), by_position, np.int64 if most < _FITS else object)
    truths = COMPARE[threshold.relation](np.asarray(summed.weights) + usual, threshold.bound)
    return Exceptions(columns, frozen(summed.rows[np.asarray(truths, bool) != default]), default)


def combinations(truths: Sequence[Exceptions]) -> Iterator[tuple[bool, ...]]:
    """Yield which relations' rows are joined; one that holds by default enters with them and without."""
    uses = [
        ((False, True) if len(truth.rows) else (False,)) if truth.default else (True,) for truth in truths
    ]
    number = prod(map(len, uses))
    if number > _MOST_COMBINATIONS:
        raise TooLargeError(
            f"Quantifiers that hold of most bindings would be counted in {number:,} combinations"
            f" (the limit is {_MOST_COMBINATIONS:,}).",
            float(number),
            ["split the formula, so that fewer quantifiers are side by side"],
        )
    return product(*uses)


def listed_at_most(conjunctions: Iterable[Conjunction], vocabulary: Vocabulary) -> int:
    """Return for how many tuples the truth of quantities of several variables may be listed."""
    waiting, found = list(conjunctions), dict[Threshold, int]()
    while waiting:
        for threshold in {quantity.threshold for quantity in waiting.pop().quantities} - found.keys():
            sizes = [len(vocabulary.domain(variable.type)) for variable in threshold.head]
            found[threshold] = prod(sizes) if len(sizes) > _FEW_COLUMNS else 0
            waiting += [term.conjunction for term in threshold.terms]
    return sum(found.values())


def total_of(table: Table) -> int:
    """Return the weight of a table without columns."""
    return 0 if table.weights is None or not len(table.weights) else int(table.weights[0])


def over_positions(group: Grouped, vocabulary: Vocabulary) -> Table:
    """Multiply the parts of a grouped count into one table over the positions of the head that matter to it.

    A position matters where it holds a constant, a variable of some part, or a variable met before.
    """
    scalar, table = group.coefficient, None
    sizes = dict(enumerate(group.bound.sizes))
    for part in group.parts:
        if isinstance(part, int):
            scalar *= part
        else:
            listed = as_table(part)
            table = listed if table is None else join_tables(table, listed, sizes, object)
    head = group.bound.conjunction.head
    seen = [group.bound.number(v) for v in head if isinstance(v, Variable)]
    repeated = {number for number in seen if seen.count(number) > 1}
    present = set() if table is None else set(table.variables)
    for number in sorted(repeated - present):
        every = Table((number,), np.arange(sizes[number], dtype=np.uint32)[:, None])
        table = every if table is None else join_tables(table, every, sizes, object)
    return _place_table(group, scalar, table, vocabulary)


def _place_table(group: Grouped, scalar: int, table: Table | None, vocabulary: Vocabulary) -> Table:
    variables = () if table is None else table.variables
    length = 1 if table is None else len(table.rows)
    positions, columns = [], []
    for position, argument in enumerate(group.bound.conjunction.head):
        if not isinstance(argument, Variable):
            number = vocabulary.domain(argument.type).number(argument.name)
            positions.append(position)
            columns.append(np.full(length, number, np.uint32))
        elif table is not None and group.bound.number(argument) in variables:
            positions.append(position)
            columns.append(table.rows[:, variables.index(group.bound.number(argument))])
    rows = np.column_stack(columns) if columns else np.zeros((length, 0), np.uint32)
    factors = None if table is None else table.weights
    kind = np.int64 if abs(scalar) * _largest(factors) < _FITS else object
    weights = np.full(length, scalar, kind)
    if factors is not None:
        weights = weights * factors.astype(kind)
    return Table(tuple(positions), rows, weights)


def _largest(weights: NDArray[Any] | None) -> int:
    """Return the largest absolute value, 1 where all weights are 1."""
    if weights is None:
        return 1
    return max((abs(int(end)) for end in (weights.min(), weights.max())), default=0) if len(weights) else 0


def as_table(part: Vector | Table) -> Table:
    """Return a vector as a table of its weights that are not zero."""
    if isinstance(part, Vector):
        listed = np.flatnonzero(part.weights)
        return Table((part.variable,), listed.astype(np.uint32)[:, None], part.weights[listed])
    return part


def _refuse_many(tables: Sequence[Table], columns: tuple[int, ...], sizes: Mapping[int, int]) -> None:
    """Raise a sentence where too many tuples would be listed, before any of them is."""
    length = sum(
        len(table.rows) * prod(sizes[column] for column in columns if column not in table.variables)
        for table in tables
    )
    if length > budget.MOST_LISTED_TUPLES:
        by_duckdb = 'count by DuckDB, which lists more: ml.count(mln, db, method="duckdb")'
        raise TooLargeError(
            f"A quantifier's truth would be listed for {length:,} tuples"
            f" (the limit is {budget.MOST_LISTED_TUPLES:,}).",
            float(length),
            [
                *([by_duckdb] if length <= budget.MOST_TUPLES_IN_DUCKDB else []),
                "use fewer constants",
                "let the quantified part speak of fewer free variables",
            ],
        )


def _spread(table: Table, columns: tuple[int, ...], sizes: Mapping[int, int]) -> Table:
    """Repeat each row for every constant in the columns that the table lacks."""
    missing = [column for column in columns if column not in table.variables]
    for column in missing:
        every = Table((column,), np.arange(sizes[column], dtype=np.uint32)[:, None])
        table = join_tables(table, every, sizes, object)
    order = [table.variables.index(column) for column in columns]
    return Table(columns, table.rows[:, order], table.weights)

"""Where a quantified formula is true: grouped counts, compared with a bound.

The count of most bindings is one and the same; those that differ from it are listed. So a quantity is a truth
value that holds by default, and the sorted rows that are exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.tables import MOST_ROWS, Table, Vector, grouped, joined
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas import Variable, holds_between
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.binding import Grouped
    from mlnlab.counting.conjunctions import Threshold
    from mlnlab.logic.vocabulary import Vocabulary


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
    spread = [_spread(table, columns, by_position) for table in tables if table.variables]
    rows = np.concatenate([table.rows for table in spread])
    weights = np.concatenate([np.asarray(table.weights) for table in spread])
    summed = grouped(Table(columns, rows, weights), by_position, object)
    numbers = [] if summed.weights is None else summed.weights.tolist()
    truths = [holds_between(threshold.relation, usual + number, threshold.bound) for number in numbers]
    return Exceptions(columns, frozen(summed.rows[np.array(truths, bool) != default]), default)


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
            table = listed if table is None else joined(table, listed, sizes, object)
    head = group.bound.conjunction.head
    seen = [group.bound.number(v) for v in head if isinstance(v, Variable)]
    repeated = {number for number in seen if seen.count(number) > 1}
    present = set() if table is None else set(table.variables)
    for number in sorted(repeated - present):
        every = Table((number,), np.arange(sizes[number], dtype=np.uint32)[:, None])
        table = every if table is None else joined(table, every, sizes, object)
    return _placed(group, scalar, table, vocabulary)


def _placed(group: Grouped, scalar: int, table: Table | None, vocabulary: Vocabulary) -> Table:
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
    weights = np.full(length, scalar, object)
    if table is not None and table.weights is not None:
        weights = weights * table.weights.astype(object)
    return Table(tuple(positions), rows, weights)


def as_table(part: Vector | Table) -> Table:
    """Return a vector as a table of its weights that are not zero."""
    if isinstance(part, Vector):
        listed = np.flatnonzero(part.weights)
        return Table((part.variable,), listed.astype(np.uint32)[:, None], part.weights[listed])
    return part


def _spread(table: Table, columns: tuple[int, ...], sizes: Mapping[int, int]) -> Table:
    """Repeat each row for every constant in the columns that the table lacks."""
    missing = [column for column in columns if column not in table.variables]
    length = len(table.rows) * prod(sizes[column] for column in missing)
    if length > MOST_ROWS:
        raise TooLargeError(
            f"A quantifier's truth would be listed for {length:,} tuples (at most {MOST_ROWS:,} are).",
            float(length),
            ["use fewer constants", "let the quantified part speak of fewer free variables"],
        )
    for column in missing:
        every = Table((column,), np.arange(sizes[column], dtype=np.uint32)[:, None])
        table = joined(table, every, sizes, object)
    order = [table.variables.index(column) for column in columns]
    return Table(columns, table.rows[:, order], table.weights)

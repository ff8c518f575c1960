"""From numbered rows to a relation: sorted, each atom once, contradictions and broken blocks said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.relations import Relation, frozen, no_rows, sorted_rows
from mlnlab.model.table_domains import MOST_VALUES, Reading
from mlnlab.model.table_values import rows_shown
from mlnlab.syntax.fact_relations import broken_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate
    from mlnlab.model.table_columns import Table

_UNKNOWN = 2.0  # not-a-number differs from itself, so that unknown atoms need a number of their own


def relation_of(
    predicate: Predicate,
    rows: NDArray[np.uint32],
    probabilities: NDArray[np.float64],
    table: Table,
    reading: Reading,
) -> Relation:
    """Return the relation; note where a table says two things of one atom, or two atoms of one block."""
    if bool(np.all(probabilities == 1)):
        relation = Relation(predicate.arity, sorted_rows(rows))
    else:
        relation = _marked_relation(rows, np.nan_to_num(probabilities, nan=_UNKNOWN), table, reading)
    _note_broken_blocks(predicate, rows, probabilities, relation, table, reading)
    return relation


def _marked_relation(
    rows: NDArray[np.uint32], marks: NDArray[np.float64], table: Table, reading: Reading
) -> Relation:
    arity = rows.shape[1]
    order = np.lexsort((np.arange(len(rows)), *rows.T[::-1]))
    rows, marks = rows[order], marks[order]
    again = np.zeros(len(rows), bool)
    again[1:] = np.all(rows[1:] == rows[:-1], axis=1)
    _note_contradictions(np.flatnonzero(again[1:] & (marks[1:] != marks[:-1])), order, table, reading)
    rows, marks = rows[~again], marks[~again]
    soft = (marks > 0) & (marks < 1)
    true, false, unknown = (
        frozen(rows[marks == mark]) if np.any(marks == mark) else no_rows(arity) for mark in (1, 0, _UNKNOWN)
    )
    probabilities = marks[soft]
    probabilities.flags.writeable = False
    return Relation(arity, true, false, unknown, frozen(rows[soft]), probabilities)


def _note_contradictions(
    places: NDArray[np.intp], order: NDArray[np.intp], table: Table, reading: Reading
) -> None:
    for place in places[:MOST_VALUES].tolist():
        rows = sorted([int(order[place]), int(order[place + 1])])
        reading.problems.append(
            f"{rows_shown(rows)} of table {table.title} say different things of one atom."
        )
    if len(places) > MOST_VALUES:
        more = len(places) - MOST_VALUES
        reading.problems.append(f"Table {table.title} says different things of {more:,} more atoms.")


def _note_broken_blocks(
    predicate: Predicate,
    rows: NDArray[np.uint32],
    probabilities: NDArray[np.float64],
    relation: Relation,
    table: Table,
    reading: Reading,
) -> None:
    """Note pairs of true atoms of which the predicate's mark ``!`` (or its being a function) allows one."""
    if not predicate.exclusive and not predicate.function:
        return
    pairs = list(broken_blocks(predicate, relation.true))
    for pair in pairs[:MOST_VALUES]:
        places = sorted(_row_of(relation.true[member], rows, probabilities) for member in pair)
        reading.problems.append(
            f"{rows_shown(places)} of table {table.title} exclude each other: {predicate} allows one true"
            " atom for each combination of its other arguments."
        )
    if len(pairs) > MOST_VALUES:
        more = len(pairs) - MOST_VALUES
        reading.problems.append(f"Table {table.title} has {more:,} more pairs of exclusive atoms.")


def _row_of(atom: NDArray[np.uint32], rows: NDArray[np.uint32], probabilities: NDArray[np.float64]) -> int:
    return int(np.flatnonzero(np.all(rows == atom, axis=1) & (probabilities == 1))[0])

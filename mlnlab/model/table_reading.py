"""From tables to relations: columns matched, names numbered, all problems of all tables said at once.

A table of the name ``constants`` lists constants by type; it is read first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mlnlab.errors import Diagnostic, InputError
from mlnlab.logic.relations import Relation
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping, Vocabulary
from mlnlab.model.table_columns import (
    CONSTANTS,
    CONSTANTS_COLUMNS,
    Table,
    argument_columns,
    argument_order,
    find_predicate,
    no_such_predicate,
    probability_position,
)
from mlnlab.model.table_domains import MOST_VALUES, Reading, grow_type, rows_with
from mlnlab.model.table_relations import relation_of
from mlnlab.model.table_values import CodedColumn, a_kind, coded_column, rows_shown, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate

_MOST_SENTENCES = 20
# What a database is made of: vocabulary, relations, name, remarks.
Parts = tuple[Vocabulary, FrozenMapping[Relation], str, tuple[Diagnostic, ...]]


def read_tables(
    tables: Mapping[str, Table], vocabulary: Vocabulary, *, name: str = "", any_case: bool = False
) -> Parts:
    """Return the parts of a database that holds what the tables say; raise all problems at once."""
    reading = Reading(dict(vocabulary.types))
    if CONSTANTS in tables:
        _read_constants(tables[CONSTANTS], reading)
    for key, table in tables.items():
        if key == CONSTANTS:
            continue
        predicate = find_predicate(key, vocabulary.predicates, any_case=any_case)
        if predicate is None:
            reading.problems.append(no_such_predicate(table.title, key, vocabulary.predicates))
        elif predicate in reading.relations:
            reading.problems.append(f"Table {table.title} is a second table of {predicate}.")
        else:
            _read_relation(table, vocabulary[predicate], reading)
    if reading.problems:
        raise_problems(reading.problems)
    grown = Vocabulary(FrozenMapping(reading.domains), vocabulary.predicates)
    return grown, FrozenMapping(reading.relations), name, tuple(reading.remarks)


def raise_problems(problems: list[str]) -> NoReturn:
    """Raise one error that lists the sentences."""
    if len(problems) == 1:
        raise InputError(problems[0])
    listed = [f"  - {problem}" for problem in problems[:_MOST_SENTENCES]]
    if len(problems) > _MOST_SENTENCES:
        listed.append(f"  - and {len(problems) - _MOST_SENTENCES:,} more problems")
    raise InputError("\n".join([f"The tables have {len(problems):,} problems:", *listed]))


def _read_constants(table: Table, reading: Reading) -> None:
    """Append the constants of the table ``constants`` to their types, in the table's order."""
    columns = _matched_columns(table, CONSTANTS_COLUMNS, "the table of constants", reading)
    if columns is None:
        return
    types, names = columns
    for number, type_ in enumerate(types.names):
        if type_ in reading.domains:
            places = np.flatnonzero((types.codes == number) & (names.codes >= 0))
            codes, first = np.unique(names.codes[places], return_index=True)
            listed = CodedColumn(
                tuple(names.names[code] for code in codes), codes, places[first], names.missing, {}
            )
            grow_type(type_, [(CONSTANTS_COLUMNS[1], listed)], table, reading, declared=True)
        else:
            hint = did_you_mean(type_, reading.domains) or "."
            reading.problems.append(
                f"{rows_with(types, number, table)} the type {shown(type_)}, which the model does not"
                f" have{hint}"
            )


def _read_relation(table: Table, predicate: Predicate, reading: Reading) -> None:
    """Read the ground atoms of one predicate."""
    before = len(reading.problems)
    if not table.columns and not table.height:  # an empty list of rows
        reading.relations[predicate.name] = Relation(predicate.arity)
        return
    place = probability_position(table.columns)
    probabilities = np.ones(table.height)
    if place is not None:
        probabilities = _probabilities(table, place, reading)
        table = table.without_column(place)
    wanted = argument_columns(predicate)
    columns = _matched_columns(table, wanted, str(predicate), reading)
    if columns is None:
        return
    for type_ in dict.fromkeys(predicate.types):
        uses = [(n, c) for n, c, t in zip(wanted, columns, predicate.types, strict=True) if t == type_]
        grow_type(type_, uses, table, reading)
    if len(reading.problems) == before:
        rows = np.empty((table.height, predicate.arity), np.uint32)
        for position, (column, type_) in enumerate(zip(columns, predicate.types, strict=True)):
            numbers = map(reading.domains[type_].number, column.names)
            rows[:, position] = np.array([*numbers, 0], np.uint32)[column.codes]
        reading.relations[predicate.name] = relation_of(predicate, rows, probabilities, table, reading)


def _matched_columns(
    table: Table, wanted: tuple[str, ...], shape: str, reading: Reading
) -> list[CodedColumn] | None:
    """Return the argument columns as numbers; note cells that are empty or cannot name a constant."""
    order = argument_order(table, wanted, shape)
    if isinstance(order, str):
        reading.problems.append(order)
        return None
    return [_checked_column(table, position, reading) for position in order]


def _checked_column(table: Table, position: int, reading: Reading) -> CodedColumn:
    column, heading = coded_column(table.cells[position]), table.columns[position]
    if len(column.missing):
        verb = "has" if len(column.missing) == 1 else "have"
        reading.problems.append(
            f"{rows_shown(column.missing.tolist())} of table {table.title} {verb} no value in column"
            f" {heading}."
        )
    for row, value in sorted(column.unnamed.items())[:MOST_VALUES]:
        reason = "half of a character" if isinstance(value, str) else a_kind(value)
        reading.problems.append(
            f"Row {row + 1} of table {table.title} has {shown(value)} in column {heading}, but {reason}"
            " cannot name a constant."
        )
    return column


def _probabilities(table: Table, place: int, reading: Reading) -> NDArray[np.float64]:
    """Return the column ``probability`` as numbers; not-a-number where a cell is empty (unknown)."""
    import pandas as pd

    codes, different = pd.factorize(table.cells[place])
    numbers = np.array([*map(_probability, different), np.nan])
    for code in np.flatnonzero(np.isinf(numbers))[:MOST_VALUES].tolist():
        rows = np.flatnonzero(codes == code).tolist()
        verb = "has" if len(rows) == 1 else "have"
        reading.problems.append(
            f"{rows_shown(rows)} of table {table.title} {verb} the probability {shown(different[code])};"
            " it is a number from 0 to 1, or empty where the atom is unknown."
        )
    return numbers[codes]


def _probability(value: object) -> float:
    """Return the number; infinity where there is none from 0 to 1, not-a-number for an empty text."""
    if isinstance(value, str) and not value.strip():
        return np.nan
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return np.inf
    return number if 0 <= number <= 1 else np.inf

"""From tables to relations: columns matched, names numbered, all problems of all tables said at once.

A table of the name ``constants`` lists constants by type; it is read first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mlnlab.errors import Diagnostic, InputError, Severity, Span
from mlnlab.logic.relations import Relation, frozen, no_rows, sorted_rows
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Domain, FrozenMapping, NamedDomain, Predicate, RangeDomain, Vocabulary
from mlnlab.model.tables.table_columns import (
    CONSTANTS,
    CONSTANTS_COLUMNS,
    Table,
    argument_columns,
    argument_order,
    find_predicate,
    no_such_predicate,
    probability_position,
)
from mlnlab.model.tables.table_values import CodedColumn, a_kind, coded_column, show_rows, show_value
from mlnlab.syntax.facts.fact_relations import broken_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


_MOST_SENTENCES = 20
# What a database is made of: vocabulary, relations, name, remarks.
Parts = tuple[Vocabulary, FrozenMapping[Relation], str, tuple[Diagnostic, ...]]


def read_tables(
    tables: Mapping[str, Table], vocabulary: Vocabulary, *, name: str = "", any_case: bool = False
) -> Parts:
    """Return the parts of a database with the facts in tables; raise all problems at once."""
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
                f"{rows_with(types, number, table)} the type {show_value(type_)}, which the model does not"
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
            f"{show_rows(column.missing.tolist())} of table {table.title} {verb} no value in column"
            f" {heading}."
        )
    for row, value in sorted(column.unnamed.items())[:MOST_VALUES]:
        reason = "half of a character" if isinstance(value, str) else a_kind(value)
        reading.problems.append(
            f"Row {row + 1} of table {table.title} has {show_value(value)} in column {heading}, but {reason}"
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
            f"{show_rows(rows)} of table {table.title} {verb} the probability {show_value(different[code])};"
            " it must be a number from 0 to 1, or empty where the atom is unknown."
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


# --- from numbered rows to a relation -----------------------------------------------------------

# Sorted, each atom once, contradictions and broken blocks said.

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
            f"{show_rows(rows)} of table {table.title} say different things about one atom."
        )
    if len(places) > MOST_VALUES:
        more = len(places) - MOST_VALUES
        reading.problems.append(f"Table {table.title} says different things about {more:,} more atoms.")


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
            f"{show_rows(places)} of table {table.title} exclude each other: {predicate} allows one true"
            " atom for each combination of its other arguments."
        )
    if len(pairs) > MOST_VALUES:
        more = len(pairs) - MOST_VALUES
        reading.problems.append(f"Table {table.title} has {more:,} more pairs of exclusive atoms.")


def _row_of(atom: NDArray[np.uint32], rows: NDArray[np.uint32], probabilities: NDArray[np.float64]) -> int:
    return int(np.flatnonzero(np.all(rows == atom, axis=1) & (probabilities == 1))[0])


# --- place the constants of tables in the domains of their types --------------------------------

# New constants are appended in order of first appearance. Ranges and domains given by their size alone take
# none; a domain listed in braces takes them with a warning, but none that is listed for another type.

MOST_VALUES = 3  # of one kind in one column; the others are counted


@dataclass(slots=True)
class Reading:
    """The results that one call gathers: growing domains, relations, problems, and remarks."""

    domains: dict[str, Domain]
    relations: dict[str, Relation] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    remarks: list[Diagnostic] = field(default_factory=list)


def grow_type(
    type_: str, uses: list[tuple[str, CodedColumn]], table: Table, reading: Reading, *, declared: bool = False
) -> None:
    """Append the new constants of one type, row by row; ``declared``: the table is the list of constants."""
    domain = reading.domains[type_]
    if not isinstance(domain, NamedDomain):
        for heading, column in uses:
            outside = [number for number, name in enumerate(column.names) if name not in domain]
            _note(outside, heading, column, table, reading, _describe_domain(type_, domain))
        return
    names = [name for _, column in uses for name in column.names]
    rows = np.concatenate([column.first_rows for _, column in uses])
    positions = np.repeat(np.arange(len(uses)), [len(column.names) for _, column in uses])
    order = np.lexsort((positions, rows)).tolist()
    grown = domain.add_names([names[place] for place in order])
    if not declared:
        _note_foreign(type_, domain, uses, table, reading)
        if domain.listed and len(grown) > len(domain):
            reading.remarks.append(_warn_of_new_constants(type_, domain, grown, table))
    reading.domains[type_] = grown


def _note_foreign(
    type_: str, domain: NamedDomain, uses: list[tuple[str, CodedColumn]], table: Table, reading: Reading
) -> None:
    """Note new constants that the user has listed for another type."""
    for owner, other in reading.domains.items():
        if owner != type_ and isinstance(other, NamedDomain) and other.listed:
            for heading, column in uses:
                foreign = [n for n, name in enumerate(column.names) if name in other and name not in domain]
                _note(foreign, heading, column, table, reading, f"that is a {owner}, not a {type_}")


def _note(
    strangers: list[int], heading: str, column: CodedColumn, table: Table, reading: Reading, reason: str
) -> None:
    """Say which rows of a column hold names that do not belong there, and why not."""
    for number in strangers[:MOST_VALUES]:
        reading.problems.append(
            f"{rows_with(column, number, table)} {show_value(column.names[number])} in column {heading},"
            f" but {reason}."
        )
    if len(strangers) > MOST_VALUES:
        reading.problems.append(
            f"Column {heading} of table {table.title} has {len(strangers) - MOST_VALUES:,} more such values:"
            f" {reason}."
        )


def rows_with(column: CodedColumn, number: int, table: Table) -> str:
    """Say which rows hold one of a column's names: ``Row 3 of table At has``."""
    rows = np.flatnonzero(column.codes == number).tolist()
    return f"{show_rows(rows)} of table {table.title} {'has' if len(rows) == 1 else 'have'}"


def _describe_domain(type_: str, domain: Domain) -> str:
    if isinstance(domain, RangeDomain):
        return f"{type_} is the range {domain.low}, ..., {domain.high}"
    if not domain:
        return f"{type_} is empty"
    return f"{type_} has the {len(domain):,} constants {domain[0]}, ..., {domain[-1]}"


def _warn_of_new_constants(type_: str, domain: NamedDomain, grown: NamedDomain, table: Table) -> Diagnostic:
    """Return the warning that a table adds constants to a list that the user wrote down."""
    first, others = grown.names[len(domain)], len(grown) - len(domain) - 1
    more = f" and {others:,} other name{'s' * (others > 1)}" if others else ""
    verb = "are" if others else "is"
    hint = did_you_mean(first, domain.names) or "."
    fact = f"{show_value(first)}{more} {verb} not among the constants listed for {type_}"
    message = f"{fact}, and {verb} added to them{hint}"
    return Diagnostic("unlisted-constant", Severity.WARNING, message, Span(table.title, 1, 1, 1, 1))

"""The constants of tables find their places in the domains of their types, as those of fact files do.

New constants are appended in order of first appearance. Ranges and domains given by their size alone take
none; a domain listed in braces takes them with a warning, but none that is listed for another type.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mlnlab.errors import Diagnostic, Severity, Span
from mlnlab.logic.relations import Relation
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Domain, NamedDomain, RangeDomain
from mlnlab.model.table_columns import Table
from mlnlab.model.table_values import CodedColumn, rows_shown, shown

MOST_VALUES = 3  # of one kind in one column; the others are counted


@dataclass(slots=True)
class Reading:
    """What one call gathers: the growing domains, the relations, problems, and remarks."""

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
            _note(outside, heading, column, table, reading, _domain_said(type_, domain))
        return
    names = [name for _, column in uses for name in column.names]
    rows = np.concatenate([column.first_rows for _, column in uses])
    positions = np.repeat(np.arange(len(uses)), [len(column.names) for _, column in uses])
    order = np.lexsort((positions, rows)).tolist()
    grown = domain.extended([names[place] for place in order])
    if not declared:
        _note_foreign(type_, domain, uses, table, reading)
        if domain.listed and len(grown) > len(domain):
            reading.remarks.append(_unlisted(type_, domain, grown, table))
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
            f"{rows_with(column, number, table)} {shown(column.names[number])} in column {heading},"
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
    return f"{rows_shown(rows)} of table {table.title} {'has' if len(rows) == 1 else 'have'}"


def _domain_said(type_: str, domain: Domain) -> str:
    if isinstance(domain, RangeDomain):
        return f"{type_} is the range {domain.low}, ..., {domain.high}"
    if not domain:
        return f"{type_} is empty"
    return f"{type_} has the {len(domain):,} constants {domain[0]}, ..., {domain[-1]}"


def _unlisted(type_: str, domain: NamedDomain, grown: NamedDomain, table: Table) -> Diagnostic:
    """Return the warning that a table adds constants to a list that the user wrote down."""
    first, others = grown.names[len(domain)], len(grown) - len(domain) - 1
    more = f" and {others:,} other name{'s' * (others > 1)}" if others else ""
    verb = "are" if others else "is"
    hint = did_you_mean(first, domain.names) or "."
    fact = f"{shown(first)}{more} {verb} not among the constants listed for {type_}"
    message = f"{fact}, and {verb} added to them{hint}"
    return Diagnostic("unlisted-constant", Severity.WARNING, message, Span(table.title, 1, 1, 1, 1))

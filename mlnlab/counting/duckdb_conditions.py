"""Comparisons and equalities with arithmetic, calculated by DuckDB into tables of what satisfies them.

A type becomes a table of its constants: ``code`` is the constant's number in the type, ``value`` the whole
number that it writes, and ``written`` with ``name`` stand for its name, which is never sent: a name that is
a number in its usual form is that number, any other gets a number of its own.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import number_of
from mlnlab.logic.formulas import Arithmetic, Comparison, Constant, Equality, Term, Variable
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import leaves, terms
from mlnlab.logic.vocabulary import RangeDomain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.counting.duckdb_store import Connection
    from mlnlab.logic.vocabulary import Domain

MOST_TUPLES = 50_000_000  # looked at for one condition
_LARGEST = 1 << 62
_EMPTY = 0  # stands for the empty name, which is also what a calculation without a value denotes


def satisfying(condition: Equality | Comparison, store: Connection) -> tuple[tuple[Variable, ...], int]:
    """Return a condition's variables, and the table of the constants' numbers for which it holds."""
    variables = free_variables(condition)
    _refuse_many(condition, variables, store)
    for variable in _calculated(condition):
        _require_numbers(store.vocabulary.domain(variable.type))
    numbers = {"": _EMPTY}
    tables = [_constants(store.vocabulary.domain(v.type), numbers, store) for v in variables]
    try:
        columns = {v: f"d{place}" for place, v in enumerate(variables)}
        sources = ", ".join(
            f"t{table} {column}" for table, column in zip(tables, columns.values(), strict=True)
        )
        if isinstance(condition, Comparison):
            _require_values(condition, columns, sources, store)
            holds = (
                f"{_value(condition.left, columns)} {condition.operator} {_value(condition.right, columns)}"
            )
        else:
            holds = _equal(condition, columns, numbers)
        chosen = ", ".join(f"{columns[v]}.code AS c{place}" for place, v in enumerate(variables))
        return variables, store.made(f"SELECT {chosen} FROM {sources} WHERE {holds}")
    finally:
        for table in tables:
            store.dropped(table)


def _refuse_many(
    condition: Equality | Comparison, variables: tuple[Variable, ...], store: Connection
) -> None:
    plain = [side for side in terms(condition) if isinstance(side, Variable)]
    # A variable that equals a calculation is looked up by its value, not tried.
    looked_up = plain[:1] if isinstance(condition, Equality) else []
    tried = prod(len(store.vocabulary.domain(v.type)) for v in variables if v not in looked_up)
    if tried > MOST_TUPLES:
        raise TooLargeError(
            f"{condition} would be tried on {tried:,} tuples of constants (at most {MOST_TUPLES:,} are).",
            float(tried),
            ["use fewer constants", "state what is compared as a predicate with facts"],
        )


def _calculated(condition: Equality | Comparison) -> dict[Variable, None]:
    """Return the variables whose constants have to be numbers."""
    sides = terms(condition)
    chosen = sides if isinstance(condition, Comparison) else [s for s in sides if isinstance(s, Arithmetic)]
    return dict.fromkeys(leaf for side in chosen for leaf in leaves(side) if isinstance(leaf, Variable))


def _require_numbers(domain: Domain) -> None:
    if not isinstance(domain, RangeDomain):
        for name in domain:
            number_of(Constant(name), {})  # says in a sentence which name is none


def _constants(domain: Domain, numbers: dict[str, int], store: Connection) -> int:
    """Return a table of the constants of a type; other names get numbers that are kept in ``numbers``."""
    if isinstance(domain, RangeDomain):
        if max(abs(domain.low), abs(domain.high)) >= _LARGEST:
            raise _too_long()
        value = f"range + ({domain.low:d})"
        columns = f"range AS code, ({value})::HUGEINT AS value, true AS written, {value} AS name"
        return store.made(f"SELECT {columns} FROM range({len(domain):d})")
    named = list(domain)
    written = [_is_written(name) for name in named]
    values = [_whole(name) for name in named]
    names = [
        value if is_number else numbers.setdefault(name, len(numbers))
        for name, value, is_number in zip(named, values, written, strict=True)
    ]
    held = store.offered(
        {
            "code": np.arange(len(named), dtype=np.uint32),
            "value": np.array(values, np.int64),
            "written": np.array(written, bool),
            "name": np.array(names, np.int64),
        },
        len(named),
    )
    # Calculations are made with 128 bits.
    table = store.made(f"SELECT code, value::HUGEINT AS value, written, name FROM t{held}")
    store.dropped(held)
    return table


def _is_written(name: str) -> bool:
    """Tell whether a name is a whole number as calculations write it."""
    try:
        return str(number_of(Constant(name), {})) == name
    except ArgumentError:
        return False


def _whole(name: str) -> int:
    """Return the number that a name writes, 0 where it writes none (which nothing asks for)."""
    try:
        number = number_of(Constant(name), {})
    except ArgumentError:
        return 0
    if abs(number) >= _LARGEST:
        raise _too_long()
    return number


def _too_long() -> TooLargeError:
    message = "A constant is a number of more than 18 digits, which is not given to DuckDB to calculate with."
    return TooLargeError(message, float(_LARGEST), ['use method="planned"'])


def _value(term: Term, columns: Mapping[Variable, str]) -> str:
    """Return SQL for the number that a term denotes; NULL where it has none."""
    match term:
        case Constant():
            number = number_of(term, {})
            if abs(number) >= _LARGEST:
                raise _too_long()
            return f"({number:d})::HUGEINT"
        case Variable():
            return f"{columns[term]}.value"
        case Arithmetic(operator, left, right):
            one, other = _value(left, columns), f"nullif({_value(right, columns)}, 0)"
            if operator == "%":  # with the sign of the divisor, as Python has it
                return f"(({one} % {other} + {other}) % {other})"
            if operator == "/":
                return f"(CASE WHEN {one} % {other} = 0 THEN {one} // {other} END)"
            return f"({one} {operator} {_value(right, columns)})"


def _require_values(
    condition: Comparison, columns: Mapping[Variable, str], sources: str, store: Connection
) -> None:
    """Refuse to compare what is undefined for some constants."""
    missing = [
        f"{_value(side, columns)} IS NULL" for side in terms(condition) if isinstance(side, Arithmetic)
    ]
    if missing and store.answers(f"SELECT 1 FROM {sources} WHERE {' OR '.join(missing)} LIMIT 1"):
        raise ArgumentError(
            "A division by zero, or with a rest, has no value, so it cannot be compared by size."
        )


def _equal(condition: Equality, columns: Mapping[Variable, str], numbers: Mapping[str, int]) -> str:
    """Return SQL that compares by name; what has no value has the empty name."""
    plain = [side for side in terms(condition) if not isinstance(side, Arithmetic)]
    calculated = [_value(side, columns) for side in terms(condition) if isinstance(side, Arithmetic)]
    names = [_name(side, columns, numbers) for side in plain]
    match names, calculated:
        case [], [left, right]:
            return f"{left} IS NOT DISTINCT FROM {right}"
        case [(written, name)], [value]:
            nothing = f"{value} IS NULL AND NOT {written} AND {name} = {_EMPTY}"
            return f"({written} AND {name} = {value}) OR ({nothing})"
        case _:
            (written, name), (also_written, other) = names
            return f"{name} = {other} AND {written} = {also_written}"


def _name(
    term: Constant | Variable, columns: Mapping[Variable, str], numbers: Mapping[str, int]
) -> tuple[str, str]:
    """Return SQL for whether a name is a number, and for what stands for it."""
    if isinstance(term, Variable):
        return f"{columns[term]}.written", f"{columns[term]}.name"
    if _is_written(term.name):
        return "true", f"{_whole(term.name):d}"
    return "false", f"{numbers.get(term.name, -1):d}"

"""Reading a formula over the numbered tables of a store; quantifiers and conditions become tables there."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Protocol, assert_never

import numpy as np

from mlnlab.counting.duckdb.duckdb_literals import (
    NEVER,
    Agree,
    Both,
    Either,
    Literal,
    Match,
    Same,
    Slot,
    Tree,
    negate_tree,
    truth,
)
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import compares, constant_of, number_of
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Relation,
    Term,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import leaves, map_children, terms
from mlnlab.logic.guards import guards
from mlnlab.logic.vocabulary import Domain, RangeDomain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.counting.duckdb.duckdb_store import Connection
    from mlnlab.logic.formulas.fresh_names import FreshNames


class Thresholds(Protocol):
    """A function that tells where a number of bindings stands in a relation to a bound."""

    def __call__(
        self, head: tuple[Variable, ...], variables: tuple[Variable, ...], body: Formula,
        relation: Relation, bound: int, names: FreshNames,
    ) -> tuple[bool, tuple[int, ...], int | None]:  # fmt: skip
        """Return the usual truth value, positions of the head, and a table of exceptions over them."""
        ...


def scope_of(
    variables: tuple[Variable, ...], formula: Formula, names: FreshNames
) -> tuple[tuple[Variable, ...], And]:
    """Return a scope in which arguments are not calculated: ``On(t+1)`` is ``t1 = t+1 ^ On(t1)``.

    A binding that leads a calculation out of its type is no binding, so the equalities stand before all else;
    the formula itself is the last operand.
    """
    values = {
        term: names.another(Variable(next(v.name for v in leaves(term) if isinstance(v, Variable)), type_))
        for term, type_ in guards(variables, formula)
    }
    equalities = tuple(Equality(variable, term) for term, variable in values.items())
    return (*variables, *values.values()), And((*equalities, _with_values(formula, values)))


def _with_values(formula: Formula, values: Mapping[Arithmetic, Variable]) -> Formula:
    if isinstance(formula, Atom):
        arguments = (values.get(t, t) if isinstance(t, Arithmetic) else t for t in formula.arguments)
        return Atom(formula.predicate, tuple(arguments))
    return map_children(formula, lambda child: _with_values(child, values))


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads formulas; ``make_table`` gathers the tables that are written for them."""

    store: Connection
    names: FreshNames
    made: list[int]
    thresholds: Thresholds

    def tree(self, formula: Formula) -> Tree:
        """Return a formula over numbered tables."""
        match formula:
            case Truth(value):
                return truth(value)
            case Atom():
                return self._atom(formula)
            case Equality():
                return self._equality(formula)
            case Comparison():
                return self._comparison(formula)
            case Cardinality(predicate, _, relation, bound):
                return truth(holds_between(relation, self.store.rows[self.store.table(predicate)], bound))
            case Not(operand):
                return negate_tree(self.tree(operand))
            case And(operands):
                return Both(tuple(map(self.tree, operands)))
            case Or(operands):
                return Either(tuple(map(self.tree, operands)))
            case Implies(premise, conclusion):
                return Either((negate_tree(self.tree(premise)), self.tree(conclusion)))
            case Iff(left, right):
                return Agree(self.tree(left), self.tree(right))
            case ForAll() | Exists() | CountingExists():
                return self._read_quantifier(formula)
            case _:
                assert_never(formula)

    def _atom(self, atom: Atom) -> Tree:
        declared = self.store.vocabulary[atom.predicate]
        if len(atom.arguments) != declared.arity:
            raise ArgumentError(f"{atom} does not fit the declaration {declared}.")
        slots = [self._slot(t, type_) for t, type_ in zip(atom.arguments, declared.types, strict=True)]
        known = tuple(slot for slot in slots if slot is not None)
        if len(known) < len(slots):
            return NEVER  # an atom of a constant that is not there
        return Literal(Match(self.store.table(atom.predicate), known))

    def _slot(self, term: Term, type_: str) -> Slot | None:
        if isinstance(term, Variable):
            return term
        try:
            return self.store.vocabulary.domain(type_).number(constant_of(term, {}))
        except KeyError:
            return None

    def _equality(self, equality: Equality) -> Tree:
        left, right = equality.left, equality.right
        if not isinstance(left, Variable):
            left, right = right, left
        if not free_variables(equality):
            return truth(constant_of(left, {}) == constant_of(right, {}))
        if isinstance(left, Variable) and (
            not free_variables(Equality(right, right))
            or (isinstance(right, Variable) and left.type == right.type)
        ):
            slot = self._slot(right, left.type)
            return NEVER if slot is None else Literal(Same(left, slot))
        return self._condition(equality)

    def _comparison(self, comparison: Comparison) -> Tree:
        if free_variables(comparison):
            return self._condition(comparison)
        return truth(
            compares(comparison.operator, number_of(comparison.left, {}), number_of(comparison.right, {}))
        )

    def _condition(self, condition: Equality | Comparison) -> Tree:
        variables, table = satisfying(condition, self.store)
        self.made.append(table)
        return Literal(Match(table, variables))

    def _read_quantifier(self, formula: Quantified) -> Tree:
        match formula:
            case ForAll(variables, body):
                return negate_tree(self._number(formula, variables, Not(body), ">=", 1))
            case Exists(variables, body):
                return self._number(formula, variables, body, ">=", 1)
            case CountingExists(relation, bound, variables, body):
                return self._number(formula, variables, body, relation, bound)
            case _:
                assert_never(formula)

    def _number(
        self,
        formula: Quantified,
        variables: tuple[Variable, ...],
        body: Formula,
        relation: Relation,
        bound: int,
    ) -> Tree:
        head = free_variables(formula)
        usual, positions, table = self.thresholds(head, variables, body, relation, bound, self.names)
        if table is None:
            return truth(usual)
        exceptions: Tree = Literal(Match(table, tuple(head[position] for position in positions)))
        return negate_tree(exceptions) if usual else exceptions


# --- calculate comparisons and equalities with arithmetic by DuckDB -----------------------------

# Into tables of the satisfying rows.

# A type becomes a table of its constants: ``code`` is the constant's number in the type, ``value`` the whole
# number that it writes, and ``written`` with ``name`` stand for its name, which is never sent: a name that is
# a number in its usual form is that number, any other gets a number of its own.

MOST_TUPLES = 50_000_000  # looked at for one condition
_LARGEST = 1 << 62
_EMPTY = 0  # stands for the empty name, which is also what a calculation without a value denotes


def satisfying(condition: Equality | Comparison, store: Connection) -> tuple[tuple[Variable, ...], int]:
    """Return a condition's variables, and the table of the constants' numbers for which it holds."""
    variables = free_variables(condition)
    _refuse_many(condition, variables, store)
    for variable in _list_calculated_variables(condition):
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
        return variables, store.make_table(f"SELECT {chosen} FROM {sources} WHERE {holds}")
    finally:
        for table in tables:
            store.drop_table(table)


def _refuse_many(
    condition: Equality | Comparison, variables: tuple[Variable, ...], store: Connection
) -> None:
    plain = [side for side in terms(condition) if isinstance(side, Variable)]
    # A variable that equals a calculation is looked up by its value, not tried.
    looked_up = plain[:1] if isinstance(condition, Equality) else []
    tried = prod(len(store.vocabulary.domain(v.type)) for v in variables if v not in looked_up)
    if tried > MOST_TUPLES:
        raise TooLargeError(
            f"{condition} would be tried on {tried:,} tuples of constants (the limit is {MOST_TUPLES:,}).",
            float(tried),
            ["use fewer constants", "state the comparison as a predicate with facts"],
        )


def _list_calculated_variables(condition: Equality | Comparison) -> dict[Variable, None]:
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
        return store.make_table(f"SELECT {columns} FROM range({len(domain):d})")
    named = list(domain)
    written = [_is_written(name) for name in named]
    values = [_whole(name) for name in named]
    names = [
        value if is_number else numbers.setdefault(name, len(numbers))
        for name, value, is_number in zip(named, values, written, strict=True)
    ]
    held = store.offer_columns(
        {
            "code": np.arange(len(named), dtype=np.uint32),
            "value": np.array(values, np.int64),
            "written": np.array(written, bool),
            "name": np.array(names, np.int64),
        },
        len(named),
    )
    # Calculations are made with 128 bits.
    table = store.make_table(f"SELECT code, value::HUGEINT AS value, written, name FROM t{held}")
    store.drop_table(held)
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
    message = "A constant has more than 18 digits, too many for DuckDB to calculate with."
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
    """Refuse to compare a value that is undefined for some constants."""
    missing = [
        f"{_value(side, columns)} IS NULL" for side in terms(condition) if isinstance(side, Arithmetic)
    ]
    if missing and store.answers(f"SELECT 1 FROM {sources} WHERE {' OR '.join(missing)} LIMIT 1"):
        raise ArgumentError(
            "A division by zero, or with a remainder, has no value, so it cannot be compared by size."
        )


def _equal(condition: Equality, columns: Mapping[Variable, str], numbers: Mapping[str, int]) -> str:
    """Return SQL that compares by name; an undefined value has the empty name."""
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
    """Return SQL for whether a name is a number, and SQL for the number that stands for it."""
    if isinstance(term, Variable):
        return f"{columns[term]}.written", f"{columns[term]}.name"
    if _is_written(term.name):
        return "true", f"{_whole(term.name):d}"
    return "false", f"{numbers.get(term.name, -1):d}"

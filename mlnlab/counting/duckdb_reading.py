"""Reading a formula over the numbered tables of a store; quantifiers and conditions become tables there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, assert_never

from mlnlab.counting.duckdb_conditions import satisfying
from mlnlab.counting.duckdb_literals import (
    NEVER,
    Agree,
    Both,
    Either,
    Literal,
    Match,
    Same,
    Slot,
    Tree,
    negated,
    truth,
)
from mlnlab.errors import ArgumentError
from mlnlab.logic.evaluation import compares, constant_of, number_of
from mlnlab.logic.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
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
    Term,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.guards import guards
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import leaves, map_children

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.counting.duckdb_store import Connection
    from mlnlab.logic.formulas import Relation
    from mlnlab.logic.fresh_names import FreshNames


class Thresholds(Protocol):
    """What tells where a number of bindings stands in a relation to a bound."""

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
    """Reads formulas; ``made`` gathers the tables that are written for them."""

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
                return negated(self.tree(operand))
            case And(operands):
                return Both(tuple(map(self.tree, operands)))
            case Or(operands):
                return Either(tuple(map(self.tree, operands)))
            case Implies(premise, conclusion):
                return Either((negated(self.tree(premise)), self.tree(conclusion)))
            case Iff(left, right):
                return Agree(self.tree(left), self.tree(right))
            case ForAll() | Exists() | CountingExists():
                return self._quantified(formula)
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

    def _quantified(self, formula: Quantified) -> Tree:
        match formula:
            case ForAll(variables, body):
                return negated(self._number(formula, variables, Not(body), ">=", 1))
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
        return negated(exceptions) if usual else exceptions

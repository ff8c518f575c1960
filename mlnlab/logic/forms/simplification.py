"""Simplification: shorter formulas that are true in exactly the same worlds.

Every rule holds for every structure, also where types are empty, and for every binding of the free
variables. Two things follow. A quantifier whose variable does not occur is only dropped where its type is
known to have a constant. And arithmetic that restricts a quantifier (with ``time = {1,...,5}``, the term
``t+1`` keeps ``t`` below 5, see :mod:`mlnlab.logic.evaluation`) is never simplified away.

Free variables may vanish, and with them groundings: who counts groundings keeps the list of the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, assert_never

from mlnlab.errors import ArgumentError
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
from mlnlab.logic.formulas.substitution import free_variables, with_body
from mlnlab.logic.formulas.traversal import map_terms
from mlnlab.logic.guards import guards

_OPPOSITE: dict[Relation, Relation] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPPOSITE_ORDER: dict[str, Literal["<", "<=", ">", ">="]] = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def simplify(formula: Formula, inhabited: Iterable[str] = ()) -> Formula:
    """Return a simpler formula with the same truth value in every structure, under every binding.

    ``inhabited`` names types that are known to have a constant; the types of the free variables count as
    such, because without a constant there is no binding.
    """
    known = {*inhabited, *(variable.type for variable in free_variables(formula))} - {""}
    return _simplify(formula, frozenset(known))


def complement(formula: Formula) -> Formula:
    """Return the negation, written without ``Not`` where the formula has an opposite of its own kind."""
    match formula:
        case Not(operand):
            return operand
        case Truth(value):
            return Truth(not value)
        case Comparison(operator, left, right):
            return Comparison(_OPPOSITE_ORDER[operator], left, right)
        case CountingExists(relation, bound, variables, body):
            return CountingExists(_OPPOSITE[relation], bound, variables, body)
        case Cardinality(predicate, types, relation, bound):
            return Cardinality(predicate, types, _OPPOSITE[relation], bound)
        case _:
            return Not(formula)


def orient_equality(formula: Formula) -> Formula:
    """Return an equality, or its negation, with its sides in a fixed order; other formulas as they are."""
    match formula:
        case Equality(left, right):
            return Equality(*sorted((left, right), key=repr))
        case Not(Equality() as equality):
            return Not(orient_equality(equality))
        case _:
            return formula


def _simplify(formula: Formula, inhabited: frozenset[str]) -> Formula:
    match formula:
        case Truth():
            return formula
        case Atom():
            return map_terms(formula, _argument)
        case Equality(left, right):
            return _equality(_calculate_term(left), _calculate_term(right))
        case Comparison(operator, left, right):
            return _comparison(Comparison(operator, _calculate_term(left), _calculate_term(right)))
        case Not(operand):
            return _negation(_simplify(operand, inhabited))
        case And(operands):
            return _connective(And, [_simplify(operand, inhabited) for operand in operands])
        case Or(operands):
            return _connective(Or, [_simplify(operand, inhabited) for operand in operands])
        case Implies(premise, conclusion):
            return _implication(_simplify(premise, inhabited), _simplify(conclusion, inhabited))
        case Iff(left, right):
            return _equivalence(_simplify(left, inhabited), _simplify(right, inhabited))
        case ForAll() | Exists():
            return _simplify_quantifier(formula, inhabited)
        case CountingExists():
            return _counting(formula, inhabited)
        case Cardinality(_, _, relation, bound):
            settled = _settle_comparison(relation, bound)
            return formula if settled is None else Truth(settled)
        case _:
            assert_never(formula)


def _calculate_term(term: Term) -> Term:
    """Calculate terms without variables: ``3 + 1`` becomes ``4``; undefined terms stay as they are."""
    if not isinstance(term, Arithmetic):
        return term
    inner = Arithmetic(term.operator, _calculate_term(term.left), _calculate_term(term.right))
    if not (isinstance(inner.left, Constant) and isinstance(inner.right, Constant)):
        return inner
    try:
        name = constant_of(inner, {})
    except ArgumentError:
        return inner
    return Constant(name, inner.left.type or inner.right.type) if name else inner


def _argument(term: Term) -> Term:
    """Calculate an atom's argument, except where the value's type would be lost, as in ``On(2+1)``."""
    value = _calculate_term(term)
    return term if isinstance(value, Constant) and not value.type else value


def _equality(left: Term, right: Term) -> Formula:
    match left, right:
        case Constant(name, type_), Constant(other, other_type):
            # Constants of two known types are left for the checker to complain about.
            if type_ == other_type or not type_ or not other_type:
                return Truth(name == other)
        case _:
            if left == right and _is_always_defined(left):
                return Truth(True)
    return Equality(left, right)


def _comparison(formula: Comparison) -> Formula:
    if formula.left == formula.right and not isinstance(formula.left, Constant):
        if _is_always_defined(formula.left):
            return Truth(formula.operator in {"<=", ">="})
    elif isinstance(formula.left, Constant) and isinstance(formula.right, Constant):
        try:
            left, right = number_of(formula.left, {}), number_of(formula.right, {})
            return Truth(compares(formula.operator, left, right))
        except ArgumentError:
            return formula
    return formula


def _is_always_defined(term: Term) -> bool:
    """Tell whether a term has a value whatever its numbers are; division has none at zero or with a rest."""
    match term:
        case Arithmetic(operator, left, right):
            return operator in {"+", "-", "*"} and _is_always_defined(left) and _is_always_defined(right)
        case _:
            return True


def _negation(operand: Formula) -> Formula:
    match operand:
        case Not(inner):
            return inner
        case Truth(value):
            return Truth(not value)
        case _:
            return Not(operand)


def _connective(kind: type[And | Or], operands: Iterable[Formula]) -> Formula:
    """Join simplified operands: nested ones flattened, repeated ones once, complements settle it all."""
    neutral, absorbing = Truth(kind is And), Truth(kind is Or)
    flat: list[Formula] = []
    for operand in operands:
        flat += operand.operands if isinstance(operand, kind) else (operand,)
    kept: dict[Formula, Formula] = {}
    for operand in flat:
        key = orient_equality(operand)
        if operand == absorbing or complement(key) in kept or Not(key) in kept:
            return absorbing
        if operand != neutral:
            kept.setdefault(key, operand)
    match tuple(kept.values()):
        case ():
            return neutral
        case (single,):
            return single
        case several:
            return kind(several)


def _implication(premise: Formula, conclusion: Formula) -> Formula:
    match premise, conclusion:
        case (Truth(value), _):
            return conclusion if value else Truth(True)
        case (_, Truth(value)):
            return Truth(True) if value else _negation(premise)
        case _:
            same = orient_equality(premise) == orient_equality(conclusion)
            return Truth(True) if same else Implies(premise, conclusion)


def _equivalence(left: Formula, right: Formula) -> Formula:
    match left, right:
        case (Truth(value), other) | (other, Truth(value)):
            return other if value else _negation(other)
        case _:
            first, second = orient_equality(left), orient_equality(right)
            if first == second:
                return Truth(True)
            opposite = complement(first) == second or first == complement(second)
            return Truth(False) if opposite else Iff(left, right)


def _simplify_quantifier(formula: ForAll | Exists, inhabited: frozenset[str]) -> Formula:
    body = _simplified_body(formula, inhabited)
    if body == Truth(isinstance(formula, ForAll)):
        return body
    if _loses_guard(formula, body):
        return formula
    needed = _needed_variables(formula.variables, body, inhabited)
    return with_body(formula, needed, body) if needed else body


def _counting(formula: CountingExists, inhabited: frozenset[str]) -> Formula:
    settled = _settle_comparison(formula.relation, formula.bound)
    if settled is not None:
        return Truth(settled)
    body = _simplified_body(formula, inhabited)
    if body == Truth(False):
        return Truth(holds_between(formula.relation, 0, formula.bound))
    # A variable that does not occur multiplies the count by its type's size, so all of them stay.
    return formula if _loses_guard(formula, body) else with_body(formula, formula.variables, body)


def _simplified_body(formula: Quantified, inhabited: frozenset[str]) -> Formula:
    # Where the body is evaluated at all, the variables are bound, so their types have a constant.
    inside = inhabited | {variable.type for variable in formula.variables} - {""}
    return _simplify(formula.body, inside)


def _loses_guard(formula: Quantified, body: Formula) -> bool:
    """Tell whether a simplified body lacks arithmetic that restricts the quantifier's bindings."""
    before = {_argument(term) for term, _ in guards(formula.variables, formula.body)}
    return not before <= {term for term, _ in guards(formula.variables, body)}


def _needed_variables(
    variables: tuple[Variable, ...], body: Formula, inhabited: frozenset[str]
) -> tuple[Variable, ...]:
    """Return the variables that occur, and one of each type that nothing else shows to be inhabited."""
    free = set(free_variables(body))
    shown = inhabited | {variable.type for variable in variables if variable in free} - {""}
    needed = []
    for variable in variables:
        if variable in free or variable.type not in shown:
            needed.append(variable)
            shown |= {variable.type} - {""}
    return tuple(needed)


def _settle_comparison(relation: Relation, bound: int) -> bool | None:
    """Return the outcome of a comparison if it holds or fails for every count (0 or more), else ``None``."""
    match relation:
        case ">=" | "<":
            return (relation == ">=") if bound <= 0 else None
        case _:
            return (relation in {">", "!="}) if bound < 0 else None

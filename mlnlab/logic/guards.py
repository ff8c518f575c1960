"""Arithmetic that restricts quantifiers, made visible.

In ``FORALL t (On(t) => Off(t+1))`` only those ``t`` are bindings whose ``t+1`` is still a constant of the
type (:mod:`mlnlab.logic.evaluation`): the term ``t+1`` *guards* ``t``. A transformation that takes the
term out of the quantifier's scope must first write the guard down, with a variable for its value:
``FORALL t, t1 (t1 = t+1 => (On(t) => Off(t1)))``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Not,
    Or,
    Variable,
)
from mlnlab.logic.formulas.traversal import leaves, map_children

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mlnlab.logic.formulas.fresh_names import FreshNames


def guards(variables: Collection[Variable], scope: Formula) -> tuple[tuple[Arithmetic, str], ...]:
    """Return the arithmetic terms that restrict these variables in this scope, with their types."""
    found = typed_arithmetic(scope)
    return tuple((term, type_) for term, type_ in found if any(leaf in variables for leaf in leaves(term)))


def name_guards(formula: Formula, kinds: tuple[type[ForAll | Exists], ...], names: FreshNames) -> Formula:
    """Return the formula with every guard of such quantifiers written as an equality.

    The formula is in negation normal form and standardised apart. The guarding terms are replaced by
    new variables, so that no arithmetic of the quantifier's own is left in its scope. Counting
    quantifiers stay as they are. The meaning is the same in every structure.
    """
    if isinstance(formula, CountingExists):
        return formula
    if not isinstance(formula, ForAll | Exists) or not isinstance(formula, kinds):
        return map_children(formula, lambda child: name_guards(child, kinds, names))
    values = {
        term: names.another(_first_variable(term, type_))
        for term, type_ in guards(formula.variables, formula.body)
    }
    body = name_guards(_with_arguments(formula.body, values), kinds, names)
    if not values:
        return type(formula)(formula.variables, body)
    variables = (*formula.variables, *values.values())
    equalities = tuple(Equality(variable, term) for term, variable in values.items())
    if isinstance(formula, ForAll):
        return ForAll(variables, Or((body, *map(Not, equalities))))
    return Exists(variables, And((*equalities, body)))


def _first_variable(term: Arithmetic, type_: str) -> Variable:
    """Return the variable after which the value of a term is named."""
    name = next(leaf.name for leaf in leaves(term) if isinstance(leaf, Variable))
    return Variable(name, type_)


def _with_arguments(formula: Formula, values: Mapping[Arithmetic, Variable]) -> Formula:
    """Return the formula with whole arguments of atoms replaced."""
    if isinstance(formula, Atom):
        arguments = (
            values.get(term, term) if isinstance(term, Arithmetic) else term for term in formula.arguments
        )
        return Atom(formula.predicate, tuple(arguments))
    return map_children(formula, lambda child: _with_arguments(child, values))

"""The same formula with other names and in another order."""

from __future__ import annotations

from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Or,
    Variable,
)
from mlnlab.logic.formulas.substitution import all_variables, with_body
from mlnlab.logic.formulas.traversal import map_children, map_terms


def shuffled(formula, chance):
    """Put everything that has no order into another order."""
    formula = map_children(formula, lambda child: shuffled(child, chance))
    match formula:
        case And(operands) | Or(operands):
            return type(formula)(tuple(chance.sample(operands, len(operands))))
        case Iff(left, right) | Equality(left, right):
            return type(formula)(*chance.sample((left, right), 2))
        case ForAll(variables, body) | Exists(variables, body) | CountingExists(_, _, variables, body):
            return with_body(formula, tuple(chance.sample(variables, len(variables))), body)
        case _:
            return formula


def renamed(formula, chance):
    """Give every variable, free or bound, another name."""
    apart = standardise_apart(formula)
    names = [f"w{number}" for number in range(len(all_variables(apart)))]
    chance.shuffle(names)
    new = {
        variable: Variable(name, variable.type)
        for variable, name in zip(all_variables(apart), names, strict=True)
    }
    return with_names(apart, new)


def with_names(formula, new):
    """Rename without any care for scopes: every variable of the formula is different."""
    if isinstance(formula, ForAll | Exists | CountingExists):
        variables = tuple(new[variable] for variable in formula.variables)
        return with_body(formula, variables, with_names(formula.body, new))
    changed = map_terms(formula, lambda term: replaced(term, new))
    return map_children(changed, lambda child: with_names(child, new))


def replaced(term, new):
    if isinstance(term, Variable):
        return new[term]
    return (
        term
        if isinstance(term, Constant)
        else type(term)(term.operator, replaced(term.left, new), replaced(term.right, new))
    )

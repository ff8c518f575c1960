"""Free variables, and substitution that captures nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from mlnlab.logic.formulas.formulas import (
    Arithmetic,
    Constant,
    CountingExists,
    Exists,
    ForAll,
    Formula,
    Quantified,
    Term,
    Variable,
)
from mlnlab.logic.formulas.traversal import children, leaves, map_children, map_terms, subformulas, terms

Binding = dict[Variable, Term]


def free_variables(formula: Formula) -> tuple[Variable, ...]:
    """Return the variables that no quantifier binds, in reading order (lecture notes, eq. 6-11)."""
    return tuple(dict.fromkeys(_free(formula)))


def _free(formula: Formula) -> Iterator[Variable]:
    for term in terms(formula):
        yield from (leaf for leaf in leaves(term) if isinstance(leaf, Variable))
    bound = formula.variables if isinstance(formula, Quantified) else ()
    for child in children(formula):
        yield from (variable for variable in _free(child) if variable not in bound)


def all_variables(formula: Formula) -> tuple[Variable, ...]:
    """Return every variable of a formula, free or bound, in reading order."""
    found: dict[Variable, None] = {}
    for part in subformulas(formula):
        if isinstance(part, Quantified):
            found.update(dict.fromkeys(part.variables))
        for term in terms(part):
            found.update((leaf, None) for leaf in leaves(term) if isinstance(leaf, Variable))
    return tuple(found)


def substitute_term(term: Term, binding: Mapping[Variable, Term]) -> Term:
    """Return the term with variables replaced, all at once."""
    match term:
        case Variable():
            return binding.get(term, term)
        case Constant():
            return term
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, substitute_term(left, binding), substitute_term(right, binding))
        case _:
            assert_never(term)


def substitute(formula: Formula, binding: Mapping[Variable, Term]) -> Formula:
    """Return the formula with free variables replaced; bound ones are renamed where they would capture."""
    if not binding:
        return formula
    if isinstance(formula, Quantified):
        return _substitute_below(formula, binding)
    changed = map_terms(formula, lambda term: substitute_term(term, binding))
    return map_children(changed, lambda child: substitute(child, binding))


def _substitute_below(formula: Quantified, binding: Mapping[Variable, Term]) -> Formula:
    free = set(free_variables(formula))
    inner = {variable: term for variable, term in binding.items() if variable in free}
    incoming = {leaf for term in inner.values() for leaf in leaves(term) if isinstance(leaf, Variable)}
    taken = incoming | free | set(all_variables(formula.body))
    renaming: Binding = {}
    for variable in formula.variables:
        if variable in incoming:
            renaming[variable] = fresh_variable(variable, taken)
            taken.add(renaming[variable])  # type: ignore[arg-type]
    variables = tuple(renaming.get(variable, variable) for variable in formula.variables)
    return with_body(formula, variables, substitute(formula.body, {**inner, **renaming}))  # type: ignore[arg-type]


def with_body(formula: Quantified, variables: tuple[Variable, ...], body: Formula) -> Formula:
    """Return the quantified formula with other variables and another body."""
    match formula:
        case ForAll():
            return ForAll(variables, body)
        case Exists():
            return Exists(variables, body)
        case CountingExists(relation, bound):
            return CountingExists(relation, bound, variables, body)
        case _:
            assert_never(formula)


def fresh_variable(variable: Variable, taken: Iterable[Variable]) -> Variable:
    """Return a variable of the same type whose name none of the taken ones has: x, x1, x2, ..."""
    names = {other.name for other in taken}
    stem = variable.name.rstrip("0123456789") or variable.name
    number = 1
    while f"{stem}{number}" in names:
        number += 1
    return variable if variable.name not in names else Variable(f"{stem}{number}", variable.type)


def ground(formula: Formula, binding: Mapping[Variable, str]) -> Formula:
    """Return the formula with variables replaced by the constants of these names (lecture notes, eq. 7-8)."""
    return substitute(
        formula, {variable: Constant(name, variable.type) for variable, name in binding.items()}
    )

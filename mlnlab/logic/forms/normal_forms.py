"""Negation normal form, standardising apart, prenex form (Russell and Norvig, 4th ed., section 9.5.1).

Clauses are made in :mod:`mlnlab.logic.forms.clauses`. There are no Skolem functions: Markov logic in this
library has finite domains and no function symbols, and existential quantifiers stay or are written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from mlnlab.errors import TooLargeError
from mlnlab.logic.forms.simplification import complement
from mlnlab.logic.formulas.formulas import (
    And,
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
    Truth,
    Variable,
)
from mlnlab.logic.formulas.fresh_names import FreshNames
from mlnlab.logic.formulas.substitution import free_variables, substitute_term, with_body
from mlnlab.logic.formulas.traversal import children, constants, map_children, map_terms
from mlnlab.logic.guards import name_guards

_MOST_LITERALS = 200_000  # about a second and 100 MB
_Block = tuple[type[ForAll | Exists], tuple[Variable, ...]]


def nnf(formula: Formula) -> Formula:
    """Return the negation normal form: And, Or, quantifiers, and ``Not`` only before atoms and equalities.

    Comparisons, counting quantifiers and cardinalities are negated by the opposite relation. An
    equivalence copies both of its sides, so nested ones double the size each time; the size is
    calculated first.
    """
    size = _sizes(formula)[0]
    if size > _MOST_LITERALS:
        raise TooLargeError(
            f"Written without <=> this formula has {size:,} literals (the limit is {_MOST_LITERALS:,}).",
            size,
            ["Nest fewer equivalences (<=>), for instance with an auxiliary predicate for an inner one."],
        )
    return _nnf(formula, positive=True)


def _sizes(formula: Formula) -> tuple[int, int]:
    """Return the number of literals of the normal forms of a formula and of its negation."""
    match formula:
        case Not(operand):
            positive, negative = _sizes(operand)
            return negative, positive
        case Implies(premise, conclusion):
            (premise_true, premise_false), (true, false) = _sizes(premise), _sizes(conclusion)
            return premise_false + true, premise_true + false
        case Iff(left, right):
            both = sum(_sizes(left)) + sum(_sizes(right))
            return both, both
        case CountingExists(_, _, _, body):
            return (_sizes(body)[0],) * 2
        case _:
            sizes = [_sizes(child) for child in children(formula)] or [(1, 1)]
            return sum(size[0] for size in sizes), sum(size[1] for size in sizes)


def _nnf(formula: Formula, *, positive: bool) -> Formula:
    match formula:
        case Atom() | Equality():
            return formula if positive else Not(formula)
        case Truth() | Comparison() | Cardinality():
            return formula if positive else complement(formula)
        case CountingExists(relation, bound, variables, body):
            counting = CountingExists(relation, bound, variables, _nnf(body, positive=True))
            return counting if positive else complement(counting)
        case Not(operand):
            return _nnf(operand, positive=not positive)
        case And(operands) | Or(operands):
            kind = And if isinstance(formula, And) == positive else Or
            return kind(tuple([_nnf(operand, positive=positive) for operand in operands]))
        case Implies(premise, conclusion):
            sides = (_nnf(premise, positive=not positive), _nnf(conclusion, positive=positive))
            return Or(sides) if positive else And(sides)
        case Iff(left, right):
            return And(
                (
                    Or((_nnf(left, positive=False), _nnf(right, positive=positive))),
                    Or((_nnf(left, positive=True), _nnf(right, positive=not positive))),
                )
            )
        case ForAll(variables, body) | Exists(variables, body):
            quantifier = ForAll if isinstance(formula, ForAll) == positive else Exists
            return quantifier(variables, _nnf(body, positive=positive))
        case _:
            assert_never(formula)


def standardise_apart(formula: Formula, taken: Iterable[Variable] = ()) -> Formula:
    """Return the formula with every bound variable named like nothing else in it, and like none taken.

    Free variables keep their names, and so does the first quantifier that uses a free name.
    """
    avoided = tuple(taken)
    used = {variable.name for variable in (*free_variables(formula), *avoided)}
    used |= {constant.name for constant in constants(formula)}
    return _apart(formula, {}, used, FreshNames(formula, avoided))


def _apart(
    formula: Formula, renaming: Mapping[Variable, Variable], used: set[str], names: FreshNames
) -> Formula:
    if isinstance(formula, Quantified):
        chosen = []
        for variable in formula.variables:
            chosen.append(names.another(variable) if variable.name in used else variable)
            used.add(chosen[-1].name)
        inner = {**renaming, **dict(zip(formula.variables, chosen, strict=True))}
        return with_body(formula, tuple(chosen), _apart(formula.body, inner, used, names))
    changed = map_terms(formula, lambda term: substitute_term(term, renaming))
    return map_children(changed, lambda child: _apart(child, renaming, used, names))


def prenex(formula: Formula) -> Formula:
    """Return an equivalent formula with all of FORALL and EXIST in front of a quantifier-free matrix.

    It needs a constant in every type: over an empty type ``P v FORALL x Q(x)`` has no prenex form. The
    quantifiers are pulled out so that few blocks alternate. Counting quantifiers stay where they are.
    Arithmetic that guards a pulled variable is written as an equality (:mod:`mlnlab.logic.guards`).
    """
    blocks, matrix = _leading(standardise_apart(nnf(formula)))
    named = name_guards(matrix, (ForAll, Exists), FreshNames(_with_blocks(blocks, matrix)))
    pulled, inner = _pull_quantifiers(named)
    return _with_blocks([*blocks, *pulled], inner)


def _leading(formula: Formula) -> tuple[list[_Block], Formula]:
    """Split off the quantifiers that stand in front already."""
    blocks: list[_Block] = []
    while isinstance(formula, ForAll | Exists):
        blocks.append((type(formula), formula.variables))
        formula = formula.body
    return blocks, formula


def _pull_quantifiers(formula: Formula) -> tuple[list[_Block], Formula]:
    """Return the quantifiers of a formula, outermost first, and its matrix."""
    match formula:
        case ForAll(variables, body) | Exists(variables, body):
            blocks, matrix = _pull_quantifiers(body)
            return [(type(formula), variables), *blocks], matrix
        case And(operands) | Or(operands):
            parts = [_pull_quantifiers(operand) for operand in operands]
            matrix = type(formula)(tuple([matrix for _, matrix in parts]))
            return _interleave_prefixes([blocks for blocks, _ in parts]), matrix
        case _:
            return [], formula


def _interleave_prefixes(prefixes: Sequence[list[_Block]]) -> list[_Block]:
    """Merge independent prefixes: as many quantifiers of one kind as possible, then of the other."""
    waiting = [list(reversed(prefix)) for prefix in prefixes]
    merged: list[_Block] = []
    kind: type[ForAll | Exists] = ForAll
    while any(waiting):
        variables: tuple[Variable, ...] = ()
        for prefix in waiting:
            while prefix and prefix[-1][0] is kind:
                variables += prefix.pop()[1]
        if variables:
            merged.append((kind, variables))
        kind = Exists if kind is ForAll else ForAll
    return merged


def _with_blocks(blocks: Sequence[_Block], matrix: Formula) -> Formula:
    """Put quantifiers in front of a matrix; neighbours of one kind become one."""
    formula = matrix
    for kind, variables in reversed(blocks):
        if isinstance(formula, kind):
            formula = kind((*variables, *formula.variables), formula.body)
        else:
            formula = kind(variables, formula)
    return formula

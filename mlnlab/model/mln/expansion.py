"""``+x`` and ``*P`` written out over constants; Alchemy's reading of a formula as its clauses."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import constant_of, typed_arithmetic
from mlnlab.logic.forms.clauses import clause_formula, cnf
from mlnlab.logic.formulas.formulas import Atom, Formula, Not, Variable
from mlnlab.logic.formulas.substitution import free_variables, ground
from mlnlab.logic.formulas.traversal import leaves, map_children
from mlnlab.logic.formulas.weights import Fixed, Soft, Weight, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.logic.vocabulary import Vocabulary

MOST_FORMULAS = 1_000_000


def expand_formulas(
    formulas: Sequence[WeightedFormula], vocabulary: Vocabulary, *, split: bool, complete: bool
) -> tuple[tuple[WeightedFormula, ...], tuple[int, ...]]:
    """Return the formulas with their marks written out, and for each the position of its template.

    ``split`` reads as Alchemy does; ``complete`` says that a type without constants really has none.
    """
    estimate = sum(number_of_instances(formula, vocabulary) for formula in formulas)
    if estimate > MOST_FORMULAS:
        raise TooLargeError(
            f"Writing out + and * would give {estimate:,} formulas; the limit is {MOST_FORMULAS:,}.",
            estimate,
            ["mark fewer variables of one formula with +", "use a type with fewer constants"],
        )  # fmt: skip
    if split or any(formula.per_constant or formula.both_signs for formula in formulas):
        return _written_out(tuple(formulas), vocabulary, split, complete)
    return tuple(formulas), tuple(range(len(formulas)))


@lru_cache(maxsize=8)  # the same model is counted, asked and learned again and again
def _written_out(
    formulas: tuple[WeightedFormula, ...], vocabulary: Vocabulary, split: bool, complete: bool
) -> tuple[tuple[WeightedFormula, ...], tuple[int, ...]]:
    result: list[WeightedFormula] = []
    origins: list[int] = []
    for position, formula in enumerate(formulas):
        for instance in _instances(formula, vocabulary):
            parts = clauses_of(instance, vocabulary, complete=complete) if split else (instance,)
            result += parts
            origins += [position] * len(parts)
    return tuple(result), tuple(origins)


def number_of_instances(formula: WeightedFormula, vocabulary: Vocabulary) -> int:
    """Return how many formulas a template stands for."""
    marked = [v for v in free_variables(formula.formula) if v.name in formula.per_constant]
    sizes = prod(len(vocabulary.domain(variable.type)) for variable in marked)
    return int(sizes * 2 ** len(formula.both_signs))


def _instances(formula: WeightedFormula, vocabulary: Vocabulary) -> Iterator[WeightedFormula]:
    marked = [v for v in free_variables(formula.formula) if v.name in formula.per_constant]
    for variable in marked:
        if not len(vocabulary.domain(variable.type)):
            raise ArgumentError(
                f"+{variable.name} asks for a weight for each {variable.type}, but there is none:"
                " give a database or list the constants."
            )
    checked = [
        (term, vocabulary.domain(type_))
        for term, type_ in typed_arithmetic(formula.formula)
        for variables in [{leaf for leaf in leaves(term) if isinstance(leaf, Variable)}]
        if variables and variables <= set(marked)
    ]
    for signs in product((True, False), repeat=len(formula.both_signs)):
        flipped = {a for a, sign in zip(formula.both_signs, signs, strict=True) if not sign}
        signed = _with_signs(formula.formula, flipped)
        for names in product(*(vocabulary.domain(variable.type) for variable in marked)):
            binding = dict(zip(marked, names, strict=True))
            # A binding that leads a calculation out of its type is no binding, here as in evaluation.
            if all(constant_of(term, binding) in domain for term, domain in checked):
                yield WeightedFormula(ground(signed, binding), formula.weight)


def _with_signs(formula: Formula, flipped: set[Atom]) -> Formula:
    if formula in flipped:
        return Not(formula)
    return map_children(formula, lambda child: _with_signs(child, flipped)) if flipped else formula


def clauses_of(
    formula: WeightedFormula, vocabulary: Vocabulary, *, complete: bool
) -> tuple[WeightedFormula, ...]:
    """Return the clauses that Alchemy makes of a formula, its weight divided evenly among them.

    One thing is read otherwise: Alchemy converts literally, so that clauses that are always true have shares
    of the weight, which decide nothing. Here these are left out before the weight is divided.
    """
    known = {type_: domain for type_, domain in vocabulary.types.items() if complete or len(domain)}
    try:
        clauses = cnf(formula.formula, known)
    except ArgumentError as problem:
        message = f"{formula.formula} has an EXIST over a type without constants: give a database or sizes."
        raise ArgumentError(message) from problem
    weight = _divide_weight(formula.weight, len(clauses))
    return tuple(replace(formula, formula=clause_formula(clause), weight=weight) for clause in clauses)


def _divide_weight(weight: Weight, parts: int) -> Weight:
    match weight:
        case Soft(value):
            return Soft(value / max(parts, 1))
        case Fixed(value):
            return Fixed(value / max(parts, 1))
        case _:
            return weight

"""Declarations and weighted formulas as the lines of a ``.mln`` file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlnlab.logic.formulas.formulas import And, Atom, Formula, Or
from mlnlab.logic.formulas.ground_atoms import fact_constant
from mlnlab.logic.formulas.printing import marks_of, to_text
from mlnlab.logic.formulas.traversal import constants
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, WeightedFormula
from mlnlab.logic.vocabulary import Domain, RangeDomain, Vocabulary


def declarations(vocabulary: Vocabulary, formulas: Iterable[WeightedFormula] = ()) -> Iterator[str]:
    """Yield the lines that declare types, predicates and functions.

    A type's constants are listed where the user listed them, and where the formulas do not bring them back.
    """
    used = {type_ for predicate in vocabulary.predicates.values() for type_ in predicate.types}
    brought: dict[str, dict[str, None]] = {}
    for weighted in formulas:
        for constant in constants(weighted.formula):
            brought.setdefault(constant.type, {})[constant.name] = None
    for type_, domain in vocabulary.types.items():
        said_empty = domain.is_known and not len(domain)
        if domain.listed or said_empty or type_ not in used or tuple(domain) != tuple(brought.get(type_, ())):
            yield f"{type_} = {{{listing(domain)}}}"
    yield from map(str, vocabulary.predicates.values())


def listing(domain: Domain) -> str:
    """Return the constants of a domain as the text between braces."""
    if isinstance(domain, RangeDomain):
        return f"{domain.low}, ..., {domain.high}"
    return ", ".join(map(fact_constant, domain))


def statement_text(weighted: WeightedFormula) -> str:
    """Return a weighted formula as one line of a ``.mln`` file."""
    text = to_text(weighted.formula, marks_of(weighted))
    match weighted.weight:
        case Soft(value):
            return f"{value!r} {text}"
        case Fixed(value):
            return f"@{value!r} {text}"
        case Hard():
            return f"({text})." if _like_a_weight(text) else f"{text}."
        case ToLearn():
            # A lone atom without a weight could be read as a declaration, a `v` in front as the connective.
            bare = not isinstance(_unwrap_formula(weighted.formula), Atom) and not text.startswith("v ")
            return text if bare and not _like_a_weight(text) else f"({text})"


def _like_a_weight(text: str) -> bool:
    """Whether a formula begins with a number, which could be taken for its weight."""
    return text[0].isdigit() or text[0] in "-."


def _unwrap_formula(formula: Formula) -> Formula:
    """Return the formula inside conjunctions and disjunctions of a single operand."""
    while isinstance(formula, And | Or) and len(formula.operands) == 1:
        formula = formula.operands[0]
    return formula

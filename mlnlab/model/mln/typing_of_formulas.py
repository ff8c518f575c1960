"""Formulas built in Python join a model: their types are completed and everything is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mlnlab.errors import ArgumentError
from mlnlab.logic.building import checked_formula
from mlnlab.logic.formulas.formulas import (
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    Formula,
    Quantified,
    Term,
    Variable,
)
from mlnlab.logic.formulas.ground_atoms import NAME, QUANTIFIERS
from mlnlab.logic.formulas.substitution import all_variables, with_body
from mlnlab.logic.formulas.traversal import (
    children,
    constants,
    leaves,
    map_children,
    map_terms,
    subformulas,
    terms,
)
from mlnlab.logic.vocabulary import Predicate, Vocabulary

MOST_NESTED = 100  # as in texts: functions over formulas are plain recursion


def complete_types(formula: Formula, vocabulary: Vocabulary) -> Formula:
    """Return the formula with the types of all terms filled in; raise a sentence where it does not fit."""
    refuse_deep(checked_formula(formula))
    for part in subformulas(formula):
        if isinstance(part, Atom | Cardinality):
            _check_predicate(part, vocabulary)
    result = _type_terms(formula, _scope(formula, {}), vocabulary)
    _check_names(result, vocabulary)
    return result


def refuse_deep(formula: Formula) -> None:
    """Refuse a formula nested too deeply for any text, level by level, without recursion."""
    level = [formula]
    for _ in range(MOST_NESTED + 1):
        level = [checked_formula(child) for part in level for child in children(part)]
        if not level:
            return
    raise ArgumentError(f"This formula is nested more than {MOST_NESTED} levels deep.")


def _type_terms(formula: Formula, types: Mapping[str, str], vocabulary: Vocabulary) -> Formula:
    """Return the formula with types by name, each quantifier opening a scope of its own."""
    if isinstance(formula, Quantified):
        inner = {**types, **_scope(formula.body, {v.name: v.type for v in formula.variables})}
        variables = tuple(Variable(v.name, inner[v.name]) for v in formula.variables)
        return with_body(formula, variables, _type_terms(formula.body, inner, vocabulary))

    def term(old: Term, *, inside: bool) -> Term:
        match old:
            case Variable(name):
                return Variable(name, types[name])
            case Constant(name, "") if not inside:
                return Constant(name, _home(name, vocabulary))
            case Arithmetic(operator, left, right):
                return Arithmetic(operator, term(left, inside=True), term(right, inside=True))
            case _:
                return old

    # The 1 of t + 1 and the 3 of t < 3 are no constants of a type.
    typed = map_terms(formula, lambda old: term(old, inside=isinstance(formula, Comparison)))
    return map_children(typed, lambda child: _type_terms(child, types, vocabulary))


def _scope(formula: Formula, bound: Mapping[str, str]) -> dict[str, str]:
    """Return the types of the names that are free in a formula (or just bound in front of it)."""
    found: dict[str, set[str]] = {name: {type_} - {""} for name, type_ in bound.items()}
    for name, type_ in _free_names(formula):
        found.setdefault(name, set()).update({type_} - {""})
    wanted = {name: types for name, types in found.items() if not bound or name in bound}
    for name, types in wanted.items():
        if len(types) > 1:
            one, other = sorted(types)[:2]
            raise ArgumentError(
                f"{name} is a {one} in one place and a {other} in another: use two variables."
            )
        if not types:
            raise ArgumentError(f"The type of {name} cannot be told: no atom contains it.")
    return {name: next(iter(types)) for name, types in wanted.items()}


def _free_names(formula: Formula) -> Iterator[tuple[str, str]]:
    """Yield names and types of the variables that no quantifier of this name binds."""
    for term in terms(formula):
        yield from ((leaf.name, leaf.type) for leaf in leaves(term) if isinstance(leaf, Variable))
    bound = {v.name for v in formula.variables} if isinstance(formula, Quantified) else set()
    for child in children(formula):
        yield from (pair for pair in _free_names(child) if pair[0] not in bound)


def _check_predicate(part: Atom | Cardinality, vocabulary: Vocabulary) -> None:
    predicate = vocabulary[part.predicate]
    given = part.types if isinstance(part, Cardinality) else tuple(_type(t) for t in part.arguments)
    if len(given) != predicate.arity:
        raise ArgumentError(
            f"{part.predicate} has {len(given)} arguments here; the declaration is {predicate}."
        )
    for here, declared in zip(given, predicate.types, strict=True):
        if here not in {"", declared}:
            raise ArgumentError(
                f"{part.predicate} gets a {here} where the declaration {predicate} says {declared}."
            )


def _type(term: Term) -> str:
    return "" if isinstance(term, Arithmetic) else term.type


def _home(name: str, vocabulary: Vocabulary) -> str:
    """Return the one type that holds a constant; a bare number may stay without a type."""
    homes = [type_ for type_, domain in vocabulary.types.items() if name in domain]
    return homes[0] if len(homes) == 1 else ""


def _check_names(formula: Formula, vocabulary: Vocabulary) -> None:
    for variable in all_variables(formula):
        plain = NAME.fullmatch(variable.name) and (variable.name[0].islower() or variable.name[0] == "_")
        if not plain or "-" in variable.name or variable.name.casefold() in QUANTIFIERS:
            raise ArgumentError(
                f"{variable.name!r} cannot name a variable: a variable begins with a small letter."
            )
        if variable.type not in vocabulary.types:
            raise ArgumentError(
                f"The variable {variable.name} has the type {variable.type}, which is not declared."
            )
    for constant in constants(formula):
        if constant.name.splitlines() != [constant.name]:
            raise ArgumentError(f"{constant.name!r} cannot name a constant: a name is one line of text.")


def check_words(vocabulary: Vocabulary) -> None:
    """Raise a sentence where a predicate or type has a name that no text could hold."""
    for name in (*vocabulary.predicates, *vocabulary.types):
        if not NAME.fullmatch(name) or name == "v" or name.casefold() in QUANTIFIERS:
            raise ArgumentError(f"{name!r} cannot name a predicate or a type: a name is one word, not v.")


def declare_predicates(formulas: Iterable[Formula]) -> list[Predicate]:
    """Return a declaration for each predicate that the formulas use, from the types of their terms."""
    found: dict[str, Predicate] = {}
    for formula in formulas:
        for part in subformulas(formula):
            if isinstance(part, Atom):
                found.setdefault(
                    part.predicate, Predicate(part.predicate, tuple(map(_deep_type, part.arguments)))
                )
    return list(found.values())


def _deep_type(term: Term) -> str:
    if isinstance(term, Arithmetic):
        return _deep_type(term.left) or _deep_type(term.right)
    if not term.type:
        raise ArgumentError(
            f"The type of {term.name} is not known; build atoms by calling a declared predicate."
        )
    return term.type

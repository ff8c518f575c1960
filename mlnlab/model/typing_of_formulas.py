"""Formulas built in Python join a model: their types are completed and everything is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Arithmetic, Atom, Cardinality, Constant, Formula, Term, Variable
from mlnlab.logic.ground_atoms import NAME, QUANTIFIERS
from mlnlab.logic.substitution import all_variables
from mlnlab.logic.traversal import constants, subformulas
from mlnlab.logic.vocabulary import NamedDomain, Predicate, RangeDomain, SizedDomain, Vocabulary
from mlnlab.syntax.type_slots import retyped_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def completed(formula: Formula, vocabulary: Vocabulary) -> Formula:
    """Return the formula with the types of all terms filled in; raise a sentence where it does not fit."""
    for part in subformulas(formula):
        if isinstance(part, Atom | Cardinality):
            _check_predicate(part, vocabulary)
    known = _types_by_name(formula)

    def typed(term: Variable | Constant) -> Variable | Constant:
        match term:
            case Variable(name, ""):
                if name not in known:
                    raise ArgumentError(f"The type of {name} cannot be told: no atom contains it.")
                return Variable(name, known[name])
            case Constant(name, ""):
                return Constant(name, _home(name, vocabulary))
            case _:
                return term

    result = retyped_terms(formula, typed, numbers=False)
    _check_names(result, vocabulary)
    return result


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


def _types_by_name(formula: Formula) -> dict[str, str]:
    known: dict[str, str] = {}
    for variable in all_variables(formula):
        if variable.type:
            known.setdefault(variable.name, variable.type)
    return known


def _home(name: str, vocabulary: Vocabulary) -> str:
    """Return the one type that holds a constant; a bare number may stay without a type."""
    homes = [type_ for type_, domain in vocabulary.types.items() if name in domain]
    return homes[0] if len(homes) == 1 else ""


def _check_names(formula: Formula, vocabulary: Vocabulary) -> None:
    for variable in all_variables(formula):
        plain = NAME.fullmatch(variable.name) and (variable.name[0].islower() or variable.name[0] == "_")
        if not plain or variable.name.casefold() in QUANTIFIERS:
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
        if not NAME.fullmatch(name):
            raise ArgumentError(f"{name!r} cannot name a predicate or a type: a name is one word.")


def with_constants_of(vocabulary: Vocabulary, formulas: Iterable[Formula]) -> Vocabulary:
    """Return the vocabulary with the constants that the formulas mention added to their types."""
    new: dict[str, dict[str, None]] = {}
    for formula in formulas:
        for constant in constants(formula):
            if constant.type and constant.name not in vocabulary.domain(constant.type):
                new.setdefault(constant.type, {})[constant.name] = None
    for type_, names in new.items():
        domain = vocabulary.domain(type_)
        if not isinstance(domain, NamedDomain):
            limits = (
                f"from {domain.low} to {domain.high}" if isinstance(domain, RangeDomain) else "without names"
            )
            raise ArgumentError(f"{next(iter(names))} is not among the constants of {type_}, {limits}.")
        vocabulary = vocabulary.with_domain(type_, domain.extended(tuple(names)))
    return vocabulary


def predicates_used(formulas: Iterable[Formula]) -> list[Predicate]:
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


def with_sizes(vocabulary: Vocabulary, sizes: Mapping[str, object]) -> Vocabulary:
    """Return the vocabulary with so many constants in each named type; missing names are made up."""
    for type_, size in sizes.items():
        known = vocabulary.domain(type_)
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ArgumentError(f"The size of {type_} must be a whole number from 0 on, not {size!r}.")
        if len(known) > size:
            raise ArgumentError(
                f"{type_} has {len(known)} constants already, more than the size {size} asked for."
            )
        made = SizedDomain(type_[:1].upper() + type_[1:], size)
        if len(known) and len(known) < size:
            names = [*known, *(name for name in made if name not in known)][:size]
            vocabulary = vocabulary.with_domain(type_, NamedDomain(tuple(names), is_listed=True))
        elif not len(known):
            vocabulary = vocabulary.with_domain(type_, made)
    return vocabulary

"""What is checked of constants and types once all formulas are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import Diagnostic, Severity
from mlnlab.logic.formulas import Constant
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import NamedDomain, RangeDomain, Vocabulary
from mlnlab.syntax.tokens import Source, end_of, start_of

if TYPE_CHECKING:
    from lark import Token

    from mlnlab.syntax.declarations import Declarations


class Mentioned(NamedTuple):
    """A constant that a formula mentions, and where."""

    constant: Constant
    token: Token
    source: Source


def with_constants(vocabulary: Vocabulary, mentioned: list[Mentioned]) -> tuple[Vocabulary, list[Diagnostic]]:
    """Add the constants that formulas mention to their types."""
    problems: list[Diagnostic] = []
    new: dict[str, dict[str, None]] = {}
    for constant, token, source in mentioned:
        domain = vocabulary.types.get(constant.type)
        if domain is None or constant.name in domain or constant.name in new.get(constant.type, ()):
            continue
        problem = _strange_constant(constant, token, source, vocabulary)
        if problem is not None:
            problems.append(problem)
        if problem is None or problem.severity is not Severity.ERROR:
            new.setdefault(constant.type, {})[constant.name] = None
    for type_, names in new.items():
        domain = vocabulary.types[type_]
        if isinstance(domain, NamedDomain):
            vocabulary = vocabulary.with_domain(type_, domain.extended(tuple(names)))
    return vocabulary, problems


def _strange_constant(
    constant: Constant, token: Token, source: Source, vocabulary: Vocabulary
) -> Diagnostic | None:
    name, type_ = constant.name, constant.type
    domain = vocabulary.types[type_]
    start, stop = start_of(token), end_of(token)
    if not isinstance(domain, NamedDomain):
        limits = f"from {domain.low} to {domain.high}" if isinstance(domain, RangeDomain) else "without names"
        return source.problem(
            "constant-outside-range", f"{name} is not among the constants of {type_}, {limits}", start, stop
        )
    numeric = name.lstrip("-").isdigit()  # the same number may stand for a time and for a distance
    homes = [t for t, o in vocabulary.types.items() if o.listed and name in o and not numeric]
    if homes:
        return source.problem(
            "wrong-type", f"{name} is a {homes[0]}; a {type_} is expected here", start, stop
        )
    if domain.listed:
        hint = did_you_mean(name, domain)
        return source.problem(
            "constant-not-listed",
            f"{name} is not in the list of {type_}; it is added{hint}",
            start,
            stop,
            severity=Severity.WARNING,
        )
    return None


def unused_types(declarations: Declarations, vocabulary: Vocabulary, base: Vocabulary) -> list[Diagnostic]:
    """Report listed types that no predicate uses: often a misspelt name."""
    used = {type_ for predicate in vocabulary.predicates.values() for type_ in predicate.types}
    return [
        Diagnostic(
            "unused-type",
            Severity.WARNING,
            f"no predicate uses the type {type_}" + did_you_mean(type_, used),
            place,
        )
        for type_ in vocabulary.types
        if used and type_ not in used and type_ not in base.types
        for place in [declarations.places.get(f"type {type_}")]
        if place is not None
    ]

"""Domains that grow: constants that formulas mention, and types of which only the size is given."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from numbers import Integral

from mlnlab.errors import ArgumentError, TooLargeError, require
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas.formulas import Comparison, Formula, Variable
from mlnlab.logic.formulas.traversal import constants, leaves, subformulas, terms
from mlnlab.logic.vocabulary import Domain, NamedDomain, RangeDomain, SizedDomain, Vocabulary, not_in_domain

MOST_NAMED = 1_000_000  # constants of a type that lists some: all of these have their names in memory


def with_constants_of(vocabulary: Vocabulary, formulas: Iterable[Formula]) -> Vocabulary:
    """Return the vocabulary with the constants that the formulas mention added to their types."""
    new: dict[str, dict[str, None]] = {}
    for formula in formulas:
        for constant in constants(formula):
            if constant.type and constant.name not in vocabulary.domain(constant.type):
                new.setdefault(constant.type, {})[constant.name] = None
    grown: dict[str, Domain] = {}
    for type_, names in new.items():
        domain = vocabulary.domain(type_)
        if not isinstance(domain, NamedDomain):
            raise ArgumentError(f"{not_in_domain(next(iter(names)), type_, domain)}.")
        grown[type_] = domain.add_names(tuple(names))
    return vocabulary.with_domains(grown)


def types_of_numbers(formulas: Iterable[Formula]) -> frozenset[str]:
    """Return the types that formulas calculate with or compare by size: their constants must be numbers."""
    found: set[str] = set()
    for formula in formulas:
        for part in subformulas(formula):
            found.update(type_ for _, type_ in typed_arithmetic(part))
            if isinstance(part, Comparison):
                parts = (leaf for term in terms(part) for leaf in leaves(term))
                found.update(leaf.type for leaf in parts if isinstance(leaf, Variable))
    return frozenset(found)


def with_sizes(
    vocabulary: Vocabulary, sizes: Mapping[str, object], numbers: frozenset[str] = frozenset()
) -> Vocabulary:
    """Return the vocabulary with a number of constants in each given type; missing names are made up.

    Types of ``numbers`` become the whole numbers from 1 on, or from where their range begins.
    """
    require(sizes, Mapping, "Sizes are given by type, as in {'person': 3}")
    enlarged: dict[str, Domain] = {}
    for type_, size in sizes.items():
        known = vocabulary.domain(type_)
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 0:
            raise ArgumentError(f"The size of {type_} must be a whole number of at least 0, not {size!r}.")
        number = int(size)
        if number > sys.maxsize:
            raise ArgumentError(f"The size of {type_} can be {sys.maxsize:,} at most, not {number:.3g}.")
        if len(known) > number:
            raise ArgumentError(
                f"{type_} has {len(known)} constants already, more than the size {number} asked for."
            )
        if len(known) < number or not (number or known.is_known):
            enlarged[type_] = _enlarge_domain(type_, known, number, type_ in numbers)
    return vocabulary.with_domains(enlarged)


def refuse_unknown_sizes(vocabulary: Vocabulary) -> None:
    """Refuse a question where no constant of a type is known, and nobody said that there is none.

    A size of 0 says so, and ``type = {}`` does, and so does a database, whose constants are all there are.
    """
    used = {type_ for one in vocabulary.predicates.values() for type_ in one.types}
    unknown = [type_ for type_, domain in vocabulary.types.items() if not domain.is_known]
    missing = [type_ for type_ in unknown if type_ in used]
    if missing:
        example = ", ".join(f"{type_!r}: 10" for type_ in missing)
        raise ArgumentError(
            f"How many constants are there of {', '.join(missing)}? Give sizes such as {{{example}}}, or a"
            " database; a size of 0 says that there are none."
        )


def without_unknown_sizes(vocabulary: Vocabulary) -> Vocabulary:
    """Return a database's vocabulary, in which types without constants are known to be empty."""
    unknown = (type_ for type_, domain in vocabulary.types.items() if not domain.is_known)
    return vocabulary.with_domains(dict.fromkeys(unknown, NamedDomain((), is_listed=True)))


def _enlarge_domain(type_: str, known: Domain, size: int, of_numbers: bool) -> Domain:
    if isinstance(known, RangeDomain) or (of_numbers and not len(known)):
        low = known.low if isinstance(known, RangeDomain) else 1
        return RangeDomain(low, low + size - 1)
    made = SizedDomain(type_[:1].upper() + type_[1:], size)
    if of_numbers:
        raise ArgumentError(
            f"{type_} is calculated with, so its {size} constants cannot be made up: list them."
        )
    if not len(known):
        return made
    if size > MOST_NAMED:
        raise TooLargeError(
            f"{type_} would have {size:,} constants; beside the {len(known):,} that the model names, they"
            " cannot be listed one by one.", size,
            ["use fewer constants", f"name no constant of {type_} in the model"],
        )  # fmt: skip
    names = [*known, *(name for name in made if name not in known)][:size]
    return NamedDomain(tuple(names), is_listed=True)

"""Domains that grow: constants that formulas mention, and types of which only the size is given."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas import Comparison, Formula, Variable
from mlnlab.logic.traversal import constants, leaves, subformulas, terms
from mlnlab.logic.vocabulary import Domain, NamedDomain, RangeDomain, SizedDomain, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_NAMED = 1_000_000  # constants of a type that lists some: all of these have their names in memory


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
    """Return the vocabulary with so many constants in each named type; missing names are made up.

    Types of ``numbers`` become the whole numbers from 1 on, or from where their range begins.
    """
    for type_, size in sizes.items():
        known = vocabulary.domain(type_)
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 0:
            raise ArgumentError(f"The size of {type_} must be a whole number from 0 on, not {size!r}.")
        number = int(size)
        if len(known) > number:
            raise ArgumentError(
                f"{type_} has {len(known)} constants already, more than the size {number} asked for."
            )
        if len(known) < number:
            vocabulary = vocabulary.with_domain(type_, _enlarged(type_, known, number, type_ in numbers))
    return vocabulary


def _enlarged(type_: str, known: Domain, size: int, of_numbers: bool) -> Domain:
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

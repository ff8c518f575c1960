"""The declarations of a vocabulary as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.logic.ground_atoms import fact_constant
from mlnlab.logic.vocabulary import Domain, NamedDomain, RangeDomain, SizedDomain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.logic.vocabulary import Vocabulary


def declarations(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the lines that declare the listed types, the predicates and the functions."""
    used = {type_ for predicate in vocabulary.predicates.values() for type_ in predicate.types}
    for type_, domain in vocabulary.types.items():
        if domain.listed or type_ not in used:
            yield f"{type_} = {{{listing(domain)}}}"
    yield from map(str, vocabulary.predicates.values())


def listing(domain: Domain) -> str:
    """Return what stands in the braces."""
    match domain:
        case RangeDomain(low, high):
            return f"{low}, ..., {high}"
        case NamedDomain() | SizedDomain():
            return ", ".join(map(fact_constant, domain))
        case _:
            return ", ".join(map(fact_constant, domain))
